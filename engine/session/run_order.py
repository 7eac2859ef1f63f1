# SPDX-License-Identifier: Apache-2.0
"""Which operations a run needs, and in which order they run.

They run in order of creation, so that a program means one thing; but for reads and changes of a
variable that nothing in the graph orders.  A network that is applied twice and changes a
variable each time (the power iteration of a spectral norm) would read the second time what the
first has left.  TensorFlow starts whatever is ready, so that both read what was there before the
run: a read that lies fewer operations from the start than a change comes before it.  A loop or
branch that is given a variable reads it until it ends, so it comes before the change as a whole:
the loop of a network that is evaluated in the run that trains it, say.

What tells by an error that data is at its end comes behind the changes of variables that lie as
near to the start as it does: in TensorFlow they are done by then, and programs that run until that
error count such a run as well.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import dropwhile
from typing import Any

from .. import errors
from ..graph.operation import Operation, arg_length
from ..graph.tensor import Tensor
from ..types import dtypes

# Roles in control flow by which values come into loops and branches.
_WAYS_IN = ("enter", "switch")

Edges = Mapping["Operation | _Gate", Sequence["Operation | _Gate"]]


def needed_operations(
    fetches: Iterable[Tensor], targets: Iterable[Operation], feeds: Iterable[Tensor]
) -> list[Operation]:
    """The operations to run, in order: that of creation but for edges that point back, and reads
    that come before a change (`_gates`)."""
    fed = set(feeds)
    # A placeholder that is fed does not run, even where something waits for it.
    skipped = {t.op for t in fed if t.op.definition.is_fed}
    pending = [t.op for t in fetches if t not in fed]
    pending += [op for op in targets if op not in skipped]
    before: dict[Operation | _Gate, list[Any]] = {}
    while pending:
        op = pending.pop()
        if op not in before:
            before[op] = _predecessors(op, fed, skipped)
            pending += [other for other in before[op] if other not in before]
    ops: Any = before.keys()
    return _ordered(sorted(ops, key=lambda op: op._id), before)


def _predecessors(op: Operation, fed: set[Tensor], skipped: set[Operation]) -> list[Operation]:
    result = [t._op for t in op._inputs_val if t not in fed]
    result += [other for other in op._control_inputs_val if other not in skipped]
    return result


def _ordered(ops: list[Operation], before: dict[Operation | _Gate, list[Any]]) -> list[Operation]:
    """The operations in order, given those of creation and what each waits for."""
    # As in nearly all graphs nodes take what was there before them.
    if any(other._id > op._id for op in ops for other in before[op]):
        # What a loop sends back is for its next iteration.
        for op in ops:
            before[op] = [
                o for o in before[op] if o.definition.control_flow_role != "next" or o._id < op._id
            ]
        ops = _sorted(ops, before)
    gates = _gates(ops, before)
    ends = _ends_behind_changes(ops, before)
    return _sorted([*ops, *gates], before) if gates or ends else ops


class _Gate:
    """Runs nothing: what waits for it comes behind all that it waits for."""

    __slots__ = ("_id",)

    def __init__(self, number: int) -> None:
        # Before all operations, none of which has a number below zero.
        self._id = -1 - number


def _sorted(ops: Sequence[Operation | _Gate], before: Edges) -> list[Operation]:
    """The operations, each behind those before it, and else in order of creation."""
    waiting = {op: len(set(before[op])) for op in ops}
    after: dict[Operation | _Gate, list[Operation | _Gate]] = {op: [] for op in ops}
    for op in ops:
        for other in set(before[op]):
            after[other].append(op)
    by_id = {op._id: op for op in ops}
    ready = [op._id for op in ops if not waiting[op]]
    heapq.heapify(ready)
    result: list[Operation] = []
    while ready:
        op = by_id[heapq.heappop(ready)]
        if not isinstance(op, _Gate):
            result.append(op)
        for other in after[op]:
            waiting[other] -= 1
            if not waiting[other]:
                heapq.heappush(ready, other._id)
    stuck = sorted(op.name for op in ops if waiting[op] and not isinstance(op, _Gate))
    if stuck:
        raise errors.invalid(
            f"Graph is invalid, contains a cycle with {len(stuck)} nodes, including: "
            f"{', '.join(stuck[:8])}"
        )
    return result


def reference_flags(op: Operation) -> list[bool]:
    """Of each input whether the op is given the variable itself."""
    flags: list[bool] = []
    for arg in op.definition.inputs:
        length = arg_length(arg, op._attrs)
        flags.extend([arg.is_ref] * (1 if length is None else length))
    # Loops add inputs beyond the signature: references too.
    return flags + [False] * (len(op._inputs_val) - len(flags))


def _gates(
    ops: Sequence[Operation], before: dict[Operation | _Gate, list[Operation | _Gate]]
) -> list[_Gate]:
    """Makes changes wait for the reads that are to precede them; what stands between the two.

    For each depth at which a variable is changed there is a gate: changes of that depth wait for
    it, and it waits for reads that lie nearer to the start, and for the gate before it.  So there
    are as few edges as reads and changes, where there might be as many pairs of them as products.

    Args:
        ops: those of a run, each behind all that it waits for.
        before: what each waits for, to which gates are added.
    """
    used = _used_late(ops)
    if not used:
        return []
    depth = _depths(ops, before)
    gates: list[_Gate] = []
    flows = _Flows(ops, before)
    for readers, changes in used:
        reads = [flows.end(reader, depth, gates) for reader in readers]
        levels = sorted({depth[change] for change in changes})
        # Whoever waits for a change lies farther from the start than it: no circle can come of it.
        nearer = [read for read in reads if depth[read] < levels[-1]]
        if not nearer:
            continue
        first = len(gates)
        for number in range(len(levels)):
            gate = _Gate(len(gates))
            before[gate] = [gates[-1]] if number else []
            gates.append(gate)
        for read in nearer:
            before[gates[first + bisect_right(levels, depth[read])]].append(read)
        for change in changes:
            before[change].append(gates[first + bisect_left(levels, depth[change])])
    return gates


def _ends_behind_changes(ops: Sequence[Operation], before: dict[Any, list[Any]]) -> bool:
    """Makes what may end the data wait for the changes that are no farther from the start.

    Returns:
        Whether anything waits for more than it did.
    """
    ends = [op for op in ops if op.definition.may_end and op._get_control_flow_context() is None]
    if not ends:
        return False
    # (None of them depends on what is as near as it, so no circle can come of it.)
    changes = [op for op, _, is_change in _uses(ops) if is_change and not op.definition.may_end]
    found = False
    for end in ends:
        depth, known = _depth(end, before), dict[tuple[Any, int], bool]()
        nearer = [op for op in changes if _is_within(op, depth, before, known)]
        before[end] = [*before[end], *nearer]
        found |= bool(nearer)
    return found


def _depth(op: Any, before: Edges) -> int:
    """How many operations lie between one and the start, itself included."""
    depth, level = 0, {op}
    while level:
        depth, level = depth + 1, {other for one in level for other in before[one]}
    return depth


def _is_within(op: Any, depth: int, before: Edges, known: dict[tuple[Any, int], bool]) -> bool:
    """Whether an operation lies at most so far from the start; looks no farther than that.

    known: what has been found out.
    """
    if depth == 0:
        return False
    found = known.get((op, depth))
    if found is None:
        found = all(_is_within(other, depth - 1, before, known) for other in before[op])
        known[op, depth] = found
    return found


def _depths(ops: Sequence[Operation], before: Edges) -> dict[Operation | _Gate, int]:
    """How many operations lie between each and the start, with one turn of each loop.

    What leaves a loop does so when the loop ends, behind all that is in it.
    """
    loops: dict[Any, int] = {}
    while True:
        depth: dict[Operation | _Gate, int] = {}
        deepest: dict[Any, int] = {}
        for op in ops:
            depth[op] = 1 + max((depth.get(other, 0) for other in before[op]), default=0)
            flow = op._get_control_flow_context()
            if flow is None:
                continue
            if op.definition.control_flow_role == "exit" and flow.outer_context is None:
                depth[op] = max(depth[op], 1 + loops.get(flow, 0))
            else:
                flow = _outermost(op)
                deepest[flow] = max(depth[op], deepest.get(flow, 0))
        # A loop that takes what another one gives lies behind it from the next pass on.
        if deepest == loops or max(deepest.values()) > len(ops):
            return depth
        loops = deepest


class _Flows:
    """The loops and branches of a run, which read the variables that come in until they end."""

    def __init__(self, ops: Sequence[Operation], before: Edges) -> None:
        self._ops = ops
        self._before: Any = before
        self._inside: dict[Any, list[Operation]] = {}
        self._ends: dict[Any, _Gate] = {}

    def end(
        self, op: Operation, depth: dict[Operation | _Gate, int], gates: list[_Gate]
    ) -> Operation | _Gate:
        """What comes behind all that reads what an operation is given: itself, or a new gate."""
        flow = _outermost(op)
        if flow is None:
            return op
        if flow not in self._ends:
            inside = self._found(flow)
            consumed = {other for one in inside for other in self._before[one]}
            end = self._ends[flow] = _Gate(len(gates))
            gates.append(end)
            self._before[end] = [one for one in inside if one not in consumed]
            # (What a loop sends back may come from farther than what leaves it.)
            depth[end] = max(depth[one] for one in inside)
        return self._ends[flow]

    def _found(self, flow: Any) -> list[Operation]:
        if not self._inside:
            for op in self._ops:
                outermost = _outermost(op)
                if outermost is not None:
                    self._inside.setdefault(outermost, []).append(op)
        return self._inside[flow]


def _outermost(op: Operation) -> Any:
    """The loop or branch that an operation is in, none of whose are within another; or None."""
    flow: Any = op._get_control_flow_context()
    while flow is not None and flow.outer_context is not None:
        flow = flow.outer_context
    return flow


def _used_late(ops: Sequence[Operation]) -> list[tuple[list[Operation], list[Operation]]]:
    """The reads and changes of each variable that has a read behind a change."""
    late: dict[Operation, None] = {}
    changed: set[Operation] = set()
    # Most changes are a run's last operations, and nothing is read behind them.
    for _, variable, is_change in _uses(dropwhile(lambda op: not _takes_variable(op), ops)):
        if is_change:
            changed.add(variable)
        elif variable in changed:
            late[variable] = None
    if not late:
        return []
    found: dict[Operation, tuple[list[Operation], list[Operation]]] = {v: ([], []) for v in late}
    for op, variable, is_change in _uses(ops):
        if variable in found:
            found[variable][is_change].append(op)
    return list(found.values())


def _uses(ops: Iterable[Operation]) -> Iterator[tuple[Operation, Operation, bool]]:
    """(operation, variable, whether it changes it) of what reads or changes one."""
    for op in ops:
        if op.definition.passes_ref:
            continue
        held = [_variable(tensor) for tensor in op._inputs_val]
        if not any(held):
            continue
        gives = _gives_variable(op)
        if op._get_control_flow_context() is not None:
            # What else is in a loop or branch is given what comes in there.
            if gives or op.definition.control_flow_role not in _WAYS_IN:
                continue
        flags = zip(held, op._inputs_val, reference_flags(op), strict=True)
        for variable, tensor, is_given in flags:
            if variable is None:
                continue
            if tensor.dtype != dtypes.resource:
                if gives or not is_given:
                    yield op, variable, is_given
            elif not (gives and op.definition.transfer == "write"):
                # (What assigns to a handle may be the first to do so, before which none can read.)
                yield op, variable, gives


def _takes_variable(op: Operation) -> bool:
    definition = op.definition
    if definition.passes_ref:
        return False
    return any(arg.is_ref or arg.dtype == dtypes.resource for arg in definition.inputs)


def _gives_variable(op: Operation) -> bool:
    """Whether an op leaves a variable changed: it gives the variable itself, or nothing at all.

    (What is given a handle and gives something reads; what changes a variable gives nothing.)
    """
    outputs = op.definition.outputs
    return not outputs or any(arg.is_ref for arg in outputs)


def _variable(tensor: Tensor) -> Operation | None:
    """The operation that holds the variable which a tensor is, or is the handle of, if any."""
    while tensor.op.definition.passes_ref and tensor.op._inputs_val:
        tensor = tensor.op._inputs_val[0]
    op = tensor.op
    if op._inputs_val:
        return None
    is_handle = tensor.dtype == dtypes.resource and op.definition.transfer == "value"
    return op if is_handle or tensor.dtype._is_ref_dtype else None
