# SPDX-License-Identifier: Apache-2.0
"""`tf.where` and `tf.squeeze` of ragged tensors."""

from __future__ import annotations

from typing import Any

from ...engine.graph.scope_functions import name_scope
from ...engine.graph.tensor import Tensor
from ...engine.types import dtypes
from ..control import with_dependencies
from ..public import tf
from .factories import rows_in
from .functional import map_flat_values
from .gather import gather
from .join import concat
from .tensor import (
    RaggedTensor,
    convert_to_tensor_or_ragged_tensor,
    is_ragged,
    match_row_splits_dtypes,
)
from .util import get_positive_axis


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """Entries (or rows) of x where the condition holds, else of y; or coordinates where it does."""
    if (x is None) != (y is None):
        raise ValueError("x and y must be either both None or both non-None")
    with name_scope("RaggedWhere", name, [condition, x, y]):
        condition = convert_to_tensor_or_ragged_tensor(condition, name="condition")
        if x is None:
            return _coordinates(condition)
        x = convert_to_tensor_or_ragged_tensor(x, name="x")
        y = convert_to_tensor_or_ragged_tensor(y, name="y")
        return _chosen(*match_row_splits_dtypes(condition, x, y))


def _chosen(condition: Any, x: Any, y: Any) -> Any:
    are_ragged = [is_ragged(item) for item in (condition, x, y)]
    if not any(are_ragged):
        return tf.where(condition, x, y)
    if all(are_ragged):
        return map_flat_values(tf.where, condition, x, y)
    if are_ragged[0]:
        raise ValueError("Input shapes do not match.")
    condition.shape.assert_has_rank(1)
    # Rows of y follow those of x, and have numbers that are by as much greater.
    both = concat([x, y], axis=0)
    kind = both.row_splits.dtype
    of_x, of_y = rows_in(x, kind), rows_in(y, kind)
    numbers = tf.where(condition, tf.range(of_x), of_x + tf.range(of_y))
    return gather(both, numbers)


def _coordinates(condition: Any) -> Tensor:
    if not is_ragged(condition):
        return tf.where(condition)
    inner = _coordinates(condition.values)
    condition = condition.with_row_splits_dtype(inner.dtype)
    places = inner[:, 0]
    rows = tf.gather(condition.value_rowids(), places)
    columns = places - tf.gather(condition.row_splits, rows)
    pair = [tf.expand_dims(rows, 1), tf.expand_dims(columns, 1)]
    return tf.concat([*pair, inner[:, 1:]], axis=1)


def squeeze(input: Any, axis: Any = None, name: str | None = None) -> Any:
    """A tensor without axes of size 1; of a ragged one they must be named."""
    with name_scope(name, "RaggedSqueeze", [input]):
        ragged = convert_to_tensor_or_ragged_tensor(input)
        if isinstance(ragged, Tensor):
            return tf.squeeze(ragged, axis, name)
        if axis is None:
            raise ValueError("Ragged.squeeze must have an axis argument.")
        if isinstance(axis, int):
            axis = [axis]
        elif not isinstance(axis, (list, tuple)) or not all(isinstance(d, int) for d in axis):
            raise TypeError("Axis must be a list or tuple of integers.")
        axes = [get_positive_axis(d, ragged.shape.ndims) for d in axis]
        inner = [d - ragged.ragged_rank for d in axes if d > ragged.ragged_rank]
        outer = {d for d in axes if d <= ragged.ragged_rank}
        values = with_dependencies(_are_ones(ragged, outer), ragged.flat_values)
        if inner:
            values = tf.squeeze(values, inner)
        splits = [level for d, level in enumerate(ragged.nested_row_splits, 1) if d not in outer]
        if splits and 0 in outer:
            splits.pop(0)
        result = RaggedTensor.from_nested_row_splits(values, splits)
        if outer == set(range(ragged.ragged_rank + 1)):
            return tf.squeeze(result, [0], name)
        return result


def _are_ones(ragged: RaggedTensor, axes: set[int]) -> list[Any]:
    """Assertions that the first or ragged axes have size 1 everywhere."""
    one = tf.constant(1, dtype=ragged.row_splits.dtype)
    checks = []
    for axis, lengths in enumerate(ragged.nested_row_lengths(), 1):
        if axis in axes:
            told = [f"the given axis (axis = {axis}) is not squeezable!"]
            checks.append(tf.Assert(tf.reduce_all(tf.equal(lengths, one)), told))
    if 0 in axes:
        two = tf.constant(2, dtype=dtypes.int32)
        is_one = tf.equal(tf.size(ragged.row_splits), two)
        checks.append(tf.Assert(is_one, ["the given axis (axis = 0) is not squeezable!"]))
    return checks
