# SPDX-License-Identifier: Apache-2.0
"""Metrics of each example: functions of what is and what was predicted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....ops.public import tf
from ..backend.published import nn
from ..backend.settings import floatx
from ..losses import functions as losses
from .ragged import flat_values

if TYPE_CHECKING:
    from ....engine.graph.tensor import Tensor


def accuracy(y_true: Tensor, y_pred: Tensor) -> Any:
    """1 where both are equal, else 0; ValueError for other shapes."""
    (y_pred, y_true), _ = flat_values([y_pred, y_true])
    y_pred.shape.assert_is_compatible_with(y_true.shape)
    return tf.cast(tf.equal(y_true, tf.cast(y_pred, y_true.dtype)), floatx())


def binary_accuracy(y_true: Tensor, y_pred: Tensor, threshold: float = 0.5) -> Any:
    """The share of labels 0 and 1 that predictions, cut at a threshold, equal."""
    chosen = tf.cast(y_pred > tf.cast(threshold, y_pred.dtype), y_pred.dtype)
    return tf.reduce_mean(tf.cast(tf.equal(y_true, chosen), floatx()), axis=-1)


def categorical_accuracy(y_true: Tensor, y_pred: Tensor) -> Any:
    """1 where the largest of both is of the same class, else 0."""
    classes = [tf.argmax(y, axis=-1) for y in (y_true, y_pred)]
    return tf.cast(tf.equal(*classes), floatx())


def _classes(y_true: Tensor, y_pred: Tensor) -> Any:
    """The numbers of classes, without a last axis of size 1."""
    ranks = [tf.convert_to_tensor(y).shape.ndims for y in (y_true, y_pred)]
    if None not in ranks and ranks[0] == ranks[1]:
        return tf.squeeze(y_true, [-1])
    return y_true


def sparse_categorical_accuracy(y_true: Tensor, y_pred: Tensor) -> Any:
    """1 where the largest prediction is of the class whose number is given, else 0."""
    y_true = _classes(y_true, y_pred)
    found = tf.cast(tf.argmax(y_pred, axis=-1), y_true.dtype)
    return tf.cast(tf.equal(y_true, found), floatx())


def top_k_categorical_accuracy(y_true: Tensor, y_pred: Tensor, k: int = 5) -> Any:
    """1 where the largest of `y_true` is among the k largest predictions, else 0."""
    return tf.cast(nn.in_top_k(y_pred, tf.argmax(y_true, axis=-1), k), floatx())


def sparse_top_k_categorical_accuracy(y_true: Tensor, y_pred: Tensor, k: int = 5) -> Any:
    """1 where the class whose number is given is among the k largest predictions, else 0."""
    classes = tf.cast(_classes(y_true, y_pred), tf.int32)
    return tf.cast(nn.in_top_k(y_pred, classes, k), floatx())


# Name -> function, as configurations have them; losses are metrics, too.
FUNCTIONS: dict[str, Any] = {
    **losses.FUNCTIONS,
    **{
        f.__name__: f
        for f in (
            *(accuracy, binary_accuracy, categorical_accuracy, sparse_categorical_accuracy),
            *(top_k_categorical_accuracy, sparse_top_k_categorical_accuracy),
        )
    },
}
