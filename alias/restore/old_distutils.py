# SPDX-License-Identifier: Apache-2.0
"""The parts of `distutils` that programs use at run time."""

from __future__ import annotations

import functools
import os
import platform
import re
import shutil
import sys
import sysconfig
from typing import Any

__version__ = "{}.{}.{}".format(*sys.version_info[:3])


@functools.total_ordering
class _Version:
    """Versions compare part by part, with texts, too."""

    version: Any = ()

    def __init__(self, vstring: str | None = None) -> None:
        if vstring is not None:
            self.parse(vstring)

    def parse(self, vstring: str) -> None:
        """Reads a text."""
        raise NotImplementedError

    def _other(self, other: object) -> Any:
        return type(self)(other).version if isinstance(other, str) else getattr(other, "version", 0)

    def __eq__(self, other: object) -> bool:
        return bool(self.version == self._other(other))

    def __lt__(self, other: object) -> bool:
        return bool(self.version < self._other(other))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{type(self).__name__} ({str(self)!r})"


class LooseVersion(_Version):
    """Any version: numbers and words between dots."""

    def parse(self, vstring: str) -> None:
        """Reads a text."""
        self.vstring = vstring
        parts = [p for p in re.split(r"(\d+|[a-z]+|\.)", vstring) if p and p != "."]
        self.version = [int(p) if p.isdigit() else p for p in parts]

    def __str__(self) -> str:
        return self.vstring


class StrictVersion(_Version):
    """Two or three numbers, and maybe a pre-release."""

    def parse(self, vstring: str) -> None:
        """Reads a text.

        Raises:
            ValueError: it is of another form.
        """
        found = re.fullmatch(r"(\d+)\.(\d+)(?:\.(\d+))?(?:([ab])(\d+))?", vstring)
        if found is None:
            raise ValueError(f"invalid version number '{vstring}'")
        numbers = tuple(int(found[i] or 0) for i in (1, 2, 3))
        # A release comes behind its pre-releases.
        self.version = (numbers, (found[4], int(found[5])) if found[4] else ("z", 0))
        self._text = vstring

    def __str__(self) -> str:
        return self._text


def strtobool(val: str) -> int:
    """1 for words that say yes, 0 for those that say no.

    Raises:
        ValueError: it says neither.
    """
    word = val.lower()
    if word in ("y", "yes", "t", "true", "on", "1"):
        return 1
    if word in ("n", "no", "f", "false", "off", "0"):
        return 0
    raise ValueError(f"invalid truth value {word!r}")


def get_platform() -> str:
    """ "linux-x86_64" and the like."""
    return sysconfig.get_platform() or platform.platform()


def mkpath(name: str, mode: int = 0o777, *others: Any, **options: Any) -> list[str]:
    """Makes a folder and those above it."""
    del others, options
    if os.path.isdir(name):
        return []
    os.makedirs(name, mode, exist_ok=True)
    return [name]


def copy_tree(src: str, dst: str, *others: Any, **options: Any) -> list[str]:
    """Copies a folder into another; returns the files."""
    del others, options
    shutil.copytree(src, dst, dirs_exist_ok=True)
    return [os.path.join(where, file) for where, _, files in os.walk(dst) for file in files]


def remove_tree(directory: str, *others: Any, **options: Any) -> None:
    """Removes a folder."""
    del others, options
    shutil.rmtree(directory)


def copy_file(src: str, dst: str, *others: Any, **options: Any) -> tuple[str, int]:
    """Copies a file."""
    del others, options
    return shutil.copy2(src, dst), 1


def move_file(src: str, dst: str, *others: Any, **options: Any) -> str:
    """Moves a file."""
    del others, options
    return shutil.move(src, dst)
