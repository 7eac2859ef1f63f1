# SPDX-License-Identifier: Apache-2.0
"""Matrix products, contractions, decompositions, solving.

Imports what every family may import: `engine`, and the modules of `ops` itself.
"""
