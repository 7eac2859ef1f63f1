# SPDX-License-Identifier: Apache-2.0
"""Sets of labels against the classes that are ranked highest: counts for metrics at k.

labels are int64, dense or sparse, [..., num_labels] or without the last dimension; predictions_idx
are int64, [..., k].
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...engine.graph.convert import convert_to_tensor_or_sparse_tensor
from ...engine.graph.graph import control_dependencies, name_scope
from ...engine.graph.tensor import SparseTensor
from ...engine.types import dtypes
from ..array.sets import set_difference, set_intersection, set_size
from ..math.reduce_gradient import reduced_shape
from ..nn.weights import assert_broadcastable
from ..public import tf
from .state import metric_variable

if TYPE_CHECKING:
    from ...engine.graph.annotations import SparseLike, TensorLike
    from ...engine.graph.tensor import Tensor


def at_k_name(name: str, k: int | None = None, class_id: int | None = None) -> str:
    """The default name of a metric at k, of all classes or one."""
    name = f"{name}_at_k" if k is None else f"{name}_at_{k:d}"
    return name if class_id is None else f"{name}_class{class_id:d}"


def expanded_labels(labels: Any, predictions: Any) -> Any:
    """Labels with the rank of the predictions."""
    with name_scope(None, "expand_labels", (labels, predictions)) as scope:
        labels = convert_to_tensor_or_sparse_tensor(labels)
        if isinstance(labels, SparseTensor):
            return tf.cond(
                tf.equal(tf.rank(predictions), tf.size(labels.dense_shape) + 1),
                lambda: tf.sparse_reshape(
                    labels, shape=tf.concat((labels.dense_shape, (1,)), 0), name=scope
                ),
                lambda: labels,
            )
        given, wanted = labels.get_shape().ndims, predictions.get_shape().ndims
        if given is None or wanted is None:
            return tf.cond(
                tf.equal(tf.rank(predictions), tf.rank(labels) + 1),
                lambda: tf.expand_dims(labels, -1, name=scope),
                lambda: labels,
            )
        if wanted == given:
            return labels
        if wanted == given + 1:
            return tf.expand_dims(labels, -1, name=scope)
        raise ValueError(
            f"Unexpected labels shape {labels.get_shape()} for predictions shape "
            f"{predictions.get_shape()}."
        )


def _only(ids: SparseLike | TensorLike, class_id: int) -> Any:
    """The ids that are one class, as a sparse tensor."""
    ids = convert_to_tensor_or_sparse_tensor(ids)
    if isinstance(ids, SparseTensor):
        return tf.sparse_retain(ids, tf.equal(ids.values, class_id))
    shape = tf.shape(ids, out_type=dtypes.int64)
    last = tf.size(shape) - 1
    # A set of one class for each row; what it has in common with the row is the class, or nothing.
    wanted = tf.fill(reduced_shape(shape, tf.reshape(last, [1])), tf.cast(class_id, dtypes.int64))
    found = set_intersection(wanted, ids)
    return SparseTensor(indices=found.indices, values=found.values, dense_shape=shape)


def _sizes(
    kind: str,
    labels: SparseLike | TensorLike,
    predictions_idx: Tensor,
    class_id: int | None,
    weights: Tensor | None,
    name: str | None = None,
) -> Any:
    """How many true positives (or false ones, or false negatives) each row has, as float64."""
    with name_scope(name, f"{kind}s", (predictions_idx, labels, weights)):
        if class_id is not None:
            labels = _only(labels, class_id)
            predictions_idx = _only(predictions_idx, class_id)
        if kind == "true_positive":
            found = set_intersection(predictions_idx, labels)
        else:
            is_positive = kind == "false_positive"
            found = set_difference(predictions_idx, labels, aminusb=is_positive)
        sizes = tf.cast(set_size(found), dtypes.float64)
        if weights is not None:
            with control_dependencies((assert_broadcastable(weights, sizes),)):
                sizes = tf.multiply(sizes, tf.cast(weights, dtypes.float64))
        return sizes


def streaming(
    kind: str,
    labels: Any,
    predictions_idx: Any,
    k: int | None,
    class_id: Any,
    weights: Any,
) -> tuple[Any, Any]:
    """The variable and the update of a count over batches."""
    inputs = (predictions_idx, labels, weights)
    with name_scope(None, at_k_name(kind, k, class_id), inputs) as scope:
        sizes = _sizes(kind, labels, predictions_idx, class_id, weights)
        batch = tf.cast(tf.reduce_sum(sizes), dtypes.float64)
        total = metric_variable([], dtypes.float64, name=scope)
        return total, tf.assign_add(total, batch, name="update")


def _repeated(tensor: SparseLike | TensorLike, multiple: int, name: str) -> Any:
    """Each row (last dimension) `multiple` times, in a new dimension before the last."""
    with name_scope(name, "expand_and_tile", (tensor, multiple, -1)) as scope:
        tensor = convert_to_tensor_or_sparse_tensor(tensor)
        if isinstance(tensor, SparseTensor):
            return _repeated_sparse(tensor, multiple, scope)
        expanded = tf.expand_dims(tensor, -2, name="expand")
        if multiple == 1:
            return expanded
        ones = tf.ones_like(tf.shape(tensor))
        multiples = tf.concat((ones[:-1], (multiple,), ones[-1:]), 0, name="multiples")
        return tf.tile(expanded, multiples, name=scope)


def _repeated_sparse(tensor: SparseTensor, multiple: int, scope: str) -> SparseTensor:
    sizes = tensor.dense_shape
    last = tf.reshape(tf.size(sizes) + -1, [1])
    parts = (tf.slice(sizes, [0], last), [1], tf.slice(sizes, last, [-1]))
    shape = tf.concat(parts, 0, name="expanded_shape")
    expanded = tf.sparse_reshape(tensor, shape=shape, name="expand")
    return expanded if multiple == 1 else tf.sparse_concat(-2, [expanded] * multiple, name=scope)


def _num_relevant(labels: SparseLike | TensorLike, k: int) -> Tensor:
    """How many labels each row has, at most k; dense labels below 0 do not count."""
    with name_scope(None, "num_relevant", (labels,)) as scope:
        labels = convert_to_tensor_or_sparse_tensor(labels)
        if isinstance(labels, SparseTensor):
            return tf.minimum(set_size(labels), k, name=scope)
        is_label = tf.greater_equal(labels, 0)
        ones = tf.where_v2(is_label, tf.ones_like(labels), tf.zeros_like(labels))
        return tf.minimum(tf.reduce_sum(ones, axis=-1), k, name=scope)


def average_precision(labels: SparseLike | TensorLike, predictions_idx: Any) -> Any:
    """The mean over a row's labels of the precision at the rank where each is found."""
    with name_scope(None, "average_precision", (predictions_idx, labels)) as scope:
        predictions_idx = tf.cast(predictions_idx, dtypes.int64, name="predictions_idx")
        if predictions_idx.get_shape().ndims == 0:
            raise ValueError("The rank of predictions_idx must be at least 1.")
        k = predictions_idx.get_shape().as_list()[-1]
        if k is None:
            raise ValueError("The last dimension of predictions_idx must be set.")
        labels = expanded_labels(labels, predictions_idx)
        # Each of the k ranks is a row with one prediction, against all labels of its row: 1 where
        # it is one of them.
        one_each = tf.expand_dims(predictions_idx, -1, name="predictions_idx_per_k")
        per_k = _repeated(labels, k, "labels_per_k")
        relevant = _sizes("true_positive", per_k, one_each, None, None, "relevant_per_k")
        found = tf.cumsum(relevant, axis=-1, name="tp_per_k")
        retrieved = tf.cumsum(tf.ones_like(relevant), axis=-1, name="retrieved_per_k")
        precision = tf.div(
            tf.cast(found, dtypes.float64),
            tf.cast(retrieved, dtypes.float64),
            name="precision_per_k",
        )
        relevant_precision = tf.multiply(
            precision, tf.cast(relevant, dtypes.float64), name="relevant_precision_per_k"
        )
        total = tf.reduce_sum(relevant_precision, axis=(-1,), name="precision_sum")
        num_relevant = tf.cast(_num_relevant(labels, k), dtypes.float64)
        return tf.div(total, num_relevant, name=scope)
