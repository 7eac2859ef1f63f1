# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.slim`: models in few lines: loops that train and evaluate, data, summaries, networks.

Its layers, scopes and variables are those of `tf.contrib.layers` and `tf.contrib.framework`.
"""
