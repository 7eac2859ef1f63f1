# SPDX-License-Identifier: Apache-2.0
"""Initial values that depend on other variables: read those only once they have a value.

The nodes between such variables and the initial value are copied, with the variables replaced by
`initialized_value()`, so that initializers may run in any order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...engine.graph.collections import GraphKeys
from ...engine.graph.tensor import Tensor
from ...engine.types import dtypes

if TYPE_CHECKING:
    from ...engine.graph.operation import Operation

_VARIABLES = ("Variable", "VariableV2", "VarHandleOp")
# These look at a variable and must keep doing so.
_OBSERVERS = ("IsVariableInitialized", "VarIsInitializedOp", "ReadVariableOp", "If")


def _observes(op: Operation) -> bool:
    """Whether an operation needs variables themselves; no value stands for a handle."""
    return op.type in _OBSERVERS or any(x.dtype == dtypes.resource for x in op.inputs)


def guarded(name: str, initial_value: object) -> Any:
    """The initial value, safe to compute before the variables it depends on have a value."""
    if not isinstance(initial_value, Tensor):
        raise TypeError(f"initial_value needs to be a Tensor: {initial_value}")
    # A cycle is a loop of the graph, which cannot be copied node by node; TensorFlow leaves it as
    # it is.
    if _upstream(initial_value.op, _before) is None:
        return initial_value
    order = _upstream(initial_value.op, _replaceable)
    if not any(op.type in _VARIABLES for op in order or ()):
        return initial_value
    copies: dict[Any, Any] = {}
    for op in order or ():
        copies[op] = _copied(name, op, copies)
    return copies[initial_value.op].outputs[initial_value.value_index]


def _before(op: Operation) -> list[Any]:
    return [*(x.op for x in op.inputs), *op.control_inputs]


def _replaceable(op: Operation) -> list[Any]:
    """What a copy of the operation is made of: nothing, if there will be none."""
    is_last = _observes(op) or op.type in _VARIABLES
    return [] if is_last else [x.op for x in op.inputs]


def _upstream(op: Operation, before: Callable[[Any], list[Any]]) -> list[Any] | None:
    """All operations that `op` depends on, inputs first; None when there is a cycle."""
    order: list[Any] = []
    state: dict[Any, bool] = {}
    stack: list[tuple[Any, bool]] = [(op, False)]
    while stack:
        current, done = stack.pop()
        if done:
            state[current] = True
            order.append(current)
            continue
        if current in state:
            if not state[current]:
                return None
            continue
        state[current] = False
        stack.append((current, True))
        for previous in reversed(before(current)):
            if state.get(previous) is False:
                return None
            if previous not in state:
                stack.append((previous, False))
    return order


def _copied(name: str, op: Operation, copies: dict[Any, Any]) -> Any:
    if _observes(op):
        return op
    if op.type in _VARIABLES:
        value = _initialized_value(op)
        return op if value is None else value.op
    inputs = [copies[x.op].outputs[x.value_index] for x in op.inputs]
    if all(new is old for new, old in zip(inputs, op.inputs, strict=True)):
        return op
    # The variable was replaced by a value: there is no reference to switch.
    op_type = "Switch" if op.type == "RefSwitch" else op.type
    return op.graph.create_op(
        op_type,
        inputs,
        [output.dtype for output in op.outputs],
        name=f"{op.name}_{name}".replace(":", "_"),
        attrs=dict(op._attrs),
    )


def _initialized_value(variable_op: Operation) -> Any:
    names = (variable_op.name, f"{variable_op.name}:0")
    for key in (GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES):
        for variable in variable_op.graph.get_collection(key):
            if getattr(variable, "name", None) in names:
                read = getattr(variable, "initialized_value", None)
                return None if read is None else read()
    return None
