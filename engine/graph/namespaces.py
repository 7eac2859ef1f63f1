# SPDX-License-Identifier: Apache-2.0
"""Turns the table of public names into modules: `tf.nn.relu` becomes an attribute of `tf.nn`.

Names published lazily are imported when they are first asked for.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from types import FunctionType, ModuleType
from typing import Any

from .. import api, signatures
from .build import OpFunction


def load_definitions(package: str) -> None:
    """Imports the modules that publish names: of `ops`, `train` and `io`."""
    for folder in ("ops", "train", "io"):
        _load_folder(f"{package}.{folder}")


def _load_folder(name: str) -> None:
    parent = importlib.import_module(name)
    found = pkgutil.iter_modules(parent.__path__)
    for module in sorted(found, key=lambda m: (not m.ispkg, m.name)):
        if module.name in getattr(parent, "ON_DEMAND", ()):
            continue
        if module.ispkg:
            _load_folder(f"{name}.{module.name}")
        else:
            importlib.import_module(f"{name}.{module.name}")


def publish(root: ModuleType) -> None:
    """Fills the root module and its namespaces with all public names."""
    package = root.__name__
    for name, value in api.NAMES.items():
        parent, _, leaf = name.rpartition(".")
        namespace = _namespace(root, parent)
        namespace.__dict__[leaf] = value
        _introduce(value, package, namespace.__name__, leaf)
    for name in api.LAZY:
        _namespace(root, name.rpartition(".")[0])
    for module in _namespaces(root, package):
        _make_lazy(root, module)


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
        if not callable(module.__dict__.get(part)):
            module.__dict__[part] = found
        module = found
    return module


def _namespaces(root: ModuleType, package: str) -> list[ModuleType]:
    paths = {name.rpartition(".")[0] for name in (*api.NAMES, *api.LAZY)}
    # Namespaces of namespaces are namespaces too.
    for path in list(paths):
        while path:
            path = path.rpartition(".")[0]
            paths.add(path)
    return [root if not path else sys.modules[f"{package}.{path}"] for path in sorted(paths)]


def _make_lazy(root: ModuleType, module: ModuleType) -> None:
    prefix = module.__name__[len(root.__name__) + 1 :]
    prefix += "." if prefix else ""

    def look_up(name: str) -> Any:
        full = prefix + name
        if full in api.LAZY:
            value = resolve(root.__name__, api.LAZY[full])
        elif full in api.NAMES:
            value = api.NAMES[full]
        else:
            raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
        module.__dict__[name] = value
        _introduce(value, root.__name__, module.__name__, name)
        return value

    def names() -> list[str]:
        lazy = [n[len(prefix) :] for n in api.LAZY if n.startswith(prefix)]
        return sorted({*module.__dict__, *(n for n in lazy if "." not in n)})

    module.__dict__["__getattr__"] = look_up
    module.__dict__["__dir__"] = names


def resolve(package: str, target: str) -> Any:
    """What "module.path:attribute" stands for; without an attribute, the module."""
    path, _, attribute = target.partition(":")
    module = importlib.import_module(f"{package}.{path}")
    return getattr(module, attribute) if attribute else module
