# SPDX-License-Identifier: Apache-2.0
"""Functions that are put together by `|`, `+`, `*` and `**`."""

from __future__ import annotations

import builtins
import importlib
import operator
import re
from collections.abc import Callable as CallableType
from collections.abc import Sequence
from typing import Any

from ....engine.api import constant, export

QUOTED = re.compile(r'"([^"\\]|\\.)*"|' + r"'([^'\\]|\\.)*'")
KEYWORDS = re.compile(r"\b(import|while|def|exec)\b")
exec_ = builtins.exec
constant("contrib.specs.QUOTED", QUOTED)
constant("contrib.specs.KEYWORDS", KEYWORDS)
constant("contrib.specs.exec_", exec_)

debug_ = False
constant("contrib.specs.debug_", debug_)


@export("contrib.specs.check_keywords")
def check_keywords(spec: str) -> None:
    """Raises ValueError for statements that specs do not have, such as `import`."""
    found = KEYWORDS.search(QUOTED.sub("", spec))
    if found:
        raise ValueError(f"keyword '{found[1]}' found in spec")


@export("contrib.specs.get_positional")
def get_positional(
    args: Sequence[Any], kw: dict[str, Any], kw_overrides: bool = False
) -> tuple[Sequence[Any], dict[str, Any]]:
    """Arguments, where those named `_0`, `_1` and so on are put at these places.

    Args:
        args: arguments by place.
        kw: arguments by name.
        kw_overrides: whether those named by a place come before those that are there.

    Returns:
        Arguments by place, and those by name that are left.
    """
    named = {key: value for key, value in kw.items() if key[0] != "_"}
    if len(named) == len(kw):
        return args, kw
    placed = list(args)
    for key, value in kw.items():
        if key[0] != "_":
            continue
        place = int(key[1:])
        placed += [None] * (place + 1 - len(placed))
        if kw_overrides or placed[place] is None:
            placed[place] = value
    return placed, named


@export("contrib.specs.Composable")
class Composable:
    """What is put together; a subclass has `funcall`, the result for an input."""

    def funcall(self, x: Any) -> Any:
        """The result for an input."""
        raise NotImplementedError(f"{type(self).__name__} computes nothing")

    def __or__(self, f: Composable) -> Composition:
        return Composition(self, f)

    def __add__(self, g: Composable) -> Operator:
        return Operator(operator.add, self, g)

    def __mul__(self, g: Composable) -> Operator:
        return Operator(operator.mul, self, g)

    def __pow__(self, n: int) -> Composable:
        if n < 0:
            raise AssertionError(f"a function is applied 0 times or more, not {n}")
        result: Composable = self if n else Function(_same)
        for _ in range(n - 1):
            result = Composition(result, self)
        return result


def _same(x: Any, *unused: Any, **unused_too: Any) -> Any:
    return x


@export("contrib.specs.Callable")
class Callable(Composable):
    """A function of one argument.

    Args:
        f: the function.
    """

    def __init__(self, f: CallableType[[Any], Any]) -> None:
        self.f = f

    def funcall(self, x: Any) -> Any:
        """The function's result."""
        return self.f(x)


@export("contrib.specs.Operator")
class Operator(Composable):
    """An operator on the results that functions have for the same input.

    Args:
        op: the operator.
        args: the functions.
    """

    def __init__(self, op: CallableType[..., Any], *args: Composable) -> None:
        self.op = op
        self.funs = args

    def funcall(self, x: Any) -> Any:
        """The operator's result."""
        return self.op(*[f.funcall(x) for f in self.funs])


@export("contrib.specs.Function")
class Function(Composable):
    """A function with arguments besides the input; calling it gives one with more of them.

    Args:
        f: the function.
        args, kw: its arguments after the input.

    Raises:
        ValueError: it cannot be called.
    """

    def __init__(self, f: CallableType[..., Any], *args: Any, **kw: Any) -> None:
        if not callable(f):
            raise ValueError(f"{f}: is not callable")
        self.f = f
        self.args = list(args)
        self.kw = kw

    def __call__(self, *args: Any, **kw: Any) -> Function:
        return Function(self.f, *args, *self.args, **{**self.kw, **kw})

    def funcall(self, x: Any) -> Any:
        """The function's result."""
        args, kw = get_positional(self.args, self.kw)
        if debug_:
            print("DEBUG:", self.f, x, args, kw)
        return self.f(x, *args, **kw)


@export("contrib.specs.Composition")
class Composition(Composable):
    """A function of another's result.

    Args:
        f: what comes first.
        g: what comes then.
    """

    def __init__(self, f: Composable, g: Composable) -> None:
        self.f = f
        self.g = g

    def funcall(self, x: Any) -> Any:
        """The second function's result."""
        return self.g.funcall(self.f.funcall(x))


@export("contrib.specs.External")
def External(module_name: str, function_name: str) -> Function:
    """A function of a module, by both names."""
    return Function(getattr(importlib.import_module(module_name), function_name))


@export("contrib.specs.Import")
def Import(statements: str) -> Function:
    """The function that statements define as `f`.

    Raises:
        ValueError: they do not.
    """
    found: dict[str, Any] = {}
    exec_(statements, found)
    if "f" not in found:
        raise ValueError(f'failed to define "f": {statements}')
    return Function(found["f"])


@export("contrib.specs.debug")
def debug(mode: bool = True) -> None:
    """Whether calls of functions are printed."""
    global debug_
    debug_ = mode
