# SPDX-License-Identifier: Apache-2.0
"""Loops whose turns the host can count: it begins one turn behind the other and waits once.

What most loops test is a whole number that each turn adds to.  The host does these few sums itself,
from numbers that it reads ahead of the first turn, and so knows when the loop ends without asking
the device in each turn.  What is wrong in a turn is noted on the device, with all that the error
tells of (jit/library/latches.py); the host looks at it behind the last turn.  As turns behind a
wrong one have been begun by then, loops that change what outlives the run are not among these.

Imports what plans for devices are made of.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ...engine.record_class import record
from ..kernel import ir
from ..kernel.reference import numpy_dtype
from ..program.tensor_ir import Constant, Feed, Register, Value, home
from ..schedule.steps import Again, CallStep, Fail, Grow, KernelStep, Skip, Step, has_row
from .device_plan import DevicePlan, Launch

_KINDS = "iub"  # of numbers that the host computes as the device does
Numbers = dict[Value, Any]
Sum = Callable[[Numbers], Any]
Update = tuple[Value, Sum]


@record(frozen=True, eq=False)
class KnownLoop:
    """Rows of a loop: `first` to `test`, which jumps out of it, and from there to `last`.

    updates: what rows make of numbers, for each such row of a turn, from behind the test to the
    test.  reads: the numbers that have to be known ahead.  checks: rows that stop if something is
    wrong.
    """

    first: int
    test: int
    last: int
    step: Skip
    updates: tuple[tuple[Update, ...], ...]
    reads: tuple[Value, ...]
    checks: tuple[int, ...]

    def rows(self) -> list[int]:
        """Those of a turn, from behind the test to it."""
        return [*range(self.test + 1, self.last), *range(self.first, self.test)]

    def numbers(self, run: Any) -> Numbers:
        """What the numbers are before the first turn, the flag too."""
        there = run.bring([self.step.flag, *self.reads])
        found = {home(value): view for value, view in there.items()}
        for value in self.reads:
            match value.node:
                case Constant(array=array):
                    found[value] = array
                case Feed(number=number):
                    found[value] = run.feeds[number]
        return {value: array.reshape(()).item() for value, array in found.items()}

    def holds(self, numbers: Numbers) -> bool:
        """Whether there is another turn."""
        return bool(numbers[home(self.step.flag)]) == self.step.wanted

    def turn(self, numbers: Numbers) -> None:
        """What a turn makes of the numbers."""
        for updates in self.updates:
            numbers.update([(value, compute(numbers)) for value, compute in updates])


def find(plan: DevicePlan, test: int, target: Callable[[int], int]) -> KnownLoop | None:
    """The loop whose test a row is, if its turns are known ahead; `target`: where a row jumps."""
    steps = [step for step in plan.schedule.steps if has_row(step)]
    skip = steps[test]
    last = next((n for n in range(test + 1, len(steps)) if isinstance(steps[n], Again)), None)
    if last is None or not isinstance(skip, Skip) or target(test) != last + 1:
        return None
    first = target(last)
    order = [*range(test + 1, last), *range(first, test)]
    if first > test or not all(_is_apart(plan.rows[row], steps[row]) for row in order):
        return None
    counted = _counted([steps[row] for row in order], home(skip.flag))
    if counted is None:
        return None
    updates, reads = counted
    slots = plan.schedule.slot_of
    # The host reads the numbers ahead of the first turn and the checks' flags behind the last: what
    # has no slot is nowhere by then.
    if any(v not in slots and not isinstance(v.node, (Constant, Feed)) for v in reads):
        return None
    checks = {row: step for row in order if isinstance(step := steps[row], Fail)}
    if any(home(step.check.flag) not in slots for step in checks.values()):
        return None
    return KnownLoop(first, test, last, skip, updates, reads, tuple(checks))


def _counted(
    turn: Sequence[Step], flag: Value
) -> tuple[tuple[tuple[Update, ...], ...], tuple[Value, ...]] | None:
    """The updates of a turn that its flag follows from, and the numbers that they begin with; None
    where the host cannot do them."""
    wanted = _wanted(turn, flag)
    written = {value for step in turn for value in _unknown(step)}
    if flag not in wanted or not written.isdisjoint(wanted):
        return None
    updates = tuple(filter(None, (tuple(_updates(step, wanted)) for step in turn)))
    if flag not in {value for row in updates for value, _ in row}:
        return None
    return updates, tuple(value for value in wanted if value is not flag)


def _is_apart(entry: object, step: Step) -> bool:
    """Whether a row may be run though an earlier turn was wrong."""
    if isinstance(entry, Launch):
        return not entry.writes
    return isinstance(step, Grow) or (isinstance(step, Fail) and step.is_last)


def _wanted(turn: Sequence[Step], flag: Value) -> set[Value]:
    """The numbers that a flag follows from, turn by turn; empty if they are not all sums that the
    host does."""
    sources: dict[Value, list[set[Value] | None]] = {}
    for step in turn:
        for value, expr in _sums(step):
            loads = None if expr is None or not _is_sum(expr) else _loads(step, expr)
            sources.setdefault(value, []).append(loads)
    found, waiting = set[Value](), [flag]
    while waiting:
        value = waiting.pop()
        if value in found:
            continue
        found.add(value)
        for loads in sources.get(value, ()):
            if loads is None:
                return set()
            waiting += loads
    return found


def _sums(step: Step) -> Iterator[tuple[Value, ir.Expr | None]]:
    """What a generated kernel makes, and of what; None where that is more than a number."""
    if isinstance(step, KernelStep):
        for store in step.kernel.stores:
            is_one = _is_one(store.index) and not step.kernel.reductions
            yield home(step.reads[store.buffer]), store.value if is_one else None


def _is_one(index: ir.Index) -> bool:
    """Whether it is one element that all positions of a kernel mean."""
    return index.offset is None and all(stride == 0 for stride in index.strides)


def _unknown(step: Step) -> Iterator[Value]:
    """What a library kernel changes."""
    if isinstance(step, CallStep):
        effects = step.node.effects
        yield from map(home, step.node.outputs)
        cells = (*effects.writes, *effects.updates)
        yield from (cell.home for cell in cells if isinstance(cell, Register))


def _updates(step: Step, wanted: set[Value]) -> Iterator[Update]:
    for value, expr in _sums(step):
        if value in wanted:
            assert expr is not None
            yield value, _computed(step, expr)


def _is_sum(root: ir.Expr) -> bool:
    """Whether an expression is made of whole numbers and comparisons alone."""
    for node in ir.postorder(root):
        match node:
            case ir.Load(index=index, dtype=dtype):
                is_fit = _is_one(index) and numpy_dtype(dtype).kind in _KINDS
            case ir.Const(dtype=dtype):
                is_fit = numpy_dtype(dtype).kind in _KINDS
            case ir.Apply(fn=fn, dtype=dtype):
                is_fit = fn in _FUNCTIONS and numpy_dtype(dtype).kind in _KINDS
            case _:
                is_fit = False
        if not is_fit:
            return False
    return True


def _loads(step: Any, root: ir.Expr) -> set[Value]:
    nodes = ir.postorder(root)
    return {home(step.reads[node.buffer]) for node in nodes if isinstance(node, ir.Load)}


def _computed(step: Any, root: ir.Expr) -> Sum:
    """What computes an expression of numbers, with Python's, as far as they go."""
    match root:
        case ir.Load(buffer=buffer):
            value = home(step.reads[buffer])
            return lambda numbers: numbers[value]
        case ir.Const(value=constant):
            number = np.asarray(constant).item()
            return lambda numbers: number
        case ir.Apply(fn=fn, args=args, dtype=dtype):
            function = _FUNCTIONS[fn]
            parts = [_computed(step, arg) for arg in args]
            if len(parts) == 1:
                return _wrapped(dtype, lambda numbers: function(parts[0](numbers)))
            first, *rest = parts
            if len(rest) == 1:
                second = rest[0]
                return _wrapped(dtype, lambda numbers: function(first(numbers), second(numbers)))
            return _wrapped(dtype, lambda numbers: function(*[part(numbers) for part in parts]))
    raise TypeError(f"{type(root).__name__} is no sum")


def _wrapped(dtype: str, compute: Sum) -> Sum:
    """The same within the ends of a type, beyond which numbers begin at the other one."""
    kind = numpy_dtype(dtype)
    if kind.kind == "b":
        return lambda numbers: bool(compute(numbers))
    low, size = int(np.iinfo(kind).min), 1 << 8 * kind.itemsize
    return lambda numbers: (int(compute(numbers)) - low) % size + low


# What the host computes of numbers as the device does (jit/kernel/reference.py has the meanings).
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "neg": operator.neg,
    "minimum": lambda x, y: y if y < x else x,
    "maximum": lambda x, y: y if y > x else x,
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "logical_and": lambda x, y: x and y,
    "logical_or": lambda x, y: x or y,
    "logical_not": operator.not_,
    "select": lambda test, x, y: x if test else y,
    "cast": lambda x: x,
}
