# SPDX-License-Identifier: Apache-2.0
"""Losses of examples as the share that one replica has of the loss of a whole batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...engine import api
from ...engine.api import export
from ...engine.graph.convert import convert_to_tensor
from ...engine.types import dtypes
from ...ops.public import tf
from . import strategy_context

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike


def _replicas(name: str) -> int:
    """How many replicas compute a loss together."""
    in_all = strategy_context.has_strategy() and strategy_context.in_cross_replica_context()
    if in_all:
        raise RuntimeError(
            f"You are calling `{name}` in cross replica context, while it was expected to be "
            "called in replica context."
        )
    return int(strategy_context.get_strategy().num_replicas_in_sync)


def _of_examples(losses: Any) -> Any:
    """Losses behind a check that they are no scalar."""
    message = (
        "Invalid value passed for `per_example_loss`. Expected a tensor with at least rank 1{}"
    )
    if losses.shape.rank is not None:
        if losses.shape.rank == 0:
            raise ValueError(message.format(f", received: {losses}"))
        return losses
    one = tf.cast(1, dtypes.int32)
    check = tf.assert_greater_equal(tf.rank(losses), one, message=message.format("."))
    with tf.control_dependencies([check]):
        return tf.identity(losses)


@export("nn.compute_average_loss")
def compute_average_loss(
    per_example_loss: Any, sample_weight: TensorLike | None = None, global_batch_size: Any = None
) -> Any:
    """The sum of losses over the size of the batch of all replicas (tf.nn.compute_average_loss).

    Args:
        per_example_loss: floats, one loss for each example.
        sample_weight: a number, or one for each example, that losses are multiplied by.
        global_batch_size: how many examples all replicas have; as many as there are losses here,
            times the replicas, if it is not given.

    Returns:
        a scalar of the losses' dtype.

    Raises:
        RuntimeError: it is called for all replicas at once.
        ValueError: the losses are a scalar; InvalidArgumentError if only a run tells.

    Example:
        >>> print(tf.Session().run(tf.nn.compute_average_loss([1.0, 2.0], global_batch_size=4)))
        0.75
    """
    losses = _of_examples(convert_to_tensor(per_example_loss))
    dtype = losses.dtype
    if not dtype.is_floating:
        losses = tf.cast(losses, dtypes.float32)
    if sample_weight is not None:
        weights = tf.cast(convert_to_tensor(sample_weight), losses.dtype)
        weighted = api.NAMES["losses.compute_weighted_loss"]
        losses = weighted(losses, weights, reduction="none", loss_collection=None)
    losses = tf.cast(losses, dtype)
    if global_batch_size is None:
        count = _replicas("compute_average_loss")
        global_batch_size = tf.cast(tf.shape(losses)[0] * count, dtype)
    else:
        global_batch_size = tf.cast(global_batch_size, dtype)
    return tf.reduce_sum(losses) / global_batch_size


@export("nn.scale_regularization_loss")
def scale_regularization_loss(regularization_loss: Any) -> Any:
    """The share that one replica has of a loss that all of them add (tf.nn's).

    Args:
        regularization_loss: floats; a list is added up.

    Returns:
        the sum, over the number of replicas.

    Raises:
        RuntimeError: it is called for all replicas at once.

    Example:
        >>> print(tf.Session().run(tf.nn.scale_regularization_loss([1.0, 2.0])))
        3.0
    """
    return tf.reduce_sum(regularization_loss) / _replicas("scale_regularization_loss")
