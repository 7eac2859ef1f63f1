# SPDX-License-Identifier: Apache-2.0
"""The cross-entropy of sequences, weighted and averaged."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....ops.nn.loss import sparse_softmax_cross_entropy_with_logits
from ....ops.public import tf

if TYPE_CHECKING:
    from ....engine.graph.tensor import Tensor


def _check(logits: Tensor, targets: Tensor, weights: Tensor) -> None:
    for value, rank, text in (
        (logits, 3, "Logits must be a [batch_size x sequence_length x logits] tensor"),
        (targets, 2, "Targets must be a [batch_size x sequence_length] tensor"),
        (weights, 2, "Weights must be a [batch_size x sequence_length] tensor"),
    ):
        if len(value.get_shape()) != rank:
            raise ValueError(text)


@export("contrib.seq2seq.sequence_loss")
def sequence_loss(
    logits: Tensor,
    targets: Tensor,
    weights: Tensor,
    average_across_timesteps: bool = True,
    average_across_batch: bool = True,
    sum_over_timesteps: bool = False,
    sum_over_batch: bool = False,
    softmax_loss_function: Callable[..., Any] | None = None,
    name: str | None = None,
) -> Any:
    """The weighted cross-entropy of sequences (tf.contrib.seq2seq.sequence_loss).

    Args:
        logits: float [batch, time, classes].
        targets: int [batch, time], the classes.
        weights: float [batch, time], such as 1 for what counts and 0 for padding.
        average_across_timesteps, average_across_batch: whether these axes are summed up and
            divided by the sum of the weights.
        sum_over_timesteps, sum_over_batch: whether they are divided by the number of weights that
            are not zero instead.
        softmax_loss_function: a function(labels, logits) instead of the sparse cross-entropy.
        name: of the operations.

    Raises:
        ValueError: a rank is wrong, or one axis is to be averaged in both ways.

    Example:
        >>> loss = tf.contrib.seq2seq.sequence_loss(
        ...     tf.zeros([2, 3, 4]), tf.zeros([2, 3], tf.int32), tf.ones([2, 3]))
        >>> print("%.4f" % tf.Session().run(loss))
        1.3863
    """
    _check(logits, targets, weights)
    for axis, average, total in (
        ("timesteps", average_across_timesteps, sum_over_timesteps),
        ("batch", average_across_batch, sum_over_batch),
    ):
        if average and total:
            raise ValueError(
                f"average_across_{axis} and sum_over_{axis} cannot be set to True at same time."
            )
    with tf.name_scope(name, "sequence_loss", [logits, targets, weights]):
        flat = tf.reshape(logits, [-1, tf.shape(logits)[2]])
        classes = tf.reshape(targets, [-1])
        function: Callable[..., Any] = softmax_loss_function or (
            sparse_softmax_cross_entropy_with_logits
        )
        losses = function(labels=classes, logits=flat)
        losses *= tf.reshape(weights, [-1])
        if average_across_timesteps and average_across_batch:
            return _divided(losses, weights, None, False)
        if sum_over_timesteps and sum_over_batch:
            return _divided(losses, weights, None, True)
        losses = tf.reshape(losses, tf.shape(logits)[0:2])
        if average_across_timesteps or average_across_batch:
            return _divided(losses, weights, [0] if average_across_batch else [1], False)
        if sum_over_timesteps or sum_over_batch:
            return _divided(losses, weights, [0] if sum_over_batch else [1], True)
        return losses


def _divided(losses: Tensor, weights: Tensor, axis: list[int] | None, counts: bool) -> Tensor:
    """A sum over axes, divided by that of the weights or by how many are not zero."""
    total = tf.reduce_sum(losses, axis=axis)
    if not counts:
        return tf.div_no_nan(total, tf.reduce_sum(weights, axis=axis))
    number = tf.count_nonzero(weights, axis=axis)
    return tf.div_no_nan(total, tf.cast(number, total.dtype))


class SequenceLoss:
    """`sequence_loss` with its settings kept, as a function(targets, logits, weights).

    Args:
        average_across_timesteps, average_across_batch, sum_over_timesteps, sum_over_batch,
            softmax_loss_function, name: as sequence_loss.
    """

    def __init__(
        self,
        average_across_timesteps: bool = False,
        average_across_batch: bool = False,
        sum_over_timesteps: bool = True,
        sum_over_batch: bool = True,
        softmax_loss_function: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> None:
        self._settings: dict[str, Any] = {
            "average_across_timesteps": average_across_timesteps,
            "average_across_batch": average_across_batch,
            "sum_over_timesteps": sum_over_timesteps,
            "sum_over_batch": sum_over_batch,
            "softmax_loss_function": softmax_loss_function,
            "name": name,
        }

    def __call__(self, y_true: Tensor, y_pred: Tensor, sample_weight: Tensor) -> Any:
        """The loss of logits `y_pred` for targets `y_true`."""
        return sequence_loss(y_pred, y_true, sample_weight, **self._settings)
