# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.estimator`: heads for estimators with a head of one's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....ops.nn.loss import log_poisson_loss, sigmoid_cross_entropy_with_logits
from ....ops.nn.losses_reduction import Reduction
from ....ops.public import tf
from ...estimator import heads
from ...estimator.head_checks import in_range
from ...estimator.heads import BinaryClassHead, MultiClassHead, RegressionHead

if TYPE_CHECKING:
    from ....engine.graph.tensor import Tensor


@export("contrib.estimator.binary_classification_head")
def binary_classification_head(
    weight_column: object = None,
    thresholds: Sequence[float] | None = None,
    label_vocabulary: Sequence[str] | None = None,
    loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
    loss_fn: Callable[..., Any] | None = None,
    name: str | None = None,
) -> BinaryClassHead:
    """A head of two classes, by one logit."""
    return BinaryClassHead(
        weight_column, thresholds, label_vocabulary, loss_reduction, loss_fn, name
    )


@export("contrib.estimator.multi_class_head")
def multi_class_head(
    n_classes: int,
    weight_column: object = None,
    label_vocabulary: Sequence[str] | None = None,
    loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
    loss_fn: Callable[..., Any] | None = None,
    name: str | None = None,
) -> MultiClassHead:
    """A head of three classes or more, by softmax."""
    return heads.multi_class_head(
        n_classes,
        weight_column=weight_column,
        label_vocabulary=label_vocabulary,
        loss_reduction=loss_reduction,
        loss_fn=loss_fn,
        name=name,
    )


@export("contrib.estimator.regression_head")
def regression_head(
    weight_column: object = None,
    label_dimension: int = 1,
    loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
    loss_fn: Callable[..., Any] | None = None,
    inverse_link_fn: Callable[[Any], Any] | None = None,
    name: str | None = None,
) -> RegressionHead:
    """A head of numbers, by squared error."""
    return RegressionHead(
        label_dimension, weight_column, loss_reduction, loss_fn, inverse_link_fn, name
    )


@export("contrib.estimator.poisson_regression_head")
def poisson_regression_head(
    weight_column: object = None,
    label_dimension: int = 1,
    loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
    compute_full_loss: bool = True,
    name: str | None = None,
) -> RegressionHead:
    """A head of counts; compute_full_loss adds what labels alone make of the loss."""

    def loss_fn(labels: Tensor, logits: Tensor) -> Tensor:
        return log_poisson_loss(labels, logits, compute_full_loss=compute_full_loss)

    return RegressionHead(label_dimension, weight_column, loss_reduction, loss_fn, tf.exp, name)


@export("contrib.estimator.logistic_regression_head")
def logistic_regression_head(
    weight_column: object = None,
    loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
    name: str | None = None,
) -> RegressionHead:
    """A head of probabilities."""

    def loss_fn(labels: Tensor, logits: Tensor) -> Tensor:
        return sigmoid_cross_entropy_with_logits(labels=in_range(labels, 2), logits=logits)

    return RegressionHead(1, weight_column, loss_reduction, loss_fn, tf.sigmoid, name)
