# SPDX-License-Identifier: Apache-2.0
"""The schedule: fused clusters become steps in running order, and values get memory.

Memory of intermediate values is a set of slots reused by liveness; how many bytes a slot has is
known when sizes are (jit/schedule/bind.py).  Imports the rest of the compiler's middle.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from heapq import heappop, heappush

from ...engine import stopping
from ...engine.record_class import record
from ..kernel import ir, sizes
from ..kernel.reference import numpy_dtype
from ..kernel.scalar import PRIMITIVES, holds, part_dtype
from ..kernel.sizes import AnySize
from ..library.library_kernel import LibraryKernel
from ..passes.fuse import Cluster, Fused
from ..program.editing import Check
from ..program.tensor_ir import (
    Call,
    Gather,
    GrowableStack,
    Guard,
    Host,
    Iota,
    Loop,
    Measure,
    Partial,
    Register,
    Reshape,
    Sizes,
    Source,
    Stop,
    Value,
    View,
    base,
    home,
    root,
)
from .loop_nest import PROCESSOR, Pieces, nests
from .nest_builder import Nest


@record(slots=True)
class KernelStep:
    """A generated kernel."""

    nest: Nest
    cost: float

    @property
    def reads(self) -> list[Value]:
        """Values whose memory the step uses, for reading or writing."""
        return self.nest.buffers

    @property
    def kernel(self) -> ir.Kernel:
        """What is compiled for it."""
        return self.nest.kernel


@record(slots=True)
class CallStep:
    """A library kernel."""

    node: Call

    @property
    def reads(self) -> list[Value]:
        """Values whose memory the step uses."""
        return [*map(root, self.node.inputs), *self.node.outputs]

    @property
    def kernel(self) -> ir.Kernel | LibraryKernel:
        """What is compiled for it: a library kernel over the dtypes that its values have."""
        kernel = self.node.launch.kernel
        if isinstance(kernel, LibraryKernel):
            return kernel.over(part_dtype(home(value).dtype) for value in self.reads)
        return kernel


@record(slots=True)
class HostStep:
    """An op run in Python by its reference kernel; perhaps inside of a loop or branch."""

    node: Host
    is_inside: bool = False

    @property
    def reads(self) -> list[Value]:
        """Values whose memory the step uses."""
        return [*map(root, self.node.inputs), *self.node.outputs]


@record(slots=True)
class Label:
    """A place among the steps that others jump to; not a step itself."""

    step: int = -1  # number of the step behind it

    @property
    def reads(self) -> list[Value]:
        """Nothing."""
        return []


@record(slots=True)
class Skip:
    """Jumps to a label if a flag is not as wanted.

    `holds`: of the turn before, what may not have been looked at yet.
    """

    flag: Value
    wanted: bool
    target: Label
    holds: tuple[Value, ...] = ()

    @property
    def reads(self) -> list[Value]:
        """The flag, and values whose memory is kept."""
        return [self.flag, *self.holds]


@record(slots=True)
class Again:
    """Jumps back to a label: earlier steps run again, so what they read must last until here."""

    target: Label
    holds: list[Value]

    @property
    def reads(self) -> list[Value]:
        """Values whose memory is kept."""
        return self.holds


@record(slots=True)
class Fail:
    """Raises the error of a check if its flag is set.

    `is_between`: Python looks between two walks, which spares the walk with jumps.  `is_last`: of a
    turn or a walk nothing comes behind it but others like it.
    """

    check: Check
    is_between: bool = False
    is_last: bool = False

    @property
    def reads(self) -> list[Value]:
        """The flag and the evidence."""
        return list(self.check.values)


@record(slots=True)
class Grow:
    """Sees that a stack has room for one more."""

    stack: GrowableStack

    @property
    def reads(self) -> list[Value]:
        """Nothing."""
        return []


@record(slots=True)
class Draw:
    """Has a library kernel take its next random numbers, every time that it comes to run.

    Elsewhere a run takes them before it starts; under a condition or in a loop nobody knows how
    often they will be drawn.
    """

    node: Call

    @property
    def reads(self) -> list[Value]:
        """Nothing."""
        return []


@record(slots=True)
class Learn:
    """Reads a number that sizes behind are made of: what follows is laid out by it."""

    node: Measure

    @property
    def reads(self) -> list[Value]:
        """The number."""
        return [root(self.node.inputs[0])]


Control = Skip | Again | Fail | Grow | Draw | Learn
Step = KernelStep | CallStep | HostStep | Control


def has_row(step: Step) -> bool:
    """Does the driver's table have a row for it?"""
    if isinstance(step, HostStep):
        return step.is_inside
    return not (isinstance(step, Fail) and step.is_between)


@record(slots=True)
class Slot:
    """A piece of the arena that values of one size use one after the other.

    Bit i of `live` says that step i needs the slot; slots that no step needs together may overlap.
    """

    # (A Python int of bits: whether two lives overlap is one `&`, however many steps there are.)
    values: list[Value]
    live: int


@record(slots=True)
class Schedule:
    """Steps in order, and the arena slot of every value that lives in the arena.

    `checks` are those that no step makes: they are looked at behind the last one.
    """

    steps: list[Step]
    slots: list[Slot]
    slot_of: dict[Value, int]
    checks: list[Check]
    fused: Fused


def schedule(fused: Fused, pieces: Pieces = PROCESSOR) -> Schedule:
    """Orders the work and assigns memory."""
    steps: list[Step] = []
    checks = [c for c in fused.program.checks if not base(c.flag).node.guard]
    for step in _straight(fused, pieces, is_inside=False):
        if isinstance(step, Label):
            step.step = len(steps)
        else:
            steps.append(step)
    slots, slot_of = _assign_slots(steps, fused.program.fetches, checks)
    return Schedule(steps, slots, slot_of, checks, fused)


def _straight(fused: Fused, pieces: Pieces, is_inside: bool) -> list[Step | Label]:
    """The steps of a program in order, with jumps around what runs under a condition."""
    stored = stored_values(fused)
    made = {}
    for cluster in fused.clusters:
        stopping.check()
        made[cluster] = list(_steps(cluster, stored, fused, pieces, is_inside))
    steps: list[Step | Label] = []
    guard: Guard = ()
    end: list[Label] = []
    for cluster in early(fused, made):
        # Neighbours under one condition are jumped over together.
        if cluster.guard != guard:
            guard = cluster.guard
            steps += end
            end = _skips(guard, steps)
        steps += made[cluster]
    steps += end
    for check in fused.program.checks:
        guard = base(check.flag).node.guard
        # Python cannot look at these when the run is over: the flag may never have been made, or is
        # that of the last turn alone.
        if is_inside or guard:
            end = _skips(guard, steps)
            steps += [Fail(check, is_last=True), *end]
    return steps


def _skips(guard: Guard, steps: list[Step | Label]) -> list[Label]:
    """Adds jumps to a new label unless all conditions hold; no label where there are none."""
    end = Label()
    # The outermost condition first: where it does not hold, the inner flags have not been made.
    steps += [Skip(flag, side, end) for flag, side in guard]
    return [end] if guard else []


def _steps(
    cluster: Cluster, stored: set[Value], fused: Fused, pieces: Pieces, is_inside: bool
) -> Iterator[Step | Label]:
    if not cluster.fused:
        (node,) = cluster.nodes
        if isinstance(node, Loop):
            yield from _loop(node, fused, pieces)
        elif isinstance(node, Call):
            if node.effects.grows and node.effects.stack is not None:
                yield Grow(node.effects.stack)
            # How many numbers it takes may be a size that the run has yet to learn.
            if node.reserve is not None and (
                is_inside or node.guard or sizes.is_measured(node.reserve.size)
            ):
                yield Draw(node)
            yield CallStep(node)
        elif isinstance(node, Measure):
            yield Learn(node)
        elif isinstance(node, Stop):
            flag, *evidence = node.inputs
            check = Check(flag, node.error, tuple(evidence))
            yield Fail(check, is_between=not (is_inside or node.guard))
        else:
            assert isinstance(node, Host)
            yield HostStep(node, is_inside or bool(node.guard))
        return
    for nest in nests(cluster, stored, pieces):
        # What nobody outside reads may leave nothing to do.
        if nest.kernel.stores:
            yield KernelStep(nest, cost(nest.kernel))


def _loop(node: Loop, fused: Fused, pieces: Pieces) -> Iterator[Step | Label]:
    """The test, and the body as long as it holds."""
    begin, end = Label(), Label()
    test, body = (_straight(part, pieces, is_inside=True) for part in fused.loops[node])
    cells = (*node.written, *node.read)
    registers = [cell.home for cell in cells if isinstance(cell, Register)]
    last = (
        value for step in body if isinstance(step, Fail) and step.is_last for value in step.reads
    )
    # (Flags and numbers cost nothing to keep.)
    holds = tuple(value for value in last if not value.shape)
    yield from (begin, *test, Skip(node.test.fetches[0], True, end, holds))
    yield from (*body, Again(begin, [*node.inputs, *registers]), end)


def stored_values(fused: Fused) -> set[Value]:
    """The results of clusters that somebody outside reads."""
    stored = {base(value) for value in fused.program.kept}
    for node in fused.program:
        # Jumps look at memory.
        stored.update(flag for flag, _ in node.guard)
        if isinstance(node, (View, Reshape, Source, Iota)):
            continue
        for value in node.inputs:
            maker = base(value).node
            # Within a kernel a value stays in a register, unless it is read at other positions.
            shared = fused.home.get(maker) is fused.home.get(node)
            alone = isinstance(node, (Call, Host, Gather, Loop, Stop, Measure))
            if not shared or alone or _crosses_reshape(value):
                stored.add(base(value))
    return stored


def _crosses_reshape(value: Value) -> bool:
    while isinstance(value.node, (View, Reshape)):
        if isinstance(value.node, Reshape):
            return True
        value = value.node.inputs[0]
    return False


def cost(kernel: ir.Kernel) -> float:
    """Estimated cost of one position of a kernel, in simple instructions."""
    total, seen = 0.0, set[ir.Expr]()
    stack: list[ir.Expr] = [store.value for store in kernel.stores]
    stack += [reduction.value for reduction in kernel.reductions]
    total += len(stack)
    while stack:
        expr = stack.pop()
        if expr in seen:
            continue
        seen.add(expr)
        if isinstance(expr, ir.Load):
            total += 1
        elif isinstance(expr, ir.Apply):
            total += PRIMITIVES[expr.fn].cost
            stack.extend(expr.args)
    return total


# Order.


def early(fused: Fused, made: Mapping[Cluster, Sequence[Step | Label]]) -> list[Cluster]:
    """The clusters in an order that can run: one that frees more memory than it takes comes as
    soon as it can, all others stay as they were."""
    order = _Early(fused, made)
    for cluster in fused.clusters:
        order.run(cluster)
    return order.done


class _Early:
    """What is ready to run, and what its run would free."""

    def __init__(self, fused: Fused, made: Mapping[Cluster, Sequence[Step | Label]]) -> None:
        self.done: list[Cluster] = []
        self.ran: set[Cluster] = set()
        self.waits: dict[Cluster, set[Cluster]] = {}
        self.followers: dict[Cluster, list[Cluster]] = {}
        for cluster in fused.clusters:
            needs = (fused.home[need] for node in cluster.nodes for need in fused.needs[node])
            before = dict.fromkeys(other for other in needs if other is not cluster)
            self.waits[cluster] = set(before)
            for other in before:
                self.followers.setdefault(other, []).append(cluster)
        # Arena values that a cluster touches, and clusters that have yet to touch a value.
        self.touched: dict[Cluster, dict[Value, None]] = {}
        self.users: dict[Value, dict[Cluster, None]] = {}
        for cluster in fused.clusters:
            found = (home(value) for step in made[cluster] for value in step.reads)
            self.touched[cluster] = dict.fromkeys(value for value in found if in_arena(value))
            for value in self.touched[cluster]:
                self.users.setdefault(value, {})[cluster] = None
        self.held: set[Value] = set()  # values in memory
        self.kept = {home(value) for value in fused.program.kept}

    def run(self, cluster: Cluster) -> None:
        """Runs a cluster, and then whatever it makes worthwhile."""
        stack = [cluster]
        while stack:
            current = stack.pop()
            if current in self.ran or (current is not cluster and not self._shrinks(current)):
                continue
            self.done.append(current)
            self.ran.add(current)
            for value in self.touched[current]:
                self.held.add(value)
                users = self.users[value]
                del users[current]
                # Its last user can free it.
                if len(users) == 1:
                    stack.extend(users)
            # Reversed for the stack, so that the first in program order comes first.
            stack.extend(reversed(self.followers.get(current, ())))

    def _shrinks(self, cluster: Cluster) -> bool:
        if not cluster.fused or not self.waits[cluster] <= self.ran:
            return False
        change = 0
        for value in self.touched[cluster]:
            # By the sizes met first: one order has to do for all.
            size = sizes.hint(byte_size(value))
            if value not in self.held:
                change += size
            if len(self.users[value]) == 1 and value not in self.kept:
                change -= size
        return change < 0


# Memory.


def in_arena(value: Value) -> bool:
    """Does a value live in the arena (and not in a feed, a constant or a variable)?"""
    node = value.node
    if value.cell is not None or (isinstance(node, Host) and not is_native(value)):
        return False
    return not isinstance(node, Source) or isinstance(node, (Partial, Sizes))


def is_native(value: Value) -> bool:
    """Can kernels hold the value?  Others (strings, what is quantized) stay Python arrays."""
    return holds(value.dtype)


def byte_size(value: Value) -> AnySize:
    """How many bytes a value takes."""
    return sizes.product(value.shape) * numpy_dtype(value.dtype).itemsize


def _assign_slots(
    steps: list[Step], fetches: Sequence[Value], checks: Sequence[Check]
) -> tuple[list[Slot], dict[Value, int]]:
    """Gives arena values slots: a slot is free again after the last use of its value."""
    last: dict[Value, int] = {}
    for number, step in enumerate(steps):
        stopping.check()
        for value in map(home, step.reads):
            last[value] = number
    end = len(steps)
    checked = (value for check in checks for value in check.values)
    last.update((home(value), end) for value in (*fetches, *checked))
    slots: list[Slot] = []
    slot_of: dict[Value, int] = {}
    pools: dict[str, _Pool] = {}
    for number, step in enumerate(steps):
        for value in map(home, step.reads):
            if value in slot_of or not in_arena(value):
                continue
            if isinstance(value.node, Sizes):
                place, live = len(slots), (1 << (end + 1)) - 1  # written before the first step
            else:
                # Only values of one symbolic size take turns in a slot, which is decided before
                # sizes are known; once they are, slots of any sizes share memory
                # (jit/schedule/bind.py).
                pool = pools.setdefault(sizes.expression(byte_size(value)), _Pool())
                place = pool.take(number, last[value], len(slots))
                # The bits from `number` to `last`, both among them.
                live = (2 << last[value]) - (1 << number)
            if place == len(slots):
                slots.append(Slot([], 0))
            slots[place].values.append(value)
            slots[place].live |= live
            slot_of[value] = place
    return slots, slot_of


class _Pool:
    """Slots of one size: those in use by the step that frees them, and the free ones."""

    def __init__(self) -> None:
        self._busy: list[tuple[int, int]] = []
        self._free: list[int] = []

    def take(self, first: int, last: int, new: int) -> int:
        """A slot for steps first to last, the lowest that is free, else a new one.

        Requests come in order of their first steps.
        """
        # Not of values that this very step reads for the last time: a kernel's buffers do not
        # overlap.
        while self._busy and self._busy[0][0] < first:
            heappush(self._free, heappop(self._busy)[1])
        place = heappop(self._free) if self._free else new
        heappush(self._busy, (last, place))
        return place
