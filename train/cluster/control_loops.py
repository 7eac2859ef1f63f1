# SPDX-License-Identifier: Apache-2.0
"""Loops whose operations are on several tasks: which tasks take part, and how they count along.

A task that takes a tensor of another one within a loop has to know whether there is one more
iteration.  It gets a control loop of the same frame, of nodes that compute nothing: it goes on for
as long as the loop's own condition, which is sent to it in each iteration, and begins whatever the
task takes in that iteration.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ...engine import errors
from ...engine.record_class import record
from ...io import protos
from .rendezvous import task_of

if TYPE_CHECKING:
    from ...engine.graph.operation import Operation

_CONDITION = "LoopCond"
# In each loop's frame: the name of it and of those around it.
Frame = tuple[str, ...]


class Frames:
    """In which loops operations take their inputs, and give their outputs."""

    def __init__(self, operations: Mapping[Operation, str]) -> None:
        """operations: of a run, in its order."""
        self.conditions: dict[Frame, Operation] = {}
        self.parallel: dict[Frame, int] = {}
        self._takes: dict[Operation, Frame] = {}
        self._gives: dict[Operation, Frame] = {}
        for op in operations:
            sources = [t.op for t in op._inputs_val] + list(op._control_inputs_val)
            known = [self._gives[other] for other in sources if other in self._gives]
            frame = given = max(known, key=len, default=())
            role = op.definition.control_flow_role
            if role == "enter":
                given = (*frame, op.attr("frame_name"))
                self.parallel[given] = op.attr("parallel_iterations")
            elif role == "exit":
                given = frame[:-1]
            elif op.type == _CONDITION:
                self.conditions[frame] = op
            self._takes[op], self._gives[op] = frame, given

    def of_edge(self, source: Operation, op: Operation) -> Frame:
        """The loops that an edge is in; () where it is in none."""
        frame = self._gives.get(source, ())
        return frame if frame == self._takes.get(op, ()) else ()


def settled(devices: Mapping[Operation, str]) -> dict[Operation, str]:
    """Devices of a run's operations, with what begins and ends iterations on one task each.

    A tensor crosses within an iteration: what enters a loop or goes on to the next iteration is
    where it is taken, what leaves is where it was made.
    """
    found = dict(devices)
    taken: dict[Operation, Operation] = {}
    for op in devices:
        for tensor in op._inputs_val:
            taken.setdefault(tensor.op, op)
        if op.definition.control_flow_role == "exit" and op._inputs_val[0].op in found:
            found[op] = found[op._inputs_val[0].op]
    for op in devices:
        role = op.definition.control_flow_role
        moves = role == "next" or (role == "enter" and not _refers(op))
        if moves and op in taken:
            found[op] = found[taken[op]]
    return found


def _refers(op: Operation) -> bool:
    return any(t.dtype._is_ref_dtype for t in op._inputs_val)


@record
class ControlLoop:
    """The names of its nodes that others need."""

    enter: Any
    merge: str


class ControlLoops:
    """The control loops of one run."""

    def __init__(
        self,
        frames: Frames,
        name: Callable[[str], str],
        add: Callable[[str, Any], None],
        take: Callable[[Operation, str, str], str],
    ) -> None:
        """name(base) -> a new name; add(device, node): to the part of a device.

        take(condition, device, trigger) -> the name of a loop's condition in a device's part.
        """
        self._frames, self._name, self._add, self._take = frames, name, add, take
        self._made: dict[tuple[Frame, str], ControlLoop] = {}

    def trigger(self, frame: Frame, device: str) -> str | None:
        """What begins an iteration's takings on a device; None outside of loops."""
        return self._loop(frame, device).merge if frame else None

    def _loop(self, frame: Frame, device: str) -> ControlLoop:
        key = (frame, task_of(device))
        found = self._made.get(key)
        if found is None:
            condition = self._frames.conditions.get(frame)
            if condition is None:
                raise errors.invalid(
                    f"A cross-device loop must have a pivot predicate: {frame[-1]}"
                )
            found = self._made[key] = self._begun(frame, device)
            self._close(found, frame, condition, device)
        return found

    def _begun(self, frame: Frame, device: str) -> ControlLoop:
        """The enter and merge; what the enter takes is there once the loops around it are."""
        enter = self._node("Enter", device, [self._start(frame[:-1], device)])
        enter.attr["frame_name"].s = frame[-1].encode()
        enter.attr["parallel_iterations"].i = self._frames.parallel[frame]
        enter.attr["is_constant"].b = False
        self._add(device, enter)
        return ControlLoop(enter, self._name("_cloop"))

    def _close(self, loop: ControlLoop, frame: Frame, condition: Operation, device: str) -> None:
        following = self._name("_cloop")
        merge = self._node("Merge", device, [loop.enter.name, following], loop.merge)
        merge.attr["N"].i = 2
        self._add(device, merge)
        wanted = self._take(condition, device, loop.merge)
        switch = self._node("Switch", device, [loop.merge, wanted])
        self._add(device, switch)
        self._add(device, self._node("NextIteration", device, [f"{switch.name}:1"], following))

    def _start(self, around: Frame, device: str) -> str:
        if around:
            return self._loop(around, device).merge
        node = protos.NodeDef(op="Const", device=device, name=self._name("_cloop"))
        node.attr["dtype"].type = protos.DT_FLOAT
        node.attr["value"].tensor.dtype = protos.DT_FLOAT
        node.attr["value"].tensor.tensor_shape.dim.add(size=0)
        self._add(device, node)
        return node.name

    def _node(self, kind: str, device: str, inputs: list[str], name: str = "") -> Any:
        node = protos.NodeDef(op=kind, device=device, input=inputs)
        node.name = name or self._name("_cloop")
        node.attr["T"].type = protos.DT_FLOAT
        return node
