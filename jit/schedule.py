# SPDX-License-Identifier: Apache-2.0
"""The schedule: fused clusters become steps in running order, and values get memory.

Memory of intermediate values is a set of slots reused by liveness; how many bytes a slot has is
known when sizes are (jit/bind.py).  Imports the rest of the compiler's middle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Union

from . import ir, sizes
from .fuse import Cluster, Fused, fuse
from .meaning import numpy_dtype
from .nest import Nest, nests, root
from .sizes import AnySize
from .tensor import (
    Call,
    Gather,
    Growing,
    Guard,
    Host,
    Iota,
    Loop,
    Program,
    Register,
    Reshape,
    Source,
    Stop,
    Value,
    View,
    base,
    home,
)

# What one position of a kernel costs, in units of a simple instruction; cheap things are 1.
_COSTS = {
    "div": 4,
    "floordiv": 10,
    "floormod": 10,
    "truncatediv": 10,
    "truncatemod": 10,
    "sqrt": 6,
    "rsqrt": 8,
    "pow": 40,
    "erf": 20,
    "erfc": 30,
    "sin": 20,
    "cos": 20,
    "tan": 30,
    "exp": 12,
    "expm1": 18,
    "log": 14,
    "log1p": 18,
    "tanh": 20,
    "sigmoid": 16,
    "lgamma": 60,
    "digamma": 60,
    "atan2": 40,
    "asin": 30,
    "acos": 30,
    "atan": 25,
    "sinh": 25,
    "cosh": 25,
    "asinh": 35,
    "acosh": 35,
    "atanh": 30,
}


@dataclass(slots=True)
class KernelStep:
    """A generated kernel."""

    nest: Nest
    cost: float

    @property
    def reads(self) -> list[Value]:
        """Values whose memory the step uses, for reading or writing."""
        return self.nest.buffers


@dataclass(slots=True)
class CallStep:
    """A library kernel."""

    node: Call

    @property
    def reads(self) -> list[Value]:
        """Values whose memory the step uses."""
        return [*map(root, self.node.inputs), *self.node.outputs]


@dataclass(slots=True)
class HostStep:
    """An op run in Python by its reference kernel; perhaps inside of a loop or branch."""

    node: Host
    is_inside: bool = False

    @property
    def reads(self) -> list[Value]:
        """Values whose memory the step uses."""
        return [*map(root, self.node.inputs), *self.node.outputs]


@dataclass(slots=True)
class Label:
    """A place among the steps that others jump to; not a step itself."""

    step: int = -1  # number of the step behind it

    @property
    def reads(self) -> list[Value]:
        """Nothing."""
        return []


@dataclass(slots=True)
class Control:
    """A jump or stop.

    "skip" jumps if the flag is not as wanted, "again" jumps back, "stop" raises an error if the
    flag is set, "check" does so between two walks, "room" sees that a stack has some.  `holds` are
    values that must last until here since earlier steps run again.
    """

    kind: str
    flag: Value | None = None
    wanted: bool = True
    target: Label | None = None
    error: Callable[..., BaseException] | None = None
    evidence: tuple[Value, ...] = ()
    holds: list[Value] = field(default_factory=list)
    stack: Growing | None = None

    @property
    def is_row(self) -> bool:
        """Does the driver's table have a row for it?"""
        return self.kind != "check"

    @property
    def reads(self) -> list[Value]:
        """Values whose memory is used here, or kept."""
        held = [*self.evidence, *self.holds]
        return held if self.flag is None else [self.flag, *held]


Step = Union[KernelStep, CallStep, HostStep, Control]


@dataclass(slots=True)
class Slot:
    """A piece of the arena that values of one size use one after the other.

    Bit i of `live` says that step i needs the slot; slots that no step needs together may overlap.
    """

    values: list[Value]
    live: int


@dataclass(slots=True)
class Schedule:
    """Steps in order, and the arena slot of every value that lives in the arena."""

    steps: list[Step]
    slots: list[Slot]
    slot_of: dict[int, int]
    fused: Fused


def schedule(fused: Fused) -> Schedule:
    """Orders the work and assigns memory."""
    steps: list[Step] = []
    for step in _straight(fused, is_inside=False):
        if isinstance(step, Label):
            step.step = len(steps)
        else:
            steps.append(step)
    slots, slot_of = _assign_slots(steps, fused.program)
    return Schedule(steps, slots, slot_of, fused)


def _straight(fused: Fused, is_inside: bool) -> list[Step | Label]:
    """The steps of a program in order, with jumps around what runs under a condition."""
    stored = stored_values(fused)
    made = {
        id(cluster): list(_steps(cluster, stored, fused, is_inside)) for cluster in fused.clusters
    }
    fused.clusters = early(fused, made)
    steps: list[Step | Label] = []
    guard: Guard = ()
    end: list[Label] = []
    for cluster in fused.clusters:
        if cluster.guard != guard:
            guard = cluster.guard
            steps += end
            end = _skips(guard, steps)
        steps += made[id(cluster)]
    steps += end
    rest = []
    for check in fused.program.checks:
        guard = base(check.flag).node.guard
        if is_inside or guard:
            end = _skips(guard, steps)
            stop = Control("stop", check.flag, error=check.error, evidence=check.evidence)
            steps += [stop, *end]
        else:
            rest.append(check)
    fused.program.checks = rest
    return steps


def _skips(guard: Guard, steps: list[Step | Label]) -> list[Label]:
    """Adds jumps to a new label unless all conditions hold; no label where there are none."""
    end = Label()
    steps += [Control("skip", flag, side, end) for flag, side in guard]
    return [end] if guard else []


def _steps(
    cluster: Cluster, stored: set[int], fused: Fused, is_inside: bool
) -> Iterator[Step | Label]:
    if not cluster.fused:
        (node,) = cluster.nodes
        if isinstance(node, Loop):
            yield from _loop(node, fused)
        elif isinstance(node, Call):
            if node.grows:
                yield Control("room", stack=node.stack)
            yield CallStep(node)
        elif isinstance(node, Stop):
            flag, *evidence = node.inputs
            # Beside loops and branches Python can look itself, which spares the walk with jumps.
            kind = "stop" if is_inside or node.guard else "check"
            yield Control(kind, flag, error=node.error, evidence=tuple(evidence))
        else:
            assert isinstance(node, Host)
            yield HostStep(node, is_inside or bool(node.guard))
        return
    for nest in nests(cluster, stored):
        if nest.kernel.stores:
            yield KernelStep(nest, cost(nest.kernel))


def _loop(node: Loop, fused: Fused) -> Iterator[Step | Label]:
    """The test, and the body as long as it holds."""
    begin, end = Label(), Label()
    parts = [fuse(program) for program in (node.test, node.body)]
    test, body = (_straight(part, is_inside=True) for part in parts)
    for part in parts:
        fused.home.update(part.home)
    cells = (*node.written, *node.read)
    registers = [cell.home for cell in cells if isinstance(cell, Register)]
    yield from (begin, *test, Control("skip", node.test.fetches[0], True, end))
    yield from (*body, Control("again", target=begin, holds=[*node.inputs, *registers]), end)


def stored_values(fused: Fused) -> set[int]:
    """The results of clusters that somebody outside reads, by id."""
    stored: set[int] = set()
    for node in fused.program.nodes:
        stored.update(id(flag) for flag, _ in node.guard)
        if isinstance(node, (View, Reshape, Source, Iota)):
            continue
        for value in node.inputs:
            maker = base(value).node
            shared = fused.home.get(id(maker)) is fused.home.get(id(node))
            alone = isinstance(node, (Call, Host, Gather, Loop, Stop))
            if not shared or alone or _crosses_reshape(value):
                stored.add(id(base(value)))
    for value in fused.program.kept():
        stored.add(id(base(value)))
    return stored


def _crosses_reshape(value: Value) -> bool:
    while isinstance(value.node, (View, Reshape)):
        if isinstance(value.node, Reshape):
            return True
        value = value.node.inputs[0]
    return False


def operation_cost(apply: ir.Apply) -> int:
    """What one scalar primitive costs, in simple instructions."""
    return _COSTS.get(apply.fn, 1)


def cost(kernel: ir.Kernel) -> float:
    """Estimated cost of one position of a kernel, in simple instructions."""
    total, seen = 0.0, set()
    stack: list[ir.Expr] = [store.value for store in kernel.stores]
    stack += [reduction.value for reduction in kernel.reductions]
    total += len(stack)
    while stack:
        expr = stack.pop()
        if id(expr) in seen:
            continue
        seen.add(id(expr))
        if isinstance(expr, ir.Load):
            total += 1
        elif isinstance(expr, ir.Apply):
            total += operation_cost(expr)
            stack.extend(expr.args)
    return total


# Order.


def early(fused: Fused, made: dict[int, list[Step | Label]]) -> list[Cluster]:
    """The clusters in an order that can run: one that frees more memory than it takes comes as
    soon as it can, all others stay as they were."""
    order = _Early(fused, made)
    for cluster in fused.clusters:
        order.run(cluster)
    return order.done


class _Early:
    """What is ready to run, and what its run would free."""

    def __init__(self, fused: Fused, made: dict[int, list[Step | Label]]) -> None:
        self.done: list[Cluster] = []
        self.ran: set[int] = set()
        self.waits: dict[int, set[int]] = {}
        self.followers: dict[int, list[Cluster]] = {}
        for cluster in fused.clusters:
            needs = (fused.home[need] for node in cluster.nodes for need in fused.needs[id(node)])
            before = {id(other): other for other in needs if other is not cluster}
            self.waits[id(cluster)] = set(before)
            for number in before:
                self.followers.setdefault(number, []).append(cluster)
        # Arena values that a cluster touches, and clusters that have yet to touch a value.
        self.touched: dict[int, dict[int, Value]] = {}
        self.users: dict[int, dict[int, Cluster]] = {}
        for cluster in fused.clusters:
            found = (home(value) for step in made[id(cluster)] for value in step.reads)
            self.touched[id(cluster)] = {id(v): v for v in found if in_arena(v)}
            for number in self.touched[id(cluster)]:
                self.users.setdefault(number, {})[id(cluster)] = cluster
        self.held: set[int] = set()  # values in memory
        self.kept = {id(home(value)) for value in fused.program.kept()}

    def run(self, cluster: Cluster) -> None:
        """Runs a cluster, and then whatever it makes worthwhile."""
        stack = [cluster]
        while stack:
            current = stack.pop()
            if id(current) in self.ran or (current is not cluster and not self._shrinks(current)):
                continue
            self.done.append(current)
            self.ran.add(id(current))
            for number in self.touched[id(current)]:
                self.held.add(number)
                users = self.users[number]
                del users[id(current)]
                if len(users) == 1:
                    stack.extend(users.values())
            stack.extend(reversed(self.followers.get(id(current), ())))

    def _shrinks(self, cluster: Cluster) -> bool:
        if not cluster.fused or not self.waits[id(cluster)] <= self.ran:
            return False
        change = 0
        for number, value in self.touched[id(cluster)].items():
            size = sizes.hint(byte_size(value))
            if number not in self.held:
                change += size
            if len(self.users[number]) == 1 and number not in self.kept:
                change -= size
        return change < 0


# Memory.


def in_arena(value: Value) -> bool:
    """Does a value live in the arena (and not in a feed, a constant or a variable)?"""
    node = value.node
    if value.cell is not None or (isinstance(node, Host) and not is_native(value)):
        return False
    return not isinstance(node, Source) or node.kind in ("partial", "sizes")


def is_native(value: Value) -> bool:
    """Can kernels hold the value?  Others (strings, complex numbers) stay Python arrays."""
    from .scalar import compiles

    return compiles(value.dtype)


def byte_size(value: Value) -> AnySize:
    """How many bytes a value takes."""
    return sizes.product(value.shape) * numpy_dtype(value.dtype).itemsize


def _assign_slots(steps: list[Step], program: Program) -> tuple[list[Slot], dict[int, int]]:
    """Gives arena values slots: a slot is free again after the last use of its value."""
    last: dict[int, int] = {}
    for number, step in enumerate(steps):
        for value in map(home, step.reads):
            last[id(value)] = number
    end = len(steps)
    for value in program.kept():
        last[id(home(value))] = end
    slots: list[Slot] = []
    slot_of: dict[int, int] = {}
    same_size: dict[str, list[int]] = {}
    for number, step in enumerate(steps):
        for value in map(home, step.reads):
            if id(value) in slot_of or not in_arena(value):
                continue
            if isinstance(value.node, Source) and value.node.kind == "sizes":
                found, live = [], (1 << (end + 1)) - 1  # written before the first step
            else:
                found = same_size.setdefault(sizes.expression(byte_size(value)), [])
                live = (2 << last[id(value)]) - (1 << number)
            place = next((i for i in found if not slots[i].live & live), len(slots))
            if place == len(slots):
                slots.append(Slot([], 0))
                found.append(place)
            slots[place].values.append(value)
            slots[place].live |= live
            slot_of[id(value)] = place
    return slots, slot_of
