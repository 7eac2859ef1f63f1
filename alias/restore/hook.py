# SPDX-License-Identifier: Apache-2.0
"""Puts what the table lists into modules as they are imported, and finds those that are gone.

Nothing is imported for it: modules that a program does not import stay as they are.  A name that a
module has is never replaced.
"""

from __future__ import annotations

import importlib
import os
import sys
import sysconfig
import warnings
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any

from . import libraries
from .table import CLASSES, MANNERS, NAMES, PROPERTIES
from .use import REPORT, note

_MISSING = object()
_PACKAGE = __package__.partition(".")[0]


def _by_module() -> dict[str, dict[str, tuple[str, str]]]:
    rows: dict[str, dict[str, tuple[str, str]]] = {}
    for row in NAMES:
        for name, target in row.targets():
            rows.setdefault(row.module, {})[name] = (target, row.since)
    return rows


ROWS = _by_module()
# Module that was given names -> what it had itself, and what else it looked names up by.
_OWN: dict[str, tuple[frozenset[str], Any]] = {}


def has_itself(module: ModuleType, name: str) -> bool:
    """Whether a module has a name without what was restored in this process."""
    if module.__name__ not in _OWN:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # That a name will come to mean something else.
            return hasattr(module, name)
    names, others = _OWN[module.__name__]
    if name in names or others is None:
        return name in names
    try:
        others(name)
    except AttributeError:
        return False
    return True


def install(program: str) -> None:
    """From here on, what is missing is restored in this process.

    Args:
        program: the folder of the program's own files, whose calls are changed as well.
    """
    if any(isinstance(finder, _Patcher) for finder in sys.meta_path):
        return
    place = next((i for i, f in enumerate(sys.meta_path) if f is PathFinder), len(sys.meta_path))
    sys.meta_path.insert(place, _Patcher(os.path.realpath(program)))
    sys.meta_path.append(_Finder())
    for name in {*ROWS, *CLASSES, *MANNERS}:
        # (TensorFlow's modules are this package's.)
        root, _, path = name.partition(".")
        found = sys.modules.get(f"{_PACKAGE}.{path}" if root == "tensorflow" else name)
        if found is not None:
            patch(found, name)


def patch(module: ModuleType, name: str = "") -> None:
    """Gives a module and its classes what they lack; its name is that in the table."""
    name = name or module.__name__
    if not hasattr(module, "__path__") and any(row.startswith(f"{name}.") for row in ROWS):
        # It was a package, whose modules are asked for: `scipy.sparse.linalg.eigen`.
        module.__path__ = []
    if name in ROWS:
        _look_up_rows(module, name, ROWS[name])
    for path, (since, target) in CLASSES.get(name, {}).items():
        owner, _, method = path.partition(".")
        cls = getattr(module, owner, None)
        if cls is not None and not hasattr(cls, method):
            setattr(cls, method, _method(f"{name}.{path}", since, cls, target))
    if name in MANNERS:
        _target(MANNERS[name][2])()


def _look_up_rows(module: ModuleType, known_as: str, rows: dict[str, tuple[str, str]]) -> None:
    others = module.__dict__.get("__getattr__")
    _OWN[module.__name__] = frozenset(module.__dict__), others

    def look_up(name: str) -> Any:
        row = rows.get(name)
        if row is None and others is not None:
            try:
                return others(name)
            except AttributeError:
                if "*" not in rows:
                    raise
        # Modules that are gone stand for others as wholes.
        if row is None and "*" in rows and not name.startswith("__"):
            row = f"{rows['*'][0]}:{name}", rows["*"][1]
        value = _MISSING if row is None else _target(row[0])
        if row is None or value is _MISSING:
            if others is not None:
                return others(name)
            raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
        note(f"{known_as}.{name}", row[1])
        if not REPORT.wanted:
            module.__dict__[name] = value
        return value

    module.__dict__["__getattr__"] = look_up


def _target(text: str) -> Any:
    path, _, name = text.partition(":")
    package = __package__ if path.startswith(".") else None
    module = importlib.import_module(path, package)
    return getattr(module, name, _MISSING) if name else module


def _method(what: str, since: str, cls: type, target: str) -> Any:
    if ":" not in target:

        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            note(what, since)
            return getattr(self, target)(*args, **kwargs)

        return call
    function: Any = None

    def call_function(self: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal function
        note(what, since)
        function = function or _target(target)
        return function(self, *args, **kwargs)

    return property(call_function) if what.rpartition(".")[2] in PROPERTIES else call_function


class _Patcher(MetaPathFinder):
    """Stands before the finder of files, and has modules patched when they have been imported."""

    def __init__(self, program: str) -> None:
        self._program = program
        paths = sysconfig.get_paths()
        self._others = tuple({os.path.realpath(paths[k]) for k in ("stdlib", "purelib", "platlib")})
        self._stdlib = os.path.realpath(paths["stdlib"]) + os.sep

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """What the finder of files finds, with a loader that does a little more."""
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.loader is None:
            return spec
        if type(spec.loader) is SourceFileLoader:
            if self._is_own(fullname, spec.origin or ""):
                _rewrite(spec.loader)
            elif fullname.endswith("_pb2") and fullname.partition(".")[0] != _PACKAGE:
                _rebuild_messages(spec.loader)
        if fullname in ROWS or fullname in CLASSES or fullname in MANNERS:
            _patch_after(spec.loader)
        return spec

    def _is_own(self, fullname: str, file: str) -> bool:
        """Whether a file is the program's, or of a library that is as old."""
        # This package is not the program's even if the program runs in the package's folder.
        if fullname.partition(".")[0] == _PACKAGE:
            return False
        real = os.path.realpath(file)
        if real.startswith(self._program + os.sep) and not real.startswith(self._others):
            # (Packages may be installed into a folder of the program.)
            if not libraries.is_installed(fullname, file):
                return True
        if real.startswith(self._stdlib) and "site-packages" not in real:
            return False
        return libraries.is_of_those_years(fullname, file)


def _patch_after(loader: Any) -> None:
    run: Callable[[ModuleType], None] = loader.exec_module

    def exec_module(module: ModuleType) -> None:
        run(module)
        patch(sys.modules.get(module.__name__, module))

    loader.exec_module = exec_module


def _rewrite(loader: Any) -> None:
    """Has a loader compile its file with calls changed, and never ask `__pycache__`.

    What lies there is read by other interpreters, too.
    """

    def get_code(fullname: str) -> CodeType:
        from .compiled import compile_program

        path = loader.get_filename(fullname)
        source = loader.get_data(path)
        return _messages(fullname, path, source) or compile_program(source, path)

    loader.get_code = get_code


def _rebuild_messages(loader: Any) -> None:
    """Has a loader build old messages anew, of whatever library; all else is left as it is."""
    own: Callable[[str], CodeType] = loader.get_code

    def get_code(fullname: str) -> CodeType:
        path = loader.get_filename(fullname)
        return _messages(fullname, path, loader.get_data(path)) or own(fullname)

    loader.get_code = get_code


def _messages(fullname: str, path: str, source: bytes) -> CodeType | None:
    from . import old_protos

    if not old_protos.is_old(path, source):
        return None
    note(f"messages of {fullname}", "protobuf 4")
    return old_protos.compile_messages(source, path)


def _is_gone(module: str) -> bool:
    """Does nobody have a module any more, rather than that its library is not installed?

    (A library that has changed says so itself; its modules are asked for once it is imported.)
    """
    return not any(since.lower().startswith(f"{module} ") for _, since in ROWS[module].values())


class _Finder(MetaPathFinder, Loader):
    """Comes last: makes modules that nobody has."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """A module of the table that Python or a library has no longer."""
        del path, target
        if fullname not in ROWS or not _is_gone(fullname):
            return None
        is_package = any(name.startswith(f"{fullname}.") for name in ROWS)
        return ModuleSpec(fullname, self, is_package=is_package)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """A new module."""
        return ModuleType(spec.name, "Restored by numbaflow run.")

    def exec_module(self, module: ModuleType) -> None:
        """Whole modules are what stands for them; others get their names when asked."""
        rows = ROWS.get(module.__name__, {})
        if "*" in rows:
            target, since = rows["*"]
            note(f"module {module.__name__}", since)
            whole = _target(target)
            names = {k: v for k, v in vars(whole).items() if not k.startswith("__")}
            module.__dict__.update(names)
            shown = getattr(whole, "__all__", None) or [n for n in names if not n.startswith("_")]
            module.__dict__["__all__"] = list(shown)
        patch(module)
