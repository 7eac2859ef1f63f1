# SPDX-License-Identifier: Apache-2.0
"""`tf.keras.optimizers`: optimizers whose numbers are variables, and schedules of rates."""
