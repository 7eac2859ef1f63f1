# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.factorization`: k-means, as a graph and as an estimator."""
