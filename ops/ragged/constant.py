# SPDX-License-Identifier: Apache-2.0
"""Nested lists as ragged constants, and ragged placeholders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine.api import export
from ...engine.graph.scope_functions import name_scope
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape
from ..public import tf
from .tensor import RaggedTensor, is_ragged
from .values import from_lists

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, ShapeLike
    from ...engine.graph.tensor import Tensor


@export("ragged.constant")
def constant(
    pylist: Any,
    dtype: DTypeLike | None = None,
    ragged_rank: int | None = None,
    inner_shape: Sequence[int] | None = None,
    name: str | None = None,
    row_splits_dtype: DTypeLike = dtypes.int64,
) -> Any:
    """Nested lists as a constant RaggedTensor.

    Args:
        pylist: lists, tuples or arrays of scalars, which are all of one depth.
        dtype: of the elements; chosen by them if None.
        ragged_rank: how many levels of rows differ in length: all, if None, but `inner_shape`.
        inner_shape: the shape of elements; what is found there if None.
        name: the prefix of the names of operations.
        row_splits_dtype: int32 or int64.

    Returns:
        A RaggedTensor; a Tensor where there is no level of rows.

    Raises:
        TypeError: `pylist` is ragged already, or its elements are not of `inner_shape`.
        ValueError: scalars are of different depths, or rank and shape are not those of `pylist`.

    Example:
        >>> tf.Session().run(tf.ragged.constant([[1, 2], [], [3]])).row_splits.tolist()
        [0, 2, 2, 3]
    """
    if is_ragged(pylist):
        raise TypeError("pylist may not be a RaggedTensor or RaggedTensorValue.")
    kind = dtypes.as_dtype(row_splits_dtype)

    def rows(values: Any, row_splits: Any) -> RaggedTensor:
        splits = tf.constant(row_splits, dtype=kind)
        return RaggedTensor.from_row_splits(values, splits, validate=False)

    def elements(values: Any, shape: Any, name: str | None = None) -> Tensor:
        # (`tf.constant` would fill up what is missing with the last element.)
        if shape is not None and np.size(values) not in (1, np.prod(shape, dtype=np.int64)):
            given = np.shape(values)
            raise TypeError(f"Expected Tensor's shape: {tuple(shape)}, got {given}.")
        return tf.constant(values, dtype, shape, name="Const" if name is None else name)

    with name_scope(name, "RaggedConstant"):
        return from_lists(rows, elements, pylist, ragged_rank, inner_shape)


@export("ragged.placeholder")
def placeholder(
    dtype: DTypeLike,
    ragged_rank: int,
    value_shape: ShapeLike | None = None,
    name: str | None = None,
) -> Any:
    """A ragged tensor that every run must feed.

    Args:
        dtype: of its values.
        ragged_rank: how many of its axes are ragged; 0 makes an ordinary placeholder.
        value_shape: the shape of what lies below these axes; not known if None.
        name: the prefix of the names of its parts.

    Returns:
        A RaggedTensor; a run is fed a tf.ragged.RaggedTensorValue.

    Example:
        >>> x = tf.ragged.placeholder(tf.int32, 1, [])
        >>> value = tf.ragged.constant_value([[1, 2], [3]], np.int32)
        >>> tf.Session().run(tf.reduce_sum(x, axis=1), {x: value}).tolist()
        [3, 3]
    """
    if ragged_rank == 0:
        return tf.placeholder(dtype, value_shape, name)
    with name_scope(name, "RaggedPlaceholder", []):
        shape = TensorShape([None]).concatenate(value_shape)
        result: Any = tf.placeholder(dtype, shape, "flat_values")
        for i in reversed(range(ragged_rank)):
            splits = tf.placeholder(dtypes.int64, [None], f"row_splits_{i}")
            result = RaggedTensor(result, splits, internal=True)
        return result
