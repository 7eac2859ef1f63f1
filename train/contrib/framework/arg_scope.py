# SPDX-License-Identifier: Apache-2.0
"""Argument scopes: defaults for the arguments of functions that are called within a `with`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from ....engine.api import export

F = TypeVar("F", bound=Callable[..., Any])
# Key of a function -> its arguments in this scope.
Scope = dict[str, dict[str, Any]]

_stack: list[Scope] = [{}]
# Key of a function -> the names of its arguments that have defaults.
_decorated: dict[str, tuple[str, ...]] = {}


@export("contrib.framework.current_arg_scope")
def current_arg_scope() -> Scope:
    """The scope that holds now: a dict of the keys of functions and their arguments."""
    if not _stack:
        _stack.append({})
    return _stack[-1]


def arg_scope_func_key(op: Callable[..., Any]) -> str:
    """What stands for a function in scopes."""
    key: str = getattr(op, "_key_op", str(op))
    return key


def _names_with_defaults(function: Callable[..., Any]) -> tuple[str, ...]:
    code = function.__code__
    count = len(function.__defaults__ or ())  # type: ignore[attr-defined]
    # TensorFlow takes the last `count` names of all, and for none all of them.
    return tuple(code.co_varnames[-count : code.co_argcount])


@export("contrib.framework.arg_scope")
@contextmanager
def arg_scope(list_ops_or_scope: Sequence[Any] | Scope, **kwargs: Any) -> Iterator[Scope]:
    """A context in which calls of functions have other defaults.

    What a call gives itself goes first.  The innermost of several scopes goes before the others.

    Args:
        list_ops_or_scope: functions decorated with `add_arg_scope`; or a scope, as the context
            manager gives one, which then holds again instead of all that hold now.
        **kwargs: the arguments.

    Returns:
        A context manager, whose value is the scope.

    Raises:
        TypeError: `list_ops_or_scope` is neither a list, a tuple nor a dict.
        ValueError: a function is not decorated with `add_arg_scope`, or there are arguments beside
            a scope.

    Example:
        >>> model_variable = tf.contrib.framework.model_variable
        >>> with tf.contrib.framework.arg_scope([model_variable], shape=[2, 3]):
        ...     print(model_variable("w").shape)
        (2, 3)
    """
    _stack.append(_opened(list_ops_or_scope, kwargs))
    try:
        yield _stack[-1]
    finally:
        _stack.pop()


def _opened(functions: Sequence[Any] | Scope, arguments: dict[str, Any]) -> Scope:
    if isinstance(functions, dict):
        if arguments:
            raise ValueError(
                "When attempting to re-use a scope by suppling adictionary, kwargs must be empty."
            )
        return functions.copy()
    if not isinstance(functions, (list, tuple)):
        raise TypeError("list_ops_or_scope must either be a list/tuple or reused scope (i.e. dict)")
    scope = current_arg_scope().copy()
    for function in functions:
        if not has_arg_scope(function):
            name = (
                getattr(function, "__module__", None),
                getattr(function, "__name__", repr(function)),
            )
            raise ValueError(f"{name} is not decorated with @add_arg_scope")
        key = arg_scope_func_key(function)
        scope[key] = {**scope.get(key, {}), **arguments}
    return scope


@export("contrib.framework.add_arg_scope")
def add_arg_scope(func: F) -> F:
    """A decorator: scopes of `arg_scope` may give a function's arguments.

    Args:
        func: the function.

    Returns:
        The function, which asks the scope that holds when it is called.

    Example:
        >>> @tf.contrib.framework.add_arg_scope
        ... def scaled(x, by=1.0):
        ...     return x * by
        >>> with tf.contrib.framework.arg_scope([scaled], by=3.0):
        ...     print(scaled(2.0))
        6.0
    """
    key = arg_scope_func_key(func)

    @functools.wraps(func)
    def with_scope(*args: Any, **kwargs: Any) -> Any:
        defaults = current_arg_scope().get(key)
        return func(*args, **({**defaults, **kwargs} if defaults else kwargs))

    _decorated[key] = _names_with_defaults(func)
    with_scope._key_op = key  # type: ignore[attr-defined]
    return with_scope  # type: ignore[return-value]


@export("contrib.framework.has_arg_scope")
def has_arg_scope(func: Callable[..., Any]) -> bool:
    """Whether a function is decorated with `add_arg_scope`."""
    return arg_scope_func_key(func) in _decorated


@export("contrib.framework.arg_scoped_arguments")
def arg_scoped_arguments(func: Callable[..., Any]) -> tuple[str, ...]:
    """The names of the arguments of a decorated function that have defaults.

    Raises:
        AssertionError: the function is not decorated with `add_arg_scope`.
    """
    if not has_arg_scope(func):
        raise AssertionError(f"{func} is not decorated with @add_arg_scope")
    return _decorated[arg_scope_func_key(func)]
