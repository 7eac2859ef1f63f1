# SPDX-License-Identifier: Apache-2.0
"""What pooling does with one window: some places of a tensor, whose channels lie side by side.

A window is a list of `count` places, at least one: int64 offsets of their first channels, and where
maxima are marked, int64 numbers of the places.  Vectors of channels stay in registers while the
list is walked, so that windows of every size, stride and padding have one kernel.
Imports llvmlite alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
from llvmlite import ir

from .llvm_scalar import LOOP, NODE, SERIAL
from .numbers import word
from .register_tiles import loop, splat, tile_dtype
from .words import Address, Kind, Unfit, Word, element_bytes, function

_WORD, _INDEX, _BYTE, _DOUBLE = ir.IntType(64), ir.IntType(32), ir.IntType(8), ir.DoubleType()
_ELEMENTS = {"float32": ir.FloatType(), "float64": _DOUBLE}
LIST, _PLACES = Address("int64"), Address("uint8")
# Vectors that are in registers together, where there are as many channels.
# Two, as one would wait in every step for the addition before it.
_VECTORS = 2
# So few channels, read or added to, are taken one by one: what is stored in part of a vector makes
# the next load wait.
_FEW = {"read": 2, "added": 4}
_LANES = 4  # of the vector whose first lane a single channel is in
Vectors = list[Any]


class Channels:
    """Some channels from `first` on, in vectors side by side."""

    def __init__(
        self,
        builder: ir.IRBuilder,
        dtype: str,
        vectors: int,
        lanes: int,
        first: Any,
        left: Any = None,
    ) -> None:
        """left: how many channels there are of one vector, if not all; 1 says that it is one."""
        self.b, self.dtype, self.first = builder, dtype, first
        self.vectors, self.lanes = vectors, lanes
        self.element = _ELEMENTS[dtype]
        self.mask, self.is_one = None, left == 1
        if left is not None and not self.is_one:
            numbers = ir.Constant(self.of(_INDEX), list(range(lanes)))
            # What is masked out is neither read nor written, even where it lies behind the end of
            # the buffer.
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
        return splat(self.b, scalar, self.lanes)

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
        # By name, as llvmlite does not know these; p0 is the kind of pointer.
        name = f"llvm.masked.{what}.v{self.lanes}{element.intrinsic_name}.p0"
        return self.b.call(function(self.b, name, result, [v.type for v in values]), values)

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

    def fma(self, x: Any, y: Any, z: Any) -> Any:
        """x * y + z, rounded once where the machine can."""
        kind = self.of(self.element)
        name = f"llvm.fmuladd.v{self.lanes}{self.element.intrinsic_name}"
        return self.b.call(function(self.b, name, kind, [kind] * 3), [x, y, z])

    def above(self, x: Vectors, y: Vectors) -> Vectors:
        """Where x is larger than y."""
        return self.each(lambda one, other: self.b.fcmp_ordered(">", one, other), x, y)

    def choose(self, choices: Vectors, x: Vectors, y: Vectors) -> Vectors:
        return self.each(self.b.select, choices, x, y)

    def walk(self, count: Any, start: Vectors, body: Callable[..., Vectors]) -> Vectors:
        """body(k, values) -> values for the places of a window."""
        new, again = loop(self.b, count, start, body)
        # Windows are small: a loop that is unrolled would be at its rest most of the time.
        name = f"{LOOP}.{len(self.b.module.metadata)}.{SERIAL}"
        again.set_metadata(NODE, self.b.module.add_metadata([name]))
        return new


def _bytes(element: Any) -> int:
    return {_BYTE: 1, _DOUBLE: 8}.get(element, 4)


def _word(name: str, emit: Callable[..., None], sides: str) -> Word:
    """What emit(some channels, *arguments) does for all channels of all windows.

    sides: of every argument, whether it lies with the windows' elements (x), with what there is of
    a window (y), or is the same for all (-).  Before the arguments come lanes, a literal; behind
    them the grid: channels, windows, and how far the two sides of a window are from those of the
    next.
    """
    few = "read" if sides[0] == "x" else "added"
    end = 1 + len(sides)

    def result(*kinds: Kind) -> None:
        if LIST not in kinds[1:end]:
            raise Unfit("a window: the offsets of its places are int64")
        tile_dtype(kinds[1:end], LIST, _PLACES)

    def code(b: ir.IRBuilder, kinds: tuple[Kind, ...], values: tuple[Any, ...]) -> None:
        dtype = tile_dtype(kinds[1:end], LIST, _PLACES)
        every = [
            value if kind == "float64" else word(b, kind, value)
            for kind, value in zip(kinds[1:], values[1:], strict=True)
        ]
        words, (channels, windows, *sides_apart) = every[: end - 1], every[end - 1 :]

        def window(number: Any) -> None:
            # Windows side by side share the list: it is relative to the first element of the
            # window.
            offsets = dict(zip("xy", (b.mul(number, step) for step in sides_apart), strict=True))
            here = [
                _moved(b, kind, value, offsets[side]) if side in offsets else value
                for kind, side, value in zip(kinds[1:end], sides, words, strict=True)
            ]

            def some(t: Channels) -> None:
                emit(t, *here)

            all_channels(b, dtype, values[0].constant, channels, few, some)

        steps(b, _WORD(0), 1, windows, window)

    return Word(name, end + 4, result, code)


def all_channels(
    b: ir.IRBuilder,
    dtype: str,
    width: int,
    end: Any,
    use: str,
    emit: Callable[[Channels], None],
    vectors: Iterable[int] = (_VECTORS, 1),
) -> None:
    """emit(some channels) for all channels, many of them at once.

    use: "read", or "added" where what is stored is loaded next.
    """
    start = _WORD(0)
    for many in vectors:
        some = partial(Channels, b, dtype, many, width)
        # Most channels two vectors at a time, then one vector, then what is left by a mask or one
        # by one: all channels see the list's elements in the same order, so that no result depends
        # on which.
        start = steps(b, start, many * width, end, partial(_emitted, emit, some))
    left = b.sub(end, start)
    with b.if_else(b.icmp_signed(">", left, _WORD(_FEW[use]))) as (more, rest):
        with more:
            emit(Channels(b, dtype, 1, width, start, left))
        with rest:
            one = partial(Channels, b, dtype, 1, _LANES, left=1)
            steps(b, start, 1, end, partial(_emitted, emit, one))


def _emitted(emit: Callable[[Channels], None], channels: Any, first: Any) -> None:
    emit(channels(first=first))


def _moved(b: ir.IRBuilder, kind: Kind, base: Any, offset: Any) -> Any:
    """The address so many elements further on."""
    assert isinstance(kind, Address)
    return b.add(base, b.mul(offset, _WORD(element_bytes(b, kind.dtype))))


def steps(b: ir.IRBuilder, start: Any, step: int, end: Any, body: Callable[[Any], None]) -> Any:
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


def _window_max(t: Channels, x: Any, offsets: Any, count: Any, out: Any) -> None:
    def step(k: Any, best: Vectors) -> Vectors:
        # Compared in order: a NaN is never the maximum, and a window of nothing else gives
        # `lowest`.
        new = t.load(x, t.item(offsets, k))
        return t.choose(t.above(new, best), new, best)

    t.store(t.walk(count, t.lowest(), step), out, _WORD(0))


def _window_mean(t: Channels, x: Any, offsets: Any, count: Any, scale: Any, out: Any) -> None:
    def step(k: Any, sums: Vectors) -> Vectors:
        return t.each(t.b.fadd, sums, t.load(x, t.item(offsets, k)))

    # What is added to minus zero stays what it is.
    sums = t.wide(t.walk(count, t.fill(-0.0), step))
    t.store(t.narrow(t.each(t.b.fmul, sums, [t.splat(scale)] * t.vectors)), out, _WORD(0))


def _window_places(
    t: Channels, x: Any, offsets: Any, numbers: Any, count: Any, out: Any, places: Any
) -> None:
    none = _WORD(0)
    begin, first = t.load(x, t.item(offsets, none)), [t.number(numbers, none)] * t.vectors
    # Where the first element is NaN its place is told, as nothing compares as larger; the value is
    # the largest of the others all the same, so the search goes on from -inf.
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


def _spread_places(
    t: Channels, dy: Any, places: Any, offsets: Any, numbers: Any, count: Any, out: Any
) -> None:
    gradient, none = t.load(dy, _WORD(0)), t.fill(0.0)
    at = [t.b.zext(one, t.of(_INDEX)) for one in t.load(places, _WORD(0), _BYTE)]

    def step(k: Any, _: Vectors) -> Vectors:
        offset, number = t.item(offsets, k), t.number(numbers, k)
        # Every place of the window is added to, with zero where the maximum is not: so lanes whose
        # maxima are elsewhere stay together.
        hits = [t.b.icmp_signed("==", one, number) for one in at]
        given = t.choose(hits, gradient, none)
        t.store(t.each(t.b.fadd, t.load(out, offset), given), out, offset)
        return []

    t.walk(count, [], step)


def _spread_mean(t: Channels, dy: Any, offsets: Any, count: Any, scale: Any, out: Any) -> None:
    share = t.each(t.b.fmul, t.wide(t.load(dy, _WORD(0))), [t.splat(scale)] * t.vectors)

    def step(k: Any, _: Vectors) -> Vectors:
        offset = t.item(offsets, k)
        sums = t.each(t.b.fadd, t.wide(t.load(out, offset)), share)
        t.store(t.narrow(sums), out, offset)
        return []

    t.walk(count, [], step)


WORDS = (
    _word("window_max", _window_max, "x--y"),
    _word("window_mean", _window_mean, "x---y"),
    _word("window_places", _window_places, "x---yy"),
    _word("spread_places", _spread_places, "yy---x"),
    _word("spread_mean", _spread_mean, "y---x"),
)
