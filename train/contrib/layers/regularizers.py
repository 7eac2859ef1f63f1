# SPDX-License-Identifier: Apache-2.0
"""Regularizers: functions of weights that give losses."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.interface import log
from ....ops.nn.loss import l2_loss
from ....ops.public import tf

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike

Regularizer = Callable[..., Any]


def _scaled(
    scale: TensorLike, scope: str | None, default: str, measure: Callable[[Any], Any]
) -> Regularizer:
    """The regularizer `scale` * measure(weights)."""
    if isinstance(scale, numbers.Integral):
        raise ValueError(f"scale cannot be an integer: {scale}")
    if isinstance(scale, numbers.Real):
        if scale < 0.0:
            raise ValueError(f"Setting a scale less than 0 on a regularizer: {scale:g}")
        if scale == 0.0:
            log.info("Scale of 0 disables regularizer.")
            return lambda _: None

    def regularize(weights: Any, name: str | None = None) -> Any:
        with tf.name_scope(scope, default, [weights]) as name:
            factor = tf.convert_to_tensor(scale, dtype=weights.dtype.base_dtype, name="scale")
            return tf.multiply(factor, measure(weights), name=name)

    return regularize


@export("contrib.layers.l1_regularizer")
def l1_regularizer(scale: TensorLike, scope: str | None = None) -> Regularizer:
    """A function of weights: `scale` times the sum of their magnitudes.

    Args:
        scale: a number, or a scalar tensor; 0.0 is no regularizer.
        scope: the name scope.

    Raises:
        ValueError: the scale is negative or an integer.

    Example:
        >>> loss = tf.contrib.layers.l1_regularizer(0.5)(tf.constant([1.0, -3.0]))
        >>> print(tf.Session().run(loss))
        2.0
    """
    return _scaled(scale, scope, "l1_regularizer", lambda w: tf.reduce_sum(tf.abs(w)))


@export("contrib.layers.l2_regularizer")
def l2_regularizer(scale: TensorLike, scope: str | None = None) -> Regularizer:
    """A function of weights: `scale` times half the sum of their squares.

    Args:
        scale: a number, or a scalar tensor; 0.0 is no regularizer.
        scope: the name scope.

    Raises:
        ValueError: the scale is negative or an integer.

    Example:
        >>> loss = tf.contrib.layers.l2_regularizer(0.1)(tf.constant([1.0, -3.0]))
        >>> print(tf.Session().run(loss))
        0.5
    """
    return _scaled(scale, scope, "l2_regularizer", l2_loss)


@export("contrib.layers.l1_l2_regularizer")
def l1_l2_regularizer(
    scale_l1: TensorLike = 1.0, scale_l2: TensorLike = 1.0, scope: str | None = None
) -> Regularizer | None:
    """The sum of `l1_regularizer` and `l2_regularizer`.

    Args:
        scale_l1, scale_l2: their scales.
        scope: the name scope.

    Raises:
        ValueError: a scale is negative or an integer.
    """
    for name, scale in (("scale_l1", scale_l1), ("scale_l2", scale_l2)):
        if isinstance(scale, numbers.Integral):
            raise ValueError(f"{name} cannot be an integer: {scale}")
    scope = scope or "l1_l2_regularizer"
    if isinstance(scale_l1, numbers.Real) and scale_l1 == 0.0:
        return l2_regularizer(scale_l2, scope)
    if isinstance(scale_l2, numbers.Real) and scale_l2 == 0.0:
        return l1_regularizer(scale_l1, scope)
    return sum_regularizer([l1_regularizer(scale_l1), l2_regularizer(scale_l2)], scope=scope)


@export("contrib.layers.sum_regularizer")
def sum_regularizer(
    regularizer_list: Sequence[Regularizer | None], scope: str | None = None
) -> Regularizer | None:
    """The sum of regularizers; None if there are none.

    Args:
        regularizer_list: regularizers, of which those that are None are left out.
        scope: the name scope.
    """
    regularizers = [one for one in regularizer_list if one is not None]
    if not regularizers:
        return None

    def regularize(weights: Any) -> Any:
        with tf.name_scope(scope, "sum_regularizer", [weights]) as name:
            losses = [one(weights) for one in regularizers]
            losses = [loss for loss in losses if loss is not None]
            return tf.add_n(losses, name=name) if losses else None

    return regularize


@export("contrib.layers.apply_regularization")
def apply_regularization(
    regularizer: Regularizer, weights_list: Sequence[Any] | None = None
) -> Any:
    """The sum of a regularizer's losses of all weights, in the collection of such losses.

    Args:
        regularizer: a function of weights that gives a scalar or None.
        weights_list: the weights; those of the collection `tf.GraphKeys.WEIGHTS` if None.

    Returns:
        A scalar.

    Raises:
        ValueError: there are no weights, or a loss is no scalar.
    """
    weights = weights_list or tf.get_collection(tf.GraphKeys.WEIGHTS)
    if not weights:
        raise ValueError("No weights to regularize.")
    with tf.name_scope("get_regularization_penalty", values=weights) as scope:
        losses = [regularizer(w) for w in weights]
        losses = [tf.constant(0.0) if loss is None else loss for loss in losses]
        for loss in losses:
            if loss.shape.ndims != 0:
                raise ValueError(
                    "regularizer must return a scalar Tensor instead of a Tensor with rank "
                    f"{loss.shape.ndims}."
                )
        total = tf.add_n(losses, name=scope)
        tf.add_to_collection(tf.GraphKeys.REGULARIZATION_LOSSES, total)
        return total
