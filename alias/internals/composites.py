# SPDX-License-Identifier: Apache-2.0
"""`tensorflow.python.framework.composite_tensor_utils`: sparse and ragged tensors and values."""

from __future__ import annotations

from typing import Any

from ...engine.graph.tensor import SparseTensor, SparseTensorValue
from ...engine.types import nest
from ...ops.public import tf
from ...train.keras.engine.composites import concatenated, is_value
from ...train.keras.engine.composites import is_composite as is_composite_or_composite_value

__all__ = ["append_composite_tensor", "get_shape", "is_composite_or_composite_value"]


def get_shape(tensor: Any) -> Any:
    """The shape of a composite tensor or of its value; a sparse value's is its `dense_shape`."""
    return tensor.dense_shape if isinstance(tensor, SparseTensorValue) else tensor.shape


def append_composite_tensor(target: Any, to_append: Any) -> Any:
    """The rows of one sparse or ragged tensor or value, and behind them those of another.

    Args:
        target: a SparseTensor, a RaggedTensor, or the value of one.
        to_append: another of the same class.

    Returns:
        One of the same class; values give a value.

    Raises:
        RuntimeError: the classes differ, rows have other sizes, or the class has no rows.
    """
    if type(target) is not type(to_append):
        raise RuntimeError(f"Unable to concatenate {type(target)} and {type(to_append)}")
    if is_value(target):
        return concatenated([target, to_append])
    if isinstance(target, SparseTensor):
        return tf.sparse_concat(axis=0, sp_inputs=[target, to_append])
    if nest.is_composite(target) and hasattr(target, "nested_row_splits"):
        return tf.concat([target, to_append], axis=0)
    raise RuntimeError(f"Attempted to concatenate unsupported object {type(target)}.")
