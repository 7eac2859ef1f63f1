# SPDX-License-Identifier: Apache-2.0
"""Which device of a cluster each operation of a graph is on.

Operations that must share a device are one group: those that say so (`loc:@`), those that take a
variable or a handle with whatever makes it, and those inside of a conditional or loop as far as
their devices allow.  A group is where its members ask to be; where none asks, at the master.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ...engine import errors
from ...engine.graph.devices import Parts, parse_device
from ...engine.session.run_order import reference_flags
from ...engine.types import dtypes

if TYPE_CHECKING:
    from ...engine.graph.graph import Graph
    from ...engine.graph.operation import Operation

_TOGETHER = b"loc:@"
_PARTS = ("jobs", "replicas", "tasks", "types", "ids")
_BEGINNING, _ENDING = ("switch", "enter"), ("merge", "exit")


class Placer:
    """Places the operations of a graph, which grows."""

    def __init__(self, graph: Graph, devices: Sequence[str], task: str, is_soft: bool) -> None:
        """devices: of the cluster, as far as the session may use them; task: the master's."""
        self._graph, self._is_soft = graph, is_soft
        # The master's own come first, so that they are taken where nobody asks for others.
        self._devices = sorted(devices, key=lambda name: not name.startswith(f"{task}/"))
        self._parsed = [parse_device(name) for name in self._devices]
        self._changes: Any = None
        self._placed: dict[Operation, str] = {}

    def devices_of(self, operations: Iterable[Operation]) -> dict[Operation, str]:
        """The devices of operations; InvalidArgumentError for one that cannot be anywhere."""
        if self._changes != self._graph.changes:
            everything = self._graph.get_operations()
            groups = Groups(everything, self._is_soft)
            # All of them: a device that there is not is an error of every run.
            self._placed = {op: self._choose(op, *groups.request(op)) for op in everything}
            self._changes = self._graph.changes
        return {op: self._placed[op] for op in operations}

    def _choose(self, op: Operation, parts: Parts, asking: Operation | None) -> str:
        for device, own in zip(self._devices, self._parsed):
            if own[3] == (parts[3] or "CPU") and _fits(parts, own, 5):
                return device
        if self._is_soft:
            for device, own in zip(self._devices, self._parsed):
                if own[3] == "CPU" and _fits(parts, own, 3):
                    return device
        asking = asking or op
        raise errors.invalid(
            f"Cannot assign a device for operation {asking.name}: {{{{node {asking.name}}}}} was "
            f"explicitly assigned to {asking._device} but available devices are "
            f"[ {', '.join(sorted(self._devices))} ]. Make sure the device specification refers to "
            f"a valid device.\n\t [[{asking.name}]]"
        )


def _fits(wanted: Parts, own: Parts, count: int) -> bool:
    return all(part in (None, has) for part, has in zip(wanted[:count], own))


class Groups:
    """Operations that share a device, with what they ask for together."""

    def __init__(self, operations: Sequence[Operation], is_soft: bool = False) -> None:
        self._is_soft = is_soft
        self._above: dict[Operation, Operation] = {}
        # Of each group's first operation: the device asked for, and who asks.
        self._asked: dict[Operation, tuple[Parts, Operation]] = {
            op: (parse_device(op._device), op) for op in operations if op._device
        }
        by_name = {op.name: op for op in operations}
        for op in operations:
            for other in _together(op):
                if other in by_name:
                    self._join(op, by_name[other])
            for tensor, is_ref in zip(op._inputs_val, reference_flags(op)):
                if is_ref or tensor.dtype == dtypes.resource:
                    # It goes where the state is, wherever else it was asked to be.
                    self._join(op, tensor.op, wins=True)
        self._join_branches(operations)

    def request(self, op: Operation) -> tuple[Parts, Operation | None]:
        """What an operation's group asks for, and one of those who do."""
        return self._asked.get(self._first(op), ((None,) * 5, None))

    def _first(self, op: Operation) -> Operation:
        while op in self._above:
            above = self._above[op]
            if above in self._above:
                self._above[op] = self._above[above]
            op = above
        return op

    def _join(
        self, one: Operation, other: Operation, must: bool = True, wins: bool = False
    ) -> None:
        """Makes two groups one; where they contradict, the other one's request may win."""
        first, second = self._first(one), self._first(other)
        if first is second:
            return
        asked, also = self._asked.get(first), self._asked.get(second)
        merged = asked or also
        if asked and also:
            clash = _clash(asked[0], also[0])
            if clash is not None and not must:
                return
            if clash is not None and not (wins or self._is_soft):
                raise errors.invalid(
                    f"Cannot colocate nodes {{{{colocation_node {one.name}}}}} and "
                    f"{{{{colocation_node {other.name}}}}}: Cannot merge devices with incompatible "
                    f"{clash}: '{asked[1]._device}' and '{also[1]._device}'"
                )
            parts = tuple(b if b is not None else a for a, b in zip(asked[0], also[0]))
            merged = also if clash else (parts, also[1])  # type: ignore[assignment]
        self._above[first] = second
        self._asked.pop(first, None)
        if merged:
            self._asked[second] = merged

    def _join_branches(self, operations: Sequence[Operation]) -> None:
        """What lies between the begin and end of a conditional or loop, with its neighbours."""
        inside: set[Operation] = set()
        for op in operations:
            role = op.definition.control_flow_role
            sources = [t.op for t in op._inputs_val] + list(op._control_inputs_val)
            held = [s for s in sources if s in inside]
            for source in held:
                self._join(op, source, must=False)
            if role in _BEGINNING or (held and role not in _ENDING):
                inside.add(op)
        # The back edges of loops, whose operations come later than what takes them.
        for op in operations:
            for tensor in op._inputs_val:
                if tensor.op.definition.control_flow_role == "next":
                    self._join(op, tensor.op, must=False)


def _together(op: Operation) -> list[str]:
    found = op._attrs.get("_class")
    classes = found if isinstance(found, list) else []
    return [c[len(_TOGETHER) :].decode() for c in classes if c.startswith(_TOGETHER)]


def _clash(one: Parts, other: Parts) -> str | None:
    """In what two requests contradict each other; None where they do not."""
    for part, own, what in zip(one, other, _PARTS):
        if part is not None and own is not None and part != own:
            return what
    return None
