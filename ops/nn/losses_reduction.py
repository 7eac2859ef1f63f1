# SPDX-License-Identifier: Apache-2.0
"""Weighted losses made into one number, and the collections that keep them (`tf.losses`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...engine.graph.collections import GraphKeys, add_to_collection, get_collection
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.defaults import get_default_graph
from ...engine.graph.graph import control_dependencies, name_scope
from ...engine.types import dtypes
from ..public import tf
from .weights import assert_broadcastable, broadcast_weights

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.tensor import Tensor


@export("losses.Reduction")
class Reduction:
    """The ways in which losses of single elements become one loss."""

    NONE = "none"
    SUM = "weighted_sum"
    SUM_OVER_BATCH_SIZE = "weighted_sum_over_batch_size"
    MEAN = "weighted_mean"
    SUM_BY_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights"
    SUM_OVER_NONZERO_WEIGHTS = SUM_BY_NONZERO_WEIGHTS

    @classmethod
    def all(cls) -> tuple[str, ...]:
        """Every way."""
        return (
            cls.NONE,
            cls.SUM,
            cls.MEAN,
            cls.SUM_OVER_BATCH_SIZE,
            cls.SUM_OVER_NONZERO_WEIGHTS,
            cls.SUM_BY_NONZERO_WEIGHTS,
        )

    @classmethod
    def validate(cls, key: str) -> None:
        """Raises ValueError unless `key` is one of the ways."""
        if key not in cls.all():
            raise ValueError(f"Invalid Reduction Key {key}.")


@export("losses.add_loss")
def add_loss(loss: TensorLike, loss_collection: str = GraphKeys.LOSSES) -> None:
    """Adds a loss to those of the graph.

    Args:
        loss: a Tensor.
        loss_collection: the key of the collection; nothing is done if it is None.

    Example:
        >>> tf.losses.add_loss(tf.constant(2.0))
        >>> tf.Session().run(tf.losses.get_total_loss())
        np.float32(2.0)
    """
    if loss_collection:
        add_to_collection(loss_collection, loss)


@export("losses.get_losses")
def get_losses(scope: str | None = None, loss_collection: str = GraphKeys.LOSSES) -> list[Any]:
    """The losses of a collection whose names start with `scope`."""
    return get_collection(loss_collection, scope)


@export("losses.get_regularization_losses")
def get_regularization_losses(scope: str | None = None) -> list[Any]:
    """The regularization losses whose names start with `scope`."""
    return get_collection(GraphKeys.REGULARIZATION_LOSSES, scope)


@export("losses.get_regularization_loss")
def get_regularization_loss(
    scope: str | None = None, name: str = "total_regularization_loss"
) -> Any:
    """The sum of the regularization losses of the graph.

    Args:
        scope: a regular expression that the beginning of their names must match; None for all.
        name: of the operation.

    Returns:
        A scalar; 0 where there are none.

    Example:
        >>> w = tf.get_variable("w", initializer=[3.0, 4.0], regularizer=tf.nn.l2_loss)
        >>> sess = tf.Session()
        >>> sess.run(w.initializer)
        >>> sess.run(tf.losses.get_regularization_loss())
        np.float32(12.5)
    """
    losses = get_regularization_losses(scope)
    return tf.add_n(losses, name=name) if losses else tf.constant(0.0)


@export("losses.get_total_loss")
def get_total_loss(
    add_regularization_losses: bool = True, name: str = "total_loss", scope: str | None = None
) -> Any:
    """The sum of all losses of the graph.

    Args:
        add_regularization_losses: whether those of regularization are in it.
        name: of the operation.
        scope: a regular expression that the beginning of their names must match; None for all.

    Returns:
        A Tensor of the shape of the losses, a scalar as a rule.

    Raises:
        ValueError: there are no losses, or their shapes differ.

    Example:
        >>> first = tf.losses.mean_squared_error([1.0], [3.0])
        >>> second = tf.losses.absolute_difference([1.0], [3.0])
        >>> tf.Session().run(tf.losses.get_total_loss())
        np.float32(6.0)
    """
    losses = get_losses(scope=scope)
    if add_regularization_losses:
        losses += get_regularization_losses(scope=scope)
    return tf.add_n(losses, name=name)


def safe_mean(losses: TensorLike, num_present: TensorLike) -> Tensor:
    """The sum of the losses by their number; zero where that is zero."""
    total = tf.reduce_sum(losses)
    return tf.div_no_nan(total, num_present, name="value")


def _num_elements(losses: Tensor) -> Any:
    with name_scope(None, "num_elements", values=[losses]) as scope:
        return tf.cast(tf.size(losses, name=scope), dtype=losses.dtype)


def num_present(losses: Any, weights: TensorLike, per_batch: bool = False) -> Any:
    """How many losses have a weight other than zero, in all or for each row."""
    # One weight for all that is known here: all count, and 1.15 makes no nodes to find out.
    if isinstance(weights, float) and weights != 0.0:
        return _num_elements(losses)
    with name_scope(None, "num_present", (losses, weights)) as scope:
        weights = tf.cast(weights, dtype=dtypes.float32)
        is_absent = tf.equal(weights, 0.0)
        present = tf.where(is_absent, tf.zeros_like(weights), tf.ones_like(weights))
        present = broadcast_weights(present, losses)
        if not per_batch:
            return tf.reduce_sum(present, name=scope)
        axes = tf.range(1, tf.rank(present))
        return tf.reduce_sum(present, axis=axes, keepdims=True, name=scope)


def _reduced(losses: Tensor, weights: Tensor, reduction: str) -> Any:
    weighted = tf.multiply(losses, weights)
    if reduction == Reduction.NONE:
        return weighted
    loss = tf.reduce_sum(weighted)
    if reduction == Reduction.MEAN:
        return safe_mean(loss, tf.reduce_sum(tf.ones_like(losses) * weights))
    if reduction == Reduction.SUM_BY_NONZERO_WEIGHTS:
        return safe_mean(loss, num_present(losses, weights))
    if reduction == Reduction.SUM_OVER_BATCH_SIZE:
        return safe_mean(loss, _num_elements(losses))
    return loss


@export("losses.compute_weighted_loss")
def compute_weighted_loss(
    losses: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Any:
    """The weighted losses, reduced as told, in the dtype of the losses."""
    Reduction.validate(reduction)
    with name_scope(scope, "weighted_loss", (losses, weights)):
        # Distribution over replicas asks how the last loss was scaled.
        get_default_graph()._last_loss_reduction = reduction
        with control_dependencies((assert_broadcastable(weights, losses),)):
            losses = convert_to_tensor(losses)
            input_dtype = losses.dtype
            losses = tf.cast(losses, dtype=dtypes.float32)
            weights = tf.cast(weights, dtype=dtypes.float32)
            loss = tf.cast(_reduced(losses, weights, reduction), input_dtype)
            add_loss(loss, loss_collection)
            return loss
