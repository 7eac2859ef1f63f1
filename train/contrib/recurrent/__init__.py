# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.recurrent`: a function over the steps of sequences, and recurrent nets of it.

Imports `engine`, `ops` and the rest of `train`.
"""
