# SPDX-License-Identifier: Apache-2.0
"""The scopes a graph keeps per block of user code: control dependencies and traceable stacks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from .graph import Graph
    from .operation import Frame, Operation


class Location(NamedTuple):
    """Where a scope was entered, and what for."""

    obj: Any
    filename: str
    lineno: int


class ScopeStack:
    """A stack of objects with the frames that pushed them."""

    __slots__ = ("entries",)

    def __init__(self, entries: list[tuple[Any, Frame]] | None = None) -> None:
        self.entries = entries if entries is not None else []

    def push_obj(self, thing: object, frame: Frame) -> None:
        """Pushes an object."""
        self.entries.append((thing, frame))

    def pop_obj(self) -> Any:
        """Removes and returns the newest object."""
        return self.entries.pop()[0]

    def peek_top_obj(self) -> Any:
        """The newest object."""
        return self.entries[-1][0]

    def peek_objs(self) -> list[Any]:
        """All objects, the newest first."""
        return [thing for thing, _ in reversed(self.entries)]

    def copy(self) -> ScopeStack:
        """A stack of the same objects."""
        return ScopeStack(list(self.entries))

    def __len__(self) -> int:
        return len(self.entries)


class ControlDependencies:
    """The context of `with graph.control_dependencies(...)`.

    Remembers the operations made inside of it, so that a later one that takes such an operation as
    input needs no control edge of its own.
    """

    def __init__(self, graph: Graph, control_inputs: list[Operation] | None) -> None:
        self._graph = graph
        self._new_stack = control_inputs is None
        self.control_inputs: list[Operation] = control_inputs or []
        self._seen: set[Operation] = set()
        self._old_stack: list[ControlDependencies] = []
        self._old_context: Any = None

    def __enter__(self) -> None:
        graph = self._graph
        if self._new_stack:
            # None clears the control flow context too: it is another source of control edges.
            self._old_stack = graph._control_dependencies_stack
            graph._control_dependencies_stack = []
            self._old_context = graph._get_control_flow_context()
            graph._set_control_flow_context(None)
        graph._control_dependencies_stack.append(self)

    def __exit__(self, *unused: Any) -> None:
        graph = self._graph
        assert graph._control_dependencies_stack[-1] is self
        graph._control_dependencies_stack.pop()
        if self._new_stack:
            graph._control_dependencies_stack = self._old_stack
            graph._set_control_flow_context(self._old_context)

    def add_op(self, op: Operation) -> None:
        """Notes that `op` depends on the control inputs."""
        self._seen.add(op)

    def op_in_group(self, op: Operation) -> bool:
        """Whether `op` was made inside of this context."""
        return op in self._seen


def control_inputs_for(stack: list[ControlDependencies], input_ops: set[Operation]) -> list[Any]:
    """The control inputs of a new operation, without those its inputs already wait for."""
    result: list[Operation] = []
    for controller in stack:
        if not any(controller.op_in_group(op) for op in input_ops):
            result.extend(op for op in controller.control_inputs if op not in input_ops)
    return result
