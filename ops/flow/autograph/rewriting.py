# SPDX-License-Identifier: Apache-2.0
"""Python's `if`, `while` and `for` on tensors: a function rewritten so that they are asked for.

The statements of a function become calls (control.py), which go Python's way for Python's values
and build `tf.cond` or `tf.while_loop` for tensors.

    if x > 0:          def body(): nonlocal y; y = x
        y = x          def orelse(): nonlocal y; y = -x
    else:        ->    ag.if_stmt(x > 0, body, orelse, get, set, (), ("y",))
        y = -x
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from .jumps import Loops, Returns, parsed
from .names import Liveness, assigned, own, places
from .words import RUN, Lists, Words

# Functions whose results are Python's, whatever they are given.
_PYTHONIC = frozenset("isinstance issubclass hasattr callable type str repr".split())


def is_pythonic(x: ast.expr) -> bool:
    """Whether an expression cannot be a tensor: a constant, a comparison by `is`."""
    if isinstance(x, (ast.Constant, ast.List, ast.Tuple, ast.Dict)):
        return True
    if isinstance(x, ast.BoolOp):
        return all(map(is_pythonic, x.values))
    if isinstance(x, ast.UnaryOp):
        return is_pythonic(x.operand)
    if isinstance(x, ast.Compare):
        if all(isinstance(op, (ast.Is, ast.IsNot, ast.In, ast.NotIn)) for op in x.ops):
            return True
        sides = [x.left, *x.comparators]
        is_text = any(isinstance(y, ast.Constant) and isinstance(y.value, str) for y in sides)
        return is_text or all(map(is_pythonic, sides))
    if isinstance(x, ast.Call) and isinstance(x.func, ast.Name):
        name, given = x.func.id, x.args
        is_own = name in ("range", "len", "zip", "enumerate") and all(map(is_pythonic, given))
        return name in _PYTHONIC or is_own
    return False


def name_super(node: ast.FunctionDef) -> None:
    """Gives calls of `super` their arguments, which they cannot find in a function within."""
    if not node.args.args:
        return
    for x in ast.walk(node):
        if isinstance(x, ast.Call) and isinstance(x.func, ast.Name) and x.func.id == "super":
            names = ("__class__", node.args.args[0].arg)
            x.args = x.args or [ast.Name(name, ast.Load()) for name in names]


class Statements:
    """Rewrites the body of one function.

    Args:
        node: the function.
        features: names of what is to be rewritten besides (autograph.experimental.Feature).
    """

    def __init__(self, node: ast.FunctionDef, features: frozenset[str]) -> None:
        self._node, self._features = node, features
        self._words = Words(features)
        self._count = 0
        self._stated: set[str] = set()
        arguments = node.args
        named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        named += [a for a in (arguments.vararg, arguments.kwarg) if a is not None]
        self._parameters = {a.arg for a in named}

    def rewrite(self) -> None:
        """Changes the function in place."""
        if "LISTS" in self._features:
            Lists(self._words).visit_body(self._node)
        body = Loops(is_pythonic).lowered(Returns().lowered(self._node.body))
        declared = [x for x in own(self._node) if isinstance(x, (ast.Global, ast.Nonlocal))]
        self._global = {n for x in declared if isinstance(x, ast.Global) for n in x.names}
        outer = self._global | {name for x in declared for name in x.names}
        self._locals = (assigned(body) | self._parameters | outer) - self._global
        self._live = Liveness(body, outer)
        body = self._block(body)
        fresh = sorted(self._stated - self._parameters - outer)
        first = 1 if ast.get_docstring(self._node, clean=False) is not None else 0
        # (Declarations stand before what they are about.)
        while first < len(body) and isinstance(body[first], (ast.Global, ast.Nonlocal)):
            first += 1
        begin = [parsed(f"{name} = {RUN}.Undefined({name!r})", self._node) for name in fresh]
        self._node.body = [*body[:first], *begin, *body[first:]]

    def _block(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        return [y for x in body for y in self._statement(x)] or [ast.Pass()]

    def _statement(self, x: ast.stmt) -> list[ast.stmt]:
        if isinstance(x, ast.If) and not is_pythonic(x.test):
            return self._if(x)
        if isinstance(x, ast.While) and not is_pythonic(x.test):
            return self._while(x)
        if isinstance(x, ast.For) and (hasattr(x, "stopped") or not is_pythonic(x.iter)):
            return self._for(x)
        if isinstance(x, ast.FunctionDef):
            return [self._function_within(x)]
        if isinstance(x, ast.ClassDef):
            return [x]
        if not isinstance(x, (ast.If, ast.While, ast.For, ast.With, ast.Try)):
            return self._words.statement(x)
        for part in ("body", "orelse", "finalbody"):
            if getattr(x, part, None):
                setattr(x, part, self._block(getattr(x, part)))
        for handler in getattr(x, "handlers", ()):
            handler.body = self._block(handler.body)
        for item in getattr(x, "items", ()):
            self._words.visit(item)
        for part in ("test", "iter"):
            if hasattr(x, part):
                setattr(x, part, self._words.visit(getattr(x, part)))
        return [x]

    def _function_within(self, x: ast.FunctionDef) -> ast.FunctionDef:
        x.args.defaults = [self._words.visit(value) for value in x.args.defaults]
        if can_be_rewritten(x) and not any(map(_is_left, x.decorator_list)):
            Statements(x, self._features).rewrite()
        return x

    def _state(
        self, x: ast.stmt, names: set[str], live: set[str]
    ) -> tuple[str, list[ast.stmt], str]:
        """Functions that read and write variables, their suffix, and how a call names these."""
        self._count += 1
        suffix = f"_{self._count}"
        names &= self._locals | self._global
        firm = sorted(names & live)
        loose = sorted((names & self._live.always) - live)
        others = places([x])
        # A branch begins with the values that variables had before the other one.
        more = sorted(names - {*firm, *loose}) if isinstance(x, ast.If) else []
        named = [*firm, *loose, *more]
        self._stated.update(named)
        values = [*firm, *loose, *others, *more]
        read = [*firm, *loose, *(f"{RUN}.value(lambda: {p}, {p!r})" for p in others), *more]
        lines = [f"def _get{suffix}():", f"    return ({''.join(f'{v}, ' for v in read)})"]
        lines += [f"def _set{suffix}(values):"]
        local = [name for name in named if name not in self._global]
        lines += [f"    nonlocal {', '.join(local)}"] if local else []
        shared = [name for name in named if name in self._global]
        lines += [f"    global {', '.join(shared)}"] if shared else []
        for n, value in enumerate(values):
            check = f"if {RUN}.is_value(values[{n}]): " if value in others else ""
            lines.append(f"    {check}{value} = values[{n}]")
        lines += [] if values else ["    pass"]
        made = [parsed("\n".join(part), x) for part in (lines[:2], lines[2:])]
        return suffix, made, f"(), {tuple(firm)!r}, {(*loose, *others)!r}"

    def _function(
        self, name: str, body: list[ast.stmt], where: ast.stmt, argument: str = ""
    ) -> ast.stmt:
        names = (assigned(body) & (self._locals | self._global)) - {argument}
        local, shared = sorted(names - self._global), sorted(names & self._global)
        self._stated.update(local)
        made = parsed(f"def {name}({argument}):\n    pass", where)
        assert isinstance(made, ast.FunctionDef), "a function was parsed"
        begin: list[ast.stmt] = [ast.Nonlocal(local)] if local else []
        begin += [ast.Global(shared)] if shared else []
        made.body = [*begin, *body]
        return made

    def _call(self, line: str, where: ast.stmt, value: ast.expr | None = None) -> ast.stmt:
        made = parsed(f"{RUN}.{line}", where)
        if value is not None:
            made.value.args[0] = self._words.visit(value)  # type: ignore[attr-defined]
        return made

    def _if(self, x: ast.If) -> list[ast.stmt]:
        names = assigned([*x.body, *x.orelse])
        suffix, state, listed = self._state(x, names, self._live.after[x])
        body, orelse = self._block(x.body), self._block(x.orelse)
        inner = f"_body{suffix}, _orelse{suffix}, _get{suffix}, _set{suffix}"
        return [
            *state,
            self._function(f"_body{suffix}", body, x),
            self._function(f"_orelse{suffix}", orelse, x),
            self._call(f"if_stmt(0, {inner}, {listed})", x, x.test),
        ]

    def _while(self, x: ast.While) -> list[ast.stmt]:
        live = self._live.head[x] | self._live.after[x]
        names = assigned(x.body)
        suffix, state, listed = self._state(x, names, live)
        options, x.body = _loop_options(x.body)
        test = parsed(f"def _test{suffix}():\n    return 0", x)
        test.body[0].value = self._words.visit(x.test)  # type: ignore[attr-defined]
        inner = f"_test{suffix}, _body{suffix}, _get{suffix}, _set{suffix}"
        return [
            *state,
            test,
            self._function(f"_body{suffix}", self._block(x.body), x),
            self._call(f"while_stmt({inner}, {listed}, {options})", x),
            *(self._block(x.orelse) if x.orelse else []),
        ]

    def _for(self, x: ast.For) -> list[ast.stmt]:
        live = self._live.head[x] | self._live.after[x]
        names = assigned([*x.body, x.target])
        suffix, state, listed = self._state(x, names, live)
        options, x.body = _loop_options(x.body)
        given = f"_item{suffix}"
        take = ast.copy_location(ast.Assign([x.target], ast.Name(given, ast.Load())), x)
        stopped = getattr(x, "stopped", None)
        test = f"lambda: {RUN}.not_({stopped})" if stopped else "None"
        body = self._function(f"_body{suffix}", [take, *self._block(x.body)], x, given)
        inner = f"{test}, _body{suffix}, _get{suffix}, _set{suffix}"
        call = self._call(f"for_stmt(0, {inner}, {listed}, {options})", x, x.iter)
        return [*state, body, call, *(self._block(x.orelse) if x.orelse else [])]


def _is_left(decorator: ast.expr) -> bool:
    return "do_not_convert" in ast.unparse(decorator)


def _loop_options(body: list[ast.stmt]) -> tuple[str, list[ast.stmt]]:
    """What `set_loop_options` says in a loop, as the source of a dictionary, and what else is."""
    said: list[ast.keyword] = []
    others: list[ast.stmt] = []
    for x in body:
        call = x.value if isinstance(x, ast.Expr) else None
        if isinstance(call, ast.Call) and ast.unparse(call.func).endswith("set_loop_options"):
            said += call.keywords
        else:
            others.append(x)
    inner = ", ".join(f"{k.arg}={ast.unparse(k.value)}" for k in said if k.arg)
    return f"dict({inner})" if inner else "None", others or [ast.Pass()]


# What a function that has it cannot be rewritten with, or reads that it must itself.
_STAYS = (ast.Yield, ast.YieldFrom, ast.Await, ast.NamedExpr, ast.Match)
_LOOKS = frozenset("locals vars eval exec".split())


def can_be_rewritten(node: ast.FunctionDef) -> bool:
    """Whether nothing is in a function that would not survive being rewritten."""
    return not any(
        isinstance(x, _STAYS) or (isinstance(x, ast.Name) and x.id in _LOOKS) for x in own(node)
    )


def is_wanted(node: ast.AST) -> bool:
    """Whether something in a function may be on tensors, or calls what may."""
    kinds = (ast.If, ast.While, ast.IfExp, ast.For, ast.BoolOp, ast.Assert, ast.Call, ast.Compare)
    return any(
        isinstance(x, kinds) or (isinstance(x, ast.UnaryOp) and isinstance(x.op, ast.Not))
        for x in ast.walk(node)
    )
