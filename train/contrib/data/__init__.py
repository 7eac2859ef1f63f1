# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.data`: older names of tf.data.experimental, what became methods of datasets, and the
datasets of TensorFlow 1.3, which were there before tf.data was.
"""
