# SPDX-License-Identifier: Apache-2.0
"""`Link`: runs at a server of this machine, over connections that stay.

What a run is (its feeds, fetches, targets) is told once to each connection; after that a run is the
number of it and the values of its feeds.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...engine import errors
from . import link
from .packing import packed, unpacked

if TYPE_CHECKING:
    from ...engine.types.dtypes import DType

# Kinds of requests: a run that was told before, runs that are told with it, of a master or worker.
AGAIN, STEP, PART = 0, 1, 2
# Kinds of responses.
DONE, FAILED = 0, 1
_DEADLINE_EXCEEDED = 4
# So many runs are told to a connection; then another takes its place, and both ends forget them.
_MOST = 1024
# Seconds for a connection to a process of this machine.
_CONNECTING = 10.0


class Told:
    """A run as it is told to a server: the request without values, the dtypes of its feeds."""

    def __init__(self, kind: int, request: Any, kinds: Sequence[DType]) -> None:
        """kind: STEP with a RunStepRequest, or PART with a RunGraphRequest."""
        self.kind, self.request, self.kinds = kind, request, list(kinds)
        self.text: bytes = request.SerializeToString()


class Pending:
    """A run under way, whose values `outcome` waits for."""

    def __init__(self, owner: Link, wire: link.Wire) -> None:
        self._owner, self._wire = owner, wire
        self._is_cancelled = False

    def cancel(self) -> None:
        """Ends the run: the server sees the connection end."""
        self._is_cancelled = True
        self._wire.end()

    def outcome(self) -> list[Any]:
        """The values of the run."""
        is_whole = False
        try:
            message = self._wire.receive()
            if message.kind == FAILED:
                is_whole = True
                raise errors.make_error(None, None, message.text.decode(), message.tensors)
            values = unpacked(message.body, message.tensors, message.is_own)
            is_whole = True
            return values
        except link.Closed as error:
            if self._is_cancelled:
                raise errors.cancelled("The call was cancelled.") from None
            raise errors.unavailable(str(error)) from None
        except TimeoutError:
            raise errors.make_error(None, None, "Deadline Exceeded", _DEADLINE_EXCEEDED) from None
        finally:
            # After Ctrl-C, say, the response would be taken for that of the next run.
            self._owner.give_back(self._wire, is_whole and not self._is_cancelled)


class Link:
    """The connections to one server; safe for several threads."""

    def __init__(self, name: str) -> None:
        """name: of the server's socket, as it has told."""
        self.name = name
        self._lock = threading.Lock()
        self._idle: list[link.Wire] = []
        self._is_closed = False
        # By connection the runs that were told there, with their numbers.
        self._known: dict[link.Wire, dict[Told, int]] = {}

    def begin(
        self, told: Told, values: Sequence[Any], seconds: float | None = None, number: int = 0
    ) -> Pending | None:
        """Begins a run; None when the server is not there any more."""
        pieces, size = packed(values, told.kinds)
        while True:
            wire = self._take()
            if wire is None:
                return None
            known = self._known[wire]
            run = known.get(told)
            if run is None and len(known) >= _MOST:
                self._drop(wire)
                continue
            kind, text = (AGAIN, b"") if run is not None else (told.kind, told.text)
            if run is None:
                run = known[told] = len(known)
            try:
                if wire.socket.gettimeout() != seconds:
                    wire.socket.settimeout(seconds)
                wire.send(kind | run << 2, text, len(values), pieces, size, number, seconds or 0.0)
                return Pending(self, wire)
            except (link.Closed, TimeoutError):
                # Nobody has got it.  A connection that was idle may be older than the server.
                self._drop(wire)
            except BaseException:
                self._drop(wire)
                raise

    def run(
        self, told: Told, values: Sequence[Any], seconds: float | None = None
    ) -> list[Any] | None:
        """The values of a run; None when the server is not there any more."""
        begun = self.begin(told, values, seconds)
        return None if begun is None else begun.outcome()

    def _take(self) -> link.Wire | None:
        with self._lock:
            if self._is_closed:
                return None
            if self._idle:
                return self._idle.pop()
        sock = link.make_socket()
        sock.settimeout(_CONNECTING)
        try:
            sock.connect("\0" + self.name)
            if not link.is_same_user(sock):
                raise OSError("another user listens there")
        except OSError:
            sock.close()
            return None
        wire = link.Wire(sock)
        self._known[wire] = {}
        return wire

    def _drop(self, wire: link.Wire) -> None:
        self._known.pop(wire, None)
        wire.close()

    def give_back(self, wire: link.Wire, is_whole: bool) -> None:
        """Keeps a connection for the next run, if its last one is over."""
        with self._lock:
            if is_whole and not self._is_closed:
                self._idle.append(wire)
                return
        self._drop(wire)

    def close(self) -> None:
        """Ends the connections that are idle, and the others when they are."""
        with self._lock:
            self._is_closed = True
            idle, self._idle = self._idle, []
        for wire in idle:
            self._drop(wire)

    def __del__(self) -> None:
        # Of sessions that nobody closed.
        self.close()
