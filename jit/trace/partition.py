# SPDX-License-Identifier: Apache-2.0
"""Cuts the operations of a run into parts between those that may have to wait.

Which waits must be over before an operation can run is a set of bits.  Operations with the same
set are one part, which is compiled as a whole; what only a later part needs runs with that one,
unless it has effects or would not be compiled anyway: that runs at once, so that it fails at once.
A conditional or loop with waits inside is one wait, as is one with effects that need not wait for
all that the rest of it waits for: its operations run one by one, each as soon as it can.
Imports the engine's graph layer and jit's regions and trace.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any

from ...engine.record_class import record
from .control_regions import connected, leaks, refers
from .tracer import makes_handles

if TYPE_CHECKING:
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor


@record
class Stage:
    """Operations that run together once some waits are over: the bits of `after`.

    `cells` are references that others hand it.  `outside` are the operations, of a conditional or
    loop that waits inside, which it waits for besides; it is whole if nothing that it does could
    begin before all of these are over.
    """

    after: int
    operations: list[Any] = field(default_factory=list)
    takes: list[Any] = field(default_factory=list)
    gives: list[Any] = field(default_factory=list)
    cells: list[Any] = field(default_factory=list)
    outside: list[Any] = field(default_factory=list)
    is_whole: bool = True


@record
class Partition:
    """The parts of a run and its waits in order, each with the bits that it comes after.

    `free` are handles and constants: members of every part that uses them.  `origins` are the
    variables that references stand for which change hands.
    """

    parts: list[Stage]
    waits: list[Stage]
    free: set[Any]
    origins: dict[Any, Any]


def waits_at_top(op: Operation) -> bool:
    """May an operation have to wait, outside of all branches and loops?"""
    return op.definition.control_flow_role == "wait" and op._control_flow_context is None


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
        self.free = {op for op in operations if is_free(op) and feeds.isdisjoint(op.outputs)}
        # All operations of a conditional or loop are in one part, or one wait: that of their root.
        members = [op for op in operations if _hangs_together(op) and op not in self.free]
        self.root = {**{op: op for op in operations}, **connected(members)}
        self.origins: dict[Any, Any] = {}
        self._note_waits(
            {self.root[op] for op in operations if op.definition.control_flow_role == "wait"}
        )
        self.before: dict[Any, list[Any]] = {}
        self.users: dict[Any, list[Any]] = {op: [] for op in operations}
        for op in operations:
            others = [t.op for t in op._inputs_val if t not in feeds]
            others = [other for other in (*others, *op._control_inputs_val) if other in present]
            self.before[op] = others
            for other in others:
                self.users[other].append(op)

    def _note_waits(self, roots: set[Any]) -> None:
        """Notes what waits, single or a conditional or loop, by its root, and what is left."""
        waits: dict[Any, list[Any]] = {}
        for op in self.operations:
            if self.root[op] in roots:
                waits.setdefault(self.root[op], []).append(op)
        self.waits = list(waits.values())
        self.bits = {op: 1 << i for i, group in enumerate(self.waits) for op in group}
        self.ordinary = [
            op for op in self.operations if op not in self.bits and op not in self.free
        ]

    def _settled(self) -> tuple[dict[Any, int], dict[Any, int]]:
        """See `_early`.  What hangs together waits if some of it acts before all of it can run."""
        while True:
            own, whole = self._early()
            acting = {
                self.root[op]
                for op in self.ordinary
                if own[op] != whole[self.root[op]] and not is_harmless(op)
            }
            if not acting:
                return own, whole
            self._note_waits(acting | {self.root[op] for op in self.bits})

    def cut(self) -> Partition | None:
        own, whole = self._settled()
        # Members of a wait run one by one, others with all that they hang together with.
        early = {op: own[op] if op in self.bits else whole[self.root[op]] for op in own}
        if any(whole[self.root[op]] & bit for op, bit in self.bits.items()):
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
        waits = [
            Stage(early[group[0]] if waits_at_top(group[-1]) else 0, list(group))
            for group in self.waits
        ]
        for part in parts.values():
            self._connect(part, reads_again=True)
        for wait in waits:
            self._connect(wait)
        handed = [tensor for part in (*parts.values(), *waits) for tensor in part.takes]
        if any(self._changes_hands(tensor) for tensor in handed):
            # A variable that cannot be followed.
            return None
        for wait in waits:
            if not waits_at_top(wait.operations[-1]):
                self._find_outside(wait, home)
                wait.is_whole = all(
                    own[op] == whole[self.root[op]]
                    for op in wait.operations
                    if op in self.bits and not is_harmless(op)
                )
        ordered = sorted(parts.values(), key=lambda part: part.after.bit_count())
        return Partition(ordered, waits, self.free, self.origins)

    def _early(self) -> tuple[dict[Any, int], dict[Any, int]]:
        """For each operation the waits that it depends on; for each root, all that hangs together.

        What waits and is an operation's own conditional or loop is not counted.
        """
        own = dict.fromkeys(self.operations, 0)
        whole = dict.fromkeys(self.root.values(), 0)
        changed = True
        while changed:
            changed = False
            for op in self.operations:
                bits, root = own[op], self.root[op]
                for other in self.before[op]:
                    if self.root[other] is root:
                        # What a loop sends back is for later than its first iteration.
                        bits |= own[other] if other.definition.control_flow_role != "next" else 0
                    else:
                        bits |= whole[self.root[other]] | self.bits.get(other, 0)
                changed |= bits != own[op]
                own[op] = bits
                whole[root] |= bits
        return own, whole

    def _late(self, early: dict[Any, int]) -> dict[Any, int]:
        """For each operation the waits that may be over before anybody needs it."""
        late = dict.fromkeys(self.ordinary, (1 << len(self.waits)) - 1)
        eager = {self.root[op] for op in self.ordinary if _is_eager(op)}
        writers_after = self._writers_after()
        changed = True
        while changed:
            changed = False
            for op in reversed(self.ordinary):
                bits = late[self.root[op]]
                for user in self.users[op]:
                    bits &= early[user] if user in self.bits else late[self.root[user]]
                for writer in writers_after.get(op, ()):
                    # It sees the variable as it was before.
                    bits &= late[self.root[writer]] | early[op]
                if not self.users[op] or self.root[op] in eager:
                    # It runs for its effect, or to be fetched: at once.
                    bits &= early[op]
                changed |= bits != late[self.root[op]]
                late[self.root[op]] = bits
        return {op: late[self.root[op]] for op in self.ordinary}

    def _connect(self, part: Stage, reads_again: bool = False) -> None:
        """Finds what a part takes and gives, and adds the free operations that it uses.

        reads_again: what others have read of a reference variable is read again, for it stands for
        the variable's memory, which a part may have changed meanwhile.
        """
        inside = set(part.operations)
        inputs = dict.fromkeys(t for op in part.operations for t in op._inputs_val)
        if reads_again:
            again = [t.op for t in inputs if t.op not in inside and self._is_window(t)]
            inside.update(again)
            inputs.update(dict.fromkeys(t for op in again for t in op._inputs_val))
        given = [t for t in inputs if t in self.feeds or t.op not in inside | self.free]
        part.cells = [t for t in given if self._changes_hands(t) and self._origin(t) is not None]
        self.origins.update((t, self._origin(t)) for t in part.cells)
        part.takes = [t for t in given if t not in part.cells]
        part.gives = [
            tensor
            for op in part.operations
            for tensor in op.outputs
            if tensor not in self.feeds
            and (tensor in self.fetches or self._is_used_outside(tensor, inside))
        ]
        known = {t: self._origin(t) for t in part.gives if self._changes_hands(t)}
        self.origins.update((t, origin) for t, origin in known.items() if origin is not None)
        part.gives = [t for t in part.gives if t not in self.origins]
        inside |= {t.op for t in inputs if t.op in self.free and t not in self.feeds}
        part.operations = [op for op in self.operations if op in inside]

    def _find_outside(self, wait: Stage, home: dict[Any, int]) -> None:
        """Finds what a conditional or loop waits for that is not there when a run begins."""
        inside = set(wait.operations)
        needed = dict.fromkeys(other for op in wait.operations for other in self.before[op])
        wait.outside = [
            op for op in needed if op not in inside and (op in self.bits or home.get(op))
        ]
        taken = [*wait.takes, *wait.cells]
        wait.takes = [t for t in taken if t in self.feeds or t.op not in wait.outside]

    def _changes_hands(self, tensor: Any) -> bool:
        """Is it a variable or resource that is neither free nor fed?"""
        return refers(tensor) and tensor not in self.feeds and tensor.op not in self.free

    def _is_window(self, tensor: Any) -> bool:
        """Is it what was read of a reference variable that all parts have?"""
        if tensor in self.feeds or tensor.op.definition.transfer != "value":
            return False
        references = [t for t in tensor.op._inputs_val if t.dtype._is_ref_dtype]
        return bool(references) and all(
            t.op in self.free and t not in self.feeds for t in tensor.op._inputs_val
        )

    def _origin(self, tensor: Any) -> Any:
        """The variable that a reference stands for: operations give back their first; or None."""
        while self._changes_hands(tensor):
            definition = tensor.op.definition
            first = next(iter(tensor.op._inputs_val), None)
            if first is None or not first.dtype._is_ref_dtype or definition.control_flow_role:
                return None
            if not tensor.dtype._is_ref_dtype or not definition.inputs[0].is_ref:
                return None
            tensor = first
        return None if tensor in self.feeds else tensor

    def _stands_for(self, tensor: Any) -> Any:
        """The operation that makes the variable or resource which a tensor refers to."""
        origin = self._origin(tensor)
        return (tensor if origin is None else origin).op

    def _writers_after(self) -> dict[Any, list[Any]]:
        """For each operation those behind it that change a variable which it uses."""
        users: dict[Any, list[Any]] = {}
        result: dict[Any, list[Any]] = {}
        # What reads a variable may hand on its very memory: who takes that uses the variable.
        read: dict[Any, list[Any]] = {}
        for op in self.ordinary:
            cells = [self._stands_for(t) for t in op._inputs_val if refers(t)]
            used = [*cells, *(cell for t in op._inputs_val for cell in read.get(t.op, ()))]
            if op.definition.transfer == "value":
                read[op] = used
            if _acts(op):
                for cell in cells:
                    for user in users.get(cell, ()):
                        result.setdefault(user, []).append(op)
            for cell in used:
                users.setdefault(cell, []).append(op)
        return result

    def _is_used_outside(self, tensor: Tensor, inside: set[Any]) -> bool:
        users = (user for user in self.users[tensor.op] if user not in inside)
        return any(tensor is taken for user in users for taken in user._inputs_val)


def _hangs_together(op: Operation) -> bool:
    if waits_at_top(op):
        return False
    return bool(op.definition.control_flow_role) or op._control_flow_context is not None


def _acts(op: Any) -> bool:
    """Does an operation change anything beside its results?"""
    definition = op.definition
    if definition.control_flow_role or definition.passes_ref:
        return False
    if any(arg.is_ref for arg in definition.inputs):
        return True
    return bool(definition.is_stateful) and not op.outputs


def _is_eager(op: Any) -> bool:
    """Does an operation run at once, rather than with those that need it?"""
    return _acts(op) or (op.definition.lower is None and not op.definition.control_flow_role)


def draws(op: Any) -> bool:
    """Does an operation that can be compiled take something from a state of its own?"""
    definition = op.definition
    return (
        bool(definition.is_stateful)
        and not definition.control_flow_role
        and definition.transfer != "value"
    )


def is_harmless(op: Any) -> bool:
    """Could an operation be run once more, had it no state of its own, and change nothing?"""
    definition = op.definition
    if definition.control_flow_role:
        return definition.control_flow_role != "wait"
    if _acts(op):
        return False
    return (
        definition.lower is not None or not definition.is_stateful or definition.transfer == "value"
    )


def is_free(op: Operation) -> bool:
    """Can an operation be run again wherever it is used?"""
    if op._inputs_val or op._control_inputs_val or not op.outputs:
        return False
    definition = op.definition
    if definition.control_flow_role or definition.is_fed:
        return False
    # It takes nothing, so it gives the same wherever it runs.
    return makes_handles(op) or not definition.stateful
