# SPDX-License-Identifier: Apache-2.0
"""Compiles files of the program so that calls of the table go through calls.py.

Only calls of functions that the file imported under a name, `int`, `float`, `"…" % …` and what
is put into `x[i]` are changed, and methods of a few names; lines and columns stay those of the
file.  A file in which there is none of it is compiled as it is.
"""

from __future__ import annotations

import ast
from types import CodeType
from typing import Any

from ...engine.syntax import tree_of
from .table import CALLS, KEYWORDS, LENIENT_FUNCTIONS, METHODS, TABLE_METHODS, TEXT_METHODS

_NAME = "__restored__"
# Functions of `math` that take one number.
_MATH = frozenset(
    "acos acosh asin asinh atan atan2 atanh ceil cos cosh degrees erf erfc exp expm1 fabs floor "
    "gamma hypot isinf isnan lgamma log log10 log1p log2 pow radians sin sinh sqrt tan tanh".split()
)
_MAY_BE_ARRAYS = (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.BinOp, ast.IfExp)
# What gives values to rows of a table by itself.
_PLACES = frozenset("at iat iloc ix loc values".split())
_PICKLES = ("cPickle", "six.moves.cPickle", "_pickle")


def compile_program(source: bytes | str, path: str) -> CodeType:
    """The code of a file of the program.

    Raises:
        SyntaxError: as `compile` does.
    """
    tree = tree_of(source, file=path)
    assert isinstance(tree, ast.Module)
    found = _Found(tree)
    if not _Rewriter(_aliases(found)).rewrite(found):
        return compile(source, path, "exec", dont_inherit=True)
    _import_calls(tree)
    return compile(tree, path, "exec", dont_inherit=True)


def restored_function(node: ast.AST, path: str) -> Any:
    """A function of a file of the program, taken from its text, as `compile_program` has it.

    Raises:
        OSError: the file cannot be read.
        SyntaxError: as `compile` does.
    """
    with open(path, "rb") as file:
        tree = tree_of(file.read(), file=path)
    _Rewriter(aliases(tree)).rewrite(_Found(node))
    return node


def aliases(tree: ast.AST, keep: tuple[str, ...] = ()) -> dict[str, str]:
    """What names of a file stand for by its imports: {"np": "numpy"}.

    Those that are bound otherwise, too, stand for nothing, unless they are of packages to keep.
    """
    return _aliases(_Found(tree), keep)


def _aliases(nodes: _Found, keep: tuple[str, ...] = ()) -> dict[str, str]:
    found: dict[str, str] = {}
    for node in nodes.of(ast.Import):  # and of ImportFrom
        for name in node.names:
            if isinstance(node, ast.Import):
                module = name.name if name.asname else name.name.split(".")[0]
                found[name.asname or module] = module
            elif node.module and not node.level:
                found[name.asname or name.name] = f"{node.module}.{name.name}"
    bound: set[str] = {node.arg for node in nodes.of(ast.arg)}
    bound.update(node.name for kind in (ast.FunctionDef, ast.ClassDef) for node in nodes.of(kind))
    # `except ImportError: h5py = None` gives a name no other meaning.
    absent: set[ast.expr] = set()
    for node in nodes.of(ast.Assign):
        if isinstance(node.value, ast.Constant) and node.value.value is None:
            absent.update(node.targets)
    bound.update(
        node.id for node in nodes.of(ast.Name) if type(node.ctx) is ast.Store and node not in absent
    )
    kept = {name for name, path in found.items() if path.split(".")[0] in keep}
    return found | dict.fromkeys(bound - kept, "")


# Fields of nodes that hold names and values, or nodes without any in them.
_LEAVES = frozenset(
    "annotation arg asname attr conversion ctx id kind level lineno module n name op ops returns s "
    "simple type_comment type_ignores type_params".split()
)


# What is looked for in a file.
_KINDS = (
    *(ast.Import, ast.ImportFrom, ast.arg, ast.FunctionDef, ast.ClassDef, ast.Name),
    *(ast.Assign, ast.AugAssign, ast.Call, ast.Subscript),
)
_BRANCHES: dict[type, tuple[str, ...]] = {ast.Constant: ()}


def _branches(kind: type) -> tuple[str, ...]:
    """The fields of nodes that may hold others; none of what is no node."""
    found = _BRANCHES.get(kind)
    if found is None:
        fields = getattr(kind, "_fields", ())
        found = _BRANCHES[kind] = tuple(name for name in fields if name not in _LEAVES)
    return found


class _Found:
    """What matters here of a tree, gone through once: `ast.walk` takes four times as long, most
    of it for contexts and operators."""

    def __init__(self, tree: ast.AST) -> None:
        self._kinds: dict[type, list[Any]] = {kind: [] for kind in _KINDS}
        self._kinds[ast.ImportFrom] = self._kinds[ast.Import]  # The last one of a name counts.
        # Who holds `"…" % x`, in which field, and at which place of a list.
        self.formats: list[tuple[ast.AST, str, int | None]] = []
        kinds, branches = self._kinds, _BRANCHES
        nodes: list[Any] = [tree]
        for node in nodes:  # which grows
            kind = type(node)
            if kind in kinds:
                kinds[kind].append(node)
            fields = branches.get(kind)
            for field in _branches(kind) if fields is None else fields:
                value = getattr(node, field, None)
                if type(value) is list:
                    nodes.extend(value)
                    for place, one in enumerate(value):
                        if type(one) is ast.BinOp and _is_format(one):
                            self.formats.append((node, field, place))
                elif value is not None:
                    nodes.append(value)
                    if type(value) is ast.BinOp and _is_format(value):
                        self.formats.append((node, field, None))

    def of(self, kind: type[ast.AST]) -> list[Any]:
        """The nodes of a kind, those that hold others first."""
        return self._kinds[kind]


def _is_format(node: ast.BinOp) -> bool:
    text = node.left
    if not isinstance(node.op, ast.Mod) or not isinstance(text, ast.Constant):
        return False
    return isinstance(text.value, str) and any(letter in text.value for letter in "dfegis")


def full_name(node: ast.expr, known: dict[str, str]) -> str:
    """ "numpy.random.rand" for `np.random.rand`; "" for what no import explains."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or not known.get(node.id):
        return ""
    return ".".join((known[node.id], *reversed(parts)))


class _Rewriter:
    """Changes calls in their places."""

    def __init__(self, known: dict[str, str]) -> None:
        self._known = known
        self._has_tables = any(name.partition(".")[0] == "pandas" for name in known.values())
        self._count = 0

    def rewrite(self, found: _Found) -> int:
        """How much was changed. What is within another comes first: nodes are named by places."""
        kept = self._compiled(found)
        for holder, field, place in reversed(found.formats):
            if holder not in kept:
                self._format(holder, field, place)
        for node in reversed(found.of(ast.Call)):
            if node not in kept:
                self._change_call(node)
        for node in found.of(ast.Subscript) if self._has_tables else ():
            if node not in kept:
                self._read_labels(node)
        for node in found.of(ast.Assign):
            if len(node.targets) == 1 and node not in kept:
                node.value = self._element(node.value, node.targets[0])
                self._target(node.targets[0])
        for node in found.of(ast.AugAssign):
            if node not in kept:
                node.value = self._element(node.value, node.target)
                self._target(node.target)
        return self._count

    def _compiled(self, found: _Found) -> set[ast.AST]:
        """All within functions that Numba compiles, which knows nothing of our calls."""
        kept: set[ast.AST] = set()
        if not any(name.partition(".")[0] == "numba" for name in self._known.values()):
            return kept
        for function in found.of(ast.FunctionDef):
            for mark in function.decorator_list:
                called = mark.func if isinstance(mark, ast.Call) else mark
                if full_name(called, self._known).partition(".")[0] == "numba":
                    kept.update(ast.walk(function))
        return kept

    def _format(self, holder: ast.AST, field: str, place: int | None) -> None:
        held = getattr(holder, field)
        node = held if place is None else held[place]
        parts = [node.left, node.right]
        call = ast.copy_location(ast.Call(self._call(node, "formatted"), parts, []), node)
        if place is None:
            setattr(holder, field, call)
        else:
            held[place] = call

    def _change_call(self, node: ast.Call) -> None:
        name = full_name(node.func, self._known)
        module, _, function = name.rpartition(".")
        if module in _PICKLES:
            name = f"pickle.{function}"
        if isinstance(node.func, ast.Name) and node.func.id in ("int", "float"):
            is_one = len(node.args) == 1 and not node.keywords
            if is_one and node.func.id not in self._known and not _is_plain(node.args[0]):
                name = node.func.id
        if name in CALLS:
            node.func = self._call(node.func, CALLS[name][2])
        elif name in KEYWORDS and any(k.arg in (None, KEYWORDS[name][0]) for k in node.keywords):
            told = ast.copy_location(ast.Constant(name), node.func)
            node.args = [told, node.func, *node.args]
            node.func = self._call(node.func, "renamed")
        elif name in LENIENT_FUNCTIONS:
            node.args = [node.func, *node.args]
            node.func = self._call(node.func, "lenient")
        elif module == "math" and function in _MATH:
            node.args = [node.func, *node.args]
            node.func = self._call(node.func, "of_numbers")
        elif module.startswith("sklearn"):
            self._pass_on(node, "estimator", name)
        elif module == "pandas" and self._has_tables:
            self._pass_on(node, "table_function", name)
        elif not name and isinstance(node.func, ast.Attribute) and self._change_method(node):
            return
        elif isinstance(node.func, ast.Attribute) and node.func.attr in METHODS and not name:
            node.args = [node.func.value, *node.args]
            node.func = self._call(node.func, METHODS[node.func.attr][2])

    def _pass_on(self, node: ast.Call, to: str, name: str) -> None:
        """Has a function of ours call what is called, with its name."""
        told = ast.copy_location(ast.Constant(name), node.func)
        node.args = [told, node.func, *node.args]
        node.func = self._call(node.func, to)

    def _change_method(self, node: ast.Call) -> bool:
        """Whether a call is now one of a table's method, in a file that has tables."""
        func = node.func
        if not self._has_tables or not isinstance(func, ast.Attribute):
            return False
        held, name = func.value, func.attr
        if isinstance(held, ast.Attribute) and held.attr == "str" and name in TEXT_METHODS:
            node.args = [ast.copy_location(ast.Constant(name), func), held, *node.args]
            node.func = self._call(func, "text_method")
            return True
        if any(k.arg == "inplace" for k in node.keywords):
            parts = self._parts(held)
            if parts is not None:
                node.args = [*parts, ast.copy_location(ast.Constant(name), func), *node.args]
                node.func = self._call(func, "in_place")
                return True
        if name not in TABLE_METHODS:
            return False
        node.args = [ast.copy_location(ast.Constant(name), func), held, *node.args]
        node.func = self._call(func, "table_method")
        return True

    @staticmethod
    def _parts(held: ast.expr) -> list[ast.expr] | None:
        """(by item, thing, name) of `thing[name]` and of `thing.name`."""
        if isinstance(held, ast.Subscript) and not isinstance(held.slice, ast.Slice):
            name: ast.expr = held.slice
        elif isinstance(held, ast.Attribute):
            name = ast.copy_location(ast.Constant(held.attr), held)
        else:
            return None
        by_item = ast.copy_location(ast.Constant(isinstance(held, ast.Subscript)), held)
        return [by_item, held.value, name]

    def _target(self, target: ast.expr) -> None:
        """`table["age"][rows] = …`: the table's column is asked to change."""
        if not self._has_tables or not isinstance(target, ast.Subscript):
            return
        parts = self._parts(target.value)
        if parts is None or (isinstance(parts[1], ast.Name) and parts[1].id == "self"):
            return
        place = target.value
        if isinstance(place, ast.Attribute) and place.attr in _PLACES:
            return
        call = "attribute" if isinstance(place, ast.Attribute) else "item"
        target.value = ast.copy_location(ast.Call(self._call(place, call), parts[1:], []), place)

    def _read_labels(self, node: ast.Subscript) -> None:
        """`table.loc[labels]` that is read; what is given values stays as it is."""
        place = node.value
        if not isinstance(place, ast.Attribute) or place.attr != "loc":
            return
        if isinstance(node.ctx, ast.Load):
            called = ast.Call(self._call(place, "labels"), [place.value], [])
            node.value = ast.copy_location(called, place)

    def _element(self, value: ast.expr, target: ast.expr) -> ast.expr:
        """What is put into `x[i]`, if it may be an array and x can be named once more."""
        if not isinstance(target, ast.Subscript) or not isinstance(value, _MAY_BE_ARRAYS):
            return value
        thing = _loaded(target.value)
        if thing is None or _is_plain(value):
            return value
        return ast.copy_location(ast.Call(self._call(value, "element"), [value, thing], []), value)

    def _call(self, place: ast.expr, name: str) -> ast.expr:
        self._count += 1
        loaded = ast.copy_location(ast.Name(_NAME, ast.Load()), place)
        return ast.copy_location(ast.Attribute(loaded, name, ast.Load()), place)


def _loaded(node: ast.expr) -> ast.expr | None:
    """A name, or an attribute of one, to be read once more; None for what may do something."""
    if isinstance(node, ast.Name):
        return ast.copy_location(ast.Name(node.id, ast.Load()), node)
    if not isinstance(node, ast.Attribute):
        return None
    thing = _loaded(node.value)
    if thing is None:
        return None
    return ast.copy_location(ast.Attribute(thing, node.attr, ast.Load()), node)


def _is_plain(node: ast.expr) -> bool:
    """Whether an argument is no array for sure."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id in ("input", "len", "round", "str", "time", "ord")
    return isinstance(node, (ast.Constant, ast.JoinedStr))


def _import_calls(tree: ast.Module) -> None:
    """Has the file import calls.py, behind its docstring and what it takes from the future."""
    package = __package__
    statement = ast.ImportFrom(package, [ast.alias("calls", _NAME)], 0)
    place = 0
    for place, node in enumerate(tree.body):  # noqa: B007
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not is_text and not (isinstance(node, ast.ImportFrom) and node.module == "__future__"):
            break
    statement.lineno = statement.end_lineno = tree.body[place].lineno
    statement.col_offset = statement.end_col_offset = 0
    for name in statement.names:
        ast.copy_location(name, statement)
    tree.body.insert(place, statement)
