# SPDX-License-Identifier: Apache-2.0
"""Which folders of exports to keep: functions from lists of paths to those that are kept."""

from __future__ import annotations

import heapq
import math
import os
from collections import namedtuple
from collections.abc import Callable, Iterable
from typing import Any

from .....engine.compat import as_str_any
from .....io.files_v2 import list_directory_v2

# A folder, and the number of its export or None.
Path = namedtuple("Path", "path export_version")
_Keep = Callable[[list[Path]], list[Path]]


def largest_export_versions(n: int) -> _Keep:
    """Keeps the `n` exports of the largest numbers."""

    def keep(paths: list[Path]) -> list[Path]:
        numbered = [
            (path.export_version, i)
            for i, path in enumerate(paths)
            if path.export_version is not None
        ]
        return sorted(paths[i] for _, i in heapq.nlargest(n, numbered))

    return keep


def one_of_every_n_export_versions(n: int) -> _Keep:
    """Keeps the last export of every `n` numbers: of 1 to n, of n + 1 to 2 n, and so on."""

    def keep(paths: list[Path]) -> list[Path]:
        kept: dict[int, Path] = {}
        for path in paths:
            number = path.export_version
            if number is None:
                continue
            interval = math.floor((number - 1) / n) if number else 0
            if interval not in kept or kept[interval].export_version < number:
                kept[interval] = path
        return sorted(kept.values())

    return keep


def mod_export_version(n: int) -> _Keep:
    """Keeps the exports whose numbers can be divided by `n`."""
    return lambda paths: sorted(path for path in paths if path.export_version % n == 0)


def union(lf: _Keep, rf: _Keep) -> _Keep:
    """Keeps what either function keeps."""
    return lambda paths: sorted({*lf(paths), *rf(paths)})


def negation(f: _Keep) -> _Keep:
    """Keeps what the function does not."""
    return lambda paths: sorted(set(paths) - set(f(paths)))


def get_paths(base_dir: Any, parser: Callable[[Path], Path | None]) -> list[Path]:
    """The paths in a folder, as a parser completes them; those that it gives None for are left out.

    Args:
        base_dir: the folder.
        parser: a function from a path without number to one with, or to None.
    """
    names: Iterable[Any] = list_directory_v2(base_dir)
    full = (Path(os.path.join(as_str_any(base_dir), as_str_any(name)), None) for name in names)
    return sorted(path for path in map(parser, full) if path)
