# SPDX-License-Identifier: Apache-2.0
"""Register tiles along a line of a convolution.

Where the width is known, a tile at the edge leaves out the taps that lie outside of the input; the
vertical ones are left out by the loops of the kernel.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from ..kernel.sizes import AnySize
from .geometry import Axis
from .vectors import vectors

_WORTH = 0.02  # of all multiplications, for which edges get tiles of their own
_SHORT = 8  # channels below which the loops of edge tiles cost more than they save

Spans = tuple[tuple[int, int], ...]  # for every tap, the first and the last pixel (excluded)
Tiles = tuple[tuple[int, str, bool, int], ...]


@dataclass(frozen=True)
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

    def tiles(self, tall: int) -> Iterator[tuple[int, int, Spans]]:
        """Start, height and spans of the tiles of a line of known length."""
        length = int(self.length)  # type: ignore[arg-type]
        for start in range(0, length, tall):
            stop = min(start + tall, length)
            yield start, stop - start, self.spans(start, stop)


@dataclass(frozen=True)
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
        lanes, registers = vectors(dtype)
        best: tuple[float, int, int] | None = None
        for count in (1, 2, 3, 4):
            panels = -(-features // (lanes * count))
            tallest = min((registers - 1 - count) // count, 28)
            known = line.length if isinstance(line.length, int) else 0
            for tall in range(1, min(tallest, known or tallest) + 1):
                sample = line if known else Line(6 * tall)
                assert isinstance(sample.length, int)
                cost = panels * _line_cycles(sample, tall, count) / max(1, int(sample.length))
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

    def edge(self, features: int) -> int:
        """EDGE: what tiles take for the lanes left, -1 for whole panels, else 0: the variable."""
        return 0 if features % self.panel else -1

    def facts(self) -> dict[str, Any]:
        """The constants that texts use for a tile."""
        return {
            "DTYPE": self.dtype, "PIXELS": self.pixels, "VECTORS": self.vectors,
            "LANES": vectors(self.dtype).lanes, "PANEL": self.panel,
        }  # fmt: skip


def tiles_of_line(line: Line, tile: Tile, window: int, contiguous: bool) -> Tiles:
    """The tiles of a line; see TILES in jit/library/conv_kernels.py.

    contiguous: all taps of a line's window lie side by side, and are summed in one go.
    """
    if not isinstance(line.length, int):
        tall = sorted({tile.pixels, min(4, tile.pixels), 1}, reverse=True)
        return tuple(
            (height, _taps(((0, height),), window, contiguous), contiguous, 0) for height in tall
        )
    tiles = []
    for (height, spans), group in groupby(line.tiles(tile.pixels), lambda t: t[1:]):
        *_, (last, _, _) = group
        whole = contiguous and all(span == (0, height) for span in spans)
        tiles.append((height, _taps(spans, window, whole), whole, last + height))
    return tuple(tiles)


def _taps(spans: Spans, window: int, whole: bool) -> str:
    """What conv_tile takes for `taps`."""
    if whole or len(spans) == 1:
        return f"{spans[0][0]}:{spans[0][1]}:{1 if whole else window}"
    runs = [(span, len(list(group))) for span, group in groupby(spans)]
    return ",".join(f"{first}:{last}:{count}" for (first, last), count in runs)


def _line_cycles(line: Line, tall: int, count: int) -> float:
    """Cycles for one step of the reduction (per tap) along a whole line."""
    total = 0.0
    for _, _, spans in line.tiles(tall):
        total += sum(_cycles(stop - start, count) for start, stop in spans) / len(spans)
    return total


def _cycles(tall: int, count: int) -> float:
    return max(tall * count / 2, (tall + count) / 2, 4.0) + 0.4 if tall else 0.0
