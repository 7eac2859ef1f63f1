# SPDX-License-Identifier: Apache-2.0
"""Losses over very many classes, of which only the true and some sampled ones are computed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...engine.graph.graph import name_scope
from ...engine.types import dtypes
from ..public import raw, tf
from ..state.variable_partitions import PartitionedVariable
from . import candidate_sampling

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.tensor import Tensor
    from ...engine.types.dtypes import DType


def _sum_rows(x: Tensor) -> Tensor:
    """The sum of each row, as a product: its gradient is cheaper than that of a sum."""
    columns = tf.shape(x)[1]
    ones = tf.ones(tf.stack([columns, 1]), x.dtype)
    return tf.reshape(tf.matmul(x, ones), [-1])


def _lookup(params: TensorLike, ids: Tensor, strategy: str, dtype: DType) -> Any:
    lookup = getattr(tf, "nn.embedding_lookup")
    rows = lookup(params, ids, partition_strategy=strategy)
    return rows if rows.dtype == dtype else tf.cast(rows, dtype)


def _cancelled(
    logits: Tensor, labels: Tensor, sampled: Tensor, num_true: int, num_sampled: int
) -> Tensor:
    """The logits, those of sampled classes that are true ones made impossible."""
    rows, ids, weights = candidate_sampling.compute_accidental_hits(
        labels, sampled, num_true=num_true
    )
    rows = tf.reshape(rows, [-1, 1])
    columns = tf.reshape(tf.cast(ids, dtypes.int32), [-1, 1])
    indices = tf.concat([rows, columns], 1, "sparse_indices")
    shape = tf.concat([tf.shape(labels)[:1], tf.expand_dims(num_sampled, 0)], 0)
    if logits.dtype != weights.dtype:
        weights = tf.cast(weights, logits.dtype)
    return logits + raw.SparseToDense(
        indices, shape, weights, default_value=0.0, validate_indices=False
    )


# Row by row the product of input and weights: a matrix product would take every class's weights
# with every input.
def _true_logits(inputs: Tensor, weights: Tensor, biases: Tensor, num_true: int) -> Tensor:
    """The logits of the true classes, [batch, num_true]."""
    size = tf.shape(weights)[1:2]
    shape = tf.concat([[-1, num_true], size], 0)
    products = tf.multiply(tf.expand_dims(inputs, 1), tf.reshape(weights, shape))
    rows = tf.reshape(products, tf.concat([[-1], size], 0))
    logits = tf.reshape(_sum_rows(rows), [-1, num_true])
    return logits + tf.reshape(biases, [-1, num_true])


def _split_weights(weights: Tensor, inputs: Tensor, true_ids: Tensor) -> tuple[Any, Any]:
    """The weights of the true classes, and the sampled classes' logits without their biases."""
    true = tf.slice(weights, [0, 0], tf.stack([tf.shape(true_ids)[0], -1]))
    sampled = tf.slice(weights, tf.stack([tf.shape(true_ids)[0], 0]), [-1, -1])
    return true, tf.matmul(inputs, sampled, transpose_b=True)


def _compute_sampled_logits(
    weights: Any,
    biases: Tensor,
    labels: Tensor,
    inputs: Tensor,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Any = None,
    subtract_log_q: bool = True,
    remove_accidental_hits: bool = False,
    partition_strategy: str = "mod",
    name: str | None = None,
    seed: int | None = None,
) -> tuple[Any, Any]:
    """Logits of true and sampled classes, true ones first, and the labels to go with them."""
    if isinstance(weights, PartitionedVariable):
        weights = list(weights)
    if not isinstance(weights, list):
        weights = [weights]
    with name_scope(name, "compute_sampled_logits", [*weights, biases, inputs, labels]):
        if labels.dtype != dtypes.int64:
            labels = tf.cast(labels, dtypes.int64)
        flat = tf.reshape(labels, [-1])
        if sampled_values is None:
            sampled_values = candidate_sampling.log_uniform_candidate_sampler(
                labels, num_true, num_sampled, True, num_classes, seed=seed
            )
        sampled, true_count, sampled_count = (tf.stop_gradient(s) for s in sampled_values)
        sampled = tf.cast(sampled, dtypes.int64)
        ids = tf.concat([flat, sampled], 0)
        # The order of the nodes is TensorFlow's: seeds of later ops depend on their number.
        all_w = _lookup(weights, ids, partition_strategy, inputs.dtype)
        true_w, sampled_logits = _split_weights(all_w, inputs, flat)
        all_b = _lookup(biases, ids, partition_strategy, inputs.dtype)
        true_b = tf.slice(all_b, [0], tf.shape(flat))
        sampled_b = tf.slice(all_b, tf.shape(flat), [-1])
        true_logits = _true_logits(inputs, true_w, true_b, num_true)
        sampled_logits += sampled_b
        if remove_accidental_hits:
            sampled_logits = _cancelled(sampled_logits, labels, sampled, num_true, num_sampled)
        if subtract_log_q:
            # A class that is drawn more often stands for fewer: subtracting the logarithm of how
            # often it is expected makes the sampled softmax approach the full one (Jean et al.,
            # arXiv 1412.2007, 3.1).
            true_logits -= tf.log(true_count)
            sampled_logits -= tf.log(sampled_count)
        logits = tf.concat([true_logits, sampled_logits], 1)
        # The labels of a row are a distribution: its true classes share the one.
        shares = tf.ones_like(true_logits) / num_true
        return logits, tf.concat([shares, tf.zeros_like(sampled_logits)], 1)


@export("nn.nce_loss")
def nce_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Any = None,
    remove_accidental_hits: bool = False,
    partition_strategy: str = "mod",
    name: str = "nce_loss",
) -> Tensor:
    """Noise-contrastive estimation: telling true classes from drawn ones; for training.

    Args:
        weights: a float tensor or Variable [num_classes, size], or a list of parts of one.
        biases: [num_classes].
        labels: the true classes, int64 [batch, num_true].
        inputs: [batch, size].
        num_sampled: how many classes are drawn per batch.
        num_classes: how many there are.
        num_true: how many are true for each row.
        sampled_values: what a tf.nn.*_candidate_sampler returned; the log-uniform one's by default.
        remove_accidental_hits: whether drawn classes that are true do not count.
        partition_strategy: as of tf.nn.embedding_lookup.
        name: the scope of the operations.

    Returns:
        A Tensor [batch]: the losses.

    Raises:
        ValueError: the shapes known in the graph do not fit.

    Example:
        >>> weights, biases = tf.ones([50, 4]), tf.zeros([50])
        >>> inputs, labels = tf.ones([2, 4]), tf.constant([[3], [7]], tf.int64)
        >>> loss = tf.nn.nce_loss(weights, biases, labels, inputs, num_sampled=5, num_classes=50)
        >>> tf.Session().run(loss).shape
        (2,)
    """
    logits, targets = _compute_sampled_logits(
        weights=weights,
        biases=biases,
        labels=labels,
        inputs=inputs,
        num_sampled=num_sampled,
        num_classes=num_classes,
        num_true=num_true,
        sampled_values=sampled_values,
        subtract_log_q=True,
        remove_accidental_hits=remove_accidental_hits,
        partition_strategy=partition_strategy,
        name=name,
    )
    cross_entropy = getattr(tf, "nn.sigmoid_cross_entropy_with_logits")
    return _sum_rows(cross_entropy(labels=targets, logits=logits, name="sampled_losses"))


@export("nn.sampled_softmax_loss")
def sampled_softmax_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Any = None,
    remove_accidental_hits: bool = True,
    partition_strategy: str = "mod",
    name: str = "sampled_softmax_loss",
    seed: int | None = None,
) -> Any:
    """The cross-entropy of a softmax over the true and some sampled classes, for training."""
    logits, targets = _compute_sampled_logits(
        weights=weights,
        biases=biases,
        labels=labels,
        inputs=inputs,
        num_sampled=num_sampled,
        num_classes=num_classes,
        num_true=num_true,
        sampled_values=sampled_values,
        subtract_log_q=True,
        remove_accidental_hits=remove_accidental_hits,
        partition_strategy=partition_strategy,
        name=name,
        seed=seed,
    )
    targets = tf.stop_gradient(targets, name="labels_stop_gradient")
    cross_entropy = getattr(tf, "nn.softmax_cross_entropy_with_logits_v2")
    return cross_entropy(labels=targets, logits=logits)


def nce_loss_v2(
    weights: TensorLike,
    biases: TensorLike,
    labels: TensorLike,
    inputs: TensorLike,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: object = None,
    remove_accidental_hits: bool = False,
    name: str = "nce_loss",
) -> Any:
    """TensorFlow 2's form of `nce_loss`: weights are partitioned by division."""
    given = (weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values)
    return nce_loss(*given, remove_accidental_hits, "div", name)


def sampled_softmax_loss_v2(
    weights: TensorLike,
    biases: TensorLike,
    labels: TensorLike,
    inputs: TensorLike,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: object = None,
    remove_accidental_hits: bool = True,
    seed: int | None = None,
    name: str = "sampled_softmax_loss",
) -> Any:
    """TensorFlow 2's form of `sampled_softmax_loss`: weights are partitioned by division."""
    given = (weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values)
    return sampled_softmax_loss(*given, remove_accidental_hits, "div", name, seed)
