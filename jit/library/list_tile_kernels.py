# SPDX-License-Identifier: Apache-2.0
"""Kernels of register tiles over lists, one for each feature; see conv_grad_pooled.py.

They know shapes of tiles and no sizes of a program, and are called by address.
"""

from __future__ import annotations

from .plain_vocabulary import GIVEN, Arguments, gather_tile, pointer, region, scatter_tile

DTYPE: str = GIVEN
GATHERS: bool = GIVEN  # lines into sums, else weights into lines
LANES: int = GIVEN  # elements of a vector
ROWS: int = GIVEN  # lines of a tile, and vectors of each
VECTORS: int = GIVEN

# The numbers of a block.
COUNTS = 0  # addresses: how long the lists are, what they hold, and where that belongs
VALUES = 1
OFFSETS = 2
FEATURES = 3  # how many lists there are, and from one to the next
MOST = 4
LINE = 5  # from a line of a tile to the next, where lists tell the place
WIDTH = 6  # the same where each feature has its own, and from a feature to the next
SIZE = 7
WORDS = 8  # of a block


def tiles(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Where lists tell, either adds up lines at r0 in sums at r1, or multiples of weights at r1 to
    lines at r0."""
    counts = pointer(region(args[COUNTS], "int64"))
    values, offsets = region(args[VALUES], DTYPE), region(args[OFFSETS], "int32")
    features, most, line, width = args[FEATURES], args[MOST], args[LINE], args[WIDTH]
    lines, own, size = region(r0, DTYPE), region(r1, DTYPE), args[SIZE]
    for f in range(features):
        # Tiles need a value at least; many a feature has none.
        if counts[f] > 0:
            if GATHERS:
                gather_tile(
                    ROWS, VECTORS, LANES, lines, values, offsets, counts[f], own, line, width
                )
            else:
                scatter_tile(
                    ROWS, VECTORS, LANES, own, values, offsets, counts[f], lines, width, line
                )
        values = values + most
        offsets = offsets + most
        own = own + size
