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
# handler(function, args, keywords) -> the result, or NotImplemented.
Handler = Callable[[Callable[..., Any], tuple[Any, ...], dict[str, Any]], Any]

_HANDLERS: list[Handler] = []


def register_handler(handler: Handler) -> None:
    """Has a handler asked what to do with arguments that functions refuse."""
    _HANDLERS.append(handler)


def handled(function: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """What a handler makes of a call that was refused; NotImplemented where none does."""
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
            if not _HANDLERS:
                raise
            result = handled(wrapper, args, keywords)
            if result is NotImplemented:
                raise
            return result

    wrapper.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    return wrapper  # type: ignore[return-value]
