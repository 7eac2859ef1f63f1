# SPDX-License-Identifier: Apache-2.0
"""Matrix products, contractions, decompositions, solving.

Imports `array` and `math`, besides what every family may import.
"""
