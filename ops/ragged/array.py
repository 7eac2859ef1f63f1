# SPDX-License-Identifier: Apache-2.0
"""Masks, tiles, new axes, sizes and partitions of ragged tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...engine.graph.constants import constant_value
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.scope_functions import name_scope
from ...engine.graph.tensor import Tensor
from ...engine.types import dtypes
from ..public import tf
from .functional import map_flat_values
from .reduce import reduce_sum
from .segment_ids import row_splits_to_segment_ids
from .tensor import (
    RaggedTensor,
    convert_to_tensor_or_ragged_tensor,
    is_ragged,
    match_row_splits_dtypes,
)
from .util import (
    assert_splits_match,
    convert_to_int_tensor,
    get_positive_axis,
    lengths_to_splits,
    repeat_ranges,
)

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, TensorLike
    from ...engine.types.dtypes import DType

# Masks


@export("ragged.boolean_mask")
def boolean_mask(data: Any, mask: Any, name: str | None = None) -> Any:
    """The entries of a tensor that a mask keeps, in the rows that they were in.

    Args:
        data: a tensor, ragged or not.
        mask: bools, ragged or not, of the shape that `data` begins with.
        name: the prefix of the names of operations.

    Returns:
        A RaggedTensor of the rank of `data`; a Tensor where both are dense and the mask a vector.

    Raises:
        ValueError: the mask is a scalar, or of unknown rank.
        InvalidArgumentError: their rows in a run are of different lengths.

    Example:
        >>> data, mask = [[1, 2], [3, 4]], [[True, False], [True, True]]
        >>> tf.Session().run(tf.ragged.boolean_mask(data, mask)).to_list()
        [[1], [3, 4]]
    """
    with name_scope(name, "RaggedMask", [data, mask]):
        data = convert_to_tensor_or_ragged_tensor(data, name="data")
        mask = convert_to_tensor_or_ragged_tensor(mask, dtypes.bool, name="mask")
        kind, (data, mask) = match_row_splits_dtypes(data, mask, return_dtype=True)
        if mask.shape.ndims is None:
            raise ValueError("mask.shape.ndims must be known statically.")
        if mask.shape.ndims == 0:
            raise ValueError("mask cannot be scalar.")
        if is_ragged(mask):
            return _mask_ragged(data, mask, kind)
        if is_ragged(data) and mask.shape.ndims == 1:
            return _mask_rows(data, mask)
        if is_ragged(data):
            depth = min(data.ragged_rank, mask.shape.ndims - 1)
            ragged = RaggedTensor.from_tensor(
                mask, ragged_rank=depth, row_splits_dtype=data.row_splits.dtype
            )
            return boolean_mask(data, ragged)
        return _mask_dense(data, mask, kind)


def _mask_ragged(data: Any, mask: RaggedTensor, kind: DType) -> RaggedTensor:
    """Only the innermost rows of the mask become shorter; those around stay as they are."""
    if not is_ragged(data):
        data = RaggedTensor.from_tensor(
            data, ragged_rank=mask.ragged_rank, row_splits_dtype=mask.row_splits.dtype
        )
    pair = [mask.nested_row_splits, data.nested_row_splits[: mask.ragged_rank]]
    with tf.control_dependencies(assert_splits_match(pair)):
        splits = []
        inner: Any = mask
        while is_ragged(inner):
            if inner.shape.ndims > 2:
                splits.append(inner.row_splits)
            else:
                ones = map_flat_values(tf.cast, inner, dtype=kind)
                splits.append(lengths_to_splits(reduce_sum(ones, axis=1)))
            inner, data = inner.values, data.values
        kept = boolean_mask(data, inner)
        return RaggedTensor.from_nested_row_splits(kept, splits, validate=False)


def _mask_rows(data: RaggedTensor, mask: Tensor) -> RaggedTensor:
    """A bool for each row keeps all that is in it."""
    splits = lengths_to_splits(tf.boolean_mask(data.row_lengths(), mask))
    rows = row_splits_to_segment_ids(data.row_splits)
    kept = boolean_mask(data.values, tf.gather(mask, rows))
    return RaggedTensor.from_row_splits(kept, splits, validate=False)


def _mask_dense(data: Tensor, mask: Tensor, kind: DType) -> Any:
    kept: Any = tf.boolean_mask(data, mask)
    rank = mask.shape.ndims
    if rank is None or rank < 2:
        return kept
    lengths = tf.count_nonzero(mask, axis=-1, dtype=kind)
    kept = RaggedTensor.from_row_lengths(kept, tf.reshape(lengths, [-1]), validate=False)
    if rank > 2:
        sizes = tf.shape(mask, out_type=kind)
        counts = tf.cumprod(sizes) + 1
        for axis in range(rank - 3, -1, -1):
            splits = tf.range(counts[axis]) * sizes[axis + 1]
            kept = RaggedTensor.from_row_splits(kept, splits, validate=False)
    return kept


# Tiles


def tile(input: Any, multiples: TensorLike, name: str | None = None) -> Any:
    """A tensor several times behind itself along each of its axes, ragged ones too."""
    with name_scope(name, "RaggedTile", [input, multiples]):
        ragged = convert_to_tensor_or_ragged_tensor(input, name="input")
        if not is_ragged(ragged):
            return tf.tile(ragged, multiples, name)
        times = convert_to_int_tensor(multiples, name="multiples", dtype=ragged.row_splits.dtype)
        times.shape.assert_has_rank(1)
        known = constant_value(times)
        return RaggedTensor.from_nested_row_splits(
            _tiled_values(ragged, times, known), _tiled_splits(ragged, times, known), validate=False
        )


def _tiled_values(ragged: RaggedTensor, times: Tensor, known: Any) -> Tensor:
    """The values, from the innermost rows outwards; uniform axes and the first come last."""
    levels, nested = ragged.ragged_rank, ragged.nested_row_splits
    places = tf.range(nested[-1][-1])
    inner = None
    for axis in range(levels, 0, -1):
        splits = nested[axis - 1]
        if inner is not None:
            # What is in a row is that many times as long by now.
            splits = tf.gather(inner * times[axis + 1], splits)
        if known is None or known[axis] != 1:
            places = repeat_ranges(places, splits, times[axis])
        inner = splits
    values = tf.gather(ragged.flat_values, places)
    return tf.tile(values, tf.concat([times[:1], times[levels + 1 :]], axis=0))


def _tiled_splits(ragged: RaggedTensor, times: Tensor, known: Any) -> list[Tensor]:
    levels, nested = ragged.ragged_rank, ragged.nested_row_splits
    # Where the rows of one level begin among those of a level further in.
    ahead = [{level: nested[level]} for level in range(levels)]
    for source in range(levels):
        for target in range(source + 1, levels - 1):
            ahead[source][target] = tf.gather(nested[target], ahead[source][target - 1])
    found = []
    for axis in range(levels):
        lengths = nested[axis][1:] - nested[axis][:-1]
        lengths = lengths * times[axis + 1]
        repeats: Any = 1
        for outer in range(axis - 1, -1, -1):
            if known is None or known[outer + 1] != 1:
                splits = ahead[outer][axis - 1] * repeats
                lengths = repeat_ranges(lengths, splits, times[outer + 1])
            repeats *= times[outer + 1]
        found.append(lengths_to_splits(tf.tile(lengths, times[:1])))
    return found


# Axes and sizes


def expand_dims(input: Any, axis: int, name: str | None = None) -> Any:
    """A tensor with an axis more, of size 1; a ragged tensor stays ragged."""
    with name_scope(name, "RaggedExpandDims", [input]):
        ragged = convert_to_tensor_or_ragged_tensor(input, name="input")
        if not is_ragged(ragged):
            return tf.expand_dims(ragged, axis)
        rank = None if ragged.shape.ndims is None else ragged.shape.ndims + 1
        axis = get_positive_axis(axis, rank)
        values: Any = ragged
        if axis == 0:
            splits = tf.stack([0, ragged.nrows()])
        elif axis == 1:
            splits = tf.range(ragged.nrows() + 1)
        else:
            values, splits = expand_dims(ragged.values, axis - 1), ragged.row_splits
        return RaggedTensor.from_row_splits(values, splits, validate=False)


def size(input: Any, out_type: DTypeLike = dtypes.int32, name: str | None = None) -> Tensor:
    """How many values a tensor has; of a ragged one, those that are in its rows."""
    values = input.flat_values if is_ragged(input) else input
    return tf.size(values, out_type=out_type, name=name)


def rank(input: Any, name: str | None = None) -> Any:
    """How many axes a tensor has, ragged ones too."""
    with name_scope(name, "RaggedRank", [input]) as name:
        if not is_ragged(input):
            return tf.rank(input, name)
        return input.ragged_rank + tf.rank(input.flat_values)


def ragged_one_hot(
    indices: Any,
    depth: TensorLike,
    on_value: TensorLike | None = None,
    off_value: TensorLike | None = None,
    axis: int | None = None,
    dtype: DTypeLike | None = None,
    name: str | None = None,
) -> Any:
    """`tf.one_hot` of ragged indices; the new axis lies below the ragged ones."""
    with name_scope(name, "RaggedOneHot", [indices]):
        ragged = convert_to_tensor_or_ragged_tensor(indices, name="indices")
        if axis is not None:
            axis = get_positive_axis(axis, ragged.shape.ndims)
            if axis < ragged.ragged_rank:
                raise ValueError("axis may not be less than indices.ragged_rank.")
        values = tf.one_hot(ragged.flat_values, depth, on_value, off_value, axis, dtype, name)
        return ragged.with_flat_values(values)


# Partitions


@export("ragged.stack_dynamic_partitions")
def stack_dynamic_partitions(
    data: Any, partitions: Any, num_partitions: TensorLike, name: str | None = None
) -> Any:
    """Entries sorted into rows by numbers; in each row they keep their order.

    Args:
        data: a tensor, ragged or not.
        partitions: integers, ragged or not, of the shape that `data` begins with: the row of each
            entry.
        num_partitions: how many rows there are.
        name: the prefix of the names of operations.

    Returns:
        A RaggedTensor with as many rows.

    Raises:
        ValueError: the rank of the partitions is not known.
        InvalidArgumentError: a number of a run is that of no row.

    Example:
        >>> data, partitions = ["a", "b", "c", "d"], [2, 0, 2, 0]
        >>> tf.Session().run(tf.ragged.stack_dynamic_partitions(data, partitions, 3)).to_list()
        [[b'b', b'd'], [], [b'a', b'c']]
    """
    with name_scope(name, "SegmentStack", [data, partitions, num_partitions]):
        data = convert_to_tensor_or_ragged_tensor(data, name="data")
        kind = data.row_splits.dtype if isinstance(data, RaggedTensor) else None
        rows = convert_to_tensor_or_ragged_tensor(
            partitions, name="partitions", preferred_dtype=kind
        )
        count = convert_to_tensor(num_partitions, name="num_partitions", preferred_dtype=rows.dtype)
        if kind is not None:
            rows = tf.cast(rows, kind)
        count = tf.cast(count, rows.dtype)
        if rows.shape.ndims is None:
            raise ValueError("partitions must have known rank.")
        count.shape.assert_has_rank(0)
        rows.shape.assert_is_compatible_with(data.shape[: rows.shape.ndims])
        if rows.shape.ndims == 0:
            return RaggedTensor.from_value_rowids(
                tf.stack([data]), tf.stack([rows]), nrows=count, validate=False
            )
        if rows.shape.ndims == 1:
            return _stack_sorted(data, rows, count)
        return _stack_inner(data, rows, count)


def _stack_sorted(data: Any, rows: Tensor, count: Tensor) -> RaggedTensor:
    order = tf.argsort(rows, stable=True)
    ids, values = tf.gather(rows, order), tf.gather(data, order)
    message = "partitions must be less than num_partitions"
    check = tf.assert_less(ids[-1:], count, message=message)
    with tf.control_dependencies([check]):
        return RaggedTensor.from_value_rowids(values, ids, nrows=count, validate=False)


def _stack_inner(data: Any, rows: Any, count: Tensor) -> Any:
    kind, depth = rows.dtype, rows.shape.ndims - 1
    if not isinstance(data, RaggedTensor):
        data = RaggedTensor.from_tensor(data, row_splits_dtype=kind, ragged_rank=1)
    if not isinstance(rows, RaggedTensor):
        rows = RaggedTensor.from_tensor(
            rows, row_splits_dtype=kind, ragged_rank=max(data.ragged_rank, depth)
        )
    message = "data and partitions have incompatible ragged shapes"
    check = tf.assert_equal(data.row_splits, rows.row_splits, message=message)
    with tf.control_dependencies([check]):
        return stack_dynamic_partitions(data.values, rows.values, count)
