# SPDX-License-Identifier: Apache-2.0
"""Turns the table of public names into modules: `tf.nn.relu` becomes an attribute of `tf.nn`.

Most modules that publish names or define ops are imported when the first of those is asked for:
ops/index.py and ops/op_index.py say which they are.  Names published lazily are, too.
"""

from __future__ import annotations

import importlib
import itertools
import sys
import threading
from types import FunctionType, ModuleType
from typing import Any

from .. import api, signatures
from . import registry
from .build import OpFunction


class _Namespace(ModuleType):
    """A module of public names: who looks into its `__dict__` finds all of them there.

    Programs list classes so: `[c for c in tf.contrib.rnn.__dict__.values() if …]`.
    """

    @property
    def __dict__(self) -> dict[str, Any]:  # type: ignore[override]
        for name in self.__dir__():
            getattr(self, name)
        return signatures.held(self)

    def __dir__(self) -> list[str]:
        return signatures.held(self)["__dir__"]()


def load_definitions(package: str) -> None:
    """Imports what must be there before any name is asked for, and notes where the rest is."""
    index = importlib.import_module(f"{package}.ops.index")
    ops = importlib.import_module(f"{package}.ops.op_index")
    for table, note in ((index.NAMES, api.later), (ops.OPS, registry.later)):
        module = ""
        for word in table.split():
            if word[-1] == ":":
                module = word[:-1]
            else:
                note(word, module)
    for module in index.AT_ONCE:
        api.load(module)


def load_all() -> None:
    """Imports every module that publishes names or defines ops, for those who list them."""
    for module in (*api.LATER.values(), *registry.modules()):
        api.load(module)


def publish(root: ModuleType) -> None:
    """Makes namespaces of all public names, and fills them with those that are there."""
    _publish_new(root)
    for name in (*api.LAZY, *api.LATER):
        _namespace(root, name.rpartition(".")[0])
    for module in _namespaces(root, root.__name__):
        _make_lazy(root, module)


_PUBLISHING = threading.Lock()
# How many of the names have been published.
_published = 0


def _publish_new(root: ModuleType) -> None:
    """Publishes the names that modules imported since the last time have brought."""
    global _published
    with _PUBLISHING:
        new = list(itertools.islice(api.NAMES.items(), _published, None))
        _published += len(new)
    for name, value in new:
        parent, _, leaf = name.rpartition(".")
        namespace = _namespace(root, parent)
        signatures.held(namespace)[leaf] = value
        _introduce(value, root.__name__, namespace.__name__, leaf)


def _introduce(value: object, package: str, module: str, name: str) -> None:
    """Makes a published function or class what programs expect to see."""
    if isinstance(value, OpFunction):
        value.publish(module, name)
    elif isinstance(value, FunctionType) and value.__module__.startswith(package):
        home = sys.modules.get(value.__module__)
        # Functions made by functions are found, by `pickle` for one, under their public name.
        if home is None or home.__dict__.get(value.__qualname__) is not value:
            value.__module__, value.__qualname__ = module, name
    signatures.remove_annotations(value, package)


def _namespace(root: ModuleType, path: str) -> ModuleType:
    """The module for a dotted path below the root, made if there is none."""
    module = root
    for part in path.split(".") if path else ():
        full = f"{module.__name__}.{part}"
        found = sys.modules.get(full)
        if found is None:
            found = ModuleType(full, f"Public names of {full}.")
            found.__path__ = []  # type: ignore[attr-defined]
            found.__package__ = full
            sys.modules[full] = found
        # A namespace outranks a private module of the same name below the root.
        if not callable(signatures.held(module).get(part)):
            signatures.held(module)[part] = found
        module = found
    return module


def _namespaces(root: ModuleType, package: str) -> list[ModuleType]:
    paths = {name.rpartition(".")[0] for name in (*api.NAMES, *api.LAZY, *api.LATER)}
    # Namespaces of namespaces are namespaces too.
    for path in list(paths):
        while path:
            path = path.rpartition(".")[0]
            paths.add(path)
    return [root if not path else sys.modules[f"{package}.{path}"] for path in sorted(paths)]


def _make_lazy(root: ModuleType, module: ModuleType) -> None:
    prefix = module.__name__[len(root.__name__) + 1 :]
    prefix += "." if prefix else ""
    known_here = signatures.held(module)

    def look_up(name: str) -> Any:
        full = prefix + name
        if name == "__all__":  # of `from numbaflow import *`, for which namespaces hold too little
            return [known for known in names() if not known.startswith("_")]
        if full in api.LAZY:
            value = resolve(root.__name__, api.LAZY[full])
        elif full in api.NAMES or full in api.LATER:
            value = api.NAMES[full]
        elif name.startswith("__"):
            # Nobody misspells these; `inspect.stack` asks every module for its `__file__`, often.
            raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
        else:
            raise AttributeError(_missing(module.__name__, full, names()))
        _publish_new(root)
        known_here[name] = value
        _introduce(value, root.__name__, module.__name__, name)
        return value

    def names() -> list[str]:
        # Those that are loaded are published when one of them is first asked for.
        known = (*api.NAMES, *api.LAZY, *api.LATER)
        inside = [name[len(prefix) :] for name in known if name.startswith(prefix)]
        return sorted({*known_here, *(name for name in inside if "." not in name)})

    known_here["__getattr__"] = look_up
    known_here["__dir__"] = names
    module.__class__ = _Namespace


def _missing(module: str, full: str, names: list[str]) -> str:
    """What is said of a name that is not here."""
    from ..interface import missing

    shown = [known for known in names if not known.startswith("_")]
    text = missing.attribute_error(module, full, shown)
    parent, _, name = full.rpartition(".")
    # Few of TensorFlow's many contributions are here, and nobody can guess which.
    if parent == "contrib" and name.isidentifier() and name[0] != "_":
        return f"{text}; it has {', '.join(shown)}"
    return text


def resolve(package: str, target: str) -> Any:
    """What "module.path:attribute" stands for; without an attribute, the module."""
    path, _, attribute = target.partition(":")
    module = importlib.import_module(f"{package}.{path}")
    return getattr(module, attribute) if attribute else module
