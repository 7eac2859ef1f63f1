# SPDX-License-Identifier: Apache-2.0
"""How many threads do a kernel's work: the extents of grid and block, from its sizes alone.

So the number of lanes, by which sums are cut, is the same on every GPU and in every run.
"""

from __future__ import annotations

from typing import NamedTuple

from ..schedule.loop_nest import Pieces
from .block_emit import SHARED_BY_LAYERS
from .cuda_kernel import KernelText
from .held_emit import LONG
from .wide_emit import EACH, LANES, MANY

# Every multiprocessor, of more than a hundred, has several blocks to choose from.
PIECES = Pieces(results=128, rows=8, long=16384, most=1024, by_memory=False)
THREADS = 256  # of a block, but for rows that take fewer
_WARP = 32
_SHORT = 16  # elements of a row up to which one thread takes all of it
_MOST_LANES = 256
# Threads of rows that a multiprocessor has room for, by how much at most each holds (`held`): with
# more of that so many would have too few registers, and put what they compute into memory.
_RESIDENT = ((22, 1024), (40, 512), (1 << 30, 256))
_LEAST_LANES = 128  # of a long row
_PER_LANE = 32  # elements that each of more lanes has at least
_PER_LAYER = 4  # elements that every layer of a column has at least
_MOST_LAYERS = 64  # of a block, by its third side
_BUSY = 1 << 18  # threads that keep a card busy
_MOST_EACH = 16  # columns that a thread takes
_MOST_BLOCKS = 65535  # of a grid, in either direction


class Extents(NamedTuple):
    """The grid in blocks and a block in threads, each across and down; layers of the block."""

    blocks_x: int
    blocks_y: int
    lanes: int
    lines: int
    layers: int = 1


class Told(NamedTuple):
    """What a compiler has to know of a kernel's blocks to share out registers.

    threads: the most of a block, as not all of more than 256 could have all registers that there
    are.  blocks: so many of them at least are to have room in a multiprocessor.
    """

    threads: int
    blocks: int


def told(kernel: KernelText) -> Told | None:
    """What is to be told of a kernel; None is nothing."""
    if kernel.block is not None:
        threads = kernel.block[2]
        return Told(threads, max(THREADS // threads, 1))
    if kernel.form != "row":
        return None
    # Memory is far: so many threads are to have reads under way.
    resident = next(threads for most, threads in _RESIDENT if held(kernel) <= most)
    return Told(_MOST_LANES, resident // _MOST_LANES)


def held(kernel: KernelText) -> int:
    """How many addresses and sizes a thread holds beside what it computes."""
    return kernel.source.count("= args[")


def extents(form: str, rows: int, columns: int, positions: int) -> Extents:
    """For a kernel of a form over so many rows and columns, and positions of all its axes."""
    if form == "row":
        lanes = _lanes_of_row(-(-positions // max(rows, 1)))
        lines = 1 if lanes > _WARP else THREADS // lanes
        return Extents(1, _blocks(rows, lines), lanes, lines)
    if form == "column" and rows * columns < _BUSY:
        return _of_layers(rows, columns, positions // max(rows * columns, 1))
    is_many = rows * columns >= MANY
    # (Fewer: threads have one element each.)
    lanes = min(LANES if is_many else LANES // 2, _power_above(columns))
    lines = THREADS // lanes
    # Enough blocks for all of a card, and no more of them than it takes to begin.
    each = min(max(rows * columns // MANY, EACH), _MOST_EACH) if is_many else 1
    return Extents(_blocks(columns, lanes * each), _blocks(rows, lines), lanes, lines)


def _of_layers(rows: int, columns: int, length: int) -> Extents:
    """For few columns of a length: several threads share each."""
    lanes = min(_WARP, _power_above(columns))
    most = min(SHARED_BY_LAYERS // lanes, _MOST_LAYERS, max(_BUSY // max(rows * columns, 1), 1))
    layers = min(_power_above(length // _PER_LAYER), 1 << (most.bit_length() - 1))
    if layers < 2:
        lines = THREADS // lanes
        return Extents(_blocks(columns, lanes), _blocks(rows, lines), lanes, lines)
    return Extents(_blocks(columns, lanes), _blocks(rows, 1), lanes, 1, layers)


def extents_of_blocks(block: tuple[int, int, int], rows: int, columns: int) -> Extents:
    """For a kernel whose blocks take so many rows and columns each, with so many threads."""
    down, across, threads = block
    return Extents(_blocks(columns, across), _blocks(rows, down), threads, 1)


def extents_of_tiles(tiles: int, most: int) -> Extents:
    """For a library kernel of so many tiles, of which every thread does some; `most` threads."""
    count = max(min(tiles, most), 1)
    # Few in a block: tiles are long, and blocks spread over all of the card.  (Many are short.)
    threads = THREADS if count >= _BUSY else min(_WARP, count)
    return Extents(min(-(-count // threads), _MOST_BLOCKS), 1, threads, 1)


def _lanes_of_row(length: int) -> int:
    if length <= _SHORT:
        return 1
    if length < LONG:
        return _WARP
    return min(max(_LEAST_LANES, _power_above(length // _PER_LANE)), _MOST_LANES)


def _blocks(count: int, each: int) -> int:
    return min(max(-(-count // each), 1), _MOST_BLOCKS)


def _power_above(count: int) -> int:
    """The least power of two that is not below a number."""
    return 1 << max(count - 1, 0).bit_length()
