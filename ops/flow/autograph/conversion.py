# SPDX-License-Identifier: Apache-2.0
"""Functions as what they become: source found, rewritten (rewriting.py) and compiled once."""

from __future__ import annotations

import ast
import functools
import inspect
import logging
import sys
import textwrap
import types
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

from ....engine.syntax import tree_of
from .jumps import parsed
from .rewriting import Statements, can_be_rewritten, is_wanted, name_super
from .words import RUN

# Packages whose functions are no part of a program.
_LIBRARIES = frozenset(
    "numpy scipy pandas tensorflow numba llvmlite h5py matplotlib PIL six absl pytest "
    "sklearn tensorflow_probability".split()
)
_log = logging.getLogger("tensorflow")
_ROOT = __name__.partition(".")[0]


class Options(NamedTuple):
    """How functions are rewritten.

    Args:
        recursive: whether what they call is rewritten, too.
        features: names of what is rewritten besides (autograph.experimental.Feature).
    """

    recursive: bool = True
    features: frozenset[str] = frozenset()


# Code -> options -> what it became, None if it stays as it is.
_done: weakref.WeakKeyDictionary[types.CodeType, dict[Options, types.CodeType | None]]
_done = weakref.WeakKeyDictionary()
# Code that was made here, with that of functions within.
_made: weakref.WeakSet[types.CodeType] = weakref.WeakSet()


def converted(function: Callable[..., Any], options: Options = Options()) -> Callable[..., Any]:
    """A function, or a bound method, whose control flow may be on tensors.

    Generators, functions without source, and those of packages that are no part of a program
    (numbaflow, NumPy, the standard library) are handed back.
    """
    if isinstance(function, functools.partial):
        inner = converted(function.func, options)
        return functools.partial(inner, *function.args, **function.keywords)
    plain = getattr(function, "__func__", function)
    if not isinstance(plain, types.FunctionType) or not _is_of_program(plain):
        return function
    known = _done.setdefault(plain.__code__, {})
    if options not in known:
        known[options] = _rewritten(plain, options)
    made = known[options]
    if made is None:
        return function
    found = _in_place_of(plain, made, options)
    owner = getattr(function, "__self__", None)
    return found if owner is None else types.MethodType(found, owner)


def _is_of_program(function: types.FunctionType) -> bool:
    module = function.__globals__.get("__name__") or ""
    root = module.partition(".")[0]
    is_library = root == _ROOT or root in _LIBRARIES or root in sys.stdlib_module_names
    is_left = getattr(function, "_no_autograph", False) or function.__code__ in _made
    return not (is_library and module != "__main__") and not is_left


def _rewritten(function: types.FunctionType, options: Options) -> types.CodeType | None:
    code = function.__code__
    if code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        return None
    node = tree(function)
    if node is None or not can_be_rewritten(node) or not is_wanted(node):
        return None
    # What a file of an old program has by this name restores calls of its time in it.
    restored = function.__globals__.get("__restored__")
    if restored is not None:
        node = restored.rewritten(node, code.co_filename)
    try:
        return _compiled(function, rewrite(node, options))
    except SyntaxError as error:
        _log.warning(
            "AutoGraph could not transform %s and will run it as-is.\nCause: %s", function, error
        )
        return None


def rewrite(node: ast.FunctionDef, options: Options) -> ast.FunctionDef:
    """The rewritten function: `node` itself, changed."""
    name_super(node)
    Statements(node, options.features).rewrite()
    return node


def tree(function: types.FunctionType) -> ast.FunctionDef | None:
    """The syntax tree of a function, of a lambda as a function; None without source."""
    code = function.__code__
    try:
        # (Of the code: of a function `inspect` finds what a decorator says that it wraps.)
        source = textwrap.dedent(inspect.getsource(code))
    except (OSError, TypeError):
        return None  # What was typed into a console has no source.
    if code.co_name == "<lambda>":
        return _lambda(function, source)
    try:
        node = tree_of(source).body[0]
    except (SyntaxError, IndexError):
        return None
    if not isinstance(node, ast.FunctionDef):
        return None
    node.decorator_list = []
    return node


def _lambda(function: types.FunctionType, source: str) -> ast.FunctionDef | None:
    """The lambda of a function as `def`, if a statement has one only with its parameters."""
    source = source.strip()
    for text in (source, f"({source}", source.rstrip(",)"), f"f({source}", f"{{{source}}}"):
        try:
            parsed_source = tree_of(text)
        except SyntaxError:
            continue
        break
    else:
        return None
    lambdas = [x for x in ast.walk(parsed_source) if isinstance(x, ast.Lambda)]
    names = inspect.getfullargspec(function).args
    lambdas = [x for x in lambdas if [a.arg for a in x.args.args] == names]
    if len(lambdas) != 1:
        return None
    made = parsed("def _lambda():\n    return 0", lambdas[0])
    assert isinstance(made, ast.FunctionDef), "a function was parsed"
    made.args = lambdas[0].args
    made.body[0].value = lambdas[0].body  # type: ignore[attr-defined]
    return made


def _compiled(function: types.FunctionType, node: ast.FunctionDef) -> types.CodeType:
    """The code of a syntax tree, in the place of a function's."""
    code = function.__code__
    free = [name for name in code.co_freevars if name != RUN]
    # (Under another name: what the program calls by its name need not be the function itself.)
    own, node.name = node.name, "_rewritten"
    lines = f"def _around({', '.join([*free, RUN])}):\n  return {node.name}"
    around = tree_of(lines).body[0]
    assert isinstance(around, ast.FunctionDef), "a function was parsed"
    around.body.insert(0, node)
    outermost: ast.stmt = around
    owner = _class_of(function)
    if owner is not None:
        # (Private names are those of the class around them.)
        outermost = tree_of(f"class {owner}:\n  pass").body[0]
        outermost.body = [around]  # type: ignore[attr-defined]
    module = ast.fix_missing_locations(ast.Module([outermost], []))
    ast.increment_lineno(module, code.co_firstlineno - 1)
    compiled = compile(module, code.co_filename, "exec", dont_inherit=True)
    for name in (*((owner,) if owner is not None else ()), "_around", node.name):
        compiled = next(c for c in _codes_within(compiled) if c.co_name == name)
    node.name = own
    compiled = compiled.replace(co_name=own, co_qualname=function.__code__.co_qualname)
    _made.update(_all_codes(compiled))
    return compiled


def _class_of(function: types.FunctionType) -> str | None:
    """The class in whose body a function stands, if there is one."""
    parts = function.__code__.co_qualname.split(".")
    within = [a for a, b in zip(parts, parts[1:]) if "<locals>" not in (a, b)]
    return within[-1] if within else None


def _codes_within(code: types.CodeType) -> list[types.CodeType]:
    return [c for c in code.co_consts if isinstance(c, types.CodeType)]


def _all_codes(code: types.CodeType) -> list[types.CodeType]:
    return [code, *(found for c in _codes_within(code) for found in _all_codes(c))]


def _in_place_of(
    function: types.FunctionType, code: types.CodeType, options: Options
) -> types.FunctionType:
    """A function of other code with everything else of a function's."""
    from .calls import Calls

    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
    cells[RUN] = types.CellType(Calls(options))
    closure = tuple(cells[name] for name in code.co_freevars)
    found = types.FunctionType(
        code, function.__globals__, function.__name__, function.__defaults__, closure
    )
    found.__kwdefaults__ = function.__kwdefaults__
    functools.update_wrapper(found, function)
    return found
