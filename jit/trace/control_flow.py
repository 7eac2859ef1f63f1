# SPDX-License-Identifier: Apache-2.0
"""Traces branches and loops: what runs under a condition has a guard, a loop is a node with two
programs.

What a branch gives and what a loop carries lies in Registers, which are written like variables.
Imports the rest of jit's front end and the engine's op roles.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ..kernel import ir, scalar
from ..kernel.scalar import compiles
from ..kernel.sizes import Unanswered, same_shape
from ..program.editing import Program
from ..program.tensor_ir import (
    Captured,
    GrowableStack,
    Guard,
    Handle,
    Loop,
    Map,
    Read,
    Register,
    Value,
    Write,
    argument,
    written_cells,
)
from .builder import NotLowered, Unsettled
from .collecting import Collector, collector, collects
from .loop_recovery import Frame, Item, Unstructured, Variable, structured
from .pieces import inside

if TYPE_CHECKING:
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor


def trace_region(tracer: Any, operations: Sequence[Any]) -> str | None:
    """Adds operations that branch and loop to what a tracer has; if that fails, the reason why.

    Then nothing is added.  `Unsettled` is for the tracer to handle.
    """
    mark, values = tracer.program.last, dict(tracer.values)
    hosted = len(tracer.hosted)
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
        tracer.program.guard = ()


def _keep_inside(flow: Flow, operations: Sequence[Any]) -> None:
    """Refuses a region that hands out what is there under a condition: nobody else knows of it."""
    inside, present = set(operations), flow.tracer.segment.present
    partial = [op for op, guard in flow.guards.items() if guard and op in inside]
    tensors = [*flow.sides, *(tensor for op in partial for tensor in op.outputs)]
    for tensor in tensors:
        if any(user in present and user not in inside for user in tensor._consumers):
            raise Unstructured(f"'{tensor.name}' leaves its branch")


def _computed(expr: ir.Expr, number: np.ndarray) -> Any:
    """A scalar expression of one argument, computed."""
    if isinstance(expr, ir.Load):
        return number
    if isinstance(expr, ir.Const):
        return np.array(expr.value, expr.dtype)
    assert isinstance(expr, ir.Apply)
    return scalar.apply(expr.fn, *(_computed(arg, number) for arg in expr.args))


def _programs(loop: Loop) -> list[Program]:
    return [*loop.test.all(), *loop.body.all()]


def _is_of(cell: object, programs: Sequence[Program]) -> bool:
    """Is something a register or stack that is made in one of these programs?"""
    return isinstance(cell, (Register, GrowableStack)) and cell.program in programs


class Flow:
    """Traces the operations of one frame: what is outside of all loops, a test or a body."""

    def __init__(self, tracer: Any) -> None:
        self.tracer = tracer
        self.program: Program = tracer.program
        self.guards: dict[Any, Guard] = {}  # of operations
        self.sides: dict[Any, Guard] = {}  # of tensors, where not those of their operation
        self.dead: set[Any] = set()  # operations and tensors that never run
        self.flags: dict[Value, Value] = {}  # of conditions, in memory of their own
        # Which input was merged: by the number that says so the flag, the input if it is set, and
        # the other.
        self.indices: dict[Value, tuple[Value, int, int]] = {}

    def run(self, items: Iterable[Item]) -> None:
        """Adds operations and loops in order."""
        for item in items:
            if isinstance(item, Frame):
                self._loop(item)
            elif item.definition.control_flow_role == "merge":
                self._merge(item)
            else:
                self._operation(item)
            self.program.guard = ()

    def guard(self, tensor: Tensor) -> Guard:
        """Under which conditions a tensor is there."""
        return self.sides.get(tensor, self.guards.get(tensor.op, ()))

    def _guard_of(self, ops: Iterable[Any]) -> Guard | None:
        """Under which conditions operations run; None: never."""
        found: list[tuple[Value, bool]] = []
        for op in ops:
            if any(t in self.dead for t in op._inputs_val):
                return None
            if any(other in self.dead for other in op._control_inputs_val):
                return None
            guards = [self.guard(t) for t in op._inputs_val]
            guards += [self.guards.get(other, ()) for other in op._control_inputs_val]
            for flag, side in (condition for guard in guards for condition in guard):
                # It would need a condition and its opposite.
                if (flag, not side) in found:
                    return None
                if (flag, side) not in found:
                    found.append((flag, side))
        return tuple(found)

    def _operation(self, op: Operation) -> None:
        role = op.definition.control_flow_role
        # A trigger runs whatever becomes of what it waits for.
        guard = () if role == "trigger" else self._guard_of([op])
        if guard is None:
            self.dead |= {op, *op.outputs}
            return
        self.guards[op] = self.program.guard = guard
        self.program.origin = op
        if role == "switch":
            self._switch(op, guard)
        elif role == "step":
            self._step(op)
        elif role not in ("", "trigger"):
            raise Unstructured(f"{op.type} (node '{op.name}')")
        elif self._is_barrier(op):
            raise Unstructured(f"{op.type} (node '{op.name}') gives shapes that depend on data")

    def _is_barrier(self, op: Any) -> bool:
        try:
            return bool(self.tracer._operation(op))
        except errors.OpError as error:
            # Where it does not run nothing is wrong.
            raise Unstructured(f"{op.type} (node '{op.name}'): {error.message}") from None

    def _step(self, op: Any) -> None:
        """An operation on what lives for one run."""
        reason = self.tracer._lower(op, op.definition, self.tracer._inputs(op))
        if reason is not None:
            raise Unstructured(f"{op.type} (node '{op.name}') {reason}")

    # Branches.

    def _switch(self, op: Any, guard: Guard) -> None:
        data, _ = self.tracer._inputs(op)
        pred = self.tracer._inputs(op)[1]
        for side, output in enumerate(op.outputs):
            self.tracer.values[output] = data
            # A condition that is known while tracing costs no jump, and the other side is not even
            # compiled.
            if pred.known is not None:
                if bool(pred.known) != bool(side):
                    self.dead.add(output)
                continue
            flag, is_set = self._told(pred) or (
                self._flag(pred, self.guard(op._inputs_val[1])),
                True,
            )
            if (flag, bool(side) != is_set) in guard:
                self.dead.add(output)
            # (A second switch on the same condition, within a branch, adds nothing.)
            elif (flag, bool(side) == is_set) not in guard:
                self.sides[output] = (*guard, (flag, bool(side) == is_set))

    def _told(self, pred: Value) -> tuple[Value, bool] | None:
        """The flag that a condition is, or is not, if it asks which input was merged.

        Gradients of merges do: the flag tells which of their own sides belong together.
        """
        node = pred.node
        if not isinstance(node, Map) or len(node.inputs) != 1 or node.inputs[0] not in self.indices:
            return None
        flag, *numbers = self.indices[node.inputs[0]]
        expr = node.exprs[node.outputs.index(pred)]
        is_so, is_else = (bool(_computed(expr, np.array(n, np.int32))) for n in numbers)
        return None if is_so == is_else else (flag, is_so)

    def _flag(self, pred: Value, guard: Guard) -> Value:
        """A condition in memory of its own, where jumps look at it."""
        if pred.ndim or pred.dtype != "bool":
            raise Unstructured("a condition that is no scalar")
        if pred not in self.flags:
            # Copied where the condition is known, perhaps outside of the branch that asks for it
            # now.
            before, self.program.guard = self.program.guard, guard
            self.flags[pred] = self._copied(pred)
            self.program.guard = before
        return self.flags[pred]

    def _copied(self, value: Value) -> Value:
        node = Map((value,), (argument(0, value.dtype),))
        return self.program.add(node, (value.dtype, value.shape))[0]

    def _merge(self, op: Any) -> None:
        alive = [t for t in op._inputs_val if t not in self.dead]
        if not alive:
            self.dead |= {op, *op.outputs}
            return
        self.program.origin = op
        if len(alive) > 2:
            raise Unstructured(f"'{op.name}' merges {len(alive)} values")
        # The other side never runs, so what is merged is there exactly when this side is.
        if len(alive) == 1:
            (tensor,) = alive
            self.guards[op] = self.guard(tensor)
            place = op._inputs_val.index(tensor)
            index = self.tracer.builder.constant(np.array(place, np.int32))
            self.tracer.values.update(zip(op.outputs, (self.tracer.values[tensor], index)))
            return
        values = self._joined(op, [self._given(op, t) for t in alive])
        common, sides = self._common(alive)
        self.guards[op] = common
        if sides is None:
            self._merge_some(op, alive, values)
            return
        if values[0] is values[1]:
            self.tracer.values[op.outputs[0]] = values[0]
        else:
            register = self._register(op.name, values[0])
            for tensor, value in zip(alive, values):
                self.program.guard = self.guard(tensor)
                self._write(register, value)
            self.program.guard = common
            self.tracer.values[op.outputs[0]] = self._read(register)
        if op.outputs[1]._consumers:
            self.program.guard = common
            flag, side = sides
            places = [op._inputs_val.index(t) for t in alive]
            first, last = places if side else reversed(places)
            index = self.tracer.builder.map(
                lambda f: scalar.select(f, first, last), flag, dtype="int32"
            )
            self.tracer.values[op.outputs[1]] = index
            self.indices[index] = flag, first, last

    def _merge_some(self, op: Any, alive: Sequence[Any], values: Sequence[Value]) -> None:
        """A merge of which nobody knows whether anything comes: a flag of its own says so."""
        constant = self.tracer.builder.constant
        common = self.program.guard = self.guards[op]
        came = Register(f"{op.name}/came", "bool", (), self.program)
        place = Register(f"{op.name}/index", "int32", (), self.program)
        register = self._register(op.name, values[0])
        self._write(came, constant(np.array(False)))
        for tensor, value in zip(alive, values):
            self.program.guard = self.guard(tensor)
            self._write(register, value)
            self._write(place, constant(np.array(op._inputs_val.index(tensor), np.int32)))
            self._write(came, constant(np.array(True)))
        self.program.guard = common
        flag = self._copied(self._read(came))
        self.guards[op] = self.program.guard = (*common, (flag, True))
        found = self._read(register), self._read(place)
        self.tracer.values.update(zip(op.outputs, found))

    def _common(self, alive: Sequence[Any]) -> tuple[Guard, tuple[Value, bool] | None]:
        """The conditions of both inputs of a merge, and the one by which the first differs.

        None for that where they are not the two sides of one condition.
        """
        one, two = (self.guard(t) for t in alive)
        common = tuple(condition for condition in one if condition in two)
        rest = [c for c in one if c not in common], [c for c in two if c not in common]
        # Only the two sides of one condition: exactly one of the two writes to the register then.
        if [len(r) for r in rest] != [1, 1] or rest[0][0] != (rest[1][0][0], not rest[1][0][1]):
            return common, None
        return common, rest[0][0]

    def _given(self, op: Operation, tensor: Any) -> Value:
        """What a merge takes from one side: of a variable what it has then, if that is meant."""
        value: Value = self.tracer.values[tensor]
        wanted = op._input_types_val[op._inputs_val.index(tensor)]
        if value.cell is None or wanted._is_ref_dtype or wanted.base_dtype.name == "resource":
            return value
        self.program.guard = self.guard(tensor)
        return self.tracer.builder.read(value)  # type: ignore[no-any-return]

    def _joined(self, op: Operation, values: list[Value]) -> list[Value]:
        """Both values of a merge, which must be of one kind; variables are passed on or read."""
        one, two = values
        if one.cell is not None and one.cell is two.cell:
            return [one, one]
        if one.cell is not None or two.cell is not None:
            raise Unstructured(f"'{op.name}' merges variables")
        self._require_like(one, two, op.name)
        return values

    def _require_like(self, one: Value, two: Value, name: str) -> None:
        if one.dtype != two.dtype or not compiles(one.dtype):
            raise Unstructured(f"'{name}' is of type {one.dtype}")
        # (A register has one shape for the whole run; TensorFlow lets shapes change from turn to
        # turn.)
        equal = self.tracer.builder.equal
        if one.ndim != two.ndim or not all(map(equal, one.shape, two.shape)):
            raise Unstructured(f"the shape of '{name}' changes")

    # Registers.

    def _register(self, name: str, like: Value) -> Register:
        if not compiles(like.dtype):
            raise Unstructured(f"'{name}' is of type {like.dtype}")
        return Register(name, like.dtype, like.shape, self.program)

    def _write(self, register: Register, value: Value) -> None:
        (after,) = self.program.add(Write((value,), register), (value.dtype, value.shape))
        after.cell = register

    def _read(self, register: Register) -> Value:
        home = register.home
        return self.program.add(Read(register), (home.dtype, home.shape))[0]

    # Loops.

    def _loop(self, frame: Frame) -> None:
        guard = self._guard_of(frame.enters)
        if guard is None:
            self.dead |= {*frame.exits, *(t for op in frame.exits for t in op.outputs)}
            return
        tracer = self.tracer
        self.program.guard, self.program.origin = guard, frame.condition
        registers: list[Register] = []
        entered: list[Value] = []
        for variable in frame.variables:
            (value,) = tracer._inputs(variable.enter)
            if value.cell is not None:
                raise Unstructured(f"'{variable.enter.name}' is a resource")
            registers.append(self._register(variable.enter.name, value))
            self._write(registers[-1], value)
            entered.append(value)
        loop = Loop((), Program(), Program())
        constants = {op: tracer._inputs(op)[0] for op in frame.constants}
        # Two programs, since what the test needs and the body needs as well runs in both, and the
        # test runs once more than the body.
        parts = [_Part(tracer, loop, frame, registers, constants) for _ in range(2)]
        loop.test, loop.body = (part.program for part in parts)
        parts[0].trace_test()
        parts[1].trace_body(tracer.builder)
        self._touches(loop, registers)
        self.program.add(loop)
        for variable, register, start in zip(frame.variables, registers, entered):
            if variable.exits or (frame.after and variable.switch is not None):
                collected = parts[1].collected.get(variable)
                if collected is None:
                    value = self._read(register)
                else:
                    value = collected.result(tracer.builder, start)
                for op in variable.exits:
                    tracer.values[op.outputs[0]] = value
                    self.guards[op] = guard
                if frame.after:
                    tracer.values[variable.switch.outputs[0]] = value
                    self.guards[variable.switch] = guard
        self._leave(frame, constants)

    def _leave(self, frame: Frame, constants: Mapping[Any, Value]) -> None:
        """Adds what runs between the last turn and an exit."""
        tracer = self.tracer
        if frame.after:
            tracer.values.update((op.outputs[0], value) for op, value in constants.items())
        self.run(frame.after)
        for op in frame.late_exits:
            tracer.values[op.outputs[0]] = tracer.values[op._inputs_val[0]]
            self.guards[op] = self.guard(op._inputs_val[0])

    def _touches(self, loop: Loop, registers: Sequence[Register]) -> None:
        """Notes what variables a loop writes and reads."""
        nodes = [node for program in _programs(loop) for node in program]
        written = dict.fromkeys(cell for node in nodes for cell in written_cells(node))
        inner = _programs(loop)
        outside = [cell for cell in written if not _is_of(cell, inner)]
        read = [node.cell for node in nodes if isinstance(node, Read)]
        read += [v.cell for n in nodes for v in n.inputs if v.cell is not None]
        loop.written = (*registers, *outside)
        loop.read = tuple(dict.fromkeys(cell for cell in read if not _is_of(cell, inner)))
        self.tracer.builder.forget(outside)


class _Part(Flow):
    """The test or the body of a loop; a program of its own."""

    def __init__(
        self,
        outer: Any,
        loop: Loop,
        frame: Frame,
        registers: Sequence[Register],
        constants: dict[Any, Value],
    ) -> None:
        super().__init__(outer.inner())
        self.loop, self.frame = loop, frame
        self.program.origin = frame.condition
        self.registers = list(registers)
        self._captured: dict[Value, Value] = {}
        self.collected: dict[Variable, Collector] = {}
        # What comes round is read first; if it is written before it is used for the last time it is
        # copied (legalize.snapshot_reads), which makes variables that swap right.
        self.carried = [self._read(register) for register in registers]
        for variable, value in zip(frame.variables, self.carried):
            self.tracer.values[variable.merge.outputs[0]] = value
            if variable.switch is not None:
                self.tracer.values[variable.switch.outputs[1]] = value
        for op, value in constants.items():
            self.tracer.values[op.outputs[0]] = self._capture(value)

    def _capture(self, value: Value) -> Value:
        """A value from outside, for use within."""
        if value.cell is not None:
            (handle,) = self.program.add(Handle(value.cell), (value.dtype, value.shape))
            handle.cell = value.cell
            return handle
        # Known contents go in as they are: shapes stay known within the loop.
        if value.known is not None:
            return self.tracer.builder.known_as(value.known, value.dtype)
        if not compiles(value.dtype):
            raise Unstructured(f"a loop takes a value of type {value.dtype}")
        if value not in self._captured:
            source = Captured(self.loop, len(self.loop.inputs))
            self.loop.inputs += (value,)
            (self._captured[value],) = self.program.add(source, (value.dtype, value.shape))
        return self._captured[value]

    def trace_test(self) -> None:
        """Adds what decides whether the loop goes on."""
        self.run(self.frame.test)
        (pred,) = self.tracer._inputs(self.frame.condition)
        if pred.ndim or self._guard_of([self.frame.condition]) != ():
            raise Unstructured(f"'{self.frame.condition.name}' is no scalar")
        # (In memory of its own, where the jump looks.)
        self.program.fetches = [self._copied(pred)]

    def trace_body(self, outer: Any) -> None:
        """Adds one turn, at whose end all that goes round is written; outer: the builder around."""
        # A body runs only when the condition held.
        true = self.tracer.builder.constant(np.array(True))
        self.tracer.values[self.frame.condition.outputs[0]] = true
        self.run(self.frame.body)
        # All results before the first write: one variable may take what another one has.
        results = []
        members = set(inside(self.frame))
        for variable, before in zip(self.frame.variables, self.carried):
            if self._guard_of([variable.next]) != ():
                raise Unstructured(f"'{variable.next.name}' does not always come round")
            (value,) = self.tracer._inputs(variable.next)
            if collects(variable, members) and not same_shape(before.shape, value.shape):
                builder = self.tracer.builder
                found = collector(outer, builder, variable.enter.name, before, value)
                if found is not None:
                    self.collected[variable] = found
                    results.append(before)
                    continue
            self._require_like(before, value, variable.enter.name)
            results.append(value)
        for register, before, value in zip(self.registers, self.carried, results):
            if value is not before:
                self._write(register, value)
