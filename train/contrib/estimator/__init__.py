# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.estimator`: heads, and what makes estimators of estimators."""
