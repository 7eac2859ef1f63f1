# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.specs`: networks as short expressions, `net = Cr(64, [5, 5]) | Flat | Fs(10)`.

Imports `engine`, `ops` and the rest of `train`.
"""
