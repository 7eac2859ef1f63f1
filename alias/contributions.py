# SPDX-License-Identifier: Apache-2.0
"""Where the names of TensorFlow's modules below `tensorflow.contrib` are found, by one rule.

Of `contrib.X.python.A.LEAF` the module `train.contrib.X.A.LEAF` or `train.contrib.X.LEAF` is
asked, if there is one, then the public namespaces `tf.contrib.X.A.LEAF` and `tf.contrib.X.A`, and
at last `tf.contrib.X`.
Modules that TensorFlow 1.15 has not are none: `from tensorflow.contrib.layers.python.layers import
typo` is an ImportError.
"""

from __future__ import annotations

import functools
import sys
from pathlib import Path

from .contribution_modules import MODULES

_PACKAGE = __package__.rpartition(".")[0]
# Modules of which their packages have the function of that name: in TensorFlow 1.15 all others come
# before a public function of their name.
_FUNCTIONS = frozenset(
    {"contrib.framework.python.framework.experimental", "contrib.framework.python.ops.arg_scope"}
)
_FOLDER = Path(__file__).parent.parent / "train" / "contrib"


def contribution_homes(path: str) -> str | None:
    """The homes of a module by its path below `tensorflow`; None if it is no such module."""
    parts = path.split(".")
    if parts[0] != "contrib" or len(parts) < 2:
        return None
    name, inside = parts[1], parts[2:]
    own = _own_modules(name, inside)
    if not inside or (not own and not _has_namespace(name)):
        # A package without public names, of which programs import modules.
        is_listed = not inside or path.removeprefix("contrib.") in _modules()
        return " ".join(own) if is_listed and _has_own(name) else None
    if not own and path.removeprefix("contrib.") not in _modules():
        return None
    below = [part for part in inside if part != "python"]
    tails = [below[i:] for i in range(len(below))]
    # A module's names are in the namespace of its package, too.
    tails += [below[i:-1] for i in range(len(below) - 1)]
    spaces = [".".join(["tf.contrib", name, *tail]) for tail in tails]
    return " ".join([*own, *spaces, f"tf.contrib.{name}"])


def is_module_first(path: str) -> bool:
    """Whether a name of a package of contributions is the module below it, by its path."""
    below = path.removeprefix("contrib.")
    return below != path and below in _modules() and path not in _FUNCTIONS


def _own_modules(name: str, inside: list[str]) -> list[str]:
    """The modules of this package that are named as the one asked for, the likest first."""
    below = [part for part in inside if part != "python"]
    found = []
    for i in range(len(below)):
        if _FOLDER.joinpath(name, *below[i:]).with_suffix(".py").is_file():
            found.append(".".join([".train.contrib", name, *below[i:]]))
    if not found and (_FOLDER / f"{name}.py").is_file():
        found.append(f".train.contrib.{name}")
    return found


def _has_own(name: str) -> bool:
    """Whether this package has a folder or a module for a contribution."""
    return (_FOLDER / name).is_dir() or (_FOLDER / f"{name}.py").is_file()


def _has_namespace(name: str) -> bool:
    return f"{_PACKAGE}.contrib.{name}" in sys.modules


def contribution_modules() -> list[str]:
    """The paths below `tensorflow` of all modules of TensorFlow 1.15's contributions."""
    return [f"contrib.{name}" for name in _modules()]


@functools.cache
def _modules() -> frozenset[str]:
    """The modules and packages of TensorFlow 1.15 below `tensorflow.contrib`, by their paths."""
    found: set[str] = set()
    for line in MODULES.strip().splitlines():
        package, _, names = line.partition(":")
        found.update([package, *(f"{package}.{name}" for name in names.split())])
    return frozenset(found | {"".join(p.rpartition(".")[0]) for p in found})
