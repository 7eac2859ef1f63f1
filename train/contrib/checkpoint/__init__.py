# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.checkpoint`: arrays, unique names and split values in checkpoints of objects, and
pictures of those. What it shares with tf.train.Checkpoint lies in train/objects/.
"""
