# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.linear_optimizer`: linear models by stochastic dual coordinate ascent."""
