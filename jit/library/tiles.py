# SPDX-License-Identifier: Apache-2.0
"""Kernels of register tiles: what convolutions, their gradients and products are summed with.

They know shapes of tiles and no sizes of a program, so that there are few, and the kernels around
them, which know neither, are one each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import repeat

from . import tile_kernels
from .library_kernel import LibraryKernel
from .template import specialise
from .tile_kernels import WORDS
from .vectors import BYTES, vectors

BLOCK = 8 * WORDS  # bytes of the numbers that a tile gets
WIDTHS = (1, 2, 3, 4)  # how many vectors a tile may have
# Wider tiles are for panels that are whole, so that there is one kernel of them instead of four.
MASKED_WIDTH = 2
_HEIGHTS = (28, 24, 20, *range(16, 0, -1))
# The most rows, by vectors, of tiles at edges of lines: their kernels hold a loop for every number
# of rows that lack a tap.  So many sums are enough to hide what an addition takes.
_EDGED = (12, 8, 6, 5)


def tiles(
    dtype: str,
    pixels: int,
    count: int,
    masked: bool = False,
    ragged: bool = False,
    edged: bool = False,
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
        EDGED=int(edged),
        ADJACENT=adjacent,
    )
    return made.over(())


def heights(dtype: str, count: int) -> list[int]:
    """How many rows a tile of so many vectors may have, tallest first.

    One register is for x, and `count` are for w.
    """
    most = (vectors(dtype).registers - 1 - count) // count
    return [n for n in _HEIGHTS if n <= most]


def edged_heights(dtype: str, count: int) -> list[int]:
    """How many rows a tile at an edge of a line may have, tallest first."""
    return [n for n in heights(dtype, count) if n <= _EDGED[count - 1]]


def cut(length: int, tall: int, count: int, dtype: str) -> Iterator[int]:
    """The heights of tiles along so many rows, none over `tall`."""
    for height, times in runs(length, tall, count, dtype):
        yield from repeat(height, times)


def runs(length: int, tall: int, count: int, dtype: str) -> Iterator[tuple[int, int]]:
    """The same, each height with how many tiles have it."""
    for height in heights(dtype, count):
        if height <= min(tall, length):
            times, length = divmod(length, height)
            yield height, times


def closed(dtypes: Sequence[str]) -> Iterator[LibraryKernel]:
    """All tiles that there are."""
    for dtype in (name for name in dtypes if name in BYTES):
        for count in WIDTHS:
            for height in heights(dtype, count):
                for adjacent in (False, True):
                    yield tiles(dtype, height, count, adjacent=adjacent)
                if count <= MASKED_WIDTH:
                    for adjacent in (False, True):
                        yield tiles(dtype, height, count, True, adjacent=adjacent)
                    yield tiles(dtype, height, count, True, ragged=True, adjacent=True)
            for height in edged_heights(dtype, count):
                for masked in (False, True)[: 1 + (count <= MASKED_WIDTH)]:
                    yield tiles(dtype, height, count, masked, edged=True)
