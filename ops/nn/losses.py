# SPDX-License-Identifier: Apache-2.0
"""The losses of `tf.losses`: computed element by element, weighted, reduced and collected."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...engine.deprecation import deprecated_argument_lookup
from ...engine.graph.collections import GraphKeys
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.graph import control_dependencies, name_scope
from ...engine.graph.tensor import Tensor
from ...engine.types import dtypes
from ..public import raw, tf
from ..sparse.arithmetic import remove_squeezable_dimensions
from .losses_reduction import Reduction, add_loss, compute_weighted_loss, num_present
from .weights import assert_broadcastable

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike

_BY_WEIGHTS = Reduction.SUM_BY_NONZERO_WEIGHTS


def _require(**given: Any) -> None:
    for name, value in given.items():
        if value is None:
            raise ValueError(f"{name} must not be None.")


def _floats(first: Tensor, second: Tensor) -> tuple[Any, Any]:
    """Both as float32, of compatible shapes."""
    first = tf.cast(first, dtype=dtypes.float32)
    second = tf.cast(second, dtype=dtypes.float32)
    first.get_shape().assert_is_compatible_with(second.get_shape())
    return first, second


@export("losses.absolute_difference")
def absolute_difference(
    labels: Any,
    predictions: Any,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: str = GraphKeys.LOSSES,
    reduction: str = _BY_WEIGHTS,
) -> Any:
    """The mean of |predictions - labels|, added to the losses of the graph.

    Args:
        labels: the true values: a tensor of numbers.
        predictions: a tensor of the same shape.
        weights: a number, or a tensor that broadcasts against the losses and weighs them.
        scope: the scope of the operations.
        loss_collection: the key that the loss is added to, or None.
        reduction: one of tf.losses.Reduction; the sum divided by the number of weights other than
            zero by default.

    Returns:
        A Tensor: a scalar, or with Reduction.NONE of the shape of the losses.

    Raises:
        ValueError: an argument is None, or shapes do not fit, or there is no such reduction.

    Example:
        >>> loss = tf.losses.absolute_difference([1.0, 2.0], [1.5, 4.0])
        >>> tf.Session().run(loss)
        np.float32(1.25)
    """
    _require(labels=labels, predictions=predictions)
    with name_scope(scope, "absolute_difference", (predictions, labels, weights)) as scope:
        predictions, labels = _floats(predictions, labels)
        losses = tf.abs(tf.subtract(predictions, labels))
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction=reduction)


@export("losses.cosine_distance")
def cosine_distance(
    labels: Any,
    predictions: Any,
    axis: int | None = None,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: str = GraphKeys.LOSSES,
    reduction: str = _BY_WEIGHTS,
    dim: int | None = None,
) -> Any:
    """One minus the cosine of vectors along `axis`, which must have length one."""
    axis = deprecated_argument_lookup("axis", axis, "dim", dim)
    if axis is None:
        raise ValueError("You must specify 'axis'.")
    _require(labels=labels, predictions=predictions)
    with name_scope(scope, "cosine_distance_loss", (predictions, labels, weights)) as scope:
        predictions, labels = _floats(predictions, labels)
        products = tf.multiply(predictions, labels)
        losses = 1 - tf.reduce_sum(products, axis=(axis,), keepdims=True)
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction=reduction)


@export("losses.hinge_loss")
def hinge_loss(
    labels: Any,
    logits: Any,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: str = GraphKeys.LOSSES,
    reduction: str = _BY_WEIGHTS,
) -> Any:
    """The hinge loss of logits; labels are 0 or 1."""
    _require(labels=labels, logits=logits)
    with name_scope(scope, "hinge_loss", (logits, labels, weights)) as scope:
        logits, labels = _floats(logits, labels)
        ones = tf.ones_like(labels)
        signs = tf.subtract(2 * labels, ones)
        losses = raw.Relu(tf.subtract(ones, tf.multiply(signs, logits)))
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction=reduction)


@export("losses.huber_loss")
def huber_loss(
    labels: Any,
    predictions: Any,
    weights: TensorLike = 1.0,
    delta: float = 1.0,
    scope: str | None = None,
    loss_collection: str = GraphKeys.LOSSES,
    reduction: str = _BY_WEIGHTS,
) -> Any:
    """The mean of half the squared errors up to `delta`, and of a line beyond.

    Args:
        labels: the true values: a tensor of numbers.
        predictions: a tensor of the same shape.
        weights: a number, or a tensor that broadcasts against the losses and weighs them.
        delta: where the line begins, a positive number.
        scope: the scope of the operations.
        loss_collection: the key that the loss is added to, or None.
        reduction: one of tf.losses.Reduction; the sum divided by the number of weights other than
            zero by default.

    Returns:
        A Tensor: a scalar, or with Reduction.NONE of the shape of the losses.

    Raises:
        ValueError: an argument is None, or shapes do not fit, or there is no such reduction.

    Example:
        >>> loss = tf.losses.huber_loss([1.0, 2.0], [1.5, 4.0])
        >>> tf.Session().run(loss)
        np.float32(0.8125)
    """
    _require(labels=labels, predictions=predictions)
    with name_scope(scope, "huber_loss", (predictions, labels, weights)) as scope:
        predictions, labels = _floats(predictions, labels)
        error = tf.abs(tf.subtract(predictions, labels))
        # 0.5 * q**2 + delta * (|e| - q) for q = min(|e|, delta): value and slope are continuous at
        # delta.
        quadratic = tf.minimum(error, delta)
        linear = tf.subtract(error, quadratic)
        half = convert_to_tensor(0.5, dtype=quadratic.dtype)
        square = tf.multiply(half, tf.multiply(quadratic, quadratic))
        losses = tf.add(square, tf.multiply(delta, linear))
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction=reduction)


@export("losses.log_loss")
def log_loss(
    labels: Any,
    predictions: Any,
    weights: TensorLike = 1.0,
    epsilon: float = 1e-7,
    scope: str | None = None,
    loss_collection: str = GraphKeys.LOSSES,
    reduction: str = _BY_WEIGHTS,
) -> Any:
    """The cross-entropy of predicted probabilities; `epsilon` keeps logarithms finite."""
    _require(labels=labels, predictions=predictions)
    with name_scope(scope, "log_loss", (predictions, labels, weights)) as scope:
        predictions, labels = _floats(predictions, labels)
        hits = -tf.multiply(labels, tf.log(predictions + epsilon))
        losses = hits - tf.multiply((1 - labels), tf.log(1 - predictions + epsilon))
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction=reduction)


def _pairwise(diffs: Tensor, weights: Tensor) -> tuple[Any, Any]:
    """For each row, the mean squared difference between its pairs, and how many are present."""
    axes = tf.range(1, tf.rank(diffs))
    squares = tf.reduce_sum(tf.square(diffs), axis=axes, keepdims=True)
    present = num_present(diffs, weights, per_batch=True)
    # The squares of all differences d_i - d_j add up to 2 * n * sum(d**2) - 2 * sum(d)**2, and
    # there are n * (n - 1) pairs.
    term1 = 2.0 * tf.div_no_nan(squares, tf.maximum(present - 1, 0), name="value")
    total = tf.reduce_sum(diffs, axis=axes, keepdims=True)
    square = tf.square(total)
    pairs = tf.maximum(tf.multiply(present, present - 1), 0)
    term2 = 2.0 * tf.div_no_nan(square, pairs, name="value")
    return term1 - term2, present


@export("losses.mean_pairwise_squared_error")
def mean_pairwise_squared_error(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str = GraphKeys.LOSSES,
) -> Tensor:
    """The squared differences between pairs of errors within each row of the batch."""
    _require(labels=labels, predictions=predictions)
    inputs = (predictions, labels, weights)
    with name_scope(scope, "mean_pairwise_squared_error", inputs) as scope:
        weights = tf.cast(weights, dtype=dtypes.float32)
        labels = tf.cast(labels, dtype=dtypes.float32)
        with control_dependencies((assert_broadcastable(weights, labels),)):
            predictions = tf.cast(predictions, dtype=dtypes.float32)
            predictions.get_shape().assert_is_compatible_with(labels.get_shape())
            difference, present = _pairwise(tf.subtract(predictions, labels), weights)
            loss = tf.reduce_sum(tf.multiply(difference, weights))
            is_any = tf.reduce_sum(present) > 0
            mean_loss = tf.where(is_any, loss, tf.zeros_like(loss), name="value")
            add_loss(mean_loss, loss_collection)
            return mean_loss


@export("losses.mean_squared_error")
def mean_squared_error(
    labels: Any,
    predictions: Any,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: str = GraphKeys.LOSSES,
    reduction: str = _BY_WEIGHTS,
) -> Any:
    """The mean of (predictions - labels) ** 2, added to the losses of the graph.

    Args:
        labels: the true values: a tensor of numbers.
        predictions: a tensor of the same shape.
        weights: a number, or a tensor that broadcasts against the losses and weighs them.
        scope: the scope of the operations.
        loss_collection: the key that the loss is added to, or None.
        reduction: one of tf.losses.Reduction; the sum divided by the number of weights other than
            zero by default.

    Returns:
        A Tensor: a scalar, or with Reduction.NONE of the shape of the losses.

    Raises:
        ValueError: an argument is None, or shapes do not fit, or there is no such reduction.

    Example:
        >>> loss = tf.losses.mean_squared_error([1.0, 2.0], [1.5, 4.0])
        >>> tf.Session().run(loss)
        np.float32(2.125)
    """
    _require(labels=labels, predictions=predictions)
    with name_scope(scope, "mean_squared_error", (predictions, labels, weights)) as scope:
        predictions, labels = _floats(predictions, labels)
        losses = tf.squared_difference(predictions, labels)
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction=reduction)


def _cross_entropy(
    op: str, labels: Any, logits: Any, smoothed: Callable[[Tensor], Tensor]
) -> Tensor:
    """The loss of each row or element by a public function of `tf.nn`."""
    logits = convert_to_tensor(logits)
    labels = tf.cast(labels, logits.dtype)
    logits.get_shape().assert_is_compatible_with(labels.get_shape())
    return getattr(tf, op)(labels=smoothed(labels), logits=logits, name="xentropy")


@export("losses.sigmoid_cross_entropy")
def sigmoid_cross_entropy(
    multi_class_labels: TensorLike,
    logits: TensorLike,
    weights: float = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
    loss_collection: str = GraphKeys.LOSSES,
    reduction: str = _BY_WEIGHTS,
) -> Any:
    """The mean cross-entropy of sigmoid(logits) against labels, added to the graph's losses.

    Args:
        multi_class_labels: probabilities: a tensor of numbers.
        logits: a float tensor of the same shape.
        weights: a number, or a tensor that broadcasts against the losses and weighs them.
        label_smoothing: how far labels move towards one half: 0 not at all, 1 up to it.
        scope: the scope of the operations.
        loss_collection: the key that the loss is added to, or None.
        reduction: one of tf.losses.Reduction; the sum divided by the number of weights other than
            zero by default.

    Returns:
        A Tensor: a scalar, or with Reduction.NONE of the shape of the losses.

    Raises:
        ValueError: an argument is None, or shapes do not fit, or there is no such reduction.

    Example:
        >>> loss = tf.losses.sigmoid_cross_entropy([[1, 0]], [[0.0, 2.0]])
        >>> tf.Session().run(loss)
        np.float32(1.4100376)
    """
    _require(multi_class_labels=multi_class_labels, logits=logits)

    def smoothed(labels: Tensor) -> Tensor:
        if label_smoothing > 0:
            labels = labels * (1 - label_smoothing) + 0.5 * label_smoothing
        return labels

    inputs = (logits, multi_class_labels, weights)
    with name_scope(scope, "sigmoid_cross_entropy_loss", inputs) as scope:
        op = "nn.sigmoid_cross_entropy_with_logits"
        losses = _cross_entropy(op, multi_class_labels, logits, smoothed)
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction=reduction)


@export("losses.softmax_cross_entropy")
def softmax_cross_entropy(
    onehot_labels: TensorLike,
    logits: TensorLike,
    weights: float = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
    loss_collection: str = GraphKeys.LOSSES,
    reduction: str = _BY_WEIGHTS,
) -> Any:
    """The mean cross-entropy of softmax(logits) against labels, added to the graph's losses.

    Args:
        onehot_labels: probabilities of the classes [batch, classes]; they count as constants.
        logits: a float tensor of the same shape.
        weights: a number, or a tensor that broadcasts against the losses and weighs them.
        label_smoothing: how far labels move towards equal classes: 0 not at all, 1 up to them.
        scope: the scope of the operations.
        loss_collection: the key that the loss is added to, or None.
        reduction: one of tf.losses.Reduction; the sum divided by the number of weights other than
            zero by default.

    Returns:
        A Tensor: a scalar, or with Reduction.NONE of the shape of the losses.

    Raises:
        ValueError: an argument is None, or shapes do not fit, or there is no such reduction.

    Example:
        >>> loss = tf.losses.softmax_cross_entropy([[0, 1]], [[3.0, 5.0]])
        >>> tf.Session().run(loss)
        np.float32(0.12692805)
    """
    _require(onehot_labels=onehot_labels, logits=logits)

    def smoothed(labels: Tensor) -> Tensor:
        if label_smoothing > 0:
            classes = tf.cast(tf.shape(labels)[-1], labels.dtype)
            share = label_smoothing / classes
            labels = labels * (1.0 - label_smoothing) + share
        return tf.stop_gradient(labels, name="labels_stop_gradient")

    inputs = (logits, onehot_labels, weights)
    with name_scope(scope, "softmax_cross_entropy_loss", inputs) as scope:
        op = "nn.softmax_cross_entropy_with_logits_v2"
        losses = _cross_entropy(op, onehot_labels, logits, smoothed)
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction=reduction)


def _squeezed(labels: Any, predictions: Any, weights: Any) -> tuple[Any, Any, Any]:
    """Labels one rank below predictions, and weights of at most the labels' rank."""
    labels, predictions = remove_squeezable_dimensions(labels, predictions, expected_rank_diff=1)
    if weights is None:
        return labels, predictions, weights
    weights = convert_to_tensor(weights)
    shape = weights.get_shape()
    if labels.get_shape().ndims is not None and shape.ndims is not None:
        if shape.ndims - labels.get_shape().ndims == 1:
            weights = tf.squeeze(weights, [-1])
        return labels, predictions, weights
    excess = tf.rank(weights) - tf.rank(labels)
    if shape.ndims is None or (shape.ndims > 0 and shape.dims[-1].is_compatible_with(1)):
        column = weights
        is_column = tf.equal(1, excess)
        weights = tf.cond(is_column, lambda: tf.squeeze(column, [-1]), lambda: column)
    return labels, predictions, weights


@export("losses.sparse_softmax_cross_entropy")
def sparse_softmax_cross_entropy(
    labels: Any,
    logits: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str = GraphKeys.LOSSES,
    reduction: str = _BY_WEIGHTS,
) -> Any:
    """The mean cross-entropy of softmax(logits) against class numbers, added to the losses.

    Args:
        labels: int32 or int64 [batch] or [batch, 1]: the right classes.
        logits: a float tensor [batch, classes].
        weights: a number, or a tensor that broadcasts against the losses and weighs them.
        scope: the scope of the operations.
        loss_collection: the key that the loss is added to, or None.
        reduction: one of tf.losses.Reduction; the sum divided by the number of weights other than
            zero by default.

    Returns:
        A Tensor: a scalar, or with Reduction.NONE of the shape of the losses.

    Raises:
        ValueError: an argument is None, or shapes do not fit, or there is no such reduction.

    Example:
        >>> loss = tf.losses.sparse_softmax_cross_entropy([1], [[3.0, 5.0]])
        >>> tf.Session().run(loss)
        np.float32(0.12692805)
    """
    _require(labels=labels, logits=logits)
    inputs = (logits, labels, weights)
    with name_scope(scope, "sparse_softmax_cross_entropy_loss", inputs) as scope:
        labels, logits, weights = _squeezed(labels, logits, weights)
        cross_entropy = getattr(tf, "nn.sparse_softmax_cross_entropy_with_logits")
        losses = cross_entropy(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction=reduction)
