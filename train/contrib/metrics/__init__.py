# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.metrics`: metrics that take predictions before labels, and more than tf.metrics."""
