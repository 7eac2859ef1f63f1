# SPDX-License-Identifier: Apache-2.0
"""The public names.  `@export("nn.relu")` beside a definition is the only place a name is stated.

The package's `__init__` turns this table into modules; nothing here imports anything.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")

# Public dotted name (without the package's own) -> object.
NAMES: dict[str, Any] = {}
# Public dotted name -> "package.module:attribute", imported when first used.
LAZY: dict[str, str] = {}


def export(*names: str) -> Callable[[T], T]:
    """Publishes an object under the given dotted names, such as "math.add" and "add"."""

    def publish(thing: T) -> T:
        for name in names:
            constant(name, thing)
        return thing

    return publish


def constant(name: str, value: object) -> None:
    """Publishes a value that no decorator can sit on."""
    if name in NAMES and NAMES[name] is not value:
        raise ValueError(f"two objects are published as {name}")
    NAMES[name] = value


def lazy(target: str, *names: str) -> None:
    """Publishes "module.path:attribute" (relative to the package) to be imported on first use."""
    for name in names:
        LAZY[name] = target
