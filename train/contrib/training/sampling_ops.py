# SPDX-License-Identifier: Apache-2.0
"""Batches of examples accepted at random: by a function of each, or for shares of classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.graph.convert import convert_n_to_tensor_or_indexed_slices, convert_to_tensor
from ....engine.graph.graph import name_scope
from ....engine.graph.tensor import Tensor
from ....engine.types import dtypes
from ....ops.control import with_dependencies
from ....ops.public import tf
from ...inputs.input_batch import batch, maybe_batch

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike

# Sums of probabilities are one within this.
_TOLERANCE = 1e-6


def _one_by_one(tensors: Sequence[Tensor], threads: int, capacity: int) -> list[Tensor]:
    """Single examples of tensors that hold several each, by way of a queue."""
    batched = batch(
        tensors, batch_size=1, num_threads=threads, capacity=capacity, enqueue_many=True
    )
    # A queue of one component gives a tensor, whose parts then are its rows.
    return [tf.squeeze(x, [0]) for x in batched]


@export("contrib.training.rejection_sample")
def rejection_sample(
    tensors: Sequence[TensorLike],
    accept_prob_fn: Callable[[list[Tensor]], Tensor],
    batch_size: int,
    queue_threads: int = 1,
    enqueue_many: bool = False,
    prebatch_capacity: int = 16,
    prebatch_threads: int = 1,
    runtime_checks: bool = False,
    name: str | None = None,
) -> list[Tensor]:
    """Batches of examples, each of which is accepted with a probability of its own.

    Args:
        tensors: what gives one example, or several with `enqueue_many`.
        accept_prob_fn: a function from one example's tensors to the probability.
        batch_size: how many accepted examples a batch has.
        queue_threads: how many threads fill the queue of batches.
        enqueue_many: whether `tensors` hold several examples each, along their first dimension.
        prebatch_capacity, prebatch_threads: of the queue that makes single examples of several.
        runtime_checks: whether runs check that probabilities are between 0 and 1.
        name: the scope of the operations.

    Returns:
        Tensors [batch_size, ...].

    Raises:
        ValueError: the tensors hold different numbers of examples.
    """
    with tf.variable_scope(name, "rejection_sample", tensors):
        example = convert_n_to_tensor_or_indexed_slices(tensors)
        if enqueue_many:
            _check_sizes(example)
            example = _one_by_one(example, prebatch_threads, prebatch_capacity)
        probability = accept_prob_fn(example)
        if runtime_checks:
            checks = [
                tf.assert_less_equal(0.0, probability),
                tf.assert_less_equal(probability, 1.0),
            ]
            checked = with_dependencies(checks, probability)
            probability = tf.identity(checked, name="prob_with_checks")
        accepted = maybe_batch(
            example,
            keep_input=tf.random_uniform([]) < probability,
            batch_size=batch_size,
            num_threads=queue_threads,
        )
        return [accepted] if isinstance(accepted, Tensor) else accepted


@export("contrib.training.stratified_sample")
def stratified_sample(
    tensors: Sequence[TensorLike],
    labels: TensorLike,
    target_probs: TensorLike,
    batch_size: int,
    init_probs: TensorLike | None = None,
    enqueue_many: bool = False,
    queue_capacity: int = 16,
    threads_per_queue: int = 1,
    name: str | None = None,
) -> tuple[list[Tensor], Tensor]:
    """Batches in which classes have given shares; examples of classes too frequent are left out.

    Args:
        tensors: what gives one example, or several with `enqueue_many`.
        labels: the number of its class.
        target_probs: the share of each class in the batches.
        batch_size: how many examples a batch has.
        init_probs: the share of each class in the data; counted on the way if None.
        enqueue_many: whether `tensors` and `labels` hold several examples each.
        queue_capacity: how many examples wait.
        threads_per_queue: how many threads fill each queue.
        name: the scope of the operations.

    Returns:
        The examples' tensors [batch_size, ...]; their labels.

    Raises:
        ValueError: shapes of tensors, labels and shares do not fit.
    """
    with name_scope(name, "stratified_sample", [*tensors, labels]):
        examples = convert_n_to_tensor_or_indexed_slices(tensors)
        labels = convert_to_tensor(labels)
        target = convert_to_tensor(target_probs, dtype=dtypes.float32)
        if not enqueue_many:
            examples = [tf.expand_dims(tensor, 0) for tensor in examples]
            labels = tf.expand_dims(labels, 0)
        if init_probs is None:
            target.shape.assert_is_fully_defined()
            classes: Any = target.shape.num_elements()
            given = _estimate_data_distribution(labels, classes)
        else:
            given = convert_to_tensor(init_probs, dtype=dtypes.float32)
        examples, labels, (given, target) = _verify_input(examples, labels, [given, target])
        accepted = _accepted(given, target)
        *values, label = _one_by_one([*examples, labels], threads_per_queue, queue_capacity)
        share = tf.gather(accepted, label)
        *values, label = maybe_batch(
            [*values, label],
            keep_input=tf.random_uniform([]) < share,
            batch_size=batch_size,
            num_threads=threads_per_queue,
        )
        return values, label


def _accepted(given: Tensor, target: Tensor) -> Tensor:
    """The share of each class's examples to accept; complains where most are dropped."""
    possible = tf.reduce_all(tf.logical_or(tf.not_equal(given, 0), tf.equal(target, 0)))
    message = "All classes with zero initial probability must also have zero target probability: "
    given = with_dependencies([tf.Assert(possible, [message, given, target])], given)
    accepted = _calculate_acceptance_probabilities(given, target)
    dropped = tf.reduce_sum((1 - accepted) * given)
    warning = "Proportion of examples rejected by sampler is high."
    return tf.cond(
        tf.less(dropped, 0.5),
        lambda: accepted,
        lambda: tf.Print(accepted, [accepted], message=warning, first_n=10),
    )


def _estimate_data_distribution(
    labels: Tensor, num_classes: int, smoothing_constant: int = 10
) -> Tensor:
    """Shares of classes as counted so far, in a variable that starts with some of each."""
    if smoothing_constant <= 0:
        raise ValueError("smoothing_constant must be nonzero.")
    seen = tf.Variable(
        initial_value=[smoothing_constant] * num_classes,
        trainable=False,
        name="class_count",
        dtype=dtypes.int64,
    )
    one_hot = tf.one_hot(labels, num_classes, dtype=dtypes.int64)
    # A copy by `+ 0`, so that other threads that count change nothing between the two uses.
    counts = seen.assign_add(tf.reduce_sum(one_hot, 0)) + 0
    return tf.cast(tf.truediv(counts, tf.reduce_sum(counts)), dtypes.float32)


def _check_sizes(tensors: Sequence[Tensor]) -> None:
    """Raises ValueError unless all tensors have as many rows as the first."""
    rows: list[Any] = [tensor.shape.with_rank_at_least(1)[0] for tensor in tensors]
    for count in rows:
        count.assert_is_compatible_with(rows[0])


def _verify_input(
    tensor_list: Sequence[Tensor], labels: Tensor, probs_list: Sequence[Tensor]
) -> tuple[list[Tensor], Tensor, list[Tensor]]:
    """Examples, labels and shares of classes with checks of their shapes and values."""
    shares = [_checked_shares(probs) for probs in probs_list]
    classes = shares[0].shape.num_elements()
    if any(share.shape.num_elements() != classes for share in shares):
        raise ValueError("Probability parameters must have the same length.")
    labels.shape.assert_has_rank(1)
    _check_sizes([labels, *tensor_list])
    count = tf.shape(labels)[0]
    some = tf.assert_positive(count)
    labels = with_dependencies([some], labels)
    tensors = [
        with_dependencies([some, tf.assert_equal(tf.shape(x)[0], count)], x) for x in tensor_list
    ]
    checks = [
        tf.assert_integer(labels),
        tf.assert_non_negative(labels),
        tf.assert_less(labels, tf.cast(classes, labels.dtype)),
    ]
    return tensors, with_dependencies(checks, labels), shares


def _checked_shares(probs: Tensor) -> Tensor:
    probs.shape.assert_is_fully_defined()
    probs.shape.assert_has_rank(1)
    total = tf.reduce_sum(probs)
    checks = [
        tf.assert_non_negative(probs),
        tf.assert_less(total, 1.0 + _TOLERANCE),
        tf.assert_less(1.0 - _TOLERANCE, total),
    ]
    return with_dependencies(checks, probs)


def _calculate_acceptance_probabilities(init_probs: Tensor, target_probs: Tensor) -> Tensor:
    """The share of each class's examples to accept.

    Accepting in proportion to target / given gives the target's shares, and accepting all of the
    class for which that is largest drops as few as possible.
    """
    ratio = target_probs / init_probs
    ratio = tf.where_v2(tf.is_nan(ratio), tf.zeros_like(ratio), ratio)
    return ratio / tf.reduce_max(ratio)
