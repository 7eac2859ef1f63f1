# SPDX-License-Identifier: Apache-2.0
"""The cross-entropy of lists of scores, and models for several lengths at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....ops.nn.loss import sparse_softmax_cross_entropy_with_logits
from ....ops.public import tf

if TYPE_CHECKING:
    from ....engine.graph.tensor import Tensor

SoftmaxLoss = Callable[..., Any]


def _losses_of_step(logit: object, target: object, function: SoftmaxLoss | None) -> Any:
    if function is not None:
        return function(labels=target, logits=logit)
    # Targets may be scalars or columns.
    labels = tf.reshape(target, [-1])
    return sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logit)


@export("contrib.legacy_seq2seq.sequence_loss_by_example")
def sequence_loss_by_example(
    logits: list[Any],
    targets: list[Any],
    weights: list[Any],
    average_across_timesteps: bool = True,
    softmax_loss_function: SoftmaxLoss | None = None,
    name: str | None = None,
) -> Any:
    """The weighted cross-entropy of each sequence (legacy_seq2seq.sequence_loss_by_example).

    Args:
        logits: scores [batch, symbols], one matrix per step.
        targets: int vectors [batch], one per step.
        weights: float vectors [batch], one per step.
        average_across_timesteps: whether the sum over steps is divided by that of the weights.
        softmax_loss_function: a function(labels, logits) instead of the sparse cross-entropy.
        name: of the operations.

    Returns:
        A vector [batch].

    Raises:
        ValueError: the lists differ in length.

    Example:
        >>> loss = tf.contrib.legacy_seq2seq.sequence_loss_by_example(
        ...     [tf.zeros([2, 4])] * 3, [tf.zeros([2], tf.int32)] * 3, [tf.ones([2])] * 3)
        >>> print(tf.Session().run(loss).round(4))
        [1.3863 1.3863]
    """
    if len(targets) != len(logits) or len(weights) != len(logits):
        raise ValueError(
            "Lengths of logits, weights, and targets must be the same "
            f"{len(logits)}, {len(weights)}, {len(targets)}."
        )
    with tf.name_scope(name, "sequence_loss_by_example", logits + targets + weights):
        losses = [
            _losses_of_step(logit, target, softmax_loss_function) * weight
            for logit, target, weight in zip(logits, targets, weights)
        ]
        total = tf.add_n(losses)
        if average_across_timesteps:
            # A sequence without any weight has no loss rather than a division by zero.
            total /= tf.add_n(weights) + 1e-12
    return total


@export("contrib.legacy_seq2seq.sequence_loss")
def sequence_loss(
    logits: list[Any],
    targets: list[Any],
    weights: list[Any],
    average_across_timesteps: bool = True,
    average_across_batch: bool = True,
    softmax_loss_function: SoftmaxLoss | None = None,
    name: str | None = None,
) -> Any:
    """The weighted cross-entropy of all sequences (tf.contrib.legacy_seq2seq.sequence_loss).

    Args:
        logits, targets, weights, average_across_timesteps, softmax_loss_function: as for
            `sequence_loss_by_example`.
        average_across_batch: whether the sum over sequences is divided by their number.
        name: of the operations.

    Returns:
        A scalar.

    Raises:
        ValueError: the lists differ in length.

    Example:
        >>> loss = tf.contrib.legacy_seq2seq.sequence_loss(
        ...     [tf.zeros([2, 4])] * 3, [tf.zeros([2], tf.int32)] * 3, [tf.ones([2])] * 3)
        >>> print("%.4f" % tf.Session().run(loss))
        1.3863
    """
    with tf.name_scope(name, "sequence_loss", logits + targets + weights):
        cost = tf.reduce_sum(
            sequence_loss_by_example(
                logits,
                targets,
                weights,
                average_across_timesteps=average_across_timesteps,
                softmax_loss_function=softmax_loss_function,
            )
        )
        if not average_across_batch:
            return cost
        return cost / tf.cast(tf.shape(targets[0])[0], cost.dtype)


@export("contrib.legacy_seq2seq.model_with_buckets")
def model_with_buckets(
    encoder_inputs: list[Tensor],
    decoder_inputs: list[Tensor],
    targets: list[Tensor],
    weights: list[Tensor],
    buckets: Sequence[tuple[int, int]],
    seq2seq: Callable[[list[Tensor], list[Tensor]], tuple[list[Tensor], Any]],
    softmax_loss_function: SoftmaxLoss | None = None,
    per_example_loss: bool = False,
    name: str | None = None,
) -> tuple[list[Any], list[Any]]:
    """A model for several pairs of lengths, with one set of variables (model_with_buckets).

    Args:
        encoder_inputs, decoder_inputs: lists as long as the last bucket at least.
        targets, weights: as for `sequence_loss`.
        buckets: pairs (steps of the encoder, steps of the decoder), the longest last.
        seq2seq: a function(encoder inputs, decoder inputs) that gives outputs and states.
        softmax_loss_function: as for `sequence_loss`.
        per_example_loss: whether each sequence has a loss of its own.
        name: of the operations.

    Returns:
        The outputs and the losses, one of each per bucket.

    Raises:
        ValueError: a list is shorter than the last bucket.
    """
    for what, given, least in (
        ("encoder_inputs", encoder_inputs, buckets[-1][0]),
        ("targets", targets, buckets[-1][1]),
        ("weights", weights, buckets[-1][1]),
    ):
        if len(given) < least:
            raise ValueError(
                f"Length of {what} ({len(given)}) must be at least that of last bucket ({least})."
            )
    loss: Callable[..., Any] = sequence_loss_by_example if per_example_loss else sequence_loss
    everything = encoder_inputs + decoder_inputs + targets + weights
    losses, outputs = [], []
    with tf.name_scope(name, "model_with_buckets", everything):
        for j, (read, written) in enumerate(buckets):
            # The first bucket makes the variables.
            with tf.variable_scope(tf.get_variable_scope(), reuse=True if j > 0 else None):
                out, _ = seq2seq(encoder_inputs[:read], decoder_inputs[:written])
                outputs.append(out)
                function = softmax_loss_function
                pairs = (out, targets[:written], weights[:written])
                losses.append(loss(*pairs, softmax_loss_function=function))
    return outputs, losses
