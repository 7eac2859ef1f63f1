# SPDX-License-Identifier: Apache-2.0
"""The executor for branches and loops: frames, dead values, order, traces, endings."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine.session import interpreter
from numbaflow.engine.session.dataflow import FlowProgram
from numbaflow.ops.flow import control_flow

pytestmark = pytest.mark.programs


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.mark.pure
def test_only_control_flow_changes_the_executor():
    x = tf.constant(1.0)
    with tf.Session() as session:
        plain = interpreter.prepared(session, [x + 1.0], [], [])
        flow = interpreter.prepared(session, [control_flow.switch(x, True)[1]], [], [])
    assert type(plain) is interpreter.Program
    assert type(flow) is FlowProgram


def test_a_merge_takes_what_is_there():
    x, p = tf.placeholder(tf.float32, []), tf.placeholder(tf.bool, [])
    false, true = control_flow.switch(x, p)
    value, index = control_flow.merge([false + 1.0, true * 2.0])
    with tf.Session() as session:
        assert session.run([value, index], {x: 3, p: False}) == [4, 0]
        assert session.run([value, index], {x: 3, p: True}) == [6, 1]


def test_a_trigger_runs_where_all_is_dead():
    v = tf.Variable(0)
    dead, _ = control_flow.switch(tf.constant(1), tf.constant(True))
    with tf.control_dependencies([tf.identity(dead)]):
        trigger = control_flow.control_trigger()
        never = tf.assign_add(v, 100).op
    with tf.control_dependencies([trigger]):
        always = tf.assign_add(v, 1).op
    with tf.Session() as session:
        session.run(v.initializer)
        session.run([never, always])
        assert session.run(v) == 1


def test_inputs_from_two_frames_are_refused():
    inside = control_flow.enter(tf.constant(1), "loop")
    with tf.Session() as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match="different frames"):
            session.run(control_flow.exit(inside + tf.constant(1)))


def test_iterations_run_one_after_the_other():
    seen = []

    def note(step, value):
        seen.append((int(step), int(value)))
        return value

    def body(i, a):
        with tf.control_dependencies([tf.py_func(note, [0, i], tf.int32)]):
            a = a + tf.while_loop(lambda j: j < i, lambda j: j + 1, [0])
        with tf.control_dependencies([tf.py_func(note, [1, a], tf.int32)]):
            return i + 1, tf.identity(a)

    result = tf.while_loop(lambda i, a: i < 3, body, [0, 0])
    with tf.Session() as session:
        assert session.run(result) == (3, 3)
    assert seen == [(0, 0), (1, 0), (0, 1), (1, 1), (0, 2), (1, 3)]


def test_a_trace_has_every_iteration():
    loop = tf.while_loop(lambda i: i < 4, lambda i: tf.add(i, 1, name="count"), [0])
    metadata = tf.RunMetadata()
    with tf.Session() as session:
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        assert session.run(loop, options=options, run_metadata=metadata) == 4
    names = [n.node_name for d in metadata.step_stats.dev_stats for n in d.node_stats]
    assert names.count("while/count") == 4


@pytest.mark.pure
def test_partial_runs_are_refused():
    x = tf.placeholder(tf.float32, [])
    y = tf.cond(x > 0, lambda: x, lambda: -x)
    with tf.Session() as session:
        with pytest.raises(tf.errors.UnimplementedError, match="partial_run"):
            session.partial_run_setup([y], [x])


def test_an_endless_loop_ends_with_its_session():
    endless = tf.while_loop(lambda i: i >= 0, lambda i: i * 0, [0])
    session = tf.Session()
    timer = threading.Timer(0.2, session.close)
    timer.start()
    with pytest.raises(tf.errors.CancelledError):
        session.run(endless)
    timer.join()
    with tf.Session() as other, pytest.raises(tf.errors.DeadlineExceededError):
        other.run(endless, options=tf.RunOptions(timeout_in_ms=200))


def test_a_fed_value_inside_of_a_branch():
    x = tf.placeholder(tf.float32, [])
    y = tf.cond(x > 0, lambda: x * 2.0, lambda: x)
    with tf.Session() as session:
        assert session.run(y + 1.0, {x: 1.0}) == 3.0
        assert session.run(y + 1.0, {y: 5.0}) == 6.0
        assert session.run([y.op.outputs[1], y], {x: 1.0, y: 5.0}) == [1, 5.0]


@pytest.mark.cpu
def test_many_loops_in_many_threads():
    n = tf.placeholder(tf.int32, [])
    total = tf.while_loop(
        lambda i, s: i < n,
        lambda i, s: (i + 1, s + tf.cond(tf.equal(i % 3, 0), lambda: i, lambda: -i)),
        [0, 0],
    )[1]
    wrong = []

    def work(session, number):
        for size in range(number, number + 20):
            want = sum(i if i % 3 == 0 else -i for i in range(size))
            if session.run(total, {n: size}) != want:
                wrong.append(size)

    with tf.Session() as session:
        threads = [threading.Thread(target=work, args=(session, i)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not wrong


def test_kernels_obey_their_declared_types(monkeypatch):
    monkeypatch.setattr(interpreter, "verify", True)
    x = tf.placeholder(tf.float32, [3])
    y = tf.scan(lambda a, e: tf.cond(e > 1, lambda: a * e, lambda: a), x)
    with tf.Session() as session:
        got = session.run([y, tf.gradients(y, x)[0]], {x: [2.0, 0.5, 3.0]})
    np.testing.assert_array_equal(got[0], [2, 2, 6])
    np.testing.assert_array_equal(got[1], [5, 0, 2])
