# SPDX-License-Identifier: Apache-2.0
"""`Stream`: short messages between two processes of one machine, any number of which are under way.

Who sends never waits for who reads: what the connection does not take at once is left to a thread.
So a process that stands still holds up nobody, and two that send to each other go on.
"""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections import deque
from contextlib import suppress
from typing import NamedTuple

from ...engine import errors
from .link import Closed

# kind, number, one number more, bytes of the body.
_HEADER = struct.Struct("<B7xQQQ")
# Larger bodies are read piece by piece: memory is taken for what has come, not for what is told.
_PIECE = 16 << 20
_BUFFER = 1 << 16
_LOOK = 0.005


class Note(NamedTuple):
    """One message; what `extra` says depends on its kind."""

    kind: int
    number: int
    extra: int
    body: bytes


class Stream:
    """One connection: any thread sends, one receives."""

    def __init__(self, sock: socket.socket) -> None:
        sock.settimeout(None)
        self._socket = sock
        self._file = sock.makefile("rb", _BUFFER)
        # Of what was not taken at once: pieces of messages, the first of which is being sent.
        self._left: deque[memoryview] = deque()
        self._changed = threading.Condition()
        self._has_writer = self._is_closed = False

    def send(self, kind: int, number: int, extra: int = 0, body: bytes = b"") -> None:
        """Sends a message, now or later; one that cannot be sent is for who receives to notice."""
        head = _HEADER.pack(kind, number, extra, len(body))
        with self._changed:
            if self._is_closed:
                return
            pieces = [memoryview(head), memoryview(body)]
            self._left.extend(pieces if self._left else self._taken(pieces))
            if not self._left:
                return
            self._changed.notify()
            if not self._has_writer:
                self._has_writer = True
                name = "numbaflow-stream"
                threading.Thread(target=self._write, name=name, daemon=True).start()

    def _taken(self, pieces: list[memoryview]) -> list[memoryview]:
        """Sends what the connection takes at once; the rest."""
        while pieces:
            try:
                sent = self._socket.sendmsg(pieces, (), socket.MSG_DONTWAIT)
            except BlockingIOError:
                return pieces
            except OSError:
                return []
            while pieces and sent >= len(pieces[0]):
                sent -= len(pieces.pop(0))
            if pieces:
                pieces[0] = pieces[0][sent:]
        return pieces

    def _write(self) -> None:
        with suppress(OSError):
            while True:
                with self._changed:
                    self._changed.wait_for(lambda: self._left or self._is_closed)
                    if self._is_closed:
                        return
                    piece = self._left[0]
                self._socket.sendall(piece)
                with self._changed:
                    # (Not before: who sends in the meantime has to queue up.)
                    self._left.popleft()

    def receive(self) -> Note:
        """The next message; Closed when there is none, DataLossError for one that is cut."""
        try:
            head = self._file.read(_HEADER.size)
            if not head:
                raise Closed("Socket closed")
            kind, number, extra, size = _HEADER.unpack(self._whole(head, _HEADER.size))
            return Note(kind, number, extra, self._body(size))
        except (OSError, ValueError) as error:
            raise Closed(str(error)) from None

    def _body(self, size: int) -> bytes:
        if size <= _PIECE:
            return self._whole(self._file.read(size), size)
        pieces, left = [], size
        while left:
            wanted = min(left, _PIECE)
            pieces.append(self._whole(self._file.read(wanted), wanted))
            left -= wanted
        return b"".join(pieces)

    @staticmethod
    def _whole(found: bytes, size: int) -> bytes:
        if len(found) < size:
            raise errors.data_loss(f"A message was cut after {len(found)} of {size} bytes.")
        return found

    def drain(self, end: float) -> None:
        """Waits until all is sent, no longer than to a time of the monotonic clock."""
        while self._left and time.monotonic() < end:
            time.sleep(_LOOK)

    def end(self) -> None:
        """Ends the connection: both sides see it at once."""
        with self._changed:
            self._is_closed = True
            self._left.clear()
            self._changed.notify()
        with suppress(OSError):
            # (The other side may have been first.)
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Ends the connection, from which nobody receives any more."""
        self.end()
        self._file.close()
        self._socket.close()
