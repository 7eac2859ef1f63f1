# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.learn.utils`: serving inputs, and how models are exported."""
