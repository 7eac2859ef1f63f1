# SPDX-License-Identifier: Apache-2.0
"""Files that appear under their names when they are whole, and what killed writers left of such.

Nothing waits for the disk unless NUMBAFLOW_FSYNC is 1: a file survives the death of its process in
any case, and a power cut in that one.
"""

from __future__ import annotations

import glob
import os
import re
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO

import numpy as np

from ..engine import stopping
from ..engine.errors import OpError
from . import crc, file_systems, files

try:
    import fcntl
except ImportError:  # not on this system: nobody else cleans up then either
    fcntl = None  # type: ignore[assignment]

# Content is copied, checked and written in pieces of this size: a piece stays in the cache.
PIECE = 1 << 20
_TEMPORARY = re.compile(r"\.tempstate[0-9a-f]{32}$")
# A file of that age whose writer holds no lock has no writer.
_ABANDONED = 60.0
# Shards wait in such folders until all are there, unlocked.
_SHARDS = re.compile(r"_temp_[0-9a-f]{32}$")
_ABANDONED_SHARDS = 3600.0


class Output:
    """A file under a temporary name until `publish`."""

    def __init__(self, path: str, size: int = 0) -> None:
        """size: at least so many bytes will be written; 0 when that is not known."""
        self.path = path
        self.temporary = f"{path}.tempstate{uuid.uuid4().hex}"
        self.size = 0
        self._piece = np.empty(PIECE, np.uint8)
        self._filled = 0
        self._file: IO[bytes] | None = files.open_binary(self.temporary, "wb")
        try:
            with files.translated(self.temporary):
                _prepare(self._file, size)
        except BaseException:
            self.discard()
            raise

    def write(self, data: bytes) -> None:
        """Appends some bytes."""
        if data:
            self.write_array(np.frombuffer(data, np.uint8))

    def write_array(self, data: np.ndarray) -> int:
        """Appends a flat array of bytes; returns the checksum of what was written.

        The bytes are copied first: a variable may change meanwhile, its checksum must not.
        """
        checksum, start, count = 0, 0, len(data)
        while start < count:
            stopping.check()
            end = min(count, start + PIECE - self._filled)
            copied = self._piece[self._filled : self._filled + end - start]
            copied[:] = data[start:end]
            checksum = crc.extend(checksum, copied)
            self._filled += end - start
            start = end
            if self._filled == PIECE:
                self._flush()
        self.size += count
        return checksum

    def _flush(self) -> None:
        assert self._file is not None
        with files.translated(self.temporary):
            self._file.write(self._piece[: self._filled].data)
        self._filled = 0

    def finish(self) -> None:
        """Hands everything to the system; the name is given by `publish`."""
        assert self._file is not None
        self._flush()
        with files.translated(self.temporary):
            files.sync(self._file)
            self._file.close()
        self._file = None

    def publish(self) -> None:
        """Gives the file its name, in place of what had it."""
        files.rename(self.temporary, self.path, overwrite=True)

    def discard(self) -> None:
        """Removes what was written."""
        try:
            if self._file is not None:
                self._file.close()
        except OSError:
            pass  # What is left to write does not matter any more.
        try:
            if files.file_exists(self.temporary):
                files.delete_file(self.temporary)
        except OpError:
            return  # The failure that led here is the one to report.


def _prepare(file: IO[bytes], size: int) -> None:
    """Locks a file for its writer and reserves its space, where the system can do such things."""
    try:
        number = file.fileno()
    except (OSError, AttributeError, NotImplementedError):
        return  # Not a file of the operating system.
    if fcntl is not None:
        try:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            pass  # A file system without locks: it has its age.
    if size >= PIECE and hasattr(os, "posix_fallocate"):
        # A full disk is noticed now, and what is written needs no blocks to be found one by one.
        _reserve(number, size)


def _reserve(number: int, size: int) -> None:
    import errno

    try:
        os.posix_fallocate(number, 0, size)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise


def remove_abandoned(path: str) -> None:
    """Removes what writers that were killed left in the folder of a file."""
    local = file_systems.of(path).local_path(path)
    if local is None or fcntl is None:
        return
    now = time.time()
    try:
        with os.scandir(os.path.dirname(local) or ".") as entries:
            found = [entry.path for entry in entries]
        for name in found:
            if _TEMPORARY.search(name) and os.stat(name).st_mtime < now - _ABANDONED:
                _remove_unlocked(name)
            elif _SHARDS.search(name):
                _remove_shards(name, now - _ABANDONED_SHARDS)
    except OSError:
        return  # Somebody else removed it, or this user may not: it does no harm.


def _remove_shards(folder: str, before: float) -> None:
    """Removes a folder of shards in which nothing has happened since."""
    with os.scandir(folder) as entries:
        found = [entry.path for entry in entries]
    if all(os.stat(name).st_mtime < before for name in (folder, *found)):
        for name in found:
            _remove_unlocked(name)
        os.rmdir(folder)


def _remove_unlocked(name: str) -> None:
    """Removes a file that nobody writes."""
    number = os.open(name, os.O_WRONLY)
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.unlink(name)
    except BlockingIOError:
        return
    finally:
        os.close(number)


@contextmanager
def locked(folder: str) -> Iterator[None]:
    """A context in which no other process of this machine is, for one local folder."""
    number = None
    # Not every system and file system has locks, and not every folder may be opened.
    with suppress(OSError, AttributeError):
        number = os.open(folder, os.O_RDONLY)
        fcntl.flock(number, fcntl.LOCK_EX)
    try:
        yield
    finally:
        if number is not None:
            os.close(number)  # and with it goes the lock


def matching(path: str, ending: str) -> list[str]:
    """The files whose path is exactly `path` followed by something that matches a pattern."""
    if not files.is_directory(os.path.dirname(path) or "."):
        return []
    return files.get_matching_files(glob.escape(path) + ending)
