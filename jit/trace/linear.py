# SPDX-License-Identifier: Apache-2.0
"""What integers are by form: sums of numbers and of multiples of elements that only a run knows.

So it is known that `[i * 4, i * 4 + 4]` are four apart, and that of `[t, 0]` the second is zero.
Integers are taken to wrap around as all integers do; what relies on a form has a run check it.
Imports the tensor IR only.
"""

from __future__ import annotations

from dataclasses import field

import numpy as np

from ...engine.record_class import record
from ..kernel import ir
from ..kernel.sizes import AnySize, Size
from ..program.tensor_ir import Compose, Map, Reshape, Value, View

Place = tuple[int, ...]
Atom = tuple[Value, Place]

# The types of sizes; in narrower ones numbers wrap around that are none too large for a size.
_WIDE = ("int32", "int64")
_LINEAR = ("add", "sub", "mul", "neg", "cast")
# Expressions of more terms are not followed further.
_MOST_TERMS = 16


@record(frozen=True)
class Linear:
    """constant + the sum of multiples of elements; `terms` has no zeros."""

    constant: AnySize = 0
    terms: dict[Atom, int] = field(default_factory=dict)

    @property
    def number(self) -> AnySize | None:
        """What it is, where no run is asked."""
        return None if self.terms else self.constant

    def __add__(self, other: Linear) -> Linear:
        terms = dict(self.terms)
        for atom, factor in other.terms.items():
            terms[atom] = terms.get(atom, 0) + factor
        return Linear(self.constant + other.constant, {a: f for a, f in terms.items() if f})

    def times(self, factor: int) -> Linear:
        """A multiple of it."""
        terms = {atom: f * factor for atom, f in self.terms.items()} if factor else {}
        return Linear(self.constant * factor, terms)

    def __sub__(self, other: Linear) -> Linear:
        return self + other.times(-1)


def element(value: Value, place: Place = ()) -> Linear:
    """One element of a tensor of integers, as far as its form goes."""
    if value.known is not None:
        item = value.known[place]
        return Linear(item if isinstance(item, Size) else int(item))
    found = _seen_through(value, place)
    return Linear(0, {(value, place): 1}) if found is None else found


def _seen_through(value: Value, place: Place) -> Linear | None:
    node = value.node
    match node:
        case View():
            (source,) = node.inputs
            moved = [
                a.offset if a.axis is None else a.stride * place[a.axis] + a.offset
                for a in node.axes
            ]
            if all(isinstance(at, int) for at in moved):
                return element(source, tuple(map(int, moved)))
        case Reshape():
            (source,) = node.inputs
            shapes = (*source.shape, *value.shape)
            if all(isinstance(size, int) for size in shapes):
                flat = int(np.ravel_multi_index(place, value.shape)) if place else 0
                return element(source, _unravelled(flat, source.shape))
        case Compose():
            return _of_part(node, place)
        case Map():
            if value.dtype in _WIDE:
                return _computed(node.exprs[node.outputs.index(value)], node, place)
    return None


def _unravelled(flat: int, shape: tuple[AnySize, ...]) -> Place:
    return tuple(map(int, np.unravel_index(flat, tuple(map(int, shape))))) if shape else ()


def _of_part(node: Compose, place: Place) -> Linear | None:
    for value, part in zip(node.inputs, node.parts):
        numbers = (*value.shape, *part.offsets, *part.strides)
        if not all(isinstance(number, int) for number in numbers):
            return None
        inner = []
        for at, size, offset, stride in zip(place, value.shape, part.offsets, part.strides):
            steps, rest = divmod(at - int(offset), int(stride))
            if rest or not 0 <= steps < int(size):
                break
            inner.append(steps)
        else:
            return element(value, tuple(inner))
    return None


def _computed(expr: ir.Expr, node: Map, place: Place) -> Linear | None:
    if isinstance(expr, ir.Const):
        return Linear(int(expr.value))
    if isinstance(expr, ir.Load):
        value = node.inputs[expr.buffer]
        if value.dtype not in _WIDE:
            return None
        aligned = place[len(place) - value.ndim :]
        if not all(isinstance(size, int) for size in value.shape):
            return None
        return element(value, tuple(0 if n == 1 else at for at, n in zip(aligned, value.shape)))
    if not isinstance(expr, ir.Apply) or expr.dtype not in _WIDE or expr.fn not in _LINEAR:
        return None
    given = [_computed(arg, node, place) for arg in expr.args]
    known = [form for form in given if form is not None]
    if len(known) < len(given) or sum(len(form.terms) for form in known) > _MOST_TERMS:
        return None
    return _combined(expr.fn, known)


def _combined(fn: str, given: list[Linear]) -> Linear | None:
    first, last = given[0], given[-1]
    if fn == "cast":
        return first
    if fn == "neg":
        return first.times(-1)
    if fn == "mul":
        for one, other in ((first, last), (last, first)):
            if isinstance(one.number, int):
                return other.times(one.number)
        return None
    return first + last if fn == "add" else first - last
