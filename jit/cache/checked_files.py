# SPDX-License-Identifier: Apache-2.0
"""Folders of files beside the kernels: one file per key, checked on reading.

    <cache>/<folder>/<key>.<kind>   a line of the format, the checksum, the key's text, the content

A file that is damaged is reported and removed; one that another user could have written is left
alone.  A file's time is that of its last use, and those used longest ago make room for new ones.
Imports the store of kernels.
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


@record(frozen=True, slots=True)
class Item:
    """A file: its key, its bytes, and when it was last used (in seconds since 1970)."""

    key: str
    place: Path
    bytes: int
    last_used: float


@record(frozen=True, slots=True)
class Folder:
    """One folder of the cache.

    Attributes:
        name: the folder's.
        what: one of its files, in messages; names of files end with it, too.
        format: the first line of its files; another one when what follows changes its meaning.
        most: so many files are kept.
    """

    name: str
    what: str
    format: str
    most: int

    def path(self) -> Path:
        """Where its files are."""
        return store.folder() / self.name

    def load(self, text: str) -> bytes | None:
        """The content whose key has this text; None, with a warning if there is one that is
        damaged."""
        place = self._place(text)
        if store.trusted_folder() is None:  # of which its kernels tell
            return None
        try:
            store.check_owner(place.parent)
            content = self._checked(store.read_file(place), text)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (store.Untrusted, PermissionError) as error:
            store.warn_once(f"cached {self.what}s are not used: {error}")
            return None
        except (OSError, ValueError) as error:
            self.reject(text, str(error))
            return None
        with suppress(OSError):  # of a folder that is read-only
            os.utime(place)
        return content

    def reject(self, text: str, reason: str) -> None:
        """Removes a file that cannot be used, and says why."""
        place = self._place(text)
        store.warn_once(printable(f"cached {self.what} {place.stem} is not used: {reason}"))
        _remove(place)

    def save(self, files: Mapping[str, bytes]) -> None:
        """Stores contents under the texts of their keys.

        A cache that cannot be written is ignored: its kernels tell of it.
        """
        place = self.path()
        with suppress(OSError, store.Untrusted):
            store.folder().mkdir(mode=0o700, parents=True, exist_ok=True)
            store.check_owner(place.parent)
            place.mkdir(mode=0o700, exist_ok=True)
            store.check_owner(place)
            self._make_room(len(files))
            for text, content in files.items():
                # (Keys tell all of what is in a file.  To put one in another's place some systems
                # wait for the disk.)
                if not self._is_there(text):
                    whole = b"\n".join([self._head(text, content), content])
                    _write(self._place(text), whole)

    def items(self) -> list[Item]:
        """All files, those used last first."""
        found, root = [], self.path()
        for place in root.iterdir() if root.is_dir() else ():
            if place.suffix == f".{self.what}" and store.is_key(place.stem):
                with suppress(OSError):  # it has just been removed
                    status = place.stat()
                    found.append(Item(place.stem, place, status.st_size, status.st_mtime))
        return sorted(found, key=lambda item: (-item.last_used, item.key))

    def read(self, item: Item) -> tuple[dict[str, str], bytes]:
        """The labels of a file's key, and its content; ValueError where it is damaged."""
        content = store.read_file(item.place)
        text = self._key_text(content)
        if store.key_of_text(text) != item.key:
            raise ValueError("it belongs to another key")
        pairs = (line.partition(": ") for line in text.splitlines())
        return {name: value for name, _, value in pairs}, self._checked(content, text)

    def fault(self, item: Item) -> str:
        """What is wrong with a file; nothing if all is well, or it has just been removed."""
        try:
            self.read(item)
        except FileNotFoundError:
            return ""
        except (OSError, ValueError, store.Untrusted) as error:
            return str(error)
        return ""

    def prune(
        self,
        room: int | None = None,
        older_than: float | None = None,
        now: Mapping[str, str] | None = None,
        dry_run: bool = False,
    ) -> list[Item]:
        """Removes damaged files; those unused for so many seconds; those with other labels than
        these; and those used longest ago until the rest fits the room.

        Returns what went or would go.
        """
        found, latest = self.items(), time.time()
        gone = [
            item
            for item in found
            if self.fault(item)
            or (older_than is not None and latest - item.last_used > older_than)
            or (now is not None and self._differs(item, now))
        ]
        for item in found if room is not None else ():
            if item not in gone:
                room = (room or 0) - item.bytes
                if room < 0:
                    gone.append(item)
        return gone if dry_run else [item for item in gone if self.remove(item)]

    def remove(self, item: Item) -> bool:
        """Takes a file away; False where it cannot be."""
        return _remove(item.place)

    def clear(self) -> int:
        """Removes all files; returns how many there were."""
        return sum(_remove(item.place) for item in self.items())

    def _differs(self, item: Item, now: Mapping[str, str]) -> bool:
        labels, _ = self.read(item)
        return any(labels.get(name) != value for name, value in now.items())

    def _place(self, text: str) -> Path:
        return self.path() / f"{store.key_of_text(text)}.{self.what}"

    def _head(self, text: str, content: bytes) -> bytes:
        length = str(len(text.encode()))
        return "\n".join([self.format, _checksum(text, content), length, text]).encode()

    def _key_text(self, content: bytes) -> str:
        """The text of a file's key; ValueError where it has none."""
        parts = content.split(b"\n", 3)
        if len(parts) != 4 or parts[0] != self.format.encode() or not parts[2].isdigit():
            raise ValueError(f"it is no {self.what}")
        return parts[3][: int(parts[2])].decode()

    def _checked(self, content: bytes, text: str) -> bytes:
        """What is in a file; ValueError where that is damaged, or is of another key."""
        if self._key_text(content) != text:
            raise ValueError("it belongs to another key")
        _, checksum, _, rest = content.split(b"\n", 3)
        found = rest[len(text.encode()) + 1 :]
        if checksum.decode(errors="replace") != _checksum(text, found):
            raise ValueError("its checksum does not match")
        return found

    def _is_there(self, text: str) -> bool:
        try:
            self._checked(store.read_file(self._place(text)), text)
        except (OSError, ValueError, store.Untrusted):
            return False
        return True

    def _make_room(self, count: int) -> None:
        """Removes what processes that died were writing, and of more files than may be those used
        longest ago."""
        store.sweep(self.path(), store.ABANDONED_SECONDS)
        for item in self.items()[max(self.most - count, 0) :]:
            _remove(item.place)


def _checksum(text: str, content: bytes) -> str:
    state = hashlib.blake2b(digest_size=32)
    for part in (text.encode(), content):
        state.update(len(part).to_bytes(8, "little") + part)
    return state.hexdigest()


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


def _remove(place: Path) -> bool:
    try:
        place.unlink()
    except OSError:
        return False
    return True
