# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.optimizer_v2`: optimizers that keep what they know per graph, in a state of its own.

The base is in optimizer_v2.py, the optimizers themselves in rules.py.
"""
