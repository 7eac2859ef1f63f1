# SPDX-License-Identifier: Apache-2.0
"""The public names.  `@export("nn.relu")` beside a definition is the only place a name is stated.

The package's `__init__` turns this table into modules.  Nothing here imports anything, until a name
is wanted whose module is not imported yet.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, TypeVar

from . import gc_pause

T = TypeVar("T")

_PACKAGE = __name__.removesuffix(".engine.api")


class _Names(dict[str, Any]):
    """Published objects; one of `LATER` is there as soon as it is asked for."""

    def __missing__(self, name: str) -> Any:
        module = LATER.get(name)
        if module is None:
            raise KeyError(name)
        load(module)
        if name not in self:
            raise KeyError(f"{module} does not publish {name}")
        return self[name]


# Public dotted name (without the package's own) -> object.
NAMES: dict[str, Any] = _Names()
# Public dotted name -> the module that publishes it, imported when first used.
LATER: dict[str, str] = {}
# What is called when modules have been imported later than the package.
ON_LOAD: list[Callable[[], None]] = []
# Public dotted name -> "package.module:attribute", imported when first used.
LAZY: dict[str, str] = {}


def export(*names: str) -> Callable[[T], T]:
    """Publishes an object under the given dotted names, such as "math.add" and "add"."""

    def publish(thing: T) -> T:
        for name in names:
            constant(name, thing)
        return thing

    return publish


def later(name: str, module: str) -> None:
    """Says which module publishes a name; it is imported when the name is wanted."""
    if name not in NAMES:
        LATER[name] = module


def load(module: str) -> None:
    """Imports a module of the package by its path below it."""
    with gc_pause.held_up():
        importlib.import_module(f"{_PACKAGE}.{module}")
        for call in ON_LOAD:
            call()


def constant(name: str, value: object) -> None:
    """Publishes a value that no decorator can sit on."""
    if name in NAMES and NAMES[name] is not value:
        raise ValueError(f"two objects are published as {name}")
    NAMES[name] = value
    LATER.pop(name, None)


def lazy(target: str, *names: str) -> None:
    """Publishes "module.path:attribute" (relative to the package) to be imported on first use."""
    for name in names:
        LAZY[name] = target
