# SPDX-License-Identifier: Apache-2.0
"""Objects as names and dictionaries, and back: what configurations of Keras consist of."""

from __future__ import annotations

import inspect
import marshal
import sys
import types
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ContextDecorator
from typing import Any

_custom: dict[str, Any] = {}


class CustomObjectScope(ContextDecorator):
    """A context in which further names are known; dicts of name -> object."""

    def __init__(self, *args: dict[str, Any]) -> None:
        self.custom_objects = args
        self.backup: dict[str, Any] = {}

    def __enter__(self) -> CustomObjectScope:
        self.backup = dict(_custom)
        for objects in self.custom_objects:
            _custom.update(objects or {})
        return self

    def __exit__(self, *args: Any) -> None:
        _custom.clear()
        _custom.update(self.backup)


def custom_object_scope(*args: dict[str, Any]) -> CustomObjectScope:
    """A context in which further names are known; dicts of name -> object."""
    return CustomObjectScope(*args)


def get_custom_objects() -> dict[str, Any]:
    """The classes and functions that programs gave names to; to be changed in place."""
    return _custom


def serialize_keras_object(instance: Any) -> Any:
    """An object as a dict of class_name and config, a function as its name, None as None.

    Raises:
        ValueError: it has neither a configuration nor a name.
    """
    if instance is None:
        return None
    if hasattr(instance, "get_config"):
        return {"class_name": type(instance).__name__, "config": instance.get_config()}
    if hasattr(instance, "__name__"):
        return instance.__name__
    raise ValueError("Cannot serialize", instance)


def deserialize_keras_object(
    identifier: Any,
    module_objects: Mapping[str, Any] | None = None,
    custom_objects: dict[str, Any] | None = None,
    printable_module_name: str = "object",
) -> Any:
    """The object that a name or a dict describes.

    Args:
        identifier: None, a name, or a dict of class_name and config.
        module_objects: name -> object.
        custom_objects: names that come before these.
        printable_module_name: what errors call such an object.

    Raises:
        ValueError: there is no such name, or the description is none.
    """
    if identifier is None:
        return None
    known = {**(module_objects or {}), **_custom, **(custom_objects or {})}
    if isinstance(identifier, str):
        if known.get(identifier) is None:
            raise ValueError(f"Unknown {printable_module_name}:{identifier}")
        found = known[identifier]
        return found() if inspect.isclass(found) else found
    if not isinstance(identifier, dict):
        raise ValueError(f"Could not interpret serialized {printable_module_name}: {identifier}")
    if "class_name" not in identifier or "config" not in identifier:
        raise ValueError(f"Improper config format: {identifier}")
    name, config = identifier["class_name"], identifier["config"]
    made = known.get(name)
    if made is None:
        raise ValueError(f"Unknown {printable_module_name}: {name}")
    if not hasattr(made, "from_config"):
        with CustomObjectScope(custom_objects or {}):
            return made(**config)
    if "custom_objects" in inspect.signature(made.from_config).parameters:
        return made.from_config(config, custom_objects={**_custom, **(custom_objects or {})})
    with CustomObjectScope(custom_objects or {}):
        return made.from_config(config)


class Family(Mapping[str, Any]):
    """Objects of one kind by their names.

    Args:
        what: what errors call such an object.
        objects: name -> object, or a function that makes this dict when it is needed.
    """

    def __init__(self, what: str, objects: Mapping[str, Any] | Callable[[], Mapping[str, Any]]):
        self._what = what
        self._objects = objects

    def _all(self) -> Mapping[str, Any]:
        return self._objects() if callable(self._objects) else self._objects

    def __getitem__(self, name: str) -> Any:
        return self._all()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def deserialize(self, config: Any, custom_objects: dict[str, Any] | None = None) -> Any:
        """The object that a name or a dict describes; ValueError if there is none."""
        return deserialize_keras_object(config, self, custom_objects, self._what)

    def get(self, identifier: Any, otherwise: Any = None) -> Any:  # type: ignore[override]
        """The object that an argument means: its name, its description or itself.

        Raises:
            ValueError: it is something else.
        """
        if identifier is None:
            return otherwise
        if isinstance(identifier, str):
            return self.deserialize(identifier)
        if isinstance(identifier, dict):
            return self.deserialize(identifier)
        if callable(identifier):
            return identifier
        raise ValueError(f"Could not interpret {self._what} identifier: {identifier}")


def by_name(*objects: Any, **others: Any) -> dict[str, Any]:
    """Objects by the names that they have themselves, and others by given ones."""
    return {**{x.__name__: x for x in objects}, **others}


def serialized(instance: Any, names: Iterable[str]) -> dict[str, Any]:
    """Some attributes as a configuration has them: objects are described, other values stay."""
    return {name: _described(getattr(instance, name)) for name in names}


def _described(value: Any) -> Any:
    if callable(value) or hasattr(value, "get_config"):
        return serialize_keras_object(value)
    return value


def function_config(function: Any) -> tuple[Any, str, str | None]:
    """A function of Python's as its code, another by its name; how, and its module."""
    if isinstance(function, types.FunctionType):
        # (Later versions of the format note which objects others refer to at the moment.)
        code = b64encode(marshal.dumps(function.__code__, 2)).decode("ascii")
        cells = function.__closure__
        closure = tuple(cell.cell_contents for cell in cells) if cells else None
        return [code, function.__defaults__, closure], "lambda", function.__module__
    if hasattr(function, "__name__"):
        return function.__name__, "function", function.__module__
    raise ValueError("Cannot serialize", function)


def function_of(given: Any, kind: str, module: str | None, custom_objects: Any) -> Any:
    """The function that `function_config` told of; what is no function as it is."""
    if kind == "function":
        return deserialize_keras_object(
            given, vars(sys.modules.get(module or "", types)), custom_objects, "function in Lambda"
        )
    if kind != "lambda":
        return tuple(given) if isinstance(given, list) else given
    code, defaults, closure = given
    loaded = marshal.loads(b64decode(code))
    cells = tuple(types.CellType(value) for value in closure) if closure else None
    scope = vars(sys.modules.get(module or "", sys.modules["__main__"]))
    defaults = tuple(defaults) if isinstance(defaults, list) else defaults
    return types.FunctionType(loaded, scope, loaded.co_name, defaults, cells)
