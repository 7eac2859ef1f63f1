# SPDX-License-Identifier: Apache-2.0
"""Makes `import tensorflow` mean this package, in this process: `install()`.

Public modules (`tensorflow.nn`) are this package's own; internal ones that programs import
(`tensorflow.python.framework.ops`, `tensorflow.core.framework.graph_pb2`) are views whose names
are looked up as alias/module_map.py says.  Anything else raises ModuleNotFoundError.
"""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import CodeType, ModuleType
from typing import Any

from ..engine.interface.missing import NOT_YET, is_known, module_error
from .contributions import contribution_homes, contribution_modules, is_module_first
from .internals.beyond import has_module, stand_in
from .module_map import AT_ONCE, HOMES, OTHERS, PROGRAMS
from .other_names import ESTIMATORS, HOLDERS, usual_name
from .renamed import NICKNAMES, RENAMED
from .shared import SharedClasses

ROOT = "tensorflow"
_PACKAGE = __package__.rpartition(".")[0]
_MISSING = object()
# What the modules below namespaces of Keras have for a folder (internals/keras_view.py).
_PLACE = "numbaflow:"
# Folders of this package that are no namespaces of TensorFlow's, and packages that are internal.
_PRIVATE = frozenset({"engine", "jit", "ops", "core", "python"})
# Packages that hold nothing but modules of messages, or other names of modules.
_PACKAGES = HOLDERS.union(
    "core core.example core.framework core.kernels core.kernels.boosted_trees core.lib "
    "core.lib.core core.profiler core.protobuf core.util python".split()
)


def install() -> None:
    """From here on, `import tensorflow` gives this package; calling it again changes nothing."""
    if any(isinstance(finder, _Finder) for finder in sys.meta_path):
        return
    present = sys.modules.get(ROOT)
    if present is not None and present.__name__ != _PACKAGE:
        raise RuntimeError(
            f"another tensorflow was imported before, from {getattr(present, '__file__', '?')}"
        )
    importlib.import_module(".internals.shown_modules", __package__).publish()
    sys.meta_path[:0] = [_Finder(), SharedClasses()]
    sys.meta_path.append(_Absent())


class _Absent(MetaPathFinder):
    """Comes last: says of what TensorFlow 1.15 has, and this package has not, that it is so.

    `from tensorflow.contrib import slim` looks for a name of the module, then for a module.
    Estimators are found here, too, where their own package is not installed.
    """

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Finds nothing but `tensorflow_estimator` and what is below it."""
        del path, target
        if f"{fullname}.".startswith(f"{ESTIMATORS}."):
            return ModuleSpec(fullname, _Finder(), loader_state=usual_name(fullname))
        public = fullname.removeprefix(f"{_PACKAGE}.")
        if public != fullname and is_known(public):
            # An error about the module itself would be taken for a missing name.
            raise ModuleNotFoundError(f"tf.{public} {NOT_YET}", name=f"{ROOT}.{public}")
        return None


class _Finder(MetaPathFinder, Loader):
    """Finds and loads `tensorflow` and everything below it."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        del target
        usual = fullname if fullname.startswith(ESTIMATORS) else usual_name(fullname)
        if usual != ROOT and not usual.startswith(f"{ROOT}."):
            # `sys.modules["keras"] = tf.keras`, and `import keras.backend` behind it.
            place = next(iter(path or ()), "")
            if not place.startswith(_PLACE):
                return None
            leaf = fullname.rpartition(".")[2]
            home = f"{ROOT}.{place.removeprefix(_PLACE)}.{leaf}"
            return ModuleSpec(fullname, self, loader_state=home)
        return ModuleSpec(fullname, self, loader_state=usual)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        # A stand-in: the import system would write the spec into the module that is returned.
        return ModuleType(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        spec = module.__spec__
        assert spec is not None, "the module is found by `find_spec`"
        home = spec.loader_state
        is_other = usual_name(module.__name__) != module.__name__
        sys.modules[module.__name__] = importlib.import_module(home) if is_other else resolve(home)

    def get_code(self, fullname: str) -> CodeType | None:
        """What `-m` runs: the program of a tool; None for modules that are no programs."""
        program = PROGRAMS.get(fullname.removeprefix(f"{ROOT}."))
        if program is None:
            return None
        module, _, call = program.partition(":")
        lines = f"from {_PACKAGE}{module} import main\nraise SystemExit({call})\n"
        return compile(lines, fullname, "exec", dont_inherit=True)


def resolve(name: str) -> ModuleType:
    """The module that `import name` gives."""
    path = name.removeprefix(ROOT).lstrip(".")
    found = None if path.split(".")[0] in _PRIVATE else _public(path)
    if not isinstance(found, ModuleType):
        found = _internal(path)
    if found is None:
        raise ModuleNotFoundError(f"No module named {name!r}: {module_error(path)}", name=name)
    if not hasattr(found, "__path__"):
        found.__path__ = []  # Modules below it are this finder's.
    return found


def _public(path: str) -> Any:
    """The object with this public name, or _MISSING; the package itself for ""."""
    thing: Any = importlib.import_module(_PACKAGE)
    for part in path.split(".") if path else ():
        thing = getattr(thing, part, _MISSING)
        if isinstance(thing, _View):
            return _MISSING
    return thing


def _internal(path: str) -> ModuleType | None:
    if path.endswith("_pb2"):
        return _messages(path)
    known = _internal_names()
    if path in known:
        if path in AT_ONCE:
            importlib.import_module(known[path].split()[0], _PACKAGE)
            _raw_functions.cache_clear()
        return _View(path, known[path])
    homes = contribution_homes(path)
    if homes is not None:
        return _View(path, homes)
    prefix = f"{path}."
    if path in _PACKAGES or has_module(path) or any(name.startswith(prefix) for name in known):
        return _View(path, "")
    return None


def _messages(path: str) -> ModuleType | None:
    from ..io import protos

    file = f"{ROOT}/{path.removesuffix('_pb2').replace('.', '/')}.proto"
    if file in protos.files():
        return protos.module(file)
    return _View(path, "") if has_module(path) else None


@functools.cache
def _internal_names() -> dict[str, str]:
    """All internal modules and their homes, by path below `tensorflow`."""
    names = {
        f"python.{package}.{module}": homes
        for package, modules in HOMES.items()
        for module, homes in modules.items()
    }
    return {**names, **OTHERS}


def _comes_first(path: str) -> bool:
    """Is a name of a package the module below it, and not what its homes have of that name?

    The package `ops` has the names of another module beside (alias/module_map.py).
    """
    package = path.rpartition(".")[0]
    return is_module_first(path) or (package == "python.ops" and path in _internal_names())


class _View(ModuleType):
    """An internal module: a name is looked up in its homes when it is first used."""

    def __init__(self, path: str, homes: str) -> None:
        super().__init__(f"{ROOT}.{path}")
        self.__path__: list[str] = []
        vars(self).update(
            _homes=homes.split(),
            _renamed=RENAMED.get(path.removeprefix("python."), {}),
            _replaced={},
        )

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            return sorted(self.__names())
        if name.startswith("__") and name not in self._renamed:
            # `inspect.stack` asks every module for its `__file__`, often.
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        value = _MISSING
        path = f"{self.__name__.removeprefix(f'{ROOT}.')}.{name}"
        if _comes_first(path) and _internal(path) is not None:
            value = importlib.import_module(f"{ROOT}.{path}") if ROOT in sys.modules else _MISSING
        elif name in self._renamed:
            value = _target(self._renamed[name])
        else:
            value = next(
                (v for v in (_lookup(h, name) for h in self._homes) if v is not _MISSING), value
            )
        # A namespace may have fewer names than the internal module of that name.
        is_namespace = isinstance(value, ModuleType) and not isinstance(value, _View)
        if (value is _MISSING or is_namespace) and name.isidentifier() and name[:2] != "__":
            below = self.__below(name)
            value = value if below is _MISSING else below
            if value is _MISSING and f"{self.__name__}.".startswith(
                (f"{ROOT}.python.", f"{ROOT}.contrib.")
            ):
                value = _neighbour(name, self.__name__)
            if value is _MISSING:
                value = stand_in(self.__name__.removeprefix(f"{ROOT}."), name, _MISSING)
        if value is _MISSING:
            raise AttributeError(f"module {self.__name__!r} has no {name!r} in numbaflow")
        vars(self)[name] = value
        return value

    def __names(self) -> set[str]:
        """What `import *` takes: the names of its homes, and modules below that have a home."""
        path = self.__name__.removeprefix(f"{ROOT}.")
        known = (*_internal_names(), *contribution_modules())
        below = {name.removeprefix(f"{path}.") for name in known if name.startswith(f"{path}.")}
        found = {name for name in below if "." not in name and _internal(f"{path}.{name}")}
        for home in self._homes:
            found.update(_public_names(home))
        return {name for name in (*found, *self._renamed) if not name.startswith("_")}

    def __below(self, name: str) -> Any:
        """A module below it: in TensorFlow all of them are imported."""
        path = f"{self.__name__.removeprefix(ROOT + '.')}.{name}"
        known = _internal_names()
        if path not in known and path not in _PACKAGES and not has_module(path):
            if not any(other.startswith(f"{path}.") for other in known):
                return _MISSING
        return importlib.import_module(f"{ROOT}.{path}") if ROOT in sys.modules else _MISSING

    def __setattr__(self, name: str, value: object) -> None:
        """Replaces a name in the module that uses it, too: programs' tests do that."""
        if isinstance(value, ModuleType) and value.__name__ == f"{self.__name__}.{name}":
            # The import system puts a module below into this one, whose function of that name, such
            # as `arg_scope`, comes first in TensorFlow.
            path = value.__name__.removeprefix(f"{ROOT}.")
            if not _comes_first(path) and any(
                callable(_lookup(home, name)) for home in self._homes
            ):
                return
            # (It is of this one alone: the package has a function of that name.)
            vars(self)[name] = value
            return
        home = None if name.startswith("__") else self.__home_of(name)
        if home is not None:
            self._replaced.setdefault(name, getattr(home, name))
            setattr(home, name, value)
        vars(self)[name] = value

    def __delattr__(self, name: str) -> None:
        if name in self._replaced:
            setattr(self.__home_of(name), name, self._replaced.pop(name))
        vars(self).pop(name, None)

    def __home_of(self, name: str) -> Any:
        """The module of the package that has the name, if a home is one."""
        homes = (h for h in self._homes if h.startswith("."))
        return next(
            (
                importlib.import_module(home, _PACKAGE)
                for home in homes
                if _lookup(home, name) is not _MISSING
            ),
            None,
        )


def _neighbour(leaf: str, asker: str) -> Any:
    """The internal module of this name, which TensorFlow's modules import from one another.

    `from tensorflow.python.ops.rnn import rnn_cell_impl` finds it that way, and `rnn.vs` a module
    by the name under which it is imported.
    """
    path = _modules_by_leaf().get(leaf) or NICKNAMES.get(leaf, asker.removeprefix(f"{ROOT}."))
    if f"{ROOT}.{path}" == asker or ROOT not in sys.modules:
        return _MISSING
    return importlib.import_module(f"{ROOT}.{path}")


@functools.cache
def _modules_by_leaf() -> dict[str, str]:
    found: dict[str, str] = {}
    for package in ("framework", "ops", "eager", "platform", "training", "util"):
        for path in _internal_names():
            parent, _, leaf = path.rpartition(".")
            if parent == f"python.{package}":
                found.setdefault(leaf, path)
    return found


def _target(text: str) -> Any:
    """The object, or the module, that a row of RENAMED names."""
    if not text.startswith("."):
        return _public(text)
    path, _, name = text.partition(":")
    module = importlib.import_module(path, _PACKAGE)
    return getattr(module, name, _MISSING) if name else module


def _public_names(home: str) -> list[str]:
    """The names of a home that are its own, not what it imports to work with."""
    if home in ("raw", "tf"):  # Too many, of which some are Python's, too: `print`.
        return []
    if home.startswith("tf."):
        space = _public(home[3:])
        return dir(space) if isinstance(space, ModuleType) else []
    module = importlib.import_module(home, _PACKAGE)
    return [
        name
        for name, value in vars(module).items()
        if getattr(value, "__module__", "").startswith(_PACKAGE) or name.isupper()
    ]


def _lookup(home: str, name: str) -> Any:
    if home == "raw":
        return _raw(name)
    if home == "tf" or home.startswith("tf."):
        namespace = _public(home[3:])
        return getattr(namespace, name, _MISSING) if isinstance(namespace, ModuleType) else _MISSING
    return getattr(importlib.import_module(home, _PACKAGE), name, _MISSING)


def _raw(name: str) -> Any:
    """The function that makes one node of a type, by its Python name ("mat_mul") or its own."""
    # TensorFlow hides some of them behind an underscore.
    functions = _raw_functions()
    return functions.get(name) or functions.get(_letters(name), _MISSING)


def _letters(name: str) -> str:
    """A name without what two spellings of it differ in: `conv2d_backprop_input`, `Conv2D…`."""
    return name.replace("_", "").lower()


@functools.cache
def _raw_functions() -> dict[str, Any]:
    """Functions that make nodes, by their Python names, by types and by their letters."""
    from ..engine.graph.registry import definitions
    from ..ops.public import raw

    importlib.import_module(_PACKAGE)  # Fills the op table.
    by_type = {d.name: getattr(raw, d.name) for d in definitions()}
    by_letters = {_letters(name): function for name, function in by_type.items()}
    return {**by_letters, **by_type, **{f.__name__: f for f in by_type.values()}}
