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

from ...engine.graph.inference import ShapeContext
from ...engine.types.shape import TensorShape, unknown_shape
from ..kernel.sizes import NeedsNumber, Scope
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
        self.inputs = [_shape(v, static) for v, static in zip(values, self.inputs)]

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
        return TensorShape([None if item == -1 else item for item in known.tolist()])


def _shape(value: Value, static: TensorShape) -> TensorShape:
    """The shape of a value; of a variable, that of its contents."""
    if value.cell is None:
        return TensorShape(value.shape)
    contents = getattr(value.cell, "value", None)
    return static if contents is None or not static.rank else TensorShape(np.shape(contents))


def refusal(scope: Scope, op: Operation, values: Sequence[Value]) -> str | None:
    """Why an operation does not take inputs of these shapes; None where it does.

    Functions that ask for the number of a symbolic size are not held against anything: a plan
    serves all sizes.
    """
    function = op.definition.shape
    if function is None or len(values) != len(op._inputs_val):
        return None
    for sees_sizes in (True, False):
        try:
            with scope.symbolic():
                function(TracedShapes(op, values, sees_sizes))
            return None
        except NeedsNumber:
            continue
        except ValueError as error:
            return str(error)
    return None
