# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.estimator`: heads for estimators with a head of one's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...engine.api import export
from ...ops.nn.losses_reduction import Reduction
from ..estimator.heads import BinaryClassHead, MultiClassHead, RegressionHead


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
    return MultiClassHead(n_classes, weight_column, label_vocabulary, loss_reduction, loss_fn, name)


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
