# SPDX-License-Identifier: Apache-2.0
"""Checks of what heads are given: labels, weights and logits that fit each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...engine.graph.tensor import SparseTensor
from ...engine.types import dtypes
from ...ops.public import tf
from ..feature_column.numeric import NumericColumn, numeric_column
from ..feature_column.state import _LazyBuilder
from .util import called_with, fn_args

if TYPE_CHECKING:
    from ...engine.graph.tensor import Tensor

_LOGITS = "logits shape must be [D0, D1, ... DN, logits_dimension]"


def checked_labels(labels: Any, logits: Tensor, dimension: int) -> Tensor:
    """Labels [..., dimension] with as many axes as the logits, checked in the run.

    Raises:
        ValueError: there are none, they are sparse or their last size is another.
    """
    if labels is None:
        raise ValueError(
            "You must provide a labels Tensor. Given: None. Suggested troubleshooting steps: Check "
            "that your data contain your label feature. Check that your input_fn properly parses "
            "and returns labels."
        )
    with tf.name_scope(None, "labels", (labels, logits)) as scope:
        labels = tf.convert_to_tensor_or_sparse_tensor(labels)
        if isinstance(labels, SparseTensor):
            raise ValueError(
                "SparseTensor labels are not supported. labels must be a Tensor of shape [D0, D1, "
                f"..., DN, {dimension}], e.g. [batch_size, {dimension}]. Suggested Fix (1): Check "
                "the label feature in your data. Each example must contain "
                f"{dimension} value(s). If not, your choice of label was probably incorrect. "
                "Suggested Fix (2): In your input_fn, use tf.sparse_tensor_to_dense() to turn "
                "labels into a Tensor."
            )
        rank = labels.shape.ndims
        if rank is not None and rank + 1 == logits.shape.ndims:
            labels = tf.expand_dims(labels, -1)
        found, of_logits = tf.shape(labels), tf.shape(logits)
        message = (
            f"labels shape must be [D0, D1, ... DN, {dimension}]. Suggested Fix: check your "
            "n_classes argument to the estimator and/or the shape of your label."
        )
        with tf.control_dependencies([tf.assert_rank_at_least(labels, 2, message=message)]):
            last = labels.shape.as_list()[-1] if labels.shape.ndims else None
            if last is not None and last != dimension:
                raise ValueError(
                    f"Mismatched label shape. Expected labels dimension={dimension}.  Received "
                    f"{last}. Suggested Fix:If your classifier expects one-hot encoding label,"
                    "check your n_classes argument to the estimator and/or the shape of your "
                    "label. Otherwise, check the shape of your label."
                )
            wanted = tf.concat([of_logits[:-1], [dimension]], axis=0)
            data = ["expected_labels_shape: ", wanted, "labels_shape: ", found]
            check = tf.assert_equal(wanted, found, message=message, data=data)
            with tf.control_dependencies([check]):
                return tf.identity(labels, name=scope)


def checked_weights(
    features: dict[str, Any], column: object, logits: Tensor, per_logit: bool = False
) -> Any:
    """The weights that a column has, [..., 1] or, if allowed, like the logits; 1.0 without one.

    Raises:
        TypeError: the column is neither a key nor a numeric column.
    """
    message = "weights shape must be [D0, D1, ... DN] or [D0, D1, ... DN, 1]"
    if per_logit:
        message = (
            "weights shape must be [D0, D1, ... DN], [D0, D1, ... DN, 1] or [D0, D1, ... DN, "
            "logits_dimension]"
        )
    values = (*features.values(), logits)
    with tf.name_scope(None, "weights", values=values) as scope:
        if column is None:
            return 1.0
        if isinstance(column, str):
            column = numeric_column(key=column, shape=(1,))
        if not isinstance(column, NumericColumn):
            raise TypeError(
                "Weight column must be either a string or _NumericColumn. Given type: "
                f"{type(column)}."
            )
        weights = column._get_dense_tensor(_LazyBuilder(features))
        weights = tf.cast(weights, dtypes.float32, name="weights")
        found = tf.shape(weights, name="weights_shape")
        of_logits = tf.shape(logits, name="logits_shape")
        data = ["logits_shape: ", of_logits, "weights_shape: ", found]
        if weights.shape.ndims is not None and weights.shape.ndims + 1 == logits.shape.ndims:
            check = tf.assert_equal(of_logits[:-1], found, message=message, data=data)
            with tf.control_dependencies([check]):
                return tf.expand_dims(weights, -1, name=scope)
        wanted = tf.concat([of_logits[:-1], [1]], axis=0)
        if per_logit:
            like = [tf.reduce_all(tf.equal(shape, found)) for shape in (of_logits, wanted)]
            check = tf.Assert(tf.reduce_any(like), [message, *data])
        else:
            check = tf.assert_equal(wanted, found, message=message, data=data)
        with tf.control_dependencies([check]):
            return tf.identity(weights, name=scope)


def checked_logits(logits: Tensor, dimension: int) -> Tensor:
    """Logits [..., dimension] as float32; ValueError where their last size is another."""
    with tf.name_scope(None, "logits", (logits,)) as scope:
        logits = tf.cast(logits, dtypes.float32)
        shape = tf.shape(logits)
        check = tf.assert_rank_at_least(logits, 2, data=[shape], message=_LOGITS)
        with tf.control_dependencies([check]):
            static = logits.shape
            if static.ndims is not None and static.as_list()[-1] is not None:
                if static.as_list()[-1] != dimension:
                    raise ValueError(f"{_LOGITS}, got {static}.")
                return logits
            equal = tf.assert_equal(dimension, shape[-1], data=[shape], message=_LOGITS)
            with tf.control_dependencies([equal]):
                return tf.identity(logits, name=scope)


def in_range(labels: Tensor, n_classes: int) -> Tensor:
    """Labels that a run finds to be numbers of classes."""
    with tf.name_scope(None, "assert_range", (labels,)):
        most = tf.convert_to_tensor(n_classes - 1, dtype=labels.dtype)
        less = tf.assert_less_equal(labels, most, message="Labels must <= n_classes - 1")
        greater = tf.assert_non_negative(labels, message="Labels must >= 0")
        with tf.control_dependencies((less, greater)):
            return tf.identity(labels)


def check_loss_fn(loss_fn: Callable[..., Any]) -> None:
    """Raises ValueError for a loss whose arguments heads cannot give."""
    taken = fn_args(loss_fn)
    for name in ("labels", "logits"):
        if name not in taken:
            raise ValueError(f"loss_fn must contain argument: {name}. Given arguments: {taken}")
    others = list(set(taken) - {"labels", "logits", "features"})
    if others:
        raise ValueError(f"loss_fn has unexpected args: {others}")


def call_loss_fn(
    loss_fn: Callable[..., Any],
    labels: Tensor,
    logits: Tensor,
    features: dict[str, Any],
    dimension: int,
) -> Tensor:
    """The losses that a function gives, which a run finds to be [..., dimension]."""
    values: Sequence[Any] = [labels, logits, *features.values()]
    with tf.name_scope(None, "call_loss_fn", values=values):
        loss = loss_fn(labels=labels, logits=logits, **called_with(loss_fn, features=features))
        of_logits = tf.shape(logits, name="logits_shape")
        wanted = tf.concat([of_logits[:-1], [dimension]], axis=0, name="expected_loss_shape")
        found = tf.shape(loss, name="loss_shape")
        check = tf.Assert(
            tf.reduce_all(tf.equal(found, wanted)),
            data=[
                f"loss_fn must return Tensor of shape [D0, D1, ... DN, {dimension}]. ",
                *("logits_shape: ", of_logits, "loss_shape: ", found),
            ],
            name="check_loss_shape",
        )
        with tf.control_dependencies([check]):
            return tf.identity(loss)
