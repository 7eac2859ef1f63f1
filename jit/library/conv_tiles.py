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
from .tile_kernels import MOST_GROUPS
from .tiles import MASKED_WIDTH, WIDTHS, cut, edged_heights, heights, runs, tiles
from .vectors import Vectors, vectors

_WORTH = 0.02  # of all multiplications, for which edges get tiles of their own
_SHORT = 8  # channels below which the loops of edge tiles cost more than they save

Spans = tuple[tuple[int, int], ...]  # for every tap, the first and the last pixel (excluded)


class Column(NamedTuple):
    """A column of tiles, of so many vectors; those of the target decide how tall they may be."""

    dtype: str
    wide: int
    on: Vectors


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

    def edges(self) -> tuple[int, int]:
        """How many pixels at the start and at the end of a line of known length lack taps."""
        length = int(self.length)  # type: ignore[arg-type]
        spans = self.spans(0, length)
        start, stop = max(first for first, _ in spans), min(last for _, last in spans)
        return (start, length - stop) if start < stop else (length, 0)

    def tiles(self, dtype: str, tall: int, count: int) -> Iterator[tuple[int, int, Spans]]:
        """Start, height and spans of the tiles of a line of known length."""
        kind = Column(dtype, count, vectors(dtype))
        start, (_, left, right) = 0, _best_way(self, tall, kind)
        length = int(self.length)  # type: ignore[arg-type]
        for height in (
            *_edge_tiles(self, kind, 0, left),
            *cut(length - left - right, tall, count, dtype),
            *_edge_tiles(self, kind, length - right, length),
        ):
            yield start, height, self.spans(start, start + height)
            start += height


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
        known = line if isinstance(line.length, int) else None
        return Tile(dtype, *_best_tile(dtype, vectors(dtype), features, known))

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
    side by side and are summed in one go.  edged: some pixels lack some taps.  taps: how many there
    are, or of which pixels (REPEATS of tile_kernels.py).
    """

    pixels: int
    end: int
    whole: bool
    edged: bool
    taps: tuple[int, ...]


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
    if whole or all(span == (0, pixels) for span in spans):
        return Kind(pixels, end, whole, False, (1 if whole else window,))
    # Which pixels lack a tap, those at the start or those at the end: no tile lacks one at both.
    missing = (pixels if first == last else first or last - pixels for first, last in spans)
    runs = [(lacking, len(list(group))) for lacking, group in groupby(missing)]
    numbers = (number for run in runs for number in run)
    return Kind(pixels, end, False, True, (len(runs), *numbers))


def table_of(
    kinds: list[Kind], tile: Tile, features: int
) -> tuple[np.ndarray, list[LibraryKernel]]:
    """The kinds of tiles as conv_kernels.py reads them, and the kernels that they name."""
    parts: list[LibraryKernel] = []
    table = np.zeros((len(kinds), conv_kernels.ROW), np.int64)
    for row, kind in zip(table, kinds, strict=True):
        part = tile.kernel(features, kind.pixels, edged=kind.edged)
        if part not in parts:
            parts.append(part)
        facts = (parts.index(part), kind.pixels, kind.end, kind.whole, len(kind.taps))
        row[: len(facts) + len(kind.taps)] = *facts, *kind.taps
    return table, parts


# Layers of a network have lines in common.
@lru_cache(2048)
def _best_tile(dtype: str, held: Vectors, features: int, line: Line | None) -> tuple[int, int]:
    """The height of `Tile.choose`, and its vectors.

    held: those of the target.  line: None if its length is not known; then what a pixel costs in
    whole tiles is compared.
    """
    best: tuple[float, int, int] | None = None
    for count in WIDTHS:
        panels, lacking = -(-features // (held.lanes * count)), features % (held.lanes * count)
        if lacking and count > MASKED_WIDTH:
            continue
        for tall in sorted(heights(dtype, count)):
            length = int(line.length) if line else 6 * tall  # type: ignore[arg-type]
            if tall > (length or tall):
                continue
            way = _best_way(line or Line(length), tall, Column(dtype, count, held))
            cost = panels * way[0] / max(1, length)
            if best is None or cost < best[0]:
                best = (cost, tall, count)
    assert best is not None  # every target holds at least one accumulator
    return best[1:]


@lru_cache(2048)
def _best_way(line: Line, tall: int, kind: Column) -> tuple[float, int, int]:
    """Cycles for one step of the reduction (per tap) along a whole line, and how many pixels at its
    start and at its end are for tiles whose rows may lack taps, so that they are fewest."""
    length = int(line.length)  # type: ignore[arg-type]
    return min(
        (
            (cycles + _plain_cycles(tall, kind, length - left - right), left, right)
            for cycles, left, right in _ways_to_edge(line, kind)
        ),
        key=lambda way: way[0],
    )


@lru_cache(512)
def _ways_to_edge(line: Line, kind: Column) -> tuple[tuple[float, int, int], ...]:
    """What `_best_way` chooses from, with the cycles per tap of those tiles.

    The pixels at the edges are at least those that lack a tap; the others, of which there may be
    any number, make tiles of good heights.
    """
    if line.axis is None:
        return ((0.0, 0, 0),)
    length, (left, right) = int(line.length), line.edges()  # type: ignore[arg-type]
    if left + right >= length:
        return ((_edge_cycles(line, kind, 0, length), length, 0),)
    most = edged_heights(kind.dtype, kind.wide)[0]
    more = range(min(length - left - right, most - 1) + 1)
    lefts = [left + n for n in more] if left else [0]
    rights = [right + n for n in more] if right else [0]
    costs = [_edge_cycles(line, kind, 0, n) for n in lefts]
    others = [_edge_cycles(line, kind, length - n, length) for n in rights]
    ways: dict[int, tuple[float, int, int]] = {}
    if length <= 2 * most:  # one tile may have both ends
        ways[length] = (_edge_cycles(line, kind, 0, length), length, 0)
    for a, cost in zip(lefts, costs, strict=True):
        for b, other in zip(rights, others, strict=True):
            if a + b <= length and cost + other < ways.get(a + b, (float("inf"),))[0]:
                ways[a + b] = (cost + other, a, b)
    return tuple(ways.values())


@lru_cache(4096)
def _edge_tiles(line: Line, kind: Column, start: int, stop: int) -> tuple[int, ...]:
    """The heights of the tiles of a part of a line; none lacks one tap at both ends."""
    most, made = edged_heights(kind.dtype, kind.wide)[0], []
    while start < stop:
        # As few as there may be, and of like heights.
        parts = -(-(stop - start) // most)
        height = -(-(stop - start) // parts)
        while any(0 < first < last < height for first, last in line.spans(start, start + height)):
            height -= 1
        made.append(height)
        start += height
    return tuple(made)


@lru_cache(4096)
def _edge_cycles(line: Line, kind: Column, start: int, stop: int) -> float:
    total = 0.0
    for height in _edge_tiles(line, kind, start, stop):
        spans = line.spans(start, start + height)
        total += sum(_cycles(last - first, kind.wide) for first, last in spans) / len(spans)
        start += height
    return total


@lru_cache(4096)
def _plain_cycles(tall: int, kind: Column, length: int) -> float:
    tiles = runs(length, tall, kind.wide, kind.dtype)
    return sum(times * _cycles(height, kind.wide) for height, times in tiles)


def _cycles(tall: int, count: int) -> float:
    # Whichever takes longest: multiply-adds, loads, or the wait for the step before; and a little
    # for the loop itself.
    return max(tall * count / 2, (tall + count) / 2, 4.0) + 0.4 if tall else 0.0
