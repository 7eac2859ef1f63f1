# SPDX-License-Identifier: Apache-2.0
"""Internal modules and names that TensorFlow 1.15 has and that have no counterpart here.

Programs import more than they use: such a name can be imported, and fails when it is used.
"""

from __future__ import annotations

import functools
from typing import Any

from ...engine.interface.missing import names_by_module
from .absent import absent


@functools.cache
def internal_names() -> dict[str, tuple[str, ...]]:
    """Module below `tensorflow`, such as "python.ops.nn_ops", -> the names that it defines."""
    return names_by_module(__package__, "tf115_internals.txt")


def has_module(path: str) -> bool:
    """Whether TensorFlow 1.15 has an internal module."""
    return path in _modules()


@functools.cache
def _modules() -> frozenset[str]:
    """All of them, and the packages that they are in."""
    return frozenset(
        path.rsplit(".", above)[0] for path in internal_names() for above in range(path.count("."))
    )


def stand_in(path: str, name: str, default: Any) -> Any:
    """What stands for an internal name that is not here; `default` for what never was."""
    if name not in internal_names().get(path, ()):
        return default
    return absent(f"tensorflow.{path}.{name}")
