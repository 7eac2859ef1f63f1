# SPDX-License-Identifier: Apache-2.0
"""A file that is read at any place, by several threads at once."""

from __future__ import annotations

import os
import threading

import numpy as np

from . import file_systems, files
from .file_systems import as_op_error

# One call of the system reads at most so much.
_LIMIT = 1 << 30


class DataFile:
    """An open file; it closes when nobody holds it any more."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._number: int | None = None
        local = file_systems.of(path).local_path(path)
        # Without reads at a place the position is shared, and one thread at a time may use it.
        if local is None or not hasattr(os, "preadv"):
            self._lock = threading.Lock()
            self._file = files.open_binary(path, "rb")
            return
        with files.translated(path):
            self._number = os.open(local, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))

    def __del__(self) -> None:
        if getattr(self, "_number", None) is not None:
            os.close(self._number)  # type: ignore[arg-type]
        elif hasattr(self, "_file"):
            self._file.close()

    @property
    def size(self) -> int:
        """How long the file is now."""
        with files.translated(self.path):
            if self._number is not None:
                return os.fstat(self._number).st_size
            with self._lock:
                return self._file.seek(0, os.SEEK_END)

    def read_into(self, target: memoryview, offset: int) -> int:
        """Reads from a place on until the target is full or the file ends; how much was read."""
        size = len(target)
        try:
            done = self._read(target if size <= _LIMIT else target[:_LIMIT], offset)
            count = done
            while count and done < size:
                count = self._read(target[done : done + _LIMIT], offset + done)
                done += count
        except OSError as error:
            raise as_op_error(error, self.path) from None
        return done

    def read_into_all(self, targets: list[np.ndarray], offset: int) -> int:
        """Reads from a place on into one contiguous array after the other; how much was read."""
        done = 0
        if self._number is not None:
            try:
                done = os.preadv(self._number, targets, offset)  # type: ignore[arg-type]
            except OSError as error:
                raise as_op_error(error, self.path) from None
        # What one call did not read, the next may.
        end = 0
        for target in targets:
            start, end = end, end + target.nbytes
            if done < end:
                view = target.reshape(-1).view(np.uint8).data[done - start :]
                done += self.read_into(view, offset + done)
                if done < end:
                    break
        return done

    def _read(self, target: memoryview, offset: int) -> int:
        if self._number is not None:
            return os.preadv(self._number, (target,), offset)
        with self._lock:
            self._file.seek(offset)
            return self._file.readinto(target)  # type: ignore[attr-defined]
