# SPDX-License-Identifier: Apache-2.0
"""Where files are: the local disk, or what fsspec reaches behind a scheme such as gs://.

Both kinds raise the errors of `tf.errors`.
"""

from __future__ import annotations

import errno
import fnmatch
import glob
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

from ..engine import errors

_KINDS: tuple[tuple[type[errors.OpError], str], ...] = (
    (errors.NotFoundError, "ENOENT ENODEV ENXIO ESRCH"),
    (errors.AlreadyExistsError, "EEXIST EADDRNOTAVAIL EALREADY"),
    (errors.PermissionDeniedError, "EPERM EACCES EROFS"),
    (errors.FailedPreconditionError, "ENOTEMPTY EISDIR ENOTDIR EBADF EBUSY ETXTBSY EXDEV EPIPE"),
    (errors.InvalidArgumentError, "EINVAL ENAMETOOLONG E2BIG EDOM EFAULT ESPIPE ENOTTY"),
    (errors.ResourceExhaustedError, "ENOSPC EDQUOT EMFILE EMLINK ENFILE ENOBUFS ENOMEM"),
    (errors.OutOfRangeError, "EFBIG EOVERFLOW ERANGE"),
    (errors.UnimplementedError, "ENOSYS ENOTSUP ENOEXEC"),
    (errors.UnavailableError, "EAGAIN ECONNREFUSED ECONNABORTED ECONNRESET EINTR ENETDOWN"),
    (errors.DeadlineExceededError, "ETIMEDOUT"),
    (errors.AbortedError, "EDEADLK ESTALE"),
    (errors.CancelledError, "ECANCELED"),
)
# What says nothing of its size is read in pieces of so many bytes.
_PIECE = 1 << 20
_BY_NUMBER = {
    getattr(errno, name): kind
    for kind, names in _KINDS
    for name in names.split()
    if hasattr(errno, name)
}


def as_op_error(error: OSError, path: str) -> errors.OpError:
    """The error of `tf.errors` for one of the operating system's."""
    number = error.errno
    if number is None:  # fsspec raises the classes without numbers.
        number = {
            FileNotFoundError: errno.ENOENT,
            FileExistsError: errno.EEXIST,
            PermissionError: errno.EACCES,
            IsADirectoryError: errno.EISDIR,
            NotADirectoryError: errno.ENOTDIR,
        }.get(type(error))
    kind = _BY_NUMBER.get(number, errors.UnknownError) if number else errors.UnknownError
    reason = os.strerror(number) if number else str(error) or type(error).__name__
    return kind(None, None, f"{path}; {reason}")  # type: ignore[call-arg]


@contextmanager
def translated(path: str) -> Iterator[None]:
    """A context in which the operating system's errors become those of `tf.errors`."""
    try:
        yield
    except OSError as error:
        raise as_op_error(error, path) from None


class LocalFiles:
    """The files of this machine."""

    def local_path(self, path: str) -> str | None:
        """The path for the operating system; None for files elsewhere."""
        return path.removeprefix("file://")

    def path(self, path: str) -> str:
        """The path as this system's functions take it."""
        return path.removeprefix("file://")

    def open(self, path: str, mode: str) -> IO[bytes]:
        """A binary file; buffered little, since callers read and write large pieces."""
        return open(self.path(path), mode)

    def content(self, path: str) -> bytes:
        """All of a file, by as few calls of the system as can be: each lets go of Python's lock."""
        number = os.open(self.path(path), os.O_RDONLY | getattr(os, "O_BINARY", 0))
        try:
            size = os.fstat(number).st_size
            data = os.read(number, size + 1)
            if len(data) == size and size:
                return data
            # It says nothing of its size, as a pipe, has grown, or is read in pieces.
            pieces = [data]
            while piece := os.read(number, _PIECE):
                pieces.append(piece)
            return b"".join(pieces)
        finally:
            os.close(number)

    def exists(self, path: str) -> bool:
        return os.path.exists(self.path(path))

    def is_directory(self, path: str) -> bool:
        return os.path.isdir(self.path(path))

    def stat(self, path: str) -> tuple[int, int, bool]:
        """Length, time of the last change in nanoseconds, whether it is a folder."""
        found = os.stat(self.path(path))
        return found.st_size, found.st_mtime_ns, os.path.isdir(self.path(path))

    def children(self, path: str) -> list[str]:
        return os.listdir(self.path(path))

    def make_directory(self, path: str) -> None:
        os.mkdir(self.path(path))

    def make_directories(self, path: str) -> None:
        os.makedirs(self.path(path), exist_ok=True)

    def remove(self, path: str) -> None:
        os.unlink(self.path(path))

    def remove_empty(self, path: str) -> None:
        """Removes an empty folder."""
        os.rmdir(self.path(path))

    def remove_tree(self, path: str) -> None:
        shutil.rmtree(self.path(path))

    def rename(self, source: str, target: str) -> None:
        os.replace(self.path(source), self.path(target))

    def copy(self, source: str, target: str) -> None:
        shutil.copyfile(self.path(source), self.path(target))

    def glob(self, pattern: str) -> list[str]:
        """The paths that match, hidden ones too; `*` does not match a slash."""
        path = self.path(pattern)
        scheme = pattern[: len(pattern) - len(path)]
        return sorted(scheme + found for found in glob.glob(path, include_hidden=True))


class RemoteFiles:
    """The files that fsspec reaches by a scheme."""

    def __init__(self, scheme: str) -> None:
        try:
            import fsspec

            self.system: Any = fsspec.filesystem(_SCHEMES.get(scheme, scheme))
        except (ImportError, ValueError) as error:
            raise errors.unimplemented(
                f"File system scheme '{scheme}' not implemented: {error}"
            ) from None
        self.scheme = scheme

    def local_path(self, path: str) -> str | None:
        return None

    def path(self, path: str) -> str:
        return path.partition("://")[2]

    def open(self, path: str, mode: str) -> IO[bytes]:
        return self.system.open(self.path(path), mode)

    def content(self, path: str) -> bytes:
        """All of a file."""
        with self.open(path, "rb") as file:
            return file.read()

    def exists(self, path: str) -> bool:
        return self.system.exists(self.path(path))

    def is_directory(self, path: str) -> bool:
        return self.system.isdir(self.path(path))

    def stat(self, path: str) -> tuple[int, int, bool]:
        info = self.system.info(self.path(path))
        changed = info.get("mtime") or info.get("LastModified") or info.get("created") or 0
        seconds = changed.timestamp() if hasattr(changed, "timestamp") else changed
        seconds = float(seconds) if isinstance(seconds, (int, float)) else 0.0
        return int(info.get("size") or 0), int(seconds * 1e9), info.get("type") == "directory"

    def children(self, path: str) -> list[str]:
        listed = self.system.ls(self.path(path), detail=False)
        return [found.rstrip("/").rpartition("/")[2] for found in listed]

    def make_directory(self, path: str) -> None:
        self.system.mkdir(self.path(path), create_parents=False)

    def make_directories(self, path: str) -> None:
        self.system.makedirs(self.path(path), exist_ok=True)

    def remove(self, path: str) -> None:
        self.system.rm_file(self.path(path))

    def remove_empty(self, path: str) -> None:
        self.system.rmdir(self.path(path))

    def remove_tree(self, path: str) -> None:
        self.system.rm(self.path(path), recursive=True)

    def rename(self, source: str, target: str) -> None:
        if self.system.isfile(self.path(target)):
            self.system.rm_file(self.path(target))
        self.system.mv(self.path(source), self.path(target), recursive=self.is_directory(source))

    def copy(self, source: str, target: str) -> None:
        self.system.cp_file(self.path(source), self.path(target))

    def glob(self, pattern: str) -> list[str]:
        """The paths that match."""
        path = self.path(pattern)
        found = self.system.glob(path)
        leading = "/" if path.startswith("/") else ""
        names = (leading + name.lstrip("/") for name in found)
        return sorted(f"{self.scheme}://{name}" for name in names if fnmatch.fnmatch(name, path))


FileSystem = LocalFiles | RemoteFiles
# TensorFlow's names for schemes that fsspec calls otherwise.
_SCHEMES = {"ram": "memory"}
_LOCAL = LocalFiles()
_remote: dict[str, RemoteFiles] = {}


def of(path: str) -> FileSystem:
    """The file system that a path is in."""
    scheme, mark, _ = path.partition("://")
    if not mark or scheme == "file" or "/" in scheme:
        return _LOCAL
    if scheme not in _remote:
        _remote[scheme] = RemoteFiles(scheme)
    return _remote[scheme]
