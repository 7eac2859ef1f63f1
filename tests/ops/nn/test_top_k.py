# SPDX-License-Identifier: Apache-2.0
"""The largest of rows with ties, NaN and infinities: compiled as by the reference kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings

pytestmark = pytest.mark.cpu


def rows(dtype, length):
    random = np.random.default_rng(length)
    low, high = (0, 255) if dtype == np.uint8 else (-5, 5)
    x = random.integers(low, high, (60, length)).astype(dtype)
    if x.dtype.kind == "f":
        x[random.random(x.shape) < 0.05] = np.nan
        x[random.random(x.shape) < 0.02] = np.inf
        x[3] = np.nan
    return x


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.uint8, np.int64])
def test_largest_elements_of_rows(dtype):
    for length, count in ((9, 3), (50, 49), (5, 1), (40, 2), (5, 5), (17, 17), (300, 300), (4, 0)):
        x = rows(dtype, length)
        given = tf.placeholder(tf.as_dtype(dtype), [None, length])
        top = tf.nn.top_k(given, count)
        found = []
        for mode in ("never", "always"):
            with settings.override(jit=mode), tf.Session() as session:
                found.append(session.run(top, {given: x}))
        np.testing.assert_array_equal(found[1].indices, found[0].indices)
        np.testing.assert_array_equal(found[1].values, found[0].values)


def test_one_plan_serves_all_counts():
    x, count = tf.placeholder(tf.float32, [None, None]), tf.placeholder(tf.int32, [])
    top = tf.nn.top_k(tf.exp(x), count)
    with settings.override(jit="always"), tf.Session() as session:
        for length, kept in ((20, 3), (30, 7), (9, 8), (9, 1), (9, 9), (9, 0)):
            values = rows(np.float32, length)
            values = np.where(np.isfinite(values), values, 0)
            found = session.run(top, {x: values, count: kept})
            want = -np.sort(-values, axis=-1)[:, :kept]
            np.testing.assert_allclose(found.values, np.exp(want), rtol=1e-6)


@pytest.mark.parametrize("kind", ["up", "down", "equal", "organ"])
def test_whole_rows_that_are_hard_to_sort(kind):
    up = np.arange(2000, dtype=np.float32)
    row = {"up": up, "down": -up, "equal": 0 * up, "organ": np.abs(up - 1000)}[kind]
    x = tf.placeholder(tf.float32, [None, None])
    with settings.override(jit="always"), tf.Session() as session:
        order, found = session.run([tf.argsort(x), tf.sort(x)], {x: [row, row[::-1]]})
        assert "host" not in str(session.explain(tf.sort(x), {x: [row]}))
    np.testing.assert_array_equal(found, np.sort([row, row]))
    np.testing.assert_array_equal(order, np.argsort([row, row[::-1]], kind="stable"))


def test_a_count_that_the_program_computes_is_learnt_on_the_way():
    """Hard examples: three times as many as there are positive ones; once there are none."""
    x, flags = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.bool, [None])
    weight = tf.Variable(2.0)
    losses = tf.square(x) * weight
    some, others = tf.boolean_mask(losses, flags), tf.boolean_mask(losses, ~flags)
    hard, _ = tf.nn.top_k(others, tf.minimum(3 * tf.size(some), tf.size(others)))
    total = tf.reduce_sum(some) + tf.reduce_sum(hard)
    step = tf.train.GradientDescentOptimizer(0.01).minimize(total)
    random = np.random.default_rng(1)
    feeds = [
        {x: random.standard_normal(n), flags: np.arange(n) % of == 0}
        for n, of in ((9, 4), (12, 5), (20, 7), (9, 2), (30, 9))
    ]
    assert_alike([total, step], feeds, "host", "piece by piece")
    none = {x: [1.0, 2.0], flags: [False, False]}
    assert_alike([total], [feeds[0], none, feeds[1], none])


def assert_alike(fetches, feeds, *absent):
    """Runs of all feeds in turn give the same compiled, with none of these words in the plans."""
    found = []
    for mode in ("never", "always"):
        with settings.override(jit=mode), tf.Session() as session:
            session.run(tf.global_variables_initializer())
            found.append([session.run(fetches, feed)[0] for feed in feeds])
            text = str(session.explain(fetches, feeds[0])) if mode == "always" else ""
    np.testing.assert_allclose(found[1], found[0], rtol=1e-5)
    assert not [word for word in absent if word in text]


def test_targets_among_the_largest():
    random = np.random.default_rng(5)
    scores = random.integers(-3, 3, (50, 8)).astype(np.float32)
    scores[2, 3], scores[4, 1] = np.nan, np.inf
    targets = random.integers(-1, 9, 50).astype(np.int32)
    given = tf.placeholder(tf.float32, [None, 8]), tf.placeholder(tf.int32, [None])
    for count in (0, 1, 3, 8):
        inside = tf.nn.in_top_k(*given, count)
        found = []
        for mode in ("never", "always"):
            with settings.override(jit=mode), tf.Session() as session:
                found.append(session.run(inside, dict(zip(given, (scores, targets)))))
        np.testing.assert_array_equal(found[1], found[0])


@pytest.mark.parametrize(
    "rows, n, known, at_run",
    [
        ([1.0, 2.0], -7, "must be non-negative but is -7", "Need n >= 0, got -7"),
        (3.0, 0, "at least rank 1 but is rank 0", r"Input must be >= 1-D, got shape \[\]"),
        ([1.0, 2.0], 2, "last dimension > n = 2 but is 2", "at least n.1 columns"),
        ([1.0, 2.0], [1], "must be scalar but has rank 1", r"N must be scalar, got shape \[1\]"),
    ],
)
def test_nth_values_that_there_are_not(rows: Any, n: Any, known: str, at_run: str) -> None:
    with pytest.raises(ValueError, match=known):
        tf.raw_ops.NthElement(input=rows, n=n)
    x, number = tf.placeholder(tf.float32), tf.placeholder(tf.int32)
    node = tf.raw_ops.NthElement(input=x, n=number)
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=at_run):
        session.run(node, {x: rows, number: n})


def test_more_than_there_are_is_refused_before_memory_is_looked_for():
    x, k = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.int32, [])
    top = tf.nn.top_k(x, k).values
    with tf.Session() as session:
        for _ in range(2):
            assert session.run(top, {x: np.ones((2, 3)), k: 2}).shape == (2, 2)
            with pytest.raises(tf.errors.InvalidArgumentError, match="at least k columns"):
                session.run(top, {x: np.ones((2, 3)), k: 2**31 - 1})
