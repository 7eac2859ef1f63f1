# SPDX-License-Identifier: Apache-2.0
"""What an isolated process runs first: the text of this module, handed to it (jit/isolated.py).

It is run before anything of this package can be imported, so it imports nothing but Python's own.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
import types
from collections.abc import Iterable, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from typing import Any


class _Homes:
    """Finds packages in the folders in which another process found them, and nowhere else."""

    def __init__(self, folders: dict[str, list[str]]) -> None:
        self._folders = folders

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None
    ) -> ModuleSpec | None:
        """What the system of imports asks for."""
        folders = self._folders.get(name)
        return PathFinder.find_spec(name, folders, target) if folders else None

    def find_distributions(self, context: Any) -> Iterable[Any]:
        """What importlib.metadata asks for, to tell a package's version."""
        where: Any = types.SimpleNamespace(
            name=context.name, path=self._folders.get(context.name, [])
        )
        return PathFinder.find_distributions(where)


def call(module: str, function: str, is_left: bool) -> None:
    """Calls a function of the package with what this process reads, and what it writes to.

    is_left: the process that was started ends, so that nobody waits for it; its child goes on.
    """
    if is_left and os.fork():
        os._exit(0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started it sees to its end
    requests, replies = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # so that nothing that prints is taken for a reply
    root, folders, homes = json.loads(requests.readline())
    sys.meta_path.insert(0, _Homes(homes))
    # Not the package's own module, which imports the ops.
    package = types.ModuleType(root)
    package.__path__ = folders
    sys.modules[root] = package
    getattr(importlib.import_module(module), function)(requests, replies)
