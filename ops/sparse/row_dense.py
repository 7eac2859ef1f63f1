# SPDX-License-Identifier: Apache-2.0
"""Sparse vectors of many elements of a dataset as dense ones at once (engine/graph/rowwise.py)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...engine.graph import rowwise
from ...engine.types import dtypes
from ..public import raw, tf

if TYPE_CHECKING:
    from ...engine.graph.operation import Operation


def to_dense_rows(op: Operation, inputs: Sequence[rowwise.Rows]) -> rowwise.Results:
    """Vectors, one behind the other as a vector that is as long as all of them."""
    indices, sizes, values, default = inputs
    is_vector = indices.rank == 2 and sizes.rank == 1 and values.rank == 1
    owners = indices.places
    if owners is None or values.places is None or sizes.places is not None:
        return None
    if not is_vector or default.rank is not None:
        return None
    if sizes.tensor.shape.as_list()[1:] != [1] or indices.tensor.shape.as_list()[1:] != [1]:
        return None
    lengths, own = sizes.tensor[:, 0], indices.tensor[:, 0]
    if owners.shape.ndims == 2:
        owners = owners[:, 0]
    # What lies outside of its own vector would be within the next: it goes where nothing is.
    is_inside = (own >= 0) & (own < tf.gather(lengths, owners))
    starts = tf.gather(tf.cumsum(lengths, exclusive=True), owners)
    places = tf.where(is_inside, starts + own, -tf.ones_like(own))
    whole = tf.reshape(tf.reduce_sum(lengths), [1])
    dense = raw.SparseToDense(
        tf.expand_dims(places, 1),
        whole,
        values.tensor,
        default.tensor,
        validate_indices=op._attrs["validate_indices"],
    )
    dense.set_shape([None])
    positions = tf.range(tf.cast(whole[0], dtypes.int64))
    ends = tf.cast(tf.cumsum(lengths), dtypes.int64)
    return [rowwise.Rows(dense, 1, tf.searchsorted(ends, positions, side="right"))]
