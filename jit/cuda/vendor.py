# SPDX-License-Identifier: Apache-2.0
"""NVIDIA's libraries of mathematics: which are there, and how their functions are called.

They are C libraries, found by package cuda-pathfinder (which cuda-bindings brings along), whether
pip or a toolkit has installed them, and called through ctypes: a call's descriptors are made when
a run is prepared, and what is left is one call of a C function.  They share the card's context,
stream and memory.  Imports nothing heavy.
"""

from __future__ import annotations

import ctypes
import importlib.util
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...engine import errors

if TYPE_CHECKING:
    from .card import Card
    from .device import Library

Functions = Mapping[str, Sequence[Any]]


def libraries(card: Card) -> dict[str, Library]:
    """What computes what on a card, by kind (jit/library/computed.py)."""
    from . import cublas, cudnn

    found: dict[str, Library] = {}
    for module in (cublas, cudnn):
        names = opened(module.NAME, module.FUNCTIONS)
        if names is not None:
            library = module.Math(card, names)
            found[library.kind] = library
    return found


def opened(name: str, functions: Functions) -> Any:
    """A library whose functions know what they take, or None where it is not installed."""
    path = _path(name)
    if path is None:
        return None
    library = ctypes.CDLL(path)
    declare(library, functions)
    return library


def _path(name: str) -> str | None:
    """Where a library is: as NVIDIA's finder says, or else where pip has put it."""
    try:
        from cuda import pathfinder

        return str(pathfinder.load_nvidia_dynamic_lib(name).abs_path)
    except (ImportError, RuntimeError, ValueError):
        # (It says that there is none by errors of its own; older ones do not know all libraries.)
        spec = importlib.util.find_spec("nvidia")
    places = (spec and spec.submodule_search_locations) or ()
    found = (file for place in places for file in Path(place).glob(f"*/lib/lib{name}.so.*"))
    return next(map(str, sorted(found)), None)


def declare(library: Any, functions: Functions) -> None:
    """Tells ctypes what the functions of a library take; all give a status."""
    for name, kinds in functions.items():
        function = getattr(library, name)
        function.argtypes, function.restype = list(kinds), ctypes.c_int


def asked(name: str, function: Callable[..., int]) -> Callable[..., None]:
    """A function of a library that raises what it says."""

    def call(*arguments: Any) -> None:
        status = function(*arguments)
        if status:
            raise errors.internal(f"{name} of the GPU's library answers with status {status}")

    return call
