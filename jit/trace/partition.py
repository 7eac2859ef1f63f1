# SPDX-License-Identifier: Apache-2.0
"""Cuts the operations of a run into parts between those that may have to wait.

Which waits must be over before an operation can run is a set of bits.  Operations with the same
set are one part, which is compiled as a whole; what only a later part needs runs with that one,
unless it has effects or would not be compiled anyway: that runs at once, so that it fails at once.
A conditional or loop with waits inside is one wait.
Imports the engine's graph layer and jit's regions and trace.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .control_regions import connected, leaks
from .tracer import is_handle, makes_handles

if TYPE_CHECKING:
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor


@dataclass
class Stage:
    """Operations that run together once some waits are over: the bits of `after`."""

    after: int
    operations: list[Any] = field(default_factory=list)
    takes: list[Any] = field(default_factory=list)
    gives: list[Any] = field(default_factory=list)


@dataclass
class Partition:
    """The parts of a run and its waits in order, each with the bits that it comes after.

    `free` are handles and constants: members of every part that uses them.  `early` are the bits
    that an operation must come after, whatever part it is in.
    """

    parts: list[Stage]
    waits: list[Stage]
    free: set[Any]
    early: dict[Any, int]


def waits_at_top(op: Operation) -> bool:
    """May an operation have to wait, outside of all branches and loops?"""
    return op.definition.flow == "wait" and op._control_flow_context is None


def cut(
    operations: Sequence[Any], fetches: Iterable[Any], feeds: Iterable[Any]
) -> Partition | None:
    """The parts of the operations; None where they cannot be cut."""
    return Partitioner(operations, set(fetches), set(feeds)).cut()


class Partitioner:
    """One call of `cut`."""

    def __init__(self, operations: Sequence[Any], fetches: set[Any], feeds: set[Any]) -> None:
        self.operations, self.fetches, self.feeds = operations, fetches, feeds
        present = set(operations)
        self.free = {op for op in operations if _is_free(op) and feeds.isdisjoint(op.outputs)}
        # All operations of a conditional or loop are in one part, or one wait: that of their root.
        members = [op for op in operations if _hangs_together(op) and op not in self.free]
        self.root = {**{op: op for op in operations}, **connected(members)}
        waits: dict[Any, list[Any]] = {}
        waiting = {self.root[op] for op in operations if op.definition.flow == "wait"}
        for op in operations:
            if self.root[op] in waiting:
                waits.setdefault(self.root[op], []).append(op)
        self.waits = list(waits.values())
        self.bits = {op: 1 << i for i, group in enumerate(self.waits) for op in group}
        self.ordinary = [op for op in operations if op not in self.bits and op not in self.free]
        self.before: dict[Any, list[Any]] = {}
        self.users: dict[Any, list[Any]] = {op: [] for op in operations}
        for op in operations:
            others = [t.op for t in op._inputs_val if t not in feeds]
            others = [other for other in (*others, *op._control_inputs_val) if other in present]
            self.before[op] = others
            for other in others:
                self.users[other].append(op)
        self.eager = {self.root[op] for op in self.ordinary if self._is_eager(op)}
        self.writers_after = _writers_after(self.ordinary)

    def _is_eager(self, op: Operation) -> bool:
        """Does an operation run at once, rather than with those that need it?"""
        if op.definition.lower is None and not op.definition.flow:
            return True
        return _has_effects(op) and not any(tensor._consumers for tensor in op.outputs)

    def cut(self) -> Partition | None:
        early = self._early()
        if any(early[op] & bit for op, bit in self.bits.items()):
            # A wait in between what hangs together.
            return None
        number = {op: i for i, op in enumerate(self.operations)}
        if any(
            leaks(op, set(group), number) for group in self.waits if len(group) > 1 for op in group
        ):
            return None
        home = self._late(early)
        parts: dict[int, Stage] = {}
        for op in self.ordinary:
            parts.setdefault(home[op], Stage(home[op])).operations.append(op)
        waits = [Stage(early[group[0]], list(group)) for group in self.waits]
        for part in (*parts.values(), *waits):
            self._connect(part)
        handed = [tensor for part in parts.values() for tensor in part.takes]
        handed += [tensor for wait in waits for tensor in wait.takes]
        if any(_refers(t) and t not in self.feeds and t.op not in self.free for t in handed):
            # Variables that change hands would have to be followed.
            return None
        ordered = sorted(parts.values(), key=lambda part: part.after.bit_count())
        return Partition(ordered, waits, self.free, early)

    def _early(self) -> dict[Any, int]:
        """For each operation the waits that it depends on."""
        early = dict.fromkeys(self.operations, 0)
        changed = True
        while changed:
            changed = False
            for op in self.operations:
                bits = early[self.root[op]]
                for other in self.before[op]:
                    if other not in self.bits or self.root[other] is not self.root[op]:
                        bits |= early[self.root[other]] | self.bits.get(other, 0)
                changed |= bits != early[self.root[op]]
                early[self.root[op]] = bits
        return {op: early[self.root[op]] for op in self.operations}

    def _late(self, early: dict[Any, int]) -> dict[Any, int]:
        """For each operation the waits that may be over before anybody needs it."""
        late = dict.fromkeys(self.ordinary, (1 << len(self.bits)) - 1)
        changed = True
        while changed:
            changed = False
            for op in reversed(self.ordinary):
                bits = late[self.root[op]]
                for user in self.users[op]:
                    bits &= early[user] if user in self.bits else late[self.root[user]]
                for writer in self.writers_after.get(op, ()):
                    # It sees the variable as it was before.
                    bits &= late[self.root[writer]] | early[op]
                if not self.users[op] or self.root[op] in self.eager:
                    # It runs for its effect, or to be fetched: at once.
                    bits &= early[op]
                changed |= bits != late[self.root[op]]
                late[self.root[op]] = bits
        return {op: late[self.root[op]] for op in self.ordinary}

    def _connect(self, part: Stage) -> None:
        """Finds what a part takes and gives, and adds the free operations that it uses."""
        inside = set(part.operations)
        inputs = dict.fromkeys(t for op in part.operations for t in op._inputs_val)
        part.takes = [t for t in inputs if t in self.feeds or t.op not in inside | self.free]
        part.gives = [
            tensor
            for op in part.operations
            for tensor in op.outputs
            if tensor not in self.feeds
            and (tensor in self.fetches or self._is_used_outside(tensor, inside))
        ]
        inside |= {t.op for t in inputs if t.op in self.free and t not in self.feeds}
        part.operations = [op for op in self.operations if op in inside]

    def _is_used_outside(self, tensor: Tensor, inside: set[Any]) -> bool:
        users = (user for user in self.users[tensor.op] if user not in inside)
        return any(tensor is taken for user in users for taken in user._inputs_val)


def _hangs_together(op: Operation) -> bool:
    if waits_at_top(op):
        return False
    return bool(op.definition.flow) or op._control_flow_context is not None


def _changed(op: Operation) -> list[Any]:
    """What makes the variables and resources that an operation may change."""
    reads = op.definition.moves == "value"
    args = [arg for arg in op.definition.inputs if arg.is_ref]
    return [] if reads and not args else [t.op for t in op._inputs_val if _refers(t)]


def _has_effects(op: Operation) -> bool:
    definition = op.definition
    if any(arg.is_ref for arg in definition.inputs):
        return True
    return bool(definition.is_stateful) and not op.outputs


def _writers_after(operations: Sequence[Any]) -> dict[Any, list[Any]]:
    """For each operation those behind it that change a variable which it uses."""
    users: dict[Any, list[Any]] = {}
    result: dict[Any, list[Any]] = {}
    # What reads a variable may hand on its very memory: who takes that uses the variable.
    read: dict[Any, list[Any]] = {}
    for op in operations:
        cells = [t.op for t in op._inputs_val if _refers(t)]
        cells += [cell for t in op._inputs_val for cell in read.get(t.op, ())]
        if op.definition.moves == "value":
            read[op] = cells
        if _has_effects(op):
            for cell in _changed(op):
                for user in users.get(cell, ()):
                    result.setdefault(user, []).append(op)
        for cell in cells:
            users.setdefault(cell, []).append(op)
    return result


def _is_free(op: Operation) -> bool:
    """Can an operation be run again wherever it is used?"""
    if op._inputs_val or op._control_inputs_val or not op.outputs:
        return False
    definition = op.definition
    if definition.flow or definition.test.get("feed_only"):
        return False
    return makes_handles(op) or not definition.stateful


def _refers(tensor: Tensor) -> bool:
    return tensor.dtype._is_ref_dtype or is_handle(tensor)
