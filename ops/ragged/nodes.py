# SPDX-License-Identifier: Apache-2.0
"""The ops that make and pick rows of different lengths: RaggedRange and RaggedGather."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.graph.tensor import IndexedSlices
from ...engine.types.shape import TensorShape
from ..public import tf
from ..shape_inference import dims, merge_dim, of_rank, ranked, ranked_at_least, ranked_at_most
from .compiled import (
    gathered_sizes,
    lower_gather,
    lower_range,
    measured_gather,
    measured_range,
)
from .rows import places_of, splits_of

if TYPE_CHECKING:
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation

# Range


def range_lengths(starts: np.ndarray, limits: np.ndarray, deltas: np.ndarray) -> np.ndarray:
    """How many numbers each range has, as TensorFlow counts them; refuses a step of 0."""
    if not (deltas != 0).all():
        raise errors.invalid("Requires delta != 0")
    backwards = ((deltas > 0) & (limits < starts)) | ((deltas < 0) & (limits > starts))
    if deltas.dtype.kind == "i":
        # Without signs, where a difference of any two numbers has room.
        first, last, step = (part.astype(np.int64) for part in (starts, limits, deltas))
        steps = np.abs(step).view(np.uint64)
        distances = np.where(last > first, last - first, first - last).view(np.uint64)
        counts = distances // steps + (distances % steps != 0)
    else:
        counts = np.ceil(np.abs((limits - starts) / deltas))
    return np.where(backwards, 0, counts).astype(np.int64)


def _range_values(starts: np.ndarray, deltas: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    if starts.dtype.kind == "i":
        rows, columns = places_of(lengths)
        return starts[rows] + columns.astype(starts.dtype) * deltas[rows]
    # Floats are added up one by one, each sum rounded.
    values = np.empty(int(lengths.sum()), starts.dtype)
    stops = np.cumsum(lengths)
    for start, delta, first, stop in zip(starts, deltas, stops - lengths, stops):
        row = values[first:stop]
        row[:1], row[1:] = start, delta
        np.add.accumulate(row, out=row)
    return values


def _range(c: KernelContext, starts: np.ndarray, limits: np.ndarray, deltas: np.ndarray) -> Any:
    given = {"starts": starts, "limits": limits, "deltas": deltas}
    for name, array in given.items():
        if array.ndim > 1:
            raise errors.invalid(f"{name} must be a scalar or vector")
    sizes = {array.size for array in given.values() if array.ndim}
    if len(sizes) > 1:
        raise errors.invalid("starts, limits, and deltas must have the same shape")
    count = sizes.pop() if sizes else 1
    starts, limits, deltas = (np.broadcast_to(array, count) for array in given.values())
    lengths = range_lengths(starts, limits, deltas)
    return splits_of(lengths, c.out_dtype(0)), _range_values(starts, deltas, lengths)


def _range_size(c: KernelContext, *given: np.ndarray) -> list[int] | None:
    """How many numbers there are in all rows; None where the kernel refuses what is given."""
    try:
        alike = np.broadcast_arrays(*(np.atleast_1d(array) for array in given))
        return [int(range_lengths(*alike).sum())]
    except (ValueError, errors.InvalidArgumentError):
        return None


def _range_shapes(c: ShapeContext) -> list[TensorShape]:
    size: int | None = None
    found = [ranked_at_most(shape, 1) for shape in c.inputs]
    for sizes in found:
        if sizes:
            size = merge_dim(size, sizes[0])
    if size is None and all(sizes == [] for sizes in found):
        size = 1
    return [TensorShape([None if size is None else size + 1]), TensorShape([None])]


ragged_range = define(
    "RaggedRange",
    "starts: T, limits: T, deltas: T -> rt_nested_splits: Tsplits, rt_dense_values: T",
    "T: {bfloat16, float32, float64, int32, int64} = int32; Tsplits: {int32, int64} = int64",
    shape=_range_shapes,
    kernel=_range,
    gradient=NoGradient("TensorFlow gives ranges of different lengths none", silent=True),
    lower=lower_range,
    dynamic_shape=_range_size,
    measured_sizes=measured_range,
    doc="Ranges of numbers, one behind the other, and where each begins and ends.",
    test=lambda: {
        "values": [
            [np.array([2, 5, 8], np.int32), np.array([3, 5, 12], np.int32), np.int32(1)],
            [np.array([0.5, 9.0], np.float32), np.float32(6.0), np.array([1.5, -1.0], np.float32)],
        ]
    },
)

# Gather


def check_splits(nested: list[np.ndarray], count: int) -> None:
    """Raises InvalidArgumentError for splits that are no rows of so many values."""
    for level, splits in enumerate(nested):
        last = count if level == len(nested) - 1 else nested[level + 1].size
        if not splits.size:
            raise errors.invalid("Ragged splits may not be empty")
        if splits[0] < 0:
            raise errors.invalid("Ragged splits must be non-negative")
        if splits[-1] > last:
            raise errors.invalid("Ragged splits must not point past values")
        if (splits[1:] < splits[:-1]).any():
            raise errors.invalid("Ragged splits must be sorted")


def indices_error(indices: np.ndarray, count: int) -> BaseException:
    """What is said of numbers of which one is not that of a row."""
    outside = (indices < 0) | (indices >= count)
    place = tuple(int(i) for i in np.argwhere(outside)[0])
    where = f"[{','.join(map(str, place))}]" if place else ""
    return errors.invalid(f"indices{where} = {indices[place]} is not in [0, {count})")


def _check_indices(indices: np.ndarray, count: int) -> None:
    if ((indices < 0) | (indices >= count)).any():
        raise indices_error(indices, count)


def _gather(
    c: KernelContext, nested: list[np.ndarray], values: np.ndarray, indices: Any
) -> tuple[Any, ...]:
    """Rows by number: each level turns row numbers into those of the rows in these."""
    _check_indices(indices, nested[0].size - 1)
    if not values.ndim:
        raise errors.invalid("params.rank must be nonzero")
    check_splits(nested, len(values))
    dtype = nested[0].dtype
    found, count = [], 1
    for size, inner in zip(indices.shape, indices.shape[1:]):
        count *= size
        found.append((np.arange(count + 1) * inner).astype(dtype))
    rows = indices.ravel().astype(np.int64)
    for level, splits in enumerate(nested):
        starts, lengths = splits[rows].astype(np.int64), splits[rows + 1] - splits[rows]
        if level or indices.ndim:
            found.append(splits_of(lengths, dtype))
        owners, columns = places_of(lengths)
        rows = starts[owners] + columns
    return (*found, values[rows])


def _gather_shapes(c: ShapeContext) -> list[TensorShape]:
    depth, levels = c.attr("PARAMS_RAGGED_RANK"), c.attr("OUTPUT_RAGGED_RANK")
    ranked(c.inputs[depth + 1], levels - depth + 1)
    for shape in c.inputs[:depth]:
        ranked(shape, 1)
    ranked_at_least(c.inputs[depth], 1)
    sizes = dims(c.inputs[depth])
    values = of_rank(None) if sizes is None else TensorShape([None, *sizes[1:]])
    return [TensorShape([None])] * levels + [values]


def _gather_gradient(op: Operation, *grads: Any) -> list[Any]:
    """The values' rows get the gradient where they went, as IndexedSlices."""
    from .reduce import ragged_range as ragged_ranges

    *nested, values, indices = op.inputs
    combined = nested[0]
    for splits in nested[1:]:
        combined = tf.gather(splits, combined)
    flat = tf.reshape(indices, [-1])
    starts, limits = tf.gather(combined, flat), tf.gather(combined[1:], flat)
    rows = ragged_ranges(starts, limits).values
    slices = IndexedSlices(grads[-1], rows, dense_shape=tf.shape(values))
    return [*[None] * len(nested), slices, None]


ragged_gather = define(
    "RaggedGather",
    "params_nested_splits: PARAMS_RAGGED_RANK * Tsplits, params_dense_values: Tvalues, "
    "indices: Tindices -> output_nested_splits: OUTPUT_RAGGED_RANK * Tsplits, "
    "output_dense_values: Tvalues",
    "Tvalues: type; Tindices: {int32, int64}; Tsplits: {int32, int64} = int64; "
    "PARAMS_RAGGED_RANK: int >= 1; OUTPUT_RAGGED_RANK: int >= 0",
    shape=_gather_shapes,
    kernel=_gather,
    gradient=_gather_gradient,
    lower=lower_gather,
    dynamic_shape=gathered_sizes,
    measured_sizes=measured_gather,
    doc="Rows of different lengths, by number.",
    test=lambda: {
        "values": [
            [
                [np.array([0, 2, 2, 3], np.int64)],
                np.array([1.0, 2.0, 3.0], np.float32),
                np.array([2, 0, 0], np.int32),
            ]
        ],
        "attrs": [{"OUTPUT_RAGGED_RANK": 1}],
        "gradient": True,
    },
)
