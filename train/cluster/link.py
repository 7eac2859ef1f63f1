# SPDX-License-Identifier: Apache-2.0
"""`Wire`: messages between two processes of one machine and user, over a Unix socket.

A message is one packet; what is too large for it lies in memory that both have mapped.  Each side
writes its own: an arena that is used again for every message, or memory for one message alone if
that is very large.  The memory is sealed against shrinking before it is handed on, so that a side
that dies or errs cannot take it away from under the other.
"""

from __future__ import annotations

import fcntl
import functools
import mmap
import os
import socket
import struct
from array import array
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from ...engine import errors
from .shared_memory import machine, make_memory, map_memory

# kind, where the body is, tensors, bytes of the text before them, bytes of all, number, seconds.
_HEADER = struct.Struct("<IHxxIIQQd")
_START = 64
# Larger bodies lie in mapped memory; so much fits into a packet of every Linux.
_INLINE = 48 << 10
# Larger ones have memory of their own, which nobody keeps.
_ARENA = 32 << 20
_LEAST = 1 << 20
_IN_PACKET, _IN_ARENA, _IN_FILE = 0, 1, 2
_DESCRIPTORS = socket.CMSG_SPACE(array("i").itemsize) if hasattr(socket, "CMSG_SPACE") else 0
_PEER = struct.Struct("3i")


class Message(NamedTuple):
    """What came: its kind, how many tensors, a text, the bytes of the tensors."""

    kind: int
    tensors: int
    text: bytes
    body: memoryview
    number: int
    seconds: float
    # Whether the memory of `body` is the receiver's alone.
    is_own: bool
    # Whether it stays as it is until the receiver sends something itself.
    is_mapped: bool


class Closed(Exception):
    """The other side has ended the connection."""


@functools.cache
def is_possible() -> bool:
    """Whether processes of this machine can be linked: on Linux."""
    return bool(machine()) and hasattr(socket, "SO_PEERCRED") and hasattr(fcntl, "F_ADD_SEALS")


def make_socket() -> socket.socket:
    """A socket of the kind that links have."""
    return socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def is_same_user(sock: socket.socket) -> bool:
    """Whether the process at the other end is of this user."""
    peer = sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size)
    return bool(_PEER.unpack(peer)[1] == os.getuid())


class Wire:
    """One connection; one message at a time in each direction."""

    def __init__(self, sock: socket.socket) -> None:
        self.socket = sock
        self._packet = bytearray(_START + _INLINE)
        self._view = memoryview(self._packet)
        self._mine: mmap.mmap | None = None
        self._theirs: memoryview | None = None

    def send(
        self,
        kind: int,
        text: bytes = b"",
        count: int = 0,
        pieces: Sequence[Any] = (),
        size: int = 0,
        number: int = 0,
        seconds: float = 0.0,
    ) -> None:
        """Sends tensors, `pieces` of `size` bytes, after a text; Closed when nobody listens."""
        length = len(text)
        padded = text + bytes(-length % _START)
        size += len(padded)
        content: Sequence[Any] = (padded, *pieces)
        where = _IN_PACKET
        files: tuple[int, ...] = ()
        if size > _INLINE:
            where = _IN_ARENA if size <= _ARENA else _IN_FILE
            files, content = self._place(where, size, content), ()
        header = _HEADER.pack(kind, where, count, length, size, number, seconds)
        packet = (header, bytes(_START - len(header)), *content)
        try:
            if files:
                socket.send_fds(self.socket, packet, files)
            else:
                self.socket.sendmsg(packet)
        except TimeoutError:
            raise
        except OSError as error:
            raise Closed(str(error)) from None
        finally:
            for file in files:
                os.close(file)

    def _place(self, where: int, size: int, content: Sequence[Any]) -> tuple[int, ...]:
        """Writes a body to mapped memory; the files that the other side needs for it."""
        files: tuple[int, ...] = ()
        memory, file = self._mine, -1
        if where == _IN_FILE:
            memory, file = make_memory("numbaflow-link", size)
            files = (file,)
        elif memory is None or len(memory) < size:
            memory, file = make_memory("numbaflow-link", max(_LEAST, 1 << (size - 1).bit_length()))
            self._mine, files = memory, (file,)
        at = 0
        for piece in content:
            memory[at : at + len(piece)] = piece
            at += len(piece)
        return files

    def receive(self) -> Message:
        """The next message; Closed when there is none, DataLossError for one that is cut."""
        try:
            got, extra, flags, _ = self.socket.recvmsg_into((self._packet,), _DESCRIPTORS)
        except TimeoutError:
            raise
        except OSError as error:
            raise Closed(str(error)) from None
        files = _files(extra) if extra else []
        try:
            if not got:
                raise Closed("Socket closed")
            if got < _START or flags & (socket.MSG_TRUNC | socket.MSG_CTRUNC):
                raise errors.data_loss(f"A message was cut after {got} bytes.")
            kind, where, count, text, size, number, seconds = _HEADER.unpack_from(self._packet)
            body = self._body(where, size, got, files)
            start = text + -text % _START
            if start > size:
                raise errors.data_loss(f"A message of {size} bytes has a text of {text}.")
            return Message(
                kind,
                count,
                bytes(body[:text]) if text else b"",
                body[start:] if start else body,
                number,
                seconds,
                where == _IN_FILE,
                where != _IN_PACKET,
            )
        finally:
            for file in files:
                os.close(file)

    def _body(self, where: int, size: int, got: int, files: Sequence[int]) -> memoryview:
        if where == _IN_PACKET:
            if size != got - _START:
                raise errors.data_loss(f"A message of {size} bytes came as {got - _START}.")
            return self._view[_START:got]
        if where == _IN_FILE:
            if not files:
                raise errors.data_loss("A message came without its memory.")
            return map_memory(files[0], size, mmap.ACCESS_COPY)
        if files:
            self._theirs = map_memory(files[0], None, mmap.ACCESS_READ)
        if self._theirs is None or size > len(self._theirs):
            raise errors.data_loss(f"A message of {size} bytes is not in the memory given.")
        return self._theirs[:size]

    def end(self) -> None:
        """Ends the connection: both sides see it at once, whatever they wait for."""
        with suppress(OSError):
            # (The other side may have been first.)
            self.socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Ends the connection, which no other thread uses."""
        self.end()
        self.socket.close()


def _files(extra: Sequence[tuple[int, int, bytes]]) -> list[int]:
    found = array("i")
    for level, kind, data in extra:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            found.frombytes(data[: len(data) - len(data) % found.itemsize])
    return list(found)
