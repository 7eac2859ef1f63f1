# SPDX-License-Identifier: Apache-2.0
"""Register tiles: the word that contractions (products, convolutions, gradients) are built of.

`fma_tile` keeps PIXELS x VECTORS vector accumulators in registers over a whole reduction of three
levels.  Its shape and the use of masks are literals in the kernel's text; strides and counts are
numbers of the run, so that one tile serves all sizes.
Imports llvmlite alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from llvmlite import ir

from .. import target
from ..library.vectors import vectors
from .numbers import word
from .words import Address, Kind, Unfit, Word, function, of_one_dtype

_WORD = ir.IntType(64)
_BIT, _INDEX = ir.IntType(1), ir.IntType(32)
# Where a row's element is: the address of several rows, and terms of what it lies behind it.
Spot = tuple[Any, tuple[Any, ...]]
# Gives, for so many steps from one on, where all rows have theirs.
Places = Callable[[Any, int], list[list[Spot]]]
# Gives the number of the run that stands so many words behind the first of those about taps.
Told = Callable[..., Any]
# Sums that are all being added to while the first addition is done: with no more than these a step
# waits for the one before, and what else it does costs nothing.
_IN_FLIGHT = 8
# Registers besides those of sums, weights and factors, without which LLVM keeps sums in memory.
_SPARE = 2
_FEW, _FEW_OF_MANY = 3, 4  # rows whose addresses share a register, and where there are more of them
_MANY = 15  # rows, up to which there are few
_ELEMENTS = {"float32": (ir.FloatType(), 4), "float64": (ir.DoubleType(), 8)}


def splat(b: ir.IRBuilder, scalar: Any, lanes: int) -> Any:
    """A number of the run in all lanes of a vector."""
    undefined = ir.Constant(ir.VectorType(scalar.type, lanes), ir.Undefined)
    first = b.insert_element(undefined, scalar, _INDEX(0))
    zeros = ir.Constant(ir.VectorType(_INDEX, lanes), [0] * lanes)
    return b.shuffle_vector(first, undefined, zeros)


def loop(
    b: ir.IRBuilder, count: Any, start: list[Any], body: Callable[..., list[Any]]
) -> tuple[list[Any], Any]:
    """The values after `body(i, values) -> values` for i < count, and the branch back.

    count is at least one.
    """
    before = b.block
    inside, after = (b.append_basic_block(name) for name in ("loop", "done"))
    b.branch(inside)
    b.position_at_end(inside)
    index, *phis = (b.phi(value.type) for value in (count, *start))
    for phi, value in zip((index, *phis), (_WORD(0), *start), strict=True):
        phi.add_incoming(value, before)
    values = body(index, phis)
    # The test is at the end, as counts are at least one: sums need not be merged at a head, too.
    following = b.add(index, _WORD(1))
    for phi, value in zip((index, *phis), (following, *values), strict=True):
        phi.add_incoming(value, b.block)
    again = b.cbranch(b.icmp_signed("<", following, count), inside, after)
    b.position_at_end(after)
    return values, again


class Tile:
    """Emits one register tile at the builder's position; strides and addresses are i64 values."""

    def __init__(
        self,
        builder: ir.IRBuilder,
        dtype: str,
        shape: tuple[int, int, int],
        left: Any,
        ragged: bool,
    ) -> None:
        self.b = builder
        self.pixels, self.vectors, self.lanes = shape
        self.element, self.bytes = _ELEMENTS[dtype]
        self.vector = ir.VectorType(self.element, self.lanes)
        self.left = left
        # Rows of w end where those of out do, so that their loads are masked.
        self.ragged = ragged
        self.masks = [None if left is None else self._mask(v) for v in range(self.vectors)]
        # A factor is an operand in memory where it is used but once, else a few are read ahead.
        # Two steps at a time halve what counting costs, but only where the step is not waiting for
        # sums (_IN_FLIGHT), and where sums do not fall out of the registers.
        ahead = _FEW if self.vectors > 1 else 0
        most = vectors(dtype).registers - self.vectors - ahead - _SPARE
        self.takes_pairs = _IN_FLIGHT < self.pixels * self.vectors <= most
        self.cells = [(p, v) for p in range(self.pixels) for v in range(self.vectors)]

    def function(self, name: str, result: Any, arguments: list[Any]) -> Any:
        return function(self.b, name, result, arguments)

    def splat(self, scalar: Any) -> Any:
        return splat(self.b, scalar, self.lanes)

    def _mask(self, v: int) -> Any:
        kind = ir.VectorType(_INDEX, self.lanes)
        left = self.b.trunc(self.left, _INDEX)
        spread = splat(self.b, left, self.lanes)
        lanes = ir.Constant(kind, [v * self.lanes + i for i in range(self.lanes)])
        return self.b.icmp_signed("<", lanes, spread)

    def address(self, base: Any, *terms: Any) -> Any:
        offset = terms[0]
        for term in terms[1:]:
            offset = self.b.add(offset, term)
        pointer = self.b.inttoptr(base, self.element.as_pointer())
        return self.b.gep(pointer, [offset])

    def load(self, base: Any, v: int, *terms: Any, whole: bool = False) -> Any:
        place = self.address(base, _WORD(v * self.lanes), *terms)
        place = self.b.bitcast(place, self.vector.as_pointer())
        if whole or self.masks[v] is None:
            value = self.b.load(place)
            value.align = self.bytes
            return value
        mask = ir.VectorType(_BIT, self.lanes)
        name = f"llvm.masked.load.v{self.lanes}{self._suffix}.p0"
        kinds = [self.vector.as_pointer(), _INDEX, mask, self.vector]
        call = self.function(name, self.vector, kinds)
        zero = ir.Constant(self.vector, [0.0] * self.lanes)
        return self.b.call(call, [place, _INDEX(self.bytes), self.masks[v], zero])

    def store(self, value: ir.Value, base: Any, v: int, *terms: Any) -> None:
        place = self.address(base, _WORD(v * self.lanes), *terms)
        place = self.b.bitcast(place, self.vector.as_pointer())
        if self.masks[v] is None:
            self.b.store(value, place).align = self.bytes
            return
        mask = ir.VectorType(_BIT, self.lanes)
        name = f"llvm.masked.store.v{self.lanes}{self._suffix}.p0"
        kinds = [self.vector, self.vector.as_pointer(), _INDEX, mask]
        call = self.function(name, ir.VoidType(), kinds)
        self.b.call(call, [value, place, _INDEX(self.bytes), self.masks[v]])

    @property
    def _suffix(self) -> str:
        return "f32" if self.bytes == 4 else "f64"

    def when(
        self, condition: Any, values: list[Any], change: Callable[..., list[Any]]
    ) -> list[Any]:
        """`change(values)` where a condition holds, else the values, through a real branch."""
        before = self.b.block
        inside = self.b.append_basic_block("inside")
        after = self.b.append_basic_block("after")
        self.b.cbranch(condition, inside, after)
        self.b.position_at_end(inside)
        changed = change(values)
        end = self.b.block
        self.b.branch(after)
        self.b.position_at_end(after)
        return self._merge(changed, end, values, before)

    def _merge(self, values: list[Any], end: Any, no: list[Any], before: Any) -> list[Any]:
        merged = []
        for value, other in zip(values, no, strict=True):
            phi = self.b.phi(self.vector)
            phi.add_incoming(value, end)
            phi.add_incoming(other, before)
            merged.append(phi)
        return merged

    def choose(
        self, number: Any, cases: Mapping[int, Callable[..., list[Any]]], values: list[Any]
    ) -> list[Any]:
        """What the case of a number makes of the values; without one they stay as they are."""
        b = self.b
        after = b.append_basic_block("chosen")
        chosen, switch = [(values, b.block)], b.switch(number, after)
        for case, change in cases.items():
            inside = b.append_basic_block("case")
            switch.add_case(_WORD(case), inside)
            b.position_at_end(inside)
            changed = change(values)
            chosen.append((changed, b.block))
            b.branch(after)
        b.position_at_end(after)
        merged = [b.phi(self.vector) for _ in values]
        for ends, block in chosen:
            for phi, value in zip(merged, ends, strict=True):
                phi.add_incoming(value, block)
        return merged

    def loop(self, count: Any, start: list[Any], body: Callable[..., list[Any]]) -> list[Any]:
        """`body(i, values) -> values` for i < count; count is at least one."""
        return loop(self.b, count, start, body)[0]

    def fma(self, x: Any, y: Any, z: Any) -> Any:
        """x * y + z, rounded once where the machine can."""
        name = f"llvm.fmuladd.v{self.lanes}{self._suffix}"
        function = self.function(name, self.vector, [self.vector] * 3)
        return self.b.call(function, [x, y, z])

    def multiply_add(self, spots: list[Spot], w: Any, row: Any, sums: list[Any]) -> list[Any]:
        """One step of the reduction: sums[p, v] += what is at spots[p] * w[row + v * lanes]."""
        whole = not self.ragged
        weights = [self.load(w, v, row, whole=whole) for v in range(self.vectors)]
        new: list[Any] = []
        base = after = spots[0][0]
        for number, old in enumerate(sums):
            p, v = divmod(number, self.vectors)
            if v == 0:
                if spots[p][0] is not base:
                    base = spots[p][0]
                    after = self._after(base, new[-1])
                place = self.address(after, *spots[p][1])
                # One load that fills all lanes, from a place in memory to a register, is as cheap
                # as one of a vector; p is the outer loop, so that there is one of them at a time.
                scalar = self.splat(self.b.load(place))
            new.append(self.fma(scalar, weights[v], old))
        return new

    def adjacent_rows(self, x: Any, start: Any, step: Any, pixels: range) -> Places:
        """Where the elements of rows are that lie side by side, steps `step` elements apart.

        x + start is the beginning of row 0.
        """
        b = self.b

        def places(q: Any, many: int) -> list[list[Spot]]:
            ats = [b.add(start, b.mul(b.add(q, _WORD(n)), step)) for n in range(many)]
            return [[(x, (_WORD(p), at)) for p in pixels] for at in ats]

        return places

    def strided_rows(self, x: Any, start: Any, pixel: Any, pixels: range) -> Places:
        """The same of rows `pixel` elements apart, whose steps lie side by side.

        A register for every few rows and one for each of the few: left to itself LLVM adds up from
        row to row, and additions take the ports of multiplications.
        """
        # About the square root of the rows: bases and offsets together are fewest then, and each
        # spot is base + offset, which an address of the machine can say without an addition.
        b, few = self.b, _FEW if len(pixels) <= _MANY else _FEW_OF_MANY
        first = b.add(start, b.mul(_WORD(pixels.start), pixel))
        bases = [b.add(x, b.mul(first, _WORD(self.bytes)))]
        size = b.mul(pixel, _WORD(self.bytes * few))
        for _ in range(few, len(pixels), few):
            bases.append(b.add(bases[-1], size))
        bases = [self._opaque(base) for base in bases]

        def places(q: Any, many: int) -> list[list[Spot]]:
            offsets = [q]
            for j in range(1, min(few, len(pixels))):
                offsets.append(self._opaque(b.add(q, b.mul(_WORD(j), pixel))))
            rows = range(len(pixels))
            return [
                [(bases[p // few], (offsets[p % few], _WORD(n))) for p in rows] for n in range(many)
            ]

        return places

    def _opaque(self, number: Any) -> Any:
        """A number that LLVM knows nothing of, and so keeps as it is."""
        # An empty instruction that may have changed the number; it costs none.
        kind = ir.FunctionType(_WORD, [_WORD])
        return self.b.asm(kind, "", "=r,0", [number], side_effect=False)

    def _after(self, number: Any, value: Any) -> Any:
        """A number that LLVM has only when it has a vector, so that it reads no factor before.

        It would read those of most rows at once, and keep sums in memory for want of registers:
        products of float64 took twice as long.  The machine waits for nothing here.
        """
        kind = ir.FunctionType(_WORD, [_WORD, self.vector])
        held = "w" if target.current().machine == "aarch64" else "v"
        return self.b.asm(kind, "", f"=r,0,{held}", [number, value], side_effect=False)


# What the arguments of a tile are that come before its addresses and numbers, and after them.
_SHAPE, _REST = 6, 2


def _fma_result(*kinds: Kind) -> None:
    tile_dtype(kinds[_SHAPE:-_REST])


def _fma_tile(b: ir.IRBuilder, kinds: tuple[Kind, ...], values: tuple[Any, ...]) -> None:
    """See jit/library/plain_vocabulary.py."""
    pixels, vectors, lanes, left, ragged = values[: _SHAPE - 1]
    is_edged, inner = bool(values[_SHAPE - 1].constant), slice(_SHAPE, -_REST)
    is_whole = isinstance(left, ir.Constant) and left.constant == -1
    shape = (pixels.constant, vectors.constant, lanes.constant)
    edge = None if is_whole else word(b, kinds[3], left)
    tile = Tile(b, tile_dtype(kinds[inner]), shape, edge, bool(ragged.constant))
    block, repeats = values[-2], word(b, kinds[-1], values[-1])
    words = [word(b, kind, value) for kind, value in zip(kinds[inner], values[inner], strict=True)]

    def told(*places: Any) -> Any:
        place = repeats
        for further in places:
            place = b.add(place, further)
        return b.load(b.gep(block, [place]))

    _emit(tile, told, is_edged, *words)


FMA_TILE = Word("fma_tile", 24, _fma_result, _fma_tile)


def tile_dtype(kinds: Iterable[Kind], *others: Kind) -> str:
    """The dtype of a tile: that of all addresses among its arguments, but for `others`."""
    places = [kind for kind in kinds if isinstance(kind, Address) and kind not in others]
    dtype = of_one_dtype("tile", *places)
    if dtype not in _ELEMENTS:
        raise Unfit(f"tile of {dtype}: tiles are of {' or '.join(_ELEMENTS)}")
    return dtype


def _emit(
    t: Tile,
    told: Told,
    is_edged: bool,
    x: Any,
    w: Any,
    out: Any,
    bias: Any,
    base: Any,
    flags: Any,
    segments: Any,
    *strides: Any,
) -> None:
    *inner, out_pixel = strides
    zero = ir.Constant(t.vector, [0.0] * t.lanes)
    sums = _products(t, told, is_edged, x, w, segments, inner, [zero] * len(t.cells))
    b = t.b

    def flag(bit: int) -> Any:
        return b.icmp_signed("!=", b.and_(flags, _WORD(bit)), _WORD(0))

    def add(place: Any, sums: list[Any]) -> list[Any]:
        # Last, so that a long sum is one of short sums and loses less to rounding.
        others = (t.load(place, v, b.mul(_WORD(p), out_pixel)) for p, v in t.cells)
        return [b.fadd(s, o) for s, o in zip(sums, others, strict=True)]

    def add_bias(sums: list[Any]) -> list[Any]:
        added = [t.load(bias, v, _WORD(0)) for v in range(t.vectors)]
        return [b.fadd(s, added[v]) for s, (_, v) in zip(sums, t.cells, strict=True)]

    def relu(sums: list[Any]) -> list[Any]:
        return [b.select(b.fcmp_ordered("<", s, zero), zero, s) for s in sums]

    # Old sum, another sum, bias, relu: in the order that they have in a program.
    sums = t.when(flag(1), sums, partial(add, out))
    sums = t.when(flag(8), sums, partial(add, base))
    sums = t.when(flag(2), sums, add_bias)
    sums = t.when(flag(4), sums, relu)
    for value, (p, v) in zip(sums, t.cells, strict=True):
        t.store(value, out, v, b.mul(_WORD(p), out_pixel))


def _products(
    t: Tile,
    told: Told,
    is_edged: bool,
    x: Any,
    w: Any,
    segments: Any,
    strides: list[Any],
    sums: list[Any],
) -> list[Any]:
    """The sums of products over segments, groups of taps, taps, and steps within a tap."""
    x_segment, w_segment, x_tap, w_tap, count, x_pixel, x_step, w_step = strides
    b = t.b

    def tap(x_start: Any, w_start: Any, pixels: range, values: list[Any]) -> list[Any]:
        is_adjacent = isinstance(x_pixel, ir.Constant)
        # Where rows lie side by side (transposed factors) the row is the literal part of the
        # address.
        places = (
            t.adjacent_rows(x, x_start, x_step, pixels)
            if is_adjacent
            else t.strided_rows(x, x_start, x_pixel, pixels)
        )

        def steps(many: int, first: Any, inner: list[Any]) -> list[Any]:
            for n, spots in enumerate(places(first, many)):
                row = b.add(w_start, b.mul(b.add(first, _WORD(n)), w_step))
                inner = t.multiply_add(spots, w, row, inner)
            return inner

        def pairs(i: Any, inner: list[Any]) -> list[Any]:
            return steps(2, b.mul(i, _WORD(2)), inner)

        def one(q: Any, inner: list[Any]) -> list[Any]:
            return steps(1, q, inner)

        some = slice(pixels.start * t.vectors, pixels.stop * t.vectors)
        sums = values[some]
        if is_edged or not t.takes_pairs:
            sums = t.loop(count, sums, one)
        else:
            # Steps keep their order, in pairs too: results do not depend on how many there are at a
            # time.
            half, last = b.ashr(count, _WORD(1)), b.sub(count, _WORD(1))
            sums = t.when(
                b.icmp_signed(">", half, _WORD(0)), sums, partial(t.loop, half, body=pairs)
            )
            is_odd = b.icmp_signed("!=", b.and_(count, _WORD(1)), _WORD(0))
            sums = t.when(is_odd, sums, partial(one, last))
        return [*values[: some.start], *sums, *values[some.stop :]]

    def taps(
        starts: tuple[Any, Any], number: Any, pixels: range, i: Any, values: list[Any]
    ) -> list[Any]:
        i = b.add(i, number)
        x_start, w_start = b.add(starts[0], b.mul(i, x_tap)), b.add(starts[1], b.mul(i, w_tap))
        return tap(x_start, w_start, pixels, values)

    def group(starts: tuple[Any, Any], g: Any, values: list[Any]) -> list[Any]:
        """Taps that the same rows lack are summed over the others: no zeros are multiplied."""
        number, *values = values
        missing = told(_WORD(1), g, g)
        repeats = told(_WORD(2), g, g)

        def of_rows(pixels: range, values: list[Any]) -> list[Any]:
            return t.loop(repeats, values, partial(taps, starts, number, pixels))

        rows = {n: range(max(0, n), t.pixels + min(0, n)) for n in range(1 - t.pixels, t.pixels)}
        cases = {n: partial(of_rows, some) for n, some in rows.items()}
        return [b.add(number, repeats), *t.choose(missing, cases, values)]

    def segment(s: Any, values: list[Any]) -> list[Any]:
        starts = b.mul(s, x_segment), b.mul(s, w_segment)
        if is_edged:
            return t.loop(told(), [_WORD(0), *values], partial(group, starts))[1:]
        return t.loop(told(), values, partial(taps, starts, _WORD(0), range(t.pixels)))

    return t.loop(segments, sums, segment)
