# SPDX-License-Identifier: Apache-2.0
"""Messages between processes of one machine: what they carry, and what becomes of those cut off."""

from __future__ import annotations

import os
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import errors
from numbaflow.engine.types import dtypes
from numbaflow.train.cluster import link, link_client
from numbaflow.train.cluster.packing import packed, unpacked

pytestmark = [
    pytest.mark.process,
    pytest.mark.cpu,
    pytest.mark.skipif(not link.is_possible(), reason="links are for Linux"),
]

SERVER = """
import numbaflow as tf
server = tf.train.Server.create_local_server()
print(server.target, flush=True)
server.join()
"""


@pytest.fixture
def wires() -> Iterator[tuple[link.Wire, link.Wire]]:
    """Both ends of a connection."""
    pair = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ends = link.Wire(pair[0]), link.Wire(pair[1])
    yield ends
    for end in ends:
        end.close()


@pytest.fixture
def server() -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """A server in a process of its own: its target."""
    process = subprocess.Popen(
        [sys.executable, "-c", SERVER], stdout=subprocess.PIPE, text=True, env=dict(os.environ)
    )
    assert process.stdout is not None
    yield process.stdout.readline().strip(), process
    process.kill()
    process.wait()
    process.stdout.close()


def arrays() -> list[tuple[np.ndarray, dtypes.DType]]:
    draws = np.random.default_rng(0)
    texts = np.array([[b"a", b"", b"\0" * 300]], object)
    return [
        (np.float32(3).reshape(()), dtypes.float32),
        (draws.random([3, 1, 5]), dtypes.float64),
        (np.zeros([0, 4], np.int8), dtypes.int8),
        (draws.random([40, 50]).T, dtypes.float64),
        (np.ones([7], dtypes.bfloat16.np_dtype), dtypes.bfloat16),
        (texts, dtypes.string),
        (np.array([True, False]), dtypes.bool),
    ]


@pytest.mark.parametrize("size", [3, 20_000, 300_000, 5 << 20])
def test_tensors_arrive_as_they_were(wires: tuple[link.Wire, link.Wire], size: int) -> None:
    given = [*arrays(), (np.arange(size, dtype=np.int64), dtypes.int64)]
    values, kinds = zip(*given)
    pieces, count = packed(values, kinds)
    for _ in range(2):
        wires[0].send(5, b"text\0", len(values), pieces, count, 1 << 60, 2.5)
        message = wires[1].receive()
        assert message[:3] == (5, len(values), b"text\0")
        assert (message.number, message.seconds) == (1 << 60, 2.5)
        found = unpacked(message.body, message.tensors, message.is_own)
        for value, other in zip(values, found, strict=True):
            assert value.dtype == other.dtype
            np.testing.assert_array_equal(value, other)


def test_a_message_shorter_than_it_says_is_refused(wires: tuple[link.Wire, link.Wire]) -> None:
    wires[0].send(0, b"x" * 200)
    packet = wires[1].socket.recv(1 << 16)
    for cut in (10, 64, 100):
        wires[0].socket.send(packet[:cut])
        with pytest.raises(errors.DataLossError):
            wires[1].receive()


def test_memory_that_was_not_given_is_not_read(wires: tuple[link.Wire, link.Wire]) -> None:
    wires[0].send(0, b"x" * (100 << 10))
    packet = wires[1].socket.recv(1 << 16)  # without the memory that came with it
    wires[0].socket.send(packet)
    with pytest.raises(errors.DataLossError, match="memory given"):
        wires[1].receive()


def test_memory_that_may_shrink_is_not_mapped(wires: tuple[link.Wire, link.Wire]) -> None:
    wires[0].send(0, b"x" * (100 << 10))
    packet = wires[1].socket.recv(1 << 16)
    file = os.memfd_create("unsealed")
    os.ftruncate(file, 1 << 20)
    socket.send_fds(wires[0].socket, [packet], [file])
    os.close(file)
    with pytest.raises(errors.DataLossError):
        wires[1].receive()


def test_tensors_that_declare_more_than_there_is_are_refused() -> None:
    pieces, size = packed([np.arange(10.0)], [dtypes.float64])
    body = bytearray(b"".join(bytes(piece) for piece in pieces))
    assert len(body) == size
    for at, form, value in ((4 + 4, "<Q", 1 << 40), (16, "<q", 11), (16, "<q", -1), (0, "<H", 999)):
        wrong = bytearray(body)
        struct.pack_into(form, wrong, at, value)
        with pytest.raises(errors.DataLossError):
            unpacked(memoryview(wrong), 1, False)
    with pytest.raises(errors.DataLossError):
        unpacked(memoryview(body), 3, True)


def test_runs_go_by_the_link(server: tuple[str, subprocess.Popen[str]]) -> None:
    with tf.Graph().as_default(), tf.Session(server[0]) as sess:
        fed = tf.placeholder(tf.float32, [None])
        twice = fed * 2.0
        text = tf.strings.join([tf.constant("a"), tf.constant("b")])
        assert sess.run([twice, text, twice], {fed: [1, 2]})[1] == b"ab"
        assert sess.remote._master.link is not None
        large = np.arange(1 << 20, dtype=np.float32)
        found = sess.run(twice, {fed: large})
        np.testing.assert_array_equal(found, large * 2)
        found += 1  # It is the caller's own.
        later = sess.run(twice, {fed: large})
        np.testing.assert_array_equal(later, found - 1)
        with pytest.raises(tf.errors.InvalidArgumentError, match="must be positive"):
            checked = tf.debugging.assert_positive(fed, message="must be positive")
            sess.run(checked, {fed: [-1.0]})


def test_a_run_that_waits_ends_with_its_time(server: tuple[str, subprocess.Popen[str]]) -> None:
    with tf.Graph().as_default(), tf.Session(server[0]) as sess:
        taken = tf.FIFOQueue(1, tf.float32).dequeue()
        one = tf.constant(1.0)
        sess.run(one)
        start = time.monotonic()
        with pytest.raises(tf.errors.DeadlineExceededError):
            sess.run(taken, options=tf.RunOptions(timeout_in_ms=300))
        limited = tf.ConfigProto(operation_timeout_in_ms=300)
        with tf.Session(server[0], config=limited) as other:
            other.run(one)
            with pytest.raises(tf.errors.DeadlineExceededError):
                other.run(taken)
        assert time.monotonic() - start < 10
        assert sess.run(one) == 1


def test_a_server_that_dies_ends_runs(server: tuple[str, subprocess.Popen[str]]) -> None:
    with tf.Graph().as_default():
        sess = tf.Session(server[0])
        taken = tf.FIFOQueue(1, tf.float32).dequeue()
        sess.run(tf.constant(1.0))
        threading.Timer(0.5, server[1].kill).start()
        with pytest.raises(tf.errors.UnavailableError, match="Socket closed"):
            sess.run(taken)
        sess.close()


def test_runs_that_are_told_are_not_kept_for_ever(server, monkeypatch):
    monkeypatch.setattr(link_client, "_MOST", 2)
    with tf.Graph().as_default(), tf.Session(server[0]) as session:
        x = tf.placeholder(tf.float32, [])
        sums = [x + float(i) for i in range(5)]
        session.run(sums[0], {x: 1.0})
        found = [session.run(one, {x: 1.0}) for one in (*sums, *sums[:2])]
        assert found == [1.0, 2.0, 3.0, 4.0, 5.0, 1.0, 2.0]
        known = session.remote._master.link._known
        assert [len(runs) for runs in known.values()] in ([1], [2])
