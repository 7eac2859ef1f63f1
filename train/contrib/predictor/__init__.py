# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.predictor`: a saved model, or an estimator, as a function of arrays."""
