# SPDX-License-Identifier: Apache-2.0
"""Register tiles along a line of a convolution.

Where the width is known, a tile at the edge leaves out the taps that lie outside of the input; the
vertical ones are left out by the loops of the kernel.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from ...engine.record_class import record
from ..kernel.sizes import AnySize
from . import conv_kernels
from .geometry import Axis
from .library_kernel import LibraryKernel
from .tiles import MASKED_WIDTH, MOST_GROUPS, WIDTHS, cut, heights, tiles
from .vectors import Vectors, vectors

_WORTH = 0.02  # of all multiplications, for which edges get tiles of their own
_LONG = 6  # pixels of a line for each that is taken so
_PAIR = 2  # the pixels at an edge that tiles know, and of tiles for those further out
_SHORT = 8  # channels below which the loops of edge tiles cost more than they save

Spans = tuple[tuple[int, int], ...]  # for every tap, the first and the last pixel (excluded)


@record(frozen=True)
class Line:
    """Pixels along a line, and which of them have which taps; `axis` is None where all do."""

    length: AnySize
    axis: Axis | None = None

    @staticmethod
    def of(wide: Axis, channels: int) -> Line:
        """A line of a convolution's output."""
        numbers = (wide.out, wide.size, wide.before)
        if not all(isinstance(n, int) for n in numbers) or channels < _SHORT:
            return Line(wide.out)
        line = Line(wide.out, wide)
        taps = sum(stop - start for start, stop in line.spans(0, int(wide.out)))
        groups = len(set(line.spans(0, int(wide.out))))
        if groups > MOST_GROUPS:
            return Line(wide.out)
        few = taps < (1 - _WORTH) * int(wide.out) * wide.window
        return line if few else Line(wide.out)

    def spans(self, start: int, stop: int) -> Spans:
        """Which pixels of a tile have which tap, counted from `start`."""
        wide = self.axis
        if wide is None:
            return ((0, stop - start),)
        result = []
        for tap in range(wide.window):
            shift = int(wide.before) - tap * wide.dilation
            first = max(start, -(-shift // wide.stride))
            last = min(stop, (int(wide.size) - 1 + shift) // wide.stride + 1)
            result.append((first - start, last - start) if first < last else (0, 0))
        return tuple(result)

    def tiles(self, dtype: str, tall: int, count: int) -> Iterator[tuple[int, int, Spans]]:
        """Start, height and spans of the tiles of a line of known length."""
        start, length = 0, int(self.length)  # type: ignore[arg-type]
        before, behind = self._narrow(length)
        middle = cut(length - before - behind, tall, count, dtype)
        for height in (*[_PAIR] * (before // _PAIR), *middle, *[_PAIR] * (behind // _PAIR)):
            yield start, height, self.spans(start, start + height)
            start += height

    def _narrow(self, length: int) -> tuple[int, int]:
        """How many pixels at the start and at the end get tiles of two each.

        Tiles whose first or last pixels lack at most two taps serve all windows; where more of a
        window lies outside, as in gradients of unpadded convolutions, pixels that lack more than
        that are taken two by two, so that these need no tiles of their own.  On short lines they
        have them: there small tiles would take longer than their compiling saves.
        """
        wide = self.axis
        if wide is None or wide.stride != 1 or wide.dilation != 1:
            return 0, 0
        lacking = (
            int(wide.before),
            int(wide.out) - 1 + wide.window - int(wide.before) - int(wide.size),
        )
        before, behind = (max(0, _up(n - _PAIR, _PAIR)) for n in lacking)
        return (before, behind) if _LONG * (before + behind) <= length else (0, 0)


@record(frozen=True)
class Tile:
    """A register tile: rows (pixels along a line) and vectors of features."""

    dtype: str
    pixels: int
    vectors: int

    @staticmethod
    def choose(dtype: str, features: int, line: Line) -> Tile:
        """The tile with the fewest cycles for a line.

        A core does two multiply-adds and two loads per cycle, and needs four cycles from one step
        of the reduction to the next.
        """
        lanes = vectors(dtype).lanes
        best: tuple[float, int, int] | None = None
        for count in WIDTHS:
            panels, lacking = -(-features // (lanes * count)), features % (lanes * count)
            if lacking and count > MASKED_WIDTH:
                continue
            known = line.length if isinstance(line.length, int) else 0
            for tall in sorted(n for n in heights(dtype, count) if n <= (known or n)):
                # Lines of unknown length are compared by what a pixel costs in whole tiles.
                sample = line if known else Line(6 * tall)
                assert isinstance(sample.length, int)
                cost = (
                    panels
                    * _line_cycles(sample, dtype, tall, count, vectors(dtype))
                    / max(1, int(sample.length))
                )
                if best is None or cost < best[0]:
                    best = (cost, tall, count)
        assert best is not None  # every target holds at least one accumulator
        return Tile(dtype, best[1], best[2])

    @property
    def panel(self) -> int:
        """Features per tile."""
        return self.vectors * vectors(self.dtype).lanes

    def panels(self, features: int) -> int:
        """Tiles for so many features."""
        return -(-features // self.panel)

    def masked(self, features: int) -> bool:
        """Does the last panel of so many features lack some?"""
        return features % self.panel != 0

    def kernel(self, features: int, pixels: int, **kinds: Any) -> LibraryKernel:
        """The kernel of tiles of so many rows, in panels of so many features; see tiles.py."""
        return tiles(self.dtype, pixels, self.vectors, self.masked(features), **kinds)


class Kind(NamedTuple):
    """Neighbouring tiles of a line that are alike.

    end: the pixel that ends them, 0 for that of the line.  whole: all taps of a line's window lie
    side by side and are summed in one go.  spans: for each group of taps, how many pixels at the
    start and at the end of a tile lack it.  repeats: how many taps each group has.
    """

    pixels: int
    end: int
    whole: bool
    spans: tuple[tuple[int, int], ...]
    repeats: tuple[int, ...]


def kinds_of_line(line: Line, tile: Tile, window: int, contiguous: bool) -> list[Kind]:
    """The tiles of a line.

    contiguous: all taps of a line's window lie side by side, and may be summed in one go.
    """
    if not isinstance(line.length, int):
        # Of these any length is made up, and there are few kernels.
        heights = sorted({tile.pixels, min(4, tile.pixels), 1}, reverse=True)
        return [_kind(n, 0, ((0, n),), window, contiguous) for n in heights]
    kinds = []
    for (height, spans), group in groupby(
        line.tiles(tile.dtype, tile.pixels, tile.vectors), lambda t: t[1:]
    ):
        *_, (last, _, _) = group
        # Taps are summed in one go only where every pixel of a tile has all of them.
        whole = contiguous and all(span == (0, height) for span in spans)
        kinds.append(_kind(height, last + height, spans, window, whole))
    return kinds


def _kind(pixels: int, end: int, spans: Spans, window: int, whole: bool) -> Kind:
    if whole or len(spans) == 1:
        spans = spans[:1] * (1 if whole else window)
    runs = [(span, len(list(group))) for span, group in groupby(spans)]
    missing = tuple((first, pixels - last) for (first, last), _ in runs)
    return Kind(pixels, end, whole, missing, tuple(count for _, count in runs))


def table_of(
    kinds: list[Kind], tile: Tile, features: int
) -> tuple[np.ndarray, list[LibraryKernel]]:
    """The kinds of tiles as conv_kernels.py reads them, and the kernels that they name."""
    parts: list[LibraryKernel] = []
    table = np.zeros((len(kinds), conv_kernels.ROW), np.int64)
    for row, kind in zip(table, kinds, strict=True):
        spans = ",".join(f"{before}:{behind}" for before, behind in kind.spans)
        part = tile.kernel(features, kind.pixels, spans=spans)
        if part not in parts:
            parts.append(part)
        facts = (parts.index(part), kind.pixels, kind.end, kind.whole, len(kind.repeats))
        row[: len(facts) + len(kind.repeats)] = *facts, *kind.repeats
    return table, parts


def _up(size: int, unit: int) -> int:
    return -(-size // unit) * unit


# Layers of a network have lines in common.
@lru_cache(2048)
def _line_cycles(line: Line, dtype: str, tall: int, count: int, on: Vectors) -> float:
    """Cycles for one step of the reduction (per tap) along a whole line, on some vectors."""
    total = 0.0
    for _, _, spans in line.tiles(dtype, tall, count):
        total += sum(_cycles(stop - start, count) for start, stop in spans) / len(spans)
    return total


def _cycles(tall: int, count: int) -> float:
    # Whichever takes longest: multiply-adds, loads, or the wait for the step before; and a little
    # for the loop itself.
    return max(tall * count / 2, (tall + count) / 2, 4.0) + 0.4 if tall else 0.0
