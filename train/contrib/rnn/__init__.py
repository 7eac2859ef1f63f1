# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.rnn`: more recurrent cells, wrappers around cells, and cells whose steps are one op.

What `tf.nn.rnn_cell` has too lies in `train/rnn`.
"""
