# SPDX-License-Identifier: Apache-2.0
"""One event file: records of Event messages, handed to the system whole."""

from __future__ import annotations

import socket
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import IO, Any

from ..engine import errors
from . import protos
from .file_systems import translated
from .files import file_exists, open_binary
from .record import framed

# TensorBoard tells by it how to read the file (core/util/events_writer.cc).
_VERSION = "brain.Event:2"
# With so many bytes waiting, they are handed over before the next flush is due.
ENOUGH = 1 << 18
# So many bytes wait at most where the disk refuses them.
MOST = 64 << 20


class EventsWriter:
    """Appends events to "<prefix>.out.tfevents.<seconds>.<host><suffix>", made at the first one.

    Whole records only are handed to the operating system, so that a process that was killed leaves
    whole ones but, perhaps, the last, in the middle of which the system was: readers end there.
    What could not be written waits for the next try.
    """

    def __init__(self, prefix: str, suffix: str = "") -> None:
        self.path = prefix  # of the file, once there is one
        self._prefix, self.suffix = prefix, suffix
        self._file: IO[bytes] | None = None
        self._written = 0
        self._waiting: list[bytes] = []
        self.held = 0  # bytes that wait
        self.count = 0  # events that wait

    def open(self) -> None:
        """Makes the file."""
        if self._file is None:
            now = int(time.time())
            self._file = self._made(now)
            self._written = 0
            first = protos.Event(wall_time=now, file_version=_VERSION)
            self._waiting[:0] = framed(first.SerializeToString())
            self._hand_over()

    def _made(self, second: int) -> IO[bytes]:
        # TensorBoard looks for "tfevents" in names and sorts files by the time in them.  Another
        # writer's file of this second stays as it is.
        while True:
            host = socket.gethostname()
            self.path = f"{self._prefix}.out.tfevents.{second:010d}.{host}{self.suffix}"
            second += 1
            if file_exists(self.path):
                continue
            with suppress(errors.AlreadyExistsError):
                return open_binary(self.path, "wb" if "://" in self.path else "xb")

    def append(self, event: bytes) -> None:
        """Appends a serialized event, which is in the file after the next `flush`."""
        record = framed(event)
        self.extend(record, 1, sum(map(len, record)))

    def extend(self, records: Sequence[bytes], count: int, size: int) -> None:
        """Appends so many events as records of that size altogether."""
        self._waiting += records
        self.count += count
        self.held += size

    def flush(self) -> None:
        """Hands what was appended to the operating system.

        Raises:
            OpError: that is not possible, such as a ResourceExhaustedError for a full disk; the
                events stay with the writer.
        """
        if self._waiting:
            self.open()
            self._hand_over()

    def _hand_over(self) -> None:
        file = self._file
        assert file is not None, "made by open()"
        data = b"".join(self._waiting)
        with translated(self.path):
            try:
                _write_all(file, data)
            except OSError:
                # No half of a record may stay: what comes later would be lost with it.
                with suppress(OSError, ValueError):
                    file.seek(self._written)
                    file.truncate()
                raise
        self._written += len(data)
        self.discard()

    def discard(self) -> None:
        """Forgets what waits."""
        self._waiting, self.held, self.count = [], 0, 0

    def close(self) -> None:
        """Writes what is left and closes the file; the next event begins another."""
        try:
            self.flush()
        finally:
            file, self._file = self._file, None
            self.discard()
            if file is not None:
                with translated(self.path):
                    file.close()


def _write_all(file: Any, data: bytes) -> None:
    """Writes past Python's buffer, which would keep what the disk did not take."""
    raw = getattr(file, "raw", file)
    rest = memoryview(data)
    while rest:
        taken = raw.write(rest)
        rest = rest[len(rest) if taken is None else taken :]
    raw.flush()
