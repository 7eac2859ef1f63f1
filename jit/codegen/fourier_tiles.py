# SPDX-License-Identifier: Apache-2.0
"""The steps of Fourier transforms of several lines at once, one in each lane of vectors.

Complex numbers are two vectors beside each other, of real parts and of imaginary ones: so all lanes
do the same, and nothing is shuffled but where pairs are read and written.
Imports llvmlite alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from llvmlite import ir

from .numbers import word
from .register_tiles import loop, splat, tile_dtype
from .words import Kind, Word, element_bytes

_WORD, _INDEX = ir.IntType(64), ir.IntType(32)
_ELEMENTS = {"float32": ir.FloatType(), "float64": ir.DoubleType()}
# Real and imaginary parts, each a vector.
Pair = tuple[Any, Any]


class _Lines(NamedTuple):
    """Vectors of a dtype, an element of each for one line."""

    b: ir.IRBuilder
    dtype: str
    lanes: int

    def at(self, base: Any, offset: Any, element: bool = False) -> Any:
        """A pointer to the vector (or element) at an offset, in elements."""
        kind = _ELEMENTS[self.dtype]
        spot = self.b.gep(self.b.inttoptr(base, kind.as_pointer()), [offset])
        return spot if element else self.b.bitcast(spot, self.vector(1).as_pointer())

    def vector(self, times: int) -> Any:
        return ir.VectorType(_ELEMENTS[self.dtype], self.lanes * times)

    def load(self, base: Any, offset: Any, part: Any) -> Pair:
        """Both parts: that of the imaginary ones lies `part` elements behind the other."""
        spots = (self.at(base, self.b.add(offset, step)) for step in (_WORD(0), part))
        re, im = (self.aligned(self.b.load(spot)) for spot in spots)
        return re, im

    def store(self, values: Pair, base: Any, offset: Any, part: Any) -> None:
        for value, step in zip(values, (_WORD(0), part), strict=True):
            self.aligned(self.b.store(value, self.at(base, self.b.add(offset, step))))

    def aligned(self, access: Any) -> Any:
        # Vectors begin at any element.
        access.align = element_bytes(self.b, self.dtype)
        return access

    def factor(self, base: Any, number: int) -> Pair:
        """A complex number of a list, for all lines."""
        spots = (self.at(base, _WORD(2 * number + part), element=True) for part in (0, 1))
        re, im = (splat(self.b, self.aligned(self.b.load(spot)), self.lanes) for spot in spots)
        return re, im

    def constant(self, value: float) -> Any:
        return ir.Constant(self.vector(1), [value] * self.lanes)

    def add(self, x: Pair, y: Pair) -> Pair:
        return self.b.fadd(x[0], y[0]), self.b.fadd(x[1], y[1])

    def sub(self, x: Pair, y: Pair) -> Pair:
        return self.b.fsub(x[0], y[0]), self.b.fsub(x[1], y[1])

    def mul(self, x: Pair, y: Pair) -> Pair:
        b = self.b
        re = b.fsub(b.fmul(x[0], y[0]), b.fmul(x[1], y[1]))
        return re, b.fadd(b.fmul(x[0], y[1]), b.fmul(x[1], y[0]))

    def scaled(self, x: Pair, value: float) -> Pair:
        by = self.constant(value)
        return self.b.fmul(x[0], by), self.b.fmul(x[1], by)

    def conjugate(self, x: Pair) -> Pair:
        return x[0], self.b.fneg(x[1])

    def transform(self, values: Sequence[Pair]) -> list[Pair]:
        """The sums over k of exp(-2 pi i j k / count) values[k], for each j."""
        if len(values) == 1:
            return list(values)
        return self._of_halves(values) if len(values) % 2 == 0 else self._of_odd_count(values)

    def _of_halves(self, values: Sequence[Pair]) -> list[Pair]:
        even, odd = self.transform(values[0::2]), self.transform(values[1::2])
        turned = [self._eighth(z, 8 * k // len(values)) for k, z in enumerate(odd)]
        ahead = [self.add(x, y) for x, y in zip(even, turned, strict=True)]
        return ahead + [self.sub(x, y) for x, y in zip(even, turned, strict=True)]

    def _eighth(self, z: Pair, eighths: int) -> Pair:
        """z turned by some eighths of a circle, clockwise."""
        b, (re, im) = self.b, z
        if eighths == 0:
            return z
        if eighths == 2:
            return im, b.fneg(re)
        along, across = b.fadd(re, im), b.fsub(im, re)
        turned = (along, across) if eighths == 1 else (across, b.fneg(along))
        return self.scaled(turned, math.sqrt(0.5))

    def _of_odd_count(self, values: Sequence[Pair]) -> list[Pair]:
        # Numbers from both ends meet the same cosine, and sines of two signs.
        count, (first, *rest) = len(values), values
        pairs = list(zip(rest, reversed(rest), strict=True))[: count // 2]
        sums, gaps = ([join(x, y) for x, y in pairs] for join in (self.add, self.sub))
        found = [first] * count
        for total in sums:
            found[0] = self.add(found[0], total)
        for j in range(1, count // 2 + 1):
            angles = [2 * math.pi * (j * k % count) / count for k in range(1, len(sums) + 1)]
            even, odd = first, self.scaled(gaps[0], math.sin(angles[0]))
            for total, angle in zip(sums, angles, strict=True):
                even = self.add(even, self.scaled(total, math.cos(angle)))
            for gap, angle in zip(gaps[1:], angles[1:], strict=True):
                odd = self.add(odd, self.scaled(gap, math.sin(angle)))
            turned = odd[1], self.b.fneg(odd[0])
            found[j], found[count - j] = self.add(even, turned), self.sub(even, turned)
        return found


def _butterflies(
    t: _Lines, radix: int, is_turned: int, count: Any, x: Any, y: Any, part: Any, x_step: Any,
    y_step: Any, turns: Any,
) -> None:  # fmt: skip
    b = t.b
    factors = [t.factor(turns, j) for j in range(radix - 1)] if is_turned else []

    def step(q: Any, _: list[Any]) -> list[Any]:
        first = b.mul(q, _WORD(2 * t.lanes))
        places = [b.add(first, b.mul(_WORD(k), x_step)) for k in range(radix)]
        found = t.transform([t.load(x, place, part) for place in places])
        for j, factor in enumerate(factors, 1):
            found[j] = t.mul(found[j], factor)
        for j, value in enumerate(found):
            t.store(value, y, b.add(first, b.mul(_WORD(j), y_step)), part)
        return []

    loop(b, count, [], step)


def _fold_pairs(t: _Lines, low: Any, high: Any, part: Any, turn: Any) -> None:
    none = _WORD(0)
    x, y = t.load(low, none, part), t.conjugate(t.load(high, none, part))
    total, gap = t.add(x, y), t.mul(t.factor(turn, 0), t.sub(x, y))
    t.store(t.add(total, gap), low, none, part)
    t.store(t.conjugate(t.sub(total, gap)), high, none, part)


def _lane_numbers(*numbers: int) -> Any:
    return ir.Constant(ir.VectorType(_INDEX, len(numbers)), list(numbers))


def _split_pairs(t: _Lines, count: Any, x: Any, x_step: Any, y: Any) -> None:
    b, lanes = t.b, t.lanes
    both, undefined = t.vector(2), ir.Constant(t.vector(2), ir.Undefined)

    def step(i: Any, _: list[Any]) -> list[Any]:
        spot = b.bitcast(t.at(x, b.mul(i, x_step)), both.as_pointer())
        pairs = t.aligned(b.load(spot))
        parts = [
            b.shuffle_vector(pairs, undefined, _lane_numbers(*range(part, 2 * lanes, 2)))
            for part in (0, 1)
        ]
        t.store((parts[0], parts[1]), y, b.mul(i, _WORD(2 * lanes)), _WORD(lanes))
        return []

    loop(b, count, [], step)


def _join_pairs(t: _Lines, count: Any, x: Any, y: Any, y_step: Any) -> None:
    b, lanes = t.b, t.lanes
    mixed = _lane_numbers(*(part * lanes + i for i in range(lanes) for part in (0, 1)))

    def step(i: Any, _: list[Any]) -> list[Any]:
        re, im = t.load(x, b.mul(i, _WORD(2 * lanes)), _WORD(lanes))
        spot = b.bitcast(t.at(y, b.mul(i, y_step)), t.vector(2).as_pointer())
        t.aligned(b.store(b.shuffle_vector(re, im, mixed), spot))
        return []

    loop(b, count, [], step)


def _word(name: str, emit: Callable[..., None], arity: int, literals: int = 0) -> Word:
    """A word whose first arguments, the lanes and some more, are literals."""

    def result(*kinds: Kind) -> None:
        tile_dtype(kinds)

    def code(b: ir.IRBuilder, kinds: tuple[Kind, ...], values: tuple[Any, ...]) -> None:
        lanes, *told = (value.constant for value in values[: 1 + literals])
        rest = zip(kinds[1 + literals :], values[1 + literals :], strict=True)
        emit(
            _Lines(b, tile_dtype(kinds), lanes),
            *told,
            *(word(b, kind, value) for kind, value in rest),
        )

    return Word(name, arity, result, code)


WORDS = (
    _word("butterflies", _butterflies, 10, literals=2),
    _word("fold_pairs", _fold_pairs, 5),
    _word("split_pairs", _split_pairs, 5),
    _word("join_pairs", _join_pairs, 5),
)
