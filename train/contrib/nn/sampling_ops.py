# SPDX-License-Identifier: Apache-2.0
"""Softmax losses over some of many classes: drawn, or the best of those that were drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.graph.graph import name_scope
from ....engine.types import dtypes
from ....ops.nn.candidate_sampling import learned_unigram_candidate_sampler
from ....ops.nn.embedding import embedding_lookup
from ....ops.nn.sampled import _compute_sampled_logits, sampled_softmax_loss
from ....ops.nn.top_k import top_k
from ....ops.public import tf

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike
    from ....engine.graph.tensor import Tensor

# Drawn classes, how often the true ones are expected among them, and how often each of them is.
Sampled = tuple[Any, Any, Any]


def _rank_resample(
    weights: Any,
    biases: Any,
    inputs: Any,
    sampled_values: Sampled,
    num_resampled: Any,
    resampling_temperature: Any,
    partition_strategy: str,
) -> Sampled:
    """Those of the drawn classes whose logits, as exponentials summed over all inputs, lead."""
    sampled, true_count, sampled_count = (tf.stop_gradient(value) for value in sampled_values)
    sampled = tf.cast(sampled, dtypes.int64)
    cooled = inputs / resampling_temperature
    rows = embedding_lookup(weights, sampled, partition_strategy)
    logits = tf.reduce_logsumexp(tf.matmul(rows, cooled, transpose_b=True), axis=1)
    bias = tf.reshape(embedding_lookup(biases, sampled, partition_strategy), [-1])
    _, best = top_k(logits + bias / resampling_temperature, k=num_resampled, sorted=False)
    return tf.gather(sampled, best), true_count, tf.gather(sampled_count, best)


@export("contrib.nn.rank_sampled_softmax_loss")
def rank_sampled_softmax_loss(
    weights: TensorLike,
    biases: Any,
    labels: TensorLike,
    inputs: Any,
    num_sampled: int,
    num_resampled: int,
    num_classes: int,
    num_true: int,
    sampled_values: Any,
    resampling_temperature: TensorLike,
    remove_accidental_hits: bool,
    partition_strategy: str,
    name: str | None = None,
) -> Tensor:
    """A softmax's cross entropy over true classes and the hardest of drawn ones, for training.

    Args:
        weights: [num_classes, dim], or parts of it.
        biases: [num_classes], or parts of it.
        labels: [batch_size, num_true], the true classes.
        inputs: [batch_size, dim].
        num_sampled: how many classes are drawn.
        num_resampled: how many of them are used: those with the largest logits (arXiv:1707.03073).
        num_classes: how many classes there are.
        num_true: how many true classes an example has.
        sampled_values: the drawn classes, of one of the candidate samplers; by
            `tf.nn.learned_unigram_candidate_sampler` if None.
        resampling_temperature: by what logits are divided for that; the lower it is, the more
            single inputs count.
        remove_accidental_hits: whether drawn classes that are true ones are left out.
        partition_strategy: "mod" or "div", how parts were dealt out.
        name: the scope of the operations.

    Returns:
        [batch_size], the losses.

    Raises:
        ValueError: more classes are wanted than there are, or the strategy is another.
    """
    if num_sampled > num_classes:
        raise ValueError(
            f"num_sampled ({num_sampled}) cannot be greater than num_classes ({num_classes})"
        )
    if num_sampled <= num_resampled:
        raise ValueError(
            f"num_resampled ({num_resampled}) must be less than num_sampled ({num_sampled})"
        )
    if partition_strategy not in ("div", "mod"):
        raise ValueError(f"unsupported partition_strategy ({partition_strategy})")
    values = [weights, biases, labels, inputs, sampled_values, resampling_temperature]
    with name_scope(name, "rank_sampled_softmax_loss", values) as name:
        if not sampled_values:
            sampled_values = learned_unigram_candidate_sampler(
                true_classes=labels,
                num_true=num_true,
                num_sampled=num_sampled,
                unique=True,
                range_max=num_classes,
            )
        best = _rank_resample(
            *(weights, biases, inputs, sampled_values, num_resampled),
            *(resampling_temperature, partition_strategy),
        )
        return sampled_softmax_loss(
            *(weights, biases, labels, inputs, num_resampled, num_classes, num_true, best),
            *(remove_accidental_hits, partition_strategy, name),
        )


@export("contrib.nn.sampled_sparse_softmax_loss")
def sampled_sparse_softmax_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    sampled_values: Any = None,
    remove_accidental_hits: bool = True,
    partition_strategy: str = "mod",
    name: str = "sampled_sparse_softmax_loss",
) -> Tensor:
    """A softmax's cross entropy over one true class and drawn ones, for training.

    Args:
        weights: [num_classes, dim], or parts of it.
        biases: [num_classes], or parts of it.
        labels: [batch_size, 1], the true classes.
        inputs: [batch_size, dim].
        num_sampled: how many classes are drawn.
        num_classes: how many classes there are.
        sampled_values: the drawn classes, of one of the candidate samplers; by
            `tf.nn.log_uniform_candidate_sampler` if None.
        remove_accidental_hits: whether drawn classes that are true ones are left out.
        partition_strategy: "mod" or "div", how parts were dealt out.
        name: the scope of the operations.

    Returns:
        [batch_size], the losses.
    """
    logits, _ = _compute_sampled_logits(
        *(weights, biases, labels, inputs, num_sampled, num_classes),
        num_true=1,
        sampled_values=sampled_values,
        subtract_log_q=True,
        remove_accidental_hits=remove_accidental_hits,
        partition_strategy=partition_strategy,
        name=name,
    )
    # The true class's logit comes first.
    first = tf.zeros([tf.shape(logits)[0], 1], dtype=dtypes.int64)
    entropy = getattr(tf, "nn.sparse_softmax_cross_entropy_with_logits")
    return entropy(labels=tf.squeeze(first), logits=logits)
