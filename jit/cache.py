# SPDX-License-Identifier: Apache-2.0
"""The folder of compiled kernels: one readable directory per key, written once, checked on reading.

    <cache>/<key>/kernel.py  kernel.o  key.txt  manifest.json

Entries appear by one atomic rename, so processes may share the folder.  An entry that is damaged,
or that another user could have written, is reported and treated as absent.  Imports no compiler.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path

from . import settings

Labels = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """What is stored for one kernel."""

    symbol: str
    source: str
    object_code: bytes


def key_of(labels: Labels) -> str:
    """The name of an entry: a hash of its labels, in order."""
    return hashlib.blake2b(_key_text(labels).encode(), digest_size=16).hexdigest()


def _key_text(labels: Labels) -> str:
    return "".join(f"{name}: {value}\n" for name, value in labels)


def folder() -> Path:
    """The cache folder of the settings."""
    return Path(settings.get("cache"))


def load(labels: Labels) -> Entry | None:
    """The stored entry of a key; None, with a warning if there is one that cannot be trusted."""
    place = folder() / key_of(labels)
    try:
        manifest = json.loads((place / "manifest.json").read_bytes())
    except FileNotFoundError:
        return _reject(place, "it has no manifest") if place.exists() else None
    except (OSError, ValueError) as error:
        return _reject(place, f"its manifest cannot be read: {error}")
    problem = _foreign(place.parent) or _foreign(place)
    if problem:
        return _reject(place, problem, remove=False)
    try:
        code = (place / "kernel.o").read_bytes()
        source = (place / "kernel.py").read_text()
        if manifest["checksum"] != _checksum(code, _key_text(labels)):
            return _reject(place, "its checksum does not match")
        return Entry(str(manifest["symbol"]), source, code)
    except (OSError, ValueError, KeyError, TypeError) as error:
        return _reject(place, f"it cannot be read: {error!r}")


def save(labels: Labels, entry: Entry) -> None:
    """Stores an entry; a cache that cannot be written is reported once and otherwise ignored."""
    root = folder()
    try:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix=".new-", dir=root))  # mkdtemp's mode is 0700
    except OSError as error:
        warnings.warn(f"kernels are not cached: {error}", RuntimeWarning, stacklevel=2)
        return
    try:
        _write(work, labels, entry)
        os.rename(work, root / key_of(labels))
    except OSError:
        # Another process was first, or the disk is full: either way the kernel at hand works.
        shutil.rmtree(work, ignore_errors=True)


def _write(work: Path, labels: Labels, entry: Entry) -> None:
    text = _key_text(labels)
    manifest = {"symbol": entry.symbol, "checksum": _checksum(entry.object_code, text)}
    (work / "kernel.py").write_text(entry.source)
    (work / "kernel.o").write_bytes(entry.object_code)
    (work / "key.txt").write_text(text)
    (work / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")


def _checksum(code: bytes, key_text: str) -> str:
    return hashlib.blake2b(key_text.encode() + b"\0" + code, digest_size=32).hexdigest()


def _foreign(place: Path) -> str:
    """Why a directory cannot be trusted, or nothing."""
    if not hasattr(os, "getuid"):
        return ""
    status = place.stat()
    if status.st_uid != os.getuid():
        return f"{place} belongs to another user"
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return f"{place} can be written by others"
    return ""


def _reject(place: Path, reason: str, remove: bool = True) -> Entry | None:
    warnings.warn(f"cached kernel {place.name} is not used: {reason}", RuntimeWarning, stacklevel=3)
    if remove:
        shutil.rmtree(place, ignore_errors=True)
    return None


def entries() -> list[Path]:
    """The directories of all entries, oldest first."""
    root = folder()
    found = [p for p in root.iterdir() if not p.name.startswith(".")] if root.is_dir() else []
    return sorted((p for p in found if p.is_dir()), key=lambda p: p.stat().st_mtime)


def clear() -> int:
    """Removes all entries; returns how many there were."""
    found = entries()
    for place in found:
        shutil.rmtree(place, ignore_errors=True)
    return len(found)
