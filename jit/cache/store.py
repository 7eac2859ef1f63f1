# SPDX-License-Identifier: Apache-2.0
"""The folder of compiled kernels: one readable directory per key, written once, checked on reading.

    <cache>/<key>/kernel.py  kernel.o  key.txt  manifest.json  uses

Entries appear and disappear by one atomic rename, so processes may share the folder.  An entry
that is damaged is reported and removed; one that another user could have written is left alone.
`uses` grows by a byte whenever a process loads the entry.  Imports no compiler; jit/cache/admin.py
looks after the folder.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ...engine import settings
from ...engine.printable import printable
from ...engine.record_class import record

Labels = tuple[tuple[str, str], ...]

# Part of every key: raise it when the files of an entry change their meaning.
FORMAT = "4"
# Beginnings of names that are not entries: being written, being removed.
NEW, OLD = ".new-", ".old-"
# That of the files which say that the library has been compiled for a target.
WARMED = ".warmed-"
ABANDONED_SECONDS = 3600  # what is left over of writing is nobody's after that long
# More than a file of an entry has.
MOST_BYTES = 1 << 26
# How often something is tried that other processes may have disturbed.
_TRIES = 3


@record(frozen=True, slots=True)
class Entry:
    """What is stored for one kernel."""

    symbol: str
    source: str
    object_code: bytes


@record(frozen=True, slots=True)
class Facts:
    """What is remembered of a kernel's making: its name and the seconds that it took; the graph
    operations in it, the user's line that made the last of them, and what graph they are of; how
    many bytes of instructions it has."""

    name: str = ""
    seconds: float = 0.0
    ops: tuple[str, ...] = ()
    line: str = ""
    graph: str = ""
    code_bytes: int = 0


class Untrusted(Exception):
    """Someone else could have written a file or directory."""


def key_of(labels: Labels) -> str:
    """The name of an entry: a hash of its labels, in order."""
    return key_of_text(key_text(labels))


def key_of_text(text: str) -> str:
    """The key whose key.txt is `text`."""
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def key_text(labels: Labels) -> str:
    """The contents of an entry's key.txt."""
    return "".join(f"{name}: {value}\n" for name, value in labels)


def folder() -> Path:
    """The cache folder of the settings."""
    return Path(settings.get("cache"))


def trusted_folder() -> Path | None:
    """The cache folder if there is one that nobody else may write to."""
    try:
        check_owner(folder())
    except (OSError, Untrusted):
        return None
    return folder()


def has(labels: Labels) -> bool:
    """Whether there is an entry of a key, sound or not."""
    return (folder() / key_of(labels)).is_dir()


def load(labels: Labels) -> Entry | None:
    """The stored entry of a key; None, with a warning if there is one that cannot be trusted."""
    place = folder() / key_of(labels)
    try:
        check_owner(place.parent)
        entry = _read_settled(place, key_text(labels))
    except (FileNotFoundError, NotADirectoryError):  # the cache itself
        return None
    except (Untrusted, PermissionError) as error:
        warn_once(f"cached kernels are not used: {error}")
        return None
    except (OSError, ValueError) as error:
        _reject(place, str(error))
        return None
    if entry is not None:
        _count_use(place)
    return entry


def _read_settled(place: Path, text: str) -> Entry | None:
    """Like `read`; None where there is no entry, or another takes its place on every try.

    What is found wrong counts only if the directory is still the one that was there before: an
    entry that is taken away while it is read is no damaged one.
    """
    for _ in range(_TRIES):
        with suppress(FileNotFoundError), _held(place) as is_there:
            try:
                return read(place, text)
            except FileNotFoundError as error:
                if is_there():
                    raise ValueError(f"it has no {Path(error.filename).name}") from error
            except ValueError:
                if is_there():
                    raise
    return None


@contextmanager
def _held(place: Path) -> Iterator[Callable[[], bool]]:
    """Holds on to an entry's directory; gives a function that says if it is still in its place.

    While it is open no other directory gets its number, so that one look tells them apart.
    """
    if os.name == "nt":  # where directories cannot be opened
        before = place.stat()
        _check(before, place)
        yield lambda: _is_at(before, place)
        return
    handle = os.open(place, os.O_RDONLY | os.O_DIRECTORY)
    try:
        # Of the directory that is open, whatever has its name by now.
        before = os.fstat(handle)
        _check(before, place)
        yield lambda: _is_at(before, place)
    finally:
        os.close(handle)


def _is_at(status: os.stat_result, place: Path) -> bool:
    try:
        return os.path.samestat(status, place.stat())
    except FileNotFoundError:
        return False


def read(place: Path, text: str) -> Entry:
    """The entry in a directory whose key.txt should be `text`; ValueError where it is damaged."""
    manifest = manifest_of(place)
    code, source = read_file(place / "kernel.o"), read_file(place / "kernel.py")
    if manifest.get("checksum") != checksum_of(text, manifest, source, code):
        raise ValueError("its checksum does not match")
    return Entry(manifest["symbol"], source.decode(), code)


def manifest_of(place: Path) -> dict[str, Any]:
    """The manifest of an entry; ValueError where it is damaged."""
    return parsed_manifest(read_file(place / "manifest.json"))


def parsed_manifest(content: bytes) -> dict[str, Any]:
    """A manifest; ValueError where it is none."""
    try:
        manifest = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"its manifest cannot be read: {error}") from error
    if not isinstance(manifest, dict):
        raise ValueError("its manifest cannot be read: it is no object")
    for name in ("symbol", "checksum"):
        if not isinstance(manifest.get(name), str):
            raise ValueError(f"its manifest has no {name}")
    return manifest


def save(labels: Labels, entry: Entry, facts: Facts | None = None) -> None:
    """Stores an entry; a cache that cannot be written is reported once and otherwise ignored."""
    root = folder()
    try:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        check_owner(root)
        _sweep_once(root)
        manifest = {**asdict(facts or Facts()), "created": int(time.time())}
        store(root, key_text(labels), entry, manifest)
    except (OSError, Untrusted) as error:
        # The disk is full or may not be written: the kernel at hand works all the same.
        reason = getattr(error, "strerror", None) or error
        warn_once(f"kernels are not cached in {root}: {reason}")


def store(root: Path, text: str, entry: Entry, manifest: dict[str, Any]) -> bool:
    """Writes an entry aside and renames it into place; False if there is one already."""
    for _ in range(_TRIES - 1):
        # Someone whose clock is ahead may take what is being written for abandoned.
        with suppress(FileNotFoundError):
            return _store(root, text, entry, manifest)
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
    return _store(root, text, entry, manifest)


def _store(root: Path, text: str, entry: Entry, manifest: dict[str, Any]) -> bool:
    # Modules that write are imported here: nearly all processes only read.
    import shutil
    import tempfile

    work = Path(tempfile.mkdtemp(prefix=NEW, dir=root))  # mkdtemp's mode is 0700
    source = entry.source.encode()
    manifest = {**manifest, "symbol": entry.symbol}
    manifest["checksum"] = checksum_of(text, manifest, source, entry.object_code)
    try:
        _write_file(work / "kernel.py", source)
        _write_file(work / "kernel.o", entry.object_code)
        _write_file(work / "key.txt", text.encode())
        _write_file(work / "manifest.json", json.dumps(manifest, indent=1).encode() + b"\n")
        try:
            # The one moment at which the entry appears: before, nobody looks at it, and afterwards
            # it is whole.
            os.rename(work, root / key_of_text(text))
        except OSError:
            if (root / key_of_text(text)).exists():
                return False  # another process was first
            raise
        return True
    finally:
        if work.exists():
            shutil.rmtree(work, ignore_errors=True)


def remove(place: Path) -> bool:
    """Takes an entry away, at once for every reader; False where it cannot be."""
    import shutil

    # Renamed first: to delete file by file would leave others half an entry in between.
    aside = place.with_name(f"{OLD}{os.urandom(16).hex()}")
    try:
        os.rename(place, aside)
    except OSError:
        return False
    shutil.rmtree(aside, ignore_errors=True)
    return True


def checksum_of(text: str, manifest: dict[str, Any], source: bytes, code: bytes) -> str:
    """The checksum of an entry: of all that it holds, the checksum itself apart."""
    state = hashlib.blake2b(digest_size=32)
    facts = {name: value for name, value in manifest.items() if name != "checksum"}
    for part in (text.encode(), json.dumps(facts, sort_keys=True).encode(), source, code):
        # With lengths, so that no byte can move from one part to the next.
        state.update(len(part).to_bytes(8, "little") + part)
    return state.hexdigest()


def check_owner(place: Path) -> None:
    """Raises Untrusted where others than this user (and root) may write."""
    _check(place.stat(), place)


def _check(status: os.stat_result, place: Path) -> None:
    if not hasattr(os, "getuid"):
        return
    if status.st_uid not in (0, os.getuid()):
        raise Untrusted(f"{place} belongs to another user")
    # An entry is code: who may write it may do whatever this user may.
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise Untrusted(f"{place} can be written by others")


def read_file(path: Path) -> bytes:
    """The contents of a file of an entry."""
    with open(path, "rb", buffering=0, opener=_not_waiting) as file:
        # Of the file that is open: a name may lead elsewhere a moment later.
        status = os.fstat(file.fileno())
        _check(status, path)
        if not stat.S_ISREG(status.st_mode):
            raise ValueError(f"its {path.name} is no file")
        if status.st_size > MOST_BYTES:
            raise ValueError(f"its {path.name} is too large ({status.st_size} bytes)")
        return file.read()


def _not_waiting(path: str, flags: int) -> int:
    """Opens a file; of a pipe it does not wait for the other end."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _write_file(path: Path, content: bytes) -> None:
    with open(path, "xb", opener=_private) as file:
        file.write(content)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _count_use(place: Path) -> None:
    """One more byte in `uses`; its time is that of the last use.  A dozen microseconds."""
    # Uncounted where the folder is read-only, the disk full, or the entry has just been removed.
    with suppress(OSError), open(place / "uses", "ab", buffering=0, opener=_private) as file:
        file.write(b".")


def reject(key: str, reason: str) -> None:
    """Removes an entry that cannot be used, and says why."""
    _reject(folder() / key, reason)


def _reject(place: Path, reason: str) -> None:
    text = printable(f"cached kernel {place.name} is not used: {reason}")
    warnings.warn(text, RuntimeWarning, stacklevel=3)
    remove(place)


_WARNED: set[str] = set()


def warn_once(text: str) -> None:
    """Tells the user of something, once in a process."""
    if text not in _WARNED:
        _WARNED.add(text)
        warnings.warn(printable(text), RuntimeWarning, stacklevel=3)


_SWEPT: set[Path] = set()


def _sweep_once(root: Path) -> None:
    # (Once in a process: it lists the whole folder.)
    if root not in _SWEPT:
        _SWEPT.add(root)
        sweep(root, ABANDONED_SECONDS)


def leftovers(root: Path) -> list[Path]:
    """What processes that died left behind, and what others are writing just now."""
    if not root.is_dir():
        return []
    return [path for path in root.iterdir() if path.name.startswith((NEW, OLD))]


def sweep(root: Path, seconds: float) -> int:
    """Removes leftovers of at least an age; returns how many.

    Those that seem to be as far in the future go too: they were made before the clock was set.
    """
    import shutil

    count = 0
    for path in leftovers(root):
        with suppress(FileNotFoundError):  # finished in the meantime
            if abs(time.time() - path.stat().st_mtime) >= seconds:
                if path.is_dir():
                    shutil.rmtree(path, ignore_errors=True)
                else:
                    path.unlink()
                count += not path.exists()
    return count


def entries() -> list[Path]:
    """The directories of all entries, by key."""
    root = folder()
    found = [p for p in root.iterdir() if is_key(p.name)] if root.is_dir() else []
    return sorted(p for p in found if p.is_dir())


def is_key(name: str) -> bool:
    """Could a directory of this name be an entry?  All others are left alone."""
    return len(name) == 32 and not set(name) - set("0123456789abcdef")


def clear() -> int:
    """Removes all entries, and the notes that there are some; returns how many there were."""
    forget_warmed()
    return sum(remove(place) for place in entries())


def forget_warmed() -> None:
    """Removes the notes of what has been compiled of the library."""
    root = folder()
    for path in root.glob(f"{WARMED}*") if root.is_dir() else ():
        with suppress(OSError):  # it may not be changed, or has just been removed
            path.unlink()
