# SPDX-License-Identifier: Apache-2.0
"""Distinct integers are found within a plan, which goes on with as many as there are."""

from __future__ import annotations

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings

pytestmark = pytest.mark.cpu


def expected(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    values, first, number, counts = np.unique(
        x, return_index=True, return_inverse=True, return_counts=True
    )
    order = np.argsort(first)
    return values[order], np.argsort(order)[number], counts[order]


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_distinct_numbers_are_numpys(dtype: str) -> None:
    rng = np.random.default_rng(0)
    with settings.override(jit="always"), tf.Session() as session:
        fed = tf.placeholder(dtype, [None])
        fetches = tf.unique_with_counts(fed)
        far = np.array([2**31 - 1, -(2**31), 0, 2**31 - 1, 1 << 20], dtype)
        for x in (rng.integers(-9, 20, 50), rng.integers(0, 10**9, 40), far, [7, 7], [5], []):
            x = np.asarray(x, dtype)
            for one, other in zip(session.run(fetches, {fed: x}), expected(x), strict=True):
                np.testing.assert_array_equal(one, other)


def test_sparse_updates_of_rows_that_repeat_are_one_plan() -> None:
    rng = np.random.default_rng(1)
    batches = [rng.integers(0, 30, 16) for _ in range(4)]
    found = []
    for mode in ("never", "always"):
        with tf.Graph().as_default(), settings.override(jit=mode), tf.Session() as session:
            table = tf.Variable(np.ones((30, 4), np.float32))
            ids = tf.placeholder(tf.int64, [None])
            loss = tf.reduce_sum(tf.square(tf.nn.embedding_lookup(table, ids) - 3.0))
            step = tf.train.AdagradOptimizer(0.5).minimize(loss)
            session.run(tf.global_variables_initializer())
            for batch in batches:
                session.run(step, {ids: batch})
            found.append(session.run(table))
            if mode == "always":
                report = session.explain(step, {ids: batches[0]})
    np.testing.assert_allclose(*found, rtol=1e-5)
    assert not report.follows and " host " not in str(report)


def test_masks_and_segments_are_one_plan() -> None:
    found = []
    x = np.random.default_rng(2).normal(size=(9, 3)).astype(np.float32)
    for mode in ("never", "always"):
        with tf.Graph().as_default(), settings.override(jit=mode), tf.Session() as session:
            fed, ids = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.int32, [None])
            kept = tf.boolean_mask(fed, fed[:, 0] > 0)
            sums = tf.segment_sum(fed, ids)
            loss = tf.reduce_sum(tf.square(kept)) + tf.reduce_sum(tf.square(sums))
            fetches = [kept, sums, loss, *tf.gradients(loss, fed)]
            for rows, last in ((x, 4), (-np.abs(x), 2), (x[:5], 1)):
                feeds = {fed: rows, ids: np.sort(np.arange(len(rows)) % (last + 1))}
                found.append((mode, session.run(fetches, feeds)))
            if mode == "always":
                assert not session.explain(fetches, feeds).follows
    half = len(found) // 2
    for (_, one), (_, other) in zip(found[:half], found[half:], strict=True):
        for expected_, given in zip(one, other, strict=True):
            np.testing.assert_allclose(given, expected_, rtol=1e-5, atol=1e-6)
