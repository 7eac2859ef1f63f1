# SPDX-License-Identifier: Apache-2.0
"""Activations and initializers by their names, as layers accept them beside functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...engine import api
from ...ops.public import tf

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.tensor import Tensor


def linear(x: TensorLike) -> Any:
    """The activation that changes nothing."""
    return x


def _softmax(x: Any) -> Any:
    if x.shape.ndims == 2:
        return api.NAMES["nn.softmax"](x)
    if x.shape.ndims is None or x.shape.ndims < 2:
        raise ValueError(f"Cannot apply softmax to a tensor that is 1D. Received input: {x}")
    # Without the largest element exp may overflow; it cancels in the quotient.
    e = tf.exp(x - tf.reduce_max(x, axis=-1, keepdims=True))
    return e / tf.reduce_sum(e, axis=-1, keepdims=True)


def _selu(x: Any) -> Tensor:
    small = api.NAMES["nn.elu"](x)
    # The scale and alpha of https://arxiv.org/abs/1706.02515, for which mean 0 and variance 1 are a
    # fixed point.
    return 1.0507009873554805 * tf.where(x > 0, small, 1.6732632423543772 * small)


def _hard_sigmoid(x: Any) -> Any:
    # Keras's line, which reaches 0 and 1 at -2.5 and 2.5.
    return tf.clip_by_value(0.2 * x + 0.5, 0.0, 1.0)


_ACTIVATIONS: dict[str, Any] = {
    "linear": linear,
    "softmax": _softmax,
    "selu": _selu,
    "hard_sigmoid": _hard_sigmoid,
    "exponential": "exp",
    **{name: f"nn.{name}" for name in "elu relu sigmoid softplus softsign tanh".split()},
}
# Name -> (public name, arguments that differ from that one's own).
_SMALL = {"stddev": 0.05}
_RANGE = {"minval": -0.05, "maxval": 0.05}
_INITIALIZERS: dict[str, tuple[str, dict[str, float]]] = {
    "constant": ("constant_initializer", {}),
    "glorot_normal": ("glorot_normal_initializer", {}),
    "glorot_uniform": ("glorot_uniform_initializer", {}),
    "he_normal": ("initializers.he_normal", {}),
    "he_uniform": ("initializers.he_uniform", {}),
    "identity": ("initializers.identity", {}),
    "lecun_normal": ("initializers.lecun_normal", {}),
    "lecun_uniform": ("initializers.lecun_uniform", {}),
    "normal": ("random_normal_initializer", _SMALL),
    "ones": ("ones_initializer", {}),
    "one": ("ones_initializer", {}),
    "orthogonal": ("orthogonal_initializer", {}),
    "random_normal": ("random_normal_initializer", _SMALL),
    "random_uniform": ("random_uniform_initializer", _RANGE),
    "truncated_normal": ("truncated_normal_initializer", _SMALL),
    "uniform": ("random_uniform_initializer", _RANGE),
    "zeros": ("zeros_initializer", {}),
    "zero": ("zeros_initializer", {}),
}


def activation(identifier: object) -> Callable[..., Any]:
    """The function that an `activation` argument means; None is the linear one.

    Raises:
        ValueError: no activation has that name.
        TypeError: it is neither a name nor a function.
    """
    if identifier is None:
        return linear
    if callable(identifier):
        return identifier  # type: ignore[no-any-return]
    if not isinstance(identifier, str):
        raise TypeError(f"Could not interpret activation function identifier: {identifier!r}")
    found = _ACTIVATIONS.get(identifier)
    if found is None:
        raise ValueError(f"Unknown activation function:{identifier}")
    return api.NAMES[found] if isinstance(found, str) else found  # type: ignore[no-any-return]


def initializer(identifier: object) -> Any:
    """The initializer that an argument means; None stays None.

    Raises:
        ValueError: it is neither a known name nor callable.
    """
    if identifier is None or callable(identifier):
        return identifier
    if not isinstance(identifier, str):
        raise ValueError(f"Could not interpret initializer identifier: {identifier}")
    if identifier not in _INITIALIZERS:
        raise ValueError(f"Unknown initializer:{identifier}")
    public, options = _INITIALIZERS[identifier]
    return api.NAMES[public](**options)


def function_or_none(identifier: Callable[..., Any] | None, what: str) -> Any:
    """A regularizer or constraint: a function, or what Keras calls by a name; or None.

    Raises:
        ValueError: it is something else.
    """
    if identifier is None or callable(identifier):
        return identifier
    # (Keras is imported by those who use its names alone.)
    from ..keras import constraints, regularizers

    return (regularizers if what == "regularizer" else constraints).get(identifier)
