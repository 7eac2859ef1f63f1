# SPDX-License-Identifier: Apache-2.0
"""`tf.keras.preprocessing`: texts, sequences and pictures as arrays."""
