# SPDX-License-Identifier: Apache-2.0
"""Classes of options: attributes that are None until set, checked, and merged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class OptionsBase:
    """Options, each a property made by `create_option`; no other attribute can be set."""

    _options: dict[str, Any]

    def __init__(self) -> None:
        object.__setattr__(self, "_options", {})

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, self.__class__):
            return NotImplemented
        names = {*self._options, *other._options}
        return all(getattr(self, name) == getattr(other, name) for name in names)

    def __ne__(self, other: object) -> bool:
        return not self.__eq__(other) if isinstance(other, self.__class__) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __setattr__(self, name: str, value: object) -> None:
        if getattr(type(self), name, None) is None:
            raise AttributeError(f"Cannot set the property {name} on {type(self).__name__}.")
        object.__setattr__(self, name, value)


def create_option(
    name: str, ty: Any, docstring: str, default_factory: Callable[[], Any] = lambda: None
) -> Any:
    """A property that holds a value of a type, or None.

    Args:
      name: Its name.
      ty: The type; setting anything else raises TypeError.
      docstring: What it means.
      default_factory: Makes what is there before it is set.
    """

    def get(options: OptionsBase) -> Any:
        if name not in options._options:
            options._options[name] = default_factory()
        return options._options[name]

    def put(options: OptionsBase, value: Any) -> None:
        if value is not None and not isinstance(value, ty):
            raise TypeError(
                f'Property "{name}" must be of type {ty}, got: {value!r} (type: {type(value)!r})'
            )
        options._options[name] = value

    return property(get, put, None, docstring)


def merge_options(*options_list: Any) -> Any:
    """Options with what any of several set.

    Raises:
      TypeError: They are of different classes, or no options.
      ValueError: Two set the same option differently, or there are none.
    """
    if not options_list:
        raise ValueError("At least one options should be provided")
    kind = type(options_list[0])
    for options in options_list:
        if not isinstance(options, kind):
            raise TypeError(f"Incompatible options type: {type(options)!r} vs {kind!r}")
    if not isinstance(options_list[0], OptionsBase):
        raise TypeError("The inputs should inherit from `OptionsBase`")
    unset, result = kind(), kind()
    for options in options_list:
        for name in options._options:
            mine, theirs = getattr(result, name), getattr(options, name)
            default = getattr(unset, name)
            if theirs == default:
                continue
            if mine == default:
                setattr(result, name, theirs)
            elif isinstance(mine, OptionsBase):
                setattr(result, name, merge_options(mine, theirs))
            elif mine != theirs:
                raise ValueError(
                    f"Cannot merge incompatible values ({mine!r} and {theirs!r}) of option: {name}"
                )
    return result
