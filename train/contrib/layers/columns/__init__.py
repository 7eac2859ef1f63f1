# SPDX-License-Identifier: Apache-2.0
"""The feature columns of `tf.contrib.layers`, which were there before `tf.feature_column`: each
says how a feature of a model is read, transformed and handed to a network or a linear model.
"""
