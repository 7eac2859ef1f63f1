# SPDX-License-Identifier: Apache-2.0
"""Records as tensors: Examples and lines of CSV.

Imports `array`, `sparse` and `strings`, besides what every family may import.
"""
