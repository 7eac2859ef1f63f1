# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.training`: loops that train and evaluate, what they do with gradients, ways to feed
them.
"""
