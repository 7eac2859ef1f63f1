# SPDX-License-Identifier: Apache-2.0
"""Machine code of library kernels that comes with the package, for processors of a common level.

    jit/library/objects/linux-x86-64-v4.zip      of a system and a level of jit/target.py
        manifest.json    emitter, triple, cpu and features; by kernel: name, symbol, checksum
        <kernel>.o       by the hash of a kernel's text, which is a label of the cache's keys too

A wheel has such files if it was built with them (`make wheel`); a checkout has none.  They are part
of the package as its modules are, so who may write them is not asked; but a file that is damaged,
or belongs to other versions of the modules that make machine code, is not used.  Numba's and LLVM's
versions are not asked either: what they made is here.  Imports no compiler.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...engine.record_class import record
from ..target import Target
from . import store

if TYPE_CHECKING:
    import zipfile

FORMAT = "1"
_MANIFEST = "manifest.json"
_FOLDER = Path(__file__).parents[1] / "library" / "objects"
Facts = dict[str, str]


@record(frozen=True, slots=True)
class Object:
    """An object file: the kernel's name, the function that it defines, and its bytes."""

    name: str
    symbol: str
    code: bytes


def _damage() -> tuple[type[Exception], ...]:
    """What reading a damaged file raises; some of its own, the rest by what its bytes say."""
    import zipfile
    import zlib

    damaged = zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError
    return (*damaged, KeyError, TypeError, AttributeError, ValueError)


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
    return (folder or _FOLDER) / f"{system}-{level}.zip"


def is_there(level: str, wanted: Facts) -> bool:
    """Whether the package has kernels for processors of a level, of the versions at hand."""
    return _opened(path_of(wanted["system"], level), tuple(wanted.items())) is not None


def find(level: str, wanted: Facts, content: str) -> Object | None:
    """A kernel of the package by the hash of its text; None if there is none that can be used."""
    found = _opened(path_of(wanted["system"], level), tuple(wanted.items()))
    return None if found is None else found.read(content)


class _Shipped:
    """An open file, and what it states of each kernel."""

    def __init__(self, path: Path, archive: zipfile.ZipFile, kernels: dict[str, Any]) -> None:
        self._path, self._archive, self._kernels = path, archive, kernels

    def read(self, content: str) -> Object | None:
        """A kernel that is in the file, sound."""
        row = self._kernels.get(content)
        if row is None:
            return None
        try:
            name, symbol = str(row["name"]), str(row["symbol"])
            code = self._archive.read(f"{content}.o")
            if row["checksum"] != _checksum(content, name, symbol, code):
                raise ValueError("its checksum does not match")
        except _damage() as error:
            store.warn_once(f"kernel {content} in {self._path} is not used: {error}")
            return None
        return Object(name, symbol, code)


@cache
def _opened(path: Path, wanted: tuple[tuple[str, str], ...]) -> _Shipped | None:
    """A file of kernels; None if there is none, or one of other versions or that is damaged."""
    try:
        # All of it in memory: a package may be exchanged while a process runs.
        content = path.read_bytes()
    except OSError:
        return None
    # Here, since few programs find such a file, and all would wait for the module.
    import zipfile

    try:
        archive = zipfile.ZipFile(io.BytesIO(content))
        manifest = json.loads(archive.read(_MANIFEST))
        stated = {name: manifest.get(name) for name, _ in wanted}
        kernels = manifest["kernels"]
        if not isinstance(kernels, dict):
            raise ValueError("it lists no kernels")
    except _damage() as error:
        store.warn_once(f"the kernels in {path} are not used: {error}")
        return None
    return _Shipped(path, archive, kernels) if stated == dict(wanted) else None


def write(path: Path, stated: Facts, kernels: Mapping[str, Object]) -> None:
    """Writes a file of kernels by the hashes of their texts; equal kernels give an equal file."""
    rows = {
        content: {
            "name": each.name,
            "symbol": each.symbol,
            "checksum": _checksum(content, each.name, each.symbol, each.code),
        }
        for content, each in sorted(kernels.items())
    }
    import zipfile

    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f".{path.name}.new")
    with zipfile.ZipFile(aside, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        manifest = json.dumps({**stated, "kernels": rows}, indent=1)
        archive.writestr(_member(_MANIFEST), manifest)
        for content in rows:
            archive.writestr(_member(f"{content}.o"), kernels[content].code)
    aside.replace(path)


def _member(name: str) -> zipfile.ZipInfo:
    import zipfile

    member = zipfile.ZipInfo(name)  # of 1980
    member.compress_type = zipfile.ZIP_DEFLATED
    return member


def _checksum(content: str, name: str, symbol: str, code: bytes) -> str:
    return store.checksum_of(content, {"name": name, "symbol": symbol}, b"", code)
