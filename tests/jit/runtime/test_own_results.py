# SPDX-License-Identifier: Apache-2.0
"""Large results are computed in memory that the caller keeps; nothing of it is used again."""

from __future__ import annotations

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.jit.runtime import own_memory

pytestmark = pytest.mark.cpu
LARGE = np.linspace(-1, 1, 40000, dtype=np.float32).reshape(400, 100)


def test_results_stay_as_they_are_while_runs_go_on():
    x = tf.placeholder(tf.float32, [None, 100])
    doubled = tf.nn.relu(x) * 2
    with tf.Session() as session:
        first = session.run(doubled, {x: LARGE})
        kept = first.copy()
        second = session.run(doubled, {x: -LARGE})
        first[:] = 7
        third = session.run(doubled, {x: -LARGE})
    assert not np.shares_memory(first, second) and not np.shares_memory(second, third)
    np.testing.assert_array_equal(kept, np.maximum(LARGE, 0) * 2)
    np.testing.assert_array_equal(second, third)


def test_views_of_one_result_have_memory_each():
    x = tf.placeholder(tf.float32, [None, 100])
    doubled = x * 2
    flat, top = tf.reshape(doubled, [-1]), doubled[:390]
    with tf.Session() as session:
        for _ in range(2):
            results = session.run([flat, doubled, top], {x: LARGE})
            wanted = LARGE * 2
            for result, array in zip(results, (wanted.ravel(), wanted, wanted[:390])):
                np.testing.assert_array_equal(result, array)
            pairs = [(a, b) for i, a in enumerate(results) for b in results[:i]]
            assert not any(np.shares_memory(a, b) for a, b in pairs)


def test_a_result_that_a_reference_kernel_reads_and_another_that_it_gives():
    """Steps on the host see the memory of this run, before and behind them."""
    x = tf.placeholder(tf.float32, [None, 100])
    doubled = x * 2
    (on_host,) = tf.py_func(lambda a: [a + 1], [doubled], [tf.float32], stateful=False)
    on_host.set_shape([400, 100])
    behind = on_host * 3
    with tf.Session() as session:
        for sign in (1, -1, 1):
            results = session.run([doubled, on_host, behind], {x: sign * LARGE})
            want = sign * LARGE * 2
            for result, array in zip(results, (want, want + 1, (want + 1) * 3)):
                np.testing.assert_array_equal(result, array)


def test_a_run_that_fails_leaves_nothing_behind():
    x, where = tf.placeholder(tf.float32, [None, 100]), tf.placeholder(tf.int32, [None])
    rows = tf.gather(x * 2, where)
    places = np.arange(400, dtype=np.int32)
    with tf.Session() as session:
        want = session.run(rows, {x: LARGE, where: places})
        with pytest.raises(tf.errors.InvalidArgumentError, match="is not in"):
            session.run(rows, {x: LARGE, where: places + 1})
        np.testing.assert_array_equal(session.run(rows, {x: LARGE, where: places}), want)


def test_small_results_are_copied(monkeypatch):
    """The limit is a matter of speed: results are the same on both sides of it."""
    x = tf.placeholder(tf.float32, [None, 100])
    exp = tf.exp(x)
    for limit in (0, 1 << 30):
        monkeypatch.setattr(own_memory, "_LEAST", limit)
        with tf.Session() as session:
            found = [session.run([exp, exp + 1], {x: LARGE[:n]}) for n in (1, 3, 400)]
        for n, (one, other) in zip((1, 3, 400), found):
            np.testing.assert_allclose(one, np.exp(LARGE[:n]), rtol=1e-6)
            np.testing.assert_allclose(other, np.exp(LARGE[:n]) + 1, rtol=1e-6)
