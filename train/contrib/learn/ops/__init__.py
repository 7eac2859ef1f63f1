# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.learn.ops`: lookups, losses and decoders of the first estimators.

Imports `engine`, `ops` and the rest of `train`.
"""
