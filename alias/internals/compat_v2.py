# SPDX-License-Identifier: Apache-2.0
"""`tf.compat.v2`: the names that mean the same in both versions, or that have a form for 2."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any

from .absent import absent
from .forms_v2 import function_of

# What TensorFlow 2 has under names of its own, which are not here.
_OTHER = frozenset({"summary"})
# What is the same in both, and what is another's.
_SAME = frozenset({"compat", "keras"})
_OF_KERAS = frozenset("losses metrics optimizers initializers".split())
_PACKAGE = __package__.partition(".")[0] + ".compat.v2"


class View(ModuleType):
    """One namespace of it."""

    def __init__(self, path: str) -> None:
        super().__init__(f"{_PACKAGE}.{path}".rstrip("."))
        self.__path__: list[str] = []
        vars(self)["_path"] = path

    def __getattr__(self, name: str) -> Any:
        path = f"{self._path}.{name}".lstrip(".")
        if path == "function" or path.startswith("__"):
            if path == "function":
                return absent("tf.compat.v2.function", ": it builds graphs")
            raise AttributeError(name)
        if path.split(".")[0] in _OTHER:
            raise AttributeError(f"tf.compat.v2.{path} is not in numbaflow, which is TensorFlow 1")
        place: Any = importlib.import_module(__package__.partition(".")[0])
        for part in self._path.split(".") if self._path else ():
            place = getattr(place, part)
        found = getattr(place, name, None)
        if path in _OF_KERAS:
            found = getattr(place.keras, name)
        elif path not in _SAME:
            found = namespace(path) if isinstance(found, ModuleType) else function_of(path)
        vars(self)[name] = found
        return found


def namespace(path: str = "") -> View:
    """The view of a namespace, which `import` finds, too."""
    full = f"{_PACKAGE}.{path}".rstrip(".")
    found = sys.modules.get(full)
    if not isinstance(found, View):
        found = sys.modules[full] = View(path)
    return found


V2 = namespace()
