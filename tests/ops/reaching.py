# SPDX-License-Identifier: Apache-2.0
"""What the code of a function may reach: files, streams, Python functions of other people.

Follows names from function to function, through late imports and into classes, by their bytecode;
it runs none of it.  Methods of objects that only a run knows are not followed, nor those of the
classes that make and run graphs.  Functions of the engine and of the compiler are followed like all
others: what a kernel calls there it reaches.
"""

from __future__ import annotations

import dis
import functools
import importlib
import importlib.util
import logging
import types
from collections import ChainMap
from collections.abc import Iterator
from typing import Any, ClassVar

PACKAGE = "numbaflow"
Names = ChainMap[str, Any]
# What of `os` concerns text, time, processors and this process alone.
_HARMLESS = frozenset(
    "fsdecode fsencode fspath path environ linesep sep strerror cpu_count sched_getaffinity getpid "
    "PathLike abort _exit".split()
)
_TEXT = frozenset("basename dirname join split splitext isabs normpath commonprefix sep".split())
_BUILTINS = frozenset({"open", "exec", "eval", "compile", "__import__", "input"})
_NAMED = frozenset(
    "LOAD_GLOBAL LOAD_NAME LOAD_FAST LOAD_DEREF LOAD_CLOSURE LOAD_FAST_BORROW".split()
)
_MODULES = frozenset("socket subprocess shutil tempfile fsspec ctypes mmap pickle glob".split())
# What runs functions of the graph, or parts of them, whose ops have definitions that state what
# they touch; and what shares machine code among threads, made of kernels that know arrays alone.
_TRUSTED = (f"{PACKAGE}.engine.interface.log", f"{PACKAGE}.engine.record_class")
_UNFOLLOWED = (
    (f"{PACKAGE}.ops.data.runtime.functions", "FunctionRun"),
    (f"{PACKAGE}.ops.data.runtime.stages", "stages_of"),
    (f"{PACKAGE}.jit.runtime.driver", "Program"),
)


class Reach:
    """The sinks that a function reaches: sink -> the way there."""

    # What is known to reach none, by id: it need not be looked at for every function again.
    _harmless: ClassVar[dict[int, Any]] = {}

    def __init__(self, function: Any) -> None:
        self.found: dict[str, str] = {}
        self._seen: dict[int, Any] = {}
        self._visit(function, "")
        if not self.found:
            self._harmless.update(self._seen)

    def _visit(self, thing: Any, way: str) -> None:
        if id(thing) in self._seen or id(thing) in self._harmless:
            return
        self._seen[id(thing)] = thing
        if isinstance(thing, (staticmethod, classmethod, types.MethodType)):
            thing = thing.__func__
        if isinstance(thing, logging.Logger):
            self.found.setdefault("output", way)
        elif isinstance(thing, functools.partial):
            self._all((thing.func, *thing.args, *thing.keywords.values()), way)
        elif isinstance(thing, property):
            self._visit(thing.fget, way)
        elif isinstance(thing, types.FunctionType):
            self._function(thing, way)
        elif isinstance(thing, type):
            self._class(thing, way)
        elif isinstance(thing, (list, tuple, set, frozenset)):
            self._all(thing, way)
        elif isinstance(thing, dict):
            self._all(list(thing.values()), way)
        else:
            self._class(type(thing), way)

    def _all(self, things: Any, way: str) -> None:
        # Looking at a thing may publish names where it lies.
        for thing in list(things):
            self._visit(thing, way)

    def _class(self, kind: type, way: str) -> None:
        if (kind.__module__, kind.__name__) in _UNFOLLOWED:
            return
        if kind.__name__ == "FunctionRegistry":
            self.found.setdefault("python", way)
        self._all((base for base in kind.__mro__[1:] if _is_ours(base)), way)
        # What makes and runs graphs is not what a kernel does.
        inside = _is_ours(kind) and not kind.__module__.startswith(f"{PACKAGE}.engine")
        for name, member in vars(kind).items() if inside else ():
            if callable(member) or isinstance(member, (staticmethod, classmethod, property)):
                self._visit(member, f"{way} > {kind.__name__}.{name}")

    def _function(self, function: types.FunctionType, way: str) -> None:
        # What the program is told of is no secret, and no harm; nor are texts of classes' methods.
        if not _is_ours(function) or function.__module__ in _TRUSTED:
            return
        if (function.__module__, function.__name__) in _UNFOLLOWED:
            return
        self._all(function.__defaults__ or (), way)
        if hasattr(function, "__wrapped__"):
            self._visit(function.__wrapped__, way)
        cells = zip(function.__code__.co_freevars, function.__closure__ or ())
        local = {name: cell.cell_contents for name, cell in cells if _is_filled(cell)}
        self._all(local.values(), way)
        names = ChainMap(local, function.__globals__)
        self._code(function.__code__, names, f"{way} > {function.__qualname__}")

    def _code(self, code: types.CodeType, names: Names, way: str) -> None:
        imported = dict(_imports(code, names))
        local = {*code.co_varnames, *code.co_cellvars} - {*imported}
        names = names.new_child({**dict.fromkeys(local), **imported})
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                self._code(constant, names, way)
        owner: Any = None
        for step, name in _steps(code):
            if step.startswith("LOAD_ATTR") or step == "LOAD_METHOD":
                owner = self._attribute(owner, name, way)
            elif step in _NAMED and name not in local:
                owner = names.get(name)
                if step == "LOAD_GLOBAL" and name in _BUILTINS and name not in names:
                    self.found.setdefault("files", f"{way} > {name}")
                if not isinstance(owner, types.ModuleType) and owner is not None:
                    self._visit(owner, way)
                if getattr(owner, "__name__", "") == "sys" and "getattr" in code.co_names:
                    self.found.setdefault("output", f"{way} > sys")
            elif step not in ("PUSH_NULL", "CACHE", "PRECALL"):
                owner = None

    def _attribute(self, owner: Any, name: str, way: str) -> Any:
        """What an attribute of a module is; notes what lies outside."""
        if not isinstance(owner, types.ModuleType):
            return None
        module = owner.__name__.split(".")[0]
        here = f"{way} > {owner.__name__}.{name}"
        if owner.__name__ == "os" and name not in _HARMLESS:
            self.found.setdefault("files", here)
        elif owner.__name__ == "posixpath" and name not in _TEXT:
            self.found.setdefault("files", here)
        elif module == "sys" and name in ("stdout", "stderr"):
            self.found.setdefault("output", here)
        elif module in _MODULES:
            self.found.setdefault("files", here)
        found = getattr(owner, name, None)
        if not isinstance(found, types.ModuleType) and found is not None:
            self._visit(found, way)
        return found


def _is_ours(thing: Any) -> bool:
    return (getattr(thing, "__module__", "") or "").startswith(PACKAGE)


def _is_filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False


@functools.cache
def _steps(code: types.CodeType) -> tuple[tuple[str, Any], ...]:
    """The instructions of code and their arguments; much is reached from many functions."""
    return tuple((step.opname, step.argval) for step in dis.get_instructions(code))


def _imports(code: types.CodeType, names: Names) -> Iterator[tuple[str, Any]]:
    """Names that code binds by imports, and what they mean."""
    level, module = 0, None
    for step, name in _steps(code):
        if step == "LOAD_CONST" and type(name) is int:
            level = name
        elif step == "IMPORT_NAME":
            base = names.get("__package__") or ""
            module = _module(importlib.util.resolve_name("." * level + name, base))
            yield name.split(".")[0], module
        elif step == "IMPORT_FROM" and module is not None:
            yield name, getattr(module, name, None) or _module(f"{module.__name__}.{name}")


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None
