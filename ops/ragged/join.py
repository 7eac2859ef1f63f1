# SPDX-License-Identifier: Apache-2.0
"""Ragged tensors behind each other along an axis, or as the rows of a new one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...engine.graph.scope_functions import name_scope
from ...engine.graph.tensor import Tensor
from ...engine.types.shape import TensorShape
from ..public import tf
from .array import expand_dims
from .gather import gather
from .tensor import (
    RaggedTensor,
    convert_to_tensor_or_ragged_tensor,
    is_ragged,
    match_row_splits_dtypes,
)
from .util import assert_splits_match, get_positive_axis, lengths_to_splits

if TYPE_CHECKING:
    from ...engine.types.dtypes import DType


def concat(values: Any, axis: int, name: str | None = None) -> Any:
    """Tensors, ragged or not, one behind the other along an axis."""
    if not isinstance(values, (list, tuple)):
        values = [values]
    with name_scope(name, "RaggedConcat", values):
        return _join(values, axis, stack_values=False)


@export("ragged.stack")
def stack(values: Any, axis: int = 0, name: str | None = None) -> Any:
    """Tensors, ragged or not, as the entries of a new axis, along which they may differ in size.

    Args:
        values: tensors of one rank and dtype.
        axis: where the new axis lies, in [-(rank + 1), rank].
        name: the prefix of the names of operations.

    Returns:
        A RaggedTensor of one axis more; a Tensor where all are dense and the axis is the last.

    Raises:
        ValueError: there are none, or the axis is outside.

    Example:
        >>> x = tf.ragged.constant([[1], [2, 3]])
        >>> tf.Session().run(tf.ragged.stack([x, [[4, 5]]])).to_list()
        [[[1], [2, 3]], [[4, 5]]]
    """
    if not isinstance(values, (list, tuple)):
        values = [values]
    with name_scope(name, "RaggedConcat", values):
        return _join(values, axis, stack_values=True)


def _join(values: Sequence[Any], axis: int, stack_values: bool) -> Any:
    if not values:
        raise ValueError("rt_inputs may not be empty.")
    inputs = [convert_to_tensor_or_ragged_tensor(value, name="rt_input") for value in values]
    kind, inputs = match_row_splits_dtypes(*inputs, return_dtype=True)
    if len(inputs) == 1:
        return expand_dims(inputs[0], axis=axis) if stack_values else inputs[0]
    rank = inputs[0].shape.ndims
    for item in inputs[1:]:
        if rank is None:
            rank = item.shape.ndims
        else:
            item.shape.assert_has_rank(rank)
    rank_out = rank + 1 if stack_values and rank is not None else rank
    axis = get_positive_axis(axis, rank_out)
    if all(isinstance(item, Tensor) for item in inputs) and rank is not None:
        if rank_out is not None and axis in (rank_out - 1, rank - 1):
            return (tf.stack if stack_values else tf.concat)(list(inputs), axis)
    inputs = _of_one_ragged_rank(inputs, kind)
    if axis == 0:
        return _join_first(inputs, stack_values)
    if axis == 1:
        return _join_second(inputs, stack_values)
    splits = inputs[0].row_splits
    checks = assert_splits_match([[item.row_splits] for item in inputs])
    with tf.control_dependencies(checks):
        joined = _join([item.values for item in inputs], axis - 1, stack_values)
        return RaggedTensor.from_row_splits(joined, splits, validate=False)


def _of_one_ragged_rank(inputs: Sequence[Any], kind: DType) -> list[RaggedTensor]:
    ragged = [
        item
        if is_ragged(item)
        else RaggedTensor.from_tensor(item, ragged_rank=1, row_splits_dtype=kind)
        for item in inputs
    ]
    deepest = max(item.ragged_rank for item in ragged)
    return [_deepened(item, deepest, kind) for item in ragged]


def _deepened(item: Any, ragged_rank: int, kind: DType) -> Any:
    """The same with more of its uniform axes as ragged ones."""
    if ragged_rank > 0:
        if not is_ragged(item):
            item = RaggedTensor.from_tensor(item, row_splits_dtype=kind)
        if item.ragged_rank < ragged_rank:
            item = item.with_values(_deepened(item.values, ragged_rank - 1, kind))
    return item


def _join_first(inputs: Sequence[RaggedTensor], stack_values: bool) -> RaggedTensor:
    """Along the first axis: splits continue where those of the tensor before end."""
    values = tf.concat([item.flat_values for item in inputs], axis=0)
    nested = [_joined_splits(level) for level in zip(*[item.nested_row_splits for item in inputs])]
    if stack_values:
        nested.insert(0, lengths_to_splits(tf.stack([item.nrows() for item in inputs])))
    return RaggedTensor.from_nested_row_splits(values, nested, validate=False)


def _joined_splits(splits: Sequence[Tensor]) -> Tensor:
    pieces, offset = [splits[0]], splits[0][-1]
    for more in splits[1:]:
        pieces.append(more[1:] + offset)
        offset += more[-1]
    return tf.concat(pieces, axis=0)


def _join_second(inputs: Sequence[RaggedTensor], stack_values: bool) -> RaggedTensor:
    """Along the second axis: rows one behind the other, then put in turns."""
    count, rows = len(inputs), inputs[0].nrows()
    message = "Input tensors have incompatible shapes."
    checks = [tf.assert_equal(item.nrows(), rows, message=message) for item in inputs[1:]]
    with tf.control_dependencies(checks):
        joined = _join_first(inputs, stack_values=False)
        numbers = tf.reshape(tf.range(rows * count), [count, -1])
        turns = gather(joined, tf.reshape(tf.transpose(numbers), [-1]))
        if stack_values:
            splits, values = tf.range(0, rows * count + 1, count), turns
        else:
            splits, values = turns.row_splits[::count], turns.values
        for item in inputs:
            known = item.shape[0]
            if known is not None:
                splits.set_shape(TensorShape([known + 1]))
        return RaggedTensor.from_row_splits(values, splits, validate=False)
