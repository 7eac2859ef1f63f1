# SPDX-License-Identifier: Apache-2.0
"""Sparse tensors: layout, conversion, arithmetic, and how they are kept and sent.

Imports `array`, `math` and `state`, besides what every family may import.
"""
