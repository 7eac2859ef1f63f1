# SPDX-License-Identifier: Apache-2.0
"""Orders what a run needs into stages, so that the master carries tensors between tasks itself.

An operation's stage is how often tensors have changed tasks on the way to it: parameters are read
in the first, a worker's gradients are made in the second, applied in the third.  Within a stage
tasks need nothing of each other.  Each task's share of a stage is asked for by one call, which
brings and takes all tensors: fewer messages than one for each of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from ...engine.record_class import record
from ...engine.types import dtypes
from .partition import between
from .rendezvous import task_of

if TYPE_CHECKING:
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor

# Larger tensors cross by themselves, in fewer copies; of those that stay with a task, even smaller
# ones are better left there.
_LARGE = 16 << 20
_SMALL = 1 << 16
_MOST = 8  # stages
# Loops and arrays of tensors are not followed.
_MEETING = "Collective"
_ROLES = ("", "wait", "switch", "merge")


@record
class Stage:
    """Operations with their devices, what others give them, and what they give."""

    devices: dict[Operation, str] = field(default_factory=dict)
    feeds: dict[Tensor, None] = field(default_factory=dict)
    fetches: dict[Tensor, None] = field(default_factory=dict)


def staged(
    devices: Mapping[Operation, str], feeds: Sequence[Tensor], fetches: Sequence[Tensor]
) -> list[Stage] | None:
    """The stages of a run; None where its tasks had better speak to each other.

    devices: of the operations, in the order of the run.
    """
    if any(op.definition.control_flow_role not in _ROLES for op in devices):
        return None
    if any(op.type.startswith(_MEETING) for op in devices):
        # Its members wait for each other, whatever their stages are.
        return None
    work = _Stages(devices, set(feeds))
    if not work.is_sound():
        return None
    return work.made(fetches)


class _Stages:
    """One call of `staged`."""

    def __init__(self, devices: Mapping[Operation, str], fed: set[Tensor]) -> None:
        self.devices, self.fed = devices, fed
        self.task = {op: task_of(device) for op, device in devices.items()}
        self.free = {op for op in devices if is_free(op)}
        self.stage: dict[Operation, int] = {}
        for op in devices:
            before = [t.op for t in op._inputs_val if t not in fed]
            before += [other for other in op._control_inputs_val if other in devices]
            self.stage[op] = max((self._after(other, op) for other in before), default=0)
        self.count = max(self.stage.values(), default=0) + 1
        self._sink()

    def _sink(self) -> None:
        """Moves what only computes to the stage that needs it, so that fewer stages have parts."""
        movable: set[Operation] = set()
        limit: dict[Operation, int] = {}
        for op in self.devices:
            if _computes(op) and all(
                t in self.fed
                or t.op in self.free
                or t.op in movable
                or self.task[t.op] != self.task[op]
                for t in op._inputs_val
            ):
                movable.add(op)
        for op in reversed(list(self.devices)):
            if op in movable and op in limit:
                self.stage[op] = max(self.stage[op], limit[op])
            before = [t.op for t in op._inputs_val if t not in self.fed]
            for other in (*before, *op._control_inputs_val):
                if other in self.devices:
                    latest = self.stage[op] - (self.task[other] != self.task[op])
                    limit[other] = min(limit.get(other, latest), latest)

    def _after(self, other: Operation, op: Operation) -> int:
        return self.stage[other] + (self.task[other] != self.task[op])

    def _crossing(self) -> list[tuple[Tensor, Operation]]:
        """Tensors that come from elsewhere, another task or stage, with who takes them."""
        return [
            (tensor, op)
            for op in self.devices
            for tensor in op._inputs_val
            if tensor not in self.fed and self._is_elsewhere(tensor, op)
        ]

    def _is_elsewhere(self, tensor: Tensor, op: Operation) -> bool:
        other = tensor.op
        if self.task[other] != self.task[op]:
            return True
        # What takes nothing is made again wherever it is used.
        return other not in self.free and self.stage[other] != self.stage[op]

    def is_sound(self) -> bool:
        """Whether stages mean what the graph does, at no more cost."""
        if self.count > _MOST or not self._waits_hold_up_nobody() or self._cuts_branches():
            return False
        for tensor, op in self._crossing():
            is_at_home = self.task[tensor.op] == self.task[op]
            if tensor.dtype.base_dtype in (dtypes.resource, dtypes.variant):
                return False
            if is_at_home and tensor.dtype._is_ref_dtype:
                return False
            count = tensor.shape.num_elements()
            size = 0 if count is None else count * (tensor.dtype.base_dtype.size or 1)
            if size > _LARGE or (is_at_home and (count is None or size > _SMALL)):
                return False
        return True

    def _cuts_branches(self) -> bool:
        """Whether what a branch makes, which may be nothing, would be taken elsewhere."""
        inside = between(self.devices)
        return any(
            other in inside and self._place(other) != self._place(op)
            for op in self.devices
            for other in (*(t.op for t in op._inputs_val), *op._control_inputs_val)
        )

    def _place(self, op: Operation) -> tuple[str, int]:
        return self.task[op], self.stage[op]

    def _waits_hold_up_nobody(self) -> bool:
        """Whether all that comes in later stages than an operation that waits depends on it."""
        for waiting in self.devices:
            if waiting.definition.control_flow_role != "wait":
                continue
            behind = {waiting}
            for op in self.devices:
                sources = {*(t.op for t in op._inputs_val), *op._control_inputs_val}
                if not behind.isdisjoint(sources):
                    behind.add(op)
                elif self.stage[op] > self.stage[waiting] and op not in self.free:
                    return False
        return True

    def made(self, fetches: Sequence[Tensor]) -> list[Stage]:
        """The stages."""
        members: list[set[Operation]] = [set() for _ in range(self.count)]
        for op in self.devices:
            if op not in self.free:
                members[self.stage[op]].add(op)
        stages = [Stage() for _ in range(self.count)]
        for tensor in fetches:
            if tensor not in self.fed:
                members[self.stage[tensor.op]].add(tensor.op)
                stages[self.stage[tensor.op]].fetches[tensor] = None
        for tensor, op in self._crossing():
            stages[self.stage[op]].feeds[tensor] = None
            members[self.stage[tensor.op]].add(tensor.op)
            stages[self.stage[tensor.op]].fetches[tensor] = None
        for number, stage in enumerate(stages):
            for op in list(members[number]):
                used = [t.op for t in op._inputs_val if t not in self.fed]
                used += op._control_inputs_val
                members[number].update(
                    o for o in used if o in self.free and self.task[o] == self.task[op]
                )
            stage.devices = {op: at for op, at in self.devices.items() if op in members[number]}
            for op in stage.devices:
                stage.feeds.update((t, None) for t in op._inputs_val if t in self.fed)
        return stages


def _computes(op: Operation) -> bool:
    """Does an operation give a function of values, and nothing else?"""
    definition = op.definition
    if definition.is_stateful or definition.control_flow_role or op._control_inputs_val:
        return False
    if definition.is_fed:
        return False
    tensors = (*op._inputs_val, *op.outputs)
    return not any(t.dtype._is_ref_dtype or t.dtype == dtypes.resource for t in tensors)


def is_free(op: Operation) -> bool:
    """Does an operation take nothing, and give the same whenever it runs?"""
    if op._inputs_val or op._control_inputs_val or not op.outputs:
        return False
    if op.definition.control_flow_role or op.definition.is_fed:
        return False
    makes_state = all(t.dtype._is_ref_dtype or t.dtype == dtypes.resource for t in op.outputs)
    return makes_state or not op.definition.is_stateful
