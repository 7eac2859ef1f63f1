# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.grid_rnn`: cells in a grid of several dimensions."""
