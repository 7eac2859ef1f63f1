# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.cudnn_rnn`: recurrent nets whose weights are one vector in cudnn's layout.

Layers are in cudnn_rnn.py, functions of the ops and cells that go with them in cudnn_rnn_ops.py,
and what checkpoints hold of them in saveables.py.
"""
