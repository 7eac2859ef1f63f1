# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.receptive_field`: how much of an image an output of a convolutional net sees."""
