# SPDX-License-Identifier: Apache-2.0
"""Compiles files of the program so that calls of the table go through calls.py.

Only calls of functions that the file imported under a name, `int`, `float`, `"…" % …` and what
is put into `x[i]` are changed, and methods of a few names; lines and columns stay those of the
file.  A file in which there is none of it is compiled as it is.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from types import CodeType
from typing import Any

from .table import CALLS, KEYWORDS, LENIENT_FUNCTIONS, METHODS

_NAME = "__restored__"
# Functions of `math` that take one number.
_MATH = frozenset(
    "acos acosh asin asinh atan atan2 atanh ceil cos cosh degrees erf erfc exp expm1 fabs floor "
    "gamma hypot isinf isnan lgamma log log10 log1p log2 pow radians sin sinh sqrt tan tanh".split()
)
_MAY_BE_ARRAYS = (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.BinOp, ast.IfExp)
_PICKLES = ("cPickle", "six.moves.cPickle", "_pickle")


def compile_program(source: bytes | str, path: str) -> CodeType:
    """The code of a file of the program.

    Raises:
        SyntaxError: as `compile` does.
    """
    tree = compile(source, path, "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
    assert isinstance(tree, ast.Module)
    rewriter = _Rewriter(aliases(tree))
    changed = rewriter.visit(tree)
    if not rewriter.count:
        return compile(source, path, "exec", dont_inherit=True)
    _import_calls(changed)
    return compile(changed, path, "exec", dont_inherit=True)


def restored_function(node: ast.AST, path: str) -> Any:
    """A function of a file of the program, taken from its text, as `compile_program` has it.

    Raises:
        OSError: the file cannot be read.
        SyntaxError: as `compile` does.
    """
    with open(path, "rb") as file:
        tree = compile(file.read(), path, "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
    return _Rewriter(aliases(tree)).visit(node)


def aliases(tree: ast.AST, keep: tuple[str, ...] = ()) -> dict[str, str]:
    """What names of a file stand for by its imports: {"np": "numpy"}.

    Those that are bound otherwise, too, stand for nothing, unless they are of packages to keep.
    """
    found: dict[str, str] = {}
    bound: set[str] = set()
    stored: list[ast.Name] = []
    absent: set[ast.expr] = set()
    for node in _nodes(tree):
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Store):
                stored.append(node)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, ast.Assign):
            # `except ImportError: h5py = None` gives a name no other meaning.
            if isinstance(node.value, ast.Constant) and node.value.value is None:
                absent.update(node.targets)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            bound.add(node.name)
        elif isinstance(node, ast.Import):
            for name in node.names:
                found[name.asname or name.name.split(".")[0]] = (
                    name.name if name.asname else name.name.split(".")[0]
                )
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for name in node.names:
                found[name.asname or name.name] = f"{node.module}.{name.name}"
    bound.update(node.id for node in stored if node not in absent)
    kept = {name for name, path in found.items() if path.split(".")[0] in keep}
    return found | dict.fromkeys(bound - kept, "")


# Fields of nodes that hold names and values, or nodes without any in them.
_LEAVES = frozenset(
    "annotation arg asname attr conversion ctx id kind level lineno module n name op ops returns s "
    "simple type_comment type_ignores type_params".split()
)


_BRANCHES: dict[type[ast.AST], tuple[str, ...]] = {}


def _branches(kind: type[ast.AST]) -> tuple[str, ...]:
    found = _BRANCHES.get(kind)
    if found is None:
        found = _BRANCHES[kind] = tuple(name for name in kind._fields if name not in _LEAVES)
    return found


def _nodes(tree: ast.AST) -> list[ast.AST]:
    """All nodes of a tree that may hold others, and its names; `ast.walk` takes four times as long,
    most of it for contexts and operators."""
    found = [tree]
    for node in found:  # which grows
        for field in _branches(type(node)):
            value = getattr(node, field, None)
            if isinstance(value, list):
                found.extend(one for one in value if isinstance(one, ast.AST))
            elif isinstance(value, ast.AST):
                found.append(value)
    return found


def full_name(node: ast.expr, known: dict[str, str]) -> str:
    """ "numpy.random.rand" for `np.random.rand`; "" for what no import explains."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or not known.get(node.id):
        return ""
    return ".".join((known[node.id], *reversed(parts)))


class _Rewriter(ast.NodeTransformer):
    def __init__(self, known: dict[str, str]) -> None:
        self._known = known
        self.count = 0

    def visit(self, node: ast.AST) -> Any:
        return _VISITORS.get(type(node), _Rewriter.generic_visit)(self, node)

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Visits what may hold calls: that of the base class goes through all that a node has."""
        for field in _branches(type(node)):
            value = getattr(node, field, None)
            if isinstance(value, list):
                for place, one in enumerate(value):
                    if isinstance(one, ast.AST):
                        value[place] = self.visit(one)
            elif isinstance(value, ast.AST):
                setattr(node, field, self.visit(value))
        return node

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
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
        elif isinstance(node.func, ast.Attribute) and node.func.attr in METHODS and not name:
            node.args = [node.func.value, *node.args]
            node.func = self._call(node.func, METHODS[node.func.attr][2])
        return node

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        self.generic_visit(node)
        text = node.left
        if not isinstance(node.op, ast.Mod) or not isinstance(text, ast.Constant):
            return node
        if not isinstance(text.value, str) or not any(f"{c}" in text.value for c in "dfegis"):
            return node
        call = self._call(node, "formatted")
        return ast.copy_location(ast.Call(call, [node.left, node.right], []), node)

    def visit_Assign(self, node: ast.Assign) -> Any:
        self.generic_visit(node)
        if len(node.targets) == 1:
            node.value = self._element(node.value, node.targets[0])
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        self.generic_visit(node)
        node.value = self._element(node.value, node.target)
        return node

    def _element(self, value: ast.expr, target: ast.expr) -> ast.expr:
        """What is put into `x[i]`, if it may be an array and x can be named once more."""
        if not isinstance(target, ast.Subscript) or not isinstance(value, _MAY_BE_ARRAYS):
            return value
        thing = _loaded(target.value)
        if thing is None or _is_plain(value):
            return value
        return ast.copy_location(ast.Call(self._call(value, "element"), [value, thing], []), value)

    def _call(self, place: ast.expr, name: str) -> ast.expr:
        self.count += 1
        loaded = ast.copy_location(ast.Name(_NAME, ast.Load()), place)
        return ast.copy_location(ast.Attribute(loaded, name, ast.Load()), place)


_VISITORS: dict[type[ast.AST], Callable[[_Rewriter, Any], Any]] = {
    ast.Call: _Rewriter.visit_Call,
    ast.BinOp: _Rewriter.visit_BinOp,
    ast.Assign: _Rewriter.visit_Assign,
    ast.AugAssign: _Rewriter.visit_AugAssign,
}


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
