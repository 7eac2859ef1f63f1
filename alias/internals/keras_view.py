# SPDX-License-Identifier: Apache-2.0
"""`tf.keras` as modules: train/keras/names.py says where each name is, imported when it is wanted.

What is not here can be inherited and named, and fails with its name when it is called.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any

from ...engine.interface.missing import known_names
from ...train.keras.names import NAMES
from .absent import absent

_ROOT = __package__.partition(".")[0]
_INSTEAD = ""
# What the place of a namespace's modules begins with, which is no folder.
PLACE = "numbaflow:"


class View(ModuleType):
    """One namespace of it."""

    def __init__(self, path: str) -> None:
        super().__init__(f"{_ROOT}.{path}")
        # (For programs that put a namespace into `sys.modules` as `keras`; see alias/finder.py.)
        self.__path__ = [f"{PLACE}{path}"]
        vars(self)["_path"] = path
        vars(self)["__version__"] = "2.2.4-tf"

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":  # What `import *` takes.
            return [one for one in dir(self) if not one.startswith("_")]
        full = f"{self._path}.{name}"
        if full.removeprefix("keras.") in NAMES:
            found = _found(NAMES[full.removeprefix("keras.")])
        elif full in known_names() or _leads_to_names(full.removeprefix("keras.")):
            found = namespace(full)
        elif name in known_names().get(self._path, ()):
            found = absent(f"tf.{full}", _INSTEAD)
        else:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        vars(self)[name] = found
        return found

    def __dir__(self) -> list[str]:
        """The names that the namespace has here."""
        head = f"{self._path.removeprefix('keras').removeprefix('.')}."
        below = [name.removeprefix(head) for name in NAMES if name.startswith(head.lstrip("."))]
        return sorted({*super().__dir__(), *(name.partition(".")[0] for name in below)})


def _leads_to_names(place: str) -> bool:
    # Namespaces that are packages of their own are not among those of TensorFlow's list.
    return any(name.startswith(f"{place}.") for name in NAMES)


def _found(target: str) -> Any:
    module, _, name = target.partition(":")
    if name:
        return getattr(importlib.import_module(module, _ROOT), name)
    place: Any = importlib.import_module(_ROOT)
    for part in target.split("."):
        place = getattr(place, part)
    return place


def namespace(path: str = "keras") -> View:
    """The view of a namespace, which `import` finds, too."""
    full = f"{_ROOT}.{path}"
    found = sys.modules.get(full)
    if not isinstance(found, View):
        found = sys.modules[full] = View(path)
    return found


def register_symbolic_tensor_type(cls: type) -> None:
    """Notes a class whose objects layers of Keras, of which none are here, take for tensors."""
    _symbolic.add(cls)


_symbolic: set[type] = set()
KERAS = namespace()
