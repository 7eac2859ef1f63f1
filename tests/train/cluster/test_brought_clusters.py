# SPDX-License-Identifier: Apache-2.0
"""Clusters that sessions bring along (ConfigProto.cluster_def), of servers that know no others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import numbaflow as tf
from numbaflow.io import protos
from numbaflow.train.cluster import master

pytestmark = pytest.mark.cpu


@pytest.fixture
def servers() -> Iterator[list[Any]]:
    """Three servers, each of a cluster of its own."""
    found = [tf.train.Server.create_local_server() for _ in range(3)]
    with tf.Graph().as_default():
        yield found
    for server in found:
        server._stop()


def config_of(*servers: Any, job: str = "worker", **given: Any) -> Any:
    """What a session brings along: these servers as one cluster."""
    cluster = protos.ClusterDef()
    tasks = cluster.job.add(name=job).tasks
    for number, server in enumerate(servers):
        tasks[number] = server.target.removeprefix("grpc://")
    return tf.ConfigProto(cluster_def=cluster, **given)


@pytest.mark.parametrize("is_staged", [False, True])
def test_a_graph_spans_servers_that_did_not_know_each_other(servers, is_staged, monkeypatch):
    if not is_staged:
        monkeypatch.setattr(master, "staged", lambda *arguments: None)
    with tf.device("/job:worker/task:1"):
        v = tf.get_variable("v", [3], initializer=tf.ones_initializer(), use_resource=True)
    with tf.device("/job:worker/task:0"):
        loss = tf.reduce_sum(tf.square(v - [1.0, 2.0, 3.0]))
    train = tf.train.GradientDescentOptimizer(0.25).minimize(loss)
    metadata = tf.RunMetadata()
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    with tf.Session(servers[0].target, config=config_of(*servers[:2])) as session:
        assert [device.name for device in session.list_devices()] == [
            f"/job:worker/replica:0/task:{i}/device:CPU:0" for i in range(2)
        ]
        session.run(v.initializer)
        for _ in range(2):
            session.run(train)
        found = session.run([v, loss], options=options, run_metadata=metadata)
    assert found[0].tolist() == [1.0, 1.75, 2.5]
    devices = {one.device for one in metadata.step_stats.dev_stats}
    assert {f"/job:worker/replica:0/task:{i}/device:CPU:0" for i in range(2)} <= devices


def test_sessions_have_state_of_their_own(servers):
    with tf.device("/job:worker/task:1"):
        v = tf.get_variable("v", initializer=1.0)
        more = v.assign_add(1.0)
    configs = [config_of(servers[0], servers[1]), config_of(servers[0], servers[2])]
    sessions = [tf.Session(servers[0].target, config=config) for config in (*configs, configs[0])]
    for session in sessions[:2]:
        session.run(v.initializer)
    assert [session.run(more) for session in (*sessions[:2], sessions[0])] == [2.0, 2.0, 3.0]
    with pytest.raises(tf.errors.FailedPreconditionError):
        sessions[2].run(v)
    for session in sessions:
        session.close()


def test_sessions_may_share_their_state(servers):
    with tf.device("/job:worker/task:1"):
        v = tf.get_variable("v", initializer=1.0)
    config = config_of(*servers[:2])
    config.experimental.share_session_state_in_clusterspec_propagation = True
    with tf.Session(servers[0].target, config=config) as session:
        session.run(v.initializer)
    with tf.Session(servers[0].target, config=config) as session:
        assert session.run(v) == 1.0


def test_a_task_may_have_several_devices():
    given = tf.ConfigProto(device_count={"CPU": 2})
    found = [tf.train.Server.create_local_server(config=given) for _ in range(2)]
    with tf.Graph().as_default():
        with tf.device("/job:worker/task:1/cpu:1"):
            a = tf.Variable(3.0)
        with tf.device("/job:worker/task:1/cpu:0"):
            b = a * 2
        with tf.device("/job:worker/task:0/cpu:1"):
            c = b + a
        with tf.Session(found[0].target, config=config_of(*found)) as session:
            assert len(session.list_devices()) == 4
            session.run(a.initializer)
            assert session.run([c, b]) == [9.0, 6.0]
    for server in found:
        server._stop()


def test_errors_name_tasks_as_the_session_does(servers):
    with tf.device("/job:other/task:1"):
        x = tf.placeholder(tf.float32, [None])
        wrong = tf.multiply(x, [1.0, 2.0])
    with tf.Session(servers[0].target, config=config_of(*servers[:2], job="other")) as session:
        with pytest.raises(
            tf.errors.InvalidArgumentError, match="^From /job:other/replica:0/task:1:\n[^F]"
        ):
            session.run(wrong, {x: [1, 2, 3]})


def test_a_master_that_is_no_task_of_it_is_refused(servers):
    one = tf.constant(1)
    with pytest.raises(tf.errors.InvalidArgumentError, match="no task that corresponds"):
        tf.Session(servers[0].target, config=config_of(*servers[1:])).run(one)
    with pytest.raises(tf.errors.InvalidArgumentError, match="multiple matching tasks"):
        tf.Session(servers[0].target, config=config_of(servers[0], servers[0])).run(one)
    with pytest.raises(tf.errors.InvalidArgumentError, match="names the job and task index"):
        tf.Session(servers[0].target, config=config_of(servers[0], job="local")).run(one)
