# SPDX-License-Identifier: Apache-2.0
"""Tensors as containers: constants, shapes, slices, joins, gathers, scatters, sets.

Imports what every family may import: `engine`, and the modules of `ops` itself.
"""
