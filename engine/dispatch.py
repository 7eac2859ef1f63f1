# SPDX-License-Identifier: Apache-2.0
"""Functions of tensors that also take objects which are no tensors, such as ragged ones.

A function is tried as it is.  Where it refuses its arguments, those who know such objects are
asked whether they have another way to do the same; TensorFlow 1.15 goes about it in this order.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


class OpDispatcher:
    """What a program does with arguments of one function that this refuses.

    `handle` gives a result, or NOT_SUPPORTED.
    """

    NOT_SUPPORTED = object()

    def handle(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result of a call with such arguments."""
        del args, kwargs
        return self.NOT_SUPPORTED

    def register(self, op: Callable[..., Any]) -> None:
        """Has it asked about calls of a function.

        Raises:
            AssertionError: the function asks nobody.
        """
        if not hasattr(op, "_tf_dispatchers"):
            raise AssertionError(f"Dispatching not enabled for {op}")
        op._tf_dispatchers.append(self)


class Dispatchers:
    """An attribute of functions that make an op of a type: what is registered for that type."""

    def __get__(self, function: Any, owner: type | None = None) -> Any:
        return self if function is None else _OF_OPS.setdefault(function._type, [])

    def __set__(self, function: Any, dispatchers: list[OpDispatcher]) -> None:
        _OF_OPS[function._type] = dispatchers


# handler(function, args, keywords) -> the result, or NotImplemented.
Handler = Callable[[Callable[..., Any], tuple[Any, ...], dict[str, Any]], Any]

_HANDLERS: list[Handler] = []
# What programs registered for ops by type, whatever function calls these.
_OF_OPS: dict[str, list[OpDispatcher]] = {}


def register_handler(handler: Handler) -> None:
    """Has a handler asked what to do with arguments that functions refuse."""
    _HANDLERS.append(handler)


def handled(function: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """What a handler makes of a call that was refused; NotImplemented where none does."""
    for dispatcher in getattr(function, "_tf_dispatchers", ()):
        result = dispatcher.handle(args, keywords)
        if result is not OpDispatcher.NOT_SUPPORTED:
            return result
    for handler in _HANDLERS:
        result = handler(function, args, keywords)
        if result is not NotImplemented:
            return result
    return NotImplemented


def dispatched(function: F) -> F:
    """The function, with handlers asked about arguments that it refuses.

    Whoever asks sees the arguments of the function itself, as of those that TensorFlow decorates.
    """
    # As all published functions, it loses them (engine/signatures.py), and so here already.
    del function.__annotations__

    @functools.wraps(function)
    def wrapper(*args: Any, **keywords: Any) -> Any:
        try:
            return function(*args, **keywords)
        except (TypeError, ValueError):
            result = handled(wrapper, args, keywords)
            if result is NotImplemented:
                raise
            return result

    wrapper._tf_dispatchers = []  # type: ignore[attr-defined]
    wrapper.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    return wrapper  # type: ignore[return-value]
