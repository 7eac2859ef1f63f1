# SPDX-License-Identifier: Apache-2.0
"""Servers: sessions share state by target; cluster specifications."""

from __future__ import annotations

import socket
import sys

import pytest

import numbaflow as tf
from numbaflow.train.cluster import host as hosts

pytestmark = pytest.mark.pure


@pytest.fixture
def server():
    with tf.Graph().as_default():
        yield tf.train.Server.create_local_server()


@pytest.mark.programs
def test_sessions_share_variables(server):
    v = tf.Variable(3.0, name="v")
    with tf.Session(server.target) as session:
        session.run(v.initializer)
    with tf.Session(server.target) as session:
        assert session.run(v) == 3.0
        session.run(v.assign_add(1.0))
    tf.Session.reset(server.target, ["other"])
    with tf.Session(server.target) as session:
        assert session.run(v) == 4.0
    tf.Session.reset(server.target)
    with (
        tf.Session(server.target) as session,
        pytest.raises(tf.errors.FailedPreconditionError),
    ):
        session.run(v)


@pytest.mark.programs
def test_sessions_may_keep_to_themselves(server):
    v = tf.Variable(3.0)
    with tf.Session(server.target) as session:
        session.run(v.initializer)
    alone = tf.ConfigProto(isolate_session_state=True)
    with tf.Session(server.target, config=alone) as session:
        assert not session.run(tf.is_variable_initialized(v))


@pytest.mark.programs
def test_runs_may_take_as_long_as_the_server_says():
    config = tf.ConfigProto(operation_timeout_in_ms=200)
    server = tf.train.Server.create_local_server(config=config)
    with tf.Graph().as_default():
        waiting = tf.FIFOQueue(1, tf.float32).dequeue()
        for given in (None, tf.ConfigProto(isolate_session_state=True)):
            with tf.Session(server.target, config=given) as session:
                with pytest.raises(tf.errors.DeadlineExceededError):
                    session.run(waiting)
        # What a session says itself counts for more.
        longer = tf.ConfigProto(operation_timeout_in_ms=60_000)
        assert tf.Session(server.target, config=longer)._timeout == 60.0


def test_servers_of_several_tasks_say_it_too():
    config = tf.ConfigProto(operation_timeout_in_ms=200)
    server = tf.train.Server({"local": ["localhost:0", "localhost:1"]}, "local", 0, config=config)
    assert server.runtime(tf.Graph(), None)._timeout == 0.2
    assert server.runtime(tf.Graph(), tf.ConfigProto(operation_timeout_in_ms=9))._timeout == 0.009
    server._stop()


def test_addresses_are_taken_once(server):
    address = server.target.removeprefix("grpc://")
    with pytest.raises(tf.errors.UnknownError, match="Could not start gRPC server"):
        tf.train.Server({"other": [address]})


@pytest.mark.programs
def test_nobody_of_the_process_answers_for_a_server_that_has_stopped():
    server = tf.train.Server.create_local_server()
    server._stop()
    config = tf.ConfigProto(operation_timeout_in_ms=300)
    with tf.Graph().as_default(), tf.Session(server.target, config=config) as session:
        # (The address may be another process's by now.)
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(tf.constant(1.0))


def test_unknown_targets():
    with tf.Graph().as_default(), pytest.raises(tf.errors.NotFoundError, match="session factory"):
        tf.Session("other://localhost:1")


def test_servers_listen_at_the_host_that_the_cluster_names():
    server = tf.train.Server({"local": ["localhost:0"]})
    port = int(server.target.rpartition(":")[2])
    others = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), port)}
    for address in others - {"127.0.0.1", "127.0.1.1", "::1"}:
        with pytest.raises(OSError):
            socket.create_connection((address, port), timeout=1)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Could not parse port"):
        tf.train.Server({"local": ["localhost"]})
    with pytest.raises(tf.errors.InvalidArgumentError, match="not defined in job"):
        tf.train.Server({"local": ["localhost:0"]}, task_index=3)


def test_without_grpc_the_error_names_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "grpc", None)
    with pytest.raises(ImportError, match=r"numbaflow\[distributed\]"):
        tf.train.Server.create_local_server()


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (({"a": ["x:1"], "b": ["y:2"]},), "explicit `job_name`"),
        (({"a": ["x:1", "y:2"]},), "explicit `task_index`"),
    ],
)
def test_servers_must_know_their_task(arguments, error):
    with pytest.raises(ValueError, match=error):
        tf.train.Server(*arguments)


def test_cluster_specifications():
    spec = tf.train.ClusterSpec({"ps": ["p0:1", "p1:1"], "worker": {1: "w1:2"}})
    assert sorted(spec.jobs) == ["ps", "worker"]
    assert spec.job_tasks("worker") == [None, "w1:2"]
    assert spec.task_address("ps", 1) == "p1:1"
    assert str(spec) == "ClusterSpec({'ps': ['p0:1', 'p1:1'], 'worker': {1: 'w1:2'}})"
    assert tf.train.ClusterSpec(spec.as_cluster_def()) == spec == tf.train.ClusterSpec(spec)
    with pytest.raises(ValueError, match="No such job in cluster: 'x'"):
        spec.num_tasks("x")
    with pytest.raises(ValueError, match="No task with index 3 in job 'ps'"):
        spec.task_address("ps", 3)
    with pytest.raises(TypeError, match="must be a dictionary"):
        tf.train.ClusterSpec("ps")


@pytest.mark.parametrize(
    ("host", "is_open"), [("localhost", False), ("127.0.0.1", False), ("0.0.0.0", True)]
)
def test_a_server_that_other_machines_reach_says_so(host, is_open, monkeypatch):
    said = []
    monkeypatch.setattr(hosts.log, "warning", lambda text, *given: said.append(text % given))
    server = tf.train.Server({"local": [f"{host}:0"]}, start=False)
    assert not said
    server.start()
    server._stop()
    assert len(said) == is_open
    if is_open:
        assert "/job:local/replica:0/task:0 listens at 0.0.0.0:0" in said[0]
        assert "can run any graph" in said[0] and "NUMBAFLOW_CLUSTER" in said[0]
