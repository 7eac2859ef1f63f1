# SPDX-License-Identifier: Apache-2.0
"""Everyday programs whose rows of tables are looked up, and updated alone; see everyday.py.

`tf` is this package.  Imports nothing but what such programs are made with.
"""

from __future__ import annotations

from typing import Any

from .everyday_losses import optimizers


def lookups(tf: Any) -> list[list[Any]]:
    """Rows and single numbers by ids of both kinds, with every optimizer."""
    runs, wanted = [], tf.placeholder(tf.float32, [None])
    others = {
        "ftrl": tf.train.FtrlOptimizer(0.1),
        "proximal": tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.1),
        "lazy": tf.contrib.opt.LazyAdamOptimizer(1e-3),
    }
    for kind in ("int32", "int64"):
        ids = tf.placeholder(kind, [None])
        for number, optimizer in enumerate({**optimizers(tf), **others}.values()):
            with tf.variable_scope(f"{kind}_{number}"):
                rows = tf.nn.embedding_lookup(tf.get_variable("rows", [300, 24]), ids)
                single = tf.nn.embedding_lookup(tf.get_variable("single", [300]), ids)
            loss = tf.reduce_mean(tf.square(tf.reduce_sum(rows, 1) + single - wanted))
            runs.append([optimizer.minimize(loss), loss])
    return runs


def written(tf: Any) -> list[list[Any]]:
    """Rows that are put, added and taken away."""
    runs, table = [], tf.get_variable("rows", [300, 24], trainable=False)
    x = tf.placeholder(tf.float32, [None, 24])
    for kind in ("int32", "int64"):
        ids = tf.placeholder(kind, [None])
        for write in (tf.scatter_update, tf.scatter_add, tf.scatter_sub):
            runs.append([write(table, ids, x)])
        runs.append([tf.scatter_nd(ids[:, None], x, tf.cast([300, 24], kind))])
    return runs


def pairs(tf: Any) -> list[list[Any]]:
    """Users and things, of which some are liked better than others."""
    users, liked, others = (tf.placeholder(tf.int64, [None]) for _ in range(3))
    p, q, b = (tf.get_variable(n, s) for n, s in (("p", [300, 24]), ("q", [300, 24]), ("b", [300])))
    mine = tf.nn.embedding_lookup(p, users)
    scores = [
        tf.reduce_sum(mine * tf.nn.embedding_lookup(q, things), 1)
        + tf.nn.embedding_lookup(b, things)
        for things in (liked, others)
    ]
    loss = -tf.reduce_mean(tf.log_sigmoid(scores[0] - scores[1]))
    loss += 1e-4 * sum(tf.nn.l2_loss(x) for x in (mine, *scores))
    steps = [optimizer.minimize(loss) for optimizer in optimizers(tf).values()]
    return [*([step, loss] for step in steps), [scores[0]]]


def features(tf: Any) -> list[list[Any]]:
    """Features of which each example has some, as wide and deep models have them."""
    runs, labels = [], tf.placeholder(tf.float32, [None, 1])
    ids, weights = tf.sparse_placeholder(tf.int64), tf.sparse_placeholder(tf.float32)
    for combiner in ("sum", "mean", "sqrtn"):
        for held in (None, weights):
            with tf.variable_scope(f"{combiner}_{held is None}"):
                wide, deep = tf.get_variable("wide", [300, 1]), tf.get_variable("deep", [300, 8])
                rows = tf.nn.embedding_lookup_sparse(deep, ids, held, combiner=combiner)
                logits = tf.nn.embedding_lookup_sparse(wide, ids, held, combiner=combiner)
                logits += tf.get_variable("bias", [1])
                logits += tf.layers.dense(tf.layers.dense(rows, 16, tf.nn.relu), 1)
            costs = tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)
            loss = tf.reduce_mean(costs)
            for optimizer in (tf.train.FtrlOptimizer(0.1), tf.train.AdagradOptimizer(0.1)):
                runs.append([optimizer.minimize(loss), loss])
            runs.append([tf.sigmoid(logits)])
    safe = tf.nn.safe_embedding_lookup_sparse(tf.get_variable("safe", [300, 8]), ids)
    return [*runs, [safe], [tf.train.AdamOptimizer().minimize(tf.reduce_mean(tf.square(safe)))]]


SPARSE = lookups, written, pairs, features
