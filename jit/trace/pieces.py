# SPDX-License-Identifier: Apache-2.0
"""Cuts operations that branch and loop, and are no single plan, into pieces that each can be one.

Operations under one condition are a stretch; merges, whole loops, what lives for one run and what
may have to wait stand between stretches.  Whether a piece runs is known when a run comes to it:
then all that it takes is there.  Imports the engine's graph layer and jit's loops and regions.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, Union

from ...engine.record_class import record
from .control_regions import accesses
from .loop_recovery import Frame, Item, Unstructured, guard_of_all, needs_of

if TYPE_CHECKING:
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor


@record(frozen=True)
class Side:
    """A condition: the predicate came out as this."""

    predicate: Any
    is_true: bool


# What must hold, the outermost condition first: predicates' sides, and merges that gave something.
Guard = tuple[Any, ...]


@record(eq=False)
class Stretch:
    """Operations without branches and loops, which run together or not at all."""

    guard: Guard
    operations: list[Any] = field(default_factory=list)


@record(eq=False)
class Join:
    """A merge: it takes what is there; `sides` says of each input when that is, None: never."""

    guard: Guard
    operation: Any
    sides: list[Guard | None]


@record(eq=False)
class Turns:
    """A loop."""

    guard: Guard
    frame: Frame


@record(eq=False)
class Alone:
    """An operation on what lives for one run, such as an array of tensors, or one that may have to
    wait."""

    guard: Guard
    operation: Any


Piece = Union[Stretch, Join, Turns, Alone]


@record
class Cut:
    """Pieces in an order that can run, and the tensors that stand for others, such as what comes
    out of a switch.

    behind: of each piece the bits of the waits, in their order, that it comes behind.
    """

    pieces: list[Piece]
    aliases: dict[Any, Any]
    behind: list[int]


def cut(items: Sequence[Item], operations: Sequence[Any], given: Iterable[Any] = ()) -> Cut:
    """Cuts items that are in order (jit/trace/loop_recovery.py); Unstructured if that cannot be.

    given: tensors that somebody wants besides operations.
    """
    guards = _Guards(operations)
    guards.find(items)
    pieces = list(_scheduled(items, operations, guards))
    pieces = _without_handing_on(pieces, guards.aliases, {*given})
    pieces = _without_unasked_joins(pieces, guards.aliases, given)
    return Cut(pieces, guards.aliases, _behind(pieces, operations))


def _without_handing_on(
    pieces: Sequence[Piece], aliases: dict[Any, Any], given: Container[Any]
) -> list[Piece]:
    """The pieces without those that compute nothing; what they hand on are aliases then.

    (A branch is full of them, and each would be a call.)
    """
    found: list[Piece] = []
    for piece in pieces:
        if not isinstance(piece, Stretch):
            found.append(piece)
            continue
        pairs = [_handed_on(op) for op in piece.operations]
        if any(pair is None or any(t in given for t in pair) for pair in pairs):
            found.append(piece)
        else:
            aliases.update((pair[0], pair[1]) for pair in pairs if pair)
    return found


def _handed_on(op: Operation) -> tuple[Tensor, ...] | None:
    """What an operation gives, and the input that it is; () of none, None where it does more."""
    kind = op.definition
    if kind.transfer != "value" or kind.is_stateful:
        return None
    if not (op.outputs or op._inputs_val):
        return ()
    if not kind.elementwise or len(op.outputs) != 1 or len(op._inputs_val) != 1:
        return None
    source = op._inputs_val[0]
    # What a variable holds may be another value later; constants are stated where they are used.
    is_value = not source.dtype._is_ref_dtype and source.dtype.base_dtype.name != "resource"
    is_made = source.op._inputs_val or source.op._control_inputs_val
    return (op.outputs[0], source) if is_value and is_made else None


def _without_unasked_joins(
    pieces: Sequence[Piece], aliases: dict[Any, Any], given: Iterable[Any]
) -> list[Piece]:
    """The pieces without merges that nobody takes anything of."""
    wanted, found = set[Any](), list[Piece]()

    def take(tensors: Iterable[Any]) -> None:
        for tensor in tensors:
            wanted.add(tensor.op)
            while tensor in aliases:
                tensor = aliases[tensor]
                wanted.add(tensor.op)

    take(given)
    for piece in reversed(pieces):
        if isinstance(piece, Join) and piece.operation not in wanted:
            continue
        found.append(piece)
        guards = [piece.guard, *(getattr(piece, "sides", ()))]
        conditions = [condition for guard in guards for condition in guard or ()]
        take(c.predicate for c in conditions if isinstance(c, Side))
        wanted.update(c for c in conditions if not isinstance(c, Side))
        take(tensor for op in _operations(piece) for tensor in op._inputs_val)
    return found[::-1]


def _behind(pieces: Sequence[Piece], operations: Sequence[Any]) -> list[int]:
    """Of each piece the bits of the waits that it comes behind."""
    waits = [p.operation for p in pieces if isinstance(p, Alone) and _waits(p.operation)]
    if not waits:
        return [0] * len(pieces)
    own = {op: 1 << number for number, op in enumerate(waits)}
    after: dict[Any, list[Any]] = {}
    for before, behind in accesses(operations):
        # (Others may use a queue while something waits for it.)
        if before not in own:
            after.setdefault(behind, []).append(before)
    bits = dict.fromkeys(operations, 0)
    for op in operations:
        for other in (*(t.op for t in op._inputs_val), *op._control_inputs_val, *after.get(op, ())):
            bits[op] |= bits.get(other, 0) | own.get(other, 0)
    return [_any_of(bits[op] for op in _operations(piece)) for piece in pieces]


def _any_of(bits: Iterable[int]) -> int:
    return functools.reduce(operator.or_, bits, 0)


def _operations(piece: Piece) -> Iterable[Any]:
    match piece:
        case Stretch():
            return piece.operations
        case Turns():
            return inside(piece.frame)
    return [piece.operation]


def _waits(op: Operation) -> bool:
    return op.definition.control_flow_role == "wait"


def alias_of(op: Operation) -> Tensor | None:
    """The variable or resource that an operation gives back: its first input."""
    definition = op.definition
    if definition.control_flow_role or not op.outputs or not op._inputs_val:
        return None
    given, first = op.outputs[0], op._inputs_val[0]
    is_reference = given.dtype._is_ref_dtype and first.dtype._is_ref_dtype
    is_handle = definition.passes_ref and given.dtype.base_dtype.name == "resource"
    return first if is_reference or is_handle else None


class _Guards:
    """Under which conditions items run."""

    def __init__(self, operations: Iterable[Any]) -> None:
        self._inside = set(operations)
        self.of: dict[Any, Guard | None] = {}  # of items and operations; None: they never run
        self.sides: dict[Any, Guard | None] = {}  # of tensors, where not those of their operation
        self.aliases: dict[Any, Any] = {}

    def find(self, items: Iterable[Item]) -> None:
        """Goes through items in order."""
        for item in items:
            if isinstance(item, Frame):
                guard = guard_of_all(item, self._all)
                self.of.update(dict.fromkeys([item, *item.enters, *item.exits], guard))
                continue
            role = item.definition.control_flow_role
            if role == "merge":
                self.of[item] = self._merged(item)
            else:
                self.of[item] = () if role == "trigger" else self._all([item])
            if role == "switch":
                self._switch(item)
            elif role not in ("", "merge", "trigger", "step", "wait"):
                raise Unstructured(f"{item.type} (node '{item.name}')")
            given = alias_of(item)
            if given is not None:
                self.aliases[item.outputs[0]] = given

    def guard(self, tensor: Tensor) -> Guard | None:
        """Under which conditions a tensor is there."""
        return self.sides[tensor] if tensor in self.sides else self.of.get(tensor.op, ())

    def _all(self, ops: Iterable[Any]) -> Guard | None:
        found: Guard = ()
        for op in ops:
            guards = [self.guard(t) for t in op._inputs_val]
            guards += [self.of.get(other, ()) for other in op._control_inputs_val]
            for guard in guards:
                if guard is None:
                    return None
                found = (*found, *(c for c in guard if c not in found))
        return None if any(_opposite(condition) in found for condition in found) else found

    def _switch(self, op: Any) -> None:
        data, predicate = op._inputs_val
        guard = self.of[op]
        for side, output in enumerate(op.outputs):
            self.aliases[output] = data
            condition = Side(self._source(predicate), bool(side))
            if guard is None or _opposite(condition) in guard:
                self.sides[output] = None
            else:
                self.sides[output] = guard if condition in guard else (*guard, condition)

    def _source(self, tensor: Any) -> Any:
        """The tensor whose value another one only hands on."""
        while True:
            if tensor in self.aliases:
                tensor = self.aliases[tensor]
            elif self._hands_on(tensor.op):
                tensor = tensor.op._inputs_val[0]
            else:
                return tensor

    def _hands_on(self, op: Any) -> bool:
        # What is outside of the region has run: only what the region takes is known of it. And what
        # a variable holds may be another value when the condition is asked for.
        if op not in self._inside or len(op._inputs_val) != 1 or not op.definition.passes_ref:
            return False
        return not op._inputs_val[0].dtype._is_ref_dtype

    def _merged(self, op: Any) -> Guard | None:
        known = [guard for guard in map(self.guard, op._inputs_val) if guard is not None]
        if len(known) < 2:
            return known[0] if known else None
        common = tuple(c for c in known[0] if all(c in guard for guard in known))
        rest = [tuple(c for c in guard if c not in common) for guard in known]
        # Exactly one of the two sides of one condition is always there.
        if len(rest) == 2 and all(len(r) == 1 for r in rest) and _opposite(rest[0][0]) in rest[1]:
            return common
        return (*common, op)


def _opposite(condition: object) -> object:
    if isinstance(condition, Side):
        return Side(condition.predicate, not condition.is_true)
    return None


def _scheduled(
    items: Sequence[Item], operations: Sequence[Any], guards: _Guards
) -> Iterator[Piece]:
    """Pieces in order: stretches as long as they can be, before loops."""
    number = _numbers(items)
    users: list[set[int]] = [set() for _ in items]
    for before, after in _orders(items, operations, number):
        if before != after:
            users[before].add(after)
    ready = _Ready(items, users, guards)
    while ready.places:
        kind, place = min(ready.places)
        item: Any = items[place]
        guard = guards.of[item]
        if kind == _PLAIN:
            yield Stretch(guard or (), ready.take_under(guard))
            continue
        ready.take(kind, place)
        if guard is None:
            continue
        if kind == _LOOP:
            yield Turns(guard, item)
        elif kind == _STEP:
            yield Alone(guard, item)
        elif item.definition.control_flow_role == "merge":
            under = tuple(condition for condition in guard if condition is not item)
            yield Join(under, item, [guards.guard(tensor) for tensor in item._inputs_val])
    if ready.left:
        raise Unstructured("operations wait for each other")


# In the order in which they are taken: what costs nothing first, loops last.
_FREE, _PLAIN, _STEP, _LOOP = range(4)


class _Ready:
    """The items that nothing is missing for."""

    def __init__(self, items: Sequence[Item], users: Sequence[set[int]], guards: _Guards) -> None:
        self.items, self.users, self.guards = items, users, guards
        self.left = len(items)
        self.waiting = [0] * len(items)
        for after in (place for places in users for place in places):
            self.waiting[after] += 1
        self.places: set[tuple[int, int]] = set()
        for place, count in enumerate(self.waiting):
            if not count:
                self.places.add((self._kind(place), place))

    def take(self, kind: int, place: int) -> None:
        """An item runs now."""
        self.places.remove((kind, place))
        self.left -= 1
        for user in self.users[place]:
            self.waiting[user] -= 1
            if not self.waiting[user]:
                self.places.add((self._kind(user), user))

    def take_under(self, guard: Guard | None) -> list[Any]:
        """All plain operations under a condition that can run now, one after the other."""
        taken: list[Any] = []
        while True:
            found = [p for k, p in self.places if k == _PLAIN and self._guard(p) == guard]
            if not found:
                return taken
            for place in sorted(found):
                self.take(_PLAIN, place)
                taken.append(self.items[place])

    def _guard(self, place: int) -> Guard | None:
        return self.guards.of[self.items[place]]

    def _kind(self, place: int) -> int:
        item = self.items[place]
        if self._guard(place) is None:
            return _FREE
        if isinstance(item, Frame):
            return _LOOP
        role = item.definition.control_flow_role
        return _PLAIN if not role else _STEP if role in ("step", "wait") else _FREE


def _numbers(items: Sequence[Item]) -> dict[Any, int]:
    """Which item makes what operations make."""
    number: dict[Any, int] = {}
    for place, item in enumerate(items):
        for op in inside(item):
            number[op] = place
    return number


def inside(item: Item) -> Iterator[Any]:
    """The operations of an item, loops within included."""
    if not isinstance(item, Frame):
        yield item
        return
    yield from (*item.enters, *item.members, *item.exits)
    for child in item.children.values():
        yield from inside(child)


def _orders(
    items: Sequence[Item], operations: Sequence[Any], number: dict[Any, int]
) -> Iterator[tuple[int, int]]:
    """What must run before what: by the graph, by variables, and of what acts in order."""
    for place, item in enumerate(items):
        yield from ((number[op], place) for op in needs_of(item) if op in number)
    for before, after in accesses(operations):
        if before in number and after in number and number[before] < number[after]:
            yield number[before], number[after]
    acting = [place for place, item in enumerate(items) if any(map(_acts, inside(item)))]
    yield from zip(acting, acting[1:])


def _acts(op: Any) -> bool:
    definition = op.definition
    if definition.control_flow_role or definition.transfer == "value":
        return False
    return bool(definition.is_stateful) or any(arg.is_ref for arg in definition.inputs)
