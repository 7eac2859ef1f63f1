# SPDX-License-Identifier: Apache-2.0
"""Sizes that the program itself computes: runs measure them on their way.  Imports jit's IR.

What is computed from one number, `k` and `60 - k` say, is measured once: the rest are formulas of
it, so that a plan knows how they go together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..kernel.sizes import AnySize, Size, Unanswered, is_measured, product
from ..program.tensor_ir import Captured, Value
from .builder import Builder, NotLowered
from .linear import Atom, Linear, Place, element

if TYPE_CHECKING:
    from ...engine.graph.tensor import Tensor


def measured(b: Builder, numbers: Value) -> Value:
    """A few integers as sizes that a run measures; it takes for granted that none is negative.

    Raises:
        NotLowered: that cannot be here.
    """
    count = product(numbers.shape)
    if numbers.ndim > 1 or not isinstance(count, int):
        raise NotLowered("how many sizes there are is not known")
    if not b.may_assume:
        raise NotLowered("its sizes depend on the data")
    places: list[Place] = [(i,) for i in range(count)] if numbers.ndim else [()]
    found = np.empty(count, object)
    found[:] = [_size(b, numbers, place) for place in places]
    return b.known_as(found.reshape(numbers.shape), numbers.dtype)


def as_stated(b: Builder, tensor: Tensor, value: Value) -> Value:
    """A value in the shape that the graph states of it, where a run measures its sizes.

    That both agree is taken for granted.
    """
    stated = tensor.shape.sizes
    if value.cell is not None or stated is None or len(stated) != value.ndim:
        return value
    if not any(n is not None and is_measured(m) for n, m in zip(stated, value.shape)):
        return value
    shape = [m if n is None or not is_measured(m) else n for n, m in zip(stated, value.shape)]
    try:
        return b.reshape(value, shape) if all(map(b.equal, shape, value.shape)) else value
    except Unanswered:
        return value


def _size(b: Builder, numbers: Value, place: Place) -> AnySize:
    size = by_form(b, element(numbers, place))
    return _measured(b, (numbers, place)) if size is None else size


def by_form(b: Builder, form: Linear) -> AnySize | None:
    """A size that is made of one that a run measures; None if its form does not say that.

    A run takes for granted that neither is negative.
    """
    if not b.may_assume or not b.may_measure:
        return None
    unknown = [atom for atom in form.terms if _known(b, atom) is None]
    if len(unknown) > (len(form.terms) == 1):
        return None
    size = form.constant
    for atom, factor in form.terms.items():
        known = _known(b, atom)
        size = size + (_measured(b, atom) if known is None else known) * factor
    try:
        # (Where a run has to tell, that is taken for granted.)
        return None if size < 0 else size
    except Unanswered:
        return None


def _known(b: Builder, atom: Atom) -> Size | None:
    """The size that something is by now, here or around the loop whose turn this is."""
    value, place = atom
    found = b.measured.get((value, place))
    if found is not None and b.knows(found):
        return found
    if isinstance(value.node, Captured) and b.outer is not None:
        return _known(b.outer, (value.node.loop.inputs[value.node.number], place))
    return None


def _measured(b: Builder, atom: Atom) -> Size:
    """One element of an integer tensor as a size."""
    value, place = atom
    known = _known(b, atom)
    if known is not None:
        return known
    number = b.reshape(b.slice(value, place, [1] * len(place)), [])
    size = b.measure(b.cast(number, "int64"))
    b.scope.must_not_be_negative(size)
    b.measured[atom] = size
    return size
