# SPDX-License-Identifier: Apache-2.0
"""Losses of each example: functions of what is and what was predicted."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ....ops.public import tf
from ..backend import elements as K  # noqa: N812
from ..backend import networks
from ..backend.published import nn
from ..backend.settings import epsilon, floatx

if TYPE_CHECKING:
    from ....engine.graph.tensor import Tensor


def _of_tensors(function: Callable[..., Any]) -> Callable[..., Any]:
    """A loss whose arguments are made tensors of the predictions' dtype first."""

    @functools.wraps(function)
    def loss(y_true: Tensor, y_pred: Tensor, *args: Any, **kwargs: Any) -> Any:
        y_pred = tf.convert_to_tensor(y_pred)
        return function(tf.cast(y_true, y_pred.dtype), y_pred, *args, **kwargs)

    return loss


@_of_tensors
def mean_squared_error(y_true: Tensor, y_pred: Tensor) -> Any:
    """The mean of squared differences along the last axis."""
    return tf.reduce_mean(tf.squared_difference(y_pred, y_true), axis=-1)


@_of_tensors
def mean_absolute_error(y_true: Tensor, y_pred: Tensor) -> Any:
    """The mean of differences' amounts along the last axis."""
    return tf.reduce_mean(tf.abs(y_pred - y_true), axis=-1)


@_of_tensors
def mean_absolute_percentage_error(y_true: Tensor, y_pred: Tensor) -> Any:
    """The mean of differences in percent of what is, along the last axis."""
    shares = tf.abs((y_true - y_pred) / K.clip(tf.abs(y_true), epsilon(), None))
    return 100.0 * tf.reduce_mean(shares, axis=-1)


@_of_tensors
def mean_squared_logarithmic_error(y_true: Tensor, y_pred: Tensor) -> Any:
    """The mean of squared differences of logarithms along the last axis."""
    predicted, true = (tf.log(K.clip(y, epsilon(), None) + 1.0) for y in (y_pred, y_true))
    return tf.reduce_mean(tf.squared_difference(predicted, true), axis=-1)


def _signed(y_true: Tensor) -> Any:
    """Labels -1 and 1, from 0 and 1 if they are all of these."""
    is_binary = tf.reduce_all(tf.logical_or(tf.equal(y_true, 0), tf.equal(y_true, 1)))
    return tf.cond(is_binary, lambda: 2.0 * y_true - 1.0, lambda: y_true)


@_of_tensors
def hinge(y_true: Tensor, y_pred: Tensor) -> Any:
    """The mean of max(1 - y_true * y_pred, 0) along the last axis; labels are -1 or 0, and 1."""
    return tf.reduce_mean(tf.maximum(1.0 - _signed(y_true) * y_pred, 0.0), axis=-1)


@_of_tensors
def squared_hinge(y_true: Tensor, y_pred: Tensor) -> Any:
    """The mean of max(1 - y_true * y_pred, 0) squared, as `hinge`."""
    return tf.reduce_mean(tf.square(tf.maximum(1.0 - _signed(y_true) * y_pred, 0.0)), axis=-1)


@_of_tensors
def categorical_hinge(y_true: Tensor, y_pred: Tensor) -> Any:
    """How far the largest wrong class comes within 1 of the right one, or above it."""
    right = tf.reduce_sum(y_true * y_pred, axis=-1)
    wrong = tf.reduce_max((1.0 - y_true) * y_pred, axis=-1)
    return tf.maximum(0.0, wrong - right + 1.0)


def huber_loss(y_true: Tensor, y_pred: Tensor, delta: float = 1.0) -> Any:
    """Half the square of each difference up to `delta`, and a line beyond."""
    error = tf.abs(tf.cast(y_pred, floatx()) - tf.cast(y_true, floatx()))
    quadratic = tf.minimum(error, delta)
    return 0.5 * quadratic * quadratic + delta * (error - quadratic)


@_of_tensors
def logcosh(y_true: Tensor, y_pred: Tensor) -> Any:
    """The mean of log(cosh(y_pred - y_true)) along the last axis."""
    x = y_pred - y_true
    return tf.reduce_mean(x + nn.softplus(-2.0 * x) - tf.log(2.0), axis=-1)


def _smoothing(share: Any) -> Any:
    """A share of smoothing as a tensor; None for 0."""
    made = tf.convert_to_tensor(share, dtype=floatx())
    return None if isinstance(share, (int, float)) and not share else made


@_of_tensors
def categorical_crossentropy(
    y_true: Tensor, y_pred: Tensor, from_logits: bool = False, label_smoothing: float = 0
) -> Any:
    """The cross entropy of probabilities of classes along the last axis.

    Args:
        y_true: probabilities.
        y_pred: probabilities or logits.
        from_logits: whether predictions are logits.
        label_smoothing: the share of what is true that is spread over all classes.
    """
    # (TensorFlow makes a constant of it whether it is used or not: seeds depend on that.)
    label_smoothing = _smoothing(label_smoothing)
    if label_smoothing is not None:
        classes = tf.cast(tf.shape(y_true)[1], y_pred.dtype)
        y_true = y_true * (1.0 - label_smoothing) + label_smoothing / classes
    return networks.categorical_crossentropy(y_true, y_pred, from_logits=from_logits)


def sparse_categorical_crossentropy(
    y_true: Tensor, y_pred: Tensor, from_logits: bool = False, axis: int = -1
) -> Any:
    """The cross entropy of classes, given by their numbers, along an axis."""
    y_pred = tf.convert_to_tensor(y_pred)
    return networks.sparse_categorical_crossentropy(
        tf.convert_to_tensor(y_true), y_pred, from_logits=from_logits, axis=axis
    )


@_of_tensors
def binary_crossentropy(
    y_true: Tensor, y_pred: Tensor, from_logits: bool = False, label_smoothing: float = 0
) -> Any:
    """The mean cross entropy of single probabilities along the last axis.

    Args:
        y_true: probabilities.
        y_pred: probabilities or logits.
        from_logits: whether predictions are logits.
        label_smoothing: the share of what is true that becomes 0.5.
    """
    label_smoothing = _smoothing(label_smoothing)
    if label_smoothing is not None:
        y_true = y_true * (1.0 - label_smoothing) + 0.5 * label_smoothing
    found = networks.binary_crossentropy(y_true, y_pred, from_logits=from_logits)
    return tf.reduce_mean(found, axis=-1)


@_of_tensors
def kullback_leibler_divergence(y_true: Tensor, y_pred: Tensor) -> Any:
    """The divergence of two distributions along the last axis."""
    y_true, y_pred = K.clip(y_true, epsilon(), 1), K.clip(y_pred, epsilon(), 1)
    return tf.reduce_sum(y_true * tf.log(y_true / y_pred), axis=-1)


@_of_tensors
def poisson(y_true: Tensor, y_pred: Tensor) -> Any:
    """The mean of y_pred - y_true * log(y_pred) along the last axis."""
    return tf.reduce_mean(y_pred - y_true * tf.log(y_pred + epsilon()), axis=-1)


def cosine_proximity(y_true: Tensor, y_pred: Tensor, axis: int = -1) -> Any:
    """The cosine of the angle between two vectors along an axis."""
    y_true, y_pred = nn.l2_normalize(y_true, axis=axis), nn.l2_normalize(y_pred, axis=axis)
    return tf.reduce_sum(y_true * y_pred, axis=axis)


mse = MSE = mean_squared_error
mae = MAE = mean_absolute_error
mape = MAPE = mean_absolute_percentage_error
msle = MSLE = mean_squared_logarithmic_error
kld = KLD = kullback_leibler_divergence
cosine = cosine_similarity = cosine_proximity

# Name -> function, as configurations have them.
FUNCTIONS: dict[str, Callable[..., Any]] = {
    name: function
    for name, function in list(globals().items())
    if getattr(function, "__module__", "") == __name__ and not name.startswith("_")
}
