# SPDX-License-Identifier: Apache-2.0
"""Last axes of size 1 that labels, predictions and weights have or have not."""

from __future__ import annotations

from typing import Any

from ....ops.public import tf
from ....ops.sparse.arithmetic import remove_squeezable_dimensions


def matched(predictions: Any, labels: Any = None, weights: Any = None) -> tuple[Any, Any, Any]:
    """Predictions, labels and weights, whose ranks are made equal where they differ by one.

    Args:
        predictions: a tensor.
        labels: a tensor or None.
        weights: a tensor or None; a scalar stays.

    Returns:
        The three, None where None was given.
    """
    rank = predictions.shape.ndims
    if labels is not None:
        labels, predictions = _matched_labels(predictions, labels)
    if weights is None:
        return predictions, labels, None
    weights = tf.convert_to_tensor(weights)
    of_weights = weights.shape.ndims
    if of_weights == 0:
        return predictions, labels, weights
    if rank is not None and of_weights is not None:
        if of_weights - rank == 1:
            weights = tf.squeeze(weights, [-1])
        elif rank - of_weights == 1:
            weights = tf.expand_dims(weights, [-1])
        return predictions, labels, weights
    difference = tf.rank(weights) - tf.rank(predictions)
    unchanged = weights
    weights = tf.cond(
        tf.equal(difference, 1),
        lambda: tf.squeeze(unchanged, [-1]),
        lambda: tf.cond(
            tf.equal(difference, -1),
            lambda: tf.expand_dims(unchanged, [-1]),
            lambda: tf.identity(unchanged),
        ),
    )
    return predictions, labels, weights


def _matched_labels(predictions: Any, labels: Any) -> tuple[Any, Any]:
    ranks = predictions.shape.ndims, labels.shape.ndims
    if None not in ranks:
        # Labels of one axis less are numbers of classes, unless there is one class.
        if ranks[0] - ranks[1] == 1 and predictions.shape[-1].value != 1:
            return labels, predictions
        return remove_squeezable_dimensions(labels, predictions)

    def squeezed() -> Any:
        return remove_squeezable_dimensions(labels, predictions)

    is_one = tf.equal(1, tf.shape(predictions)[-1])
    return tf.cond(
        tf.equal(1, tf.rank(predictions) - tf.rank(labels)),
        lambda: tf.cond(is_one, squeezed, lambda: (labels, predictions)),
        squeezed,
    )
