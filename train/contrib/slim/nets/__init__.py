# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.slim.nets`: image classifiers whose variables have the names of the published
checkpoints.
"""
