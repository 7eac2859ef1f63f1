# SPDX-License-Identifier: Apache-2.0
"""What pooling does with one window: some places of a tensor, whose channels lie side by side.

A window is a list of `count` places, at least one: int64 offsets of their first channels, and where
maxima are marked, int64 numbers of the places.  Vectors of channels stay in registers while the
list is walked, so that windows of every size, stride and padding have one kernel.
Imports Numba; used only while a kernel is compiled.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from .addresses import Address, Mismatch, element_bytes
from .reader import LOOP, SERIAL
from .register_tiles import tile_dtype, word

_WORD, _INDEX, _BYTE, _DOUBLE = ir.IntType(64), ir.IntType(32), ir.IntType(8), ir.DoubleType()
_ELEMENTS = {"float32": ir.FloatType(), "float64": _DOUBLE}
_LIST, _PLACES = Address("int64"), Address("uint8")
# Vectors that are in registers together, where there are as many channels.
_VECTORS = 2
# So few channels, read or added to, are taken one by one: what is stored in part of a vector makes
# the next load wait.
_FEW_READ, _FEW_ADDED = 2, 4
_LANES = 4  # of the vector whose first lane a single channel is in
Vectors = list[Any]


class _Channels:
    """Some channels from `first` on, in vectors side by side."""

    def __init__(
        self, builder: Any, dtype: str, vectors: int, lanes: int, first: Any, left: Any = None
    ) -> None:
        """left: how many channels there are of one vector, if not all; 1 says that it is one."""
        self.b, self.dtype, self.first = builder, dtype, first
        self.vectors, self.lanes = vectors, lanes
        self.element = _ELEMENTS[dtype]
        self.mask, self.is_one = None, left == 1
        if left is not None and not self.is_one:
            numbers = ir.Constant(self.of(_INDEX), list(range(lanes)))
            limit = self.splat(builder.trunc(left, _INDEX))
            self.mask = builder.icmp_signed("<", numbers, limit)

    def of(self, element: Any) -> Any:
        """The kind of vectors of an element."""
        return ir.VectorType(element, self.lanes)

    def fill(self, value: float) -> Vectors:
        """A number in all channels."""
        return [ir.Constant(self.of(self.element), [value] * self.lanes)] * self.vectors

    def lowest(self) -> Vectors:
        """The least finite number in all channels."""
        return self.fill(float(np.finfo(self.dtype).min))

    def splat(self, scalar: Any) -> Any:
        """A number of the run in all lanes of a vector."""
        undefined = ir.Constant(self.of(scalar.type), ir.Undefined)
        one = self.b.insert_element(undefined, scalar, _INDEX(0))
        zeros = ir.Constant(self.of(_INDEX), [0] * self.lanes)
        return self.b.shuffle_vector(one, undefined, zeros)

    def _at(self, base: Any, element: Any, offset: Any) -> Vectors:
        start = self.b.inttoptr(base, element.as_pointer())
        places = (self.b.add(self.first, _WORD(v * self.lanes)) for v in range(self.vectors))
        spots = [self.b.gep(start, [self.b.add(offset, place)]) for place in places]
        if self.is_one:
            return spots
        return [self.b.bitcast(spot, self.of(element).as_pointer()) for spot in spots]

    def load(self, base: Any, offset: Any, element: Any = None) -> Vectors:
        """The channels of a place."""
        kind = element or self.element
        spots, zeros = self._at(base, kind, offset), ir.Constant(self.of(kind), None)
        if self.mask is not None:
            return [self._masked("load", kind, spots[0], self.mask, zeros)]
        values = [self.b.load(spot) for spot in spots]
        for value in values:
            value.align = _bytes(kind)
        if self.is_one:
            return [self.b.insert_element(zeros, value, _INDEX(0)) for value in values]
        return values

    def store(self, values: Vectors, base: Any, offset: Any) -> None:
        kind = values[0].type.element
        spots = self._at(base, kind, offset)
        if self.mask is not None:
            self._masked("store", kind, values[0], spots[0], self.mask)
            return
        if self.is_one:
            values = [self.b.extract_element(value, _INDEX(0)) for value in values]
        for value, spot in zip(values, spots, strict=True):
            self.b.store(value, spot).align = _bytes(kind)

    def _masked(self, what: str, element: Any, *arguments: Any) -> Any:
        """Loads or stores the channels that there are."""
        place = 1 if what == "load" else 2
        values = [*arguments[:place], _INDEX(_bytes(element)), *arguments[place:]]
        result = self.of(element) if what == "load" else ir.VoidType()
        kind = ir.FunctionType(result, [value.type for value in values])
        name = f"llvm.masked.{what}.v{self.lanes}{element.intrinsic_name}.p0"
        return self.b.call(cgutils.get_or_insert_function(self.b.module, kind, name), values)

    def item(self, entries: Any, k: Any) -> Any:
        """Entry k of a list."""
        return self.b.load(self.b.gep(self.b.inttoptr(entries, _WORD.as_pointer()), [k]))

    def number(self, numbers: Any, k: Any) -> Any:
        """The number of a place in all lanes."""
        return self.splat(self.b.trunc(self.item(numbers, k), _INDEX))

    def wide(self, values: Vectors) -> Vectors:
        """In double precision."""
        kind = self.of(_DOUBLE)
        return values if self.element is _DOUBLE else [self.b.fpext(v, kind) for v in values]

    def narrow(self, values: Vectors) -> Vectors:
        """In the precision of the tensor."""
        kind = self.of(self.element)
        return values if self.element is _DOUBLE else [self.b.fptrunc(v, kind) for v in values]

    def each(self, operation: Callable[..., Any], *values: Vectors) -> Vectors:
        return [operation(*some) for some in zip(*values, strict=True)]

    def above(self, x: Vectors, y: Vectors) -> Vectors:
        """Where x is larger than y."""
        return self.each(lambda one, other: self.b.fcmp_ordered(">", one, other), x, y)

    def choose(self, choices: Vectors, x: Vectors, y: Vectors) -> Vectors:
        return self.each(self.b.select, choices, x, y)

    def walk(self, count: Any, start: Vectors, body: Callable[..., Vectors]) -> Vectors:
        """body(k, values) -> values for the places of a window."""
        before = self.b.block
        inside, after = (self.b.append_basic_block(name) for name in ("place", "done"))
        self.b.branch(inside)
        self.b.position_at_end(inside)
        k = self.b.phi(_WORD)
        k.add_incoming(_WORD(0), before)
        old = [self.b.phi(value.type) for value in start]
        for phi, value in zip(old, start, strict=True):
            phi.add_incoming(value, before)
        new = body(k, old)
        following = self.b.add(k, _WORD(1))
        k.add_incoming(following, self.b.block)
        for phi, value in zip(old, new, strict=True):
            phi.add_incoming(value, self.b.block)
        again = self.b.cbranch(self.b.icmp_signed("<", following, count), inside, after)
        # Windows are small: a loop that is unrolled would be at its rest most of the time.
        name = f"{LOOP}.{len(self.b.module.metadata)}.{SERIAL}"
        again.set_metadata("llvm.loop", self.b.module.add_metadata([name]))
        self.b.position_at_end(after)
        return new


def _bytes(element: Any) -> int:
    return {_BYTE: 1, _DOUBLE: 8}.get(element, 4)


def _for_channels(
    emit: Callable[..., None], lanes: Any, kinds: tuple[Any, ...], sides: str, grid: tuple[Any, ...]
) -> Any:
    """The signature and the code of emit(some channels, *arguments), for all of all windows.

    sides: of every argument, whether it lies with the windows' elements (x), with what there is of
    a window (y), or is the same for all (-).  grid: channels, windows, and how far the two sides of
    a window are from those of the next.
    """
    if _LIST not in kinds:
        raise Mismatch("a window", "the offsets of its places are int64")
    dtype, width = tile_dtype(kinds, _LIST, _PLACES), lanes.literal_value
    few = _FEW_READ if sides[0] == "x" else _FEW_ADDED

    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        values = [
            value if kind == types.float64 else word(context, builder, kind, value)
            for kind, value in zip((*kinds, *grid), args[1:], strict=True)
        ]
        words, (end, windows, *steps) = values[: len(kinds)], values[len(kinds) :]

        def window(number: Any) -> None:
            offsets = dict(zip("xy", (builder.mul(number, step) for step in steps), strict=True))
            here = [
                _moved(builder, kind, value, offsets[side]) if side in offsets else value
                for kind, side, value in zip(kinds, sides, words, strict=True)
            ]
            start = _WORD(0)
            for vectors in (_VECTORS, 1):
                some = partial(_Channels, builder, dtype, vectors, width)
                body = partial(_emitted, emit, some, here)
                start = _steps(builder, start, vectors * width, end, body)
            left = builder.sub(end, start)
            with builder.if_else(builder.icmp_signed(">", left, _WORD(few))) as (many, rest):
                with many:
                    emit(_Channels(builder, dtype, 1, width, start, left), *here)
                with rest:
                    one = partial(_Channels, builder, dtype, 1, _LANES, left=1)
                    _steps(builder, start, 1, end, partial(_emitted, emit, one, here))

        _steps(builder, _WORD(0), 1, windows, window)
        return context.get_dummy_value()

    return types.void(lanes, *kinds, *grid), lower


def _emitted(emit: Callable[..., None], channels: Any, words: list[Any], first: Any) -> None:
    emit(channels(first=first), *words)


def _moved(b: Any, kind: Any, base: Any, offset: Any) -> Any:
    """The address so many elements further on."""
    return b.add(base, b.mul(offset, _WORD(element_bytes(b, kind.dtype))))


def _steps(b: Any, start: Any, step: int, end: Any, body: Callable[[Any], None]) -> Any:
    """body(i) for whole steps from `start` on; where the rest begins."""
    before = b.block
    head, inside, after = (b.append_basic_block(name) for name in ("step", "inside", "after"))
    b.branch(head)
    b.position_at_end(head)
    at = b.phi(_WORD)
    at.add_incoming(start, before)
    following = b.add(at, _WORD(step))
    b.cbranch(b.icmp_signed("<=", following, end), inside, after)
    b.position_at_end(inside)
    body(at)
    at.add_incoming(following, b.block)
    b.branch(head)
    b.position_at_end(after)
    return at


@intrinsic(prefer_literal=True)
def window_max(
    typing_context: Any, lanes: Any, x: Any, offsets: Any, count: Any,
    out: Any, channels: Any, windows: Any, x_step: Any, y_step: Any,
) -> Any:  # fmt: skip
    """out[f] = the largest x[offsets[k] + f] and the least finite number, for f < channels."""

    def emit(t: _Channels, x: Any, offsets: Any, count: Any, out: Any) -> None:
        def step(k: Any, best: Vectors) -> Vectors:
            new = t.load(x, t.item(offsets, k))
            return t.choose(t.above(new, best), new, best)

        t.store(t.walk(count, t.lowest(), step), out, _WORD(0))

    grid = channels, windows, x_step, y_step
    return _for_channels(emit, lanes, (x, offsets, count, out), "x--y", grid)


@intrinsic(prefer_literal=True)
def window_mean(
    typing_context: Any, lanes: Any, x: Any, offsets: Any, count: Any, scale: Any, out: Any,
    channels: Any, windows: Any, x_step: Any, y_step: Any,
) -> Any:  # fmt: skip
    """out[f] = scale times the sum of x[offsets[k] + f] in order, for f < channels."""

    def emit(t: _Channels, x: Any, offsets: Any, count: Any, scale: Any, out: Any) -> None:
        def step(k: Any, sums: Vectors) -> Vectors:
            return t.each(t.b.fadd, sums, t.load(x, t.item(offsets, k)))

        # What is added to minus zero stays what it is.
        sums = t.wide(t.walk(count, t.fill(-0.0), step))
        t.store(t.narrow(t.each(t.b.fmul, sums, [t.splat(scale)] * t.vectors)), out, _WORD(0))

    grid = channels, windows, x_step, y_step
    return _for_channels(emit, lanes, (x, offsets, count, scale, out), "x---y", grid)


@intrinsic(prefer_literal=True)
def window_places(
    typing_context: Any, lanes: Any, x: Any, offsets: Any, numbers: Any, count: Any, out: Any,
    places: Any, channels: Any, windows: Any, x_step: Any, y_step: Any,
) -> Any:  # fmt: skip
    """As window_max, and places[f] = numbers[k] of the first of the largest, a byte.

    Where a NaN comes first it keeps the place.
    """

    def emit(
        t: _Channels, x: Any, offsets: Any, numbers: Any, count: Any, out: Any, places: Any
    ) -> None:
        none = _WORD(0)
        begin, first = t.load(x, t.item(offsets, none)), [t.number(numbers, none)] * t.vectors
        ordered = t.each(lambda one: t.b.fcmp_ordered("ord", one, one), begin)

        def step(k: Any, both: Vectors) -> Vectors:
            best, at = both[: t.vectors], both[t.vectors :]
            new, number = t.load(x, t.item(offsets, k)), [t.number(numbers, k)] * t.vectors
            more = t.above(new, best)
            return t.choose(more, new, best) + t.choose(more, number, at)

        both = t.walk(count, t.choose(ordered, begin, t.fill(float("-inf"))) + first, step)
        best, at = both[: t.vectors], t.choose(ordered, both[t.vectors :], first)
        t.store(t.choose(t.above(best, t.lowest()), best, t.lowest()), out, none)
        t.store([t.b.trunc(one, t.of(_BYTE)) for one in at], places, none)

    grid = channels, windows, x_step, y_step
    return _for_channels(emit, lanes, (x, offsets, numbers, count, out, places), "x---yy", grid)


@intrinsic(prefer_literal=True)
def spread_places(
    typing_context: Any, lanes: Any, dy: Any, places: Any, offsets: Any, numbers: Any, count: Any,
    out: Any, channels: Any, windows: Any, x_step: Any, y_step: Any,
) -> Any:  # fmt: skip
    """out[offsets[k] + f] += dy[f] where places[f] is numbers[k], for f < channels."""

    def emit(
        t: _Channels, dy: Any, places: Any, offsets: Any, numbers: Any, count: Any, out: Any
    ) -> None:
        gradient, none = t.load(dy, _WORD(0)), t.fill(0.0)
        at = [t.b.zext(one, t.of(_INDEX)) for one in t.load(places, _WORD(0), _BYTE)]

        def step(k: Any, _: Vectors) -> Vectors:
            offset, number = t.item(offsets, k), t.number(numbers, k)
            hits = [t.b.icmp_signed("==", one, number) for one in at]
            given = t.choose(hits, gradient, none)
            t.store(t.each(t.b.fadd, t.load(out, offset), given), out, offset)
            return []

        t.walk(count, [], step)

    grid = channels, windows, x_step, y_step
    return _for_channels(emit, lanes, (dy, places, offsets, numbers, count, out), "yy---x", grid)


@intrinsic(prefer_literal=True)
def spread_mean(
    typing_context: Any, lanes: Any, dy: Any, offsets: Any, count: Any, scale: Any, out: Any,
    channels: Any, windows: Any, x_step: Any, y_step: Any,
) -> Any:  # fmt: skip
    """out[offsets[k] + f] += scale * dy[f], for f < channels."""

    def emit(t: _Channels, dy: Any, offsets: Any, count: Any, scale: Any, out: Any) -> None:
        share = t.each(t.b.fmul, t.wide(t.load(dy, _WORD(0))), [t.splat(scale)] * t.vectors)

        def step(k: Any, _: Vectors) -> Vectors:
            offset = t.item(offsets, k)
            sums = t.each(t.b.fadd, t.wide(t.load(out, offset)), share)
            t.store(t.narrow(sums), out, offset)
            return []

        t.walk(count, [], step)

    grid = channels, windows, x_step, y_step
    return _for_channels(emit, lanes, (dy, offsets, count, scale, out), "y---x", grid)
