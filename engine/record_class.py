# SPDX-License-Identifier: Apache-2.0
"""Data classes whose methods cost nothing until they are used.

Python's decorator writes and compiles the text of up to six methods for each class, which takes a
seventh of the time of a short program that has some hundred of them.  Here all classes share most
methods, and a class gets its `__init__` when its first instance is made.  Fields are Python's own:
`dataclasses.replace`, `fields` and `asdict` work as with its classes.
Imports nothing from the package.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as record
else:

    def record(
        cls: type | None = None,
        /,
        *,
        eq: bool = True,
        repr: bool = True,
        frozen: bool = False,
        slots: bool = False,
    ) -> Any:
        """As `dataclasses.dataclass` with these arguments."""

        def made(cls: type) -> type:
            return _equipped(cls, eq, repr, frozen, slots)

        return made if cls is None else made(cls)


def _equipped(cls: type, eq: bool, has_repr: bool, frozen: bool, slots: bool) -> type:
    own, bare = dict(vars(cls)), {"init": False, "repr": False, "eq": False}
    cls = dataclasses.dataclass(cls, slots=slots, **bare)
    fields = dataclasses.fields(cls)
    added: dict[str, Any] = {"__init__": _init(cls, frozen, slots)}
    if has_repr:
        added["__repr__"] = _repr(field.name for field in fields if field.repr)
    if own.get("__hash__") is None and "__eq__" in own:
        del own["__hash__"]  # which Python put there
    if eq:
        compared = _values(field.name for field in fields if field.compare)
        added["__eq__"] = _eq(compared)
        added["__hash__"] = (lambda self: hash(compared(self))) if frozen else None
    if frozen:
        added |= _constancy(cls, frozenset(field.name for field in fields))
        if slots:
            added |= _state([field.name for field in fields])
    for name, method in added.items():
        if name not in own:
            setattr(cls, name, method)
    return cls


def _values(names: Iterable[str]) -> Callable[[Any], tuple[Any, ...]]:
    """What gives the values of these attributes."""
    match list(names):
        case []:
            return lambda self: ()
        case [name]:
            return lambda self: (getattr(self, name),)
        case several:
            return attrgetter(*several)


def _repr(names: Iterable[str]) -> Callable[[Any], str]:
    shown = tuple(names)

    def text(self: Any) -> str:
        values = ", ".join(f"{name}={getattr(self, name)!r}" for name in shown)
        return f"{type(self).__qualname__}({values})"

    @cache
    def guarded() -> Callable[[Any], str]:
        from reprlib import recursive_repr

        return recursive_repr()(text)

    return lambda self: guarded()(self)


def _eq(values: Callable[[Any], tuple[Any, ...]]) -> Callable[[Any, object], Any]:
    def __eq__(self: Any, other: object) -> bool:
        if other.__class__ is self.__class__:
            return values(self) == values(other)
        return NotImplemented

    return __eq__


def _constancy(cls: Any, names: frozenset[str]) -> dict[str, Any]:
    """Methods that refuse to change fields, and classes of no other fields altogether."""

    def __setattr__(self: Any, name: str, value: object) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def __delattr__(self: Any, name: str) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    return {"__setattr__": __setattr__, "__delattr__": __delattr__}


def _state(names: list[str]) -> dict[str, Any]:
    """Methods that copying needs where attributes can't be set."""

    def __getstate__(self: Any) -> list[Any]:
        return [getattr(self, name) for name in names]

    def __setstate__(self: Any, state: list[Any]) -> None:
        for name, value in zip(names, state, strict=True):
            object.__setattr__(self, name, value)

    return {"__getstate__": __getstate__, "__setstate__": __setstate__}


def _init(cls: type, frozen: bool, slots: bool) -> Callable[..., None]:
    """Makes way for the method itself when it is first called."""

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        written = _written_init(cls, frozen, slots)
        if vars(cls).get("__init__") is __init__:
            cls.__init__ = written  # type: ignore[misc]
        written(self, *args, **kwargs)

    return __init__


def _written_init(cls: type, frozen: bool, slots: bool) -> Callable[..., None]:
    """An `__init__` that sets the fields, from its text."""
    names: dict[str, Any] = {"_absent": dataclasses.MISSING}
    parameters, lines = ["self"], []
    for field in dataclasses.fields(cls):
        name, has_factory = field.name, field.default_factory is not dataclasses.MISSING
        has_default = field.default is not dataclasses.MISSING
        names[f"_default_{name}"] = field.default_factory if has_factory else field.default
        value = name
        if not field.init:
            # Without slots the class has the value itself.
            if not has_factory and not (slots and has_default):
                continue
            value = f"_default_{name}" + ("()" if has_factory else "")
        elif has_factory:
            parameters.append(f"{name}=_absent")
            value = f"_default_{name}() if {name} is _absent else {name}"
        else:
            parameters.append(f"{name}=_default_{name}" if has_default else name)
        if frozen and slots:
            names[f"_set_{name}"] = getattr(cls, name).__set__
            lines.append(f"_set_{name}(self, {value})")
        else:
            lines.append(f"_own[{name!r}] = {value}" if frozen else f"self.{name} = {value}")
    if frozen and not slots:
        lines.insert(0, "_own = self.__dict__")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    text = "\n ".join([f"def __init__({', '.join(parameters)}):", *(lines or ["pass"])])
    exec(text, names)  # noqa: S102 - our own text, of the names of attributes
    written: Callable[..., None] = names["__init__"]
    written.__qualname__ = f"{cls.__qualname__}.__init__"
    return written
