# SPDX-License-Identifier: Apache-2.0
"""`tf.gfile` and `tf.io.gfile`: files on this machine and behind schemes such as gs://.

The functions have the names of TensorFlow's file_io module; public.py gives them the public ones.
"""

from __future__ import annotations

import binascii
import os
import re
import uuid
from collections.abc import Callable, Iterable, Iterator
from typing import IO, Any

from ..engine import errors, settings
from ..engine.compat import as_bytes, as_str_any, path_to_str
from . import file_systems
from .file_systems import translated

_WILDCARDS = re.compile(r"[*?\[\\]")
_BLOCK = 16 * 1024 * 1024
# So much may be read ahead of knowing whether it is there.
_PIECE = 1 << 20


def _text(path: Any) -> str:
    """A path given as text, bytes or a path object."""
    path = path_to_str(path)
    if not isinstance(path, (str, bytes)):
        raise TypeError(f"Expected binary or unicode string, got {path!r}")
    return os.fsdecode(path)


class FileStatistics:
    """What `stat` tells about a path."""

    __slots__ = ("is_directory", "length", "mtime_nsec")

    def __init__(self, length: int = -1, mtime_nsec: int = 0, is_directory: bool = False) -> None:
        self.length = length
        self.mtime_nsec = mtime_nsec
        self.is_directory = is_directory

    def __repr__(self) -> str:
        return (
            f"<FileStatistics length={self.length} mtime_nsec={self.mtime_nsec} "
            f"is_directory={self.is_directory}>"
        )


class FileIO:
    """A file, opened when it is first read or written; text unless the mode has a "b"."""

    def __init__(self, name: object, mode: str) -> None:
        plain = mode.replace("b", "")
        if plain not in ("r", "w", "a", "r+", "w+", "a+"):
            raise errors.invalid("mode is not 'r' or 'w' or 'a' or 'r+' or 'w+' or 'a+'")
        self._name = name
        self._mode = mode
        self._binary_mode = "b" in mode
        self._readable = plain in ("r", "r+", "a+", "w+")
        self._writable = plain != "r"
        self._reader: IO[bytes] | None = None
        self._writer: IO[bytes] | None = None

    @property
    def name(self) -> Any:
        """The path."""
        return self._name

    @property
    def mode(self) -> str:
        """The mode that the file was opened in."""
        return self._mode

    def _open(self, mode: str) -> IO[bytes]:
        path = _text(self._name)
        with translated(path):
            return file_systems.of(path).open(path, mode)

    def _reading(self) -> IO[bytes]:
        if self._reader is None:
            if not self._readable:
                raise errors.permission_denied("File isn't open for reading")
            self._reader = self._open("rb")
        if self._writer is not None:
            self._writer.flush()
        return self._reader

    def _writing(self) -> IO[bytes]:
        if self._writer is None:
            if not self._writable:
                raise errors.permission_denied("File isn't open for writing")
            self._writer = self._open("ab" if "a" in self._mode else "wb")
        return self._writer

    def _as_asked(self, value: bytes) -> Any:
        return value if self._binary_mode else value.decode()

    def size(self) -> int:
        """The length of the file in bytes."""
        return stat(self._name).length

    def write(self, file_content: bytes | str) -> None:
        """Writes at the end of the file."""
        with translated(_text(self._name)):
            self._writing().write(as_bytes(file_content))

    def read(self, n: int = -1) -> Any:
        """The next `n` bytes, or the rest."""
        with translated(_text(self._name)):
            return self._as_asked(self._reading().read(n))

    def seek(self, offset: int | None = None, whence: int = 0, position: int | None = None) -> None:
        """Moves the position of the next read."""
        reader = self._reading()
        if offset is None and position is None:
            raise TypeError("seek(): offset argument required")
        if offset is not None and position is not None:
            raise TypeError("seek(): offset and position may not be set simultaneously.")
        target = position if offset is None else offset
        assert target is not None
        if whence == 1:
            target += self.tell()
        elif whence == 2:
            target += self.size()
        elif whence != 0:
            raise errors.invalid(f"Invalid whence argument: {whence}. Valid values are 0, 1, or 2.")
        if target < 0:
            raise errors.invalid(f"Seeking to a negative position: {target}")
        # No position lies behind the end, as in TensorFlow.
        if target > (size := self.size()):
            reader.seek(size)
            raise errors.out_of_range("reached end of file")
        reader.seek(target)

    def readline(self) -> Any:
        """The next line with its end mark."""
        with translated(_text(self._name)):
            return self._as_asked(self._reading().readline())

    def readlines(self) -> list[Any]:
        """The rest of the lines."""
        return list(self)

    def tell(self) -> int:
        """The position of the next read, or of the next write if the file is not read."""
        return (self._reading() if self._readable else self._writing()).tell()

    def __enter__(self) -> FileIO:
        return self

    def __exit__(self, *unused: Any) -> None:
        self.close()

    def __iter__(self) -> FileIO:
        return self

    def __next__(self) -> Any:
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    next = __next__

    def flush(self) -> None:
        """Hands what was written to the operating system."""
        if self._writer is not None:
            with translated(_text(self._name)):
                self._writer.flush()

    def close(self) -> None:
        """Closes the file; the next read or write opens it again."""
        reader, self._reader = self._reader, None
        writer, self._writer = self._writer, None
        if reader is not None:
            reader.close()
        if writer is not None:
            with translated(_text(self._name)):
                writer.close()

    def __del__(self) -> None:
        # Programs read files without closing them.
        if getattr(self, "_reader", None) or getattr(self, "_writer", None):
            self.close()

    def seekable(self) -> bool:
        """True."""
        return True


class GFile(FileIO):
    """`FileIO` that reads unless told otherwise."""

    def __init__(self, name: object, mode: str = "r") -> None:
        super().__init__(name, mode)


class FastGFile(FileIO):
    """The old name of `GFile`."""

    def __init__(self, name: str | None, mode: str = "r") -> None:
        super().__init__(name, mode)


def open_binary(path: str, mode: str) -> IO[bytes]:
    """A plain binary file, for code that reads and writes large pieces."""
    with translated(path):
        return file_systems.of(path).open(path, mode)


def read_at_most(file: IO[bytes], size: int) -> bytes:
    """The next `size` bytes of a file, fewer at its end.

    The size may be what a damaged file claims: no more memory is taken than there are bytes.
    """
    if size <= _PIECE:
        return file.read(size)
    pieces = []
    while size > 0 and (piece := file.read(min(size, _PIECE))):
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


def _is_forced() -> bool:
    """Whether files are forced to the disk before they get their names (NUMBAFLOW_FSYNC=1)."""
    return bool(settings.get("fsync"))


def sync(file: IO[bytes]) -> None:
    """Hands what was written to the operating system; forces it to the disk if that is wanted."""
    file.flush()
    if not _is_forced():
        return
    try:
        number = file.fileno()
    except (OSError, AttributeError, NotImplementedError):
        return  # Not a file of the operating system.
    os.fsync(number)


def sync_directory(path: str) -> None:
    """Forces the names in the folder of a path to the disk, if files are and the system does it."""
    local = file_systems.of(path).local_path(path)
    if local is None or not hasattr(os, "O_DIRECTORY") or not _is_forced():
        return
    try:
        folder = os.open(os.path.dirname(local) or ".", os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return
    try:
        os.fsync(folder)
    except OSError:
        pass  # A file system that cannot write folders out: the file itself is written.
    finally:
        os.close(folder)


def file_exists(filename: str) -> bool:
    """Whether there is a file or folder of that name."""
    path = _text(filename)
    with translated(path):
        return file_systems.of(path).exists(path)


def delete_file(filename: str) -> None:
    """Removes a file."""
    path = _text(filename)
    with translated(path):
        file_systems.of(path).remove(path)


def read_file_to_string(filename: str, binary_mode: bool = False) -> Any:
    """The content of a file, text unless `binary_mode`."""
    path = _text(filename)
    with translated(path):
        data = file_systems.of(path).content(path)
    return data if binary_mode else data.decode()


def write_string_to_file(filename: str, file_content: bytes | str) -> None:
    """Writes a file."""
    with FileIO(filename, "w") as file:
        file.write(file_content)


def get_matching_files(filename: Any) -> list[str]:
    """The paths that match a pattern, or any of several patterns.

    Raises NotFoundError if there is no folder where they could be.
    """
    patterns = [filename] if isinstance(filename, (str, bytes)) else filename
    if hasattr(patterns, "__fspath__"):
        patterns = [patterns]
    return [path for one in patterns for path in _matching(_text(one))]


def _matching(pattern: str) -> list[str]:
    _require_folder(os.path.dirname(_WILDCARDS.split(pattern, maxsplit=1)[0]))
    # What is a folder by the way it is written is no file.
    if os.path.basename(pattern) in ("", "."):
        return []
    with translated(pattern):
        return file_systems.of(pattern).glob(pattern)


def _require_folder(folder: str) -> None:
    """Raises an error if a folder on this machine is none; elsewhere there may be no folders."""
    if "://" not in folder:
        with translated(folder):
            os.scandir(folder or ".").close()


def create_dir(dirname: str) -> None:
    """Creates a folder in an existing one."""
    path = _text(dirname)
    with translated(path):
        file_systems.of(path).make_directory(path)


def recursive_create_dir(dirname: str) -> None:
    """Creates a folder and those above it; nothing happens if it is there."""
    path = _text(dirname)
    system = file_systems.of(path)
    with translated(path):
        try:
            system.make_directories(path)
        except FileExistsError:
            raise errors.failed_precondition(f"{path} is not a directory") from None


def _refuse_to_replace(path: str, overwrite: bool) -> None:
    if not overwrite and file_exists(path):
        raise errors.already_exists("file already exists")


def copy(oldpath: str, newpath: str, overwrite: bool = False) -> None:
    """Copies a file; replaces another one only if `overwrite` is set."""
    source, target = _text(oldpath), _text(newpath)
    _refuse_to_replace(target, overwrite)
    here, there = file_systems.of(source), file_systems.of(target)
    with translated(source):
        if here is there:
            here.copy(source, target)
            return
        with here.open(source, "rb") as reader, there.open(target, "wb") as writer:
            while chunk := reader.read(_BLOCK):
                writer.write(chunk)


def rename(oldname: str, newname: str, overwrite: bool = False) -> None:
    """Renames a file or folder; replaces another one only if `overwrite` is set."""
    source, target = _text(oldname), _text(newname)
    _refuse_to_replace(target, overwrite)
    system = file_systems.of(source)
    if system is not file_systems.of(target):
        raise errors.unimplemented(
            f"Renaming {source} to {target} not implemented: file systems differ"
        )
    with translated(source):
        system.rename(source, target)


def atomic_write_string_to_file(
    filename: str, contents: bytes | str, overwrite: bool = True
) -> None:
    """Writes a file such that nobody sees a part of it, whatever happens meanwhile."""
    path = _text(filename)
    temporary = f"{path}.tmp{uuid.uuid4().hex}"
    try:
        with translated(temporary), file_systems.of(temporary).open(temporary, "wb") as file:
            file.write(as_bytes(contents))
            sync(file)
        rename(temporary, path, overwrite)
    except BaseException:
        if file_exists(temporary):
            delete_file(temporary)
        raise
    sync_directory(path)


def delete_recursively(dirname: str) -> None:
    """Removes a folder with all that is in it."""
    path = _text(dirname)
    if not file_exists(path):
        raise errors.not_found(f"{path} doesn't exist")
    with translated(path):
        file_systems.of(path).remove_tree(path)


def remove_empty_directory(path: str) -> None:
    """Removes a folder that has nothing in it."""
    with translated(path):
        file_systems.of(path).remove_empty(path)


def is_directory(dirname: str) -> bool:
    """Whether there is a folder of that name."""
    path = _text(dirname)
    return file_systems.of(path).is_directory(path)


def list_directory(dirname: str) -> list[str]:
    """The names in a folder, in no particular order."""
    path = _text(dirname)
    if not is_directory(path):
        raise errors.not_found(f"Could not find directory {path}")
    with translated(path):
        return file_systems.of(path).children(path)


Walked = Iterator[tuple[str, list[str], list[str]]]


def walk_v2(
    top: str, topdown: bool = True, onerror: Callable[[Exception], Any] | None = None
) -> Walked:
    """Each folder below `top` with the names of its folders and of its files."""
    top = as_str_any(path_to_str(top))
    try:
        names = list_directory(top)
    except errors.NotFoundError as error:
        if onerror is not None:
            onerror(error)
        return
    folders: list[str] = []
    plain: list[str] = []
    for name in names:
        (folders if is_directory(os.path.join(top, name)) else plain).append(name)
    if topdown:
        yield top, folders, plain
    for name in folders:
        yield from walk_v2(os.path.join(top, name), topdown, onerror)
    if not topdown:
        yield top, folders, plain


def walk(top: str, in_order: bool = True) -> Walked:
    """Each folder below `top` with the names of its folders and of its files."""
    return walk_v2(top, in_order)


def stat(filename: Any) -> FileStatistics:
    """Length, time of change and kind of a path."""
    path = _text(filename)
    with translated(path):
        return FileStatistics(*file_systems.of(path).stat(path))


def filecmp(filename_a: str, filename_b: str) -> bool:
    """Whether two files have the same content."""
    if stat(filename_a).length != stat(filename_b).length:
        return False
    return file_crc32(filename_a) == file_crc32(filename_b)


def file_crc32(filename: str, block_size: int = _BLOCK) -> str:
    """The CRC-32 of a file, in hexadecimal."""
    crc = 0
    for chunk in _chunks(filename, block_size):
        crc = binascii.crc32(chunk, crc)
    return hex(crc & 0xFFFFFFFF)


def _chunks(filename: str, size: int) -> Iterable[bytes]:
    with FileIO(filename, "rb") as file:
        while chunk := file.read(size):
            yield chunk
