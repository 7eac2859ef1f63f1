# SPDX-License-Identifier: Apache-2.0
"""The source of functions, written again with what constants decide; see template.py.

What no constant touches is taken as it stands, so that layout and comments are the source's and
texts do not depend on the version of Python.  Imports nothing heavy.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from ...engine.syntax import tree_of
from ..kernel.module_source import module_source
from .plain_vocabulary import GIVEN

Names = Mapping[str, Any]
Place = tuple[int, int]  # a line, and a column in bytes, as the syntax tree counts them
Edit = tuple[Place, Place, str]  # from, to (excluded), what stands there instead

_UNKNOWN = object()
# What a condition may consist of to be decided.
_DECIDING = (
    *(ast.Name, ast.Constant, ast.Tuple, ast.Compare, ast.UnaryOp, ast.BinOp),
    *(ast.expr_context, ast.operator, ast.unaryop, ast.cmpop),
)
# Parts without parts, and of the tree those that are no part of the text for themselves.
_LEAVES = (ast.Constant, ast.Name)
_SIGNS = (ast.expr_context, ast.operator, ast.unaryop, ast.cmpop, ast.boolop)
# What constants may decide by itself.
_DECIDED = (ast.If, ast.IfExp, ast.BoolOp, ast.Name, ast.For, ast.Call)
_CHECKED = (ast.For, ast.While, ast.FunctionDef, ast.Lambda)
_NO_FORMAT = b"  # fmt: skip"
# What follows a function in a module (the arguments may end in a line of their own).
_NEXT = re.compile(r"^[^\s)#]", re.MULTILINE)


def literal(value: Any) -> str:
    """The text of a constant: a number, a number of a dtype, a text, or a tuple of such."""
    if isinstance(value, np.generic):
        number = value.item()
        text = repr(number) if np.isfinite(number) else f'"{number}"'
        return f"{value.dtype.name}({text})"
    if isinstance(value, tuple):
        return f"({', '.join(map(literal, value))}{',' if len(value) == 1 else ''})"
    if isinstance(value, (bool, int, float, str)):
        return repr(value)
    raise TypeError(f"{value!r} is no constant of a kernel: give a number, a text or a tuple")


def stated(value: Any) -> Any:
    """What tells constants of different types apart, however NumPy's numbers are printed, in any
    process."""
    if isinstance(value, tuple):
        return tuple(map(stated, value))
    if isinstance(value, FunctionType):
        return f"{value.__module__}.{value.__qualname__}"
    return literal(value) if isinstance(value, np.generic) else repr(value)


def written(module: str, function: str, name: str, scope: Names) -> tuple[str, tuple[str, ...]]:
    """The text of a function of a module under another name, and the names that it uses.

    scope: the values of names in capitals, which are constants.
    """
    known = _function(module, function)
    key = name, tuple(stated(scope.get(word)) for word in known.deciding)
    if key not in known.texts:
        writer = _Writer(known, scope)
        arguments = ", ".join(argument.arg for argument in known.node.args.args)
        text = f"def {name}({arguments}):\n{writer.block(known.node.body, {}, 0)}"
        words = (word for word in dict.fromkeys(writer.used) if word not in known.bound)
        known.texts[key] = text, tuple(words)
    return known.texts[key]


class _Function:
    """What is known of a function before constants are, and its texts for some of them.

    touched: the nodes that constants may change, and those above them.  deciding: the constants
    that may.  names: of every node, the names that it loads.  bound: arguments and variables.
    problem: what it has that no kernel can have.
    """

    def __init__(self, lines: list[bytes], node: ast.FunctionDef) -> None:
        self.lines, self.node = lines, node
        self.texts: dict[tuple[str, Any], tuple[str, tuple[str, ...]]] = {}
        self.touched: set[ast.AST] = set()
        self.names: dict[ast.AST, list[str]] = {}
        self.conditions: dict[ast.expr, CodeType | None] = {}
        self.bound = {argument.arg for argument in node.args.args}
        self._turns: set[str] = set()
        self.problem = _signature_problem(node)
        deciding: dict[str, None] = {}
        for statement in node.body:
            self._survey(statement, deciding)
        self.deciding = tuple(deciding)

    def _survey(self, node: ast.AST, deciding: dict[str, None]) -> None:
        names: list[str] = []
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Load):
                names.append(node.id)
            else:
                self.bound.add(node.id)
        elif isinstance(node, _CHECKED):
            self.problem = self.problem or _problem(node)
        if isinstance(node, ast.For) and _may_be_tuple(node.iter):
            self._turns |= {name.id for name in _names(node.target)}
        every = ast.iter_child_nodes(node) if not isinstance(node, _LEAVES) else ()
        children = [child for child in every if not isinstance(child, _SIGNS)]
        for child in children:
            self._survey(child, deciding)
            names += self.names.get(child, ())
        self.names[node] = names
        found = self._deciding(node) if isinstance(node, _DECIDED) else ()
        if found:
            deciding.update(dict.fromkeys(name for name in found if name.isupper()))
        if found or any(child in self.touched for child in children):
            self.touched.add(node)

    def _deciding(self, node: ast.AST) -> list[str]:
        """The names that decide what becomes of a node."""
        match node:
            case ast.If(test=test) | ast.IfExp(test=test):
                names = self.names[test]
            case ast.BoolOp() | ast.Name():
                names = self.names[node]
            case ast.For(iter=items) if _may_be_tuple(items):
                return self.names[items]
            case ast.Call(func=ast.Name(id=name)) if name.isupper():
                return [name]
            case _:
                return []
        is_name = isinstance(node, ast.Name)
        return [n for n in names if n in self._turns or (n.isupper() and not is_name)]

    def condition(self, node: ast.expr) -> CodeType | None:
        """What computes an expression of constants; None for what is no such expression."""
        if node not in self.conditions:
            may_be = bool(self.names[node]) and all(
                isinstance(part, _DECIDING) for part in ast.walk(node)
            )
            code = compile(ast.Expression(node), "<constant>", "eval") if may_be else None
            self.conditions[node] = code
        return self.conditions[node]


@cache
def _function(module: str, name: str) -> _Function:
    text = _source(module)
    first = re.search(rf"^def {name}\(", text, re.MULTILINE)
    if first is None:
        raise NameError(f"{module} has no function {name} to make a kernel of")
    # The function alone: to parse a module takes longer than to write a kernel.
    end = _NEXT.search(text, first.end())
    text = text[first.start() : end.start() if end else None]
    (node,) = tree_of(text).body
    assert isinstance(node, ast.FunctionDef)
    lines = [line.removesuffix(_NO_FORMAT) for line in text.encode().split(b"\n")]
    found = _Function(lines, node)
    if found.problem:
        raise SyntaxError(f"{module}.{name} has {found.problem}, which no kernel can have")
    return found


def _signature_problem(function: ast.FunctionDef) -> str:
    """What the arguments of a function have that would not be written as it is meant."""
    signature = function.args
    further = (signature.vararg, signature.kwarg, *signature.kwonlyargs, *signature.defaults)
    return "arguments that are not given by position alone" if any(further) else ""


def _problem(node: ast.AST) -> str:
    """The same of a part of a function."""
    match node:
        case ast.For(orelse=[_, *_]) | ast.While(orelse=[_, *_]):
            return "an else behind a loop"
        case ast.For(iter=items, body=body) if _may_be_tuple(items) and _leaves(body):
            return "a way out of a loop over constants"
        case ast.FunctionDef() | ast.Lambda():
            return "a function inside"
    return ""


def _leaves(body: Sequence[ast.AST]) -> bool:
    """Is there a break or continue in statements, but for those of loops among them?"""
    inner = (node for node in body if not isinstance(node, (ast.For, ast.While)))
    return any(
        isinstance(node, (ast.Break, ast.Continue)) or _leaves(list(ast.iter_child_nodes(node)))
        for node in inner
    )


@cache
def _source(module: str) -> str:
    return module_source(module)


class _Writer:
    """Writes a function; `used` has the names that what it has written loads."""

    def __init__(self, function: _Function, scope: Names) -> None:
        self._lines, self._function, self._scope = function.lines, function, scope
        self.used: list[str] = []

    def block(self, body: Sequence[ast.stmt], turn: Names, shift: int) -> str:
        """Statements, so many columns further to the left.

        turn: the values of the variables of loops that are written out.
        """
        text = "".join(self._statement(node, turn, shift) for node in body)
        return text or " " * (body[0].col_offset - shift) + "pass\n"

    def _statement(self, node: ast.stmt, turn: Names, shift: int) -> str:
        """A statement with the comments above it; nothing where constants leave nothing of it."""
        comments = self._lines_between(self._first_line(node), node.lineno, shift)
        if node in self._function.touched:
            if isinstance(node, ast.If):
                text = self._if(node, turn, shift)
                return comments + text if text else ""
            turns = self._turns(node) if isinstance(node, ast.For) else None
            if isinstance(node, ast.For) and turns is not None:
                inner = shift + node.body[0].col_offset - node.col_offset
                return comments + "".join(
                    self.block(node.body, {**turn, **values}, inner) for values in turns
                )
            if isinstance(node, (ast.For, ast.While)):
                return comments + self._compound(node, turn, shift)
        edits = self._edits(node, turn)
        return comments + self._lines_with(edits, node.lineno, _end(node)[0], shift)

    def _compound(self, node: ast.For | ast.While | ast.If, turn: Names, shift: int) -> str:
        """The first lines of a statement, and its body."""
        parts = [node.target, node.iter] if isinstance(node, ast.For) else [node.test]
        edits = [edit for part in parts for edit in self._edits(part, turn)]
        head = self._lines_with(edits, node.lineno, self._first_line(node.body[0]) - 1, shift)
        return head + self.block(node.body, turn, shift)

    def _if(self, node: ast.If, turn: Names, shift: int) -> str:
        value = self._decided(node.test, turn)
        if value is not _UNKNOWN:
            chosen = node.body if value else node.orelse
            other = self._elif(node)
            if chosen and other and not value:
                return self._if(other, turn, shift)
            return self._inner(node, chosen, turn, shift) if chosen else ""
        # What was an `elif` may be the first now.
        indent = " " * (node.col_offset - shift)
        text = self._compound(node, turn, shift).lstrip(" ").removeprefix("el")
        return indent + text + self._else(node, turn, shift)

    def _else(self, node: ast.If, turn: Names, shift: int) -> str:
        """What follows the body of an `if` that remains."""
        indent = " " * (node.col_offset - shift)
        other = self._elif(node)
        if other is None:
            rest = self.block(node.orelse, turn, shift) if node.orelse else ""
            return f"{indent}else:\n{rest}" if rest else ""
        value = self._decided(other.test, turn)
        if value is _UNKNOWN:
            return f"{indent}el{self._if(other, turn, shift).lstrip(' ')}"
        if value:
            return f"{indent}else:\n{self.block(other.body, turn, shift)}"
        return self._else(other, turn, shift)

    def _inner(self, node: ast.stmt, body: Sequence[ast.stmt], turn: Names, shift: int) -> str:
        """The body of a statement in its place."""
        return self.block(body, turn, shift + body[0].col_offset - node.col_offset)

    def _elif(self, node: ast.If) -> ast.If | None:
        match node.orelse:
            case [ast.If() as other]:
                line = self._lines[other.lineno - 1]
                return other if line[other.col_offset :].startswith(b"elif") else None
        return None

    def _turns(self, node: ast.For) -> list[dict[str, Any]] | None:
        """What the variables of a loop over a constant tuple are in its turns."""
        rows = self._decided(node.iter, {})
        if not isinstance(rows, tuple):
            return None
        if isinstance(node.target, ast.Name):
            return [{node.target.id: value} for value in rows]
        names = [name.id for name in _names(node.target)]
        return [dict(zip(names, row, strict=True)) for row in rows]

    def _decided(self, node: ast.expr, turn: Names) -> Any:
        """The value of an expression if constants decide it."""
        if isinstance(node, ast.BoolOp):
            value = _UNKNOWN
            for operand in node.values:
                value = self._decided(operand, turn)
                if value is _UNKNOWN or bool(value) == isinstance(node.op, ast.Or):
                    break
            return value
        names = self._function.names[node]
        if not all(name in turn or name.isupper() for name in names):
            return _UNKNOWN
        code = self._function.condition(node)
        if code is None:
            return _UNKNOWN
        values = {name: turn.get(name, self._scope.get(name, GIVEN)) for name in names}
        for name, value in values.items():
            if value is GIVEN:
                raise missing(name)
        return eval(code, {}, values)

    def _edits(self, node: ast.AST, turn: Names) -> list[Edit]:
        """What is to be replaced below a node."""
        if node not in self._function.touched:
            self.used += self._function.names.get(node, ())
            return []
        if isinstance(node, (ast.IfExp, ast.BoolOp)):
            rest = self._remaining(node, turn)
            if rest:
                word = " or " if isinstance(getattr(node, "op", None), ast.Or) else " and "
                texts = [self._operand(part, turn, len(rest) > 1) for part in rest]
                return [(_start(node), _end(node), word.join(texts))]
        if isinstance(node, ast.Name) and node.id in turn:
            return [(_start(node), _end(node), literal(turn[node.id]))]
        edits: list[Edit] = []
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            # A constant that is a helper; the arguments come after it.
            value = self._scope.get(node.func.id) if node.func.id.isupper() else None
            if isinstance(value, FunctionType):
                edits.append((_start(node.func), _end(node.func), value.__name__))
                self.used.append(node.func.id)
        done = [node.func] if edits and isinstance(node, ast.Call) else []
        children = [child for child in ast.iter_child_nodes(node) if child not in done]
        return edits + [edit for child in children for edit in self._edits(child, turn)]

    def _remaining(self, node: ast.IfExp | ast.BoolOp, turn: Names) -> list[ast.expr]:
        """What remains of an expression of which constants decide something, else nothing."""
        if isinstance(node, ast.IfExp):
            value = self._decided(node.test, turn)
            return [] if value is _UNKNOWN else [node.body if value else node.orelse]
        for place, operand in enumerate(node.values):
            value = self._decided(operand, turn)
            is_last = operand is node.values[-1]
            if value is not _UNKNOWN and bool(value) == isinstance(node.op, ast.Or):
                return [operand]
            if value is _UNKNOWN or is_last:
                return node.values[place:] if place else []
        return []

    def _operand(self, node: ast.expr, turn: Names, is_joined: bool) -> str:
        """An expression that takes the place of one around it."""
        text = self._edited(self._edits(node, turn), _start(node), _end(node))
        loose = (ast.IfExp, ast.Lambda, ast.BoolOp) if is_joined else (ast.IfExp, ast.Lambda)
        return f"({text})" if isinstance(node, loose) or "\n" in text else text

    def _first_line(self, node: ast.stmt) -> int:
        """The line of a statement, or of the comments above it."""
        line = node.lineno
        while self._lines[line - 2].lstrip().startswith(b"#"):
            line -= 1
        return line

    def _lines_between(self, first: int, last: int, shift: int) -> str:
        """Whole lines, the last one excluded."""
        return self._lines_with([], first, last - 1, shift) if first < last else ""

    def _lines_with(self, edits: list[Edit], first: int, last: int, shift: int) -> str:
        """Whole lines, the last one included, further to the left."""
        text = self._edited(edits, (first, 0), (last, len(self._lines[last - 1])))
        lines = [line[min(shift, len(line) - len(line.lstrip(" "))) :] for line in text.split("\n")]
        return "\n".join(lines) + "\n"

    def _edited(self, edits: list[Edit], start: Place, end: Place) -> str:
        """The source from one place to another, with edits."""
        pieces = []
        for first, last, text in sorted(edits):
            pieces += [self._between(start, first), text]
            start = last
        return "".join([*pieces, self._between(start, end)])

    def _between(self, start: Place, end: Place) -> str:
        lines = self._lines[start[0] - 1 : end[0]]
        lines[-1] = lines[-1][: end[1]]
        lines[0] = lines[0][start[1] :]
        return b"\n".join(lines).decode()


def missing(name: str) -> Exception:
    """A constant has no value."""
    return ValueError(f"a kernel needs the constant {name}: give it to specialise()")


def _is_constant(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id.isupper()


def _may_be_tuple(node: ast.AST) -> bool:
    items = node.elts if isinstance(node, ast.Tuple) else [node]
    return any(map(_is_constant, items))


def _names(node: ast.AST) -> Iterator[ast.Name]:
    return (part for part in ast.walk(node) if isinstance(part, ast.Name))


def _start(node: Any) -> Place:
    return node.lineno, node.col_offset


def _end(node: Any) -> Place:
    return node.end_lineno, node.end_col_offset
