# SPDX-License-Identifier: Apache-2.0
"""Collectives whose members are tasks of a cluster."""

from __future__ import annotations

import random
import threading
import time

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.io import protos
from numbaflow.ops import collective
from numbaflow.train.cluster import collectives, shared_blocks, shared_memory
from numbaflow.train.cluster.host import leading
from numbaflow.train.cluster.shared_blocks import Block

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


def own_sums(cluster, sizes, of_run, rounds):
    """What each task of TASKS gets in a session of its own, or the error; of_run(task, round)."""
    servers = (cluster.ps, *cluster.workers)
    found = [[] for _ in TASKS]

    def work(i):
        with tf.Graph().as_default():
            with tf.device(TASKS[i]):
                fed = tf.placeholder(tf.float32, [sizes[i]])
                total = collective.all_reduce(fed * 1.0, 3, 9, 1, "Add", "Id")
            config = tf.ConfigProto(device_filters=[TASKS[i]])
            with tf.Session(servers[i].target, config=config) as session:
                for number in range(rounds):
                    value = np.full(sizes[i], of_run(i, number), np.float32)
                    try:
                        found[i].append(session.run(total, {fed: value}))
                    except tf.errors.OpError as error:
                        found[i].append(error)

    threads = [threading.Thread(target=work, args=(i,), daemon=True) for i in range(len(TASKS))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive(), "it hangs"
    return found


def test_memory_that_is_used_again_has_what_is_new(cluster):
    draws = random.Random(0)

    def of_run(i, number):
        time.sleep(draws.random() / 200)
        return 10.0 * number + i

    found = own_sums(cluster, [100_003] * 3, of_run, 20)
    for values in found:
        for number, value in enumerate(values):
            assert (value == 30.0 * number + 3).all()


def test_blocks_are_used_again(monkeypatch):
    made = []
    monkeypatch.setattr(shared_blocks, "Block", lambda size: made.append(size) or Block(size))
    blocks = shared_blocks.Blocks()
    for _ in range(3):
        held = [blocks.take(size) for size in (1 << 20, (1 << 20) + 5, 0)]
        assert [one.bytes.size for one in held] == made
        assert made[0] >= 1 << 20 and made[1] > 1 << 20 and made[2] > 0
        for one in held:
            blocks.give(one)
    # A small one need not take a large one's place.
    assert blocks.take(1 << 18).bytes.size < 1 << 20


@pytest.mark.skipif(not shared_memory.machine(), reason="memory cannot be mapped here")
def test_parts_are_mapped_once_and_sent_elsewhere():
    block, blocks = Block(1 << 20), shared_blocks.Blocks()
    vector = block.vector(1 << 17, np.dtype(np.float64))
    part = shared_blocks.Part(block, vector[1000:2000])
    for number in range(3):
        vector[...] = number
        found = blocks.taken(part.response(shared_memory.asking()))
        assert found.shape == (1000,) and (found == number).all()
    assert len(blocks._mapped) == 1
    elsewhere = blocks.taken(part.response(protos.RecvTensorRequest()))
    vector[...] = 7
    assert (elsewhere == 2).all() and (found == 7).all()
    response = protos.RecvTensorResponse.FromString(part.response(shared_memory.asking()))
    for name in (b"1000000", b"-1"):
        place = response.transport_options
        place.value = b" ".join((*place.value.split()[:-1], name))
        with pytest.raises(tf.errors.DataLossError, match="memory given"):
            blocks.taken(response.SerializeToString())


def test_what_one_member_finds_wrong_ends_the_runs_of_all(cluster):
    # Their first two parts are of the same size: only the last member sees that others differ.
    found = own_sums(cluster, [80_001, 80_001, 80_000], lambda i, number: i, 2)
    for values in found:
        for error in values:
            assert isinstance(error, tf.errors.InvalidArgumentError)
            assert "Shape mismatch" in str(error)


def test_small_and_large_in_one_sum_end_the_run(cluster):
    for values in own_sums(cluster, [3, 80_000, 80_000], lambda i, number: i, 2):
        for error in values:
            assert isinstance(error, tf.errors.InvalidArgumentError), error


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
