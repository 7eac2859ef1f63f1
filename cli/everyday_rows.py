# SPDX-License-Identifier: Apache-2.0
"""Everyday programs of rows of all kinds: chosen and joined, counted, and by the thousand in order;
and of random numbers that have seeds of their own; see everyday.py.

`tf` is this package.  Imports nothing.
"""

from __future__ import annotations

from typing import Any

_IDS = ("int32", "int64")
_KINDS = ("float32", "float64", *_IDS)


def joined(tf: Any) -> list[list[Any]]:
    """Rows that are told apart, and put together again."""
    runs = []
    parts = tf.placeholder(tf.int32, [None])
    for kind in (*_KINDS, "bool", "uint8"):
        rows, single = tf.placeholder(kind, [None, 24]), tf.placeholder(kind, [None])
        runs.append([tf.dynamic_stitch([parts, parts], [rows, rows])])
        runs += [tf.dynamic_partition(x, parts, 2) for x in (rows, single)]
    for kind in ("float32", "float64"):
        for x in (tf.placeholder(kind, [None, 24]), tf.placeholder(kind, [None])):
            first, second = tf.dynamic_partition(x, parts, 2)
            runs.append(tf.gradients(tf.reduce_sum(first**2) + tf.reduce_sum(second), x))
    return runs


def filled(tf: Any) -> list[list[Any]]:
    """Tables of which few places hold something."""
    runs = []
    for kind in _IDS:
        at, pairs = tf.placeholder(kind, [None, 1]), tf.placeholder(kind, [None, 2])
        short, long = tf.cast([300], kind), tf.cast([300, 24], kind)
        for of in (*_KINDS, "uint8"):
            rows, single = tf.placeholder(of, [None, 24]), tf.placeholder(of, [None])
            runs.append([tf.sparse_to_dense(pairs, long, single, validate_indices=False)])
            runs.append([tf.scatter_nd(at, single, short)])
            runs.append([tf.scatter_nd(at, rows, long)])
    labels = tf.placeholder(tf.int64, [None])
    return [*runs, [tf.confusion_matrix(labels, labels, 10)]]


def segments(tf: Any) -> list[list[Any]]:
    """Rows that belong together, whole numbers among them."""
    runs = []
    for kind in _IDS:
        ids = tf.placeholder(kind, [None])
        for of in _KINDS:
            for x in (tf.placeholder(of, [None, 24]), tf.placeholder(of, [None])):
                for name in ("sum", "max", "min", "prod"):
                    runs.append([getattr(tf, f"segment_{name}")(x, ids)])
                    made = getattr(tf, f"unsorted_segment_{name}")(x, ids, 10)
                    runs.append([made])
                    if (of, name) == ("float32", "prod"):
                        runs.append(tf.gradients(tf.reduce_sum(made), x))
    return runs


def ordered(tf: Any) -> list[list[Any]]:
    """The largest of rows, totals on the way, and what differs."""
    runs = []
    for of in _KINDS:
        x, single = tf.placeholder(of, [None, 24]), tf.placeholder(of, [None])
        runs += [tf.nn.top_k(x, 3), [tf.sort(x)], [tf.cumsum(x, 1)], [tf.cumprod(x, 0)]]
        runs += [tf.unique_with_counts(single, out_idx=kind) for kind in _IDS]
    return runs


def seeded(tf: Any) -> list[list[Any]]:
    """Random numbers that depend on what they are told alone."""
    seed, runs = tf.placeholder(tf.int32, [2]), []
    for kind in ("float32", "float64"):
        for name in ("uniform", "normal", "truncated_normal"):
            runs.append([getattr(tf.random, f"stateless_{name}")([300, 24], seed, dtype=kind)])
    runs.append([tf.random.stateless_uniform([300], seed, 0, 10, tf.int32)])
    logits = tf.placeholder(tf.float32, [None, 24])
    return [*runs, [tf.random.stateless_categorical(logits, 3, seed)]]


ROWS = joined, filled, segments, ordered, seeded
