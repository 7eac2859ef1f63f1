# SPDX-License-Identifier: Apache-2.0
"""The row and column forms of kernels: passes over the reduce axes, accumulators, stores.

Rows keep accumulators in variables and leave it to LLVM to make several vectors of them; columns
keep a block of accumulators in the frame.  Imports no Numba.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

from ...engine.record_class import record
from ..kernel.ir import (
    Apply,
    AxisIndex,
    Const,
    Expr,
    Kernel,
    Load,
    Reduced,
    Reduction,
    Store,
    postorder,
)
from ..kernel.reference import numpy_dtype
from ..kernel.scalar import PRIMITIVES, kind_of
from .writer import Writer, accumulator_dtype, finished, wide

TOTALS = {"sum": "add", "prod": "mul"}
# Functions that are calls of C's library, and of which numbers: loops over them stay no vectors.
CALLS: dict[str, tuple[str, ...]] = dict.fromkeys(
    "floormod truncatemod lgamma".split(), ("float64",)
)
BLOCK = 128  # columns whose accumulators the column form keeps in the frame at a time
ROWS = 4  # rows at most that the row form takes at a time
# (Of float32 elements 32 KB, a first-level cache; of fewer rows at a time where rows are longer.)
_NEAR = 8192  # elements of rows taken together, which stay in a near cache between the passes
_TINY = 4  # rows of so many elements are straight-line code
_LINE = 16  # elements of a line of memory


def write_rows(e: Writer) -> None:
    """Passes over the reduce axes, each finishing the reductions that it can; then the stores.

    Where there are several, each goes over a few rows before the next begins: no pass has to wait
    for the very end of the one before.
    """
    levels = levels_of(e.kernel)
    late = late_stores(e)
    kept = kept_values(e, late, levels)
    steps: list[Callable[[], None]] = []
    for level in range(max(levels, default=-1) + 1):
        steps.append(partial(_row_pass, e, at_level(levels, level), level, kept))

    def finish() -> None:
        recall(e, kept, len(levels))
        e.stores(late)

    def stores() -> None:
        e.stores(store for store in e.kernel.stores if store not in late)

    steps += [partial(_nest, e, finish), stores] if late else [stores]
    along = line_axis(e)
    if is_blocked(e):
        _in_blocks(e, levels, steps)
    elif along is not None:
        e.over_lines(along, partial(_line, e, along, steps))
    else:
        e.over_rows(steps)


def _line(e: Writer, axis: int, steps: list[Callable[[], None]], first: str, last: str) -> None:
    e.open((axis,))
    for step in steps:
        step()
    e.close(f"for i{axis} in range({first}, {last}):")


def line_axis(e: Writer) -> int | None:
    """The axis along which rows that are straight-line code follow each other in a plain loop.

    LLVM makes vectors of several rows only where a row is the turn of a loop and nothing else:
    counting positions on several axes is not.  None where rows are long, lie on one axis anyway, or
    far from each other.
    """
    extents = [e.kernel.axes[axis].size for axis in e.reduce]
    if len(e.outer) < 2 or None in extents:
        return None
    apart = math.prod(extents)  # type: ignore[arg-type]
    for axis in reversed(e.outer):
        size = e.kernel.axes[axis].size
        if size is None or size > _TINY:
            return axis
        # A loop of so few turns fills no vector; that of the next axis does, while rows are near.
        apart *= size
        if apart > _LINE:
            break
    return None


def late_stores(e: Writer) -> list[Store]:
    """Stores at every position of the reduce axes, for which all reductions must be finished."""
    return [store for store in e.kernel.stores if e.depends_on_reduce(store)]


def at_level(levels: Sequence[int], level: int) -> list[int]:
    return [n for n, at in enumerate(levels) if at == level]


def is_blocked(e: Writer) -> bool:
    """Does a kernel of the row form go over its rows more than once, and are they no tiny ones?"""
    extents = [e.kernel.axes[axis].size for axis in e.reduce]
    if None not in extents and math.prod(extents) <= _TINY:  # type: ignore[arg-type]
        return False
    return max(levels_of(e.kernel), default=-1) + bool(late_stores(e)) > 0


def _in_blocks(e: Writer, levels: Sequence[int], steps: list[Callable[[], None]]) -> None:
    """Blocks of rows; what a pass finishes waits in the frame for the passes after it."""
    extents = [e.literal(e.size(axis)) for axis in e.reduce]
    extent = extents[0]
    for other in extents[1:]:
        extent = e.name(("extent", other), f"mul({extent}, {other})", e.scopes[0], "extent")
    near, most, one = (e.node(Const(n, "int64")) for n in (_NEAR, ROWS, 1))
    e.line(f"few = truncatediv({near}, maximum({extent}, {one}))")
    e.line(f"rows = maximum(minimum(few, {most}), {one})")
    e.open(())
    e.line("last = minimum(block + rows, r1)")
    count = max(levels) + bool(late_stores(e))
    for level in range(count):
        keep = partial(_keep, e, at_level(levels, level))
        e.over_rows([steps[level], keep], "block", "last")
    e.over_rows(steps[count:], "block", "last")
    e.close("for block in range(r0, r1, rows):")


def _keep(e: Writer, numbers: list[int]) -> None:
    """Puts finished reductions of the row form into the frame."""
    for n in numbers:
        reduction = e.kernel.reductions[n]
        value = e.node(Reduced(n, reduction.dtype))
        e.line(f"store(s{n}, {e.frame_place}, {value})")


Kept = list[tuple[Expr, Store, int]]


def kept_values(e: Writer, late: list[Store], levels: Sequence[int]) -> Kept:
    """Costly values of a pass that a later store needs: they wait in the store's own place."""
    # Tiny rows are straight-line code, whose values LLVM keeps in registers without being told.
    if not late or all((e.kernel.axes[n].size or BLOCK) <= 16 for n in e.reduce):
        return []
    computed: dict[Expr, int] = {}
    for reduction, level in zip(e.kernel.reductions, levels):
        for node in postorder(reduction.value):
            computed[node] = min(level, computed.get(node, level))
    kept: Kept = []
    for store in late:
        buffer = e.kernel.buffers[store.buffer]
        # An updated buffer is still read; a store that converts would give the value back rounded.
        if buffer.access != "w" or buffer.dtype not in ("float32", "float64"):
            continue
        # The largest such value below the store, as it saves most: softmax keeps exp(x - max),
        # which the second pass needs for the sum and the third for the quotient.
        for node in reversed(postorder(store.value)):
            if node in computed and node.dtype == buffer.dtype and _is_costly(e, node):
                if all(node is not other for other, _, _ in kept):
                    kept.append((node, store, computed[node]))
                break
    return kept


def _is_costly(e: Writer, node: Expr) -> bool:
    """Whether a value is computed per element by some transcendental function."""
    if not frozenset(e.reduce) <= e.dependence(node):
        return False
    return any(isinstance(n, Apply) and PRIMITIVES[n.fn].is_costly for n in postorder(node))


def recall(e: Writer, kept: Kept, level: int) -> None:
    for node, store, stored in kept:
        if stored < level:
            e.recall(store, node)


def _row_pass(e: Writer, numbers: list[int], level: int, kept: Kept) -> None:
    """One pass; positions of extremes take another, as finding both at once is no vector loop."""
    reductions = e.kernel.reductions
    args = [n for n in numbers if reductions[n].fn.startswith("arg")]
    totals = [n for n in numbers if in_lanes(e.kernel, n)]
    for n in numbers:
        _start(e, n)

    def step(is_free: bool) -> None:
        recall(e, kept, level)
        for n in numbers:
            value = e.value(reductions[n].value)
            if n in args:
                e.line(f"a{n} = accumulate_{reductions[n].fn[3:]}(a{n}, {value})")
                continue
            for text in combined(e, n, value, f"a{n}", "", is_free and n in totals):
                e.line(text)
        for node, store, stored in kept:
            if stored == level:
                e.store(store, node)

    def locate() -> None:
        for n in args:
            value = e.value(reductions[n].value)
            # Compared with the extreme that has been found: the least position that equals it is
            # the first, as TensorFlow has it.
            far = e.node(Const(FAR, "int64"))
            e.line(f"here{n} = select(eq({value}, a{n}), i{e.reduce[0]}, {far})")
            e.line(f"x{n} = accumulate_min(x{n}, here{n})")

    if totals:
        lanes = lanes_of(e.kernel, level)
        _nest(e, partial(_in_lanes, e, step, lanes), e.reduce[:-1])
    else:
        _nest(e, partial(step, False))
    if args:
        for n in args:
            e.line(f"x{n} = {e.node(Const(FAR, 'int64'))}")
        _nest(e, locate)
    for n in numbers:
        _finish(e, n)


class Lanes(NamedTuple):
    """How many elements of a row are taken at once: vectors of so many, so many vectors.

    Of 0 vectors the elements of a short row are part of one.
    """

    width: int
    vectors: int


def in_lanes(kernel: Kernel, n: int) -> bool:
    """Is a reduction by rows a total of floats whose order is stated by `lanes_of`?

    Elements of short rows that cost little are added one by one: where rows are straight-line code
    LLVM makes vectors of several rows.
    """
    reduction = kernel.reductions[n]
    if kernel.form != "row" or reduction.fn not in TOTALS or kind_of(reduction.dtype) != "f":
        return False
    size, values = kernel.axes[-1].size, _values(kernel, levels_of(kernel)[n])
    if any(isinstance(v, Apply) and v.args[-1].dtype in CALLS.get(v.fn, ()) for v in values):
        return False
    return size is None or (size > _TINY and _has_costly(values))


def lanes_of(kernel: Kernel, level: int) -> Lanes:
    """The lanes of a pass's totals: they follow from what it computes, not from the processor."""
    nodes, size = _values(kernel, level), kernel.axes[-1].size
    if size is not None:
        return Lanes(1 << (size - 1).bit_length(), 0)
    widest = max(numpy_dtype(wide(node.dtype)).itemsize for node in nodes)
    return Lanes(64 // widest, 2 if _has_costly(nodes) else 4)


@cache
def _values(kernel: Kernel, level: int) -> Sequence[Expr]:
    """What a pass computes for every element; of loads no addresses."""
    found = zip(kernel.reductions, levels_of(kernel))
    values = tuple(reduction.value for reduction, at in found if at == level)
    moving: dict[Expr, bool] = {}
    for value in values:
        for node in postorder(value, lambda node: isinstance(node, Load)):
            if isinstance(node, Apply):
                moving[node] = any(moving[arg] for arg in node.args)
            else:
                moving[node] = isinstance(node, (Load, AxisIndex))
    return tuple(node for node, moves in moving.items() if moves) or values


def _has_costly(nodes: Sequence[Expr]) -> bool:
    return any(isinstance(node, Apply) and PRIMITIVES[node.fn].is_costly for node in nodes)


def _in_lanes(e: Writer, step: Callable[[bool], None], lanes: Lanes) -> None:
    """A pass over the innermost axis, with totals in a stated order.

    As many elements as there are lanes are taken at once, then as many as a vector has, then one
    by one; each loop adds up its lanes before the next begins.
    """
    inner, (low, high) = e.reduce[-1], e.reduce_limits(e.reduce[-1])
    parts = [(low, high, lanes.vectors)]
    if lanes.vectors:
        every = e.node(Const(-lanes.width * lanes.vectors, "int64"))
        count = high if low == "0" else f"{high} - {low}"
        e.line(f"whole = {'' if low == '0' else f'{low} + '}bitwise_and({count}, {every})")
        parts = [(low, "whole", lanes.vectors), ("whole", high, 1)]
    for first, last, vectors in parts:
        e.open((inner,))
        step(True)
        e.close(f"for i{inner} in lanes({first}, {last}, {lanes.width}, {vectors}):")


_LARGEST = {
    "float16": 65504.0,
    "bfloat16": 3.3895313892515355e38,
    "float32": 3.4028234663852886e38,
    "float64": 1.7976931348623157e308,
}
# A position beyond all others; not the largest int64, with which LLVM would fold the minimum.
FAR = 1 << 62


def worst(reduction: Reduction) -> Const:
    """Where the search for an extreme begins; what is no better, such as a NaN, has no place."""
    dtype = reduction.value.dtype
    if dtype not in _LARGEST:
        return identity(reduction.fn, wide(dtype))
    sign = -1 if reduction.fn == "argmax" else 1
    return Const(sign * _LARGEST[dtype], wide(dtype))


def _finish(e: Writer, n: int) -> None:
    """Names the result of a reduction of the row form."""
    reduction = e.kernel.reductions[n]
    text = f"a{n}"
    if reduction.fn.startswith("arg"):
        nowhere = f"eq(a{n}, {e.node(worst(reduction))})"
        text = f"select({nowhere}, {e.node(Const(0, 'int64'))}, x{n})"
    e.name(Reduced(n, reduction.dtype), finished(reduction, text), e.scopes[-1], "done")


def _nest(e: Writer, body: Any, axes: list[int] | None = None) -> None:
    """Loops over the reduce axes, or some of them, around `body`."""
    axes = e.reduce if axes is None else axes
    headers = [f"for i{axis} in {e.reduce_range(axis)}:" for axis in axes]
    for axis in axes:
        e.open((axis,))
    body()
    for header in reversed(headers):
        e.close(header)


def write_columns(e: Writer) -> None:
    """Blocks of columns, whose accumulators stay in the frame while the reduce axes go by."""
    numbers = range(len(e.kernel.reductions))
    # Rows outside, columns inside: memory is read as it lies, and all columns of a block are
    # vectors that do not wait for each other. Each column is summed in the order of rows, so that
    # the block's length is in no result.
    column = f"for i{e.inner} in range(block, end):"
    e.open(())
    e.line(f"end = minimum(block + {BLOCK}, c1)")
    e.line("for column in range(end - block):")
    for n in numbers:
        for slot, first in _slots(e, n):
            e.line(f"    store({slot.frame}, column, {first})")

    def sweep() -> None:
        e.open((e.inner,))
        for n in numbers:
            _column_step(e, n)
        e.close(column)

    if e.kernel.reductions:
        _nest(e, sweep)
    late = late_stores(e)
    if late:
        _nest(e, lambda: _column_stores(e, late, column))
    _column_stores(e, [store for store in e.kernel.stores if store not in late], column)
    e.close(f"for block in range(c0, c1, {BLOCK}):")


def _column_stores(e: Writer, stores: list[Store], header: str) -> None:
    e.open((e.inner,))
    e.stores(stores)
    e.close(header)


def _column_step(e: Writer, n: int) -> None:
    value = e.value(e.kernel.reductions[n].value)
    at = f"i{e.inner} - block"
    names = [slot.name for slot, _ in _slots(e, n)]
    frames = [slot.frame for slot, _ in _slots(e, n)]
    for name, frame in zip(names, frames):
        e.line(f"{name} = load({frame}, {at})")
    for text in combined(e, n, value, f"a{n}", f"x{n}", is_free=False):
        e.line(text)
    for name, frame in zip(names, frames):
        e.line(f"store({frame}, {at}, {name})")


@record(frozen=True, slots=True)
class Slot:
    """A block of the frame, the dtype of its elements, and the variable that holds one of them."""

    frame: str
    name: str
    dtype: str


def _slots(e: Writer, n: int) -> list[tuple[Slot, str]]:
    """The accumulators of a reduction by columns, and their first values."""
    reduction = e.kernel.reductions[n]
    kind = accumulator_dtype(reduction)
    if not reduction.fn.startswith("arg"):
        return [(Slot(f"s{n}", f"a{n}", kind), e.node(identity(reduction.fn, kind)))]
    best = wide(reduction.value.dtype)
    first = e.node(worst(reduction))
    nowhere = e.node(Const(0, kind))
    return [(Slot(f"t{n}", f"a{n}", best), first), (Slot(f"s{n}", f"x{n}", kind), nowhere)]


def frame(e: Writer) -> list[str]:
    """The lines that reserve blocks of the frame: accumulators by columns, results by rows."""
    reductions = e.kernel.reductions
    if e.kernel.form == "row" and is_blocked(e):
        return [f"s{n} = stack_{wide(r.dtype)}({ROWS})" for n, r in enumerate(reductions)]
    if e.kernel.form != "column":
        return []
    slots = [slot for n in range(len(reductions)) for slot, _ in _slots(e, n)]
    return [f"{slot.frame} = stack_{slot.dtype}({BLOCK})" for slot in slots]


def _start(e: Writer, n: int) -> None:
    reduction = e.kernel.reductions[n]
    is_arg = reduction.fn.startswith("arg")
    first = worst(reduction) if is_arg else identity(reduction.fn, accumulator_dtype(reduction))
    e.line(f"a{n} = {e.node(first)}")


def combined(
    e: Writer, n: int, value: str, best: str, where: str, is_free: bool = True
) -> list[str]:
    """The lines that take a value into a reduction; is_free: a total's order is not theirs."""
    fn = e.kernel.reductions[n].fn
    if fn in ("any", "all"):
        return [f"{best} = logical_{'or' if fn == 'any' else 'and'}({best}, {value})"]
    if fn in ("argmax", "argmin"):
        better = f"{'gt' if fn == 'argmax' else 'lt'}({value}, {best})"
        position = f"i{e.reduce[0]}"
        return [
            f"better{n} = {better}",
            f"{best} = select(better{n}, {value}, {best})",
            f"{where} = select(better{n}, {position}, {where})",
        ]
    step = TOTALS.get(fn, fn)
    if fn in TOTALS and not is_free:
        return [f"{best} = {step}({best}, {value})"]
    return [f"{best} = accumulate_{step}({best}, {value})"]


def identity(fn: str, dtype: str) -> Const:
    """What a reduction of nothing gives."""
    if fn in ("any", "all"):
        return Const(fn == "all", "bool")
    # A sum begins with +0, so that one of -0 alone is +0.
    if fn in ("sum", "prod"):
        value = float(fn == "prod") if kind_of(dtype) == "f" else int(fn == "prod")
        return Const(value, dtype)
    lowest = fn in ("max", "argmax")
    if kind_of(dtype) == "f":
        return Const(float("-inf") if lowest else float("inf"), dtype)
    if dtype == "bool":
        return Const(not lowest, "bool")
    bits = int(dtype.lstrip("uint"))
    if dtype.startswith("u"):
        return Const(0 if lowest else (1 << bits) - 1, dtype)
    return Const(-(1 << (bits - 1)) if lowest else (1 << (bits - 1)) - 1, dtype)


@cache
def levels_of(kernel: Kernel) -> tuple[int, ...]:
    """The pass in which each reduction is finished: one later than those that it depends on."""
    # (Found once for a kernel, as each of its reductions asks, of which it may have hundreds.)
    levels: list[int] = []
    for reduction in kernel.reductions:
        used = [n.reduction for n in postorder(reduction.value) if isinstance(n, Reduced)]
        levels.append(1 + max((levels[n] for n in used), default=-1))
    return tuple(levels)
