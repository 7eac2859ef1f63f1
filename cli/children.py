# SPDX-License-Identifier: Apache-2.0
"""Processes that a program starts by `multiprocessing` begin as the program did.

A process that is forked has all that its parent has.  One that is spawned, or comes from a fork
server, is a new Python that imports the program's file: before it does, `import tensorflow` must
mean this package there, too, and what was restored in the program be restored.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import CodeType, ModuleType
from typing import Any

_MODULE = "multiprocessing.spawn"


class _Setup:
    """Part of what a new process is told: to read it sets the process up."""

    def __init__(self, arguments: tuple[Any, ...]) -> None:
        self._arguments = arguments

    def __reduce__(self) -> tuple[Callable[..., None], tuple[Any, ...]]:
        return set_up_child, self._arguments


def set_up_child(strict: bool, before_1: bool, folder: str) -> None:
    """Sets a new process up for the file of the program, which it imports next.

    Args:
        strict: whether nothing is restored.
        before_1: whether names of TensorFlow before 1.0 are there.
        folder: that of the program's own files.
    """
    from .launcher import set_up

    set_up(strict, before_1, folder)
    if strict:
        return
    import runpy

    from ..alias.restore.compiled import compile_program

    # The program's file is compiled by this function, whatever imports it.
    own = runpy._get_code_from_file  # type: ignore[attr-defined]

    def code_of(*names: str) -> Any:
        found = own(*names)
        if type(found) is not CodeType:  # (The code and its path, until Python 3.11.)
            return (compile_program(_text(names[-1]), names[-1]), *found[1:])
        return compile_program(_text(names[-1]), names[-1])

    runpy._get_code_from_file = code_of  # type: ignore[attr-defined]


def _text(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def follow(strict: bool, before_1: bool, folder: str) -> None:
    """From here on, processes that are spawned are set up by `set_up_child`, with its arguments."""
    arguments = (strict, before_1, folder)
    loaded = sys.modules.get(_MODULE)
    if loaded is not None:
        _tell(loaded, arguments)
    else:
        sys.meta_path.insert(0, _Follower(arguments))


class _Follower(MetaPathFinder):
    """Finds the module that starts processes, once, and has it tell them more."""

    def __init__(self, arguments: tuple[Any, ...]) -> None:
        self._arguments = arguments

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """What Python finds, with a loader that does a little more."""
        if fullname != _MODULE:
            return None
        sys.meta_path.remove(self)
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            run = spec.loader.exec_module

            def exec_module(module: ModuleType) -> None:
                run(module)
                _tell(module, self._arguments)

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def _tell(spawn: ModuleType, arguments: tuple[Any, ...]) -> None:
    own = spawn.get_preparation_data

    def get_preparation_data(name: str) -> dict[str, Any]:
        found = own(name)
        if name == "ignore":
            # Of a fork server, which knows nothing yet; its processes import the program's file.
            found.pop("init_main_from_path", None)
            found.pop("init_main_from_name", None)
        return {"numbaflow": _Setup(arguments), **found}

    spawn.__dict__["get_preparation_data"] = get_preparation_data
