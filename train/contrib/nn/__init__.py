# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.nn`: dropout that keeps mean and variance, losses over sampled classes, a softplus
with a slope, and older orders of arguments.
"""
