# SPDX-License-Identifier: Apache-2.0
"""Losses that take predictions before labels, and weights of elements of the batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.deprecation import deprecated_argument_lookup
from ....engine.types import dtypes
from ....ops.nn import loss as nn
from ....ops.nn.activation import relu
from ....ops.public import tf
from ..framework.arg_scope import add_arg_scope

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike
    from ....engine.graph.tensor import Tensor

_KEYS = tf.GraphKeys


def _scaled(losses: Tensor, weights: Tensor) -> Any:
    """The sum of all losses, those of each element by its weight."""
    axes = list(range(max(0, weights.shape.ndims or 0), losses.shape.ndims or 0))
    return tf.reduce_sum(tf.multiply(tf.reduce_sum(losses, axis=axes), weights))


def _num_present(losses: Tensor, weights: Tensor, per_batch: bool = False) -> Any:
    """How many losses have a weight other than zero; of each element of the batch, if asked."""
    rank = weights.shape.ndims or 0
    if rank == 0:
        batch = tf.reshape(tf.slice(tf.shape(losses), [0], [1]), [])
        each = tf.div(tf.cast(tf.size(losses), dtypes.float32), tf.cast(batch, dtypes.float32))
        each = tf.where(tf.equal(weights, 0), 0.0, each)
        numbers = tf.multiply(tf.ones(tf.reshape(batch, [1])), each)
    else:
        present = tf.cast(tf.not_equal(weights, 0), dtypes.float32)
        present = tf.reduce_sum(present, axis=list(range(1, rank)))
        inner = tf.slice(tf.shape(losses), [rank], [-1])
        numbers = tf.multiply(present, tf.cast(tf.reduce_prod(inner), dtypes.float32))
    return numbers if per_batch else tf.reduce_sum(numbers)


@export("contrib.losses.compute_weighted_loss")
def compute_weighted_loss(losses: Any, weights: Any = 1.0, scope: str | None = None) -> Any:
    """The mean of the losses that have a weight, in the collection of losses.

    Args:
        losses: a tensor of known rank.
        weights: a scalar, or weights of the first axes.
        scope: the name scope.

    Returns:
        A scalar.

    Raises:
        ValueError: a rank is unknown.

    Example:
        >>> loss = tf.contrib.losses.compute_weighted_loss([1.0, 3.0, 5.0], [1.0, 1.0, 0.0])
        >>> print(tf.Session().run(loss))
        2.0
    """
    with tf.name_scope(scope, "weighted_loss", [losses, weights]):
        losses = tf.convert_to_tensor(losses)
        dtype = losses.dtype
        losses = tf.cast(losses, dtypes.float32)
        weights = tf.cast(tf.convert_to_tensor(weights), dtypes.float32)
        for name, value in (("losses", losses), ("weights", weights)):
            if value.shape.ndims is None:
                raise ValueError(f"{name}.get_shape().ndims cannot be None")
        if weights.shape.ndims > 1 and weights.shape[-1].is_compatible_with(1):
            weights = tf.squeeze(weights, [-1])
        total = _scaled(losses, weights)
        number = _num_present(losses, weights)
        mean = tf.div_no_nan(tf.reduce_sum(total), number, name="value")
        mean = tf.cast(mean, dtype)
        add_loss(mean)
        return mean


@export("contrib.losses.add_loss")
@add_arg_scope
def add_loss(loss: TensorLike, loss_collection: str | None = _KEYS.LOSSES) -> None:
    """Puts a loss into a collection, if there is one."""
    if loss_collection:
        tf.add_to_collection(loss_collection, loss)


@export("contrib.losses.get_losses")
def get_losses(scope: str | None = None, loss_collection: str = _KEYS.LOSSES) -> list[Any]:
    """The losses of a collection, by how their names begin."""
    return list(tf.get_collection(loss_collection, scope))


@export("contrib.losses.get_regularization_losses")
def get_regularization_losses(scope: str | None = None) -> list[Any]:
    """The losses of regularizers, by how their names begin."""
    return list(tf.get_collection(_KEYS.REGULARIZATION_LOSSES, scope))


@export("contrib.losses.get_total_loss")
def get_total_loss(add_regularization_losses: bool = True, name: str = "total_loss") -> Any:
    """The sum of all losses.

    Args:
        add_regularization_losses: whether those of regularizers count.
        name: the name of the sum.
    """
    more = get_regularization_losses() if add_regularization_losses else []
    return tf.add_n([*get_losses(), *more], name=name)


def _compatible(first: Any, second: Any) -> None:
    first.get_shape().assert_is_compatible_with(second.get_shape())


def _floats(predictions: Any, labels: Any) -> tuple[Any, Any]:
    """Both as float32; their shapes are to agree."""
    _compatible(predictions, labels)
    return tf.cast(predictions, dtypes.float32), tf.cast(labels, dtypes.float32)


@export("contrib.losses.absolute_difference")
def absolute_difference(
    predictions: Tensor,
    labels: TensorLike | None = None,
    weights: TensorLike = 1.0,
    scope: str | None = None,
) -> Any:
    """The mean of absolute differences.

    Args:
        predictions, labels: tensors of one shape.
        weights, scope: as `compute_weighted_loss`.

    Raises:
        ValueError: the shapes differ.
    """
    with tf.name_scope(scope, "absolute_difference", [predictions, labels, weights]) as opened:
        x, y = _floats(predictions, labels)
        return compute_weighted_loss(tf.abs(tf.subtract(x, y)), weights, scope=opened)


@export("contrib.losses.sigmoid_cross_entropy")
def sigmoid_cross_entropy(
    logits: Tensor,
    multi_class_labels: Any,
    weights: TensorLike = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
) -> Any:
    """The mean cross entropy of sigmoids.

    Args:
        logits, multi_class_labels: tensors of one shape.
        label_smoothing: how far labels are drawn to 1/2.
        weights, scope: as `compute_weighted_loss`.

    Raises:
        ValueError: the shapes differ.
    """
    values = [logits, multi_class_labels, weights]
    with tf.name_scope(scope, "sigmoid_cross_entropy_loss", values) as opened:
        _compatible(logits, multi_class_labels)
        labels = tf.cast(multi_class_labels, logits.dtype)
        if label_smoothing > 0:
            labels = labels * (1 - label_smoothing) + 0.5 * label_smoothing
        losses = nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope=opened)


@export("contrib.losses.softmax_cross_entropy")
def softmax_cross_entropy(
    logits: Tensor,
    onehot_labels: Any,
    weights: TensorLike = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
) -> Any:
    """The mean cross entropy of softmaxes.

    Args:
        logits, onehot_labels: [batch, classes].
        label_smoothing: how far labels are drawn to one of all classes alike.
        weights, scope: as `compute_weighted_loss`.

    Raises:
        ValueError: the shapes differ.
    """
    values = [logits, onehot_labels, weights]
    with tf.name_scope(scope, "softmax_cross_entropy_loss", values) as opened:
        _compatible(logits, onehot_labels)
        labels = tf.cast(onehot_labels, logits.dtype)
        if label_smoothing > 0:
            classes = tf.cast(tf.shape(labels)[1], logits.dtype)
            share = label_smoothing / classes
            labels = labels * (1.0 - label_smoothing) + share
        losses = nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope=opened)


@export("contrib.losses.sparse_softmax_cross_entropy")
def sparse_softmax_cross_entropy(
    logits: Tensor, labels: TensorLike, weights: TensorLike = 1.0, scope: str | None = None
) -> Any:
    """The mean cross entropy of softmaxes, of labels that are numbers of classes.

    Args:
        logits: [batch, classes].
        labels: [batch] or [batch, 1].
        weights, scope: as `compute_weighted_loss`.
    """
    values = [logits, labels, weights]
    with tf.name_scope(scope, "sparse_softmax_cross_entropy_loss", values) as opened:
        labels = tf.reshape(labels, shape=[tf.shape(labels)[0]])
        losses = nn.sparse_softmax_cross_entropy_with_logits(
            labels=labels, logits=logits, name="xentropy"
        )
        return compute_weighted_loss(losses, weights, scope=opened)


@export("contrib.losses.log_loss")
def log_loss(
    predictions: Tensor,
    labels: TensorLike | None = None,
    weights: TensorLike = 1.0,
    epsilon: float = 1e-7,
    scope: str | None = None,
) -> Any:
    """The mean cross entropy of probabilities.

    Args:
        predictions, labels: tensors of one shape.
        epsilon: what is added before logarithms.
        weights, scope: as `compute_weighted_loss`.

    Raises:
        ValueError: the shapes differ.
    """
    with tf.name_scope(scope, "log_loss", [predictions, labels, weights]) as opened:
        p, y = _floats(predictions, labels)
        positive = -tf.multiply(y, tf.log(p + epsilon))
        losses = positive - tf.multiply(1 - y, tf.log(1 - p + epsilon))
        return compute_weighted_loss(losses, weights, scope=opened)


@export("contrib.losses.hinge_loss")
def hinge_loss(logits: Tensor, labels: Any = None, scope: str | None = None) -> Any:
    """max(0, 1 - logits * sign), element by element; the sign is that of the label, 0 or 1.

    Args:
        logits, labels: tensors of one shape.
        scope: the name scope.

    Raises:
        ValueError: the shapes differ.
    """
    with tf.name_scope(scope, "hinge_loss", [logits, labels]):
        _compatible(logits, labels)
        labels = tf.cast(labels, dtypes.float32)
        ones = tf.ones_like(labels)
        signs = tf.subtract(2 * labels, ones)
        return relu(tf.subtract(ones, tf.multiply(signs, logits)))


@export("contrib.losses.mean_squared_error")
def mean_squared_error(
    predictions: Tensor,
    labels: TensorLike | None = None,
    weights: TensorLike = 1.0,
    scope: str | None = None,
) -> Any:
    """The mean of squared differences.

    Args:
        predictions, labels: tensors of one shape.
        weights, scope: as `compute_weighted_loss`.

    Raises:
        ValueError: the shapes differ.
    """
    with tf.name_scope(scope, "mean_squared_error", [predictions, labels, weights]) as opened:
        x, y = _floats(predictions, labels)
        return compute_weighted_loss(tf.squared_difference(x, y), weights, scope=opened)


@export("contrib.losses.mean_pairwise_squared_error")
def mean_pairwise_squared_error(
    predictions: Tensor, labels: Any = None, weights: Any = 1.0, scope: str | None = None
) -> Tensor:
    """The mean squared difference of differences: of all pairs of numbers of an element.

    Args:
        predictions, labels: tensors of one shape.
        weights: a scalar, or a weight for each element of the batch.
        scope: the name scope.

    Raises:
        ValueError: the shapes differ, or a rank is unknown.
    """
    values = [predictions, labels, weights]
    with tf.name_scope(scope, "mean_pairwise_squared_error", values):
        x, y = _floats(predictions, labels)
        weights = tf.cast(tf.convert_to_tensor(weights), dtypes.float32)
        diffs = tf.subtract(x, y)
        for name, value in (("diffs", diffs), ("weights", weights)):
            if value.shape.ndims is None:
                raise ValueError(f"{name}.get_shape().ndims cannot be None")
        axes = list(range(1, diffs.shape.ndims))
        squares = tf.reduce_sum(tf.square(diffs), axis=axes)
        count = _num_present(diffs, weights, per_batch=True)
        first = 2.0 * tf.div_no_nan(squares, count, name="value")
        total = tf.reduce_sum(diffs, axis=axes)
        second = 2.0 * tf.div_no_nan(tf.square(total), tf.square(count), name="value")
        loss = _scaled(first - second, weights)
        mean = tf.where(tf.reduce_sum(count) > 0, loss, tf.zeros_like(loss), name="value")
        add_loss(mean)
        return mean


@export("contrib.losses.cosine_distance")
def cosine_distance(
    predictions: Tensor,
    labels: TensorLike | None = None,
    axis: int | None = None,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    dim: int | None = None,
) -> Any:
    """The mean of one minus products of vectors, which are to have the norm one.

    Args:
        predictions, labels: tensors of one shape.
        axis: the vectors' axis.
        weights, scope: as `compute_weighted_loss`.
        dim: the axis by its old name.

    Raises:
        ValueError: the shapes differ, or there is no axis.
    """
    axis = deprecated_argument_lookup("axis", axis, "dim", dim)
    if axis is None:
        raise ValueError("You must specify 'axis'.")
    with tf.name_scope(scope, "cosine_distance_loss", [predictions, labels, weights]) as opened:
        x, y = _floats(predictions, labels)
        losses = 1 - tf.reduce_sum(tf.multiply(x, y), axis=[axis])
        return compute_weighted_loss(losses, weights, scope=opened)
