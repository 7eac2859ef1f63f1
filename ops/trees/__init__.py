# SPDX-License-Identifier: Apache-2.0
"""Boosted trees: ensembles and streams of quantiles that sessions keep, and what grows trees.

Imports `state`, besides what every family may import.
"""
