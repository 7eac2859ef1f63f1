# SPDX-License-Identifier: Apache-2.0
"""From a kernel (jit/kernel/ir.py) to the source of a CUDA kernel, in the words of device_words.py.

The nest is the one of the processor; what differs is who does which positions.  A block of threads
has `lines()` lines of `lanes()` threads each:

map     a line takes a row, its lanes the row's columns, neighbours side by side; of long rows a
        lane takes several at once (wide_emit.py)
column  the same; the layers of a block share the innermost reduce axis of its columns and combine
        what they have layer by layer
row     the lanes of a line share the innermost reduce axis and combine what they have in an order
        that the number of lanes fixes (a tree within a warp, then warp by warp)

Rows and columns that the grid does not cover are taken in further turns, so that any grid and any
block give all results, one thread alone too.  Lines of more than a warp are alone in their block,
and so are lines of several layers: then all its threads meet at the barriers.  Imports no Numba.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ..codegen.emit import literal
from ..codegen.reductions import (
    FAR,
    at_level,
    combined,
    identity,
    late_stores,
    levels_of,
    worst,
)
from ..codegen.writer import ROW, Writer, accumulator_dtype, finished
from ..kernel.ir import Const, Kernel, Reduced, Reduction, Store, declaration
from . import turned_emit
from .held_emit import HeldWriter
from .wide_emit import is_wide, wide

WARP = 32
_MOST_WARPS = 32  # of a line, so of a block
SHARED_BY_LAYERS = 256  # threads of a block that has several layers
_ROWS = "range(block_y() * lines() + line(), rows, blocks_y() * lines())"
_COLUMNS = "range(block_x() * lanes() + lane(), columns, blocks_x() * lanes())"
# The first columns of a block; all its threads take as many turns.
_FIRST_COLUMNS = "range(block_x() * lanes(), columns, blocks_x() * lanes())"


def emit(kernel: Kernel, title: str = "") -> str:
    """The Python source of a kernel: a module whose one function is `kernel`."""
    turned = turned_emit.turned_axis(kernel)
    e: Writer
    if kernel.form == "row":
        e = HeldWriter(kernel)
        _over_rows(e, partial(_write_row, e))
    elif turned is None:
        e = Writer(kernel)
        _over_rows(e, partial(_map_row if kernel.form == "map" else _write_columns, e))
    else:
        e = turned_emit.TurnedWriter(kernel, *turned)
        turned_emit.write(e, partial(_over_rows, e, partial(_map_row, e)))
    head = [f"# {text}" for text in title.splitlines()]
    head.append(declaration(buffer.dtype for buffer in kernel.buffers))
    # What no thread writes may be read ahead of stores, and through the cache for constants.
    only_read = tuple(n for n, buffer in enumerate(kernel.buffers) if buffer.access == "r")
    head.append(f"CONSTANT = {only_read!r}")
    head += [f"{name} = {literal(const)}" for const, name in e.constants.items()]
    shared = turned_emit.shared(e) if isinstance(e, turned_emit.TurnedWriter) else _shared(e)
    if isinstance(e, HeldWriter):
        shared += e.reserved()
    lines = [*shared, *e.scopes[0].lines]
    signature = "def kernel(args, rows, columns):"
    return "\n".join([*head, "", "", signature, *("    " + text for text in lines), ""])


def _over_rows(e: Writer, body: Callable[[], None]) -> None:
    """All rows of a line; what outer axes' positions are follows from the row by division."""
    e.open((*e.outer, ROW))
    rest = e.row
    for axis in reversed(e.outer[1:]):
        size = e.literal(e.size(axis))
        e.line(f"i{axis} = truncatemod({rest}, {size})")
        e.line(f"rest{axis} = truncatediv({rest}, {size})")
        rest = f"rest{axis}"
    if len(e.outer) > 1:
        e.line(f"i{e.outer[0]} = {rest}")
    body()
    e.close(f"for {e.row} in {_ROWS}:")


def _map_row(e: Writer) -> None:
    e.open((e.inner,))
    e.stores(e.kernel.stores)
    columns = _COLUMNS
    body = e.scopes[-1].lines
    if is_wide(e.kernel, body):
        e.scopes[-2].lines += wide(f"i{e.inner}", body)
        columns = columns.replace("range(", "range(done + ")
    e.close(f"for i{e.inner} in {columns}:")


# Columns: a thread each.


def _write_columns(e: Writer) -> None:
    numbers = range(len(e.kernel.reductions))
    late = late_stores(e)
    e.open((e.inner,))
    # Who has no column takes the last one along, for the barriers, and writes nothing.
    e.line("column = first + lane()")
    e.line(f"i{e.inner} = minimum(column, columns - 1)")
    for n in numbers:
        for name, first in _accumulators(e, n):
            e.line(f"{name} = {e.node(first)}")

    def sweep() -> None:
        for n in numbers:
            value = e.value(e.kernel.reductions[n].value)
            for text in combined(e, n, value, f"a{n}", f"x{n}"):
                e.line(text)

    if e.kernel.reductions:
        _nest(e, sweep, ("layer()", "layers()"))
        _between_layers(e)
    for n in numbers:
        reduction = e.kernel.reductions[n]
        held = f"x{n}" if reduction.fn.startswith("arg") else f"a{n}"
        e.name(Reduced(n, reduction.dtype), finished(reduction, held), e.scopes[-1], "done")
    _column_stores(e, late)
    e.close(f"for first in {_FIRST_COLUMNS}:")


def _column_stores(e: Writer, late: list[Store]) -> None:
    """What a column writes for each position of its reduce axes, and once."""

    def finish() -> None:
        e.stores(late)

    e.open(())
    if late:
        _nest(e, finish, ("layer()", "layers()"))
    once = [store for store in e.kernel.stores if store not in late]
    if once:
        e.open(())
        e.stores(once)
        e.close("if layer() < 1:")
    e.close("if column < columns:")


def _between_layers(e: Writer) -> None:
    """Combines what the layers of a column have; afterwards all of them have the results."""
    e.open(())
    for n, reduction in enumerate(e.kernel.reductions):
        held = [(name, _shared_name(name, first)) for name, first in _accumulators(e, n)]
        for name, shared in held:
            e.line(f"store({shared}, layer() * lanes() + lane(), {name})")
        e.line("barrier()")
        for name, shared in held:
            e.line(f"{name} = load({shared}, lane())")
        e.open(())
        there = [f"load({shared}, other * lanes() + lane())" for _, shared in held]
        for text in _joined(reduction.fn, n, there):
            e.line(text)
        e.close("for other in range(1, layers()):")
        e.line("barrier()")
    e.close("if layers() > 1:")


def _joined(fn: str, n: int, there: list[str]) -> list[str]:
    """The lines that combine a reduction with what another layer has of it."""
    if fn in _STEPS:
        return [f"a{n} = {_STEPS[fn]}(a{n}, {there[0]})"]
    # Layers take positions by turns: among equals the lowest counts.
    better = "gt" if fn == "argmax" else "lt"
    lower = f"logical_and(eq(best{n}, a{n}), lt(place{n}, x{n}))"
    return [
        *(f"best{n} = {there[0]}", f"place{n} = {there[1]}"),
        f"better{n} = logical_or({better}(best{n}, a{n}), {lower})",
        f"a{n} = select(better{n}, best{n}, a{n})",
        f"x{n} = select(better{n}, place{n}, x{n})",
    ]


def _shared_name(name: str, first: Const) -> str:
    """The memory that layers exchange an accumulator by: of each dtype one, and of places one."""
    return f"places_{first.dtype}" if name.startswith("x") else f"layers_{first.dtype}"


def _accumulators(e: Writer, n: int) -> list[tuple[str, Const]]:
    """The variables of a reduction and their first values."""
    reduction = e.kernel.reductions[n]
    if not reduction.fn.startswith("arg"):
        return [(f"a{n}", identity(reduction.fn, accumulator_dtype(reduction)))]
    return [(f"a{n}", worst(reduction)), (f"x{n}", Const(0, "int64"))]


# Rows: the lanes of a line.

_BY_LANES = ("lane()", "lanes()")


def _write_row(e: HeldWriter) -> None:
    if e.most:
        # Lanes of a warp compute again what is near by; those of a block have places for some.
        size = e.size(e.reduce[0])
        for text in (
            "near = 0",
            f"if lanes() > {WARP}:",
            f"    near = minimum({size} + 0, {e.most} + 0)",
        ):
            e.line(text, e.scopes[0])
    levels = levels_of(e.kernel)
    late = late_stores(e)
    for level in range(max(levels, default=-1) + 1):
        _pass(e, at_level(levels, level))

    def finish() -> None:
        e.stores(late)

    if late:
        _sweep(e, finish)
    once = [store for store in e.kernel.stores if store not in late]
    if once:
        # One thread writes: an update in place that several did would be done several times.
        e.open(())
        e.stores(once)
        e.close("if lane() < 1:")


def _pass(e: HeldWriter, numbers: list[int]) -> None:
    """Goes over the reduce axes once, and again for the positions of extremes."""
    reductions = e.kernel.reductions
    args = [n for n in numbers if reductions[n].fn.startswith("arg")]
    for n in numbers:
        is_arg = n in args
        dtype = accumulator_dtype(reductions[n])
        first = worst(reductions[n]) if is_arg else identity(reductions[n].fn, dtype)
        e.line(f"a{n} = {e.node(first)}")

    def step() -> None:
        for n in numbers:
            value = e.value(reductions[n].value)
            if n in args:
                e.line(f"a{n} = accumulate_{reductions[n].fn[3:]}(a{n}, {value})")
                continue
            for text in combined(e, n, value, f"a{n}", ""):
                e.line(text)

    _sweep(e, step)
    for n in numbers:
        fn = reductions[n].fn
        _across(e, f"a{n}", f"w{n}", fn.removeprefix("arg"))
    if args:
        _locate(e, args)
    for n in numbers:
        reduction, text = reductions[n], f"a{n}"
        if n in args:
            nowhere = f"eq(a{n}, {e.node(worst(reduction))})"
            text = f"select({nowhere}, {e.node(Const(0, 'int64'))}, x{n})"
        e.name(Reduced(n, reduction.dtype), finished(reduction, text), e.scopes[-1], "done")


def _sweep(e: HeldWriter, body: Callable[[], None]) -> None:
    """Goes over the row once, first over what is held of it, then over what is not."""
    if not e.most:
        _nest(e, body, _BY_LANES)
        return
    axis = e.reduce[0]
    e.is_near = True
    e.open((axis,))
    body()
    e.leave()
    e.close(f"for i{axis} in range(lane(), near, lanes()):")
    e.is_near = False
    e.open((axis,))
    body()
    e.close(f"for i{axis} in range(near + lane(), {e.size(axis)}, lanes()):")
    e.end_sweep()


def _locate(e: HeldWriter, args: list[int]) -> None:
    """The lowest positions at which extremes are."""
    far = e.node(Const(FAR, "int64"))
    for n in args:
        e.line(f"x{n} = {far}")

    def look() -> None:
        for n in args:
            value = e.value(e.kernel.reductions[n].value)
            e.line(f"here{n} = select(eq({value}, a{n}), i{e.reduce[0]}, {far})")
            e.line(f"x{n} = accumulate_min(x{n}, here{n})")

    _sweep(e, look)
    for n in args:
        _across(e, f"x{n}", f"y{n}", "min")


_STEPS = {"sum": "accumulate_add", "prod": "accumulate_mul", "any": "logical_or"}
_STEPS |= {"all": "logical_and", "max": "accumulate_max", "min": "accumulate_min"}


def _across(e: Writer, name: str, shared: str, fn: str) -> None:
    """Combines what the lanes of a line have; afterwards all of them have the result."""
    step = _STEPS[fn]
    e.open(())
    distance = WARP // 2
    while distance:
        # A butterfly: both sides compute the same sum, so that all lanes hold one result.
        e.line(f"{name} = {step}({name}, shuffled({name}, {distance}))")
        distance //= 2
    e.open(())
    e.line(f"store({shared}, warp(), {name})")
    e.line("barrier()")
    e.line(f"{name} = load({shared}, 0)")
    e.open(())
    e.line(f"{name} = {step}({name}, load({shared}, other))")
    e.close("for other in range(1, warps()):")
    e.line("barrier()")
    e.close(f"if lanes() > {WARP}:")
    e.close("if lanes() > 1:")


def _shared(e: Writer) -> list[str]:
    """The lines that reserve what the warps of a line, or the layers of a block, exchange."""
    kernel = e.kernel
    if kernel.form == "column":
        held = [pair for n in range(len(kernel.reductions)) for pair in _accumulators(e, n)]
        names = {_shared_name(name, first): first.dtype for name, first in held}
        return [f"{name} = shared_{dtype}({SHARED_BY_LAYERS})" for name, dtype in names.items()]
    if kernel.form != "row":
        return []
    lines = []
    for n, reduction in enumerate(kernel.reductions):
        held_as = _held(reduction)
        lines.append(f"w{n} = shared_{held_as}({_MOST_WARPS})")
        if reduction.fn.startswith("arg"):
            lines.append(f"y{n} = shared_int64({_MOST_WARPS})")
    return lines


def _held(reduction: Reduction) -> str:
    """What lanes exchange of a reduction: of a position's search the extreme."""
    if not reduction.fn.startswith("arg"):
        return accumulator_dtype(reduction)
    return worst(reduction).dtype


def _nest(e: Writer, body: Callable[[], None], shared: tuple[str, str] | None = None) -> None:
    """Loops over the reduce axes; `shared` names who of how many take turns on the innermost."""
    headers = []
    for axis in e.reduce:
        limits = e.reduce_range(axis)
        if shared is not None and axis == e.reduce[-1]:
            limits = _strided(limits, *shared)
        headers.append(f"for i{axis} in {limits}:")
    for axis in e.reduce:
        e.open((axis,))
    body()
    for header in reversed(headers):
        e.close(header)


def _strided(limits: str, who: str, many: str) -> str:
    """A range of which everybody takes a share: neighbours lie side by side in memory."""
    parts = limits.removeprefix("range(").removesuffix(")").split(", ")
    low, high = parts if len(parts) > 1 else ("", parts[0])
    first = f"{low} + {who}" if low else who
    return f"range({first}, {high}, {many})"
