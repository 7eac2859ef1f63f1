# SPDX-License-Identifier: Apache-2.0
"""Tensors that processes of one machine ask each other for, and what becomes of those cut off."""

from __future__ import annotations

import secrets
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from numbaflow.engine import errors
from numbaflow.engine.session.futures import Future
from numbaflow.train.cluster import link, tensor_client
from numbaflow.train.cluster.stream import Stream
from numbaflow.train.cluster.tensor_client import TensorClient
from numbaflow.train.cluster.tensor_server import TensorServer

from .fault_tasks import until

pytestmark = [
    pytest.mark.programs,
    pytest.mark.skipif(not link.is_possible(), reason="processes of a machine are not linked here"),
]


class Source:
    """Gives what a test says, when it does."""

    def __init__(self) -> None:
        self.futures: dict[tuple[int, str], Future] = {}
        self.forgotten: list[int] = []
        self._lock = threading.Lock()

    def tensor(self, step: int, key: str) -> Future:
        if key == "none":
            raise errors.internal("there is no such tensor")
        with self._lock:
            return self.futures.setdefault((step, key), Future())

    def given(self, step: int, value: Any) -> bytes:
        return value

    def unasked(self, step: int) -> None:
        self.forgotten.append(step)


@pytest.fixture
def server() -> Iterator[tuple[str, Source]]:
    """A server's name, and what it gives."""
    source, name = Source(), f"numbaflow-{secrets.token_hex(16)}"
    made = TensorServer(name, source, lambda error: (error.error_code, error.message))
    made.start()
    yield name, source
    made.stop(0.5)


@pytest.fixture
def client(server: tuple[str, Source]) -> Iterator[TensorClient]:
    """One that asks it."""
    made = TensorClient(server[0])
    yield made
    made.close()


def awaited(future: Future | None) -> Any:
    assert future is not None
    until(lambda: future.is_done)
    return future.outcome()


@pytest.mark.parametrize("size", [0, 10, 1 << 20, (16 << 20) + 5])
def test_answers_come_in_any_order(server, client, size):
    source = server[1]
    asked = [client.ask(7, f"key {i}", bytes) for i in range(3)]
    until(lambda: len(source.futures) == 3)
    for i in (2, 0, 1):
        source.futures[7, f"key {i}"].settle(bytes([i]) * size)
    assert [awaited(one) for one in asked] == [bytes([i]) * size for i in range(3)]


def test_failures_are_those_of_the_server(server, client):
    with pytest.raises(errors.InternalError, match="no such tensor"):
        awaited(client.ask(1, "none", bytes))
    source, asked = server[1], client.ask(1, "some", bytes)
    until(lambda: source.futures)
    source.futures[1, "some"].settle(error=errors.aborted("the step is over"))
    with pytest.raises(errors.AbortedError, match="step is over"):
        awaited(asked)
    assert source.forgotten == [1]


def test_what_cannot_be_read_fails_alone(server, client):
    def refuse(response: bytes) -> Any:
        raise errors.data_loss("no tensor")

    source = server[1]
    for key, decode in (("a", refuse), ("b", bytes)):
        source.futures[1, key] = Future()
        source.futures[1, key].settle(b"some")
        asked = client.ask(1, key, decode)
        if key == "a":
            with pytest.raises(errors.DataLossError, match="no tensor"):
                awaited(asked)
        else:
            assert awaited(asked) == b"some"


def test_who_gives_up_is_not_waited_for(server, client):
    source = server[1]
    asked = client.ask(3, "key", bytes)
    until(lambda: source.futures)
    asked.cancel()
    with pytest.raises(errors.CancelledError):
        awaited(asked)
    until(lambda: source.forgotten == [3])
    # The value is for the next one then.
    assert not source.futures[3, "key"].settle(b"late")


def test_a_connection_that_ends_is_seen_by_both(server, client):
    source = server[1]
    asked = client.ask(3, "key", bytes)
    until(lambda: source.futures)
    client.close()
    with pytest.raises(errors.UnavailableError, match="closed"):
        awaited(asked)
    until(lambda: source.forgotten == [3])
    until(lambda: not client.is_open)
    assert client.ask(3, "key", bytes) is None


def test_a_server_that_is_gone_refuses(server):
    with pytest.raises(OSError):
        TensorClient("numbaflow-of-nobody")


def test_messages_that_are_cut_harm_nobody_else(server, client):
    source = server[1]
    source.futures[1, "key"] = Future()
    source.futures[1, "key"].settle(b"some")
    for data in (b"", b"\0" * 31, b"\0" * 31 + b"\1", b"\xff" * 40, bytes(32) + b"\xff" * 9):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as cut:
            cut.connect(f"\0{server[0]}{tensor_client.SUFFIX}")
            cut.sendall(data)
    assert awaited(client.ask(1, "key", bytes)) == b"some"


def test_nobody_waits_for_who_does_not_read():
    ours, theirs = (Stream(one) for one in socket.socketpair())
    body = bytes(range(256)) * 4096
    start = time.monotonic()
    for number in range(20):
        ours.send(1, number, number + 1, body)
    assert time.monotonic() - start < 30
    for number in range(20):
        note = theirs.receive()
        assert note[:3] == (1, number, number + 1) and note.body == body
    ours.drain(time.monotonic() + 30)
    ours.send(2, 0)
    assert theirs.receive().kind == 2
    for one in (ours, theirs):
        one.close()


def test_sizes_that_are_told_take_no_memory():
    ours, theirs = socket.socketpair()
    stream = Stream(theirs)
    ours.sendall(b"\1" + bytes(23) + b"\xff" * 7 + b"\0" + b"some")
    ours.close()
    with pytest.raises(errors.DataLossError, match="cut"):
        stream.receive()
    stream.close()
