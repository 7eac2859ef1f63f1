# SPDX-License-Identifier: Apache-2.0
"""Finds the loops in operations: what is tested, what the body is, and what goes round.

A graph has loops as operations that pass values on (enter, merge, switch, next, exit).  Here they
become `Frame`s, which hold operations and other frames in an order that can run.  Knows roles of
operations, never their names.  Imports the engine's graph layer only.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, Union

from ...engine.record_class import record

if TYPE_CHECKING:
    from ...engine.graph.operation import Operation


class Unstructured(Exception):
    """The operations do not have the form that is compiled; the text says in what."""


@record(eq=False)
class Variable:
    """What goes round a loop: where it comes in, is merged, goes on and comes out."""

    enter: Any
    merge: Any
    switch: Any = None
    next: Any = None
    exits: list[Any] = field(default_factory=list)


@record(eq=False)
class Frame:
    """A loop (or, without a parent, what is outside of all loops)."""

    name: str = ""
    parent: Frame | None = None
    enters: list[Any] = field(default_factory=list)
    exits: list[Any] = field(default_factory=list)
    members: list[Any] = field(default_factory=list)
    children: dict[str, Frame] = field(default_factory=dict)
    # Once everything is known:
    variables: list[Variable] = field(default_factory=list)
    condition: Any = None  # the operation that decides
    test: list[Item] = field(default_factory=list)
    body: list[Item] = field(default_factory=list)
    # What runs once, on the way from the last turn to an exit, and the exits behind it.
    after: list[Item] = field(default_factory=list)
    late_exits: list[Any] = field(default_factory=list)

    @property
    def constants(self) -> list[Any]:
        """What comes in and stays as it is."""
        return [op for op in self.enters if op.attr("is_constant")]


Item = Union[Any, Frame]


def structured(operations: Sequence[Any]) -> list[Item]:
    """Operations and loops in an order that can run.  Unstructured if that cannot be."""
    top = Frame()
    home: dict[Any, Frame] = {}
    for op in operations:
        _place(op, home, top)
    return _finish(top, home, {op: number for number, op in enumerate(operations)})


def _place(op: Operation, home: dict[Any, Frame], top: Frame) -> None:
    """Finds the frame that an operation is in; of an exit, the one that it leaves."""
    # What comes back from an iteration is created later, and so is not in `home` yet.
    before = [t.op for t in op._inputs_val if t.op in home]
    before += [other for other in op._control_inputs_val if other in home]
    frames = {id(f): f for f in (_after(other, home) for other in before)}
    if len(frames) > 1:
        raise Unstructured(f"'{op.name}' has inputs from several loops")
    frame = next(iter(frames.values()), top)
    role = op.definition.control_flow_role
    if role == "enter":
        name = op.attr("frame_name")
        child = frame.children.setdefault(name, Frame(name, frame))
        child.enters.append(op)
        home[op] = frame
        return
    home[op] = frame
    if role == "exit":
        if frame.parent is None:
            raise Unstructured(f"'{op.name}' leaves no loop")
        frame.exits.append(op)
    else:
        frame.members.append(op)


def _after(op: Operation, home: dict[Any, Frame]) -> Frame:
    """The frame that an operation's outputs are in."""
    frame = home[op]
    if op.definition.control_flow_role == "enter":
        return frame.children[op.attr("frame_name")]
    if op.definition.control_flow_role == "exit":
        assert frame.parent is not None
        return frame.parent
    return frame


def _finish(frame: Frame, home: dict[Any, Frame], number: dict[Any, int]) -> list[Item]:
    """Sorts a frame; for loops, also into test and body."""
    for child in frame.children.values():
        _find_variables(child)
        items = _finish(child, home, number)
        _split(child, items)
    return _sorted(frame, number)


def _find_variables(frame: Frame) -> None:
    merges = {t.op: op for op in frame.members if _is(op, "merge") for t in op._inputs_val[:1]}
    conditions: set[Any] = set()
    switches = {
        op._inputs_val[0].op: op
        for op in frame.members
        if _is(op, "switch") and _is(op._inputs_val[1].op, "condition")
    }
    for enter in frame.enters:
        if enter.attr("is_constant"):
            continue
        merge = merges.get(enter)
        # (Who asks which input was merged asks whether this is the first turn: there is no value
        # for that.)
        if merge is None or len(merge._inputs_val) != 2 or merge.outputs[1]._consumers:
            raise Unstructured(f"'{enter.name}' does not go round")
        back = merge._inputs_val[1].op
        if not _is(back, "next") or back not in frame.members:
            raise Unstructured(f"'{merge.name}' gets nothing back")
        variable = Variable(enter, merge, next=back)
        switch = switches.get(merge)
        if switch is not None:
            variable.switch = switch
            conditions.add(switch._inputs_val[1].op)
            variable.exits = [op for op in frame.exits if op._inputs_val[0] is switch.outputs[0]]
        frame.variables.append(variable)
    known = {op for variable in frame.variables for op in variable.exits}
    after = _behind_the_last_turn(frame)
    frame.late_exits = [op for op in frame.exits if op._inputs_val[0].op in after]
    if len(conditions) != 1 or known.union(frame.late_exits) != set(frame.exits):
        raise Unstructured(f"loop '{frame.name}' has no single condition")
    frame.condition = conditions.pop()
    frame.after = list(after)


def _behind_the_last_turn(frame: Frame) -> dict[Any, None]:
    """What is computed of values that leave the loop before they do, as gradients of loops have it.

    Such operations may take what leaves and what never changes: the rest is a turn's own.
    """
    leaving = {v.switch.outputs[0] for v in frame.variables if v.switch is not None}
    fixed = {tensor for op in frame.constants for tensor in op.outputs}
    members, after = set(frame.members), dict[Any, None]()
    found = [user for tensor in leaving for user in tensor._consumers if user in members]
    while found:
        op = found.pop()
        if op in after:
            continue
        if op.definition.control_flow_role:
            raise Unstructured(f"'{op.name}' branches behind the last turn")
        after[op] = None
        found += [user for t in op.outputs for user in t._consumers if user in members]
    for op in after:
        for tensor in op._inputs_val:
            if not (tensor in leaving or tensor in fixed or tensor.op in after):
                raise Unstructured(f"'{op.name}' takes from the last turn what stays in it")
    return after


def _is(op: Operation, role: str) -> bool:
    return bool(op.definition.control_flow_role == role)


def _split(frame: Frame, items: list[Item]) -> None:
    """Sorts what is in a loop into what the condition needs and the rest."""
    fixed = {frame.condition}
    for variable in frame.variables:
        fixed |= {variable.merge, variable.switch, variable.next}
    after = set(frame.after)
    frame.after = [item for item in items if item in after]
    items = [item for item in items if item not in fixed and item not in after]
    makers: dict[Any, Item] = {}
    for item in items:
        for op in item.exits if isinstance(item, Frame) else [item]:
            makers[op] = item
    test = _needed([frame.condition], makers)
    frame.test = [item for item in items if id(item) in test]
    rest = [item for item in items if id(item) not in test]
    # What both need is traced in both programs, and so runs twice in a turn: pure ones may.
    again = _needed([*rest, *(v.next for v in frame.variables)], makers)
    frame.body = [item for item in items if id(item) not in test or id(item) in again]
    for item in frame.test:
        if id(item) in again and (isinstance(item, Frame) or item.definition.stateful):
            raise Unstructured(f"the body of loop '{frame.name}' takes part in its condition")


def _needed(items: Iterable[Item], makers: dict[Any, Item]) -> set[int]:
    """The items (by id) that others need, themselves left out unless needed."""
    found: set[int] = set()
    stack = list(items)
    while stack:
        item = stack.pop()
        for op in needs_of(item):
            maker = makers.get(op)
            if maker is not None and id(maker) not in found:
                found.add(id(maker))
                stack.append(maker)
    return found


def needs_of(item: Item) -> list[Any]:
    """The operations that an item (of a loop: what enters it) waits for."""
    ops = item.enters if isinstance(item, Frame) else [item]
    before = [t.op for op in ops for t in op._inputs_val]
    return before + [other for op in ops for other in op._control_inputs_val]


def guard_of_all(frame: Frame, guard_of: Callable[[list[Any]], Any]) -> Any:
    """The conditions that a loop runs under: those of all that enters it; None: it never runs.

    guard_of: the conditions of operations together.  Unstructured if something leaves the loop
    under fewer, as where a branch takes the gradient of a loop outside of it: what the gradient
    keeps enters that loop under the branch's condition, and the rest goes its way without.
    """
    whole = guard_of(frame.enters)
    if whole == ():
        return whole
    for exit_op in frame.exits:
        behind = _behind(exit_op, set(frame.enters))
        own = guard_of([op for op in frame.enters if op in behind])
        if own is not None and (whole is None or len(own) < len(whole)):
            raise Unstructured(f"'{exit_op.name}' leaves under fewer conditions than others enter")
    return whole


def _behind(op: Operation, first: Container[Any]) -> set[Any]:
    """What an operation needs, no further back than the first."""
    found, pending = set[Any](), [op]
    while pending:
        op = pending.pop()
        if op in found:
            continue
        found.add(op)
        if op not in first:
            pending += [*(t.op for t in op._inputs_val), *op._control_inputs_val]
    return found


def _sorted(frame: Frame, number: dict[Any, int]) -> list[Item]:
    """The operations and loops of a frame in the order given, as far as they can run so."""
    items: list[Item] = [*frame.members, *frame.children.values()]
    maker: dict[Any, int] = {}
    for index, item in enumerate(items):
        for op in item.exits if isinstance(item, Frame) else [item]:
            maker[op] = index
    needs: list[set[int]] = []
    for index, item in enumerate(items):
        # What comes from the turn before is no reason to wait.
        back = not isinstance(item, Frame) and _is(item, "merge") and frame.parent is not None
        before = needs_of(item)
        found = {maker[op] for op in before if op in maker}
        if back:
            found = {n for n in found if not _is_next(items[n])}
        needs.append(found - {index})
    users: list[list[int]] = [[] for _ in items]
    for index, found in enumerate(needs):
        for other in found:
            users[other].append(index)
    # In the order given where there is a choice: effects happen in the order of the program.
    place = [_place_of(item, number) for item in items]
    heap = [(place[n], n) for n, found in enumerate(needs) if not found]
    heapq.heapify(heap)
    order: list[Item] = []
    while heap:
        _, index = heapq.heappop(heap)
        order.append(items[index])
        for user in users[index]:
            needs[user].discard(index)
            if not needs[user]:
                heapq.heappush(heap, (place[user], user))
    if len(order) < len(items):
        raise Unstructured(f"loop '{frame.name}' waits for itself")
    return order


def _is_next(item: Item) -> bool:
    return not isinstance(item, Frame) and _is(item, "next")


def _place_of(item: Item, number: dict[Any, int]) -> int:
    return max(number[op] for op in item.enters) if isinstance(item, Frame) else number[item]
