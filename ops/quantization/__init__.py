# SPDX-License-Identifier: Apache-2.0
"""`tf.quantization`: floats that are rounded as if they had few bits, and numbers that have few.

Imports `image`, `math` and `nn`, besides what every family may import.
"""
