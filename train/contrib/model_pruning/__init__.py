# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.model_pruning`: layers whose small weights are masked while they are trained."""
