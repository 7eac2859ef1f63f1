# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.testing`: what tests of programs ask event files and writers of summaries."""
