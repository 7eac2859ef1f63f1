# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.losses`: losses as they were before `tf.losses`, and those that learn distances."""
