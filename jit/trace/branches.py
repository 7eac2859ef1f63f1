# SPDX-License-Identifier: Apache-2.0
"""Traces branches: what runs under a condition has a guard.

What a branch gives lies in Registers, which are written like variables.  Imports the rest of jit's
front end and the engine's op roles.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ..kernel import ir, scalar, sizes
from ..kernel.scalar import holds
from ..kernel.sizes import AnySize
from ..library import arrays
from ..library.of_run import OfRun
from ..program.editing import Program
from ..program.tensor_ir import (
    Guard,
    Map,
    Register,
    Value,
    argument,
    base,
)
from .forks import Forks, Side
from .loop_recovery import Frame, Item, Unstructured

if TYPE_CHECKING:
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor


def _computed(expr: ir.Expr, number: np.ndarray) -> Any:
    """A scalar expression of one argument, computed."""
    if isinstance(expr, ir.Load):
        return number
    if isinstance(expr, ir.Const):
        return np.array(expr.value, expr.dtype)
    assert isinstance(expr, ir.Apply)
    return scalar.apply(expr.fn, *(_computed(arg, number) for arg in expr.args))


class Branches:
    """Traces the operations of one frame but for its loops, which `_loop` is for."""

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
        self.forks = Forks(self._agreed)
        # Sizes that depend on a condition: the flag, and what they are where it is and is not set.
        self.either: list[tuple[AnySize, Value, tuple[AnySize, AnySize]]] = []

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

    def _loop(self, frame: Frame) -> None:
        raise NotImplementedError

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
        elif self.forks.takes(op):
            self.forks.follow(op, self.tracer, self._add)
        else:
            self._add(op)

    def _add(self, op: Any) -> None:
        if self._is_barrier(op):
            raise Unstructured(f"{op.type} (node '{op.name}') gives shapes that depend on data")

    def _is_barrier(self, op: Any) -> bool:
        try:
            return bool(self.tracer._operation(op))
        except errors.OpError as error:
            # Where it does not run nothing is wrong.
            raise Unstructured(f"{op.type} (node '{op.name}'): {error.message}") from None

    def _inputs(self, op: Any, hands_on: bool = False) -> list[Value]:
        """What an operation takes that is traced once, whatever branches came before it."""
        self.forks.require_one(op)
        return self.tracer._inputs(op, hands_on)  # type: ignore[no-any-return]

    def _step(self, op: Any) -> None:
        """An operation on what lives for one run."""
        reason = self.tracer._lower(op, op.definition, self._inputs(op))
        if reason is not None:
            raise Unstructured(f"{op.type} (node '{op.name}') {reason}")

    # Branches.

    def _switch(self, op: Any, guard: Guard) -> None:
        data, pred = self._inputs(op)
        decided = self._decided(pred)
        for side, output in enumerate(op.outputs):
            self.tracer.values[output] = data
            # A condition that is known while tracing costs no jump, and the other side is not even
            # compiled.
            if decided is not None:
                if decided != bool(side):
                    self.dead.add(output)
                continue
            flag, is_set = self._told(pred) or (self._flag(pred), True)
            if (flag, bool(side) != is_set) in guard:
                self.dead.add(output)
            # (A second switch on the same condition, within a branch, adds nothing.)
            elif (flag, bool(side) == is_set) not in guard:
                self.sides[output] = (*guard, (flag, bool(side) == is_set))
                self.tracer.values[output] = self._within(data, flag, bool(side) == is_set, output)

    def _decided(self, pred: Value) -> bool | None:
        """What a condition is wherever this program runs, if that is known while tracing."""
        return None if pred.known is None else bool(pred.known)

    def _held(self, pred: Value) -> bool | None:
        """What a condition is wherever runs what is added now, if that is known while tracing."""
        flag, is_set = self._told(pred) or (self.flags.get(pred), True)
        for side in (False, True):
            if (flag, side) in self.program.guard:
                return side == is_set
        return self._decided(pred)

    def _within(self, data: Value, flag: Value, is_set: bool, output: Tensor) -> Value:
        """A value within a branch, with the sizes that the branch gave it."""
        if data.cell is not None:
            return data
        shape = list(data.shape)
        for size, known, ways in self.either:
            if known is flag and self._has(ways[not is_set], self.sides[output]):
                shape = [ways[not is_set] if sizes.same(n, size) else n for n in shape]
        if sizes.same_shape(tuple(shape), data.shape):
            return data
        # (A copy: a reshape would have a run see that the sizes are equal on both sides.)
        before, self.program.guard = self.program.guard, self.sides[output]
        register = Register(output.op.name, data.dtype, tuple(shape), self.program)
        arrays.put_whole(self.tracer.builder, register, data)
        value = self.program.read(register)
        self.program.guard = before
        return value

    def _has(self, size: AnySize, guard: Guard) -> bool:
        """Is a size known under these conditions?"""
        before, self.program.guard = self.program.guard, guard
        found: bool = self.tracer.builder.knows(size)
        self.program.guard = before
        return found

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

    def _flag(self, pred: Value) -> Value:
        """A condition in memory of its own, where jumps look at it."""
        if pred.ndim or pred.dtype != "bool":
            raise Unstructured("a condition that is no scalar")
        if pred not in self.flags:
            # Copied wherever the value is there, perhaps outside of the branch that asks for it
            # now: another branch may ask for it, too.
            before, self.program.guard = self.program.guard, base(pred).node.guard
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
        # The other side never runs, or only when this one does: what is merged is there exactly
        # when this side is.
        tensor = self._always_first(alive)
        if tensor is not None:
            self._pass_on(op, tensor)
            return
        if self.forks.takes(op):
            self._merge_forked(op, alive)
            return
        given = [self._given(op, t) for t in alive]
        common, sides = self._common(alive)
        self.guards[op] = common
        if sides is None:
            self._merge_some(op, alive, self._joined(op, given))
            return
        guards = [self.guard(t) for t in alive]
        self.program.guard = common
        is_known = all(map(self._is_known, given))
        if all(isinstance(value.cell, OfRun) for value in given):
            both = list(map(Side, guards, given))
            self.tracer.values[op.outputs[0]] = given[0].cell.joined(self.tracer.builder, both)
        elif is_known and self._are_like(*given):
            both = list(map(Side, guards, self._joined(op, given)))
            self.tracer.values[op.outputs[0]] = self._one_of(op.name, both)
        elif self._can_measure(is_known) and given[0].ndim == given[1].ndim:
            both = list(map(Side, guards, given))
            self.tracer.values[op.outputs[0]] = self._of_measured_shape(op.name, both, sides)
        else:
            self.forks.begin(op.outputs[0], guards, given)
        self._merge_index(op, alive, sides)

    def _pass_on(self, op: Any, tensor: Any) -> None:
        """A merge to which only one of its inputs comes."""
        self.guards[op] = self.guard(tensor)
        place = op._inputs_val.index(tensor)
        index = self.tracer.builder.constant(np.array(place, np.int32))
        self.tracer.values[op.outputs[1]] = index
        if tensor in self.forks.sides:
            self.forks.sides[op.outputs[0]] = self.forks.sides[tensor]
        else:
            self.tracer.values[op.outputs[0]] = self.tracer.values[tensor]

    def _merge_forked(self, op: Any, alive: Sequence[Any]) -> None:
        """A merge of what has a shape in each of several branches: one more for the other side."""
        common, condition = self._common(alive)
        if condition is None:
            raise Unstructured(f"'{op.name}' merges what has several shapes")
        self.guards[op] = common
        sides = [side for tensor in alive for side in self._sides_of(op, tensor)]
        self.program.guard = common
        self.forks.begin(op.outputs[0], *zip(*sides))
        self._merge_index(op, alive, condition)

    def _sides_of(self, op: Any, tensor: Any) -> tuple[Side, ...]:
        """What a merge takes from one side, for each shape that it may have."""
        forked = self.forks.sides.get(tensor)
        return forked or (Side(self.guard(tensor), self._given(op, tensor)),)

    def _is_known(self, value: Value) -> bool:
        """Does what runs here know how large a value is, and not one branch alone?"""
        return value.cell is not None or all(map(self.tracer.builder.knows, value.shape))

    def _can_measure(self, is_known: bool) -> bool:
        """May what branches give have a shape that a run learns?

        (Within a branch what follows is rather traced for each, as long as that can be.)
        """
        is_free = not self.program.guard or not is_known
        return is_free and bool(self.tracer.builder.may_measure)

    def _of_measured_shape(
        self, name: str, sides: Sequence[Side], condition: tuple[Value, bool]
    ) -> Value:
        """What the branch gives that runs, in a shape that a run learns."""
        b, common, (flag, is_first) = self.tracer.builder, self.program.guard, condition
        if sides[0].value.dtype != sides[1].value.dtype or not holds(sides[0].value.dtype):
            raise Unstructured(f"'{name}' is of type {sides[0].value.dtype}")
        shape = []
        for first, last in zip(*(side.value.shape for side in sides)):
            if not (b.knows(first) and b.knows(last) and b.equal(first, last)):
                ways = (first, last) if is_first else (last, first)
                numbers = [b.known_as(np.array(size, object), "int64") for size in ways]
                first = b.measure(b.map(scalar.select, flag, *numbers))
                self.either.append((first, flag, ways))
            shape.append(first)
        register = Register(name, sides[0].value.dtype, tuple(shape), self.program)
        for side in sides:
            self.program.guard = side.guard
            arrays.put_whole(b, register, side.value)
        self.program.guard = common
        return self.program.read(register)

    def _always_first(self, alive: Sequence[Any]) -> Any | None:
        """The input of a merge that is there whenever another one is; None if there is none."""
        if len(alive) == 1:
            return alive[0]
        one, two = (self.guard(tensor) for tensor in alive)
        if set(one) <= set(two):
            return alive[0]
        return alive[1] if set(two) <= set(one) else None

    def _one_of(self, name: str, sides: Sequence[Side]) -> Value:
        """What the branch gives that runs."""
        if all(side.value is sides[0].value for side in sides):
            return sides[0].value
        common = self.program.guard
        register = self._register(name, sides[0].value)
        for side in sides:
            self.program.guard = side.guard
            self.program.write(register, side.value)
        self.program.guard = common
        return self.program.read(register)

    def _agreed(self, op: Any, sides: Sequence[Side]) -> Value | None:
        """The value of all branches, if it has one shape."""
        first, *others = (side.value for side in sides)
        if not all(self._are_like(first, other) for other in others):
            return None
        return self._one_of(op.name, sides)

    def _merge_index(self, op: Any, alive: Sequence[Any], sides: tuple[Value, bool]) -> None:
        """Which input was merged, if somebody asks."""
        if op.outputs[1]._consumers:
            common = self.guards[op]
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
        self.program.write(came, constant(np.array(False)))
        for tensor, value in zip(alive, values):
            self.program.guard = self.guard(tensor)
            self.program.write(register, value)
            self.program.write(place, constant(np.array(op._inputs_val.index(tensor), np.int32)))
            self.program.write(came, constant(np.array(True)))
        self.program.guard = common
        flag = self._copied(self.program.read(came))
        self.guards[op] = self.program.guard = (*common, (flag, True))
        found = self.program.read(register), self.program.read(place)
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
        if isinstance(value.cell, OfRun):
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

    def _require_kind(self, one: Value, two: Value, name: str) -> None:
        if one.dtype != two.dtype or not holds(one.dtype):
            raise Unstructured(f"'{name}' is of type {one.dtype}")

    def _require_like(self, one: Value, two: Value, name: str) -> None:
        self._require_kind(one, two, name)
        # (A register has one shape for the whole run; TensorFlow lets shapes change from turn to
        # turn.)
        if not self._are_like(one, two):
            raise Unstructured(f"the shape of '{name}' changes")

    def _are_like(self, one: Value, two: Value) -> bool:
        """Are shapes equal?  Of variables nobody asks."""
        if one.cell is not None or two.cell is not None:
            return True
        equal = self.tracer.builder.equal
        return one.ndim == two.ndim and all(map(equal, one.shape, two.shape))

    # Registers.

    def _register(self, name: str, like: Value) -> Register:
        if not holds(like.dtype):
            raise Unstructured(f"'{name}' is of type {like.dtype}")
        if not self._is_known(like):
            raise Unstructured(f"how large '{name}' is only a branch knows")
        return Register(name, like.dtype, like.shape, self.program)
