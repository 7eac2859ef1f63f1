# SPDX-License-Identifier: Apache-2.0
"""How weights broadcast in losses and metrics: a scalar, or the values' rank with sizes of one.

Static shapes decide where they can; otherwise the graph checks when it runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.graph import control_dependencies, name_scope
from ..public import tf

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.tensor import Tensor

_PREFIX = "weights can not be broadcast to values."


def _has_valid_dims(weights_shape: Tensor, values_shape: Tensor) -> Any:
    with name_scope(None, "has_invalid_dims", (weights_shape, values_shape)) as scope:
        # Each size of the weights must be in the set {size of the values, 1} of its axis.
        values_2d = tf.expand_dims(values_shape, -1)
        valid = tf.concat((values_2d, tf.ones_like(values_2d)), axis=1)
        weights_2d = tf.expand_dims(weights_shape, -1)
        invalid = getattr(tf, "sets.difference")(weights_2d, valid)
        count = tf.size(invalid.values, name="num_invalid_dims")
        return tf.equal(0, count, name=scope)


def _has_valid_shape(
    weights_rank: Tensor, weights_shape: Tensor, values_rank: Tensor, values_shape: Tensor
) -> Any:
    inputs = (weights_rank, weights_shape, values_rank, values_shape)
    with name_scope(None, "has_valid_nonscalar_shape", inputs) as scope:
        is_same_rank = tf.equal(values_rank, weights_rank, name="is_same_rank")
        return tf.cond(
            is_same_rank,
            lambda: _has_valid_dims(weights_shape, values_shape),
            lambda: is_same_rank,
            name=scope,
        )


def _static_check(weights: Any, values: Any) -> str | None:
    """The name for a no_op where static shapes suffice; raises ValueError where they disagree."""
    weights_shape, values_shape = weights.get_shape(), values.get_shape()
    if weights_shape.ndims is None or values_shape.ndims is None:
        return None
    if weights_shape.ndims == 0:
        return "static_scalar_check_success"
    if weights_shape.ndims != values_shape.ndims:
        raise ValueError(
            f"{_PREFIX} values.rank={values_shape.ndims}. weights.rank={weights_shape.ndims}. "
            f"values.shape={values_shape}. weights.shape={weights_shape}."
        )
    if not (weights_shape.is_fully_defined() and values_shape.is_fully_defined()):
        return None
    wanted, given = values_shape.as_list(), weights_shape.as_list()
    for i, size in enumerate(given):
        if size not in (1, wanted[i]):
            shapes = f"values.shape={_text(wanted)} weights.shape={_text(given)}"
            raise ValueError(f"{_PREFIX} Mismatch at dim {i}. {shapes}.")
    return "static_dims_check_success"


def _text(shape: list[int]) -> str:
    return f"[{' '.join(map(str, shape))}]"


def _described(tensor: TensorLike, name: str) -> tuple[Any, Any, Any]:
    """A value as a tensor, its shape and its rank, in a scope of their own."""
    with name_scope(None, name, (tensor,)) as scope:
        tensor = convert_to_tensor(tensor, name=scope)
        return tensor, tf.shape(tensor, name="shape"), tf.rank(tensor, name="rank")


def assert_broadcastable(weights: Any, values: Any) -> Any:
    """An Operation that fails unless the weights broadcast to the values."""
    with name_scope(None, "assert_broadcastable", (weights, values)) as scope:
        weights, weights_shape, weights_rank = _described(weights, "weights")
        values, values_shape, values_rank = _described(values, "values")
        static = _static_check(weights, values)
        if static is not None:
            return tf.no_op(name=static)
        is_scalar = tf.equal(0, weights_rank, name="is_scalar")
        data: tuple[Any, ...] = (_PREFIX, "weights.shape=", weights.name, weights_shape)
        data += ("values.shape=", values.name, values_shape, "is_scalar=", is_scalar)
        is_valid = tf.cond(
            is_scalar,
            lambda: is_scalar,
            lambda: _has_valid_shape(weights_rank, weights_shape, values_rank, values_shape),
            name="is_valid_shape",
        )
        return tf.Assert(is_valid, data, name=scope)


def broadcast_weights(weights: TensorLike, values: TensorLike) -> Any:
    """The weights in the shape of the values."""
    with name_scope(None, "broadcast_weights", (weights, values)) as scope:
        values = convert_to_tensor(values, name="values")
        weights = convert_to_tensor(weights, dtype=values.dtype.base_dtype, name="weights")
        weights_shape, values_shape = weights.get_shape(), values.get_shape()
        known = weights_shape.is_fully_defined() and values_shape.is_fully_defined()
        if known and weights_shape.is_compatible_with(values_shape):
            return weights
        with control_dependencies((assert_broadcastable(weights, values),)):
            return tf.multiply(weights, tf.ones_like(values), name=scope)
