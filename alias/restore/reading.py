# SPDX-License-Identifier: Apache-2.0
"""Reads a program without running it: what it uses of TensorFlow, and what has to be restored."""

from __future__ import annotations

import ast
import contextlib
import importlib
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import NamedTuple

from ...engine.syntax import tree_of
from ..other_names import usual_name
from .hook import ROWS, has_itself
from .rewriting import aliases, full_name
from .table import CLASSES, METHODS

_ROOT = "tensorflow"
_NOTHING = object()
# Methods that no type of another meaning has.
_OLD_METHODS = {name: METHODS[name] for name in ("tostring", "itemset", "getchildren")}


class Program(NamedTuple):
    """What a file uses: names with their lines; or why it cannot be read."""

    file: str
    names: dict[str, list[int]]
    missing: dict[str, str]
    restored: dict[str, list[int]]
    error: str = ""


def read(file: str, text: bytes) -> Program:
    """What a file of Python uses.

    Args:
        file: its path, for the answer.
        text: what is written in it.

    Returns:
        Names of TensorFlow as "tf.nn.relu" or "tensorflow.python.ops.rnn", those that are not here
        with the reason, and old names of other libraries.
    """
    try:
        tree = tree_of(text, file=file)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        where = f", line {line}" if line else ""
        return Program(file, {}, {}, {}, f"{getattr(error, 'msg', error)}{where}")
    known = _with_assigned(tree, aliases(tree, keep=(_ROOT, "tensorflow_core")))
    names: dict[str, list[int]] = {}
    restored: dict[str, list[int]] = {}
    for written, line in _uses(tree, known):
        path = usual_name(written)
        if _is_earlier(path):
            restored.setdefault(path, []).append(line)
        elif path == _ROOT or path.startswith(f"{_ROOT}."):
            names.setdefault(path, []).append(line)
        elif _is_gone(path):
            restored.setdefault(path, []).append(line)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and (node.attr in _OLD_METHODS or _old_method(node)):
            if not full_name(node, known):
                restored.setdefault(f".{node.attr}", []).append(node.lineno)
    own = tuple(f"{path}." for path in _assigned_attributes(tree, known))
    asked = [path for path in names if not f"{path}.".startswith(own)]
    missing = {path: why for path in asked if (why := missing_because(path))}
    return Program(file, {**names}, missing, restored)


def _old_method(node: ast.Attribute) -> bool:
    paths = (path.rpartition(".")[2] for methods in CLASSES.values() for path in methods)
    # `value` and `append` are everybody's.
    return node.attr not in ("value", "append") and node.attr in paths


def _with_assigned(tree: ast.AST, known: dict[str, str]) -> dict[str, str]:
    """With names such as `slim` of `slim = tf.contrib.slim`."""
    found = dict(known)
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target, path = node.targets[0], full_name(node.value, found)
            if isinstance(target, ast.Name) and path.startswith(f"{_ROOT}."):
                found[target.id] = path
    return found


def _assigned_attributes(tree: ast.AST, known: dict[str, str]) -> set[str]:
    """What a program itself puts into modules of TensorFlow: `tf.model = Model()`."""
    stored = (node for node in ast.walk(tree) if isinstance(node, ast.Attribute))
    paths = (full_name(node, known) for node in stored if isinstance(node.ctx, ast.Store))
    return {path for path in paths if path.startswith(f"{_ROOT}.")}


def _uses(tree: ast.AST, known: dict[str, str]) -> Iterator[tuple[str, int]]:
    """(full name, line) of imports and of chains of attributes."""
    inner: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((name.name, node.lineno) for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for name in node.names:
                whole = node.module if name.name == "*" else f"{node.module}.{name.name}"
                yield whole, node.lineno
        elif isinstance(node, ast.Attribute):
            # Chains come before their parts.
            if isinstance(node.value, ast.Attribute):
                inner.add(id(node.value))
            path = "" if id(node) in inner else full_name(node, known)
            if path:
                yield path, node.lineno


def shown(path: str) -> str:
    """A name as programs write it: "tf.nn.relu"."""
    public = path.removeprefix(f"{_ROOT}.")
    if path == _ROOT or public.startswith(("python.", "core.", "examples.")):
        return path
    return f"tf.{public}"


def missing_because(path: str) -> str:
    """Why a name of TensorFlow is not here; nothing if it is."""
    from .. import finder
    from ..internals.absent import is_absent
    from ..internals.shown_modules import place_of

    thing: object = finder.resolve(_ROOT)
    parts = place_of(path.split(".")[1:])
    for count, part in enumerate(parts, 1):
        if not isinstance(thing, ModuleType):
            return ""  # What its classes have is found out by running it.
        thing = _part(thing, part, ".".join((_ROOT, *parts[:count])))
        if thing is _NOTHING:
            return _why_not(parts[:count])
    return "can be imported, and fails when it is used" if is_absent(thing) else ""


def _part(module: ModuleType, name: str, path: str) -> object:
    """A name of a module, or the module with this path; `_NOTHING` if there is neither."""
    from .. import finder
    from ..internals.absent import is_absent

    found = getattr(module, name, _NOTHING)
    # (Where tensorflow is not imported, a package does not look for its modules as names.)
    if found is _NOTHING or is_absent(found):
        with contextlib.suppress(ImportError):
            return finder.resolve(path)
    return found


def _why_not(parts: list[str]) -> str:
    """Why a name is not here, by its parts below `tensorflow`."""
    from ...engine.interface import missing
    from . import before_1

    public = ".".join(parts)
    if missing.is_known(public):
        return missing.NOT_YET
    if any(f"{old}.".startswith(f"{public}.") for old in before_1.MODULES):
        return _old_or_unknown(public)
    if parts[0] in ("python", "core", "contrib", "examples", "tools", "models"):
        return "an internal module or name that numbaflow has not"
    return _old_or_unknown(public)


def _old_or_unknown(public: str) -> str:
    from .before_1 import CHANGED, MODULES, RENAMED

    modules = (f"{old}.".startswith(f"{public}.") for old in MODULES)
    if public in RENAMED or public in CHANGED or any(modules):
        return "was there before TensorFlow 1.0: `numbaflow run --api 0.12`"
    return f"not a name of TensorFlow 1.15's: tf.{public}"


def _is_earlier(path: str) -> bool:
    """Whether a name, or what it is a part of, is one that TensorFlow had before 1.15."""
    if not path.startswith(f"{_ROOT}."):
        return False
    parts = path.split(".")
    cuts = range(2, len(parts))
    return any(parts[cut] in ROWS.get(".".join(parts[:cut]), ()) for cut in cuts)


def _is_gone(path: str) -> bool:
    """Whether a name of another library is one of the table's, and is gone here."""
    if path in ROWS and "*" in ROWS[path]:
        return not _has(path, "")
    module, _, name = path.rpartition(".")
    while module:
        rows = ROWS.get(module, {})
        if name in rows or ("*" in rows and name != "*" and module != "scipy.signal"):
            return not _has(module, name)
        module, _, name = module.rpartition(".")
    return False


def _has(module: str, name: str) -> bool:
    """Whether a module of Python's, NumPy's or SciPy's is there with a name."""
    if module.split(".")[0] not in {*sys.stdlib_module_names, "numpy", "scipy"}:
        return False  # To be imported for the answer, they are too heavy.
    try:
        found = importlib.import_module(module)
    except ImportError:
        return False
    return not name or has_itself(found, name)
