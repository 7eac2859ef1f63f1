# SPDX-License-Identifier: Apache-2.0
"""What one or two operators give as another one: tables by classes, and their lookup."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from ....engine.graph.graph import name_scope

_Function = Callable[..., Any]
_Table = dict[tuple[type, ...], _Function]
_ADJOINTS: _Table = {}
_CHOLESKY_DECOMPS: _Table = {}
_MATMUL: _Table = {}
_SOLVE: _Table = {}
_INVERSES: _Table = {}


def _registered(table: _Table, *kinds: type) -> _Function | None:
    """The function of the nearest base classes: of the least sum of steps up to them."""
    from . import rules

    rules.register()

    ways = itertools.product(*(enumerate(kind.__mro__) for kind in kinds))
    found = [way for way in ways if tuple(base for _, base in way) in table]
    if not found:
        return None
    nearest = min(found, key=lambda way: sum(steps for steps, _ in way))
    return table[tuple(base for _, base in nearest)]


def _registered_adjoint(type_a: type) -> _Function | None:
    return _registered(_ADJOINTS, type_a)


def _registered_cholesky(type_a: type) -> _Function | None:
    return _registered(_CHOLESKY_DECOMPS, type_a)


def _registered_matmul(type_a: type, type_b: type) -> _Function | None:
    return _registered(_MATMUL, type_a, type_b)


def _registered_solve(type_a: type, type_b: type) -> _Function | None:
    return _registered(_SOLVE, type_a, type_b)


def _registered_inverse(type_a: type) -> _Function | None:
    return _registered(_INVERSES, type_a)


def _of_one(table: _Table, word: str, scope: str, operator: Any, name: str | None) -> Any:
    function = _registered(table, type(operator))
    if function is None:
        raise ValueError(f"No {word} registered for {type(operator)}")
    with name_scope(name, scope):
        return function(operator)


def _of_two(table: _Table, word: str, a: Any, b: Any, name: str | None) -> Any:
    function = _registered(table, type(a), type(b))
    if function is None:
        raise ValueError(f"No {word} registered for {type(a)}.{word}({type(b)})")
    with name_scope(name, word.capitalize()):
        return function(a, b)


def adjoint(lin_op_a: Any, name: str | None = None) -> Any:
    """The conjugate transpose of an operator."""
    return _of_one(_ADJOINTS, "adjoint", "Adjoint", lin_op_a, name)


def cholesky(lin_op_a: Any, name: str | None = None) -> Any:
    """The Cholesky factor of an operator."""
    return _of_one(_CHOLESKY_DECOMPS, "cholesky decomposition", "Cholesky", lin_op_a, name)


def inverse(lin_op_a: Any, name: str | None = None) -> Any:
    """The inverse of an operator."""
    return _of_one(_INVERSES, "inverse", "Inverse", lin_op_a, name)


def matmul(lin_op_a: Any, lin_op_b: Any, name: str | None = None) -> Any:
    """The product of two operators."""
    return _of_two(_MATMUL, "matmul", lin_op_a, lin_op_b, name)


def solve(lin_op_a: Any, lin_op_b: Any, name: str | None = None) -> Any:
    """The product of an operator's inverse and another operator."""
    return _of_two(_SOLVE, "solve", lin_op_a, lin_op_b, name)


class _Register:
    """Decorates the function for a class, or for two of them; ValueError if there is one."""

    _table: _Table
    _word: str
    _argument: str

    def __init__(self, *kinds: type) -> None:
        self._key = kinds

    def __call__(self, function: _Function) -> _Function:
        if not callable(function):
            raise TypeError(f"{self._argument} must be callable, received: {function}")
        if self._key in self._table:
            names = ", ".join(kind.__name__ for kind in self._key)
            whose = f" to: {self._table[self._key]}" if len(self._key) == 1 else "."
            raise ValueError(f"{self._word}({names}) has already been registered{whose}")
        self._table[self._key] = function
        return function


class RegisterAdjoint(_Register):
    """Decorates the function that makes the adjoint of a class."""

    _table, _word, _argument = _ADJOINTS, "Adjoint", "adjoint_fn"


class RegisterCholesky(_Register):
    """Decorates the function that makes the Cholesky factor of a class."""

    _table, _word, _argument = _CHOLESKY_DECOMPS, "Cholesky", "cholesky_fn"


class RegisterMatmul(_Register):
    """Decorates the function that multiplies two classes."""

    _table, _word, _argument = _MATMUL, "Matmul", "matmul_fn"


class RegisterSolve(_Register):
    """Decorates the function that multiplies the inverse of one class with another one."""

    _table, _word, _argument = _SOLVE, "Solve", "solve_fn"


class RegisterInverse(_Register):
    """Decorates the function that makes the inverse of a class."""

    _table, _word, _argument = _INVERSES, "Inverse", "inverse_fn"
