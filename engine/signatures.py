# SPDX-License-Identifier: Apache-2.0
"""What programs see of public functions and classes is what TensorFlow 1.15 shows.

Type checkers read the sources.  Libraries that compare or forward signatures at run time expect
no annotations, so published functions lose theirs; and those that look at the bases of a class
expect no private ones, so `without_private_bases` takes them away.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from operator import attrgetter
from types import FunctionType, ModuleType
from typing import Any, TypeVar

Kind = TypeVar("Kind", bound=type)

# Of modules as such, whatever their classes make of it.
_HELD: Any = vars(ModuleType)["__dict__"].__get__
# Attributes that lead from a descriptor to its functions.
_BELOW = ("__func__", "fget", "fset")
# The classes that are done; a base of many is looked at once.
_done: set[type] = {object}


class LateDocumentation:
    """The `__doc__` of a class, and of its objects what `documentation()` says when it is read."""

    def __init__(self, of_class: str | None) -> None:
        self._of_class = of_class

    def __get__(self, function: Any, owner: type) -> str | None:
        return self._of_class if function is None else function.documentation()


# What Python's functions have, and those objects have of `__call__`, which is one.
_OF_FUNCTIONS = ("__code__", "__defaults__", "__kwdefaults__", "__globals__", "__closure__")


class PassesForFunction:
    """Objects with a `__call__` and a `__name__` that libraries take for functions.

    TensorFlow's are functions, and libraries ask: `inspect.isfunction`, packages of decorators.
    """

    __slots__ = ()

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return FunctionType

    def __getattr__(self, name: str) -> Any:
        # No property: a class cannot have one of that name.
        if name == "__qualname__":
            return self.__name__
        if name in _OF_FUNCTIONS:
            return getattr(type(self).__call__, name)
        raise AttributeError(f"{self!r} has no attribute {name!r}")


def published(module: str, name: str) -> Any:
    """What a module holds by a dotted name.

    Functions are reduced to this call, not to their name: writers of YAML take no names.
    """
    return attrgetter(name)(import_module(module))


def held(module: ModuleType) -> dict[str, Any]:
    """What a module holds; `__dict__` of those with public names is more (graph/namespaces.py)."""
    found: dict[str, Any] = _HELD(module)
    return found


def remove_annotations(thing: object, package: str) -> None:
    """Removes what a function, all methods of a class or all functions of a module show."""
    if isinstance(thing, FunctionType):
        _of_function(thing, package)
    elif isinstance(thing, type):
        for base in thing.__mro__:
            if base not in _done and base.__module__.startswith(package):
                _done.add(base)
                _of_members(base, package)
    elif isinstance(thing, ModuleType) and thing.__name__.startswith(package):
        _of_members(thing, package)


def _of_members(owner: type | ModuleType, package: str) -> None:
    members = held(owner) if isinstance(owner, ModuleType) else vars(owner)
    for member in members.values():
        if type(member) is FunctionType:
            _of_function(member, package)
        elif type(member) in (property, classmethod, staticmethod):
            for name in _BELOW:
                _of_function(getattr(member, name, None), package)


def _of_function(function: Callable[..., Any] | None, package: str) -> None:
    # Others' functions are theirs, wherever they are imported to.
    while type(function) is FunctionType and function.__module__.startswith(package):
        # Deleted: an empty dict is made when somebody asks.
        del function.__annotations__
        function = function.__dict__.get("__wrapped__")


def without_private_bases(kind: Kind) -> Kind:
    """Makes what a class has from private bases its own, and its public ancestors its bases.

    Methods of such bases name their own base instead of calling `super()`, which would look for
    the class that is gone.
    """
    for base in kind.__mro__[1:]:
        if _is_private(base):
            for name, member in vars(base).items():
                is_special = name.startswith("__") and type(member) is not FunctionType
                if not is_special and name not in vars(kind):
                    setattr(kind, name, member)
    kind.__bases__ = tuple(_public_bases(kind))
    return kind


def _public_bases(kind: type) -> dict[type, None]:
    """The nearest public ancestors, in order."""
    result: dict[type, None] = {}
    for base in kind.__bases__:
        result.update(_public_bases(base) if _is_private(base) else {base: None})
    return result


def _is_private(kind: type) -> bool:
    return kind.__name__.startswith("_")
