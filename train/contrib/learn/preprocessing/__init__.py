# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.learn.preprocessing`: texts and categories as numbers, in Python."""
