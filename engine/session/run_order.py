# SPDX-License-Identifier: Apache-2.0
"""Which operations a run needs, and in which order they run.

They run in order of creation, so that a program means one thing; but for reads and changes of a
reference variable that nothing in the graph orders.  A network that is applied twice and changes a
variable each time (the power iteration of a spectral norm) would read the second time what the
first has left.  TensorFlow starts whatever is ready, so that both read what was there before the
run: a read that lies fewer operations from the start than a change comes before it.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import dropwhile

from .. import errors
from ..graph.operation import Operation, arg_length
from ..graph.registry import OpDef
from ..graph.tensor import Tensor

Edges = Mapping[Operation, Sequence[Operation]]


def needed_operations(
    fetches: Iterable[Tensor], targets: Iterable[Operation], feeds: Iterable[Tensor]
) -> list[Operation]:
    """The operations to run, in order: that of creation but for edges that point back, and reads
    that come before a change (`early_reads`)."""
    fed = set(feeds)
    # A placeholder that is fed does not run, even where something waits for it.
    skipped = {t.op for t in fed if t.op.definition.test.get("feed_only")}
    pending = [t.op for t in fetches if t not in fed]
    pending += [op for op in targets if op not in skipped]
    seen = set(pending)
    while pending:
        op = pending.pop()
        for other in _predecessors(op, fed, skipped):
            if other not in seen:
                seen.add(other)
                pending.append(other)
    return _ordered(sorted(seen, key=lambda op: op._id), fed, skipped)


def _predecessors(op: Operation, fed: set[Tensor], skipped: set[Operation]) -> list[Operation]:
    result = [t.op for t in op._inputs_val if t not in fed]
    result += [other for other in op._control_inputs_val if other not in skipped]
    return result


def _ordered(ops: list[Operation], fed: set[Tensor], skipped: set[Operation]) -> list[Operation]:
    before = {op: _predecessors(op, fed, skipped) for op in ops}
    # As in nearly all graphs nodes take what was there before them.
    if any(other._id > op._id for op in ops for other in before[op]):
        # What a loop sends back is for its next iteration.
        for op in ops:
            before[op] = [
                o for o in before[op] if o.definition.control_flow_role != "next" or o._id < op._id
            ]
        ops = _sorted(ops, before)
    early = early_reads(ops, before)
    for read, change in early:
        before[change].append(read)
    return _sorted(ops, before) if early else ops


def _sorted(ops: list[Operation], before: Edges) -> list[Operation]:
    """The operations, each behind those before it, and else in order of creation."""
    waiting = {op: len(set(before[op])) for op in ops}
    after: dict[Operation, list[Operation]] = {op: [] for op in ops}
    for op in ops:
        for other in set(before[op]):
            after[other].append(op)
    by_id = {op._id: op for op in ops}
    ready = [op._id for op in ops if not waiting[op]]
    heapq.heapify(ready)
    result = []
    while ready:
        op = by_id[heapq.heappop(ready)]
        result.append(op)
        for other in after[op]:
            waiting[other] -= 1
            if not waiting[other]:
                heapq.heappush(ready, other._id)
    if len(result) < len(ops):
        stuck = sorted(op.name for op in ops if waiting[op])
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


def early_reads(ops: Sequence[Operation], before: Edges) -> list[tuple[Operation, Operation]]:
    """Pairs of a read and a change made before it that the read is to precede.

    Args:
        ops: those of a run, each behind all that it waits for.
        before: what each waits for.
    """
    late = [pair for pair in _late_reads(ops) if not any(map(_in_context, pair))]
    if not late:
        return []
    depth: dict[Operation, int] = {}
    for op in ops:
        depth[op] = 1 + max((depth.get(other, 0) for other in before[op]), default=0)
    # Whoever waits for a change lies farther from the start than it: no circle can come of it.
    return [(read, change) for read, change in late if depth[read] < depth[change]]


def _in_context(op: Operation) -> bool:
    """Is it in a loop or branch?  There no operation has one distance from the start."""
    return op._get_control_flow_context() is not None


def _late_reads(ops: Sequence[Operation]) -> Iterator[tuple[Operation, Operation]]:
    """Reads that come behind a change of the same variable, with the change."""
    changes: dict[Operation, list[Operation]] = {}
    # Most changes are a run's last operations.
    for op in dropwhile(lambda op: not _takes_variable(op.definition), ops):
        if op.definition.passes_ref:
            continue
        held = [_variable(tensor) for tensor in op._inputs_val]
        if not any(held):
            continue
        for variable, is_given in zip(held, reference_flags(op), strict=True):
            if variable is not None and not is_given:
                yield from ((op, change) for change in changes.get(variable, ()))
            elif variable is not None and any(arg.is_ref for arg in op.definition.outputs):
                changes.setdefault(variable, []).append(op)


def _takes_variable(definition: OpDef) -> bool:
    return not definition.passes_ref and any(arg.is_ref for arg in definition.inputs)


def _variable(tensor: Tensor) -> Operation | None:
    """The operation that holds the variable which a tensor is, if it is one."""
    while tensor.op.definition.passes_ref and tensor.op._inputs_val:
        tensor = tensor.op._inputs_val[0]
    return tensor.op if tensor.dtype._is_ref_dtype and not tensor.op._inputs_val else None
