# SPDX-License-Identifier: Apache-2.0
"""Compiled forms of the ops on ragged tensors.

How many values rows have is data, and so is the size of what is made of them: a run measures it
(`measured_sizes`) or finds it quickly (`dynamic_shape`).  The row of every value and its number
there are found by a walk along the splits (jit/library/index_rows.py); all else is gathers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...jit.kernel import scalar as k
from ...jit.kernel.sizes import product
from ..run_checks import error_of

if TYPE_CHECKING:
    from ...engine.graph.kernel_context import KernelContext
    from ...jit.kernel.sizes import AnySize
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView


def _splits(b: Builder, lengths: Value) -> Value:
    """Where rows of these lengths, int64, begin and end."""
    from ...jit import library

    return b.concat([b.constant([0], "int64"), library.running(b, "add", lengths, 0)], 0)


def _places(b: Builder, splits: Value, count: AnySize) -> tuple[Value, Value]:
    """The row of each of so many values, and its number in the row."""
    from ...jit import library

    return library.row_places(b, splits, count)


def _ends(b: Builder, splits: Value) -> tuple[Value, Value]:
    """Where each row begins, and where it ends."""
    rows = splits.shape[0] - 1
    starts, limits = (b.slice(splits, [at], [rows]) for at in (0, 1))
    return starts, limits


def _wide(b: Builder, nested: Sequence[Value]) -> list[Value]:
    for splits in nested:
        b.require(splits.ndim == 1)
        b.require(not b.equal(splits.shape[0], 0))
    return [b.cast(splits, "int64") for splits in nested]


# Ranges


def _range_length(start: Any, limit: Any, delta: Any) -> Any:
    """How many integers a range has; a step of 0, which is refused, counts as 1."""
    is_backwards = k.logical_or(
        k.logical_and(k.gt(delta, 0), k.lt(limit, start)),
        k.logical_and(k.lt(delta, 0), k.gt(limit, start)),
    )
    # Without signs, where a difference of any two numbers has room.
    distance = k.select(k.gt(limit, start), k.sub(limit, start), k.sub(start, limit))
    far, one = k.cast(distance, "uint64"), k.cast(1, "uint64")
    step = k.maximum(k.cast(k.abs(delta), "uint64"), one)
    whole = k.floordiv(far, step)
    is_rest = k.ne(far, k.mul(whole, step))
    return k.select(is_backwards, 0, k.cast(k.add(whole, k.cast(is_rest, "uint64")), "int64"))


def _range_parts(b: Builder, given: Sequence[Value]) -> list[Value]:
    """Starts, limits and deltas of all rows, as int64."""
    b.require(all(value.ndim <= 1 for value in given))
    count: AnySize = 1
    for value in given:
        if value.ndim:
            count = value.shape[0]
    for value in given:
        b.require(not value.ndim or b.equal(value.shape[0], count))
    return [b.broadcast(b.cast(value, "int64"), [count]) for value in given]


def measured_range(b: Builder, op: OpView, *given: Value) -> Any:
    """How many numbers all ranges have together, as a number of the plan."""
    if given[0].dtype not in ("int32", "int64"):
        return NotImplemented
    parts = _range_parts(b, given)
    return [b.reduce("sum", b.map(_range_length, *parts), None)]


def lower_range(b: Builder, op: OpView, *given: Value) -> Any:
    """The lowering of ranges of integers; floats are added up one by one, on the host."""
    from .nodes import range_lengths

    *ends, sizes = given
    known = b.known(sizes)
    if known is None or ends[0].dtype not in ("int32", "int64"):
        return NotImplemented
    parts = _range_parts(b, ends)
    starts, _, deltas = parts
    is_zero = b.reduce("any", b.map(lambda delta: k.eq(delta, 0), deltas), None)
    b.require_not(is_zero, error_of(range_lengths), *parts)
    splits = _splits(b, b.map(_range_length, *parts))
    total = known.item(0)
    owners, inside = _places(b, splits, total)
    values = b.map(
        lambda start, number, delta: k.add(start, k.mul(number, delta)),
        b.pick(starts, owners),
        inside,
        b.pick(deltas, owners),
    )
    return b.cast(splits, op.dtype(0)), b.cast(values, op.dtype(1))


# Gathers


def gathered_sizes(c: KernelContext, nested: list[np.ndarray], values: Any, indices: Any) -> Any:
    """How many rows (or values) there are on each level; None where something is wrong."""
    flat = indices.ravel()
    if not values.ndim or not nested[0].size or ((flat < 0) | (flat >= nested[0].size - 1)).any():
        return None
    found, firsts, limits = [], flat, flat + 1
    for splits in nested:
        if not splits.size or limits.max(initial=0) >= splits.size:
            return None
        firsts, limits = splits[firsts], splits[limits]
        if (limits < firsts).any() or firsts.min(initial=0) < 0:
            return None
        found.append(int((limits - firsts).sum()))
    return found


def measured_gather(b: Builder, op: OpView, nested: list[Value], values: Value, ids: Value) -> Any:
    """The same as numbers of the plan.  Numbers outside, which are refused, count as the last."""
    if not k.compiles(values.dtype):
        return NotImplemented
    flat = b.reshape(b.cast(ids, "int64"), [product(ids.shape)])
    found, ends = [], [flat, b.map(lambda i: k.add(i, 1), flat)]
    for splits in _wide(b, nested):
        last = b.constant(splits.shape[0] - 1, "int64")
        kept = [b.map(_clipped, end, last) for end in ends]
        ends = [b.pick(splits, end) for end in kept]
        lengths = b.map(lambda first, limit: k.maximum(k.sub(limit, first), 0), *ends)
        found.append(b.reduce("sum", lengths, None))
    return found


def _clipped(number: Any, last: Any) -> Any:
    return k.maximum(k.minimum(number, last), 0)


def _require_splits(b: Builder, nested: list[Value], count: AnySize) -> None:
    """Has a run fail for splits that the reference kernel refuses, in its words."""
    from .nodes import check_splits

    error = error_of(lambda *given: check_splits(list(given[:-1]), int(given[-1])))
    evidence = [*nested, b.constant(count, "int64")]
    sizes = [splits.shape[0] for splits in nested[1:]] + [count]
    for splits, size in zip(nested, sizes, strict=True):
        wide, limit = b.cast(splits, "int64"), b.constant(size, "int64")
        outside = b.map(lambda at, n: k.logical_or(k.lt(at, 0), k.gt(at, n)), wide, limit)
        falls = b.map(k.gt, *_ends(b, wide))
        for wrong in (outside, falls):
            b.require_not(b.reduce("any", wrong, None), error, *evidence)


def lower_gather(
    b: Builder, op: OpView, nested: list[Value], values: Value, ids: Value, sizes: Value
) -> Any:
    """The lowering of rows by number: each level's splits, then the values."""
    from .nodes import indices_error

    known = b.known(sizes)
    if known is None or not k.compiles(values.dtype):
        return NotImplemented
    b.require(values.ndim > 0)
    wide = _wide(b, nested)
    limit = b.constant(wide[0].shape[0] - 1, "int64")
    b.require_inside(b.cast(ids, "int64"), limit, indices_error)
    _require_splits(b, nested, values.shape[0])
    found, count = [], 1
    for size, inner in zip(ids.shape, ids.shape[1:], strict=False):
        count = count * size
        numbers = b.iota([count + 1], 0, "int64")
        found.append(b.map(lambda i, n: k.mul(i, n), numbers, b.constant(inner, "int64")))
    rows = b.reshape(b.cast(ids, "int64"), [product(ids.shape)])
    for level, splits in enumerate(wide):
        starts = b.pick(splits, rows)
        limits = b.pick(splits, b.map(lambda row: k.add(row, 1), rows))
        made = _splits(b, b.map(k.sub, limits, starts))
        if level or ids.ndim:
            found.append(made)
        owners, inside = _places(b, made, known.item(level))
        rows = b.map(k.add, b.pick(starts, owners), inside)
    return (*[b.cast(splits, op.dtype(0)) for splits in found], b.pick(values, rows))


# Sparse tensors


def lower_to_sparse(b: Builder, op: OpView, nested: list[Value], values: Value) -> Any:
    """The lowering of the coordinates of all values, from the innermost rows outwards."""
    from .conversion_nodes import check_nested

    if not k.compiles(values.dtype):
        return NotImplemented
    b.require(values.ndim > 0)
    wide, count, inner = _wide(b, nested), values.shape[0], list(values.shape[1:])
    error = error_of(lambda *given: check_nested(list(given[:-1]), given[-1]))
    sizes = [splits.shape[0] - 1 for splits in wide[1:]] + [count]
    for splits, size in zip(wide, sizes, strict=True):
        ends = b.constant([0], "int64"), b.constant([size], "int64")
        rows = splits.shape[0] - 1
        wrong = [
            b.map(k.ne, b.slice(splits, [at], [1]), end)
            for end, at in zip(ends, (0, rows), strict=True)
        ]
        for flags in (*wrong, b.map(k.gt, *_ends(b, splits))):
            b.require_not(b.reduce("any", flags, None), error, *nested, values)
    columns: list[Value] = []
    places = b.iota([count], 0, "int64")
    for splits, size in zip(reversed(wide), reversed(sizes), strict=True):
        owners, inside = _places(b, splits, size)
        columns.insert(0, b.pick(inside, places))
        places = b.pick(owners, places)
    shape, total = [count, *inner], product(values.shape)
    columns = [
        b.broadcast(b.reshape(c, [count] + [1] * len(inner)), shape) for c in (places, *columns)
    ]
    columns += [b.iota(shape, axis, "int64") for axis in range(1, len(shape))]
    indices = b.concat([b.reshape(column, [total, 1]) for column in columns], 1)
    longest = [_longest(b, splits) for splits in wide]
    first = b.constant([wide[0].shape[0] - 1], "int64")
    rest = [b.constant([size], "int64") for size in inner]
    return indices, b.reshape(values, [total]), b.concat([first, *longest, *rest], 0)


def _longest(b: Builder, splits: Value) -> Value:
    """The length of the longest row, a vector of one; 0 without rows."""
    starts, limits = _ends(b, splits)
    lengths = b.concat([b.constant([0], "int64"), b.map(k.sub, limits, starts)], 0)
    return b.reshape(b.reduce("max", lengths, None), [1])
