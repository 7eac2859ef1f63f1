# SPDX-License-Identifier: Apache-2.0
"""`tf.keras.callbacks`: what is told of epochs and batches."""
