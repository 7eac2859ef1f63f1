# SPDX-License-Identifier: Apache-2.0
"""Collectives whose members are tasks of a cluster."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.ops import collective
from numbaflow.train.cluster import collectives
from numbaflow.train.cluster.host import leading

pytestmark = pytest.mark.cpu
TASKS = ("/job:ps/task:0", "/job:worker/task:0", "/job:worker/task:1")


def on_tasks(make, tasks=TASKS):
    """What a function of a number makes on each task."""
    made = []
    for i, task in enumerate(tasks):
        with tf.device(task):
            made.append(make(i))
    return made


@pytest.mark.parametrize("merge", ["Add", "Min"])
@pytest.mark.parametrize("size", [5, 70_001, 0])
def test_reductions_are_the_same_bits_for_all(cluster, size, merge):
    assert collectives.LARGE < 4 * 70_001
    values = np.random.RandomState(0).randn(3, size).astype(np.float32)

    def make(i):
        return collective.all_reduce(tf.constant(values[i]), 3, 1, 1, merge, "Div")

    reduced = on_tasks(make)
    with tf.Session(cluster.workers[0].target) as session:
        for _ in range(3):
            found = session.run(reduced)
    wanted = (values.sum(0) if merge == "Add" else values.min(0)) / 3
    np.testing.assert_allclose(found[0], wanted, rtol=1e-5, atol=1e-6)
    assert found[0].tobytes() == found[1].tobytes() == found[2].tobytes()


def test_gathers_and_broadcasts(cluster):
    gathered = on_tasks(lambda i: collective.all_gather(tf.fill([2], i), 3, 1, 1))

    def make(i):
        t = tf.constant([1.5 * i, 2.0])
        if i == 1:
            return collective.broadcast_send(t, t.shape, t.dtype, 3, 1, 2)
        return collective.broadcast_recv([2], tf.float32, 3, 1, 2)

    handed = on_tasks(make)
    with tf.Session(cluster.ps.target) as session:
        for found in session.run(gathered):
            assert found.tolist() == [0, 0, 1, 1, 2, 2]
        for found in session.run(handed):
            assert found.tolist() == [1.5, 2]


def test_steps_of_collectives_are_forgotten(cluster):
    reduced = on_tasks(lambda i: collective.all_reduce(tf.fill([2], i), 3, 1, 1, "Add", "Id"))
    with tf.Session(cluster.ps.target) as session:
        for _ in range(6):
            session.run(reduced)
    for server in (cluster.ps, *cluster.workers):
        assert len(server._host.worker.steps) <= 3


def test_each_worker_has_a_session_of_its_own(cluster):
    found = {}

    def work(i):
        with tf.Graph().as_default():
            own = tf.constant([float(i + 1)])
            with tf.device(f"/job:worker/task:{i}"):
                total = collective.all_reduce(tf.identity(own), 2, 7, 1, "Add", "Id")
            config = tf.ConfigProto(device_filters=[f"/job:worker/task:{i}"])
            with tf.Session(cluster.workers[i].target, config=config) as session:
                found[i] = [session.run(total).tolist() for _ in range(3)]

    threads = [threading.Thread(target=work, args=(i,)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert found == {0: [[3.0]] * 3, 1: [[3.0]] * 3}


def test_shapes_that_differ_end_the_run(cluster):
    reduced = on_tasks(lambda i: collective.all_reduce(tf.fill([i + 1], i), 3, 1, 1, "Add", "Id"))
    with tf.Session(cluster.ps.target) as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match="Shape mismatch"):
            session.run(reduced)


def test_a_member_that_is_gone_ends_the_run(cluster):
    reduced = on_tasks(
        lambda i: collective.all_reduce(tf.fill([2], i), 2, 1, 1, "Add", "Id"), TASKS[1:]
    )
    with tf.Session(cluster.workers[0].target) as session:
        session.run(reduced)
        cluster.workers[1]._stop()
        with pytest.raises(tf.errors.UnavailableError, match="task:1"):
            session.run(reduced)


def test_a_member_that_comes_again_is_of_a_new_group():
    leader = collectives.Leader()
    one, other = (collectives.Member(f"/task:{i}", f"/task:{i}/cpu", 5) for i in range(2))
    first = leader.join(1, 2, one)
    assert leader.join(1, 2, one) is first and not first.is_complete.is_set()
    assert leader.join(1, 2, other) is first and first.is_complete.is_set()
    second = leader.join(1, 2, other)
    assert second is not first and second.number != first.number
    leader.leave(second, other)
    assert not second.members


def test_groups_are_led_by_the_chief_or_first_worker():
    tasks = ["/job:worker/replica:0/task:1", "/job:ps/replica:0/task:0"]
    assert leading(tasks) == tasks[0]
    assert leading([*tasks, "/job:chief/replica:0/task:0"]).startswith("/job:chief")
    assert leading(tasks[1:]) == tasks[1]
