# SPDX-License-Identifier: Apache-2.0
"""Variables that get contents of another shape while a run uses what they held before."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings

pytestmark = pytest.mark.cpu


@pytest.fixture(autouse=True)
def graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


@pytest.fixture(params=["never", "always"])
def session(request: pytest.FixtureRequest) -> Iterator[tf.Session]:
    with settings.override(jit=request.param), tf.Session() as session:
        yield session


def variable() -> tf.Variable:
    return tf.get_variable("v", initializer=np.float32([1, 2, 3]), validate_shape=False)


def test_what_was_read_before_stays(session: tf.Session) -> None:
    v, size = variable(), tf.placeholder(tf.int32, [])
    old = v.value()
    with tf.control_dependencies([old]):
        assign = tf.assign(v, tf.fill([size], 7.0), validate_shape=False)
    with tf.control_dependencies([assign]):
        fetches = [tf.reduce_sum(old * 2), tf.identity(old)[:2]]
    session.run(v.initializer)
    for n, total, first in ((4, 12, [1, 2]), (6, 56, [7, 7]), (1, 84, [7, 7])):
        found = session.run(fetches, {size: n})
        assert found[0] == total
        np.testing.assert_array_equal(found[1], first)
        assert session.run(v).shape == (n,)


def test_what_changes_a_shape_is_done_once(session: tf.Session) -> None:
    v, size = variable(), tf.placeholder(tf.int32, [])
    runs = tf.get_variable("runs", initializer=0)
    with tf.control_dependencies([tf.assign_add(runs, 1)]):
        read = tf.reduce_sum(v)
    with tf.control_dependencies([read]):
        assign = tf.assign(v, tf.ones([size]), validate_shape=False)
    with tf.control_dependencies([assign]):
        result = read + 1
    session.run([v.initializer, runs.initializer])
    for number, (n, before) in enumerate(((4, 6), (2, 4), (2, 2), (5, 2)), 1):
        assert session.run(result, {size: n}) == before + 1
        assert session.run(runs) == number


def test_a_branch_that_grows_a_variable(session: tf.Session) -> None:
    """Rows are put behind others; a plan that only writes into the variable sees its new shape."""
    rows = tf.placeholder(tf.float32, [None])
    everything = tf.get_variable(
        "everything", initializer=np.zeros(0, np.float32), validate_shape=False
    )
    used = tf.get_variable("used", initializer=0)
    old, start = everything.value(), used.value()
    end = start + tf.size(rows)

    def larger() -> tf.Operation:
        room = tf.zeros([2 * end - tf.size(old)])
        with tf.control_dependencies([old]):
            return tf.assign(everything, tf.concat([old, room], 0), validate_shape=False).op

    grown = tf.cond(end > tf.size(old), larger, tf.no_op)
    with tf.control_dependencies([grown]):
        written = everything[start:end].assign(rows)
    with tf.control_dependencies([written]):
        step = tf.assign(used, end)
    session.run([everything.initializer, used.initializer])
    expected: list[float] = []
    for count in (3, 2, 5, 1, 30, 4):
        added = np.arange(count) + 100 * count
        session.run(step, {rows: added})
        expected += [*added]
        np.testing.assert_array_equal(session.run(everything)[: len(expected)], expected)
