# SPDX-License-Identifier: Apache-2.0
"""Heads of tf.contrib.learn, by the functions that make them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .....engine.api import export
from .....ops.public import tf
from . import head_losses as losses
from .head_classes import (
    BinaryLogisticHead,
    BinarySvmHead,
    Head,
    LossOnlyHead,
    MultiClassHead,
    MultiHead,
    MultiLabelHead,
    RegressionHead,
    no_op_train_fn,
)

__all__ = [
    "Head",
    "binary_svm_head",
    "loss_only_head",
    "multi_class_head",
    "multi_head",
    "multi_label_head",
    "no_op_train_fn",
    "poisson_regression_head",
    "regression_head",
]


@export("contrib.learn.regression_head", "contrib.learn.head.regression_head")
def regression_head(
    label_name: str | None = None,
    weight_column_name: str | None = None,
    label_dimension: int = 1,
    enable_centered_bias: bool = False,
    head_name: str | None = None,
    link_fn: Callable[[Any], Any] | None = None,
) -> Head:
    """A head of numbers, by squared error; link_fn makes predictions of logits."""
    return RegressionHead(
        *(label_dimension, losses.mean_squared, link_fn or tf.identity, label_name),
        *(weight_column_name, enable_centered_bias, head_name),
    )


@export("contrib.learn.poisson_regression_head", "contrib.learn.head.poisson_regression_head")
def poisson_regression_head(
    label_name: str | None = None,
    weight_column_name: str | None = None,
    label_dimension: int = 1,
    enable_centered_bias: bool = False,
    head_name: str | None = None,
) -> Head:
    """A head of counts."""
    return RegressionHead(
        *(label_dimension, losses.poisson, tf.exp, label_name),
        *(weight_column_name, enable_centered_bias, head_name),
    )


@export("contrib.learn.multi_class_head", "contrib.learn.head.multi_class_head")
def multi_class_head(
    n_classes: int,
    label_name: str | None = None,
    weight_column_name: str | None = None,
    enable_centered_bias: bool = False,
    head_name: str | None = None,
    thresholds: Sequence[float] | None = None,
    metric_class_ids: Sequence[int] | None = None,
    loss_fn: Callable[..., Any] | None = None,
    label_keys: Sequence[str] | None = None,
) -> Head:
    """A head of two classes, by one logit, or of more, by softmax.

    Args:
        n_classes: how many.
        label_name, weight_column_name: which labels, and which feature has weights.
        enable_centered_bias: whether a bias is trained by itself.
        head_name: the head's name.
        thresholds: of metrics of two classes.
        metric_class_ids: classes of more that have metrics of their own.
        loss_fn: a function of labels, logits and weights.
        label_keys: the classes' names, if labels are strings.

    Returns:
        A Head.

    Raises:
        ValueError: there are fewer classes, or arguments are for another number of them.
    """
    if n_classes is None or n_classes < 2:
        raise ValueError(f"n_classes must be > 1 for classification: {n_classes}.")
    given: dict[str, Any] = dict(
        loss_fn=losses.custom(loss_fn),
        label_name=label_name,
        weight_column_name=weight_column_name,
        enable_centered_bias=enable_centered_bias,
        head_name=head_name,
        thresholds=thresholds,
    )
    if n_classes > 2:
        return MultiClassHead(
            n_classes, label_keys=label_keys, metric_class_ids=metric_class_ids, **given
        )
    if metric_class_ids:
        raise ValueError("metric_class_ids invalid for n_classes==2.")
    if label_keys:
        raise ValueError("label_keys is not supported for n_classes=2.")
    return BinaryLogisticHead(**given)


@export("contrib.learn.binary_svm_head", "contrib.learn.head.binary_svm_head")
def binary_svm_head(
    label_name: str | None = None,
    weight_column_name: str | None = None,
    enable_centered_bias: bool = False,
    head_name: str | None = None,
    thresholds: Sequence[float] | None = None,
) -> Head:
    """A head of two classes, by a hinge."""
    return BinarySvmHead(
        1, label_name, weight_column_name, enable_centered_bias, head_name, thresholds
    )


@export("contrib.learn.multi_label_head", "contrib.learn.head.multi_label_head")
def multi_label_head(
    n_classes: int,
    label_name: str | None = None,
    weight_column_name: str | None = None,
    enable_centered_bias: bool = False,
    head_name: str | None = None,
    thresholds: Sequence[float] | None = None,
    metric_class_ids: Sequence[int] | None = None,
    loss_fn: Callable[..., Any] | None = None,
) -> Head:
    """A head of classes of which an example may have several."""
    if n_classes < 2:
        raise ValueError("n_classes must be > 1 for classification.")
    return MultiLabelHead(
        n_classes,
        losses.custom(loss_fn),
        label_name=label_name,
        weight_column_name=weight_column_name,
        enable_centered_bias=enable_centered_bias,
        head_name=head_name,
        thresholds=thresholds,
        metric_class_ids=metric_class_ids,
    )


@export("contrib.learn.head.loss_only_head")
def loss_only_head(loss_fn: Callable[[], Any], head_name: str | None = None) -> Head:
    """A head of a loss without labels."""
    return LossOnlyHead(loss_fn, head_name)


@export("contrib.learn.multi_head", "contrib.learn.head.multi_head")
def multi_head(heads: Sequence[Head], loss_weights: Sequence[float] | None = None) -> Head:
    """Heads whose losses are added up, with weights; ValueError if one has no name."""
    return MultiHead(heads, loss_weights)


# By these names libraries of the time called them.
_regression_head, _poisson_regression_head = regression_head, poisson_regression_head
_multi_class_head, _binary_svm_head = multi_class_head, binary_svm_head
_multi_label_head, _multi_head, _Head = multi_label_head, multi_head, Head
