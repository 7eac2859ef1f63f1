# SPDX-License-Identifier: Apache-2.0
"""`tf.keras.metrics`: numbers about predictions that add up over batches."""
