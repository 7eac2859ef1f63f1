# SPDX-License-Identifier: Apache-2.0
"""Conditionals and loops whose operations are on several tasks."""

from __future__ import annotations

import pytest

import numbaflow as tf

from .flow_models import NAMES, TEXT

pytestmark = pytest.mark.cpu

MODEL = {"tf": tf}
exec(TEXT, MODEL)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("master", ["ps", "worker"])
def test_models_give_the_same_as_on_one_task(cluster, name, master):
    server = cluster.ps if master == "ps" else cluster.workers[0]
    found, wanted = MODEL["values"](name, server.target), MODEL["values"](name, "")
    for one, other in zip(found, wanted, strict=True):
        assert one == pytest.approx(other, rel=1e-4, abs=1e-5)


def test_a_branch_that_is_not_taken_has_no_effect_elsewhere(cluster):
    x = tf.placeholder(tf.bool, [])
    with tf.device("/job:ps"):
        v = tf.get_variable("v", [], initializer=tf.zeros_initializer(), use_resource=True)

    def taken():
        with tf.device("/job:ps"):
            return v.assign_add(1.0)

    with tf.device("/job:worker/task:0"):
        y = tf.cond(x, taken, lambda: tf.constant(-1.0))
    with tf.Session(cluster.workers[0].target) as session:
        session.run(v.initializer)
        assert [session.run(y, {x: value}) for value in (True, False, True)] == [1, -1, 2]
        assert session.run(v) == 2


def test_a_failure_in_an_iteration_is_the_run_s(cluster):
    def body(i, a):
        with tf.device("/job:ps"):
            checked = tf.debugging.check_numerics(1.0 / (3.0 - a), "here")
        with tf.device("/job:worker/task:0"):
            return i + 1, a + 1 + 0 * checked

    _, y = tf.while_loop(lambda i, a: i < 10, body, [0, 0.0])
    with tf.Session(cluster.workers[0].target) as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match="here"):
            session.run(y)
        # The tasks go on.
        assert session.run(tf.constant(3)) == 3


def test_what_a_branch_does_not_make_cannot_be_fetched(cluster):
    x = tf.placeholder(tf.bool, [])
    with tf.device("/job:ps"):
        one, other = tf.constant(1.0), tf.constant(2.0)
        off, on = tf.raw_ops.Switch(data=one, pred=x)
    with tf.device("/job:worker/task:0"):
        y = on + other
    with tf.Session(cluster.workers[0].target) as session:
        assert session.run(y, {x: True}) == 3
        with pytest.raises(tf.errors.InvalidArgumentError, match="does not have value"):
            session.run(y, {x: False})
        assert session.run(y, {x: True}) == 3
    del off
