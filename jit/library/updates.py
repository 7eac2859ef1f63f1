# SPDX-License-Identifier: Apache-2.0
"""New values for some rows of variables, in place.

The kernel is a generated one: its outer loop goes over the indices in order, so that equal indices
are applied one after the other, and a tile has all of them and some columns.  Rows that are not
named are not touched.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...engine import errors
from .. import ir, scalar
from ..sizes import AnySize, ceil_div, maximum, product, same_shape
from ..writer import postorder

_WORK = 1 << 15  # elements per tile
_COLUMNS = 32  # no tile has fewer columns, but for those of narrow rows

# The kernel's parameters: elements of a row, and rows of the variables.
_WIDTH, _ROWS = ir.Param(0), ir.Param(1)


def update_rows(
    b: Any, cells: Sequence[Any], indices: Any, body: Callable[..., Any], given: Sequence[Any]
) -> Any:
    """body(*rows of the variables, *given) -> their new values, for every index in order.

    What is given is a scalar, or has a row for every index.  Returns the variables as they are
    afterwards, or NotImplemented.  An index out of range changes nothing and is an error.
    """
    present = [b.read(cell) for cell in cells]
    first, rows = present[0], (*indices.shape, *present[0].shape[1:])
    if not all(same_shape(v.shape, first.shape) for v in present) or 0 in first.shape:
        return NotImplemented
    if not first.ndim or len({id(cell.cell) for cell in cells}) < len(cells):
        return NotImplemented
    if any(v.ndim and not _equal(b, v.shape, rows) for v in given):
        return NotImplemented
    if not all(scalar.compiles(v.dtype) for v in (*present, indices, *given)):
        return NotImplemented
    _check(b, indices, first.shape[0])
    count, width = product(indices.shape), product(first.shape[1:])
    kernel, operations = _kernel(body, present, indices, given)
    work = ceil_div(ceil_div(_WORK, maximum(count, 1)), 16) * 16
    return b.call(
        kernel, [indices, *given], (), [count, width, width, first.shape[0]],
        count, maximum(count, 1), width, maximum(work, _COLUMNS),
        operations=count * width * operations, updates=cells, touches=count * width,
    )  # fmt: skip


def _equal(b: Any, shape: Sequence[AnySize], other: Sequence[AnySize]) -> bool:
    return len(shape) == len(other) and all(b.equal(x, y) for x, y in zip(shape, other))


def _check(b: Any, indices: Any, rows: int) -> None:
    low, high = b.constant(0, indices.dtype), b.constant(rows, indices.dtype)
    outside = b.map(
        lambda i, low, high: scalar.logical_or(scalar.lt(i, low), scalar.ge(i, high)),
        indices,
        low,
        high,
    )
    b.require_not(
        b.reduce("any", outside, None),
        lambda: errors.InvalidArgumentError(None, None, f"indices are not in [0, {rows})"),
    )


def _kernel(
    body: Callable[..., Any], present: Sequence[Any], indices: Any, given: Sequence[Any]
) -> tuple[ir.Kernel, int]:
    """The kernel, and how many scalar operations it does for one element."""
    dtypes = [indices.dtype, *(v.dtype for v in given), *(v.dtype for v in present)]
    row = scalar.cast(ir.Load(0, ir.Index((1, 0)), indices.dtype), "int64")
    inside = scalar.logical_and(scalar.ge(row, 0), scalar.lt(row, _ROWS))
    place = ir.Index((0, 1), scalar.mul(scalar.select(inside, row, 0), _WIDTH))
    olds = [ir.Load(i, place, dtypes[i]) for i in range(1 + len(given), len(dtypes))]
    beside = ir.Index((_WIDTH, 1))
    arguments = [
        ir.Load(i, beside if value.ndim else ir.Index((0, 0)), value.dtype)
        for i, value in enumerate(given, 1)
    ]
    news = body(*olds, *arguments)
    stores = tuple(
        ir.Store(old.buffer, place, scalar.select(inside, new, old))
        for old, new in zip(olds, news, strict=True)
    )
    held = 1 + len(given)
    buffers = tuple(ir.Buffer(d, "r" if i < held else "rw") for i, d in enumerate(dtypes))
    axes = (ir.Axis("map"), ir.Axis("map"))
    nodes = {node for store in stores for node in postorder(store.value)}
    return (
        ir.Kernel("map", buffers, axes, (), stores, 2),
        sum(isinstance(node, ir.Apply) for node in nodes),
    )
