# SPDX-License-Identifier: Apache-2.0
"""`tf.keras.activations`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...ops.public import tf
from .backend import networks as K  # noqa: N812
from .backend.networks import elu, hard_sigmoid, relu, softplus, softsign
from .backend.published import nn
from .serialization import Family, serialize_keras_object

if TYPE_CHECKING:
    from ...engine.graph.tensor import Tensor


__all__ = ["elu", "hard_sigmoid", "relu", "softplus", "softsign"]


def softmax(x: Tensor, axis: int = -1) -> Any:
    """exp(x) over its sum along an axis; ValueError for a tensor of less than two axes."""
    rank = x.shape.ndims
    if rank == 2:
        return nn.softmax(x)
    if rank is None or rank < 2:
        raise ValueError(f"Cannot apply softmax to a tensor that is 1D. Received input: {x}")
    # Without the largest element exp may overflow; it cancels in the quotient.
    e = tf.exp(x - tf.reduce_max(x, axis=axis, keepdims=True))
    return e / tf.reduce_sum(e, axis=axis, keepdims=True)


def selu(x: Tensor) -> Any:
    """The scaled elu of arXiv 1706.02515, whose fixed point is mean 0, variance 1."""
    return 1.0507009873554804934193349852946 * K.elu(x, 1.6732632423543772848170429916717)


def tanh(x: Tensor) -> Any:
    """The hyperbolic tangent."""
    return tf.tanh(x)


def sigmoid(x: Tensor) -> Any:
    """The logistic function."""
    return tf.sigmoid(x)


def exponential(x: Tensor) -> Any:
    """exp(x)."""
    return tf.exp(x)


def linear(x: Tensor) -> Any:
    """The input."""
    return x


_FAMILY = Family(
    "activation function",
    {
        f.__name__: f
        for f in (
            *(elu, exponential, hard_sigmoid, linear, relu, selu),
            *(sigmoid, softmax, softplus, softsign, tanh),
        )
    },
)
deserialize = _FAMILY.deserialize


def serialize(activation: Any) -> Any:
    """What `deserialize` makes an activation of: its name, or a description."""
    return serialize_keras_object(activation)


def get(identifier: Any) -> Any:
    """The activation that an argument means: its name, its description or itself; None is linear.

    Raises:
        ValueError: no activation has that name.
        TypeError: it is something else.
    """
    if identifier is None:
        return linear
    if not isinstance(identifier, (str, dict)) and not callable(identifier):
        raise TypeError(f"Could not interpret activation function identifier: {identifier!r}")
    return _FAMILY.get(identifier)
