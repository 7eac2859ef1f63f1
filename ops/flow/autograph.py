# SPDX-License-Identifier: Apache-2.0
"""Python's `if`, `while` and `for` on tensors: a function rewritten so that they are asked for.

`converted(f)` gives a function of the same variables, closure and defaults whose statements call
autograph_run.py, which goes Python's way for Python's values and builds `tf.cond` or
`tf.while_loop` for tensors.  What has no such statement is left alone.

    if x > 0:          def body(): nonlocal y; y = x
        y = x          def orelse(): nonlocal y; y = -x
    else:        ->    ag.if_stmt(x > 0, body, orelse, get, set, ("y",))
        y = -x

Loops with `break`, `continue` or `return` stay as they are, for Python's values only.
"""

from __future__ import annotations

import ast
import copy
import functools
import inspect
import textwrap
import types
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from ...engine.api import export

_RUN, RESULT = "_autograph", "_result"
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
# Functions whose results are Python's, whatever they are given.
_PYTHONIC = frozenset("isinstance issubclass hasattr callable type str repr".split())
_LOOPS = (ast.While, ast.For, ast.With, ast.Try)
# Function -> what it became, None if there was nothing to do.
_done: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()


def converted(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function, or a bound method, whose control flow may be on tensors.

    Functions without control flow, without source, and those of packages that are no part of a
    program (numbaflow, the standard library) are handed back.
    """
    plain = getattr(function, "__func__", function)
    if not isinstance(plain, types.FunctionType):
        return function
    if plain not in _done:
        _done[plain] = _rewritten(plain) if _may_branch(plain) else None
    found = _done[plain]
    if found is None:
        return function
    owner = getattr(function, "__self__", None)
    return found if owner is None else types.MethodType(found, owner)  # type: ignore[no-any-return]


def _may_branch(function: types.FunctionType) -> bool:
    """Whether the function is a program's and its code has a jump, without reading its source."""
    root = __name__.partition(".")[0]
    module = function.__globals__.get("__name__") or ""
    if module.partition(".")[0] == root or getattr(function, "_no_autograph", False):
        return False
    return any(
        "JUMP" in i.opname or i.opname == "FOR_ITER" or i.opname in ("UNARY_NOT", "COMPARE_OP")
        for code in _codes(function.__code__)
        for i in _instructions(code)
    )


def _instructions(code: types.CodeType) -> Iterable[Any]:
    import dis

    return dis.get_instructions(code)


def _codes(code: types.CodeType) -> list[types.CodeType]:
    inner = [c for c in code.co_consts if isinstance(c, types.CodeType)]
    return [code, *(found for c in inner for found in _codes(c))]


def _rewritten(function: types.FunctionType) -> types.FunctionType | None:
    node = _tree(function)
    if node is None or not _can_be_rewritten(node):
        return None
    # What a file of an old program has by this name restores calls of its time in it.
    restored = function.__globals__.get("__restored__")
    if restored is not None:
        node = restored.rewritten(node, function.__code__.co_filename)
    _Statements(node).rewrite()
    return _compiled(function, node)


def _tree(function: Any) -> ast.FunctionDef | None:
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):
        return None  # What was typed into a console has no source.
    node = tree.body[0] if tree.body else None
    if not isinstance(node, ast.FunctionDef):
        return None
    node.decorator_list = []
    return node


_STAYS = (ast.Yield, ast.YieldFrom, ast.Await, ast.Global, ast.Nonlocal, ast.NamedExpr)


def _can_be_rewritten(node: ast.FunctionDef) -> bool:
    """Whether something may be on tensors, and nothing is there that would not survive it."""
    if any(map(_is_private, ast.walk(node))):
        return False  # (A private name is of the class, which stands elsewhere.)
    is_wanted = False
    for x in _own(node):
        if isinstance(x, _STAYS):
            return False
        if isinstance(x, ast.If) and any(
            isinstance(y, _LOOPS) and _has([y], (ast.Return,)) for y in ast.walk(x)
        ):
            return False
        if isinstance(x, (ast.If, ast.While, ast.IfExp)):
            is_wanted = is_wanted or not _is_pythonic(x.test)
        elif isinstance(x, ast.For):
            is_wanted = is_wanted or not _is_pythonic(x.iter)
    return is_wanted


def _is_private(x: ast.AST) -> bool:
    name: str = getattr(x, "attr", None) or getattr(x, "id", None) or ""
    return name.startswith("__") and not name.endswith("__")


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """What is in a function, without functions within it, which stay as they are."""
    for x in ast.iter_child_nodes(node):
        yield x
        if not isinstance(x, _SCOPES):
            yield from _own(x)


def _is_pythonic(x: ast.expr) -> bool:
    """Whether an expression cannot be a tensor: a comparison by `is`, a layer's own setting."""
    if isinstance(x, (ast.Constant, ast.List, ast.Tuple, ast.Dict)):
        return True
    if isinstance(x, ast.BoolOp):
        return all(map(_is_pythonic, x.values))
    if isinstance(x, ast.UnaryOp):
        return _is_pythonic(x.operand)
    if isinstance(x, ast.Compare):
        if all(isinstance(op, (ast.Is, ast.IsNot, ast.In, ast.NotIn)) for op in x.ops):
            return True
        sides = [x.left, *x.comparators]
        is_text = any(isinstance(y, ast.Constant) and isinstance(y.value, str) for y in sides)
        return is_text or all(map(_is_pythonic, sides))
    if isinstance(x, ast.Attribute):
        return isinstance(x.value, ast.Name) and x.value.id == "self"
    if isinstance(x, ast.Call) and isinstance(x.func, ast.Name):
        name, given = x.func.id, x.args
        is_own = name in ("range", "len", "zip", "enumerate") and all(map(_is_pythonic, given))
        return name in _PYTHONIC or is_own
    return False


def _compiled(function: types.FunctionType, node: ast.FunctionDef) -> types.FunctionType:
    """The function of a syntax tree, in the place of another one."""
    from . import autograph_run

    free = [name for name in function.__code__.co_freevars if name != _RUN]
    around = ast.parse(f"def _around({', '.join([*free, _RUN])}):\n  pass").body[0]
    assert isinstance(around, ast.FunctionDef), "a function was parsed"
    around.body = [node, ast.Return(ast.Name(node.name, ast.Load()))]
    module = ast.fix_missing_locations(ast.Module([around], []))
    file, line = function.__code__.co_filename, function.__code__.co_firstlineno
    ast.increment_lineno(module, line - 1)
    space: dict[str, Any] = {}
    exec(compile(module, file, "exec", dont_inherit=True), function.__globals__, space)
    made = space["_around"](*[None] * len(free), autograph_run)
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
    own = dict(zip(made.__code__.co_freevars, made.__closure__ or ()))
    closure = tuple(cells[name] if name in cells else own[name] for name in own)
    found = types.FunctionType(
        made.__code__, function.__globals__, function.__name__, function.__defaults__, closure
    )
    found.__kwdefaults__ = function.__kwdefaults__
    functools.update_wrapper(found, function)
    del vars(found)["__wrapped__"]  # Or it would keep the function in `_done`.
    return found


def _assigned(nodes: Iterable[ast.AST]) -> set[str]:
    """The names that statements assign, without those of functions within."""
    found: set[str] = set()
    waiting = list(nodes)
    while waiting:
        x = waiting.pop()
        if isinstance(x, (ast.FunctionDef, ast.ClassDef)):
            found.add(x.name)
        elif isinstance(x, ast.Name) and isinstance(x.ctx, (ast.Store, ast.Del)):
            found.add(x.id)
        elif isinstance(x, (ast.Import, ast.ImportFrom)):
            found.update((a.asname or a.name).partition(".")[0] for a in x.names)
        elif isinstance(x, ast.ExceptHandler) and x.name:
            found.add(x.name)
        if not isinstance(x, (*_SCOPES, *_COMPREHENSIONS)):
            waiting.extend(ast.iter_child_nodes(x))
    return found


def _loaded(node: ast.AST) -> list[str]:
    found = []
    for x in ast.walk(node):
        if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Load):
            found.append(x.id)
        elif isinstance(x, ast.AugAssign) and isinstance(x.target, ast.Name):
            found.append(x.target.id)
    return found


def _has(nodes: Iterable[ast.AST], kinds: tuple[type, ...]) -> bool:
    """Whether a statement of some kinds is there, not in a function within."""
    for x in nodes:
        if isinstance(x, kinds):
            return True
        if not isinstance(x, _SCOPES) and _has(ast.iter_child_nodes(x), kinds):
            return True
    return False


def _ends(body: Sequence[ast.stmt]) -> bool:
    """Whether every way through statements ends in a return or an error."""
    last = body[-1] if body else None
    if isinstance(last, ast.If):
        return bool(last.orelse) and _ends(last.body) and _ends(last.orelse)
    return isinstance(last, (ast.Return, ast.Raise))


def _with_rest(body: list[ast.stmt]) -> list[ast.stmt]:
    """Statements in which what follows an `if` with a return stands in its branches."""
    for place, x in enumerate(body):
        if not isinstance(x, ast.If) or not _has([x], (ast.Return,)):
            continue
        rest = body[place + 1 :] or [ast.Return(ast.Constant(None))]
        if not _ends(x.body):
            x.body = [*x.body, *copy.deepcopy(rest)]
        if not _ends(x.orelse):
            x.orelse = [*x.orelse, *rest]
        x.body, x.orelse = _with_rest(x.body), _with_rest(x.orelse)
        return [*body[:place], x]
    return body


def _name_super(node: ast.FunctionDef) -> None:
    """Gives calls of `super` their arguments, which they cannot find in a function within."""
    if not node.args.args:
        return
    for x in ast.walk(node):
        if isinstance(x, ast.Call) and isinstance(x.func, ast.Name) and x.func.id == "super":
            names = ("__class__", node.args.args[0].arg)
            x.args = x.args or [ast.Name(name, ast.Load()) for name in names]


class _Statements:
    """Rewrites the body of one function."""

    def __init__(self, node: ast.FunctionDef) -> None:
        self._node = node
        self._count = 0
        arguments = node.args
        named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        named += [a for a in (arguments.vararg, arguments.kwarg) if a is not None]
        self._parameters = {a.arg for a in named}

    def rewrite(self) -> None:
        """Changes the function in place."""
        node = self._node
        _name_super(node)
        body = node.body = _with_rest(node.body)
        self._locals = _assigned(body)
        returns = _has([x for x in body if isinstance(x, ast.If)], (ast.Return,))
        if returns:
            self._locals.add(RESULT)
        uses = _loaded(node)
        self._uses = {name: uses.count(name) for name in set(uses)}
        body = self._block(body)
        if returns:
            body.append(ast.Return(ast.Name(RESULT, ast.Load())))
        fresh = sorted(self._locals - self._parameters)
        begin = [_parsed(f"{name} = {_RUN}.Undefined({name!r})") for name in fresh]
        node.body = [*begin, *body]

    def _block(self, body: Sequence[ast.stmt], in_branch: bool = False) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for x in body:
            found += self._statement(x, in_branch)
        return found or [ast.Pass()]

    def _statement(self, x: ast.stmt, in_branch: bool) -> list[ast.stmt]:
        if isinstance(x, ast.If):
            if not _is_pythonic(x.test):
                return self._if(x)
            x.body = self._block(x.body, True)
            x.orelse = self._block(x.orelse, True) if x.orelse else []
            x.test = _Words().visit(x.test)
            return [x]
        stays = (ast.Break, ast.Continue, ast.Return)
        if isinstance(x, (ast.While, ast.For)):
            if not x.orelse and not _has(x.body, stays):
                return self._loop(x)
        if isinstance(x, ast.Return) and in_branch:
            value = x.value or ast.Constant(None)
            return [ast.Assign([ast.Name(RESULT, ast.Store())], _Words().visit(value))]
        if isinstance(x, (ast.With, ast.Try)) and not _has([x], stays):
            for part in ("body", "orelse", "finalbody"):
                if getattr(x, part, None):
                    setattr(x, part, self._block(getattr(x, part)))
            for handler in getattr(x, "handlers", ()):
                handler.body = self._block(handler.body)
            for item in getattr(x, "items", ()):
                _Words().visit(item)
            return [x]
        if isinstance(x, (ast.FunctionDef, ast.ClassDef)):
            return [x]
        return [_Words().visit(x)]

    def _outer(self, node: ast.AST, names: Iterable[str]) -> list[str]:
        """Those of some names that the function reads elsewhere, too."""
        within = _loaded(node)
        return sorted(n for n in names if n == RESULT or self._uses.get(n, 0) > within.count(n))

    def _state(self, names: Sequence[str]) -> tuple[str, list[ast.stmt]]:
        """Functions that read and write some variables, and their common suffix."""
        self._count += 1
        suffix = f"_{self._count}"
        listed = "".join(f"{name}, " for name in names)
        share = f"    nonlocal {', '.join(names)}\n" if names else ""
        write = f"    ({listed}) = values\n" if names else "    pass\n"
        lines = (
            f"def _get{suffix}():\n    return ({listed})\ndef _set{suffix}(values):\n{share}{write}"
        )
        return suffix, ast.parse(lines).body

    def _function(self, name: str, body: list[ast.stmt], argument: str = "") -> ast.stmt:
        names = sorted((_assigned(body) & (self._locals | self._parameters)) - {argument})
        made = ast.parse(f"def {name}({argument}):\n    pass").body[0]
        assert isinstance(made, ast.FunctionDef), "a function was parsed"
        made.body = [*([ast.Nonlocal(names)] if names else []), *body]
        return made

    def _if(self, x: ast.If) -> list[ast.stmt]:
        returns = _has([x], (ast.Return,))
        names = _assigned([*x.body, *x.orelse]) | ({RESULT} if returns else set())
        wanted = self._outer(x, names)
        suffix, state = self._state(wanted)
        body, orelse = (self._block(part, True) for part in (x.body, x.orelse))
        call = _parsed(
            f"{_RUN}.if_stmt(0, _body{suffix}, _orelse{suffix}, _get{suffix}, _set{suffix}, "
            f"{tuple(wanted)!r})"
        )
        call.value.args[0] = _Words().visit(x.test)  # type: ignore[attr-defined]
        return [
            *state,
            self._function(f"_body{suffix}", body),
            self._function(f"_orelse{suffix}", orelse),
            call,
        ]

    def _loop(self, x: ast.While | ast.For) -> list[ast.stmt]:
        if not _is_pythonic(x.test if isinstance(x, ast.While) else x.iter):
            return self._while(x) if isinstance(x, ast.While) else self._for(x)
        x.body = self._block(x.body)
        return [x]

    def _while(self, x: ast.While) -> list[ast.stmt]:
        names = sorted(_assigned(x.body))
        suffix, state = self._state(names)
        test = ast.parse(f"def _test{suffix}():\n    return 0").body[0]
        test.body[0].value = _Words().visit(x.test)  # type: ignore[attr-defined]
        call = _parsed(
            f"{_RUN}.while_stmt(_test{suffix}, _body{suffix}, _get{suffix}, _set{suffix}, "
            f"{tuple(names)!r})"
        )
        return [*state, test, self._function(f"_body{suffix}", self._block(x.body)), call]

    def _for(self, x: ast.For) -> list[ast.stmt]:
        names = sorted(_assigned([*x.body, x.target]))
        suffix, state = self._state(names)
        given = f"_item{suffix}"
        take = ast.Assign([x.target], ast.Name(given, ast.Load()))
        body = [take, *self._block(x.body)]
        call = _parsed(
            f"{_RUN}.for_stmt(0, _body{suffix}, _get{suffix}, _set{suffix}, {tuple(names)!r})"
        )
        call.value.args[0] = _Words().visit(x.iter)  # type: ignore[attr-defined]
        return [*state, self._function(f"_body{suffix}", body, given), call]


def _parsed(line: str) -> Any:
    return ast.parse(line).body[0]


def _later(value: ast.expr) -> ast.Lambda:
    made = ast.parse("lambda: 0", mode="eval").body
    assert isinstance(made, ast.Lambda), "a lambda was parsed"
    made.body = value
    return made


class _Words(ast.NodeTransformer):
    """Rewrites `and`, `or`, `not`, `a if b else c`, `==`, and calls of `len` and `range`."""

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        return node

    def _named(self, name: str, *arguments: ast.expr) -> ast.Call:
        function = ast.parse(f"{_RUN}.{name}", mode="eval").body
        return ast.Call(function, list(arguments), [])

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        self.generic_visit(node)
        name = "and_" if isinstance(node.op, ast.And) else "or_"
        found = node.values[-1]
        for value in reversed(node.values[:-1]):
            found = self._named(name, _later(value), _later(found))
        return found

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        self.generic_visit(node)
        return self._named("not_", node.operand) if isinstance(node.op, ast.Not) else node

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        self.generic_visit(node)
        return self._named("if_exp", node.test, _later(node.body), _later(node.orelse))

    def visit_Compare(self, node: ast.Compare) -> Any:
        self.generic_visit(node)
        if len(node.ops) == 1 and isinstance(node.ops[0], (ast.Eq, ast.NotEq)):
            name = "eq" if isinstance(node.ops[0], ast.Eq) else "not_eq"
            return self._named(name, node.left, node.comparators[0])
        return node

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        target = node.func
        is_method = isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name)
        # (`super` asks for the frame that it is called in.)
        if (isinstance(target, ast.Name) and target.id != "super") or is_method:
            node.func = self._named("callee", target, ast.Name("__name__", ast.Load()))
        return node


@export("autograph.to_graph", "contrib.autograph.to_graph")
def to_graph(
    entity: Any,
    recursive: bool = True,
    arg_values: Any = None,
    arg_types: Any = None,
    experimental_optional_features: Any = None,
) -> Any:
    """A function whose `if`, `while` and `for` may be on tensors (tf.autograph.to_graph).

    Args:
        entity: a Python function or method, or what tf.function made of one.
        recursive: no difference: functions of the same program that it calls are rewritten, too.
        arg_values, arg_types, experimental_optional_features: no difference.

    Returns:
        The function; `entity` itself where nothing in it can be on tensors.

    Raises:
        NotImplementedError: `entity` is a class.

    Example:
        >>> def amount(x):
        ...     if x < 0:
        ...         x = -x
        ...     return x
        >>> y = tf.autograph.to_graph(amount)(tf.constant(-3))
        >>> with tf.Session() as session:
        ...     print(session.run(y))
        3
    """
    del recursive, arg_values, arg_types, experimental_optional_features
    if isinstance(entity, type):
        raise NotImplementedError("tf.autograph.to_graph of a class is not in numbaflow")
    return converted(getattr(entity, "python_function", entity))


@export("autograph.to_code", "contrib.autograph.to_code")
def to_code(
    entity: Any,
    recursive: bool = True,
    arg_values: Any = None,
    arg_types: Any = None,
    indentation: str = "  ",
    experimental_optional_features: Any = None,
) -> str:
    """The source of what `to_graph` makes of a function (tf.autograph.to_code).

    Args:
        entity: a Python function with source, or what tf.function made of one.
        recursive, arg_values, arg_types, indentation, experimental_optional_features: no
            difference.

    Returns:
        The source as text.

    Raises:
        ValueError: there is no source.
    """
    del recursive, arg_values, arg_types, indentation, experimental_optional_features
    function = getattr(entity, "python_function", entity)
    node = _tree(getattr(function, "__func__", function))
    if node is None:
        raise ValueError(f"the source of {function} cannot be found; write it into a file")
    if _can_be_rewritten(node):
        _Statements(node).rewrite()
    return ast.unparse(ast.fix_missing_locations(node))


@export("contrib.autograph.convert")
def convert(
    recursive: bool = False, optional_features: Any = None, user_requested: bool = True
) -> Any:
    """A decorator: what `to_graph` makes of the function (tf.contrib.autograph.convert).

    Args:
        recursive, optional_features, user_requested: no difference.

    Returns:
        The decorator.
    """
    del recursive, optional_features, user_requested
    return to_graph
