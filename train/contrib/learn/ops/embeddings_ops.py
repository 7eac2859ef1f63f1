# SPDX-License-Identifier: Apache-2.0
"""Rows of a matrix by ids of any shape."""

from __future__ import annotations

from .....engine.api import export
from .....engine.graph.annotations import TensorLike
from .....engine.graph.tensor import Tensor
from .....ops.nn import embedding
from .....ops.public import tf


@export("contrib.learn.ops.embedding_lookup")
def embedding_lookup(params: TensorLike, ids: TensorLike, name: str = "embedding_lookup") -> Tensor:
    """The rows of a matrix that ids name (tf.contrib.learn.ops).

    Args:
        params: [n, ...].
        ids: integers of any shape.
        name: of the scope.

    Returns:
        A tensor of the shape of `ids`, and then of a row.
    """
    with tf.name_scope(name, "embedding_lookup", [params, ids]):
        table, rows = tf.convert_to_tensor(params), tf.convert_to_tensor(ids)
        shape = tf.shape(rows)
        flat = tf.reshape(rows, tf.reduce_prod(shape, keepdims=True))
        found = tf.reshape(
            embedding.embedding_lookup(table, flat, name), tf.concat([shape, [-1]], 0)
        )
        found.set_shape(rows.shape.concatenate(table.shape[1:]))
        return found


@export("contrib.learn.ops.categorical_variable")
def categorical_variable(
    tensor_in: TensorLike, n_classes: int, embedding_size: int, name: str
) -> Tensor:
    """The rows that ids name of a new variable [n_classes, embedding_size]."""
    with tf.variable_scope(name):
        embeddings = tf.get_variable(f"{name}_embeddings", [n_classes, embedding_size])
        return embedding_lookup(embeddings, tensor_in)
