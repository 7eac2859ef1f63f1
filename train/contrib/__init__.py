# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib`: one folder or module per namespace, whose modules are named as TensorFlow's.

Imports `engine`, `ops`, `io` and the rest of `train`.
"""
