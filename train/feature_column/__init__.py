# SPDX-License-Identifier: Apache-2.0
"""`tf.feature_column`: columns that say how features of a model become tensors, the layers that
take columns, and linear models of them.
"""
