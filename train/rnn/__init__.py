# SPDX-License-Identifier: Apache-2.0
"""Recurrent cells and loops over them (`tf.nn.rnn_cell`, `tf.nn.dynamic_rnn`).

Imports `engine`, `ops` and `train.layers`; imported when one of its names is used.
"""
