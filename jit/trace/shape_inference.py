# SPDX-License-Identifier: Apache-2.0
"""Holds an operation's run-time shapes against its shape function, before it is lowered.

What the graph did not know when it was built, a trace knows: ranks are numbers, and sizes are
symbols whose comparisons become guards.  So the one statement of what an op accepts serves both.
Where it refuses, reference kernels say what is wrong (jit/runtime/runner.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine.graph.inference import ShapeContext, shape_list
from ...engine.types.shape import TensorShape, unknown_shape
from ..kernel.size_scope import Scope
from ..kernel.sizes import AnySize, NeedsNumber
from ..program.tensor_ir import Value

if TYPE_CHECKING:
    from ...engine.graph.operation import Operation


class TracedShapes(ShapeContext):
    """What a shape function sees of an operation that is traced."""

    __slots__ = ("_sees_sizes", "_values")

    def __init__(self, op: Operation, values: Sequence[Value], sees_sizes: bool) -> None:
        """sees_sizes: whether inputs that spell symbolic sizes are shown to the function."""
        super().__init__(op)
        self._values, self._sees_sizes = values, sees_sizes
        pairs = zip(values, self.inputs)
        self.inputs = [
            TensorShape(v.shape) if v.cell is None else _contents_shape(v, static)
            for v, static in pairs
        ]

    def value(self, index: int) -> Any:
        """The contents of an input where the trace knows them."""
        known = self._values[index].known
        if known is not None and known.dtype == object and not self._sees_sizes:
            return None
        return known

    def value_as_shape(self, index: int) -> TensorShape:
        """The shape that an input spells, as far as it is known."""
        known = self.value(index)
        if known is None:
            return unknown_shape() if self._sees_sizes else super().value_as_shape(index)
        if np.ndim(known) != 1:
            return super().value_as_shape(index)
        # (-1 is how graphs spell a size that is left open.)
        return TensorShape([None if item == -1 else item for item in known.tolist()])


def _contents_shape(value: Value, static: TensorShape) -> TensorShape:
    """The shape of what a variable holds."""
    contents = getattr(value.cell, "value", None)
    return static if contents is None or not static.rank else TensorShape(np.shape(contents))


def refusal(scope: Scope, op: Operation, values: Sequence[Value]) -> str | None:
    """Why an operation does not take inputs of these shapes; None where it does.

    Functions that ask for the number of a symbolic size are not held against anything: a plan
    serves all sizes.
    """
    try:
        _inferred(scope, op, values)
    except ValueError as error:
        return str(error)
    return None


def output_sizes(
    scope: Scope, op: Any, values: Sequence[Value]
) -> list[tuple[AnySize | None, ...] | None]:
    """The sizes of an operation's outputs, as far as its inputs tell them.

    What the graph knew counts as well: a program may have said more than the op's function can.
    """
    try:
        found = _inferred(scope, op, values)
    except ValueError:  # reference kernels say what is wrong
        found = None
    inferred = found or [unknown_shape() for _ in op.outputs]
    return [_told(shape, output.shape) for shape, output in zip(inferred, op.outputs, strict=True)]


def whole(shape: tuple[AnySize | None, ...] | None) -> tuple[AnySize, ...] | None:
    """A shape, if all of its sizes are known."""
    sizes = [size for size in shape or () if size is not None]
    return None if shape is None or len(sizes) < len(shape) else tuple(sizes)


def filled(
    shapes: Sequence[tuple[AnySize | None, ...] | None], ranks: Sequence[int], sizes: np.ndarray
) -> list[tuple[AnySize, ...]] | None:
    """Shapes of which some sizes are missing, with those; None where their ranks are others.

    sizes: those of all shapes, one behind the other.
    """
    result, start = [], 0
    for shape, rank in zip(shapes, ranks, strict=True):
        told = sizes[start : start + rank].tolist()
        if shape is not None and len(shape) != rank:
            return None
        result.append(tuple(t if s is None else s for s, t in zip(shape or (None,) * rank, told)))
        start += rank
    return result


def _told(inferred: TensorShape, static: TensorShape) -> tuple[AnySize | None, ...] | None:
    one, other = inferred.sizes, static.sizes
    if one is None or other is None or len(one) != len(other):
        return other if one is None else one
    return tuple(s if d is None else d for d, s in zip(one, other))


def _inferred(scope: Scope, op: Any, values: Sequence[Value]) -> list[TensorShape] | None:
    function = op.definition.shape
    if function is None or len(values) != len(op._inputs_val):
        return None
    # First with inputs that spell sizes: a function which computes with them may find more wrong.
    # One that needs their numbers is asked again without.
    for sees_sizes in (True, False):
        try:
            with scope.symbolic():
                found = function(TracedShapes(op, values, sees_sizes))
        except NeedsNumber:
            continue
        return None if found is None else shape_list(found, len(op.outputs))
    return None
