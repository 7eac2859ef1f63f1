# SPDX-License-Identifier: Apache-2.0
"""Runs on several tasks: state, gradients, queues, failures, training by several workers."""

from __future__ import annotations

import gc
import threading
import time
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.train.cluster import master
from numbaflow.train.distributed import server as servers

from .conftest import free_ports

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
        cluster.ps._stop()
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
    failures: list[Any] = []
    monkeypatch.setattr(threading, "excepthook", failures.append)
    results: dict[int, list[float]] = {}
    # So many that the chief alone has not taken them all before the other one looks.
    steps = 80 if synchronous else 1500
    threads = [
        threading.Thread(target=train, args=(cluster, i, steps, results, synchronous))
        for i in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    for thread in threading.enumerate():
        if thread.name.startswith("QueueRunner"):
            thread.join(10)
    assert not [failure for failure in failures if failure.thread in threads]
    assert set(results) == {0, 1} and not any(thread.is_alive() for thread in threads)
    assert all(len(losses) > 1 for losses in results.values())
    # (Who begins late finds what the other has learnt.)
    first = max(losses[0] for losses in results.values())
    assert min(losses[-1] for losses in results.values()) < 0.05 * first


@pytest.mark.parametrize("is_staged", [False, True])
def test_traces_tell_of_all_tasks(cluster, is_staged, monkeypatch):
    if not is_staged:
        monkeypatch.setattr(master, "staged", lambda *arguments: None)
    with tf.device("/job:ps"):
        v = tf.get_variable("v", [], initializer=tf.ones_initializer())
    with tf.device("/job:worker/task:0"):
        total = tf.add(v, 1, name="total")
    with tf.device("/job:worker/task:1"):
        twice = tf.multiply(total, 2, name="twice")
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE, output_partition_graphs=True)
    metadata = tf.RunMetadata()
    with tf.Session(cluster.workers[0].target) as session:
        session.run(v.initializer)
        assert session.run(twice, options=options, run_metadata=metadata) == 4
        ran = {
            (device.device.partition("/device")[0], node.node_name)
            for device in metadata.step_stats.dev_stats
            for node in device.node_stats
        }
        assert ("/job:ps/replica:0/task:0", "v/read") in ran
        assert ("/job:worker/replica:0/task:0", "total") in ran
        assert ("/job:worker/replica:0/task:1", "twice") in ran
        assert len(metadata.partition_graphs) >= 3
        with tf.device("/job:worker/task:0"):
            alone = tf.identity(3.0, name="alone")
        session.run(alone, options=options, run_metadata=metadata)
        assert [one.device for one in metadata.step_stats.dev_stats] == [
            "/job:worker/replica:0/task:0/device:CPU:0"
        ]


def test_runs_in_parts_span_tasks(cluster):
    with tf.device("/job:ps"):
        v = tf.get_variable("v", [], initializer=tf.zeros_initializer())
        a = tf.placeholder(tf.float32, [])
        first = a * 2
        counted = tf.assign_add(v, 1)
    b = tf.placeholder(tf.float32, [])
    with tf.device("/job:worker/task:1"), tf.control_dependencies([counted]):
        second = first + b
        third = second * first
    with tf.Session(cluster.workers[0].target) as session:
        session.run(v.initializer)
        for run in (1, 2):
            handle = session.partial_run_setup([first, second, third], [a, b])
            assert session.partial_run(handle, first, {a: 3}) == 6
            with pytest.raises(tf.errors.InvalidArgumentError, match="can't be computed"):
                session.partial_run(handle, second)
            assert session.partial_run(handle, second, {b: 4}) == 10
            with pytest.raises(tf.errors.InvalidArgumentError, match="already been fetched"):
                session.partial_run(handle, second)
            assert session.partial_run(handle, third) == 60
            # What several parts depend on has run once.
            assert session.run(v) == run


def test_a_server_listens_on_when_nobody_holds_it_and_lists_of_tensors_cross():
    ports = [f"localhost:{port}" for port in free_ports(2)]
    spec = tf.train.ClusterSpec({"ps": ports[:1], "worker": ports[1:]})
    tf.train.Server(spec, job_name="ps", task_index=0)
    worker = tf.train.Server(spec, job_name="worker", task_index=0)
    gc.collect()
    raw = tf.raw_ops
    with tf.Graph().as_default(), tf.Session(worker.target) as session:
        with tf.device("/job:worker"):
            handle = raw.TensorListFromTensor(tensor=[[1.0], [2.0]], element_shape=[1])
        with tf.device("/job:ps"):
            left, last = raw.TensorListPopBack(
                input_handle=tf.identity(handle), element_shape=[1], element_dtype=tf.float32
            )
        with tf.device("/job:worker"):
            count, value = raw.TensorListLength(input_handle=left), tf.identity(last)
        found = session.run([count, value])
    assert found[0] == 1 and found[1].tolist() == [2.0]
    for server in servers._listening_ones[-2:]:
        server._stop()
