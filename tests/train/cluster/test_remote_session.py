# SPDX-License-Identifier: Apache-2.0
"""Sessions on a server by its connection: runs, errors, limits, runs in parts, callables."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.io import protos

pytestmark = pytest.mark.cpu


@pytest.fixture
def target():
    """A server's address that this process does not know for its own."""
    server = tf.train.Server.create_local_server()
    with tf.Graph().as_default():
        yield server.target.replace("localhost", "127.0.0.1")
    server._stop()


def test_runs_and_the_graph_that_grows(target):
    x = tf.placeholder(tf.float32, [None])
    v = tf.Variable([1.0, 2.0, 3.0])
    with tf.Session(target) as session:
        session.run(v.initializer)
        assert session.run(x * v, {x: [1, 2, 3]}).tolist() == [1, 4, 9]
        text = tf.strings.join([tf.placeholder_with_default("a", []), "b"])
        later = {"sum": v.assign_add([1, 1, 1]), "parts": (text, x)}
        found = session.run(later, {x: [7.0]})
        assert found["sum"].tolist() == [2, 3, 4]
        assert found["parts"][0] == b"ab" and found["parts"][1].tolist() == [7.0]
        assert [d.name for d in session.list_devices()] == [
            "/job:local/replica:0/task:0/device:CPU:0"
        ]


def test_state_is_the_server_s(target):
    v = tf.Variable(1.0, name="v")
    is_there = tf.is_variable_initialized(v)
    with tf.Session(target) as session:
        session.run(v.initializer)
    with tf.Session(target) as session:
        assert session.run(v) == 1.0
    alone = tf.ConfigProto(isolate_session_state=True)
    with tf.Session(target, config=alone) as session:
        assert not session.run(is_there)
    tf.Session.reset(target, ["other"])
    with tf.Session(target) as session:
        assert session.run(is_there)
    tf.Session.reset(target)
    with tf.Session(target) as session:
        assert not session.run(is_there)


def test_errors_name_the_node_and_this_program_s_line(target):
    x = tf.placeholder(tf.float32)
    y = tf.multiply(x, [1.0, 2.0, 3.0], name="wrong")
    with (
        tf.Session(target) as session,
        pytest.raises(tf.errors.InvalidArgumentError, match="Incompatible shapes") as caught,
    ):
        session.run(y, {x: [1, 2]})
    assert caught.value.op is y.op
    assert "From /job:local/replica:0/task:0:\n" in caught.value.message
    assert f"[[node wrong (defined at {__file__}:" in caught.value.message


def test_runs_that_take_too_long_end_and_others_go_on(target):
    queue = tf.FIFOQueue(1, tf.int32, shapes=[[]])
    taken, given = queue.dequeue(), queue.enqueue(3)
    with tf.Session(target) as session:
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(taken, options=tf.RunOptions(timeout_in_ms=150))
        found = []
        waiting = threading.Thread(target=lambda: found.append(session.run(taken)))
        waiting.start()
        time.sleep(0.05)
        session.run(given)
        waiting.join(10)
        assert found == [3]


def test_closing_ends_runs_that_wait(target):
    taken = tf.FIFOQueue(1, tf.int32).dequeue()
    session = tf.Session(target)
    caught = []

    def run():
        try:
            session.run(taken)
        except tf.errors.OpError as error:
            caught.append(error)

    waiting = threading.Thread(target=run)
    waiting.start()
    time.sleep(0.3)
    session.close()
    waiting.join(10)
    assert len(caught) == 1 and isinstance(caught[0], tf.errors.CancelledError)
    with pytest.raises(RuntimeError, match="closed Session"):
        session.run(taken)


def test_runs_in_parts_callables_and_metadata(target):
    x, y = tf.placeholder(tf.float32, [], "x"), tf.placeholder(tf.float32, [], "y")
    first, second = x * 2, x * 2 + y
    with tf.Session(target) as session:
        handle = session.partial_run_setup([first, second], [x, y])
        assert session.partial_run(handle, first, {x: 3}) == 6
        assert session.partial_run(handle, second, {y: 1}) == 7
        wanted = protos.CallableOptions(feed=["x:0", "y:0"], fetch=[second.name])
        call = session._make_callable_from_options(wanted)
        assert call(1, np.float32(2)) == [4]
        wanted = protos.CallableOptions(feed=["x", "y"], fetch=[second.op.name])
        assert session._make_callable_from_options(wanted)(1, 2) == [4]
        metadata = tf.RunMetadata()
        trace = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        assert session.run(first, {x: 4}, trace, metadata) == 8
        assert any("mul" in node.node_name for node in metadata.step_stats.dev_stats[0].node_stats)


def test_a_server_that_is_not_there_is_waited_for(target):
    config = tf.ConfigProto(operation_timeout_in_ms=200)
    one = tf.constant(1)
    with (
        tf.Session("grpc://localhost:1", config=config) as session,
        pytest.raises(tf.errors.DeadlineExceededError),
    ):
        session.run(one)


def test_sessions_that_the_server_forgot(target):
    one = tf.constant(1)
    session = tf.Session(target)
    session.run(one)
    tf.Session.reset(target)
    with pytest.raises(tf.errors.AbortedError, match="is not found"):
        session.run(one)
    session.close()


def test_graphs_of_clients_can_be_refused_files(target, tmp_path, monkeypatch):
    """The setting is the server's: clients have none to say."""
    path = tmp_path / "secret"
    path.write_text("secret")
    with tf.Graph().as_default():
        content = tf.read_file(str(path))
        with tf.Session(target) as session:
            assert session.run(content) == b"secret"
        monkeypatch.setenv("NUMBAFLOW_TRUST", "graph")
        with (
            tf.Session(target) as session,
            pytest.raises(tf.errors.PermissionDeniedError, match="read files"),
        ):
            session.run(content)
