# SPDX-License-Identifier: Apache-2.0
"""`tf.compat.v2`: the names that mean the same in both versions, or that have a form for 2."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any

from .absent import absent
from .forms_v2 import function_of

# Names that TensorFlow 2 has for something else, or alone -> what they are here.
_OTHERS = {
    **{
        f"summary.{name}": f"train.summaries.tagged:{name}"
        for name in "audio histogram image scalar text".split()
    },
    "summary.SummaryWriter": "train.summaries.graph_writers:SummaryWriter",
    "summary.create_file_writer": "train.summaries.graph_writers:create_file_writer_v2",
    "summary.create_noop_writer": "train.summaries.graph_writers:create_noop_writer",
    "summary.flush": "train.summaries.graph_writers:flush",
    "summary.record_if": "train.summaries.recording:record_if",
    "summary.write": "train.summaries.recording:write",
    **{
        f"summary.experimental.{name}": f"train.summaries.recording:{name}"
        for name in "get_step set_step summary_scope write_raw_pb".split()
    },
    "saved_model.load": "train.saved_model.object_loading:load",
    "saved_model.save": "train.saved_model.object_saving:save",
}
_OWN = frozenset({"summary", "summary.experimental"})
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
        if path.split(".")[0] in _OWN or path in _OTHERS:
            vars(self)[name] = found = _other(path)
            return found
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


def _other(path: str) -> Any:
    if path in _OWN:
        return namespace(path)
    if path not in _OTHERS:
        raise AttributeError(f"tf.compat.v2.{path} is not in numbaflow, which is TensorFlow 1")
    module, name = _OTHERS[path].split(":")
    return getattr(importlib.import_module(f"{__package__.partition('.')[0]}.{module}"), name)


def namespace(path: str = "") -> View:
    """The view of a namespace, which `import` finds, too."""
    full = f"{_PACKAGE}.{path}".rstrip(".")
    found = sys.modules.get(full)
    if not isinstance(found, View):
        found = sys.modules[full] = View(path)
    return found


V2 = namespace()
