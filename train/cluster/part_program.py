# SPDX-License-Identifier: Apache-2.0
"""Runs a part of a graph whose conditionals and loops are on several tasks.

What a branch does not make crosses as a dead tensor, so what sends and takes runs though it is dead
itself.  In a loop a tensor crosses once in each iteration, under a key that names the iteration.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...engine.session.dataflow import FlowProgram, FlowRun, Node, Outside, Watch
from ...engine.session.futures import DEAD, Future
from ...engine.session.interpreter import located
from ...ops.strings.hash import hash64
from .rendezvous import OUTSIDE

if TYPE_CHECKING:
    from ...engine.graph.graph import Graph
    from ...engine.graph.operation import Operation

SENDS, RECEIVES = ("_Send", "_HostSend"), ("_Recv", "_HostRecv")
# Of a node that takes a tensor of another task, which may be dead: noted by masters of this
# package (names that begin with an underline are nobody else's concern).
MAY_BE_DEAD = "_may_be_dead"
_BEGINNING, _ENDING = ("switch", "enter"), ("merge", "exit")


def crosses_within(graph: Graph) -> bool:
    """Whether a part has conditionals or loops that are on other tasks, too."""
    inside: set[Operation] = set()
    for op in graph.get_operations():
        role = op.definition.control_flow_role
        is_inside = role in _BEGINNING or bool(op._attrs.get(MAY_BE_DEAD))
        if role not in _ENDING:
            sources = [t.op for t in op._inputs_val] + list(op._control_inputs_val)
            is_inside = is_inside or any(source in inside for source in sources)
        elif role == "merge":
            # Of a loop: what depends on it runs in each iteration.
            is_inside = any(t.op.definition.control_flow_role == "enter" for t in op._inputs_val)
        if is_inside:
            inside.add(op)
            if op.type in (*SENDS, *RECEIVES):
                return True
    return False


class PartRun(FlowRun):
    """One run of a part."""

    def __init__(self, program: FlowProgram, values: list[Any], watch: Watch | None) -> None:
        # By frame: its name, with the iterations of those around it, and its own iteration.
        self._names = [""] * len(program.frames)
        self._iterations = [0] * len(program.frames)
        super().__init__(program, values, watch)

    def _begin_frame(self, frame: int, parent: int) -> None:
        own = self.frames[frame].name
        self._names[frame] = f"{self._names[parent]};{self._iterations[parent]};{own}"
        self._iterations[frame] = 0
        super()._begin_frame(frame, parent)

    def _iterate(self, number: int, frame: Any) -> None:
        self._iterations[number] += 1
        super()._iterate(number, frame)

    def _turn(self, frame: int) -> str:
        """Frame and iteration, as keys name them."""
        if not frame:
            return OUTSIDE
        return f"{hash64(self._names[frame].encode())}:{self._iterations[frame]}"

    def _begin(self, i: int, node: Node, is_dead: bool) -> bool:
        op = node.step.op
        if isinstance(node.step, Outside):
            return super()._begin(i, node, is_dead)
        if op.type in SENDS:
            self._send(node, is_dead)
            return True
        if op.type in RECEIVES:
            return self._receive(i, node)
        return super()._begin(i, node, is_dead)

    def _transfers(self) -> Any:
        return self.program.session.transfers

    def _send(self, node: Node, is_dead: bool) -> None:
        step, turn = node.step, self._turn(node.frame)
        start = self._now()
        try:
            value = DEAD if is_dead else step.inputs(self.values)[0]
            self._transfers().send(step.op, value, turn)
        except Exception as error:
            raise located(error, step.op) from error
        self._note(step, start)
        self._deliver(node.all, is_dead, False)

    def _receive(self, i: int, node: Node) -> bool:
        start = self._now()
        pending = self._transfers().receive(node.step.op, self._turn(node.frame))
        if pending.is_done:
            self._take(node, pending, start)
            return True
        self._wait(i, start, pending)
        return False

    def _take(self, node: Node, pending: Future, start: int) -> None:
        is_dead = pending.error is None and pending.result is DEAD
        if not is_dead:
            node.step.end(self.values, pending)
        self._note(node.step, start)
        self._deliver(node.all, is_dead, False)

    def resume(self, key: tuple[int, int], pending: Future) -> None:
        """Goes on behind a tensor that has come, or anything else that was waited for."""
        i, start = key
        node = self.nodes[i]
        if node.step.op.type not in RECEIVES:
            super().resume(key, pending)
            return
        self._take(node, pending, start)
        self._leave(node)
        self._execute()


class PartProgram(FlowProgram):
    """A part of a graph, prepared for the session of its task."""

    run_class = PartRun
