# SPDX-License-Identifier: Apache-2.0
"""`tf.keras.losses`: losses as functions and as objects that weigh and sum up."""
