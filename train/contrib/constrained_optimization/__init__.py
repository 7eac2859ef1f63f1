# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.constrained_optimization`: objectives that are minimized under constraints."""
