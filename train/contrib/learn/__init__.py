# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.learn`: the estimators of 2016 and what belongs to them; modules as in TensorFlow.

Imports `engine`, `ops`, `io` and the rest of `train`.
"""
