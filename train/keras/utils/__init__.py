# SPDX-License-Identifier: Apache-2.0
"""`tf.keras.utils`: arrays, files, progress, summaries of models."""
