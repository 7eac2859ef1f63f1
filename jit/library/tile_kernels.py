# SPDX-License-Identifier: Apache-2.0
"""The kernel of a row of register tiles, which contractions call by address; see tiles.py."""

from __future__ import annotations

from .plain_vocabulary import (
    GIVEN,
    Address,
    Arguments,
    call_kernel,
    fma_tile,
    helper,
    place,
    pointer,
    region,
)

DTYPE: str = GIVEN
LANES: int = GIVEN  # elements of a vector
VECTORS: int = GIVEN  # vectors across a tile
PIXELS: int = GIVEN  # rows of a tile
MASKED: bool = GIVEN  # a tile has LEFT columns, else all of its vectors
RAGGED: int = GIVEN  # 1 where rows of w end at LEFT too
EDGED: int = GIVEN  # 1 where some rows lack some taps
ADJACENT: bool = GIVEN  # rows of x lie side by side, else the steps of a sum do

# The numbers of a block.  Strides and places count elements, addresses bytes.
SEGMENTS = 0  # how many segments, and from one to the next in x and w
X_SEGMENT = 1
W_SEGMENT = 2
X_TAP = 3  # from a tap to the next
W_TAP = 4
COUNT = 5  # steps of a tap
X_PIXEL = 6  # from a row to the next, where steps lie side by side
X_STEP = 7  # from a step to the next, where rows lie side by side
W_STEP = 8
OUT_PIXEL = 9
LEFT = 10
BIAS = 11  # addresses; that of what is added moves as the result's does
BASE = 12
X_NEXT = 13  # from a tile to the next
OUT_NEXT = 14
# How many taps there are.  Of tiles at edges: how many groups of taps, and behind that for each
# how many rows at the start lack it (less than 0: at the end), and its taps.
REPEATS = 15
MOST_GROUPS = 12
# What those who call tiles remember: the address of their kernel, what their number of steps is to
# that of others, how many tiles there are, and where the first of them begins.
PART = 40
FACTOR = 41
TILES = 42
X_FIRST = 43
OUT_FIRST = 44
WORDS = 48  # of a block


def tiles(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """`worker` tiles side by side, the first at x = r0, w = r1 and out = c0, with the flags c1.

    What these addresses, `args` and the flags are to a tile fma_tile says.
    """
    x, w, out = region(r0, DTYPE), region(r1, DTYPE), region(c0, DTYPE)
    bias, base = region(args[BIAS], DTYPE), region(args[BASE], DTYPE)
    # Read once: nothing tells the compiler that results do not lie in the block.
    segments, x_segment, w_segment = args[SEGMENTS], args[X_SEGMENT], args[W_SEGMENT]
    x_tap, w_tap, count = args[X_TAP], args[W_TAP], args[COUNT]
    x_pixel, x_step, w_step = args[X_PIXEL], args[X_STEP], args[W_STEP]
    out_pixel, left = args[OUT_PIXEL], args[LEFT]
    x_next, out_next = args[X_NEXT], args[OUT_NEXT]
    for _ in range(worker):
        fma_tile(
            PIXELS, VECTORS, LANES, left if MASKED else -1, RAGGED, EDGED, x, w, out, bias, base,
            c1, segments, x_segment, w_segment, x_tap, w_tap, count, 1 if ADJACENT else x_pixel,
            x_step if ADJACENT else 1, w_step, out_pixel, args, REPEATS,
        )  # fmt: skip
        x = x + x_next
        out = out + out_next
        base = base + out_next


@helper
def strides(
    block: Address,
    x_segment: int,
    w_segment: int,
    x_tap: int,
    w_tap: int,
    x_pixel: int,
    x_step: int,
    w_step: int,
    out_pixel: int,
) -> None:
    """States where segments, taps, rows and steps lie, for all tiles that a block is given to."""
    numbers = pointer(block)
    numbers[X_SEGMENT] = x_segment
    numbers[W_SEGMENT] = w_segment
    numbers[X_TAP] = x_tap
    numbers[W_TAP] = w_tap
    numbers[X_PIXEL] = x_pixel
    numbers[X_STEP] = x_step
    numbers[W_STEP] = w_step
    numbers[OUT_PIXEL] = out_pixel


@helper
def run_row(
    address: int,
    block: Address,
    x: Address,
    w: Address,
    out: Address,
    flags: int,
    count: int,
    x_next: int,
    out_next: int,
) -> None:
    """Calls a kernel of tiles for `count` of them, each so far behind the one before."""
    numbers = pointer(block)
    numbers[X_NEXT] = x_next
    numbers[OUT_NEXT] = out_next
    run_tiles(address, block, x, w, out, flags, count)


@helper
def run_tiles(
    address: int, block: Address, x: Address, w: Address, out: Address, flags: int, count: int
) -> None:
    """Calls a kernel of tiles for `count` of them, of which there may be none."""
    if count > 0:
        call_kernel(address, place(block), place(x), place(w), place(out), flags, count)
