# SPDX-License-Identifier: Apache-2.0
"""Pieces of everyday programs around their networks: places, lengths, masks, tags; see everyday.py.

Of each, the fetches of its runs; every piece is a run of its own, as programs fetch few of them
together.  `tf` is this package.  Imports nothing.
"""

from __future__ import annotations

from typing import Any


def places(tf: Any) -> list[list[Any]]:
    """Rows of words, or of what else has whole numbers, cut, turned and put together."""
    return [[piece] for kind in ("int32", "int64") for piece in _moved(tf, tf.as_dtype(kind))]


def pieces_of_rows(tf: Any) -> list[list[Any]]:
    """The same of numbers."""
    return [[piece] for piece in _moved(tf, tf.float32)]


def _moved(tf: Any, kind: Any) -> list[Any]:
    x, y = (tf.placeholder(kind, [None, None]) for _ in range(2))
    first, last = x[:, :1], x[:, -1]
    count = tf.shape(x)[0]
    return [
        *(tf.transpose(x), x[:, :-1], x[:, 1:], last, tf.reverse(x, [1]), tf.tile(x, [1, 3])),
        *(tf.concat([first, y], 1), tf.concat([x, y], 0), tf.stack([x[:, 0], last], 1)),
        *(tf.fill([count], tf.cast(1, kind)), tf.zeros([count, 7], kind), tf.zeros_like(x)),
        *(tf.reduce_sum(x, 1), tf.reduce_max(x, 1), tf.reduce_min(x), tf.reduce_max(x)),
        *(tf.reshape(tf.tile(x[:, None], [1, 4, 1]), [count * 4, -1]), tf.pad(x, [[0, 0], [1, 2]])),
        *(x + y, x * y, x - 1, tf.maximum(x, y)),
        *(tf.cast(x, to) for to in (tf.float32, tf.int64, tf.int32) if to != kind),
    ]


def choices(tf: Any) -> list[list[Any]]:
    """What is looked up, chosen, counted and compared."""
    x, other = (tf.placeholder(tf.float32, [None, None]) for _ in range(2))
    deep = tf.placeholder(tf.float32, [None, None, None])
    rows, labels = (tf.placeholder(tf.int32, [None]) for _ in range(2))
    words = tf.placeholder(tf.int32, [None, None])
    count, long = tf.shape(x)[0], tf.shape(words)[1]
    mask = tf.sequence_mask(rows, long)
    best = tf.argmax(x, 1)
    right = tf.equal(best, tf.cast(labels, tf.int64))
    pairs = tf.stack([tf.range(tf.shape(rows)[0]), rows], 1)
    ends = tf.stack([tf.range(tf.shape(rows)[0]), rows - 1], 1)
    pieces = [
        *(mask, tf.sequence_mask(rows, long, tf.float32), tf.sequence_mask(rows)),
        *(tf.range(count), tf.one_hot(rows, 10), tf.one_hot(words, 10), tf.gather(x, rows)),
        *(tf.gather_nd(x, pairs), tf.gather_nd(deep, ends), tf.gather(deep, rows, axis=1)),
        *(best, tf.cast(best, tf.int32), right, tf.cast(right, tf.float32), tf.argmin(x, 1)),
        *(
            tf.where(x > 0, x, other),
            tf.where(rows > 0, x, other),
            tf.where(mask, words, 0 * words),
        ),
        *(tf.reduce_sum(tf.cast(tf.not_equal(words, 0), tf.int32), 1), tf.not_equal(words, 0)),
        *(tf.reduce_all(tf.equal(rows, labels)), tf.reduce_any(tf.equal(words, 2), 1)),
        *(tf.less(rows, labels), tf.logical_and(mask, tf.greater(words, 0))),
        *(tf.reverse_sequence(deep, rows, 1), tf.reverse_sequence(words, rows, 1)),
        *(tf.transpose(deep, [1, 0, 2]), deep[:, -1], deep[:, 0], deep[:, :-1], deep[:, 1:]),
        *(tf.cumsum(x, 1), tf.nn.softmax(x), tf.nn.log_softmax(x), tf.reduce_logsumexp(x, 1)),
        *(deep * tf.cast(mask, tf.float32)[..., None], x * tf.cast(rows, tf.float32)[:, None]),
        *(tf.unstack(tf.placeholder(tf.float32, [None, 3]), axis=1)[1], tf.squeeze(deep[:, :1], 1)),
    ]
    share = tf.reduce_mean(tf.cast(right, tf.float32))
    seen = tf.cast(mask, tf.float32)
    every = tf.cast(tf.equal(tf.cast(tf.argmax(deep, 2), tf.int32), words), tf.float32)
    return [*([piece] for piece in pieces), [share], [tf.reduce_sum(every * seen)], [every]]


def tags(tf: Any) -> list[list[Any]]:
    """Words read both ways, whose tags depend on each other."""
    runs = []
    words, marks = (tf.placeholder(tf.int32, [None, None]) for _ in range(2))
    lengths = tf.placeholder(tf.int32, [None])
    x = tf.nn.embedding_lookup(tf.get_variable("table", [300, 40]), words)
    cells = (tf.nn.rnn_cell.LSTMCell(40) for _ in range(2))
    both, _ = tf.nn.bidirectional_dynamic_rnn(*cells, x, lengths, dtype=tf.float32)
    logits = tf.layers.dense(tf.nn.dropout(tf.concat(both, 2), 0.5), 9)
    likely, between = tf.contrib.crf.crf_log_likelihood(logits, marks, lengths)
    found, score = tf.contrib.crf.crf_decode(logits, between, lengths)
    loss = tf.reduce_mean(-likely)
    optimizer = tf.train.AdamOptimizer(1e-3)
    gradients, variables = zip(*optimizer.compute_gradients(loss), strict=True)
    short, _ = tf.clip_by_global_norm(gradients, 5.0)
    runs.append([optimizer.apply_gradients(zip(short, variables, strict=True)), loss])
    runs.append([optimizer.minimize(loss), loss, found])
    return [*runs, [found, score], [logits]]


PIECES = places, pieces_of_rows, choices, tags
