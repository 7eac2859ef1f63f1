# SPDX-License-Identifier: Apache-2.0
"""`tensorflow.python.util.dispatch`: what programs have functions do with classes of their own."""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable
from typing import Any

from ...engine.dispatch import OpDispatcher, handled

DISPATCH_ATTR = "_tf_dispatchers"
Function = Callable[..., Any]


class _ByType(OpDispatcher):
    """Calls a function for arguments of some classes, or lists of such."""

    def __init__(self, function: Function, types: tuple[type, ...]) -> None:
        self._function, self._types = function, types

    def handle(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if any(map(self._is_mine, itertools.chain(args, kwargs.values()))):
            return self._function(*args, **kwargs)
        return self.NOT_SUPPORTED

    def _is_mine(self, value: object) -> bool:
        parts = value if isinstance(value, (list, tuple)) else ()
        return isinstance(value, self._types) or any(isinstance(x, self._types) for x in parts)


def _parameters(function: Function) -> list[tuple[Any, ...]]:
    parameters = inspect.signature(function).parameters.values()
    return [(each.name, each.kind, each.default) for each in parameters]


def dispatch(op: Function, *args: Any, **kwargs: Any) -> Any:
    """What those who are registered for a function make of arguments, or NOT_SUPPORTED."""
    result = handled(op, args, kwargs)
    return OpDispatcher.NOT_SUPPORTED if result is NotImplemented else result


def dispatch_for_types(op: Function, *types: type) -> Callable[[Function], Function]:
    """Decorates what a function is to do with objects of some classes, alone or in lists.

    Args:
        op: the function.
        types: the classes.

    Returns:
        The decorator.  It raises AssertionError where the parameters are not those of `op`, or
        where `op` asks nobody.

    Example:
        >>> class Scaled:
        ...     def __init__(self, tensor, factor):
        ...         self.tensor, self.factor = tensor, factor
        >>> @dispatch_for_types(tf.add, Scaled)
        ... def add(x, y, name=None):
        ...     return x.tensor * x.factor + y.tensor * y.factor
        >>> with tf.Session() as session:
        ...     session.run(tf.add(Scaled(tf.constant(2.0), 3.0), Scaled(tf.constant(1.0), 4.0)))
        10.0
    """

    def decorated(function: Function) -> Function:
        if _parameters(function) != _parameters(op):
            raise AssertionError(
                "The decorated function's signature must exactly match the signature of the "
                "overridden op."
            )
        _ByType(function, types).register(op)
        return function

    return decorated


def add_dispatch_list(target: Function) -> Function:
    """Has others register for a function that asks them itself; AssertionError if they can."""
    if hasattr(target, DISPATCH_ATTR):
        raise AssertionError(f"{target} already has a dispatch list")
    target._tf_dispatchers = []  # type: ignore[attr-defined]
    return target


def add_dispatch_support(target: Function) -> Function:
    """A function that asks others about arguments that it refuses."""

    @functools.wraps(target)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        try:
            return target(*args, **kwargs)
        except (TypeError, ValueError):
            result = dispatch(wrapper, *args, **kwargs)
            if result is OpDispatcher.NOT_SUPPORTED:
                raise
            return result

    return add_dispatch_list(wrapper)
