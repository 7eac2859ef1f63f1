# SPDX-License-Identifier: Apache-2.0
"""`TensorClient`: asks a server of this machine for tensors of steps, many at a time.

It is what RecvTensor is over gRPC, with the same responses: a tensor, or the memory that it is in.
"""

from __future__ import annotations

import itertools
import socket
import threading
from collections.abc import Callable
from typing import Any

from ...engine import errors
from ...engine.session.futures import Future
from . import link
from .stream import Note, Stream

# Kinds of messages: a tensor is asked for, nobody waits for it any more; it comes, or has failed.
ASK, FORGET, VALUE, FAILED = range(4)
# Where a server whose link has a name is asked for tensors.
SUFFIX = "-tensors"
# Seconds for a connection to a process of this machine.
_CONNECTING = 10.0


class Asked(Future):
    """A tensor that is on its way."""

    __slots__ = ("_decode", "_forget")

    def __init__(self, forget: Callable[[], None], decode: Callable[[bytes], Any]) -> None:
        super().__init__()
        self._forget, self._decode = forget, decode

    def cancel(self) -> None:
        """Gives up waiting, and tells the server so."""
        if self.settle(error=errors.cancelled("The call was cancelled.")):
            self._forget()

    def answer(self, note: Note) -> None:
        """Takes the server's response."""
        try:
            if note.kind != VALUE:
                text = note.body.decode(errors="replace")
                raise errors.make_error(None, None, text, note.extra)
            result = self._decode(note.body)
        except Exception as error:
            self.settle(error=error)
        else:
            self.settle(result)


class TensorClient:
    """The connection to one server; safe for several threads."""

    def __init__(self, name: str) -> None:
        """name: of the server's link.

        Raises:
            OSError: the server is not there any more.
        """
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            sock.settimeout(_CONNECTING)
            sock.connect(f"\0{name}{SUFFIX}")
            if not link.is_same_user(sock):
                raise OSError("another user listens there")
        except OSError:
            sock.close()
            raise
        self._stream = Stream(sock)
        self._lock = threading.Lock()
        self._numbers = itertools.count()
        # Those that are awaited; None once the connection has ended.
        self._asked: dict[int, Asked] | None = {}
        threading.Thread(target=self._read, name="numbaflow-tensors", daemon=True).start()

    @property
    def is_open(self) -> bool:
        """Whether the connection has not ended."""
        return self._asked is not None

    def ask(self, step: int, key: str, decode: Callable[[bytes], Any]) -> Asked | None:
        """The tensor of a step under a key, of a response; None once the connection has ended."""
        number = next(self._numbers)
        asked = Asked(lambda: self._forget(number), decode)
        with self._lock:
            if self._asked is None:
                return None
            self._asked[number] = asked
        self._stream.send(ASK, number, step, key.encode())
        return asked

    def _forget(self, number: int) -> None:
        with self._lock:
            if self._asked is None or self._asked.pop(number, None) is None:
                return
        self._stream.send(FORGET, number)

    def _read(self) -> None:
        text = "Socket closed"
        try:
            while True:
                note = self._stream.receive()
                with self._lock:
                    asked = None if self._asked is None else self._asked.pop(note.number, None)
                # (Who gave up may be answered all the same.)
                if asked is not None:
                    asked.answer(note)
        except (link.Closed, errors.DataLossError) as error:
            text = str(error)
        finally:
            with self._lock:
                left, self._asked = self._asked or {}, None
            self._stream.close()
            for asked in left.values():
                asked.settle(error=errors.unavailable(text))

    def close(self) -> None:
        """Ends the connection; what is awaited fails."""
        self._stream.end()
