# SPDX-License-Identifier: Apache-2.0
"""A head of classes of which an example may have several."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.graph.tensor import SparseTensor
from ....engine.types import dtypes
from ....ops.lookup.vocabulary import index_table_from_tensor
from ....ops.metrics.auc import auc
from ....ops.metrics.counts import precision, recall
from ....ops.metrics.means import accuracy, mean
from ....ops.nn.losses import sigmoid_cross_entropy
from ....ops.nn.losses_reduction import Reduction
from ....ops.nn.weights import broadcast_weights
from ....ops.public import tf
from ...estimator import head_checks as checks
from ...estimator.export_output import ClassificationOutput
from ...estimator.heads import Head, LossSpec

if TYPE_CHECKING:
    from ....engine.graph.tensor import Tensor


class MultiLabelHead(Head):
    """Classes of which an example may have several, by one logit each."""

    def __init__(
        self,
        n_classes: int,
        weight_column: object = None,
        thresholds: Sequence[float] = (),
        label_vocabulary: Sequence[str] | None = None,
        loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
        loss_fn: Callable[..., Any] | None = None,
        classes_for_class_based_metrics: Sequence[int] = (),
        name: str | None = None,
    ) -> None:
        super().__init__(weight_column, loss_reduction, loss_fn, name)
        self._n_classes, self._thresholds = n_classes, tuple(thresholds)
        self._label_vocabulary = label_vocabulary
        self._classes = tuple(classes_for_class_based_metrics)

    @property
    def logits_dimension(self) -> int:
        """The number of classes."""
        return self._n_classes

    def _predictions(self, logits: Tensor) -> dict[str, Any]:
        logits = checks.checked_logits(logits, self._n_classes)
        with tf.name_scope(None, "predictions", (logits,)):
            return {"logits": logits, "probabilities": tf.sigmoid(logits, name="probabilities")}

    def _exports(self, predictions: dict[str, Any]) -> dict[str, Any]:
        scores = predictions["probabilities"]
        names: Any = list(self._label_vocabulary or ())
        if not names:
            names = tf.as_string(tf.range(self._n_classes))
        every = tf.tile(tf.expand_dims(names, axis=0), [tf.shape(scores)[0], 1])
        output = ClassificationOutput(scores, every)
        return {"serving_default": output, "classification": output}

    def _indicators(self, labels: object) -> Tensor | None:
        """Labels as ones and zeros, of indices or names in a SparseTensor, too."""
        if not isinstance(labels, SparseTensor):
            if labels is None:
                return None
            return checks.in_range(tf.convert_to_tensor(labels), 2)
        values: Any = labels.values
        if labels.dtype == dtypes.string:
            table = index_table_from_tensor(
                vocabulary_list=tuple(self._label_vocabulary or ()), name="class_id_lookup"
            )
            values = table.lookup(values)
        else:
            values = checks.in_range(values, self._n_classes)
        ids = SparseTensor(labels.indices, values, labels.dense_shape)
        return tf.cast(tf.sparse_to_indicator(ids, self._n_classes), dtypes.int64)

    def create_loss(
        self, features: dict[str, Any], mode: str, logits: Tensor, labels: object
    ) -> LossSpec:
        """The mean of the classes' cross entropies with the sigmoid."""
        logits = tf.convert_to_tensor(logits)
        found = checks.checked_labels(self._indicators(labels), logits, self._n_classes)
        if self._loss_fn:
            losses = checks.call_loss_fn(self._loss_fn, found, logits, features, 1)
        else:
            losses = sigmoid_cross_entropy(
                multi_class_labels=found, logits=logits, reduction=Reduction.NONE
            )
            losses = tf.reduce_mean(losses, axis=-1, keepdims=True)
        return self._reduced(losses, features, logits, found, False)

    def _metrics(
        self, predictions: dict[str, Any], labels: object, spec: LossSpec
    ) -> dict[str, Any]:
        probabilities, weights = predictions["probabilities"], spec.weights
        truth = spec.processed_labels
        given = dict(labels=truth, weights=weights)
        spread = dict(labels=truth, weights=broadcast_weights(weights, probabilities))
        with tf.name_scope(None, "metrics"):
            found = {
                "average_loss": mean(spec.unreduced_loss, weights=weights, name="average_loss"),
                "auc": auc(predictions=probabilities, name="auc", **spread),
                "auc_precision_recall": auc(
                    predictions=probabilities, curve="PR", name="auc_precision_recall", **spread
                ),
            }
            for threshold in self._thresholds:
                at = tf.cast(tf.greater_equal(probabilities, threshold), dtypes.float32)
                for kind, metric in (
                    ("accuracy", accuracy),
                    ("precision", precision),
                    ("recall", recall),
                ):
                    key = f"{kind}/positive_threshold_{threshold:g}"
                    found[key] = metric(predictions=at, name=key, **given)
            for i in self._classes:
                found.update(self._of_class(i, probabilities, truth, weights))
        return found

    def _of_class(
        self, number: int, probabilities: Tensor, labels: Tensor, weights: Any
    ) -> dict[str, Any]:
        """The metrics of one class."""
        names = self._label_vocabulary
        tag = f"class{number}" if names is None else names[number]
        values, truth = (x[..., number : number + 1] for x in (probabilities, labels))
        spread = broadcast_weights(weights, values)
        keys = [f"{k}/{tag}" for k in ("probability_mean", "auc", "auc_precision_recall")]
        return {
            keys[0]: mean(values, weights=spread, name=keys[0]),
            keys[1]: auc(truth, values, weights=spread, name=keys[1]),
            keys[2]: auc(truth, values, weights=spread, curve="PR", name=keys[2]),
        }


def multi_label_arguments(
    n_classes: int,
    thresholds: Sequence[float] | None,
    label_vocabulary: Sequence[str] | None,
    classes_for_class_based_metrics: Sequence[Any] | None,
) -> list[int]:
    """The numbers of the classes that have metrics; ValueError where arguments do not fit."""
    if n_classes is None or n_classes < 2:
        raise ValueError(
            f"n_classes must be > 1 for multi-class classification. Given: {n_classes}"
        )
    for threshold in thresholds or ():
        if not 0.0 < threshold < 1.0:
            raise ValueError(f"thresholds must be in (0, 1) range. Given: {threshold}")
    if label_vocabulary is not None:
        if not isinstance(label_vocabulary, (list, tuple)):
            raise ValueError(
                f"label_vocabulary must be a list or tuple. Given type: {type(label_vocabulary)}"
            )
        if len(label_vocabulary) != n_classes:
            raise ValueError(
                f"Length of label_vocabulary must be n_classes ({n_classes}). Given: "
                f"{len(label_vocabulary)}"
            )
    classes = list(classes_for_class_based_metrics or ())
    if classes and isinstance(classes[0], str):
        if not label_vocabulary:
            raise ValueError(
                "label_vocabulary must be provided when classes_for_class_based_metrics are sting."
            )
        classes = [label_vocabulary.index(one) for one in classes]
    for number in classes:
        if not 0 <= number < n_classes:
            raise ValueError(
                f"All classes_for_class_based_metrics must be in range [0, {n_classes - 1}]. "
                f"Given: {number}"
            )
    return classes


@export("contrib.estimator.multi_label_head")
def multi_label_head(
    n_classes: int,
    weight_column: object = None,
    thresholds: Sequence[float] | None = None,
    label_vocabulary: Sequence[str] | None = None,
    loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
    loss_fn: Callable[..., Any] | None = None,
    classes_for_class_based_metrics: Sequence[Any] | None = None,
    name: str | None = None,
) -> MultiLabelHead:
    """A head of classes of which an example may have several.

    Args:
        n_classes: how many there are.
        weight_column: the key or column of examples' weights.
        thresholds: probabilities between 0 and 1 at which more metrics are taken.
        label_vocabulary: the classes' names, if labels are strings in a SparseTensor.
        loss_reduction: how losses become one, of tf.losses.Reduction.
        loss_fn: another loss.
        classes_for_class_based_metrics: classes, by number or name, with metrics of their own.
        name: the head's name.

    Returns:
        A head.

    Raises:
        ValueError: an argument is out of range.
    """
    classes = multi_label_arguments(
        n_classes, thresholds, label_vocabulary, classes_for_class_based_metrics
    )
    return MultiLabelHead(
        *(n_classes, weight_column, thresholds or (), label_vocabulary, loss_reduction, loss_fn),
        *(classes, name),
    )
