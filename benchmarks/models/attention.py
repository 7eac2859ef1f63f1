# SPDX-License-Identifier: Apache-2.0
"""Blocks of self-attention, for the encoder and the decoder."""

from __future__ import annotations

import math
from typing import Any

from .parts import dense, gelu, layer_norm, seed_of, weights


def embedded(tf: Any, tokens: Any, vocabulary: int, length: int, units: int) -> tuple[Any, Any]:
    """The table of a vocabulary, and tokens as its rows plus a learned vector of their place."""
    table = weights(tf, "tokens", [vocabulary, units], 0.02)
    places = weights(tf, "places", [length, units], 0.02)
    return table, tf.nn.embedding_lookup(table, tokens) + places


def attend(tf: Any, x: Any, heads: int, mask: Any) -> Any:
    """Attention of [batch, length, units] to itself; `mask` is added to the scores."""
    length, units = x.get_shape().as_list()[1:]
    flat = dense(tf, tf.reshape(x, [-1, units]), 3 * units, "qkv")
    split = tf.reshape(flat, [-1, length, 3, heads, units // heads])
    q, k, v = tf.unstack(tf.transpose(split, [2, 0, 3, 1, 4]))
    scores = tf.matmul(q, k, transpose_b=True) * (1 / math.sqrt(units // heads))
    joined = tf.matmul(tf.nn.softmax(scores if mask is None else scores + mask), v)
    joined = tf.reshape(tf.transpose(joined, [0, 2, 1, 3]), [-1, units])
    return tf.reshape(dense(tf, joined, units, "joined"), [-1, length, units])


def block(tf: Any, x: Any, heads: int, mask: Any, name: str, dropped: float = 0.0) -> Any:
    """Attention and two dense layers, each normalized before and added to what came in."""
    length, units = x.get_shape().as_list()[1:]

    def drop(y: Any, what: str) -> Any:
        return tf.nn.dropout(y, rate=dropped, seed=seed_of(tf, what)) if dropped else y

    with tf.variable_scope(name):
        x = x + drop(attend(tf, layer_norm(tf, x, "norm1"), heads, mask), "drop1")
        h = tf.reshape(layer_norm(tf, x, "norm2"), [-1, units])
        h = gelu(tf, dense(tf, h, 4 * units, "wide"))
        h = tf.reshape(dense(tf, h, units, "narrow"), [-1, length, units])
        return x + drop(h, "drop2")
