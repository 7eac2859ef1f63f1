# SPDX-License-Identifier: Apache-2.0
"""Kernels in one file, to warm other machines: a tar archive of cache entries.

An archive holds machine code, so it is to be trusted as a program is.  What is read from one is
checked entry by entry; nothing but entries is ever written.
"""

from __future__ import annotations

import errno
import gzip
import json
import os
import tarfile
import zlib
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from . import cache
from .cache_admin import Item, fault

_FILES = ("kernel.py", "kernel.o", "key.txt", "manifest.json")
_MOST_BYTES = 1 << 26  # of one file


class NoArchive(Exception):
    """A file is no archive of kernels."""


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of an archive's entries: keys added, keys already there, and key: reason."""

    added: tuple[str, ...]
    present: tuple[str, ...]
    refused: dict[str, str]


def export(path: Path, items: Iterable[Item]) -> int:
    """Writes entries to an archive, atomically; returns how many."""
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "there is no such folder", str(path.parent))
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    count = 0
    try:
        with tarfile.open(aside, "w:gz", compresslevel=6) as archive:
            for item in sorted(items, key=lambda item: item.key):
                count += _add(archive, item)
        os.replace(aside, path)
    finally:
        aside.unlink(missing_ok=True)
    return count


def _add(archive: tarfile.TarFile, item: Item) -> bool:
    """Adds an entry; False if it is damaged or has been removed in the meantime."""
    if fault(item.place):
        return False
    with ExitStack() as stack:
        try:
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

    NoArchive where the file is none; OSError where it or the cache cannot be read or written.
    """
    found = _read(path)
    root = cache.folder()
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    cache.check_owner(root)
    added: list[str] = []
    present: list[str] = []
    refused: dict[str, str] = {}
    for key, files in found.items():
        problem = _problem(key, files)
        if problem:
            refused[key] = problem
            continue
        manifest = json.loads(files["manifest.json"])
        entry = cache.Entry(manifest["symbol"], files["kernel.py"].decode(), files["kernel.o"])
        is_new = cache.store(root, files["key.txt"].decode(), entry, manifest)
        (added if is_new else present).append(key)
    return Imported(tuple(added), tuple(present), refused)


def _read(path: Path) -> dict[str, dict[str, bytes]]:
    """The files of an archive that belong to entries, by key and name."""
    found: dict[str, dict[str, bytes]] = {}
    try:
        with tarfile.open(path, "r:*") as archive:
            for member in archive:
                key, _, name = member.name.partition("/")
                if cache.is_key(key) and name in _FILES and member.isreg():
                    file = archive.extractfile(member) if member.size <= _MOST_BYTES else None
                    if file is not None:
                        found.setdefault(key, {})[name] = file.read()
    except (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise NoArchive(f"{path} is no archive of kernels, or is damaged: {error}") from error
    return found


def _problem(key: str, files: dict[str, bytes]) -> str:
    missing = [name for name in _FILES if name not in files]
    if missing:
        return f"it has no {missing[0]}"
    try:
        text = files["key.txt"].decode()
        manifest = json.loads(files["manifest.json"])
        checksum, _ = manifest["checksum"], manifest["symbol"]
        files["kernel.py"].decode()
    except (ValueError, KeyError, TypeError) as error:
        return f"it cannot be read: {error!r}"
    if cache.key_of_text(text) != key:
        return "its key.txt belongs to another key"
    if checksum != cache.checksum_of(text, manifest, files["kernel.py"], files["kernel.o"]):
        return "its checksum does not match"
    return ""
