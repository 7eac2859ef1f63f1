# SPDX-License-Identifier: Apache-2.0
"""The module `imp`, by `importlib`."""

from __future__ import annotations

import importlib.util
import os
import sys
from importlib import reload as reload
from importlib.machinery import (
    BYTECODE_SUFFIXES,
    EXTENSION_SUFFIXES,
    SOURCE_SUFFIXES,
    ExtensionFileLoader,
    ModuleSpec,
    PathFinder,
    SourceFileLoader,
)
from importlib.util import cache_from_source as cache_from_source
from importlib.util import source_from_cache as source_from_cache
from types import ModuleType
from typing import IO, Any

__all__ = [
    *("PY_SOURCE", "PY_COMPILED", "C_EXTENSION", "PKG_DIRECTORY", "C_BUILTIN", "PY_FROZEN"),
    *("find_module", "load_module", "load_source", "load_dynamic", "load_package", "new_module"),
    *("reload", "get_magic", "get_suffixes", "get_tag", "cache_from_source", "source_from_cache"),
    *("acquire_lock", "release_lock", "lock_held", "is_builtin", "is_frozen", "NullImporter"),
]

PY_SOURCE, PY_COMPILED, C_EXTENSION, PKG_DIRECTORY, C_BUILTIN, PY_FROZEN = 1, 2, 3, 5, 6, 7


class NullImporter:
    """A finder that finds nothing."""

    def __init__(self, path: str) -> None:
        if path == "" or os.path.isdir(path):
            raise ImportError(f"existing directory: {path!r}")

    def find_module(self, fullname: str) -> None:
        """Nothing."""


def new_module(name: str) -> ModuleType:
    """An empty module."""
    return ModuleType(name)


def get_magic() -> bytes:
    """What begins files of byte code."""
    return importlib.util.MAGIC_NUMBER


def get_tag() -> str | None:
    """The part of such a file's name that names the interpreter."""
    return sys.implementation.cache_tag


def get_suffixes() -> list[tuple[str, str, int]]:
    """(suffix, mode, sort) of files of modules."""
    return [
        *((s, "rb", C_EXTENSION) for s in EXTENSION_SUFFIXES),
        *((s, "r", PY_SOURCE) for s in SOURCE_SUFFIXES),
        *((s, "rb", PY_COMPILED) for s in BYTECODE_SUFFIXES),
    ]


def acquire_lock() -> None:
    """Nothing: imports have locks of their own."""


release_lock = acquire_lock


def lock_held() -> bool:
    """False: there is no such lock."""
    return False


def is_builtin(name: str) -> int:
    """Whether a module is part of the interpreter."""
    return int(name in sys.builtin_module_names)


def is_frozen(name: str) -> bool:
    """Whether a module is frozen into the interpreter."""
    return name in ("_frozen_importlib", "_frozen_importlib_external", "zipimport")


def _run(spec: ModuleSpec | None, name: str) -> ModuleType:
    if spec is None or spec.loader is None:
        raise ImportError(f"No module named {name!r}", name=name)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    return sys.modules[name]


def load_source(name: str, pathname: str, file: Any = None) -> ModuleType:
    """A module from a file of source."""
    del file
    loader = SourceFileLoader(name, pathname)
    return _run(importlib.util.spec_from_file_location(name, pathname, loader=loader), name)


def load_dynamic(name: str, path: str, file: Any = None) -> ModuleType:
    """A module from a library."""
    del file
    loader = ExtensionFileLoader(name, path)
    return _run(importlib.util.spec_from_file_location(name, path, loader=loader), name)


def load_package(name: str, path: str) -> ModuleType:
    """A package from its folder."""
    file = os.path.join(path, "__init__.py")
    spec = importlib.util.spec_from_file_location(name, file, submodule_search_locations=[path])
    return _run(spec, name)


def find_module(
    name: str, path: list[str] | None = None
) -> tuple[IO[Any] | None, str | None, tuple[str, str, int]]:
    """(open file, its path, description) of a module."""
    if path is None and is_builtin(name):
        return None, None, ("", "", C_BUILTIN)
    spec = PathFinder.find_spec(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"No module named {name!r}", name=name)
    origin = spec.origin or ""
    if spec.submodule_search_locations is not None:
        return None, os.path.dirname(origin), ("", "", PKG_DIRECTORY)
    kinds = {suffix: (suffix, mode, kind) for suffix, mode, kind in get_suffixes()}
    description = next(kinds[s] for s in kinds if origin.endswith(s))
    mode = description[1]
    handle = open(origin, mode, encoding=None if "b" in mode else "utf-8")  # noqa: SIM115
    return handle, origin, description


def load_module(name: str, file: Any, filename: str, details: tuple[str, str, int]) -> ModuleType:
    """The module that `find_module` found."""
    kind = details[2]
    if kind == PY_SOURCE:
        return load_source(name, filename)
    if kind == C_EXTENSION:
        return load_dynamic(name, filename)
    if kind == PKG_DIRECTORY:
        return load_package(name, filename)
    if kind == C_BUILTIN:
        return importlib.import_module(name)
    raise ImportError(f"Don't know how to import {name} (type code {kind})", name=name)
