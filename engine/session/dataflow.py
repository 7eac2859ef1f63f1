# SPDX-License-Identifier: Apache-2.0
"""Runs a part of a graph that has branches and loops: an operation runs when its inputs are there.

Values that nobody computes (the branch not taken) travel as "dead".  A loop body is a frame; one
iteration of it ends before the next begins, and among what is ready the oldest operation runs
first, so that a program means one thing.  Knows the roles of operations, never their names.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import errors
from ..graph.operation import Operation
from ..graph.tensor import Tensor
from ..stopping import check_session
from .futures import Future, FutureSet, release_all
from .interpreter import Program, Step, fetched, located
from .state import VariableStorage

if TYPE_CHECKING:
    from .session import BaseSession

Watch = Callable[[Step, int, int], None]
Resume = Callable[[Any, Future], None]


class Targets(NamedTuple):
    """What waits for an output: operations (and how often), merges and their control inputs."""

    plain: list[tuple[int, int]]
    merges: list[tuple[int, int]]
    merge_controls: list[int]


class Node:
    """One operation, prepared: its role and frame, what it waits for and what waits for it."""

    __slots__ = ("step", "role", "frame", "need", "arity", "all", "branches", "child", "constant")

    def __init__(self, step: Step, role: str, frame: int, need: int) -> None:
        self.step = step
        self.role = role
        self.frame = frame
        # Inputs and control inputs to wait for; of a merge, the control inputs.
        self.need = need
        self.arity = len(step.op._inputs_val)
        self.all = Targets([], [], [])
        # Of a switch: what waits for each output; its control outputs are with the last.
        self.branches: list[Targets] = []
        self.child = -1
        self.constant = False


class Frame:
    """A loop body (or, number 0, the graph outside of all loops)."""

    __slots__ = ("name", "parent", "nodes", "enters", "constants", "again")

    def __init__(self, name: str, parent: int) -> None:
        self.name = name
        self.parent = parent
        self.nodes: list[int] = []
        self.enters = 0
        # The nodes whose value is the same in all iterations.
        self.constants: list[int] = []
        # What each node waits for in later iterations, when the constants are there.
        self.again: list[tuple[int, int]] = []


class Outside(Step):
    """An operation that somebody else runs, outside of all branches and loops.

    A run waits for the Future that it finds in `slot`, for a list of all outputs.  There is none
    where they were stored before it began.
    """

    __slots__ = ("slot",)

    def __init__(self, op: Operation, slots: dict[Tensor, int], slot: int) -> None:
        self.op, self.slot = op, slot
        self.sources, self.free = [], []
        self.first = slots[op.outputs[0]] if op.outputs else 0
        self.count = len(op.outputs)

    def begin(self, values: list[Any]) -> Future | None:
        """What a run waits for."""
        pending: Future | None = values[self.slot]
        return pending

    def store(self, values: list[Any], result: Any) -> None:
        """Puts what was given where it belongs."""
        values[self.first : self.first + self.count] = result


class FlowProgram(Program):
    """The needed part of a graph with control flow, prepared for one session."""

    __slots__ = ("nodes", "frames", "uses", "outside", "_starts", "_fed_merges")
    # What makes a run: (program, values, watch).
    run_class: type[FlowRun]

    def __init__(
        self,
        session: BaseSession,
        ops: Sequence[Operation],
        fetches: Sequence[Tensor],
        feeds: Sequence[Tensor],
        outside: Collection[Operation] = (),
    ) -> None:
        """outside: those of `ops` that others run, and give the results of (see `Outside`)."""
        self.session = session
        slots: dict[Tensor, int] = {}
        for op in ops:
            for tensor in op.outputs:
                slots[tensor] = len(slots)
        first = {op: slots[op.outputs[0]] if op.outputs else 0 for op in ops}
        self.feed_slots = list(range(len(slots), len(slots) + len(feeds)))
        fed = dict(zip(feeds, self.feed_slots))
        self.size = len(slots) + len(fed)
        slots.update(fed)
        self.fetch_slots = [slots[t] for t in fetches]
        self.fetches = list(fetches)
        self.outside = {op: Outside(op, slots, self.size + i) for i, op in enumerate(outside)}
        self.size += len(self.outside)
        self.steps = [self.outside.get(op) or self._step(session, op, slots) for op in ops]
        for step in self.steps:
            step.first = first[step.op]
        self.frames = [Frame("", -1)]
        self.nodes = _nodes(self.steps, set(fed), self.frames)
        self._connect(set(fed))
        self.uses = self._count_uses()

    def _count_uses(self) -> list[int]:
        """How often each slot is read, outside of all loops; 0 for what must stay to the end."""
        uses = [0] * self.size
        # How often something in a loop reads it is not known: that stays, and so does what comes in
        # or out.
        kept = {*self.fetch_slots, *self.feed_slots}
        for node in self.nodes:
            for slot, _ in node.step.sources:
                uses[slot] += 1
                if node.frame:
                    kept.add(slot)
            if node.role in ("enter", "exit"):
                kept.update(range(node.step.first, node.step.first + node.step.count))
        for slot in kept:
            uses[slot] = 0
        return uses

    def _connect(self, fed: set[Tensor]) -> None:
        number = {node.step.op: i for i, node in enumerate(self.nodes)}
        self._fed_merges: list[tuple[int, int]] = []
        for i, node in enumerate(self.nodes):
            op = node.step.op
            if op in self.outside:
                continue
            for position, tensor in enumerate(op._inputs_val):
                if tensor in fed:
                    if node.role == "merge":
                        self._fed_merges.append((i, position))
                    continue
                self._edge(self.nodes[number[tensor.op]], tensor.value_index, node, i, position)
            for other in op._control_inputs_val:
                if other in number:
                    self._edge(self.nodes[number[other]], None, node, i, None)
        for i, node in enumerate(self.nodes):
            self.frames[node.frame].nodes.append(i)
        for frame in self.frames:
            self._later_needs(frame)
        self._starts = [i for i, n in enumerate(self.nodes) if not n.need and n.role != "merge"]

    @staticmethod
    def _edge(source: Node, output: int | None, node: Node, i: int, position: int | None) -> None:
        # (`all` is for a switch that is dead itself, and kills both sides.)
        groups = [source.all]
        if source.role == "switch":
            while len(source.branches) < 3:
                source.branches.append(Targets([], [], []))
            groups.append(source.branches[2 if output is None else output])
        for group in groups:
            if node.role != "merge":
                _count(group.plain, i)
            elif position is None:
                group.merge_controls.append(i)
            else:
                group.merges.append((i, position))

    def _later_needs(self, frame: Frame) -> None:
        given: dict[int, int] = {}
        for constant in frame.constants:
            targets = self.nodes[constant].all
            for i, count in targets.plain:
                given[i] = given.get(i, 0) + count
            for i in targets.merge_controls:
                given[i] = given.get(i, 0) + 1
        # Constants come once, and are there in all later iterations.
        frame.again = [(i, self.nodes[i].need - given.get(i, 0)) for i in frame.nodes]

    def _run(self, feeds: Sequence[Any]) -> list[Any]:
        values = self.start(feeds)
        self.execute(values)
        return self.results(values)

    def results(self, values: list[Any]) -> list[Any]:
        """The fetched values; InvalidArgumentError for one on a branch that was not taken."""
        for position, slot in enumerate(self.fetch_slots):
            if values[slot] is None:
                raise errors.invalid(f"Retval[{position}] does not have value")
        return [fetched(values[slot], t) for slot, t in zip(self.fetch_slots, self.fetches)]

    def execute(self, values: list[Any], watch: Watch | None = None) -> None:
        """Runs everything; `watch` is told of every operation and when it ran."""
        self.run_class(self, values, watch).execute()

    def begin(self, values: list[Any], waits: Any) -> Resume:
        """Runs what need not wait; `waits.add(key, pending)` is told what the rest waits for.

        Returns what goes on with each of them, once it is settled: a function of key and Future.
        """
        run = self.run_class(self, values, None)
        run.waits = waits
        run._execute()
        return run.resume


def _count(plain: list[tuple[int, int]], i: int) -> None:
    if plain and plain[-1][0] == i:
        # A node that takes an output twice comes twice in a row, as edges are made node by node.
        plain[-1] = (i, plain[-1][1] + 1)
    else:
        plain.append((i, 1))


def _nodes(steps: list[Step], fed: set[Tensor], frames: list[Frame]) -> list[Node]:
    """The nodes in order, each in its frame; fills `frames`."""
    frame_after: dict[Operation, int] = {}
    children: dict[tuple[int, str], int] = {}
    nodes: list[Node] = []
    present = {step.op for step in steps}
    for step in steps:
        op, role = step.op, step.op.definition.control_flow_role
        waits = [t.op for t in op._inputs_val if t not in fed]
        controls = [other for other in op._control_inputs_val if other in present]
        if isinstance(step, Outside):
            role, waits, controls = "wait", [], []
        frame = _frame_of(op, [*waits, *controls], frame_after, frames)
        node = Node(step, role, frame, len(controls) + (0 if role == "merge" else len(waits)))
        frame_after[op] = frame
        if role == "enter":
            key = (frame, op.attr("frame_name"))
            if key not in children:
                children[key] = len(frames)
                frames.append(Frame(key[1], frame))
            node.child = frame_after[op] = children[key]
            node.constant = bool(op.attr("is_constant"))
            frames[node.child].enters += 1
            if node.constant:
                frames[node.child].constants.append(len(nodes))
        elif role == "exit" and frame > 0:
            frame_after[op] = frames[frame].parent
        nodes.append(node)
    return nodes


def _frame_of(
    op: Operation, waits: list[Operation], after: dict[Operation, int], frames: list[Frame]
) -> int:
    # What comes back from an iteration is not there yet, and is of the same frame.
    known = [(other, after[other]) for other in waits if other in after]
    found = {frame for _, frame in known}
    if len(found) > 1:
        (a, frame_a), (b, frame_b) = known[0], next(k for k in known if k[1] != known[0][1])
        raise errors.InvalidArgumentError(
            None,
            op,
            f"{{{{node {op.name}}}}} has inputs from different frames. The input "
            f"{{{{node {a.name}}}}} is in frame '{frames[frame_a].name}'. The input "
            f"{{{{node {b.name}}}}} is in frame '{frames[frame_b].name}'.",
        )
    return known[0][1] if known else 0


class FlowRun:
    """The state of one run.  Of every frame at most one iteration is under way."""

    def __init__(self, program: FlowProgram, values: list[Any], watch: Watch | None) -> None:
        nodes, frames = program.nodes, program.frames
        self.program = program
        self.nodes, self.frames, self.values, self.watch = nodes, frames, values, watch
        self.pending = [node.need for node in nodes]
        self.dead = [0] * len(nodes)
        # Of a merge: the first live input.
        self.chosen = [-1] * len(nodes)
        self.heap = list(program._starts)
        self.uses = program.uses.copy()
        # By frame: what is ready or under way within, and the inputs that came.
        self.busy = [0] * len(frames)
        self.arrived = [0] * len(frames)
        self.active = [False] * len(frames)
        self.back: list[list[int]] = [[] for _ in frames]
        self.dead_exits: list[list[int]] = [[] for _ in frames]
        self.dead_constants: list[set[int]] = [set() for _ in frames]
        self.waits: FutureSet | None = None
        for i in self.heap:
            self.busy[nodes[i].frame] += 1
        for i, position in program._fed_merges:
            self._to_merge(i, position, False, False)

    def execute(self) -> None:
        try:
            self._execute()
            while self.waits:
                self.resume(*self.waits.next())
        except BaseException:
            release_all(self.values)
            raise
        finally:
            if self.waits is not None:
                self.waits.close()

    def resume(self, key: tuple[int, int], pending: Future) -> None:
        """Goes on behind an operation that need not wait any more."""
        i, start = key
        node = self.nodes[i]
        node.step.end(self.values, pending)
        self._note(node.step, start)
        self._deliver(node.all, False, False)
        self._leave(node)
        self._execute()

    def _execute(self) -> None:
        """Runs until nothing is ready."""
        heap, nodes, session = self.heap, self.nodes, self.program.session
        while heap:
            check_session(session)
            # The oldest of what is ready: random numbers, prints and assignments come in one order.
            i = heapq.heappop(heap)
            node = nodes[i]
            # A merge is dead if no input lives, anything else if one does not.
            is_dead = self.chosen[i] < 0 if node.role == "merge" else bool(self.dead[i])
            if self._begin(i, node, is_dead):
                self._leave(node)

    def _begin(self, i: int, node: Node, is_dead: bool) -> bool:
        """Runs an operation, or passes on that it is dead; whether it is over."""
        if is_dead:
            self._pass_dead(i, node)
        elif node.role == "wait":
            return not self._begin_wait(i, node)
        else:
            self._run(i, node)
        return True

    def _leave(self, node: Node) -> None:
        frame = node.frame
        # In a loop the same slot is needed again in the next iteration.
        if not frame:
            self._release(node.step)
        self.busy[frame] -= 1
        if not self.busy[frame]:
            self._rest(frame)

    def _begin_wait(self, i: int, node: Node) -> bool:
        """Runs an operation that may have to wait; whether it does."""
        start = self._now()
        pending = node.step.begin(self.values)
        if pending is None:
            self._note(node.step, start)
            self._deliver(node.all, False, False)
            return False
        self._wait(i, start, pending)
        return True

    def _wait(self, i: int, start: int, pending: Future) -> None:
        if self.waits is None:
            self.waits = FutureSet(self.program.session)
        self.waits.add((i, start), pending)

    def _now(self) -> int:
        """The time, if somebody wants to know it."""
        return time.time_ns() if self.watch is not None else 0

    def _note(self, step: Step, start: int) -> None:
        if self.watch is not None:
            self.watch(step, start, time.time_ns())

    def _release(self, step: Step) -> None:
        """Drops the values that nothing reads any more."""
        uses = self.uses
        for slot, _ in step.sources:
            if uses[slot] == 1:
                self.values[slot] = None
            uses[slot] -= 1

    def _run(self, i: int, node: Node) -> None:
        step, role = node.step, node.role
        start = self._now()
        if role == "switch":
            taken = self._switch(step)
        elif role == "merge":
            self._merge(i, step)
        else:
            step.run(self.values)
        self._note(step, start)
        if role == "switch":
            self._deliver_switch(node, taken)
        elif role == "next":
            self.back[node.frame].append(i)
        elif role == "enter":
            self._enter(i, node, False)
        else:
            self._deliver(node.all, False, False)

    def _pass_dead(self, i: int, node: Node) -> None:
        role = node.role
        if role == "trigger":
            self._deliver(node.all, False, False)
        elif role == "enter":
            self._enter(i, node, True)
        elif role == "exit" and node.frame:
            self.dead_exits[node.frame].append(i)
        elif role != "next":
            self._deliver(node.all, True, False)

    # Branches

    def _switch(self, step: Step) -> int:
        try:
            data, condition = step.inputs(self.values)
            if condition.ndim:
                raise errors.invalid(
                    "The second input must be a scalar, but it has shape "
                    f"{str(list(condition.shape)).replace(' ', '')}"
                )
        except Exception as error:
            raise located(error, step.op) from error
        taken = 1 if condition else 0
        self.values[step.first + taken] = data
        return taken

    def _deliver_switch(self, node: Node, taken: int) -> None:
        if node.branches:
            self._deliver(node.branches[1 - taken], True, False)
            self._deliver(node.branches[taken], False, False)
            self._deliver(node.branches[2], False, False)

    def _merge(self, i: int, step: Step) -> None:
        chosen = self.chosen[i]
        slot, keeps_reference = step.sources[chosen]
        value = self.values[slot]
        if isinstance(value, VariableStorage) and not keeps_reference:
            value = value.read()
        self.values[step.first] = value
        self.values[step.first + 1] = np.asarray(chosen, np.int32)

    # What waits

    def _deliver(self, targets: Targets, is_dead: bool, from_enter: bool) -> None:
        pending, dead, nodes = self.pending, self.dead, self.nodes
        for i, count in targets.plain:
            pending[i] -= count
            if is_dead:
                dead[i] = 1
            if not pending[i]:
                self.busy[nodes[i].frame] += 1
                heapq.heappush(self.heap, i)
        for i, position in targets.merges:
            self._to_merge(i, position, is_dead, from_enter)
        for i in targets.merge_controls:
            pending[i] -= 1
            # A merge waits for all its control inputs, but for one input that lives.
            if not pending[i] and (self.chosen[i] >= 0 or dead[i] == nodes[i].arity):
                self._ready(i)

    def _to_merge(self, i: int, position: int, is_dead: bool, from_enter: bool) -> None:
        if not is_dead:
            # The first that lives counts; of a loop that is what enters, and later what comes back.
            if self.chosen[i] < 0:
                self.chosen[i] = position
                if not self.pending[i]:
                    self._ready(i)
            return
        # A loop that is never entered sends nothing back.
        self.dead[i] = self.nodes[i].arity if from_enter else self.dead[i] + 1
        if self.dead[i] == self.nodes[i].arity and not self.pending[i] and self.chosen[i] < 0:
            self._ready(i)

    def _ready(self, i: int) -> None:
        self.busy[self.nodes[i].frame] += 1
        heapq.heappush(self.heap, i)

    # Loops

    def _enter(self, i: int, node: Node, is_dead: bool) -> None:
        child = node.child
        if not self.active[child]:
            self._begin_frame(child, node.frame)
        if is_dead and node.constant:
            self.dead_constants[child].add(i)
        self._deliver(node.all, is_dead, True)
        self.arrived[child] += 1
        if not self.busy[child]:
            self._rest(child)

    def _begin_frame(self, frame: int, parent: int) -> None:
        self.active[frame] = True
        # The loop as a whole is under way in the frame around it, which must not end before.
        self.busy[parent] += 1
        self.busy[frame] = self.arrived[frame] = 0
        self.back[frame], self.dead_exits[frame] = [], []
        self.dead_constants[frame] = set()
        for i in self.frames[frame].nodes:
            self.pending[i] = self.nodes[i].need
            self.dead[i] = 0
            self.chosen[i] = -1

    def _rest(self, number: int) -> None:
        """Nothing runs in a frame: the next iteration begins, or the loop has ended."""
        frame = self.frames[number]
        # Not before all that enters is there: the first iteration may still need it.
        if not number or not self.active[number] or self.arrived[number] < frame.enters:
            return
        while self.back[number]:
            self._iterate(number, frame)
            if self.busy[number]:
                return
        self.active[number] = False
        # Exits are dead in every iteration but the last; in that one too if the loop was never
        # entered.
        for i in self.dead_exits[number]:
            self._deliver(self.nodes[i].all, True, False)
        self.busy[frame.parent] -= 1
        if not self.busy[frame.parent]:
            self._rest(frame.parent)

    def _iterate(self, number: int, frame: Frame) -> None:
        back, self.back[number], self.dead_exits[number] = self.back[number], [], []
        pending, dead, chosen = self.pending, self.dead, self.chosen
        for i, need in frame.again:
            pending[i] = need
            dead[i] = 0
            chosen[i] = -1
            if not need and self.nodes[i].role != "merge":
                self._ready(i)
        for i in frame.constants:
            # The needs of later iterations have the constants counted already.
            if i in self.dead_constants[number]:
                for target, _ in self.nodes[i].all.plain:
                    dead[target] = 1
            for target, position in self.nodes[i].all.merges:
                self._to_merge(target, position, i in self.dead_constants[number], True)
        for i in back:
            self._deliver(self.nodes[i].all, False, False)


FlowProgram.run_class = FlowRun
