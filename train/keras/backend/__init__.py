# SPDX-License-Identifier: Apache-2.0
"""`tf.keras.backend`: functions that Keras's layers and models are written in."""
