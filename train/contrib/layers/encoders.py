# SPDX-License-Identifier: Apache-2.0
"""Embeddings of sequences of ids."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.graph.tensor import SparseTensor
from ....ops.nn.embedding import embedding_lookup
from ....ops.public import tf
from ..framework import variables
from .embedding_ops import embedding_lookup_unique, safe_embedding_lookup_sparse
from .sparse_ops import dense_to_sparse_tensor

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike
    from .annotations import Function, Scope


@export("contrib.layers.bow_encoder")
def bow_encoder(
    ids: Any,
    vocab_size: int,
    embed_dim: int,
    sparse_lookup: bool = True,
    initializer: Function | None = None,
    regularizer: Function | None = None,
    trainable: bool = True,
    scope: Scope | None = None,
    reuse: bool | None = None,
) -> Any:
    """The mean of the embeddings of each row's ids.

    Args:
        ids: [batch, length], dense or sparse.
        vocab_size: how many ids there are.
        embed_dim: the size of an embedding.
        sparse_lookup: whether zeros in dense ids stand for none.
        initializer, regularizer: of the embeddings.
        trainable: whether they are to be trained.
        scope: the variable scope.
        reuse: whether variables are found instead of made.

    Returns:
        [batch, embed_dim].

    Raises:
        ValueError: a size is missing.
        TypeError: the ids are sparse though `sparse_lookup` is false.
    """
    if not vocab_size or not embed_dim:
        raise ValueError("Must specify vocab size and embedding dimension")
    with tf.variable_scope(scope, "bow_encoder", [ids], reuse=reuse):
        embeddings = variables.model_variable(
            "embeddings",
            shape=[vocab_size, embed_dim],
            initializer=initializer,
            regularizer=regularizer,
            trainable=trainable,
        )
        is_sparse = isinstance(ids, SparseTensor)
        if sparse_lookup:
            sparse = ids if is_sparse else dense_to_sparse_tensor(ids)
            return safe_embedding_lookup_sparse([embeddings], sparse, combiner="mean", default_id=0)
        if is_sparse:
            raise TypeError("ids are expected to be dense Tensor, got: %s", ids)
        return tf.reduce_mean(embedding_lookup(embeddings, ids), axis=1)


@export("contrib.layers.embed_sequence")
def embed_sequence(
    ids: TensorLike,
    vocab_size: int | None = None,
    embed_dim: int | None = None,
    unique: bool = False,
    initializer: Function | None = None,
    regularizer: Function | None = None,
    trainable: bool = True,
    scope: Scope | None = None,
    reuse: bool | None = None,
) -> Any:
    """The embeddings of ids.

    Args:
        ids: integers.
        vocab_size: how many ids there are.
        embed_dim: the size of an embedding.
        unique: whether ids that occur more than once are looked up once.
        initializer, regularizer: of the embeddings.
        trainable: whether they are to be trained.
        scope: the variable scope, "EmbedSequence" if None.
        reuse: whether variables are found instead of made.

    Returns:
        A tensor with one axis more than `ids`.

    Raises:
        ValueError: a size is missing where variables are made.

    Example:
        >>> print(tf.contrib.layers.embed_sequence([[1, 2, 3]], vocab_size=10, embed_dim=4).shape)
        (1, 3, 4)
    """
    if not (reuse or (vocab_size and embed_dim)):
        raise ValueError(
            "Must specify vocab size and embedding dimension when not reusing. Got vocab_size="
            f"{vocab_size} and embed_dim={embed_dim}"
        )
    with tf.variable_scope(scope, "EmbedSequence", [ids], reuse=reuse):
        is_found = (reuse and vocab_size is None) or embed_dim is None
        embeddings = variables.model_variable(
            "embeddings",
            shape=None if is_found else [vocab_size, embed_dim],
            initializer=initializer,
            regularizer=regularizer,
            trainable=trainable,
        )
        look_up = embedding_lookup_unique if unique else embedding_lookup
        return look_up(embeddings, ids)
