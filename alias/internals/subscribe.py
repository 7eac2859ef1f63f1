# SPDX-License-Identifier: Apache-2.0
"""`tensorflow.python.framework.subscribe`: something that happens whenever a tensor is computed.

The tensor's readers are given a copy of it, which waits for what is to happen.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from ...engine.graph.operation import Operation
from ...engine.graph.tensor import Tensor
from ...engine.interface.log import debug
from ...ops.public import tf

SideEffect = Callable[[Tensor], Sequence[Any]]
# The operations that wait for one.
Waiting = dict[Operation, list[Operation]]


def subscribe(tensors: Any, side_effects: SideEffect | Iterable[SideEffect]) -> Any:
    """Has functions' operations run whenever tensors are computed, whoever reads these.

    Args:
        tensors: a tensor, a variable, or a list, tuple, named tuple or dict of them.
        side_effects: functions of a tensor that make operations and give a list of them.

    Returns:
        The same structure of copies that wait for these operations, to be fetched in the tensors'
        places.  A tensor that has one already gets no other: its operations become more.  Tensors
        without numbers or text are given back.

    Raises:
        TypeError: something else is in the structure.

    Example:
        >>> seen = []
        >>> x = tf.constant(2.0)
        >>> y = x * x
        >>> note = lambda t: [tf.py_func(seen.append, [t], [])]
        >>> x = subscribe(x, note)
        >>> with tf.Session() as session:
        ...     session.run(y), seen
        (4.0, [2.0])
    """
    effects = list(side_effects) if isinstance(side_effects, Iterable) else [side_effects]
    waiting: Waiting = {}
    return _each(tensors, lambda tensor: _subscribed(tensor, effects, waiting))


def _each(structure: Any, function: Callable[[Tensor], Tensor]) -> Any:
    if isinstance(structure, Tensor):
        return function(structure)
    if isinstance(structure, (list, tuple)):
        parts = [_each(part, function) for part in structure]
        kind: Any = type(structure)
        return kind(*parts) if hasattr(structure, "_fields") else kind(parts)
    if isinstance(structure, dict):
        return {key: _each(part, function) for key, part in structure.items()}
    if hasattr(structure, "initializer") and hasattr(structure, "value"):
        return function(structure.value())
    raise TypeError(
        f"subscribe takes tensors, variables, and lists, tuples and dicts of them; {structure!r} "
        f"has invalid type {type(structure)!r}"
    )


def _subscribed(tensor: Tensor, effects: Sequence[SideEffect], waiting: Waiting) -> Tensor:
    if not waiting:
        # As before the call: what waits for an operation waits for all of its results.
        for op in tensor.graph.get_operations():
            for other in op.control_inputs:
                waiting.setdefault(other, []).append(op)
    with tf.device(tensor.device), _within_its_branch(tensor):
        if not tensor.dtype.is_numpy_compatible:
            debug(
                "Tensor %s has an un-supported %s type and cannot be subscribed.",
                tensor.name,
                tensor.dtype,
            )
            return tensor
        for copy in (tensor, *_copies(tensor)):
            if _is_subscribed_identity(copy):
                return _extended(copy, effects)
        return _copied(tensor, effects, waiting)


@contextlib.contextmanager
def _within_its_branch(tensor: Tensor) -> Iterator[None]:
    """What is made belongs to the branch or loop that the tensor belongs to."""
    context = tensor.op._get_control_flow_context()
    if context is None:
        yield
        return
    context.Enter()
    try:
        yield
    finally:
        context.Exit()


def _scope_of(operation: Operation) -> str:
    return f"{operation.name}/subscription/"


def _copies(tensor: Tensor) -> list[Tensor]:
    return [reader.outputs[0] for reader in tensor.consumers() if reader.type == "Identity"]


def _is_subscribed_identity(tensor: Tensor) -> bool:
    """Whether a tensor is what an earlier call has given."""
    op = tensor.op
    pattern = re.escape(_scope_of(op.inputs[0].op)) if op.type == "Identity" else None
    return pattern is not None and re.match(rf"{pattern}Identity[^/]*$", op.name) is not None


def _made(tensor: Tensor, effects: Sequence[SideEffect]) -> list[Any]:
    return [made for effect in effects for made in effect(tensor)]


def _extended(copy: Tensor, effects: Sequence[SideEffect]) -> Tensor:
    source = copy.op.inputs[0]
    with tf.name_scope(_scope_of(source.op)):
        found = _made(source, effects)
    copy.op._add_control_inputs([x.op if isinstance(x, Tensor) else x for x in found])
    return copy


def _copied(tensor: Tensor, effects: Sequence[SideEffect], waiting: Waiting) -> Tensor:
    readers = [(op, k) for op in tensor.consumers() for k, x in enumerate(op.inputs) if x is tensor]
    with tf.name_scope(_scope_of(tensor.op)):
        with tf.control_dependencies(_made(tensor, effects)):
            copy = tf.identity(tensor)
    for op, k in dict.fromkeys(readers):
        op._update_input(k, copy)
    for op in waiting.get(tensor.op, ()):
        kept = [other for other in op.control_inputs if other is not tensor.op]
        op._remove_all_control_inputs()
        op._add_control_inputs([*kept, copy.op])
    return copy
