# SPDX-License-Identifier: Apache-2.0
"""`tf.keras.applications`: well-known networks for images, by families."""
