# SPDX-License-Identifier: Apache-2.0
"""Traces loops, and the branches in them and around them: a loop is a node with two programs.

What a loop carries lies in Registers, which are written like variables.
Imports the rest of jit's front end and the engine's op roles.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ..kernel.scalar import holds
from ..kernel.sizes import Unanswered, same_shape
from ..library.lists import List, entering
from ..library.of_run import OfRun
from ..program.editing import Program
from ..program.tensor_ir import (
    Captured,
    Handle,
    Loop,
    Value,
)
from .branches import Branches
from .builder import NotLowered, Unsettled
from .carriers import Carrier, Fixed, Held, Varies, Varying, changing
from .collecting import Collector, collector, collects, row_collector
from .counted import note_touched
from .forks import Side
from .loop_recovery import Frame, Unstructured, Variable, guard_of_all, structured
from .pieces import inside

if TYPE_CHECKING:
    pass


def trace_region(tracer: Any, operations: Sequence[Any]) -> str | None:
    """Adds operations that branch and loop to what a tracer has; if that fails, the reason why.

    Then nothing is added.  `Unsettled` and `Varies` are for the tracer to handle.
    """
    mark, values = tracer.program.last, dict(tracer.values)
    hosted = len(tracer.hosted)
    tracer.builder.is_closed = True
    try:
        flow = Flow(tracer)
        flow.run(structured(operations))
        _keep_inside(flow, operations)
        return None
    except (Unstructured, NotLowered, Unsettled, Unanswered, errors.OpError) as reason:
        # An error counts only if what is wrong runs at all.
        tracer.builder.rollback(mark)
        tracer.values = values
        del tracer.hosted[hosted:]
        if isinstance(reason, Unsettled):
            raise
        return str(reason).splitlines()[0]
    finally:
        tracer.program.guard, tracer.builder.is_closed = (), False


def _keep_inside(flow: Flow, operations: Sequence[Any]) -> None:
    """Refuses a region that hands out what is there under a condition: nobody else knows of it."""
    inside, present = set(operations), flow.tracer.segment.present
    partial = [op for op, guard in flow.guards.items() if guard and op in inside]
    outputs = (tensor for op in partial for tensor in op.outputs)
    tensors = [*flow.sides, *flow.forks.sides, *outputs]
    segment, values = flow.tracer.segment, flow.tracer.values
    wanted = set(segment.wanted(len(segment.operations)))
    for tensor in tensors:
        is_asked_for = tensor in wanted and tensor in flow.forks.sides
        if is_asked_for or any(u in present and u not in inside for u in tensor._consumers):
            raise Unstructured(f"'{tensor.name}' leaves its branch")
    for op in operations:
        for tensor in op.outputs:
            value = values.get(tensor)
            if value is None or not isinstance(value.cell, OfRun):
                continue
            users = (user for user in tensor._consumers if user in present)
            if tensor in wanted or any(user not in inside for user in users):
                raise Unstructured(f"'{tensor.name}' is a list or optional that others take")


class Flow(Branches):
    """Traces the operations of one frame: what is outside of all loops, a test or a body."""

    def _loop(self, frame: Frame) -> None:
        guard = guard_of_all(frame, self._guard_of)
        if guard is None:
            self.dead |= {*frame.exits, *(t for op in frame.exits for t in op.outputs)}
            return
        tracer = self.tracer
        self.program.guard, self.program.origin = guard, frame.condition
        carriers: list[Carrier] = []
        entered: list[Value] = []
        for variable in frame.variables:
            (value,) = self._inputs(variable.enter)
            carriers.append(self._carrier(variable, value))
            entered.append(value)
        loop = Loop((), Program(), Program())
        # (References are read within the loop: what turns assign is to be seen.)
        constants = {op: self._inputs(op, hands_on=True)[0] for op in frame.constants}
        # Two programs, since what the test needs and the body needs as well runs in both, and the
        # test runs once more than the body.
        parts = [_Part(self, loop, frame, carriers, constants) for _ in range(2)]
        loop.test, loop.body = (part.program for part in parts)
        parts[0].trace_test()
        parts[1].trace_body(tracer.builder)
        registers = [register for each in carriers for register in each.registers]
        note_touched(tracer.builder, loop, registers)
        self.program.add(loop)
        for variable, carrier, start in zip(frame.variables, carriers, entered):
            if variable.exits or (frame.after and variable.switch is not None):
                collected = parts[1].collected.get(variable)
                if collected is None:
                    value = carrier.take(tracer.builder)
                else:
                    value = collected.result(tracer.builder, start)
                for op in variable.exits:
                    tracer.values[op.outputs[0]] = value
                    self.guards[op] = guard
                if frame.after:
                    tracer.values[variable.switch.outputs[0]] = value
                    self.guards[variable.switch] = guard
        self._leave(frame, constants)

    def _carrier(self, variable: Variable, value: Value) -> Carrier:
        """Memory for what goes round, with what goes in."""
        b, name = self.tracer.builder, variable.enter.name
        if isinstance(value.cell, List):
            return Held(entering(b, value, variable.enter), variable.next)
        if value.cell is not None:
            raise Unstructured(f"'{name}' is a resource")
        axes, carrier = self.tracer.segment.varying.get(variable.enter), None
        carrier = Varying(b, name, value, axes) if axes else Fixed(self._register(name, value))
        carrier.put(b, value)
        return carrier

    def _leave(self, frame: Frame, constants: Mapping[Any, Value]) -> None:
        """Adds what runs between the last turn and an exit."""
        tracer = self.tracer
        if frame.after:
            tracer.values.update((op.outputs[0], value) for op, value in constants.items())
        self.run(frame.after)
        for op in frame.late_exits:
            self.forks.require_one(op)
            tracer.values[op.outputs[0]] = tracer.values[op._inputs_val[0]]
            self.guards[op] = self.guard(op._inputs_val[0])


class _Part(Flow):
    """The test or the body of a loop; a program of its own."""

    def __init__(
        self,
        outer: Flow,
        loop: Loop,
        frame: Frame,
        carriers: Sequence[Carrier],
        constants: dict[Any, Value],
    ) -> None:
        super().__init__(outer.tracer.inner())
        self.outer, self.loop, self.frame = outer, loop, frame
        self.program.origin = frame.condition
        self.carriers = carriers
        self._captured: dict[Value, Value] = {}
        self.collected: dict[Variable, Collector] = {}
        for op, value in constants.items():
            self.tracer.values[op.outputs[0]] = self._capture(value)

    def _capture(self, value: Value) -> Value:
        """A value from outside, for use within."""
        if value.cell is not None:
            if isinstance(value.cell, OfRun):
                value.cell.require_unspent(self.outer.tracer.builder)
            (handle,) = self.program.add(Handle(value.cell), (value.dtype, value.shape))
            handle.cell = value.cell
            return handle
        if not holds(value.dtype):
            raise Unstructured(f"a loop takes a value of type {value.dtype}")
        # Known contents go in as they are: shapes stay known within the loop.
        if value.known is not None:
            return self.tracer.builder.known_as(value.known, value.dtype)
        if value not in self._captured:
            source = Captured(self.loop, len(self.loop.inputs))
            self.loop.inputs += (value,)
            (self._captured[value],) = self.program.add(source, (value.dtype, value.shape))
        return self._captured[value]

    def _arrives(self, variable: Variable, carrier: Carrier) -> Value:
        """Reads what comes round.

        It is read first; if it is written before it is used for the last time it is copied
        (legalize.snapshot_reads), which makes variables that swap right.
        """
        value = carrier.take(self.tracer.builder)
        self.tracer.values[variable.merge.outputs[0]] = value
        if variable.switch is not None:
            self.tracer.values[variable.switch.outputs[1]] = value
        return value

    def _decided(self, pred: Value) -> bool | None:
        """A condition from outside is decided if the whole loop runs under it.

        The gradient of a loop in a branch asks in each turn for what was kept in that branch.
        """
        if pred.known is None and isinstance(pred.node, Captured):
            return self.outer._held(self.loop.inputs[pred.node.number])
        return super()._decided(pred)

    def trace_test(self) -> None:
        """Adds what decides whether the loop goes on."""
        seen = {t for item in self.frame.test for op in inside(item) for t in op._inputs_val}
        for variable, carrier in zip(self.frame.variables, self.carriers):
            # (What varies is copied, which most conditions have no need of.)
            if variable.merge.outputs[0] in seen:
                self._arrives(variable, carrier)
        self.run(self.frame.test)
        (pred,) = self._inputs(self.frame.condition)
        if pred.ndim or self._guard_of([self.frame.condition]) != ():
            raise Unstructured(f"'{self.frame.condition.name}' is no scalar")
        # (In memory of its own, where the jump looks.)
        self.program.fetches = [self._copied(pred)]

    def trace_body(self, outer: Any) -> None:
        """Adds one turn, at whose end all that goes round is written; outer: the builder around."""
        # A body runs only when the condition held.
        true = self.tracer.builder.constant(np.array(True))
        self.tracer.values[self.frame.condition.outputs[0]] = true
        carried = list(map(self._arrives, self.frame.variables, self.carriers))
        self.run(self.frame.body)
        # All results before the first write: one variable may take what another one has.
        results = []
        members = set(inside(self.frame))
        varies = False
        for variable, before in zip(self.frame.variables, carried):
            if self._guard_of([variable.next]) != ():
                raise Unstructured(f"'{variable.next.name}' does not always come round")
            sides = self.forks.sides.get(variable.next._inputs_val[0])
            if sides is not None:
                self._collect_sides(outer, variable, before, sides, members)
                results.append(before)
                continue
            (value,) = self._inputs(variable.next)
            if collects(variable, members) and not same_shape(before.shape, value.shape):
                builder = self.tracer.builder
                found = collector(outer, builder, variable.enter.name, before, value)
                if found is not None:
                    self.collected[variable] = found
                    results.append(before)
                    continue
            if not isinstance(before.cell, List):
                varies |= self._varies(variable, before, value)
            results.append(value)
        if varies:
            raise Varies("what goes round a loop has another size in each turn")
        for carrier, before, value in zip(self.carriers, carried, results):
            if value is not before or isinstance(before.cell, List):
                carrier.put(self.tracer.builder, value)

    def _varies(self, variable: Variable, before: Value, value: Value) -> bool:
        """Notes along which axes a variable varies; whether there are more than was known."""
        name, known = (
            variable.enter.name,
            self.tracer.segment.varying.get(variable.enter, frozenset()),
        )
        if before.cell is not None or value.cell is not None:
            self._require_like(before, value, name)
            return False
        if before.ndim != value.ndim or not self.tracer.builder.may_measure:
            self._require_like(before, value, name)
        self._require_kind(before, value, name)
        stated = variable.merge.outputs[0].shape.sizes
        more = changing(self.tracer.builder, before, value, known, stated)
        if more:
            self.tracer.segment.varying[variable.enter] = known | more
        return bool(more)

    def _collect_sides(
        self,
        outer: Any,
        variable: Variable,
        before: Value,
        sides: Sequence[Side],
        members: Collection[Any],
    ) -> None:
        """Has the loop keep what it collects in a turn, of which two branches give other sizes."""
        found = None
        if collects(variable, members):
            found = row_collector(outer, self.tracer.builder, variable.enter.name, before, sides)
        if found is None:
            raise Unstructured(f"the shape of '{variable.enter.name}' changes")
        self.collected[variable] = found
