# SPDX-License-Identifier: Apache-2.0
"""New values for some rows of variables, in place.

The kernel is a generated one: its outer loop goes over the indices in order, so that equal indices
are applied one after the other, and a tile has all of them and some columns.  (On GPUs it is of
block_update.py.)  Rows that are not named are not touched.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..kernel import ir, scalar
from ..kernel.ir import postorder
from ..kernel.sizes import AnySize, ceil_div, maximum, product, same_shape
from ..program.tensor_ir import literal
from .block_rows import ends_of_runs, lists_of_rows
from .block_update import update_kernel

_WORK = 1 << 15  # elements per tile
_COLUMNS = 32  # no tile has fewer columns, but for those of narrow rows

# The kernel's parameter: elements of a row.
_WIDTH = ir.Param(0)


def update_rows(
    b: Any,
    cells: Sequence[Any],
    indices: Any,
    body: Callable[..., Any],
    given: Sequence[Any],
    problem: Callable[..., BaseException],
    depth: int = 1,
    evidence: Any = None,
) -> Any:
    """body(*rows of the variables, *given) -> their new values, for every index in order.

    What is given is a scalar, or has a row for every index.  Returns the variables as they are
    afterwards, or NotImplemented.  At an index out of range the updates end, and the run raises
    problem(indices, rows of the variables).  A row is what lies behind the first `depth`
    dimensions, which `indices` count through; `evidence` is what `problem` is given for them.
    """
    present = [b.read(cell) for cell in cells]
    first, rows = present[0], (*indices.shape, *present[0].shape[depth:])
    count_of_rows = product(first.shape[:depth])
    if not all(same_shape(v.shape, first.shape) for v in present) or 0 in first.shape:
        return NotImplemented
    if not first.ndim or len({id(cell.cell) for cell in cells}) < len(cells):
        return NotImplemented
    if any(v.ndim and not _equal(b, v.shape, rows) for v in given):
        return NotImplemented
    if not all(scalar.compiles(v.dtype) for v in (*present, indices, *given)):
        return NotImplemented
    body, given = _with_literals(body, len(cells), given)
    count, width = product(indices.shape), product(first.shape[depth:])
    wide = b.reshape(b.cast(indices, "int64"), [count])
    end = _first_outside(b, wide, count_of_rows)
    inputs = [wide, end]
    tiles: tuple[Any, ...] = (count, maximum(count, 1), width, _column_tile(count))
    if b.is_plain:
        lists = lists_of_rows(b, wide, count_of_rows)
        if lists is None:
            return NotImplemented
        keys, order = lists
        inputs += [order, ends_of_runs(b, keys, count_of_rows)]
        tiles = (1, 1, count * width, None)
    kernel, operations = _kernel(body, present, inputs, given)
    after = b.call(
        update_kernel(kernel) if b.is_plain else kernel,
        [*inputs, *given],
        (),
        [count, width, width],
        *tiles,
        operations=count * width * operations,
        updates=cells,
        touches=count * width,
    )
    size = b.constant(count_of_rows, "int64")
    bad = b.map(scalar.lt, end, b.size_scalar(wide, None, "int64"))
    b.require_not(
        bad,
        lambda where, rows: problem(where, int(rows)),
        indices if evidence is None else evidence,
        size,
    )
    return after


def _column_tile(count: AnySize) -> AnySize:
    """Columns of a tile."""
    return maximum(ceil_div(ceil_div(_WORK, maximum(count, 1)), 16) * 16, _COLUMNS)


def _with_literals(
    body: Callable[..., Any], cells: int, given: Sequence[Any]
) -> tuple[Callable[..., Any], list[Any]]:
    """The body with the plain scalars among what is given in its text, and what is left to give."""
    plain = [literal(value) for value in given]

    def rest(*args: Any) -> Any:
        loaded = iter(args[cells:])
        return body(*args[:cells], *(next(loaded) if p is None else p for p in plain))

    return rest, [value for value, p in zip(given, plain, strict=True) if p is None]


def _first_outside(b: Any, indices: Any, rows: AnySize) -> Any:
    """The position of the first index out of range; behind the last one where all are inside."""
    count = b.size_scalar(indices, None, "int64")

    def place(i: Any, position: Any, count: Any) -> Any:
        outside = scalar.logical_or(scalar.lt(i, 0), scalar.ge(i, rows))
        return scalar.select(outside, position, count)

    places = b.map(place, indices, b.iota(indices.shape, 0, "int64"), count)
    return b.map(scalar.minimum, b.reduce("min", places, None), count)


def _equal(b: Any, shape: Sequence[AnySize], other: Sequence[AnySize]) -> bool:
    return len(shape) == len(other) and all(b.equal(x, y) for x, y in zip(shape, other))


def _kernel(
    body: Callable[..., Any], present: Sequence[Any], indices: Sequence[Any], given: Sequence[Any]
) -> tuple[ir.Kernel, int]:
    """The kernel, and how many scalar operations it does for one element.

    indices: themselves, how many are to be applied, and what else the kernel is given of them.
    """
    dtypes = [v.dtype for v in (*indices, *given, *present)]
    held = len(indices) + len(given)
    row, end = ir.Load(0, ir.Index((1, 0)), "int64"), ir.Load(1, ir.Index((0, 0)), "int64")
    inside = scalar.lt(ir.AxisIndex(0), end)
    place = ir.Index((0, 1), scalar.mul(scalar.select(inside, row, 0), _WIDTH))
    olds = [ir.Load(i, place, dtypes[i]) for i in range(held, len(dtypes))]
    beside = ir.Index((_WIDTH, 1))
    arguments = [
        ir.Load(i, beside if value.ndim else ir.Index((0, 0)), value.dtype)
        for i, value in enumerate(given, len(indices))
    ]
    news = body(*olds, *arguments)
    stores = tuple(
        ir.Store(old.buffer, place, scalar.select(inside, new, old))
        for old, new in zip(olds, news, strict=True)
    )
    buffers = tuple(ir.Buffer(d, "r" if i < held else "rw") for i, d in enumerate(dtypes))
    axes = (ir.Axis("map"), ir.Axis("map"))
    nodes = {node for store in stores for node in postorder(store.value)}
    return (
        ir.Kernel("map", buffers, axes, (), stores, 1),
        sum(isinstance(node, ir.Apply) for node in nodes),
    )
