# SPDX-License-Identifier: Apache-2.0
"""The area under the ROC curve by histograms of scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.types import dtypes
from ....ops.nn.conv_public import conv2d
from ....ops.public import tf
from ..framework.tensor_util import remove_squeezable_dimensions

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike
    from ....engine.graph.tensor import Tensor


@export("contrib.metrics.auc_using_histogram")
def auc_using_histogram(
    boolean_labels: TensorLike,
    scores: TensorLike,
    score_range: TensorLike,
    nbins: int = 100,
    collections: Sequence[str] | None = None,
    check_shape: bool = True,
    name: str | None = None,
) -> tuple[Any, Any]:
    """The area under the ROC curve, of histograms that are kept.

    Args:
        boolean_labels: bools, [batch].
        scores: numbers, [batch].
        score_range: the least and the greatest score.
        nbins: how many bins the histograms have.
        collections: the collections of the histograms; that of local variables if None.
        check_shape: whether a run checks the shapes.
        name: the variable scope.

    Returns:
        A scalar, and an operation that takes in what a run has.

    Raises:
        ValueError: the labels are no bools.
    """
    wanted = [tf.GraphKeys.LOCAL_VARIABLES] if collections is None else collections
    values = [boolean_labels, scores, score_range]
    with tf.variable_scope(name, "auc_using_histogram", values):
        scores, labels = remove_squeezable_dimensions(scores, boolean_labels)
        limits = tf.convert_to_tensor(score_range, name="score_range")
        labels, scores = _checked(labels, scores, check_shape)
        true, false = _histograms(labels, scores, limits, nbins)
        all_true, all_false, update = _kept(true, false, nbins, wanted)
        return _area(all_true, all_false, nbins), update


def _checked(labels: Any, scores: Any, check_shape: bool) -> tuple[Any, Any]:
    with tf.name_scope("_check_labels_and_scores", values=[labels, scores]):
        labels = tf.convert_to_tensor(labels, name="boolean_labels")
        scores = tf.convert_to_tensor(scores, name="scores")
        if labels.dtype != dtypes.bool:
            raise ValueError(
                "Argument boolean_labels should have dtype bool.  Found: %s", labels.dtype
            )
        if not check_shape:
            return labels, scores
        checks = [
            tf.Assert(
                tf.equal(1, tf.rank(tensor)),
                [f"Argument {name} should have rank 1.  Found: ", tensor.name, tf.shape(tensor)],
            )
            for name, tensor in (("boolean_labels", labels), ("scores", scores))
        ]
        with tf.control_dependencies(checks):
            return labels, scores


def _histograms(labels: Any, scores: Any, limits: Any, nbins: int) -> list[Any]:
    """Those of the scores of what is true and of what is not."""
    with tf.variable_scope(None, "make_auc_histograms", [labels, scores, nbins]):
        return [
            tf.histogram_fixed_width(
                tf.boolean_mask(scores, mask), limits, nbins=nbins, dtype=dtypes.int64, name=name
            )
            for mask, name in _classes(labels)
        ]


def _classes(labels: Any) -> Iterator[tuple[Any, str]]:
    """Where each class is, and its histogram's name."""
    yield labels, "hist_true"
    yield tf.logical_not(labels), "hist_false"


def _kept(true: Any, false: Any, nbins: int, collections: Sequence[str]) -> tuple[Any, Any, Any]:
    """Variables that add histograms up, and the operation that does."""
    with tf.variable_scope(None, "hist_accumulate", [true, false]):
        kept = [
            tf.get_variable(
                name,
                shape=[nbins],
                dtype=true.dtype,
                initializer=tf.zeros_initializer(),
                collections=collections,
                trainable=False,
            )
            for name in ("hist_true_acc", "hist_false_acc")
        ]
        adds = [v.assign_add(histogram) for v, histogram in zip(kept, (true, false))]
        return kept[0], kept[1], tf.group(*adds, name="update_op")


def _area(true: Any, false: Any, nbins: int) -> Tensor:
    """By trapezoids, from the highest scores down."""
    shares = [tf.truediv(h, tf.reduce_sum(h)) for h in (true, false)]
    names = ("delta_y_t", "delta_x_t")
    dy, dx = (tf.reverse(h, [0], name=name) for h, name in zip(shares, names))
    dy, dx = tf.cast(dy, dtypes.float32), tf.cast(dx, dtypes.float32)
    y = strict_cumsum(dy, nbins)
    first = dx[0] * y[0] / 2.0
    others = dx[1:] * (y[1:] + y[: nbins - 1]) / 2.0
    return tf.add(first, tf.reduce_sum(others), name="auc")


def strict_cumsum(tensor: Any, length: int) -> Tensor:
    """Sums of the first elements, by a convolution with ones, as TensorFlow has it."""
    with tf.name_scope("strict_1d_cumsum", values=[tensor]):
        if length == 0:
            return tf.constant([])
        padded = tf.pad(tensor, [[length - 1, 0]])
        ones = tf.ones_like(padded)
        with tf.name_scope("strict_conv1d", values=[padded, ones]):
            row = tf.reshape(padded, (1, -1, 1, 1))
            window = tf.reshape(ones, (-1, 1, 1, 1))
            sums = tf.reshape(conv2d(row, window, [1, 1, 1, 1], "SAME"), [-1])
        return sums[:length]


# TensorFlow's name.
_strict_1d_cumsum = strict_cumsum
