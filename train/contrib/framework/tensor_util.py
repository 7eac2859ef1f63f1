# SPDX-License-Identifier: Apache-2.0
"""Checks and sums of tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ....engine.api import export
from ....engine.graph.convert import convert_to_tensor_or_sparse_tensor, is_tensor
from ....engine.graph.tensor import SparseTensor
from ....engine.types import dtypes
from ....engine.types.shape import TensorShape
from ....ops.public import tf

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike
    from ....engine.graph.tensor import Tensor

__all__ = ["convert_to_tensor_or_sparse_tensor", "is_tensor"]


@export("contrib.framework.reduce_sum_n")
def reduce_sum_n(tensors: Sequence[Tensor], name: str | None = None) -> Any:
    """The sum of all elements of all tensors.

    Args:
        tensors: tensors of one dtype.
        name: the name of the result.

    Raises:
        ValueError: there are no tensors.

    Example:
        >>> total = tf.contrib.framework.reduce_sum_n([tf.ones([2]), tf.ones([3])])
        >>> print(tf.Session().run(total))
        5.0
    """
    if not tensors:
        raise ValueError("No tensors provided.")
    with tf.name_scope(name, "reduce_sum_n", tensors) as scope:
        sums = [tf.reduce_sum(t, name=f"{t.op.name}/sum") for t in tensors]
        return sums[0] if len(sums) == 1 else tf.add_n(sums, name=scope)


@export("contrib.framework.remove_squeezable_dimensions")
def remove_squeezable_dimensions(
    predictions: TensorLike, labels: TensorLike, name: str | None = None
) -> tuple[Any, Any]:
    """Drops the last axis of the one that has an axis more, if its size is one.

    Args:
        predictions: a tensor.
        labels: a tensor of as many axes, one more or one less.
        name: the name scope.

    Returns:
        Both tensors.
    """
    with tf.name_scope(name, "remove_squeezable_dimensions", [predictions, labels]):
        predictions, labels = tf.convert_to_tensor(predictions), tf.convert_to_tensor(labels)
        of_predictions, of_labels = predictions.shape.ndims, labels.shape.ndims
        if of_predictions is not None and of_labels is not None:
            if of_predictions - of_labels == -1:
                labels = tf.squeeze(labels, [-1])
            elif of_predictions - of_labels == 1:
                predictions = tf.squeeze(predictions, [-1])
            return predictions, labels
        difference = tf.rank(predictions) - tf.rank(labels)
        return _squeezed(predictions, difference, 1), _squeezed(labels, difference, -1)


def _squeezed(tensor: Tensor, difference: Tensor, wanted: int) -> Any:
    """The tensor, without its last axis where the ranks differ so when it runs."""
    shape = tensor.shape
    if shape.ndims is not None and not shape[-1].is_compatible_with(1):
        return tensor
    is_longer = tf.equal(wanted, difference)
    return tf.cond(is_longer, lambda: tf.squeeze(tensor, [-1]), lambda: tensor)


def _has_shape(expected: Any, tensor: Tensor, actual: Tensor) -> Tensor:
    """Whether sizes are the expected ones, of which -1 is any."""
    with tf.name_scope("is_shape", values=[tensor]) as scope:
        size = tf.size(expected)
        with tf.name_scope("is_rank", values=[tensor]) as rank_scope:
            rank = tf.convert_to_tensor(size, name="expected")
            is_rank = tf.equal(rank, tf.rank(tensor, name="actual"), name=rank_scope)
        with tf.name_scope("shape_tensor_equal", values=[expected, actual]) as equal_scope:
            is_free = tf.equal(expected, -1)
            equal = tf.equal(expected, actual, "equal")
            either = tf.logical_or(is_free, equal, name="exclude_partial_shape")
            is_equal = tf.reduce_all(either, name=equal_scope)
        return tf.logical_and(is_rank, is_equal, name=scope)


def _assert_shape(expected: Any, tensor: Tensor) -> Any:
    with tf.name_scope("assert_shape", values=[tensor]) as scope:
        actual = tf.shape(tensor, name="actual")
        if isinstance(expected, TensorShape) and not expected.is_fully_defined():
            expected = [size or -1 for size in expected.as_list()]
        message = f"Wrong shape for {tensor.name} [expected] [actual]."
        condition = _has_shape(expected, tensor, actual)
        return tf.Assert(condition, [message, expected, actual], name=scope)


@export("contrib.framework.with_same_shape")
def with_same_shape(expected_tensor: Tensor, tensor: Tensor) -> Tensor:
    """The second tensor, of the shape of the first: `with_shape` says how that is checked."""
    with tf.name_scope(f"{tensor.op.name}/", values=[expected_tensor, tensor]):
        shape = expected_tensor.shape
        if shape.is_fully_defined():
            return with_shape(shape.as_list(), tensor)
        return with_shape(tf.shape(expected_tensor, name="expected_shape"), tensor)


def _checked_shape(expected: Any, tensor: Tensor) -> Any:
    """The expected sizes as an int32 array, or as the tensor they are."""

    def refuse(what: str, value: object) -> None:
        raise ValueError(
            f"Invalid {what} {value} for shape {expected} expected of tensor {tensor.name}."
        )

    if is_tensor(expected):
        if expected.dtype.base_dtype != dtypes.int32:
            refuse("dtype", expected.dtype)
        return expected
    if isinstance(expected, (list, tuple)):
        sizes = np.asarray(expected)
        is_integer = not len(expected) or sizes.dtype == np.int64
        expected = sizes.astype(np.int32) if is_integer else sizes
    if isinstance(expected, np.ndarray):
        if expected.ndim > 1:
            refuse("rank", expected.ndim)
        if expected.dtype != np.int32:
            refuse("dtype", expected.dtype)
    return expected


@export("contrib.framework.with_shape")
def with_shape(expected_shape: Any, tensor: Tensor) -> Tensor:
    """The tensor, which has the expected shape: an error says so if not, now or when it runs.

    Args:
        expected_shape: sizes, or a tensor of int32; -1 in a tensor is any size.
        tensor: the tensor, not a sparse one.

    Returns:
        The tensor itself where its shape is known to be the expected one; else a copy that checks.

    Raises:
        ValueError: the shape is known to be another, or `expected_shape` is no list of sizes.

    Example:
        >>> x = tf.placeholder(tf.float32)
        >>> print(tf.contrib.framework.with_shape([2, 3], x).shape)
        (2, 3)
    """
    if isinstance(tensor, SparseTensor):
        raise ValueError("SparseTensor not supported.")
    expected = _checked_shape(expected_shape, tensor)
    actual = tensor.shape
    is_known = not is_tensor(expected)
    scope = f"{tensor.op.name}/"
    if not actual.is_fully_defined() or not is_known:
        with tf.name_scope(scope, values=[tensor]):
            if is_known and len(expected) < 1:
                return tf.reshape(tensor, [])
            with tf.control_dependencies([_assert_shape(expected, tensor)]):
                result = tf.identity(tensor)
            if is_known:
                result.set_shape(expected)
            return result
    if not actual.is_compatible_with(expected):
        if len(expected) < 1 and actual.is_compatible_with([1]):
            with tf.name_scope(scope, values=[tensor]):
                return tf.reshape(tensor, [])
        raise ValueError(
            f"Invalid shape for tensor {tensor.name}, expected {expected}, got {actual}."
        )
    return tensor


@export("contrib.framework.assert_scalar_int")
def assert_scalar_int(tensor: TensorLike, name: str | None = None) -> Tensor:
    """The tensor, which is an integer scalar.

    Raises:
        ValueError: it is no scalar, or of no integer dtype.
    """
    with tf.name_scope(name, "assert_scalar_int", [tensor]) as scope:
        tensor = tf.convert_to_tensor(tensor)
        if not tensor.dtype.base_dtype.is_integer:
            raise ValueError(
                f"Expected integer type for {tensor.name}, received type: {tensor.dtype}."
            )
        return tf.assert_scalar(tensor, name=scope)
