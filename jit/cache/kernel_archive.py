# SPDX-License-Identifier: Apache-2.0
"""Kernels in one file, to warm other machines: a tar archive of cache entries.

An archive holds machine code, so it is to be trusted as a program is.  What is read from one is
checked entry by entry; nothing but entries is ever written.
"""

from __future__ import annotations

import errno
import gzip
import itertools
import os
import re
import tarfile
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, nullcontext
from pathlib import Path
from typing import BinaryIO, cast

from ...engine.record_class import record
from . import store
from .admin import Item, fault, object_fault

_FILES = ("kernel.py", "kernel.o", "key.txt", "manifest.json")
# Limits of what is read: of one file, of an archive unpacked, of files in it.
_MOST_BYTES = store.MOST_BYTES
_MOST_IN_ALL = 1 << 32
_MOST_MEMBERS = 1 << 20
_MOST_OF_HEADER = 1 << 16
# What a further header of tar may not say: it may hold times, owners and the like.
_RENAMING = re.compile(rb"(^|\n)\d+ (path|linkpath|size|GNU\.sparse[^=]*)=")
_BLOCK = tarfile.BLOCKSIZE
# The types of members that may be there, and how large each may be.
# No links, no devices, and of tar's extensions the one that Python's own writer uses.
_TYPES = {
    tarfile.REGTYPE: _MOST_BYTES,
    tarfile.AREGTYPE: _MOST_BYTES,
    tarfile.DIRTYPE: 0,
    tarfile.XHDTYPE: _MOST_OF_HEADER,
}
_Files = dict[str, bytes]


class NoArchive(Exception):
    """A file is no archive of kernels."""


@record(frozen=True, slots=True)
class Imported:
    """What became of an archive's entries: keys added, keys already there, and key: reason."""

    added: tuple[str, ...]
    present: tuple[str, ...]
    refused: dict[str, str]


def export(path: Path, items: Iterable[Item]) -> int:
    """Writes entries to an archive, atomically; returns how many."""
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "there is no such folder", str(path.parent))
    # A new file of a name that nobody knows beforehand: no link can lie in wait for it.
    descriptor, aside = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    count = 0
    try:
        with os.fdopen(descriptor, "wb") as file:
            with tarfile.open(fileobj=file, mode="w:gz", compresslevel=6) as archive:
                for item in sorted(items, key=lambda item: item.key):
                    count += _add(archive, item)
        # mkstemp's file is private; an archive is for others, as far as the user's umask says.
        os.chmod(aside, 0o666 & ~_umask())
        os.replace(aside, path)
    finally:
        Path(aside).unlink(missing_ok=True)
    return count


def _umask() -> int:
    # (There is no way to ask without setting it.)
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _add(archive: tarfile.TarFile, item: Item) -> bool:
    """Adds an entry; False if it is damaged or has been removed in the meantime."""
    if fault(item.place):
        return False
    with ExitStack() as stack:
        try:
            # All open before the first is written: then they stay readable, even if the entry is
            # removed.
            files = [stack.enter_context(open(item.place / name, "rb")) for name in _FILES]
        except FileNotFoundError:
            return False
        for name, file in zip(_FILES, files):
            member = tarfile.TarInfo(f"{item.key}/{name}")
            member.size, member.mode = os.fstat(file.fileno()).st_size, 0o600
            archive.addfile(member, file)
    return True


def load(path: Path) -> Imported:
    """Adds an archive's entries to the cache; those that are damaged are refused.

    An archive is looked through before anything of it is added, and nothing is if it is damaged, or
    holds what no export writes; one entry at a time is in memory.  NoArchive says so; OSError where
    it or the cache cannot be read or written.
    """
    with open(path, "rb") as file:
        # Twice through the file, since all of it at once may be larger than memory.
        problems = {key: _problem(key, files) for key, files in _entries(path, file)}
        root = store.folder()
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        store.check_owner(root)
        added: list[str] = []
        present: list[str] = []
        for key, files in _entries(path, file):
            # What was read the second time is what counts, should the file have changed.
            problems[key] = problems.get(key, "") or _problem(key, files)
            if not problems[key]:
                (added if _store(root, files) else present).append(key)
    refused = {key: problem for key, problem in problems.items() if problem}
    return Imported(tuple(added), tuple(present), refused)


def _store(root: Path, files: _Files) -> bool:
    manifest = store.parsed_manifest(files["manifest.json"])
    entry = store.Entry(manifest["symbol"], files["kernel.py"].decode(), files["kernel.o"])
    return store.store(root, files["key.txt"].decode(), entry, manifest)


def _entries(path: Path, file: BinaryIO) -> Iterator[tuple[str, _Files]]:
    """The entries of an archive, whose files stand together; NoArchive where it is damaged."""
    file.seek(0)
    is_packed = file.read(2) == b"\x1f\x8b"
    file.seek(0)
    try:
        with gzip.GzipFile(fileobj=file) if is_packed else nullcontext(file) as unpacked:
            yield from _grouped(_members(cast(BinaryIO, unpacked)))
    except (tarfile.TarError, gzip.BadGzipFile, EOFError, zlib.error, _Refused) as error:
        raise NoArchive(f"{path} is no archive of kernels, or is damaged: {error}") from error


class _Refused(Exception):
    """Something in an archive that no export writes."""


def _grouped(members: Iterable[tuple[str, bytes]]) -> Iterator[tuple[str, _Files]]:
    """The files of each entry by name, given those of all with their paths."""
    seen: set[str] = set()
    for key, group in itertools.groupby(members, lambda member: member[0].partition("/")[0]):
        files: _Files = {}
        for path, content in group:
            name = path.partition("/")[2]
            if name in files:
                raise _Refused(f"it holds {path!r} twice")
            files[name] = content
        if key in seen:
            raise _Refused(f"it holds {key!r} twice")
        seen.add(key)
        yield key, files


def _members(stream: BinaryIO) -> Iterator[tuple[str, bytes]]:
    """The files of entries in a tar archive; everything else must be harmless, and is left out."""
    total = 0
    for _ in range(_MOST_MEMBERS):
        # Read by hand, header by header: tarfile follows whatever sizes and names further headers
        # state.
        block = _exactly(stream, _BLOCK)
        if not any(block):
            _read_to_the_end(stream, _MOST_IN_ALL - total)
            return
        member = tarfile.TarInfo.frombuf(block, "utf-8", "backslashreplace")
        _check_member(member)
        total += member.size
        if total > _MOST_IN_ALL:
            raise _Refused(f"it holds more than {_MOST_IN_ALL} bytes")
        content = _exactly(stream, member.size)
        _exactly(stream, -member.size % _BLOCK)
        if member.type == tarfile.XHDTYPE:
            if _RENAMING.search(content):
                raise _Refused(f"{member.name!r} in it renames or resizes a file")
            continue
        key, _, name = member.name.partition("/")
        if store.is_key(key) and name in _FILES:
            yield member.name, content
    raise _Refused(f"it holds more than {_MOST_MEMBERS} files")


def _read_to_the_end(stream: BinaryIO, most: int) -> None:
    """Reads what stands behind the last file: only at its end a packed stream proves whole."""
    while found := stream.read(_MOST_OF_HEADER):
        most -= len(found)
        if most < 0:
            raise _Refused(f"it holds more than {_MOST_IN_ALL} bytes")


def _check_member(member: tarfile.TarInfo) -> None:
    """Refuses what could only be meant to do harm, or needs more of tar than an export does."""
    name = member.name
    if member.type not in _TYPES:
        raise _Refused(f"{name!r} in it is no file (type {member.type!r})")
    if name.startswith("/") or ".." in name.split("/") or "\\" in name or ":" in name:
        raise _Refused(f"{name!r} in it is no place below a folder")
    if not 0 <= member.size <= _TYPES[member.type]:
        raise _Refused(f"{name!r} in it has {member.size} bytes")


def _exactly(stream: BinaryIO, size: int) -> bytes:
    content = stream.read(size)
    if len(content) < size:
        raise EOFError("it ends too early")
    return content


def _problem(key: str, files: _Files) -> str:
    """Why an entry is refused; nothing if it is sound."""
    missing = [name for name in _FILES if name not in files]
    if missing:
        return f"it has no {missing[0]}"
    try:
        text, source = files["key.txt"].decode(), files["kernel.py"]
        manifest = store.parsed_manifest(files["manifest.json"])
        entry = store.Entry(manifest["symbol"], source.decode(), files["kernel.o"])
    except ValueError as error:
        return f"it cannot be read: {error}"
    # The name of an entry is the hash of its key: a file cannot pass for another kernel.
    if store.key_of_text(text) != key:
        return "its key.txt belongs to another key"
    if manifest["checksum"] != store.checksum_of(text, manifest, source, entry.object_code):
        return "its checksum does not match"
    return object_fault(text, entry)
