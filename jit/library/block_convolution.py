# SPDX-License-Identifier: Apache-2.0
"""Convolutions and their gradients on GPUs by tiles (block_tiles.py), without patches in memory.

A convolution is a product of pixels' windows with filters.  A tile's rows are pixels (of the
scores, or of the images if their gradient is wanted), whose places are worked out once per tile;
the inner axis is the channels of one tap after the other.  The gradient of filters is a product
for each tap, whose inner axis is the scores' pixels, line by line; lines are cut into parts, so
that there is work for all of a card, and the parts are added up in their order.  Where the device
has a library for convolutions, that computes them in its place.  Imports nothing heavy.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from .block_tiles import Factor, Tiling
from .computed import Convolution
from .library_kernel import LibraryKernel

_NUMBERS = "n_images height width channels high wide features rows_out columns_out above before"
_BLOCKS = 512  # of a grid, that there is work for all of a card
_MOST_PARTS = 64


@cache
def block_convolution(computes: Convolution, across: int = 16) -> LibraryKernel:
    """The kernel that computes a convolution; its arguments are those of it (computed.py).

    across: threads of a block side by side.
    """
    tiling = {"forward": _forward, "images": _images, "filters": _filters}[computes.way](computes)
    tiling = replace(tiling, across=across)
    name = f"block_convolution_{computes.way}"
    return LibraryKernel(name, tiling.text(), block=tiling.block, computes=computes)


def parts_of(dtype: str, high: int, wide: int, channels: int, features: int) -> int:
    """Into how many parts a gradient of filters is cut, by the filters' sizes alone."""
    tile = 64 if dtype == "float64" else 128
    tiles = -(-features // tile) * -(-channels // tile) * high * wide
    return max(min(_BLOCKS // tiles, _MOST_PARTS), 1)


def _numbers(computes: Convolution, buffers: tuple[str, ...]) -> tuple[tuple[str, ...], list[str]]:
    return buffers, _NUMBERS.split()


def _constants(computes: Convolution) -> list[tuple[str, int]]:
    """Numbers that are part of the text: division by them is cheap so."""
    (down, across), (by_row, by_column) = computes.steps, computes.dilations
    names = {"STEP_Y": down, "STEP_X": across, "APART_Y": by_row, "APART_X": by_column}
    return list({**names, "PARTS": computes.parts, "ONE": 1}.items())


def _row_table(height: str, width: str) -> list[str]:
    """Of a pixel of a tile, number top + e among all, its image, line and column."""
    return [
        "pixel = minimum(top + e, m - 1)",
        f"line_of = truncatediv(pixel, {width})",
        f"x_of = truncatemod(pixel, {width})",
        f"image_of = truncatediv(line_of, {height})",
        f"y_of = truncatemod(line_of, {height})",
    ]


_TAPS = [
    "for tap in range(taps):",
    "tap_y = truncatediv(tap, wide)",
    "tap_x = truncatemod(tap, wide)",
]


def _forward(computes: Convolution) -> Tiling:
    buffers = ("images", "filters", *["added"] * computes.bias, "scores")
    left = Factor(
        "images",
        (
            "SIDE_y = load(ys, OUTER) + tap_y * APART_Y",
            "SIDE_x = load(xs, OUTER) + tap_x * APART_X",
        ),
        "load(bases, OUTER) + (tap_y * APART_Y * width + tap_x * APART_X) * channels + INNER",
        _all(
            "le(NONE, SIDE_y)",
            "lt(SIDE_y, height)",
            "le(NONE, SIDE_x)",
            "lt(SIDE_x, width)",
            "lt(INNER, channels)",
            "lt(top + OUTER, m)",
        ),
        True,
    )
    right = Factor(
        "filters",
        (),
        "((first + OUTER) * taps + tap) * channels + INNER",
        _all("lt(first + OUTER, n)", "lt(INNER, channels)"),
        True,
    )
    return Tiling(
        computes.dtype,
        *_numbers(computes, buffers),
        [
            "m = n_images * rows_out * columns_out",
            "n = features",
            "lead = ONE",
            "taps = high * wide",
        ],
        left,
        right,
        "channels",
        tables=("bases", "ys", "xs"),
        table=[
            *_row_table("rows_out", "columns_out"),
            "y_first = y_of * STEP_Y - above",
            "x_first = x_of * STEP_X - before",
            "store(ys, e, y_first)",
            "store(xs, e, x_first)",
            "store(bases, e, ((image_of * height + y_first) * width + x_first) * channels)",
        ],
        loops=_TAPS,
        bias=computes.bias,
        relu=computes.relu,
        constants=_constants(computes),
    )


def _images(computes: Convolution) -> Tiling:
    left = Factor(
        "scores",
        (
            # Of a window whose tap falls on the pixel: from where it would begin in steps.
            "SIDE_down = load(ys, OUTER) - tap_y * APART_Y",
            "SIDE_over = load(xs, OUTER) - tap_x * APART_X",
            "SIDE_y = truncatediv(SIDE_down, STEP_Y)",
            "SIDE_x = truncatediv(SIDE_over, STEP_X)",
        ),
        "((load(bases, OUTER) + SIDE_y) * columns_out + SIDE_x) * features + INNER",
        _all(
            "le(NONE, SIDE_down)",
            "lt(SIDE_y, rows_out)",
            "eq(SIDE_y * STEP_Y, SIDE_down)",
            "le(NONE, SIDE_over)",
            "lt(SIDE_x, columns_out)",
            "eq(SIDE_x * STEP_X, SIDE_over)",
            "lt(INNER, features)",
            "lt(top + OUTER, m)",
        ),
        True,
    )
    right = Factor(
        "filters",
        (),
        "((INNER) * taps + tap) * channels + first + OUTER",
        _all("lt(first + OUTER, n)", "lt(INNER, features)"),
        False,
    )
    return Tiling(
        computes.dtype,
        *_numbers(computes, ("filters", "scores", "images")),
        [
            "m = n_images * height * width",
            "n = channels",
            "lead = ONE",
            "taps = high * wide",
        ],
        left,
        right,
        "features",
        tables=("bases", "ys", "xs"),
        table=[
            *_row_table("height", "width"),
            "store(ys, e, y_of + above)",
            "store(xs, e, x_of + before)",
            "store(bases, e, image_of * rows_out)",
        ],
        loops=_TAPS,
        constants=_constants(computes),
    )


def _filters(computes: Convolution) -> Tiling:
    left = Factor(
        "scores",
        (),
        "(pixels + INNER) * features + top + OUTER",
        _all("lt(top + OUTER, m)", "lt(INNER, columns_out)"),
        False,
    )
    right = Factor(
        "images",
        ("SIDE_x = (INNER) * STEP_X + x_first",),
        "(lines_before + SIDE_x) * channels + first + OUTER",
        _all(
            "le(NONE, y)",
            "lt(y, height)",
            "le(NONE, SIDE_x)",
            "lt(SIDE_x, width)",
            "lt(INNER, columns_out)",
            "lt(first + OUTER, n)",
        ),
        False,
    )
    return Tiling(
        computes.dtype,
        *_numbers(computes, ("images", "scores", "filters")),
        [
            "m = features",
            "n = channels",
            "taps = high * wide",
            "lead = taps * PARTS",
            "every_line = n_images * rows_out",
            f"lines_each = truncatediv(every_line + {computes.parts - 1}, PARTS)",
        ],
        left,
        right,
        "columns_out",
        tile_lines=[
            # Which part and which tap; results are [parts, features, taps, channels].
            "piece = truncatediv(number, taps)",
            "tap = truncatemod(number, taps)",
            "tap_y = truncatediv(tap, wide)",
            "x_first = truncatemod(tap, wide) * APART_X - before",
            "y_first = tap_y * APART_Y - above",
            "lines_end = minimum((piece + 1) * lines_each, every_line)",
        ],
        loops=[
            "for line in range(piece * lines_each, lines_end):",
            "image = truncatediv(line, rows_out)",
            "y = truncatemod(line, rows_out) * STEP_Y + y_first",
            "lines_before = (image * height + y) * width",
            "pixels = line * columns_out",
        ],
        place="((piece * m + ROW) * taps + tap) * n",
        constants=_constants(computes),
    )


def _all(*conditions: str) -> str:
    """All of some conditions."""
    first, *rest = conditions
    return f"logical_and({first}, {_all(*rest)})" if rest else first
