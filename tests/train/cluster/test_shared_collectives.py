# SPDX-License-Identifier: Apache-2.0
"""Collectives in groups of which some members are TensorFlow's tasks, or are taken for such."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.io import protos
from numbaflow.ops import collective
from numbaflow.train.cluster import buffer_exchange
from numbaflow.train.cluster.shared_collectives import BROADCAST, REDUCTION, Instances
from numbaflow.train.cluster.worker import Worker

pytestmark = pytest.mark.cpu
TASKS = ("/job:ps/task:0", "/job:worker/task:0", "/job:worker/task:1")


@pytest.fixture
def mixed(cluster: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A cluster whose members take each other for tasks of TensorFlow."""
    member = Worker.member
    monkeypatch.setattr(
        Worker,
        "member",
        lambda self, device: dataclasses.replace(member(self, device), is_kin=False),
    )
    return cluster


def on_tasks(make: Callable[[int], Any]) -> list[Any]:
    """What a function of a number makes on each task."""
    made = []
    for i, task in enumerate(TASKS):
        with tf.device(task):
            made.append(make(i))
    return made


@pytest.mark.parametrize("offsets", [(0,), ()], ids=str)
@pytest.mark.parametrize("size", [1, 5, 70_001])
def test_reductions_of_one_master(mixed, size, offsets):
    values = np.random.RandomState(0).randn(3, size).astype(np.float32)

    def make(i):
        return collective.all_reduce(tf.constant(values[i]), 3, 1, 1, "Add", "Div", offsets)

    reduced = on_tasks(make)
    with tf.Session(mixed.workers[0].target) as session:
        for _ in range(3):
            found = session.run(reduced)
    np.testing.assert_allclose(found[0], values.mean(0), rtol=1e-5, atol=1e-6)
    assert found[0].tobytes() == found[1].tobytes() == found[2].tobytes()


@pytest.mark.parametrize("source", range(3))
def test_gathers_and_broadcasts(mixed, source):
    gathered = on_tasks(lambda i: collective.all_gather(tf.fill([2, 2], i), 3, 1, 1))

    def make(i):
        t = tf.constant([1.5 * i, 2.0])
        if i == source:
            return collective.broadcast_send(t, t.shape, t.dtype, 3, 1, 2)
        return collective.broadcast_recv([2], tf.float32, 3, 1, 2)

    handed = on_tasks(make)
    with tf.Session(mixed.ps.target) as session:
        for found in session.run(gathered):
            assert found.tolist() == [[0, 0]] * 2 + [[1, 1]] * 2 + [[2, 2]] * 2
        for found in session.run(handed):
            assert found.tolist() == [1.5 * source, 2]


def each_by_itself(mixed: SimpleNamespace, steps: int, size: int = 4) -> list[Any]:
    """What two workers find that have sessions of their own."""
    found: list[Any] = [None, None]

    def work(i: int) -> None:
        with tf.Graph().as_default(), tf.device(f"/job:worker/task:{i}"):
            fed = tf.placeholder(tf.float32, [None])
            total = collective.all_reduce(fed, 2, 7, 3, "Add", "Id")
            other = collective.all_reduce(2.0 * fed, 2, 7, 4, "Mul", "Id")
            config = tf.ConfigProto(device_filters=[f"/job:worker/task:{i}"])
            with tf.Session(mixed.workers[i].target, config=config) as session:
                given = np.full(size, i + 1.0, np.float32)
                found[i] = [session.run([total, other], {fed: given + n}) for n in range(steps)]
                found[i].append(session.run(total, {fed: given}))

    threads = [threading.Thread(target=work, args=(i,), daemon=True) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return found


def test_each_worker_has_a_session_of_its_own(mixed):
    for found in each_by_itself(mixed, 4):
        for n, (total, other) in enumerate(found[:-1]):
            assert total.tolist() == [3.0 + 2 * n] * 4
            assert other.tolist() == [4.0 * (1 + n) * (2 + n)] * 4
        assert found[-1].tolist() == [3.0] * 4


def test_steps_are_forgotten(mixed):
    each_by_itself(mixed, 8)
    for server in mixed.workers:
        assert len(server._host.worker.steps) <= 6


def test_a_group_that_was_complete_stays_the_same(mixed):
    """TensorFlow's tasks ask for a group once, whatever becomes of others' sessions."""
    for _ in range(2):
        assert each_by_itself(mixed, 1)[0][-1].tolist() == [3.0] * 4


def test_a_member_that_is_gone_ends_the_run(mixed):
    reduced = on_tasks(lambda i: collective.all_reduce(tf.fill([2], i), 3, 1, 1, "Add", "Id"))
    with tf.Session(mixed.workers[0].target) as session:
        session.run(reduced)
        mixed.workers[1]._stop()
        with pytest.raises(tf.errors.UnavailableError, match="task:1"):
            session.run(reduced)


def test_shapes_that_differ_end_the_run(mixed):
    reduced = on_tasks(lambda i: collective.all_reduce(tf.fill([i + 1], i), 3, 1, 1, "Add", "Id"))
    with tf.Session(mixed.ps.target) as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match="Shape mismatch"):
            session.run(reduced)


def test_a_task_that_was_restarted_is_told(mixed):
    request = protos.RecvBufRequest(step_id=1, src_incarnation=5, buf_rendezvous_key="1:0:0:x")
    with pytest.raises(tf.errors.FailedPreconditionError, match="probably restarted"):
        mixed.ps._host.worker.receive_buffer(request)


def joining(instances: Instances, device: str, **about: Any) -> Any:
    """What becomes of a member of a broadcast with two of them."""
    given: dict[str, Any] = {"group_key": 1, "instance_key": 2, "type": BROADCAST, **about}
    return instances.join(protos.CompleteInstanceRequest(device=device, **given), ["a", "b"])


def test_the_leader_finds_the_source():
    instances = Instances()
    first = joining(instances, "a")
    assert not first.is_done
    assert joining(instances, "b", is_source=True).outcome() == first.outcome() == 1
    # Who comes again, as another session's kernel, need not wait.
    assert joining(instances, "a").outcome() == 1
    with pytest.raises(tf.errors.InternalError, match="second claim from a"):
        joining(instances, "a", is_source=True)
    assert joining(instances, "a", instance_key=3, type=REDUCTION).outcome() == -1
    joining(instances, "a", instance_key=4)
    with pytest.raises(tf.errors.InternalError, match="Instance 4 found no source"):
        joining(instances, "b", instance_key=4).outcome()


@pytest.mark.parametrize("count", [2, 3, 4, 7])
def test_a_broadcast_reaches_everybody_once(count):
    for source in range(count):
        places = [buffer_exchange.tree(count, rank, source) for rank in range(count)]
        edges = [(rank, to) for rank, (_, given) in enumerate(places) for to in given]
        takes = [(taken, rank) for rank, (taken, _) in enumerate(places) if taken is not None]
        assert sorted(edges) == sorted(takes) and len(edges) == count - 1
        assert places[source][0] is None


def test_rings_turn_the_devices_of_each_task():
    tasks = ["a", "a", "b", "b"]
    orders = [ring.order for ring in buffer_exchange.rings(tasks, 2, [0, 1, -1])]
    assert orders == [(0, 1, 2, 3), (1, 0, 3, 2), (0, 1, 2, 3)]
    assert buffer_exchange.usual_offsets(["a", "b"], 4 << 20) == [0]
    assert buffer_exchange.usual_offsets(["a", "b"], 64 << 20) == [0, -1]


@pytest.mark.parametrize(("size", "pieces"), [(17, [16, 1]), (32, [32]), (100, [64, 36])], ids=str)
def test_pieces_are_aligned(size, pieces):
    found = buffer_exchange.pieces(np.arange(size, dtype=np.float32), 2)
    assert [len(one) for one in found if one.size] == pieces
