# SPDX-License-Identifier: Apache-2.0
"""Labeled tensors of given values, and choices among values."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np

from ....engine.api import export
from ....engine.graph.graph import name_scope
from ....engine.types.dtypes import DType
from ....ops.public import tf
from . import _typecheck as tc
from .core import (
    Axes,
    Axis,
    AxisLike,
    LabeledTensor,
    LabeledTensorLike,
    Scalar,
    as_axis,
    convert_to_labeled_tensor,
)

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike

    Labeled = LabeledTensor | TensorLike


@export("contrib.labeled_tensor.constant")
@tc.returns(LabeledTensor)
@tc.accepts(
    tc.Union(np.ndarray, list, tuple, Scalar),
    tc.Optional(DType),
    tc.Optional(tc.Union(Axes, tc.Collection(tc.Union(str, AxisLike)))),
    tc.Optional(str),
)
def constant(
    value: object,
    dtype: DType | None = None,
    axes: Axes | Collection[str | Axis | tuple[str, Any]] | None = None,
    name: str | None = None,
) -> LabeledTensor:
    """A constant with axes.

    Args:
        value: an array, a list or a scalar.
        dtype: that of the value if None.
        axes: those of the result; none if None.  The value is repeated to their sizes if none is
            given by name alone.
        name: of the operation.

    Returns:
        A LabeledTensor.
    """
    with name_scope(name, "lt_constant", [value]) as scope:
        given: list[Any] = list(axes.values() if isinstance(axes, Axes) else axes or [])
        shape = None
        if not any(isinstance(axis, str) for axis in given):
            given = [as_axis(axis) for axis in given]
            shape = [axis.size for axis in given]
        return LabeledTensor(tf.constant(value, dtype=dtype, shape=shape, name=scope), given)


@export("contrib.labeled_tensor.zeros_like")
@tc.returns(LabeledTensor)
@tc.accepts(LabeledTensorLike, tc.Optional(DType), tc.Optional(str))
def zeros_like(
    labeled_tensor: Labeled, dtype: DType | None = None, name: str | None = None
) -> LabeledTensor:
    """Zeros with a tensor's axes.

    Args:
        labeled_tensor: the tensor.
        dtype: the tensor's if None.
        name: of the operation.

    Returns:
        A LabeledTensor.
    """
    with name_scope(name, "lt_zeros_like", [labeled_tensor]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        zeros = tf.zeros_like(labeled_tensor.tensor, dtype=dtype, name=scope)
        return LabeledTensor(zeros, labeled_tensor.axes)


@export("contrib.labeled_tensor.ones_like")
@tc.returns(LabeledTensor)
@tc.accepts(LabeledTensorLike, tc.Optional(DType), tc.Optional(str))
def ones_like(
    labeled_tensor: Labeled, dtype: DType | None = None, name: str | None = None
) -> LabeledTensor:
    """Ones with a tensor's axes.

    Args:
        labeled_tensor: the tensor.
        dtype: the tensor's if None.
        name: of the operation.

    Returns:
        A LabeledTensor.
    """
    with name_scope(name, "lt_ones_like", [labeled_tensor]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        ones = tf.ones_like(labeled_tensor.tensor, dtype=dtype, name=scope)
        return LabeledTensor(ones, labeled_tensor.axes)


@export("contrib.labeled_tensor.cast")
@tc.returns(LabeledTensor)
@tc.accepts(LabeledTensorLike, tc.Optional(DType), tc.Optional(str))
def cast(
    labeled_tensor: Labeled, dtype: DType | None = None, name: str | None = None
) -> LabeledTensor:
    """A tensor in another dtype.

    Args:
        labeled_tensor: the tensor.
        dtype: that of the result.
        name: of the operation.

    Returns:
        A LabeledTensor with the tensor's axes.
    """
    with name_scope(name, "lt_cast", [labeled_tensor]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        converted = tf.cast(labeled_tensor.tensor, dtype=dtype, name=scope)
        return LabeledTensor(converted, labeled_tensor.axes)


@export("contrib.labeled_tensor.verify_tensor_all_finite")
@tc.returns(LabeledTensor)
@tc.accepts(LabeledTensorLike, str, tc.Optional(str))
def verify_tensor_all_finite(
    labeled_tensor: Labeled, message: str, name: str | None = None
) -> LabeledTensor:
    """A tensor, after a check that no value is infinite or NaN.

    Args:
        labeled_tensor: the tensor.
        message: of the error that a run raises then.
        name: of the operations.

    Returns:
        A LabeledTensor.
    """
    with name_scope(name, "lt_verify_tensor_all_finite", [labeled_tensor]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        checked = tf.verify_tensor_all_finite(labeled_tensor.tensor, msg=message, name=scope)
        return LabeledTensor(checked, labeled_tensor.axes)


@export("contrib.labeled_tensor.boolean_mask")
@tc.returns(LabeledTensor)
@tc.accepts(LabeledTensorLike, LabeledTensorLike, tc.Optional(str))
def boolean_mask(labeled_tensor: Labeled, mask: Labeled, name: str | None = None) -> LabeledTensor:
    """A tensor at the places of its first axis where a mask is true.

    Args:
        labeled_tensor: the tensor.
        mask: a bool vector along the tensor's first axis.
        name: of the operations.

    Returns:
        A LabeledTensor; the labels of its first axis are lost.

    Raises:
        NotImplementedError: the mask has more axes.
        ValueError: its axis is not the tensor's first.
    """
    with name_scope(name, "lt_boolean_mask", [labeled_tensor, mask]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        mask = convert_to_labeled_tensor(mask)
        if len(mask.axes) > 1:
            raise NotImplementedError(
                "LabeledTensor's boolean_mask currently only supports 1D masks"
            )
        of_mask, of_tensor = (next(iter(x.axes.values())) for x in (mask, labeled_tensor))
        if of_mask != of_tensor:
            raise ValueError(
                "the first axis of the labeled tensor and the mask are not equal:\n"
                f"{of_tensor!r}\n{of_mask!r}"
            )
        chosen = tf.boolean_mask(labeled_tensor.tensor, mask.tensor, name=scope)
        return LabeledTensor(chosen, [of_tensor.name, *list(labeled_tensor.axes.values())[1:]])


@export("contrib.labeled_tensor.where")
@tc.returns(LabeledTensor)
@tc.accepts(LabeledTensorLike, LabeledTensorLike, LabeledTensorLike, tc.Optional(str))
def where(condition: Labeled, x: Labeled, y: Labeled, name: str | None = None) -> LabeledTensor:
    """One tensor's values where a condition is true, another's elsewhere.

    Args:
        condition: bool.
        x, y: the tensors; all have equal axes.
        name: of the operation.

    Returns:
        A LabeledTensor.

    Raises:
        ValueError: the axes differ.
    """
    with name_scope(name, "lt_where", [condition, x, y]) as scope:
        condition, x, y = (convert_to_labeled_tensor(value) for value in (condition, x, y))
        if not condition.axes == x.axes == y.axes:
            raise ValueError("all inputs to `where` must have equal axes")
        return LabeledTensor(tf.where(condition.tensor, x.tensor, y.tensor, name=scope), x.axes)
