# SPDX-License-Identifier: Apache-2.0
"""What is done with labels before connectionist temporal classification."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.scope_functions import name_scope
from ...engine.graph.tensor import SparseTensor, Tensor
from ..public import tf

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike


def size_of(x: Tensor, axis: int) -> Any:
    """A size of a tensor: a number where it is known."""
    known = x.shape[axis].value if x.shape.ndims is not None else None
    return tf.shape(x)[axis] if known is None else known


@export("nn.collapse_repeated")
def collapse_repeated(
    labels: TensorLike, seq_length: TensorLike, name: str | None = None
) -> tuple[Any, Any]:
    """Labels without those that repeat the one before.

    Args:
        labels: [batch, most labels], of any dtype.
        seq_length: a vector, the number of labels of each row.
        name: the scope of the operations.

    Returns:
        (labels, [batch, most labels that are left], padded with zeros; how many of each row are
        left, of the dtype of `seq_length`).

    Example:
        >>> found, lengths = tf.nn.collapse_repeated([[1, 1, 2, 2, 1]], [4])
        >>> tf.Session().run([found, lengths])
        [array([[1, 2]], dtype=int32), array([2], dtype=int32)]
    """
    with name_scope(name, "collapse_repeated_labels"):
        labels = convert_to_tensor(labels, name="labels")
        lengths = convert_to_tensor(seq_length, name="seq_length")
        is_first = tf.ones_like(labels[:, :1], tf.bool)
        kept = tf.concat([is_first, tf.not_equal(labels[:, 1:], labels[:, :-1])], axis=1)
        kept = tf.logical_and(kept, tf.sequence_mask(lengths, maxlen=size_of(labels, 1)))
        counts = tf.reduce_sum(tf.cast(kept, tf.int32), axis=1)
        most = tf.reduce_max(counts)
        room = tf.sequence_mask(counts, maxlen=most)
        shape = tf.stack([size_of(labels, 0), most])
        found = tf.scatter_nd(
            tf.cast(tf.where(room), tf.int32), tf.boolean_mask(labels, kept), shape
        )
        return found, tf.cast(counts, lengths.dtype)


def dense_labels_to_sparse(dense: TensorLike, length: TensorLike) -> SparseTensor:
    """Padded labels, [batch, most labels], and the number of those of each row, as int32."""
    dense, length = convert_to_tensor(dense), convert_to_tensor(length)
    mask = tf.sequence_mask(length, maxlen=tf.shape(dense)[1])
    sizes = tf.shape(dense, out_type=tf.int64)[0], tf.cast(tf.reduce_max(length), tf.int64)
    values = tf.cast(tf.boolean_mask(dense, mask), tf.int32)
    return SparseTensor(tf.where(mask), values, tf.stack(sizes))


@export("nn.ctc_unique_labels")
def ctc_unique_labels(labels: TensorLike, name: str | None = None) -> list[Any]:
    """The different labels of each row, and where those of the row stand among them.

    Args:
        labels: [batch, most labels], padded with zeros.
        name: the scope of the operations.

    Returns:
        (int64 labels, padded with zeros; int32 places), both of the shape of `labels`.

    Example:
        >>> tf.Session().run(tf.nn.ctc_unique_labels([[3, 4, 4, 3]]))
        [array([[3, 4, 0, 0]]), array([[0, 1, 1, 0]], dtype=int32)]
    """
    with name_scope(name, "ctc_unique_labels"):
        labels = convert_to_tensor(labels, name="labels")

        def unique(row: Tensor) -> list[Any]:
            found = tf.unique(row)
            missing = size_of(found.idx, 0) - size_of(found.y, 0)
            return [tf.cast(tf.pad(found.y, [[0, missing]]), tf.int64), found.idx]

        dtypes: Any = [tf.int64, tf.int32]
        made: list[Any] = tf.map_fn(unique, labels, dtype=dtypes)
        return made
