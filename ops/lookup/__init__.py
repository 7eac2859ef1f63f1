# SPDX-License-Identifier: Apache-2.0
"""Lookup tables and vocabularies.

Imports `array`, `state` and `strings`, besides what every family may import.
"""
