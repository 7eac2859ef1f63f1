# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.layers`: layers as functions that make model variables, initializers, regularizers,
feature columns, and what trains and summarizes.
"""
