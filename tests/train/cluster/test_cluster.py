# SPDX-License-Identifier: Apache-2.0
"""Runs on several tasks: state, gradients, queues, failures, training by several workers."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.train.cluster import master

pytestmark = pytest.mark.cpu


@pytest.mark.parametrize("is_staged", [False, True])
@pytest.mark.parametrize("use_resource", [False, True])
def test_a_graph_on_two_tasks_trains_as_on_one(cluster, use_resource, is_staged, monkeypatch):
    if not is_staged:
        monkeypatch.setattr(master, "staged", lambda *arguments: None)

    def losses(target, devices):
        with tf.Graph().as_default(), tf.Session(target) as session:
            with tf.device(devices[0]):
                v = tf.get_variable(
                    "v", [3], initializer=tf.ones_initializer(), use_resource=use_resource
                )
            with tf.device(devices[1]):
                x = tf.placeholder(tf.float32, [3])
                loss = tf.reduce_sum(tf.square(x * v))
            train = tf.train.MomentumOptimizer(0.01, 0.9).minimize(loss)
            session.run(tf.global_variables_initializer())
            return [session.run([loss, train], {x: [1, 2, 3]})[0] for _ in range(4)]

    elsewhere = losses(cluster.workers[0].target, ["/job:ps", "/job:worker/task:1"])
    assert elsewhere == losses("", [None, None])
    assert elsewhere[-1] < elsewhere[0]


def test_workers_share_what_is_on_the_parameter_server(cluster):
    with tf.device("/job:ps"):
        v = tf.Variable(1.0, name="v")
        queue = tf.FIFOQueue(3, tf.float32, shapes=[[]], shared_name="q")
    given, taken = queue.enqueue(v * 2), queue.dequeue()
    with tf.Session(cluster.workers[0].target) as session:
        session.run(v.initializer)
        session.run(given)
    with tf.Session(cluster.workers[1].target.replace("localhost", "127.0.0.1")) as session:
        assert session.run(v) == 1.0
        assert session.run(taken + 1) == 3.0
    names = [device.name for device in tf.Session(cluster.ps.target).list_devices()]
    assert len(names) == 3 and names[0].startswith("/job:ps/")


def test_control_edges_hold_between_tasks(cluster):
    with tf.device("/job:ps"):
        v = tf.Variable(0.0, use_resource=True)
        change = v.assign_add(1.0)
    with tf.device("/job:worker/task:1"), tf.control_dependencies([change]):
        seen = tf.identity(tf.constant(0.0))
    with tf.device("/job:ps"), tf.control_dependencies([seen]):
        read = v.read_value()
    with tf.Session(cluster.workers[0].target) as session:
        session.run(v.initializer)
        assert [session.run(read) for _ in range(5)] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("is_staged", [False, True])
def test_a_failure_of_one_task_is_the_run_s(cluster, is_staged, monkeypatch):
    if not is_staged:
        monkeypatch.setattr(master, "staged", lambda *arguments: None)
    x = tf.placeholder(tf.float32, [None])
    with tf.device("/job:ps"):
        a = tf.multiply(x, [1.0, 2.0], name="wrong")
    with tf.device("/job:worker/task:1"):
        b = a + 1
    c = tf.reduce_sum(b)
    with tf.Session(cluster.workers[0].target) as session:
        for _ in range(3):
            with pytest.raises(tf.errors.InvalidArgumentError, match="Incompatible") as caught:
                session.run(c, {x: [1, 2, 3]})
            assert caught.value.op is a.op
            message = caught.value.message
            assert message.startswith("From /job:ps/replica:0/task:0:"), message
        assert session.run(c, {x: [1, 2]}) == 7
        # Nothing of a run that is over is kept, once all tasks have heard of its end.
        steps = [server._host.worker.steps for server in (cluster.ps, *cluster.workers)]
        limit = time.monotonic() + 10
        while any(map(len, steps)) and time.monotonic() < limit:
            time.sleep(0.02)
        assert [len(one) for one in steps] == [0, 0, 0]


def test_runs_that_wait_on_other_tasks_end_in_time(cluster):
    with tf.device("/job:ps"):
        taken = tf.FIFOQueue(1, tf.float32, shapes=[[]]).dequeue()
    total = taken + 1
    with tf.Session(cluster.workers[0].target) as session:
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(total, options=tf.RunOptions(timeout_in_ms=200))


@pytest.mark.parametrize("is_staged", [False, True])
def test_tasks_that_are_gone_end_runs(cluster, is_staged, monkeypatch):
    if not is_staged:
        monkeypatch.setattr(master, "staged", lambda *arguments: None)
    with tf.device("/job:ps"):
        v = tf.get_variable("v", [], initializer=tf.ones_initializer())
    total = v + 1
    with tf.Session(cluster.workers[0].target) as session:
        session.run(v.initializer)
        assert session.run(total) == 2
        cluster.ps._host.stop()
        with pytest.raises(tf.errors.UnavailableError, match="From /job:ps/replica:0/task:0"):
            session.run(total)


def test_device_filters_leave_tasks_out(cluster):
    with tf.device("/job:worker/task:1"):
        other = tf.constant(1)
    config = tf.ConfigProto(device_filters=["/job:ps", "/job:worker/task:0"])
    with tf.Session(cluster.workers[0].target, config=config) as session:
        assert len(session.list_devices()) == 2
        with pytest.raises(tf.errors.InvalidArgumentError, match="Cannot assign a device"):
            session.run(other)


@pytest.mark.parametrize("size", [1 << 20, 5 << 20])
def test_large_tensors_cross(cluster, size):
    with tf.device("/job:ps"):
        large = tf.range(size) * 3
    with tf.device("/job:worker/task:1"):
        again = tf.reshape(large, [1024, -1]) - 1
    with tf.Session(cluster.workers[0].target) as session:
        found = session.run(again)
    assert np.array_equal(found, np.arange(size).reshape(1024, -1) * 3 - 1)


def test_partial_runs_across_tasks_are_refused(cluster):
    x = tf.placeholder(tf.float32, [])
    with tf.device("/job:ps"):
        y = x * 2
    with tf.Session(cluster.workers[0].target) as session:
        with pytest.raises(tf.errors.UnimplementedError, match="parts across tasks"):
            session.partial_run_setup([y], [x])


def train(cluster, index, steps, results, synchronous):
    """One worker of between-graph replication, as programs write it."""
    with tf.Graph().as_default():
        setter = tf.train.replica_device_setter(
            worker_device=f"/job:worker/task:{index}", cluster=cluster.spec
        )
        with tf.device(setter):
            step = tf.train.get_or_create_global_step()
            x, y = tf.placeholder(tf.float32, [None, 4]), tf.placeholder(tf.float32, [None])
            w = tf.get_variable("w", [4, 1], initializer=tf.zeros_initializer())
            loss = tf.reduce_mean(tf.square(tf.matmul(x, w)[:, 0] - y))
            optimizer = tf.train.GradientDescentOptimizer(0.05)
            hooks = [tf.train.StopAtStepHook(last_step=steps)]
            if synchronous:
                optimizer = tf.train.SyncReplicasOptimizer(optimizer, 2, 2)
                hooks.append(optimizer.make_session_run_hook(index == 0))
            update = optimizer.minimize(loss, global_step=step)
        random = np.random.RandomState(index)
        with tf.train.MonitoredTrainingSession(
            master=cluster.workers[index].target,
            is_chief=index == 0,
            hooks=hooks,
            stop_grace_period_secs=1,
        ) as session:
            results[index] = []
            while not session.should_stop():
                given = random.randn(16, 4)
                fed = {x: given, y: given @ [1, 2, 3, 4]}
                results[index].append(session.run([loss, update], fed)[0])


@pytest.mark.parametrize("synchronous", [False, True])
def test_two_workers_train_what_is_on_a_parameter_server(cluster, synchronous, monkeypatch):
    # Workers look every 30 seconds whether the chief has begun.
    from numbaflow.train.sessions import session_manager

    monkeypatch.setattr(session_manager.time, "sleep", lambda seconds: threading.Event().wait(0.1))
    # The chief's thread of updates ends with an error of its session's end, as in TensorFlow.
    monkeypatch.setattr(threading, "excepthook", lambda caught: None)
    results: dict[int, list[float]] = {}
    threads = [
        threading.Thread(target=train, args=(cluster, i, 80, results, synchronous))
        for i in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    for thread in threading.enumerate():
        if thread.name.startswith("QueueRunner"):
            thread.join(10)
    assert set(results) == {0, 1} and not any(thread.is_alive() for thread in threads)
    assert all(len(losses) > 1 for losses in results.values())
    assert min(losses[-1] for losses in results.values()) < 0.05 * results[0][0]
