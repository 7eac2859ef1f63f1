# SPDX-License-Identifier: Apache-2.0
"""`TensorServer`: gives tensors of steps to processes of this machine and user, as RecvTensor does.

A thread of each connection takes what is asked for; who has the tensor, later, answers.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Protocol

from ...engine import errors
from ...engine.session.futures import Future
from . import link
from .stream import Note, Stream
from .tensor_client import ASK, FAILED, FORGET, SUFFIX, VALUE

_PENDING = 128


class Source(Protocol):
    """Where the tensors come from."""

    def tensor(self, step: int, key: str) -> Future:
        """What will be under a key; OpError where that cannot be."""

    def given(self, step: int, value: Any) -> bytes:
        """The response with what a Future gave."""

    def unasked(self, step: int) -> None:
        """Notes that a Future of a step was given up, or failed."""


class TensorServer:
    """Listens at a name that only who asks over the server's port gets to know."""

    def __init__(
        self, name: str, source: Source, as_failure: Callable[[Exception], tuple[int, str]]
    ) -> None:
        """name: of the server's link; as_failure(error) -> its code and text, as they cross."""
        self._source, self._as_failure = source, as_failure
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.bind(f"\0{name}{SUFFIX}")
        self._lock = threading.Lock()
        self._streams: set[Stream] = set()

    def start(self) -> None:
        """Begins to listen."""
        self._socket.listen(_PENDING)
        threading.Thread(target=self._listen, name="numbaflow-tensors", daemon=True).start()

    def stop(self, seconds: float) -> None:
        """Ends listening, and all connections; what is on its way may take so long."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        with self._lock:
            streams, self._streams = self._streams, set()
        end = time.monotonic() + seconds
        for stream in streams:
            stream.drain(end)
            stream.end()

    def _listen(self) -> None:
        while True:
            try:
                sock, _ = self._socket.accept()
            except OSError:
                return
            if not link.is_same_user(sock):
                sock.close()
                continue
            stream = Stream(sock)
            with self._lock:
                self._streams.add(stream)
            name = f"numbaflow-tensors-{sock.fileno()}"
            threading.Thread(target=self._serve, args=(stream,), name=name, daemon=True).start()

    def _serve(self, stream: Stream) -> None:
        waiting: dict[int, Future] = {}
        try:
            # Who sends what cannot be read is not answered either.
            with suppress(link.Closed, errors.DataLossError):
                while True:
                    note = stream.receive()
                    if note.kind == ASK:
                        self._ask(stream, note, waiting)
                    elif note.kind == FORGET:
                        future = waiting.pop(note.number, None)
                        if future is not None:
                            future.cancel()
        finally:
            with self._lock:
                self._streams.discard(stream)
            stream.close()
            for future in list(waiting.values()):
                future.cancel()

    def _ask(self, stream: Stream, note: Note, waiting: dict[int, Future]) -> None:
        number, step = note.number, note.extra
        try:
            future = self._source.tensor(step, note.body.decode())
        except Exception as error:
            self._fail(stream, number, error)
            return
        is_there = future.is_done
        waiting[number] = future

        def respond(settled: Future) -> None:
            waiting.pop(number, None)
            if settled.error is not None and not is_there:
                self._source.unasked(step)
            try:
                stream.send(VALUE, number, 0, self._source.given(step, settled.outcome()))
            except Exception as error:
                self._fail(stream, number, error)

        future.watch(respond)

    def _fail(self, stream: Stream, number: int, error: Exception) -> None:
        code, text = self._as_failure(error)
        stream.send(FAILED, number, code, text.encode())
