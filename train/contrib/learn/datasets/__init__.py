# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.learn.datasets`: small data sets, from files and made up."""
