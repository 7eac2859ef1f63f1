# SPDX-License-Identifier: Apache-2.0
"""Which libraries are of TensorFlow 1's years, so that their files are read as a program's.

Such a library imports tensorflow in one of its files and does not ask for a Python that was not
there then.  Others, that may use TensorFlow among other things, are left as they are.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterator

_IMPORT = re.compile(rb"^[ \t]*(?:import|from)[ \t]+tensorflow(?:_core)?\b", re.MULTILINE)
# Packages have more files, but one that is built on TensorFlow says so early.
_FILES = 400
# The last Python that TensorFlow 1 was built for.
_LAST = (3, 7)
_AT_LEAST = re.compile(r"(?:>=|~=|>|==)\s*(\d+)\.(\d+)")


def is_of_those_years(module: str, file: str) -> bool:
    """Whether a module belongs to a library of TensorFlow 1's years.

    Args:
        module: its full name, "keras.engine.saving".
        file: where it lies.

    Returns:
        The answer for the whole library, found once.
    """
    return _library(_site(module, file), module.partition(".")[0])


def is_installed(module: str, file: str) -> bool:
    """Whether a module lies where an installer put it, in a folder of packages of any place."""
    return _has_installed(_site(module, file))


@functools.cache
def _has_installed(site: str) -> bool:
    # (`egg-info` is what a project has that is installed where it is written.)
    return any(name.endswith(".dist-info") for name in os.listdir(site or "."))


def _site(module: str, file: str) -> str:
    """The folder that a module's package lies in."""
    folder = os.path.dirname(file)
    if os.path.basename(file) == "__init__.py":
        folder = os.path.dirname(folder)
    for _ in module.split(".")[1:]:
        folder = os.path.dirname(folder)
    return folder


@functools.cache
def _library(site: str, name: str) -> bool:
    needs = _needed_pythons(site)
    if needs is not None and not _runs_on_old(needs.get(name)):
        return False
    return any(map(_imports_tensorflow, _files(os.path.join(site, name))))


def _files(package: str) -> Iterator[str]:
    """The files of a package, those at the top first, or of a module."""
    if not os.path.isdir(package):
        if os.path.isfile(f"{package}.py"):
            yield f"{package}.py"
        return
    left, folders = _FILES, [package]
    while folders and left > 0:
        folder = folders.pop(0)
        for entry in sorted(os.scandir(folder), key=lambda one: one.name):
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.path)
            elif entry.name.endswith(".py") and left > 0:
                left -= 1
                yield entry.path


def _imports_tensorflow(file: str) -> bool:
    with open(file, "rb") as opened:
        return _IMPORT.search(opened.read()) is not None


@functools.cache
def _needed_pythons(site: str) -> dict[str, str] | None:
    """Package -> what it says of Python, for those installed in a folder; None: nothing is.

    Packages that say nothing of their top modules are put together by tools of later years.
    """
    found: dict[str, str] = {}
    places = [entry.path for entry in os.scandir(site) if entry.name.endswith("-info")]
    for place in places:
        lines = _lines(os.path.join(place, "METADATA")) or _lines(os.path.join(place, "PKG-INFO"))
        head = lines[: lines.index("")] if "" in lines else lines
        text = next((line for line in head if line.startswith("Requires-Python:")), "")
        for name in _lines(os.path.join(place, "top_level.txt")):
            found[name] = text
    return found if places else None


def _lines(file: str) -> list[str]:
    if not os.path.isfile(file):
        return []
    with open(file, encoding="utf-8", errors="replace") as opened:
        return opened.read().splitlines()


def _runs_on_old(text: str | None) -> bool:
    """Whether what a package says of Python, if it says anything, has room for TensorFlow 1's."""
    if text is None:
        return False
    bounds = [(int(a), int(b)) for a, b in _AT_LEAST.findall(text)]
    return all(bound <= _LAST for bound in bounds)
