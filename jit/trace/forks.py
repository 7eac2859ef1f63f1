# SPDX-License-Identifier: Apache-2.0
"""What branches give in different shapes: followed within each, until shapes agree again.

A merged value has one memory and one shape.  Where branches give other shapes, the operations that
come behind are traced once for each branch, under its condition; results of one shape are merged.
Imports the rest of jit's front end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..kernel.scalar import holds
from ..program.tensor_ir import Guard, Value
from .loop_recovery import Unstructured

if TYPE_CHECKING:
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor

# Operations that are traced for each branch; more would be another program.
_MOST = 64


class Side(NamedTuple):
    """What one branch gives, and the conditions under which it does."""

    guard: Guard
    value: Value


class Forks:
    """The tensors of one frame that have a shape in each of several branches."""

    def __init__(self, merged: Callable[[Any, Sequence[Side]], Value | None]) -> None:
        """merged: the value of all sides, by the operation that gives it, if that can be."""
        self.sides: dict[Tensor, tuple[Side, ...]] = {}
        self._merged = merged
        self._operations = 0

    def begin(self, tensor: Tensor, guards: Sequence[Guard], values: Sequence[Value]) -> None:
        """Notes what branches give a merge."""
        if any(not holds(value.dtype) for value in values):
            raise Unstructured(f"'{tensor.name}' is of type {values[0].dtype}")
        self.sides[tensor] = tuple(map(Side, guards, values))

    def takes(self, op: Operation) -> bool:
        """Does an operation take what has several shapes?"""
        return bool(self.sides) and any(tensor in self.sides for tensor in op._inputs_val)

    def require_one(self, op: Operation) -> None:
        """Raises Unstructured if an operation takes what has several shapes."""
        for tensor in op._inputs_val:
            if tensor in self.sides:
                raise Unstructured(f"the shape of '{tensor.name}' changes")

    def follow(self, op: Operation, tracer: Any, add: Callable[[Any], None]) -> None:
        """Adds an operation to each branch, by `add`, which gives its outputs values."""
        given = [tensor for tensor in op._inputs_val if tensor in self.sides]
        guards = [side.guard for side in self.sides[given[0]]]
        others = [[side.guard for side in self.sides[tensor]] for tensor in given]
        self._operations += 1
        if op.definition.stateful or self._operations > _MOST or any(o != guards for o in others):
            raise Unstructured(f"the shape of '{given[0].name}' changes")
        own = tracer.program.guard
        found: list[list[Side]] = []
        for number, guard in enumerate(guards):
            tracer.program.guard = tuple(dict.fromkeys((*own, *guard)))
            tracer.values.update((t, self.sides[t][number].value) for t in given)
            add(op)
            found.append([Side(guard, tracer.values.pop(output)) for output in op.outputs])
        for tensor in given:
            tracer.values.pop(tensor, None)
        tracer.program.guard = own
        for output, sides in zip(op.outputs, zip(*found)):
            value = self._merged(op, sides)
            if value is None:
                self.begin(output, guards, [side.value for side in sides])
            else:
                tracer.values[output] = value
