# SPDX-License-Identifier: Apache-2.0
"""Looking after the folder of compiled kernels: what is in it, is it sound, what may go, and why
a kernel had to be compiled.

Prints nothing; the command line is cli/cache.py.  Imports the cache, and the compiler's labels
where an entry is compared with what this process would ask for.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import field, replace
from pathlib import Path
from typing import Any

from ...engine.printable import printable
from ...engine.record_class import record
from . import device_file, object_file, store
from .kernel_text import is_kernel, split_header

# What decides whether this installation, on this machine, can still ask for an entry.
_ORIGINAL = ("format", "emitter", "numba", "llvmlite")

# Seconds that the clocks of machines which share a folder may differ.
_CLOCKS_DIFFER = 300


# More than a number in a manifest is.
# Up to here whole numbers are exact in JSON, whoever reads it.
_MOST = 1 << 53
_OTHER_KEY = "its key.txt belongs to another key"


class NoSuchKernel(LookupError):
    """No entry, or more than one, has a key that begins so."""


@record(frozen=True, slots=True)
class Item:
    """What is known of an entry without reading its code; `problem` if even that is damaged.

    created and last_used are seconds since 1970, `bytes` what it takes on the disk, `uses` how
    many processes have loaded it, `seconds` how long it took to compile, code_bytes how many of
    instructions it has.
    """

    key: str
    place: Path
    labels: dict[str, str] = field(default_factory=dict)
    name: str = ""
    ops: tuple[str, ...] = ()
    line: str = ""
    graph: str = ""
    seconds: float = 0.0
    created: float = 0.0
    last_used: float = 0.0
    uses: int = 0
    bytes: int = 0
    code_bytes: int = 0
    problem: str = ""

    @property
    def target(self) -> str:
        """The processor that it was compiled for."""
        return f"{self.labels.get('cpu', '?')} ({self.labels.get('triple', '?')})"

    @property
    def cpu(self) -> str:
        """The name of that processor."""
        return self.labels.get("cpu", "?")

    def mentions(self, text: str) -> bool:
        """Does a text stand in its name, its operations or its line?"""
        return any(text in word for word in (self.name, self.line, *self.ops))

    def as_dict(self) -> dict[str, Any]:
        """The item as JSON has it."""
        names = (
            "key name ops line graph seconds created last_used uses bytes code_bytes problem labels"
        )
        found = {name: getattr(self, name) for name in names.split()}
        return found | {"target": self.target, "path": str(self.place)}


def items() -> list[Item]:
    """All entries, those used last first."""
    found = [item for item in map(_item, _places()) if item is not None]
    return sorted(found, key=lambda item: (-item.last_used, item.key))


def _places() -> list[Path]:
    root = store.folder()
    return [p for p in root.iterdir() if store.is_key(p.name)] if root.is_dir() else []


def _item(place: Path) -> Item | None:
    """An entry's item; None if another process has just removed it."""
    try:
        status = {path.name: path.stat() for path in place.iterdir()}
    except OSError:
        return None
    uses = status["uses"].st_size if "uses" in status else 0
    # The time of `uses` is that of the last use, whatever a clock said when the rest was made.
    times = [status["uses"]] if uses else status.values()
    latest = max((s.st_mtime for s in times), default=0.0)
    size = sum(map(_disk_bytes, status.values()))
    item = Item(place.name, place, last_used=latest, uses=uses, bytes=size)
    try:
        text = store.read_file(place / "key.txt").decode()
        labels = labels_in(text)
        if store.key_of_text(text) != place.name:
            return replace(item, problem=_OTHER_KEY)
        # Its other files may mean something else: what can be said of it ends here.
        if labels.get("format") != store.FORMAT:
            return replace(item, labels=labels)
        return replace(item, labels=labels, **_facts(store.manifest_of(place)))
    except (OSError, store.Untrusted, ValueError) as error:
        return replace(item, problem=str(error) or type(error).__name__)


def _facts(manifest: dict[str, Any]) -> dict[str, Any]:
    """What is shown of a manifest; ValueError where it is something else."""
    found: dict[str, Any] = {}
    for name in ("name", "line", "graph"):
        found[name] = _fact(manifest, name, str)
    ops = _fact(manifest, "ops", list)
    found["ops"] = tuple(_fact({"ops": op}, "ops", str) for op in ops)
    for name in ("seconds", "created"):
        found[name] = float(_fact(manifest, name, (int, float)))
    found["code_bytes"] = _fact(manifest, "code_bytes", int)
    return found


def _fact(manifest: dict[str, Any], name: str, kind: type | tuple[type, ...]) -> Any:
    value = manifest.get(name)
    is_odd = isinstance(value, (int, float)) and not 0 <= value < _MOST
    if is_odd or not isinstance(value, kind):
        raise ValueError(f"its manifest has no {name} that can be read")
    return value


def _disk_bytes(status: os.stat_result) -> int:
    """What a file takes: whole blocks, where the system says how many."""
    return max(status.st_size, 512 * getattr(status, "st_blocks", 0))


def labels_in(text: str) -> dict[str, str]:
    """The labels of a key.txt."""
    pairs = (line.partition(": ") for line in text.splitlines())
    return {name: value for name, _, value in pairs}


def find(prefix: str) -> Item:
    """The one entry whose key begins with `prefix`; NoSuchKernel says which was meant perhaps."""
    found = [place for place in _places() if prefix and place.name.startswith(prefix.lower())]
    known = [item for item in map(_item, found) if item is not None]
    if len(known) == 1:
        return known[0]
    if known:
        title = f"{len(known)} kernels have a key that begins with {prefix!r}:"
        raise NoSuchKernel("\n".join([title, *_titles(known)]))
    title, near = f"no kernel has a key that begins with {prefix!r}", _meant(prefix)
    if near:
        title += "; perhaps one of these is meant:"
    elif not _places():
        title += f": there are none in {store.folder()}"
    raise NoSuchKernel("\n".join([title, *_titles(near)]))


def _meant(text: str) -> list[Item]:
    """Entries that something may stand for: by kernel, operation or line, or a key mistyped."""
    every = [item for item in items() if text]
    named = [item for item in every if item.mentions(text)]
    likely = {item.key: _likeness(item.key, text) for item in every}
    # A few letters of a key that was typed may be wrong.
    near = [item for item in every if likely[item.key] >= 0.75]
    return named or sorted(near, key=lambda item: -likely[item.key])[:3]


def _likeness(key: str, text: str) -> float:
    """How much of a text is, in order, in the beginning of a key."""
    import difflib

    return difflib.SequenceMatcher(None, key[: len(text)], text.lower(), autojunk=False).ratio()


def _titles(found: list[Item], most: int = 8) -> list[str]:
    lines = [f"  {i.key[:12]}  {i.name}  {', '.join(i.ops[:2])}".rstrip() for i in found[:most]]
    return lines + [f"  … and {len(found) - most} more"] * (len(found) > most)


def source_of(item: Item) -> str:
    """The Python source that an entry was compiled from, with its header."""
    return store.read_file(item.place / "kernel.py").decode()


def assembly_of(item: Item) -> str:
    """The machine code of an entry in readable form: compiled once more, for its processor; of a
    GPU's kernel its PTX.

    ValueError where this installation has another compiler than the entry's.  Imports Numba.
    """
    problem = fault(item.place)
    if problem:
        raise ValueError(problem)
    if is_outdated(item):
        raise ValueError("it was compiled by another version")
    from ..codegen import assembly

    source = source_of(item)
    if not is_kernel(source):
        raise ValueError("its kernel.py is no kernel's: it does more than define functions")
    if device_file.is_of_gpu(item.labels.get("triple", "")):
        from ..cuda import device_code

        symbol = store.manifest_of(item.place)["symbol"]
        return device_code.assembly(symbol, source, item.labels)
    return assembly.readable(item.name, source, item.labels)


# Totals


@record(frozen=True, slots=True)
class Totals:
    """Sums over the cache.  saved_seconds: compiling that was spared; outdated: entries that this
    installation never asks for again; leftovers: traces of processes that died."""

    folder: str
    kernels: int
    bytes: int
    compile_seconds: float
    saved_seconds: float
    uses: int
    outdated: int
    damaged: int
    leftovers: int
    targets: dict[str, int]
    names: dict[str, int]


def totals() -> Totals:
    """Counts what there is."""
    found = items()
    sound = [item for item in found if not item.problem]
    return Totals(
        str(store.folder()),
        len(found),
        sum(item.bytes for item in found),
        sum(item.seconds for item in found),
        sum(item.seconds * item.uses for item in found),
        sum(item.uses for item in found),
        sum(map(is_outdated, sound)),
        len(found) - len(sound),
        len(store.leftovers(store.folder())),
        dict(Counter(item.target for item in sound).most_common()),
        dict(Counter(item.name for item in sound if item.name).most_common()),
    )


def is_outdated(item: Item) -> bool:
    """Was an entry made by other versions of the compiler than the ones installed?"""
    from ..codegen.compile import labels_of

    now, names = dict(labels_of("")), list(_ORIGINAL)
    if "cuda" in item.labels:
        from ..cuda import device_code

        now["cuda"] = device_code.version()
        names.append("cuda")
    return any(item.labels.get(name) != now[name] for name in names)


# Soundness


@record(frozen=True, slots=True)
class Problem:
    """An entry (or the folder) that cannot be used."""

    key: str
    reason: str


def verify() -> tuple[int, list[Problem]]:
    """Reads every entry whole; returns how many there are and what is wrong."""
    root = store.folder()
    if not root.is_dir():
        return 0, []
    try:
        store.check_owner(root)
    except store.Untrusted as error:
        return len(_places()), [Problem("", str(error))]
    places = sorted(_places())
    found = [Problem(place.name, reason) for place in places if (reason := fault(place))]
    return len(places), found


def fault(place: Path) -> str:
    """What is wrong with an entry; nothing if all is well, or it has just been removed."""
    try:
        store.check_owner(place)
        text = store.read_file(place / "key.txt").decode()
        if store.key_of_text(text) != place.name:
            return _OTHER_KEY
        if labels_in(text).get("format") == store.FORMAT:
            # Entries of other versions are never asked for.
            return object_fault(text, store.read(place, text))
    except FileNotFoundError as error:
        return f"it has no {Path(error.filename).name}" if place.exists() else ""
    except (OSError, ValueError, store.Untrusted) as error:
        return str(error)
    return ""


def object_fault(text: str, entry: store.Entry) -> str:
    """What is wrong with the object file of an entry with such a key.txt, if that names a system;
    others are never asked for."""
    triple = labels_in(text).get("triple", "")
    if device_file.is_of_gpu(triple):
        return device_file.problem(entry.object_code, entry.symbol)
    return object_file.problem(entry.object_code, entry.symbol, triple) if triple else ""


# Removal


def prune(
    max_bytes: int | None = None,
    older_than: float | None = None,
    outdated: bool = False,
    dry_run: bool = False,
) -> list[Item]:
    """Removes entries unused for `older_than` seconds, outdated ones, then those used longest ago
    until the rest fits `max_bytes`; damaged ones always.  Returns what went (or would go).

    Entries that seem to be used in the future, since a clock was wrong, count from now on.
    """
    now = time.time()
    found = items()
    if not dry_run:
        for item in found:
            if item.last_used > now + _CLOCKS_DIFFER:
                _used_now(item)
    gone = [
        item
        for item in found
        if item.problem
        or (older_than is not None and now - item.last_used > older_than)
        or (outdated and is_outdated(item))
    ]
    if max_bytes is not None:
        going = {item.key for item in gone}
        kept = [item for item in found if item.key not in going]
        room = max_bytes
        for item in kept:  # those used last come first
            room -= item.bytes
            if room < 0:
                gone.append(item)
    if not dry_run:
        gone = [item for item in gone if store.remove(item.place)]
        # Who prunes wants room now: a minute is longer than anybody writes at one entry.
        store.sweep(store.folder(), 60)
        store.forget_warmed()
    return gone


def _used_now(item: Item) -> None:
    """Sets the times of an entry's files that are in the future."""
    now = time.time()
    with suppress(OSError):  # it has just been removed, or may not be changed
        for path in (item.place, *item.place.iterdir()):
            if path.stat().st_mtime > now:
                os.utime(path)


# Why


def why(labels: store.Labels, source: str, name: str) -> str:
    """Why a kernel was not in the cache: the nearest entry, and what differs."""
    mine = dict(labels)
    others = [i for i in _remembered() if not i.problem and i.key != store.key_of(labels)]
    near = nearest(mine, source, name, others)
    if near is None:
        return "the cache has no kernel like it"
    item, alike = near
    title = printable(f"{item.key[:12]} ({item.name})")
    # The same kernel: then versions, processor or flags made the difference.
    if item.labels.get("kernel") == mine.get("kernel"):
        changes = printable("; ".join(differences(mine, item.labels)))
        return f"stored as {title} under other labels: {changes}"
    return f"a new kernel; the nearest, {title}, shares {alike:.0%} of its lines"


_SEEN: dict[Path, Item] = {}


def _remembered() -> list[Item]:
    """All entries; those seen before as they were, as a process may ask for each kernel."""
    places = _places()
    for place in set(places) - set(_SEEN):
        item = _item(place)
        if item is not None:
            _SEEN[place] = item
    return [_SEEN[place] for place in places if place in _SEEN]


def nearest(
    labels: dict[str, str], source: str, name: str, others: Iterable[Item]
) -> tuple[Item, float] | None:
    """The entry most like a kernel and how much of the source they share: the same kernel under
    the fewest other labels, else the most alike of those with its name."""
    others = list(others)
    same = [item for item in others if item.labels.get("kernel") == labels.get("kernel")]
    if same:
        return min(same, key=lambda item: len(differences(labels, item.labels))), 1.0
    lines = _body_lines(source)
    best: tuple[Item, float] | None = None
    for item in others:
        if item.name == name:
            theirs: Counter[str] = Counter()
            with suppress(OSError, store.Untrusted, ValueError):  # damaged, or just removed
                theirs = _body_lines(source_of(item))
            alike = 2 * (lines & theirs).total() / max(lines.total() + theirs.total(), 1)
            if best is None or alike > best[1]:
                best = item, alike
    return best


def _body_lines(source: str) -> Counter[str]:
    return Counter(split_header(source)[1].splitlines())


def differences(mine: dict[str, str], theirs: dict[str, str]) -> list[str]:
    """The labels that differ, one text each: `numba 0.68.0, there 0.67.1`."""
    found = []
    for name in dict.fromkeys([*mine, *theirs]):
        here, there = mine.get(name, ""), theirs.get(name, "")
        if here != there:
            found.append(f"{name} {_difference(name, here, there)}")
    return found


def _difference(name: str, here: str, there: str) -> str:
    if name != "features":
        return f"{here or 'none'}, there {there or 'none'}"
    mine, theirs = set(here.split(",")), set(there.split(","))
    extra, lacking = sorted(mine - theirs), sorted(theirs - mine)
    return f"{_few(extra)}, there {_few(lacking)}"


def _few(words: list[str]) -> str:
    return " ".join(words[:6]) + (f" … ({len(words)})" if len(words) > 6 else "") or "none"


def changed_lines(mine: str, theirs: str) -> Iterator[str]:
    """A unified difference of two sources, without its head."""
    import difflib

    before, after = (split_header(text)[1].splitlines() for text in (theirs, mine))
    lines = difflib.unified_diff(before, after, lineterm="", n=1)
    yield from list(lines)[2:]
