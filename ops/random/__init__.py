# SPDX-License-Identifier: Apache-2.0
"""Random numbers: TensorFlow's streams, bit for bit.

Imports what every family may import: `engine`, and the modules of `ops` itself.
"""
