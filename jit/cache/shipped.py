# SPDX-License-Identifier: Apache-2.0
"""Machine code of library kernels that comes with the package, for processors of a common level.

    jit/library/objects/linux-x86-64-v4.kernels     of a system and a level of jit/target.py

        a line that names the format
        a line of JSON       emitter, machine, system, cpu, features; how many kernels and recipes
        rows of kernels      a hash that is a kernel's key, where it begins, how many bytes it has
        rows of recipes      a hash of what a text follows from, and the key of that
        the kernels          each deflated: a line of JSON with its name, symbol and checksum; the
                             object file

A kernel's key is the hash of its text, which is a label of the cache's keys too; by recipes it is
known before the text is written.  Rows are sorted and searched where they lie: all programs wait
for this file to be opened, and need few of what it has.

A wheel has such files if it was built with them (`make wheel`); a checkout has none.  They are part
of the package as its modules are, so who may write them is not asked; but a file that is damaged,
or belongs to other versions of the modules that make machine code, is not used.  Numba's and LLVM's
versions are not asked either: what they made is here.  Imports no compiler.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from struct import Struct
from typing import Any

from ...engine.record_class import record
from ..target import Target
from . import store

FORMAT = "2"
_FIRST = b"numbaflow kernels\n"
_ROW, _RECIPE = Struct("<16sQI"), Struct("<16s16s")
_MOST_BYTES = store.MOST_BYTES  # of one kernel, unpacked
_FOLDER = Path(__file__).parents[1] / "library" / "objects"
Facts = dict[str, str]


@record(frozen=True, slots=True)
class Object:
    """An object file: the kernel's name, the function that it defines, and its bytes."""

    name: str
    symbol: str
    code: bytes


# What reading a damaged file raises.
_DAMAGE = (zlib.error, OSError, ValueError, KeyError, TypeError, AttributeError)


def facts(emitter: str, aim: Target) -> Facts:
    """What a file states of all that is in it."""
    return {
        "format": FORMAT,
        "emitter": emitter,
        # (The rest of a triple tells who built LLVM: unknown, pc, conda …)
        "machine": aim.machine,
        "system": aim.system,
        "cpu": aim.cpu,
        "features": aim.features,
    }


def path_of(system: str, level: str, folder: Path | None = None) -> Path:
    """The file of a system's processors of a level; in the package's own folder."""
    return (folder or _FOLDER) / f"{system}-{level}.kernels"


def opened(level: str, emitter: str, aim: Target, folder: Path | None = None) -> Shipped | None:
    """The package's kernels for processors of a level, of the versions at hand; None if there are
    none that can be used."""
    return _opened(folder or _FOLDER, level, emitter, aim)


class Shipped:
    """A file in memory, whose rows begin at `start`: so many of kernels, and of recipes."""

    def __init__(self, path: Path, content: bytes, start: int, kernels: int, recipes: int) -> None:
        self._path, self._content = path, content
        self._kernels, self._recipes = (start, kernels), (start + _ROW.size * kernels, recipes)
        # By the hashes of their texts: who plans asks whether a kernel is there before he takes it.
        self._read: dict[str, Object | None] = {}

    def read(self, content: str) -> Object | None:
        """A kernel that is in the file, sound."""
        if content not in self._read:
            self._read[content] = self._looked_up(content)
        return self._read[content]

    def _looked_up(self, content: str) -> Object | None:
        try:
            row = self._find(_hash(content), _ROW, *self._kernels)
            return None if row is None else self._sound(content, *row[1:])
        except _DAMAGE as error:
            store.warn_once(f"kernel {content} in {self._path} is not used: {error}")
            return None

    def content_of(self, recipe: str) -> str | None:
        """The hash of a text by what it follows from."""
        row = self._find(_hash(recipe), _RECIPE, *self._recipes)
        return None if row is None else row[1].hex()

    def _find(self, key: bytes, form: Struct, start: int, count: int) -> tuple[Any, ...] | None:
        """The row of a key among sorted ones."""
        low, high = 0, count
        while low < high:
            middle = (low + high) // 2
            row = form.unpack_from(self._content, start + middle * form.size)
            if row[0] == key:
                return row
            low, high = (middle + 1, high) if row[0] < key else (low, middle)
        return None

    def _sound(self, content: str, offset: int, size: int) -> Object:
        packed = self._content[offset : offset + size]
        inflater = zlib.decompressobj()
        head, _, code = inflater.decompress(packed, _MOST_BYTES).partition(b"\n")
        if len(packed) != size or not inflater.eof:
            raise ValueError("it is cut off")
        name, symbol, checksum = map(str, json.loads(head))
        if checksum != _checksum(content, name, symbol, code):
            raise ValueError("its checksum does not match")
        return Object(name, symbol, code)


@cache
def _opened(folder: Path, level: str, emitter: str, aim: Target) -> Shipped | None:
    """A file of kernels; None if there is none, or one of other versions or that is damaged."""
    path, wanted = path_of(aim.system, level, folder), facts(emitter, aim)
    try:
        # All of it in memory: a package may be exchanged while a process runs.
        content = path.read_bytes()
    except OSError:
        return None
    try:
        begin = len(_FIRST)
        end = content.index(b"\n", begin)
        stated = json.loads(content[begin:end])
        counts = stated.pop("kernels", None), stated.pop("recipes", None)
        if stated != wanted:
            return None
        sizes = [int(count) * form.size for count, form in zip(counts, (_ROW, _RECIPE))]
        fits = min(sizes) >= 0 and sum(sizes) <= len(content) - end
        if not content.startswith(_FIRST) or not fits:
            raise ValueError("it is cut off, or no file of kernels")
    except _DAMAGE as error:
        store.warn_once(f"the kernels in {path} are not used: {error}")
        return None
    return Shipped(path, content, end + 1, *counts)


def write(
    path: Path,
    stated: Facts,
    kernels: Mapping[str, Object],
    recipes: Mapping[str, str] | None = None,
) -> None:
    """Writes a file of kernels by the hashes of their texts; equal kernels give an equal file.

    recipes: those hashes, in hexadecimal, by what texts follow from.
    """
    pairs = sorted((_hash(recipe), bytes.fromhex(of)) for recipe, of in (recipes or {}).items())
    counts = {"kernels": len(kernels), "recipes": len(pairs)}
    head = _FIRST + json.dumps({**stated, **counts}).encode() + b"\n"
    told = b"".join(_RECIPE.pack(*pair) for pair in pairs)
    place, rows, bodies = len(head) + _ROW.size * len(kernels) + len(told), [], []
    for key, content in sorted((_hash(content), content) for content in kernels):
        each = kernels[content]
        checksum = _checksum(content, each.name, each.symbol, each.code)
        line = json.dumps([each.name, each.symbol, checksum]).encode()
        bodies.append(zlib.compress(line + b"\n" + each.code, 9))
        rows.append(_ROW.pack(key, place, len(bodies[-1])))
        place += len(bodies[-1])
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f".{path.name}.new")
    aside.write_bytes(b"".join([head, *rows, told, *bodies]))
    aside.replace(path)


def _hash(content: str) -> bytes:
    return hashlib.blake2b(content.encode(), digest_size=16).digest()


def _checksum(content: str, name: str, symbol: str, code: bytes) -> str:
    return store.checksum_of(content, {"name": name, "symbol": symbol}, b"", code)
