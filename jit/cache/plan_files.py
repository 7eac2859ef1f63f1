# SPDX-License-Identifier: Apache-2.0
"""The folder of finished plans beside the kernels: one file per key, checked on reading.

    <cache>/plans/<key>.plan    a line of the format, the checksum, the key's text, and the plan

What a plan's bytes mean says jit/runtime/plan_encoding.py.  A file that is damaged is reported and
removed; one that another user could have written is left alone.  A file's time is that of its last
use, and those used longest ago make room for new ones.  Imports the store of kernels.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from ...engine.printable import printable
from ...engine.record_class import record
from . import store

# Raise it when the bytes of a plan change their meaning.
FORMAT = "numbaflow plan 2"
SUFFIX = ".plan"
# So many plans are kept: a program whose sizes are other ones in every process makes one in each.
MOST_PLANS = 512
_ABANDONED_SECONDS = 3600


@record(frozen=True, slots=True)
class Item:
    """A file of a plan: its key, its bytes, and when it was last used (in seconds since 1970)."""

    key: str
    place: Path
    bytes: int
    last_used: float


def folder() -> Path:
    """Where plans are."""
    return store.folder() / "plans"


def load(text: str) -> bytes | None:
    """The plan whose key has this text; None, with a warning if there is one that is damaged."""
    place = _place(text)
    if store.trusted_folder() is None:  # of which its kernels tell
        return None
    try:
        store.check_owner(place.parent)
        content = _checked(store.read_file(place), text)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (store.Untrusted, PermissionError) as error:
        store.warn_once(f"cached plans are not used: {error}")
        return None
    except (OSError, ValueError) as error:
        reject(text, str(error))
        return None
    with suppress(OSError):  # of a folder that is read-only
        os.utime(place)
    return content


def reject(text: str, reason: str) -> None:
    """Removes a plan that cannot be used, and says why."""
    place = _place(text)
    store.warn_once(printable(f"cached plan {place.stem} is not used: {reason}"))
    _remove(place)


def save(text: str, content: bytes) -> None:
    """Stores a plan; a cache that cannot be written is ignored: its kernels tell of it."""
    place = _place(text)
    with suppress(OSError, store.Untrusted):
        store.folder().mkdir(mode=0o700, parents=True, exist_ok=True)
        place.parent.mkdir(mode=0o700, exist_ok=True)
        store.check_owner(place.parent.parent)
        store.check_owner(place.parent)
        _make_room()
        _write(place, b"\n".join([_head(text, content), content]))


def items() -> list[Item]:
    """All plans, those used last first."""
    found = []
    root = folder()
    for place in root.iterdir() if root.is_dir() else ():
        if place.suffix == SUFFIX and store.is_key(place.stem):
            with suppress(OSError):  # it has just been removed
                status = place.stat()
                found.append(Item(place.stem, place, status.st_size, status.st_mtime))
    return sorted(found, key=lambda item: (-item.last_used, item.key))


def read(item: Item) -> tuple[dict[str, str], bytes]:
    """The labels of a file's key, and its plan; ValueError where it is damaged."""
    content = store.read_file(item.place)
    text = _key_text(content)
    if store.key_of_text(text) != item.key:
        raise ValueError("it belongs to another key")
    pairs = (line.partition(": ") for line in text.splitlines())
    return {name: value for name, _, value in pairs}, _checked(content, text)


def fault(item: Item) -> str:
    """What is wrong with a file; nothing if all is well, or it has just been removed."""
    try:
        read(item)
    except FileNotFoundError:
        return ""
    except (OSError, ValueError, store.Untrusted) as error:
        return str(error)
    return ""


def prune(
    room: int | None = None,
    older_than: float | None = None,
    now: Mapping[str, str] | None = None,
    dry_run: bool = False,
) -> list[Item]:
    """Removes damaged plans; those unused for so many seconds; those with other labels than these;
    and those used longest ago until the rest fits the room.  Returns what went or would go."""
    found, latest = items(), time.time()
    gone = [
        item
        for item in found
        if fault(item)
        or (older_than is not None and latest - item.last_used > older_than)
        or (now is not None and _differs(item, now))
    ]
    for item in found if room is not None else ():
        if item not in gone:
            room = (room or 0) - item.bytes
            if room < 0:
                gone.append(item)
    return gone if dry_run else [item for item in gone if remove(item)]


def _differs(item: Item, now: Mapping[str, str]) -> bool:
    labels, _ = read(item)
    return any(labels.get(name) != value for name, value in now.items())


def remove(item: Item) -> bool:
    """Takes a plan away; False where it cannot be."""
    return _remove(item.place)


def clear() -> int:
    """Removes all plans; returns how many there were."""
    return sum(_remove(item.place) for item in items())


def _place(text: str) -> Path:
    return folder() / f"{store.key_of_text(text)}{SUFFIX}"


def _head(text: str, content: bytes) -> bytes:
    return "\n".join([FORMAT, _checksum(text, content), str(len(text.encode())), text]).encode()


def _checksum(text: str, content: bytes) -> str:
    state = hashlib.blake2b(digest_size=32)
    for part in (text.encode(), content):
        state.update(len(part).to_bytes(8, "little") + part)
    return state.hexdigest()


def _key_text(content: bytes) -> str:
    """The text of a file's key; ValueError where it has none."""
    parts = content.split(b"\n", 3)
    if len(parts) != 4 or parts[0] != FORMAT.encode() or not parts[2].isdigit():
        raise ValueError("it is no plan")
    return parts[3][: int(parts[2])].decode()


def _checked(content: bytes, text: str) -> bytes:
    """The plan in a file; ValueError where that is damaged, or is of another key."""
    if _key_text(content) != text:
        raise ValueError("it belongs to another key")
    _, checksum, _, rest = content.split(b"\n", 3)
    plan = rest[len(text.encode()) + 1 :]
    if checksum.decode(errors="replace") != _checksum(text, plan):
        raise ValueError("its checksum does not match")
    return plan


def _write(place: Path, content: bytes) -> None:
    """Writes a file aside and renames it into place, where it appears whole."""
    work = place.with_name(f"{store.NEW}{os.urandom(16).hex()}")
    try:
        with open(work, "xb", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            file.write(content)
        os.replace(work, place)
    finally:
        with suppress(FileNotFoundError):
            work.unlink()


def _make_room() -> None:
    """Removes what processes that died were writing, and if there are as many plans as may be
    those used longest ago."""
    store.sweep(folder(), _ABANDONED_SECONDS)
    for item in items()[MOST_PLANS - 1 :]:
        _remove(item.place)


def _remove(place: Path) -> bool:
    try:
        place.unlink()
    except OSError:
        return False
    return True
