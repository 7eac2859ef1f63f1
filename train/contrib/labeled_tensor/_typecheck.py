# SPDX-License-Identifier: Apache-2.0
"""Checks of what functions are given and return, by types that can be nested.

The name is that of TensorFlow's module, by which programs catch its `Error`.
"""

from __future__ import annotations

import functools
import inspect
from collections import abc
from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

# Class -> how messages call it.
_ABBREVIATIONS: dict[type, str] = {}


class Error(TypeError):
    """An argument or a result is not of its type."""


class Type:
    """A type made of others; `isinstance` can be asked of it."""

    def __init__(self, *types: Any) -> None:
        self._types = types

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(describe(item) for item in self._types)})"

    def __instancecheck__(self, instance: object) -> bool:
        return self.admits(instance)

    def admits(self, value: Any) -> bool:
        """Whether a value is of this type."""
        raise NotImplementedError


class Union(Type):
    """Any of some types."""

    def admits(self, value: Any) -> bool:
        """Whether a value is of one of the types."""
        return any(isinstance(value, item) for item in self._types)


class Optional(Type):
    """A type or None."""

    def admits(self, value: Any) -> bool:
        """Whether a value is None or of the type."""
        return value is None or isinstance(value, self._types[0])


class _Elements(Type):
    """A container of elements of one type."""

    containers: tuple[type, ...] = ()

    def admits(self, value: Any) -> bool:
        """Whether a value is such a container, and its elements are of the type."""
        fits = all(isinstance(value, container) for container in self.containers)
        return fits and all(isinstance(item, self._types[0]) for item in value)


class List(_Elements):
    """A list whose elements are of one type."""

    containers = (list,)


class Sequence(_Elements):
    """A sequence whose elements are of one type."""

    containers = (abc.Sequence,)


class Collection(_Elements):
    """What has a length and can be gone through again, with elements of one type."""

    containers = (abc.Iterable, abc.Sized, abc.Container)


class Tuple(Type):
    """A tuple with a type for each element."""

    def admits(self, value: Any) -> bool:
        """Whether a value is a tuple as long as this, and its elements are of their types."""
        if not isinstance(value, tuple) or len(value) != len(self._types):
            return False
        return all(isinstance(item, kind) for item, kind in zip(value, self._types))


class Mapping(Type):
    """A mapping with a type for keys and one for values."""

    container: type = abc.Mapping

    def admits(self, value: Any) -> bool:
        """Whether a value is such a mapping."""
        if not isinstance(value, self.container):
            return False
        key, item = self._types
        assert isinstance(value, abc.Mapping)
        return all(isinstance(k, key) and isinstance(v, item) for k, v in value.items())


class Dict(Mapping):
    """A dict with a type for keys and one for values."""

    container = dict


def register_type_abbreviation(name: type, alias: str) -> None:
    """Says how messages are to call a class."""
    _ABBREVIATIONS[name] = alias


def describe(kind: Any) -> str:
    """A type as messages show it."""
    if isinstance(kind, Type):
        return repr(kind)
    if kind in _ABBREVIATIONS:
        return _ABBREVIATIONS[kind]
    module = kind.__module__
    return kind.__qualname__ if module == "builtins" else f"{module}.{kind.__qualname__}"


def _check(value: Any, kind: Any, function: object) -> None:
    if not isinstance(value, kind):
        raise Error(
            f"{value!r} of type {type(value)!r} is not an instance of the allowed type "
            f"{describe(kind)} for {function!r}"
        )


def accepts(*types: Any) -> Callable[[F], F]:
    """A decorator that checks arguments given by position.

    Args:
        types: of all parameters, in order; `object` for what may be anything.

    Returns:
        A decorator.  It raises Error where it is used, if the types are not as many as the
        parameters or a default is not of its type; the decorated function raises it when it is
        called with an argument of another type.
    """

    def decorate(function: F) -> F:
        parameters = inspect.signature(function).parameters.values()
        if len(parameters) != len(types):
            raise Error(
                f"Function {function!r} has {len(parameters)} arguments but only {len(types)} "
                "types were provided in the annotation."
            )
        for parameter, kind in zip(parameters, types):
            if parameter.default is not parameter.empty:
                _check(parameter.default, kind, function)

        @functools.wraps(function)
        def checked(*args: Any, **kwargs: Any) -> Any:
            for value, kind in zip(args, types):
                _check(value, kind, function)
            return function(*args, **kwargs)

        return checked  # type: ignore[return-value]

    return decorate


def returns(*types: Any) -> Callable[[F], F]:
    """A decorator that checks what a function returns.

    Args:
        types: of the result, or of each of the results.

    Returns:
        A decorator; the decorated function raises Error when it returns something else.

    Raises:
        TypeError: no type is given.
    """
    if not types:
        raise TypeError("A return type annotation must contain at least one type")

    def decorate(function: F) -> F:
        @functools.wraps(function)
        def checked(*args: Any, **kwargs: Any) -> Any:
            result = function(*args, **kwargs)
            results = (result,) if len(types) == 1 else result
            if len(results) != len(types):
                raise Error(
                    f"Function {function!r} has {len(results)} return values but only "
                    f"{len(types)} types were provided in the annotation."
                )
            for value, kind in zip(results, types):
                _check(value, kind, function)
            return result

        return checked  # type: ignore[return-value]

    return decorate
