# SPDX-License-Identifier: Apache-2.0
"""Register tiles over lists: sums of shifted vectors, where most of one factor is zero.

A list is `count` values with an offset each.  Rows and vectors of a tile are literals, strides are
numbers of the run; see jit/codegen/register_tiles.py.
Imports llvmlite alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir

from .numbers import word
from .register_tiles import Tile, tile_dtype
from .words import Address, Kind, Unfit, Word

_WORD = ir.IntType(64)
OFFSET = Address("int32")


class _List:
    """The values and offsets of a list, element by element."""

    def __init__(self, tile: Tile, values: Any, offsets: Any) -> None:
        self.tile, self.values, self.offsets = tile, values, offsets

    # In 32 bits: lists are read over and over, and more of a short one stays near.
    def item(self, k: Any) -> tuple[Any, Any]:
        """Value number k in all lanes, and its offset."""
        b = self.tile.b
        value = self.tile.splat(b.load(self.tile.address(self.values, k)))
        place = b.inttoptr(self.offsets, ir.IntType(32).as_pointer())
        return value, b.sext(b.load(b.gep(place, [k])), _WORD)


def _result(*kinds: Kind) -> None:
    tile_dtype(kinds, OFFSET)
    offsets = [kind for kind in kinds if isinstance(kind, Address)][2]
    if offsets != OFFSET:
        raise Unfit(f"offsets of {offsets.dtype}: those of a list are int32")


def _word(name: str, emit: Callable[..., None]) -> Word:
    """A tile of so many rows, vectors and lanes, which come first and are literals."""

    def code(b: ir.IRBuilder, kinds: tuple[Kind, ...], values: tuple[Any, ...]) -> None:
        rows, vectors, lanes = (value.constant for value in values[:3])
        words = [word(b, kind, v) for kind, v in zip(kinds[3:], values[3:], strict=True)]
        emit(Tile(b, tile_dtype(kinds, OFFSET), (rows, vectors, lanes), None, False), *words)

    return Word(name, 10, _result, code)


def _lines(t: Tile, base: Any, stride: Any) -> list[Any]:
    """Where the rows of a tile begin, which needs no work for each entry of a list."""
    step = t.b.mul(stride, _WORD(t.bytes))
    return [t.b.add(base, t.b.mul(_WORD(r), step)) for r in range(t.pixels)]


def _emit_gather(
    t: Tile, x: Any, values: Any, offsets: Any, count: Any, out: Any, x_row: Any, out_row: Any
) -> None:
    # The sums stay in registers while the list goes by: an entry costs one load of it, and a fused
    # multiplication and addition a vector, with x as an operand in memory.
    items, lines = _List(t, values, offsets), _lines(t, x, x_row)

    def step(k: Any, sums: list[Any]) -> list[Any]:
        value, offset = items.item(k)
        pieces = (t.load(lines[r], v, offset) for r, v in t.cells)
        return [t.fma(value, piece, old) for piece, old in zip(pieces, sums, strict=True)]

    zero = ir.Constant(t.vector, [0.0] * t.lanes)
    for (r, v), total in zip(t.cells, t.loop(count, [zero] * len(t.cells), step), strict=True):
        # Added to what is there at the end, as one list is one of several parts of a sum.
        place = t.b.mul(_WORD(r), out_row)
        t.store(t.b.fadd(t.load(out, v, place), total), out, v, place)


def _emit_scatter(
    t: Tile, w: Any, values: Any, offsets: Any, count: Any, out: Any, w_row: Any, out_row: Any
) -> None:
    items, lines = _List(t, values, offsets), _lines(t, out, out_row)
    # Here the factor stays in registers, and sums are in memory, since every entry has others.
    weights = [t.load(w, v, t.b.mul(_WORD(r), w_row)) for r, v in t.cells]

    def step(k: Any, kept: list[Any]) -> list[Any]:
        value, offset = items.item(k)
        for (r, v), weight in zip(t.cells, weights, strict=True):
            total = t.fma(value, weight, t.load(lines[r], v, offset))
            t.store(total, lines[r], v, offset)
        return kept

    # In the list's order, one entry after the other: two may hit the same place.
    t.loop(count, [], step)


GATHER_TILE = _word("gather_tile", _emit_gather)
SCATTER_TILE = _word("scatter_tile", _emit_scatter)
