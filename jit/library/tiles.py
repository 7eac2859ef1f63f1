# SPDX-License-Identifier: Apache-2.0
"""Kernels of register tiles: what convolutions, their gradients and products are summed with.

They know shapes of tiles and no sizes of a program, so that there are few, and the kernels around
them, which know neither, are one each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from . import tile_kernels
from .library_kernel import LibraryKernel
from .template import specialise
from .tile_kernels import PART, REPEATS, WORDS
from .vectors import BYTES, vectors

BLOCK = 8 * WORDS  # bytes of the numbers that a tile gets
MOST_GROUPS = PART - REPEATS
PLAIN = "0:0"  # all rows have all taps
# Windows of three, a pixel of which lies outside of the input: at the left, at the right, at both;
# and windows of five, two pixels of which do.
EDGES = ("1:0,0:0", "0:0,0:1", "1:0,0:0,0:1")
WIDE_EDGES = ("2:0,1:0,0:0", "0:0,0:1,0:2", "2:0,1:0,0:0,0:1,0:2")
# The latter of tiles of two pixels, where registers are few: a tap of theirs is that of none.
NARROW_EDGES = ("0:2,1:0,0:0", "0:0,0:1,0:2", "0:2,1:0,0:0,0:1,0:2")
WIDTHS = (1, 2, 3, 4)  # how many vectors a tile may have
# Wider tiles are for panels that are whole, so that there is one kernel of them instead of four.
MASKED_WIDTH = 2
_HEIGHTS = (28, 24, 20, *range(16, 0, -1))


def tiles(
    dtype: str,
    pixels: int,
    count: int,
    masked: bool = False,
    ragged: bool = False,
    spans: str = PLAIN,
    adjacent: bool = False,
) -> LibraryKernel:
    """The kernel of tiles of so many rows and vectors; see the constants of tile_kernels.py."""
    made = specialise(
        "tiles",
        tile_kernels.tiles,
        DTYPE=dtype,
        LANES=vectors(dtype).lanes,
        VECTORS=count,
        PIXELS=pixels,
        MASKED=masked,
        RAGGED=int(ragged),
        SPANS=spans,
        ADJACENT=adjacent,
    )
    return made.over(())


def heights(dtype: str, count: int) -> list[int]:
    """How many rows a tile of so many vectors may have, tallest first.

    One register is for x, and `count` are for w.
    """
    most = (vectors(dtype).registers - 1 - count) // count
    return [n for n in _HEIGHTS if n <= most]


def cut(length: int, tall: int, count: int, dtype: str) -> Iterator[int]:
    """The heights of tiles along so many rows, none over `tall`."""
    some = [n for n in heights(dtype, count) if n <= tall]
    while length:
        height = next(n for n in some if n <= length)
        yield height
        length -= height


def closed(dtypes: Sequence[str]) -> Iterator[LibraryKernel]:
    """The tiles that programs ask for; the few others are compiled when one does."""
    for dtype in (name for name in dtypes if name in BYTES):
        for count in WIDTHS:
            for height in heights(dtype, count):
                for adjacent in (False, True):
                    yield tiles(dtype, height, count, adjacent=adjacent)
                if height > 1:
                    yield from (tiles(dtype, height, count, spans=edge) for edge in EDGES)
                    wide = WIDE_EDGES if height > 2 else NARROW_EDGES
                    yield from (tiles(dtype, height, count, spans=edge) for edge in wide)
                if count <= MASKED_WIDTH:
                    for adjacent in (False, True):
                        yield tiles(dtype, height, count, True, adjacent=adjacent)
                    yield tiles(dtype, height, count, True, ragged=True, adjacent=True)
