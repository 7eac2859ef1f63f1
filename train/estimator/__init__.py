# SPDX-License-Identifier: Apache-2.0
"""`tf.estimator`: models that train, evaluate, predict and export themselves from a model function;
ready-made ones, and the parts that they share.
"""
