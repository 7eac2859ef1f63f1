# SPDX-License-Identifier: Apache-2.0
"""Arithmetic, comparisons, functions of numbers, and reductions.

Imports `array`, besides what every family may import.
"""
