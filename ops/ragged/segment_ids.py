# SPDX-License-Identifier: Apache-2.0
"""Row splits as the row of every value, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...engine.api import export
from ...engine.graph.constants import constant_value
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.scope_functions import name_scope
from ...engine.graph.tensor import Tensor
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape, dimension_value
from ..public import tf
from .util import convert_to_int_tensor, repeat

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, TensorLike


@export("ragged.row_splits_to_segment_ids")
def row_splits_to_segment_ids(
    splits: TensorLike, name: str | None = None, out_type: DTypeLike | None = None
) -> Tensor:
    """The row of every value.

    Args:
        splits: a vector of int32 or int64: where rows begin and end.
        name: the prefix of the names of operations.
        out_type: int32 or int64; that of the splits if None.

    Returns:
        A vector with a number of a row for each value.

    Raises:
        ValueError: there are no splits, or they are no int32 or int64.

    Example:
        >>> tf.Session().run(tf.ragged.row_splits_to_segment_ids([0, 2, 2, 5])).tolist()
        [0, 0, 2, 2, 2]
    """
    with name_scope(name, "RaggedSplitsToSegmentIds", [splits]) as name:
        vector = convert_to_tensor(splits, name="splits", preferred_dtype=dtypes.int64)
        if vector.dtype not in (dtypes.int32, dtypes.int64):
            raise ValueError("splits must have dtype int32 or int64")
        vector.shape.assert_has_rank(1)
        if dimension_value(vector.shape[0]) == 0:
            raise ValueError("Invalid row_splits: []")
        kind = vector.dtype if out_type is None else dtypes.as_dtype(out_type)
        lengths = vector[1:] - vector[:-1]
        rows = tf.shape(vector, out_type=kind)[-1] - 1
        return repeat(tf.range(rows), lengths, axis=0)


@export("ragged.segment_ids_to_row_splits")
def segment_ids_to_row_splits(
    segment_ids: TensorLike,
    num_segments: TensorLike | None = None,
    out_type: DTypeLike | None = None,
    name: str | None = None,
) -> Tensor:
    """Where rows begin and end, by the row of every value.

    Args:
        segment_ids: a vector of integers that does not decrease.
        num_segments: how many rows there are; up to the last that has a value if None.
        out_type: int32 or int64; that of a tensor that is given, or int64, if None.
        name: the prefix of the names of operations.

    Returns:
        A vector of one number more than there are rows.

    Raises:
        TypeError: the ids are no integers.

    Example:
        >>> tf.Session().run(tf.ragged.segment_ids_to_row_splits([0, 0, 2, 2, 2])).tolist()
        [0, 2, 2, 5]
    """
    if out_type is not None:
        kind = dtypes.as_dtype(out_type)
    else:
        given = [item for item in (segment_ids, num_segments) if isinstance(item, Tensor)]
        kind = given[0].dtype if given else dtypes.int64
    with name_scope(name, "SegmentIdsToRaggedSplits", [segment_ids]) as name:
        ids = convert_to_int_tensor(segment_ids, "segment_ids", dtype=dtypes.int32)
        ids.shape.assert_has_rank(1)
        count = None
        if num_segments is not None:
            count = convert_to_int_tensor(num_segments, "num_segments", dtype=dtypes.int32)
            count.shape.assert_has_rank(0)
        lengths = tf.bincount(ids, minlength=count, maxlength=count, dtype=kind)
        splits = tf.concat([[0], tf.cumsum(lengths)], axis=0)
        known = None if count is None else constant_value(count)
        if known is not None:
            splits.set_shape(TensorShape([int(known) + 1]))
        return splits
