# SPDX-License-Identifier: Apache-2.0
"""Losses of embeddings whose distances are to tell classes apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.graph.tensor import SparseTensor
from ....engine.types import dtypes
from ....ops.nn.loss import softmax_cross_entropy_with_logits
from ....ops.public import tf

if TYPE_CHECKING:
    from ....engine.graph.tensor import Tensor

_NAMESPACE = "contrib.losses.metric_learning"


def pairwise_distance(feature: Tensor, squared: bool = False) -> Any:
    """The Euclidean distances of all pairs of rows.

    Args:
        feature: [rows, features].
        squared: whether they are squared.

    Returns:
        [rows, rows].
    """
    # Transposed twice, as 1.15 does: seeds of what comes behind count nodes.
    squares = tf.add(
        tf.reduce_sum(tf.square(feature), axis=[1], keepdims=True),
        tf.reduce_sum(tf.square(tf.transpose(feature)), axis=[0], keepdims=True),
    ) - 2.0 * tf.matmul(feature, tf.transpose(feature))
    # Rounding may leave less than nothing; the root has no gradient at zero.
    squares = tf.maximum(squares, 0.0)
    is_zero = tf.less_equal(squares, 0.0)
    distances = squares
    if not squared:
        distances = tf.sqrt(squares + tf.cast(is_zero, dtypes.float32) * 1e-16)
    distances = tf.multiply(distances, tf.cast(tf.logical_not(is_zero), dtypes.float32))
    rows = tf.shape(feature)[0]
    return tf.multiply(distances, tf.ones_like(distances) - tf.diag(tf.ones([rows])))


@export(f"{_NAMESPACE}.contrastive_loss")
def contrastive_loss(
    labels: Tensor, embeddings_anchor: Tensor, embeddings_positive: Tensor, margin: float = 1.0
) -> Any:
    """Pairs of one class are to be close, others at least `margin` apart.

    Args:
        labels: for each pair, whether it is of one class.
        embeddings_anchor, embeddings_positive: the pairs, [pairs, features].
        margin: the distance.

    Returns:
        A scalar.
    """
    difference = tf.squared_difference(embeddings_anchor, embeddings_positive)
    distances = tf.sqrt(tf.reduce_sum(difference, 1))
    # (In 1.15's order, with its two casts.)
    losses = tf.cast(labels, distances.dtype) * tf.square(distances) + (
        1.0 - tf.cast(labels, distances.dtype)
    ) * tf.square(tf.maximum(margin - distances, 0.0))
    return tf.reduce_mean(losses, name="contrastive_loss")


def masked_maximum(data: Tensor, mask: Tensor, dim: int = 1) -> Any:
    """The maxima along an axis of the elements whose mask is one."""
    least = tf.reduce_min(data, dim, keepdims=True)
    return tf.reduce_max(tf.multiply(data - least, mask), dim, keepdims=True) + least


def masked_minimum(data: Tensor, mask: Tensor, dim: int = 1) -> Any:
    """The minima along an axis of the elements whose mask is one."""
    most = tf.reduce_max(data, dim, keepdims=True)
    return tf.reduce_min(tf.multiply(data - most, mask), dim, keepdims=True) + most


def _column(labels: Any) -> Tensor:
    """The labels as a column."""
    shape = tf.shape(labels)
    if shape.shape != 1:
        raise AssertionError(f"labels must be a vector, not of shape {labels.shape}")
    return tf.reshape(labels, [shape[0], 1])


@export(f"{_NAMESPACE}.triplet_semihard_loss")
def triplet_semihard_loss(labels: Tensor, embeddings: Tensor, margin: float = 1.0) -> Tensor:
    """The triplet loss with semi-hard negatives (https://arxiv.org/abs/1503.03832).

    Args:
        labels: the classes, a vector.
        embeddings: [batch, features].
        margin: how much farther others are to be.

    Returns:
        A scalar.
    """
    labels = _column(labels)
    distances = pairwise_distance(embeddings, squared=True)
    alike = tf.equal(labels, tf.transpose(labels))
    unlike = tf.logical_not(alike)
    batch = tf.size(labels)
    # Row by row of pairs: the negatives that are farther than the positive.
    tiled = tf.tile(distances, [batch, 1])
    mask = tf.logical_and(
        tf.tile(unlike, [batch, 1]),
        tf.greater(tiled, tf.reshape(tf.transpose(distances), [-1, 1])),
    )
    count = tf.reduce_sum(tf.cast(mask, dtype=dtypes.float32), 1, keepdims=True)
    has_any = tf.transpose(tf.reshape(tf.greater(count, 0.0), [batch, batch]))
    unlike = tf.cast(unlike, dtype=dtypes.float32)
    nearest = masked_minimum(tiled, tf.cast(mask, dtype=dtypes.float32))
    outside = tf.transpose(tf.reshape(nearest, [batch, batch]))
    inside = tf.tile(masked_maximum(distances, unlike), [1, batch])
    negatives = tf.where(has_any, outside, inside)
    losses = tf.add(margin, distances - negatives)
    positives = tf.cast(alike, dtype=dtypes.float32) - tf.diag(tf.ones([batch]))
    count = tf.reduce_sum(positives)
    total = tf.reduce_sum(tf.maximum(tf.multiply(losses, positives), 0.0))
    return tf.truediv(total, count, name="triplet_semihard_loss")


def _npairs(
    targets: Any, anchors: Tensor, positives: Tensor, reg_lambda: float, print_losses: bool
) -> Any:
    """The loss, of a function that makes the matrix of which pairs are alike."""
    norms = [tf.reduce_mean(tf.reduce_sum(tf.square(x), 1)) for x in (anchors, positives)]
    l2loss = tf.multiply(0.25 * reg_lambda, norms[0] + norms[1], name="l2loss")
    similarity = tf.matmul(anchors, positives, transpose_a=False, transpose_b=True)
    alike = tf.cast(targets(), dtypes.float32)
    alike /= tf.reduce_sum(alike, 1, keepdims=True)
    losses = softmax_cross_entropy_with_logits(logits=similarity, labels=alike)
    entropy = tf.reduce_mean(losses, name="xentropy")
    if print_losses:
        entropy = tf.Print(entropy, ["cross entropy:", entropy, "l2loss:", l2loss])
    return l2loss + entropy


@export(f"{_NAMESPACE}.npairs_loss")
def npairs_loss(
    labels: Tensor,
    embeddings_anchor: Tensor,
    embeddings_positive: Tensor,
    reg_lambda: float = 0.002,
    print_losses: bool = False,
) -> Any:
    """Each anchor is to be most similar to the positives of its class.

    Args:
        labels: the classes of the pairs, a vector.
        embeddings_anchor, embeddings_positive: [pairs, features].
        reg_lambda: the weight of the embeddings' squared norms.
        print_losses: whether the losses are printed in each run.

    Returns:
        A scalar.
    """

    def alike() -> Any:
        column = _column(labels)
        return tf.equal(column, tf.transpose(column))

    return _npairs(alike, embeddings_anchor, embeddings_positive, reg_lambda, print_losses)


def _common_labels(sparse_labels: Sequence[SparseTensor]) -> Tensor:
    """How many labels each pair of elements shares."""
    count = len(sparse_labels)
    matrix = tf.zeros([count, count])
    for i, first in enumerate(sparse_labels):
        for j, second in enumerate(sparse_labels):
            shared = tf.sparse_reduce_sum(tf.sparse_minimum(first, second))
            shared = tf.expand_dims(tf.expand_dims(tf.cast(shared, dtypes.float32), 0), 1)
            around = [[i, count - i - 1], [j, count - j - 1]]
            matrix += tf.pad(shared, around, "CONSTANT")
    return matrix


@export(f"{_NAMESPACE}.npairs_loss_multilabel")
def npairs_loss_multilabel(
    sparse_labels: Sequence[SparseTensor],
    embeddings_anchor: Tensor,
    embeddings_positive: Tensor,
    reg_lambda: float = 0.002,
    print_losses: bool = False,
) -> Any:
    """`npairs_loss` of pairs that have several labels each.

    Args:
        sparse_labels: the labels of each pair, SparseTensors of one row.
        embeddings_anchor: [pairs, features]; this and the rest as `npairs_loss`.

    Returns:
        A scalar.

    Raises:
        TypeError: labels are no SparseTensors.
    """
    if not all(isinstance(labels, SparseTensor) for labels in sparse_labels):
        raise TypeError(f"sparse_labels must be a list of SparseTensors, but got {sparse_labels}")
    with tf.name_scope("NpairsLossMultiLabel"):
        return _npairs(
            lambda: _common_labels(sparse_labels),
            *(embeddings_anchor, embeddings_positive, reg_lambda, print_losses),
        )


@export(f"{_NAMESPACE}.lifted_struct_loss")
def lifted_struct_loss(labels: Tensor, embeddings: Tensor, margin: float = 1.0) -> Tensor:
    """The lifted structured loss (https://arxiv.org/abs/1511.06452).

    Args:
        labels: the classes, a vector.
        embeddings: [batch, features].
        margin: how far others are to be.

    Returns:
        A scalar.
    """
    labels = _column(labels)
    distances = pairwise_distance(embeddings)
    alike = tf.equal(labels, tf.transpose(labels))
    unlike = tf.logical_not(alike)
    batch = tf.size(labels)
    diff = margin - distances
    unlike = tf.cast(unlike, dtype=dtypes.float32)
    hardest = masked_maximum(diff, unlike)
    most = tf.maximum(hardest, tf.transpose(hardest))
    tiled, others = tf.tile(diff, [batch, 1]), tf.tile(unlike, [batch, 1])
    shifted = tiled - tf.reshape(tf.transpose(most), [-1, 1])
    powers = tf.multiply(tf.exp(shifted), others)
    left = tf.reshape(tf.reduce_sum(powers, 1, keepdims=True), [batch, batch])
    losses = most + tf.log(left + tf.transpose(left)) + distances
    positives = tf.cast(alike, dtype=dtypes.float32) - tf.diag(tf.ones([batch]))
    # Pairs stand twice in the matrix.
    count = tf.reduce_sum(positives) / 2.0
    total = tf.reduce_sum(tf.square(tf.maximum(tf.multiply(losses, positives), 0.0)))
    return tf.truediv(0.25 * total, count, name="liftedstruct_loss")
