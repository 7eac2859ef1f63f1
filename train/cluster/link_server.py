# SPDX-License-Identifier: Apache-2.0
"""`LinkServer`: answers runs of processes of this machine and user, a thread a connection."""

from __future__ import annotations

import functools
import secrets
import select
import socket
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from ...engine import errors
from . import link
from .link_client import AGAIN, DONE, FAILED
from .packing import packed, unpacked

_PENDING = 128
# Runs that are told, by the kind of request: function(bytes) -> what answers the run.
Answer = Callable[[list[Any], "LinkCall", int], tuple[list[Any], list[Any]]]
Makers = Mapping[int, Callable[[bytes], Answer]]


class LinkCall:
    """What a run knows of its client: how long it waits, and when it gives up."""

    def __init__(self, watch: Callable[[LinkCall], None], seconds: float) -> None:
        self._watch = watch
        self._end = time.monotonic() + seconds if seconds else None
        self._functions: list[Callable[[], Any]] = []
        self._lock = threading.Lock()
        self.is_awaited = True

    @property
    def seconds(self) -> float | None:
        """How long the client waits; None: without end."""
        return None if self._end is None else max(self._end - time.monotonic(), 1e-3)

    def on_cancel(self, function: Callable[[], Any]) -> None:
        """Has a function called when the client gives up."""
        with self._lock:
            is_first = not self._functions
            self._functions.append(function)
            is_awaited = self.is_awaited
        if is_first:
            self._watch(self)
        if not is_awaited:
            function()

    def give_up(self) -> None:
        """Says that the client has gone."""
        with self._lock:
            self.is_awaited = False
            functions = list(self._functions)
        for function in functions:
            function()


class _Watcher:
    """Tells runs whose connection ends while they run."""

    def __init__(self) -> None:
        self._poll = select.epoll()
        self._calls: dict[int, LinkCall] = {}
        threading.Thread(target=self._work, name="numbaflow-link-watch", daemon=True).start()

    def add(self, file: int) -> None:
        """Knows of a connection, which is not watched yet."""
        self._poll.register(file, select.EPOLLONESHOT)

    def begin(self, file: int, call: LinkCall) -> None:
        """Watches a connection for a run."""
        self._calls[file] = call
        self._poll.modify(file, select.EPOLLRDHUP | select.EPOLLONESHOT)

    def end(self, file: int) -> None:
        """Ends that."""
        if self._calls.pop(file, None) is not None:
            self._poll.modify(file, select.EPOLLONESHOT)

    def _work(self) -> None:
        while True:
            for file, _ in self._poll.poll():
                call = self._calls.get(file)
                if call is not None:
                    call.give_up()


@functools.cache
def _watcher() -> _Watcher:
    """That of all servers of the process, as its thread never ends."""
    return _Watcher()


class LinkServer:
    """Listens at a name that only who asks over the server's port gets to know."""

    def __init__(self, makers: Makers, as_failure: Callable[[Exception], tuple[int, str]]) -> None:
        """as_failure(error) -> its code and text, as they cross."""
        self._makers, self._as_failure = makers, as_failure
        self.name = f"numbaflow-{secrets.token_hex(16)}"
        self._socket = link.make_socket()
        self._socket.bind("\0" + self.name)
        self._watcher = _watcher()
        self._lock = threading.Lock()
        self._wires: set[link.Wire] = set()

    def start(self) -> None:
        """Begins to listen."""
        self._socket.listen(_PENDING)
        threading.Thread(target=self._listen, name="numbaflow-link", daemon=True).start()

    def stop(self) -> None:
        """Ends listening, and all connections."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        with self._lock:
            wires, self._wires = self._wires, set()
        for wire in wires:
            wire.end()

    def _listen(self) -> None:
        while True:
            try:
                sock, _ = self._socket.accept()
            except OSError:
                return
            if not link.is_same_user(sock):
                sock.close()
                continue
            wire = link.Wire(sock)
            with self._lock:
                self._wires.add(wire)
            name = f"numbaflow-link-{sock.fileno()}"
            threading.Thread(target=self._serve, args=(wire,), name=name, daemon=True).start()

    def _serve(self, wire: link.Wire) -> None:
        runs: dict[int, Answer] = {}
        self._watcher.add(wire.socket.fileno())
        try:
            # Who sends what cannot be read is not answered either.
            with suppress(link.Closed, errors.DataLossError):
                while True:
                    self._answer(wire, wire.receive(), runs)
        finally:
            with self._lock:
                self._wires.discard(wire)
            wire.close()

    def _answer(self, wire: link.Wire, message: link.Message, runs: dict[int, Answer]) -> None:
        file = wire.socket.fileno()
        call = LinkCall(lambda own: self._watcher.begin(file, own), message.seconds)
        try:
            values = unpacked(message.body, message.tensors, message.is_mapped)
            kind, run = message.kind & 3, message.kind >> 2
            if kind != AGAIN:
                runs[run] = self._makers[kind](message.text)
            results, kinds = runs[run](values, call, message.number)
            pieces, size = packed(results, kinds)
        except errors.DataLossError:
            raise
        except Exception as error:
            self._watcher.end(file)
            code, text = self._as_failure(error)
            wire.send(FAILED, text.encode(), code)
            return
        self._watcher.end(file)
        wire.send(DONE, count=len(results), pieces=pieces, size=size)
