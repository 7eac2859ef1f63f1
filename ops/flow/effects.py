# SPDX-License-Identifier: Apache-2.0
"""What functions, branches and turns of loops change, put in the order of their statements.

As TensorFlow's automatic control dependencies: what uses a resource waits for what used it before,
and what a function returns waits for all that it changes.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from ...engine.graph.defaults import get_default_graph
from ...engine.graph.operation import Operation
from ...engine.graph.scope_functions import control_dependencies
from ...engine.graph.tensor import Tensor
from ...engine.types import dtypes, nest
from ..public import tf

# What gives, for a function that builds a part of something, one that builds it in order.
Wrap = Callable[[Callable[..., Any]], Callable[..., Any]]

# Stateful, but in nobody's way: they make handles and draw numbers.
_UNORDERED = ("VarHandleOp", "Placeholder", "MutexV2")
# What hands a resource on into a branch or a loop.
_PASSED = ("Enter", "RefEnter", "Switch", "RefSwitch", "Identity", "RefIdentity")


def _is_effect(op: Operation) -> bool:
    return (
        op.definition.is_stateful
        and op.type not in _UNORDERED
        and "Random" not in op.type
        and not op.type.endswith("Handle")
    )


def _resources(op: Operation) -> Iterable[Tensor]:
    for x in op._inputs_val:
        if x.dtype == dtypes.resource or x.dtype._is_ref_dtype:
            while x.op.type in _PASSED:
                x = x.op._inputs_val[0]
            yield x


class Effects:
    """The effects of what is built from now on, in the default graph and where it is built."""

    def __init__(self) -> None:
        self.graph = get_default_graph()
        self._context = self.graph._get_control_flow_context()
        self._seen = self._newest()
        self._last: dict[Tensor, Operation] = {}
        # What stands for a branch or a loop: whatever follows waits for it.
        self._barrier: Operation | None = None
        self._pending: dict[Operation, None] = {}
        self.touches_anything = False

    def _newest(self) -> Operation | None:
        return next(reversed(self.graph._nodes_by_id.values()), None)

    def settle(self) -> list[Operation]:
        """Puts what was made since in order; returns what must be over at the end."""
        made = []
        for op in reversed(self.graph._nodes_by_id.values()):
            if op is self._seen:
                break
            made.append(op)
        self._seen = self._newest()
        # What makes variables is done once, before the function runs.
        lifted = [pair for pair in self.graph._lifted if made and pair[1] >= made[-1]._id]
        for op in reversed(made):
            if op._control_flow_context is not self._context or op.type in _PASSED:
                continue
            if not any(first < op._id <= last for first, last in lifted):
                self._place(op)
        return list(self._pending)

    def _place(self, op: Operation) -> None:
        for resource in _resources(op):
            self.touches_anything = True
            before = self._last.get(resource, self._barrier)
            if before is not None and before is not op:
                op._add_control_input(before)
            self._last[resource] = op
        if _is_effect(op):
            self.touches_anything = True
            if self._barrier is not None:
                op._add_control_input(self._barrier)
            self._pending[op] = None

    def pass_over(self, end: Operation | None) -> None:
        """Leaves out what was made since; `end` is done when its effects are, None without any."""
        self._seen = self._newest()
        if end is not None:
            self._barrier, self._last, self._pending = end, {}, {end: None}
            self.touches_anything = True


class _Levels(threading.local):
    """The effects of the functions, branches and turns that are being built, the inmost last."""

    def __init__(self) -> None:
        self.stack: list[Effects] = []


_levels = _Levels()


@contextlib.contextmanager
def ordered() -> Iterator[Effects]:
    """What is built within has its effects in order."""
    effects = Effects()
    _levels.stack.append(effects)
    try:
        yield effects
    finally:
        _levels.stack.pop()


def are_ordered() -> bool:
    """Whether a function is being built that orders its effects."""
    return bool(_levels.stack)


def current() -> Effects | None:
    """The effects of what is being built in the default graph, if they are put in order."""
    found = _levels.stack[-1] if _levels.stack else None
    return found if found is not None and found.graph is get_default_graph() else None


def behind(effects: Sequence[Operation], tensors: Sequence[Any]) -> list[Any]:
    """Tensors, there once some effects are over; what else there is as it is."""
    if not effects:
        return list(tensors)
    with control_dependencies(effects):
        return [tf.identity(x) if isinstance(x, Tensor) else x for x in tensors]


def in_order(given: Any, build: Callable[[Any, Wrap], Any]) -> Any:
    """Builds a branch or a loop of nodes, with its effects in the order of those around it.

    Args:
        given: what it takes, in any structure: there once what was changed before is.
        build: is called with that and with what wraps each function that builds a part: it is over
            once its effects are.

    Returns:
        What `build` does.
    """
    effects = current()
    if effects is None:
        return build(given, lambda function: function)
    touched: list[bool] = []

    def wrap(function: Callable[..., Any]) -> Callable[..., Any]:
        def built(*args: Any) -> Any:
            with ordered() as inner:
                found = function(*args)
                done = inner.settle()
            touched.append(inner.touches_anything)
            return _all_behind(done, found)

        return built

    result = build(_all_behind(effects.settle(), given), wrap)
    ends = [end for end in map(_end_of, _leaves(result)) if end is not None]
    effects.pass_over(ends[0] if ends and any(touched) else None)
    return result


def _leaves(structure: Any) -> list[Any]:
    return list(nest.flatten(structure, expand_composites=True))


def _end_of(value: Any) -> Operation | None:
    """The operation that gives a result of a branch or loop."""
    flow = getattr(value, "flow", value)
    return flow.op if isinstance(flow, Tensor) else flow if isinstance(flow, Operation) else None


def _all_behind(effects: Sequence[Operation], structure: Any) -> Any:
    """A structure of what becomes tensors, or of operations, once some effects are over."""
    if not effects:
        return structure

    def late(value: Any) -> Any:
        if value is None:
            return None
        if isinstance(value, Operation):
            return tf.group(value)
        # (A TensorArray has one of its own.)
        return value.identity() if hasattr(value, "identity") else tf.identity(value)

    with control_dependencies(effects):
        return nest.map_structure(late, structure, expand_composites=True)
