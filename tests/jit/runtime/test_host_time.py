# SPDX-License-Identifier: Apache-2.0
"""What reference kernels take of a run is counted, and much of it is told of once."""

from __future__ import annotations

import logging
import time

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.engine.graph.build import define
from numbaflow.jit.runtime import host_time, runner

pytestmark = pytest.mark.cpu


def slow_kernel(c, x):
    time.sleep(0.002)
    return x


@pytest.fixture(scope="module", autouse=True)
def slow_op():
    define(
        "SlowCopy",
        "x: T -> y: T",
        "T: type",
        shape=lambda c: c.inputs[0],
        kernel=slow_kernel,
        touches=(),
    )


@pytest.fixture
def told(caplog, monkeypatch):
    monkeypatch.setattr(host_time, "_ENOUGH_SECONDS", 0.0)
    logger = logging.getLogger("tensorflow")
    logger.addHandler(caplog.handler)
    # (A record comes by way of the root too.)
    with tf.Graph().as_default():
        yield lambda: list(
            dict.fromkeys(r.getMessage() for r in caplog.records if "not compiled" in r.msg)
        )
    logger.removeHandler(caplog.handler)


def slow(x, name=None):
    return tf.get_default_graph().create_op("SlowCopy", [x], [tf.float32], name=name).outputs[0]


def test_much_time_in_reference_kernels_is_told_of_once(told):
    x = tf.placeholder(tf.float32, [None, 3])
    y = tf.reduce_sum(slow(tf.exp(x), "lazy") * 2.0)
    with settings.override(jit="always"), tf.Session() as session:
        for count in (2, 2, 2, 5, 5):
            session.run(y, {x: np.ones([count, 3])})
    (text,) = told()
    assert "SlowCopy 'lazy'" in text and "test_host_time.py" in text and "no lowering" in text


def test_causes_of_little_time_are_not_named(told):
    """Many small operations of one kind are one cause; what takes a hundredth of a run is none."""
    x = tf.placeholder(tf.float32, [None])
    small, large = (slow(x, name).op for name in ("small", "large"))
    with tf.Session() as session:
        meter = host_time.Meter(session)
        meter.add(large, "has no lowering", 0.5)
        meter.add(small, "another reason", 0.01)
        meter.ran(1.0)
        (text,) = told()
        assert "'large'" in text and "'small'" not in text and "; 50 %)" in text
        # It is told of once it takes more.
        meter.add(small, "another reason", 0.19)
        meter.ran(1.0)
        (_, text) = told()
        assert "'small'" in text and "'large'" not in text and "; 10 %)" in text


def test_little_time_in_reference_kernels_is_counted_and_not_told_of(told, monkeypatch):
    monkeypatch.setattr(host_time, "_MUCH", 0.999)
    x = tf.placeholder(tf.float32, [None])
    fetches = [tf.reduce_sum(tf.unique(x)[0])]
    with settings.override(jit="always"), tf.Session() as session:
        run = runner.make_runner(session, session.graph, fetches, [], [x])
        for _ in range(2):
            run([np.ones(4, np.float32)])
        meter = run.evaluate.meter
        assert 0 < meter.share < 1 and [op.type for op in meter.spent] == ["Unique"]
    assert not told()


def test_what_is_slow_by_its_nature_is_not_counted(told):
    x = tf.placeholder(tf.float32, [3])
    y = tf.py_func(lambda a: slow_kernel(None, a), [tf.exp(x)], tf.float32)
    with settings.override(jit="always"), tf.Session() as session:
        for _ in range(3):
            session.run(y, {x: np.ones(3)})
    assert not told()


def test_what_is_not_compiled_in_a_branch_is_told_of(told):
    x = tf.placeholder(tf.float32, [])
    y = tf.cond(x > 0, lambda: tf.fill([2], slow(x)), lambda: tf.fill([1], x))[0] * 2.0
    with settings.override(jit="always"), tf.Session() as session:
        for _ in range(3):
            session.run(y, {x: 3.0})
    (text,) = told()
    assert "SlowCopy 'cond/SlowCopy'" in text and "no lowering" in text


def test_a_loop_in_many_small_pieces_is_told_of(told):
    """What it spends goes from piece to piece, though each is compiled or the program's own."""
    parts = lambda i: np.arange(i % 3 + 1, dtype=np.float32)  # noqa: E731
    _, total = tf.while_loop(
        lambda i, t: i < 30,
        lambda i, t: (i + 1, t + tf.reduce_sum(tf.py_func(parts, [i], tf.float32))),
        (0, 0.0),
        name="longer",
    )
    with settings.override(jit="always"), tf.Session() as session:
        for _ in range(4):
            assert session.run(total) == 40
    (text,) = told()
    assert "Enter 'longer/Enter'" in text and "piece by piece: PyFunc" in text
    assert f"{__file__}:" in text


def test_waits_and_transport_are_not_counted(told):
    """What waits for others, or carries tensors to them, takes their time."""
    x = tf.placeholder(tf.float32, [])
    queue = tf.FIFOQueue(2, [tf.float32])
    element = tf.data.Dataset.range(3).make_one_shot_iterator().get_next()
    about = {"tensor_name": "x", "send_device_incarnation": 0, "send_device": "", "recv_device": ""}
    with tf.Session() as session:
        send = session.graph.create_op("_Send", [x], [], name="send", attrs=about)
        receive = session.graph.create_op(
            "_Recv", [], name="receive", attrs={**about, "tensor_type": tf.float32}
        )
        meter = host_time.Meter(session)
        for op in (send, receive, queue.enqueue(x), queue.dequeue().op, element.op):
            meter.add(op, "has no lowering", 1.0)
        meter.ran(5.0)
        assert not told() and meter.share == 0
        # How large a queue is need not be waited for.
        meter.add(queue.size().op, "has no lowering", 5.0)
        meter.ran(5.0)
        assert len(told()) == 1 and meter.share == 0.5


def test_a_part_that_sends_warns_of_nothing(told):
    """What another task does with a variable is transport alone on that of the variable."""
    pytest.importorskip("grpc")
    from numbaflow.train.cluster.launch import free_ports

    spec = {job: [f"localhost:{port}"] for job, port in zip(("ps", "worker"), free_ports(2))}
    servers = [tf.train.Server(spec, job_name=job, task_index=0) for job in spec]
    with tf.device("/job:ps"):
        kept = tf.get_variable("kept", [9 << 20], initializer=tf.zeros_initializer())
    with tf.device("/job:worker"):
        taken = tf.reduce_sum(kept)
    with tf.Session(servers[1].target) as session:
        session.run(kept.initializer)
        for _ in range(4):
            session.run(taken.op)
    for server in servers:
        server._stop()
    assert not told()


def test_what_native_code_does_is_not_told_of(told):
    """Codecs, parsers and summaries of pictures were no quicker if they were compiled."""
    pixels = tf.placeholder(tf.uint8, [None, None, 3])
    file = tf.image.encode_png(pixels)
    picture = tf.summary.image("p", tf.image.decode_png(file)[None])
    counted = tf.summary.histogram("h", tf.cast(pixels, tf.float32))
    with settings.override(jit="always"), tf.Session() as session:
        for _ in range(4):
            session.run([picture, counted], {pixels: np.ones([50, 50, 3], np.uint8)})
    assert not told()
