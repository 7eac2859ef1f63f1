# SPDX-License-Identifier: Apache-2.0
"""Values of hyperparameters: read from text, and held against the type that a parameter has."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from numbers import Integral, Number
from typing import Any, NoReturn

from ....engine.api import export

# "name=value", "name[3]=value" or "name=[value, value]", with a comma behind it or at the end.
_ASSIGNMENT = re.compile(
    r"(?P<name>[a-zA-Z][\w.]*)(?:\[\s*(?P<index>\d+)\s*\])?\s*=\s*"
    r"(?:(?P<value>[^,\[]*)|\[(?P<list>[^\]]*)\])(?:$|,\s*)"
)
_TEXT = (str, bytes)
_BOOLS = {"true": True, "True": True, "false": False, "False": False}


@export("contrib.training.parse_values")
def parse_values(
    values: str, type_map: Mapping[str, Callable[[str], Any]], ignore_unknown: bool = False
) -> dict[str, Any]:
    """Reads "name=value" pairs with commas between them.

    Args:
        values: the text. A value is a number, `true` or `false`, or a string without commas and
            brackets; `[1,2]` is a list, and `name[1]=3` sets one of a list's values.
        type_map: the type of each name's value, or of its values.
        ignore_unknown: whether names without a type are passed over.

    Returns:
        A dictionary: a value, a list of values, or a dictionary from positions to values for
        each name.

    Raises:
        ValueError: the text is no such list, a name has no type, a value is not of its type, or
            something is set twice.

    Example:
        >>> types = {"rate": float, "sizes": int, "act": str}
        >>> tf.contrib.training.parse_values("rate=.5,sizes=[8,4],act=relu", types)
        {'rate': 0.5, 'sizes': [8, 4], 'act': 'relu'}
    """
    found: dict[str, Any] = {}
    position = 0
    while position < len(values):
        match = _ASSIGNMENT.match(values, position)
        if match is None:
            raise ValueError(f"Malformed hyperparameter value: {values[position:]}")
        position = match.end()
        name = match["name"]
        if name in type_map:
            _assign(found, match, type_map[name], values)
        elif not ignore_unknown:
            raise ValueError(f"Unknown hyperparameter type for {name}")
    return found


def _assign(found: dict[str, Any], match: re.Match[str], kind: object, text: str) -> None:
    """Puts what one pair says into `found`."""
    name, index = match["name"], match["index"]
    if match["list"] is not None:
        if index is not None:
            raise ValueError("Assignment of a list to a list index.")
        if name in found:
            _set_twice(name, text)
        words = [word for word in re.split("[ ,]", match["list"]) if word]
        found[name] = _parsed(name, kind, words, match["list"], text)
        return
    (value,) = _parsed(name, kind, [match["value"]], match["value"], text)
    if index is None:
        if name in found:
            _set_twice(name, text)
        found[name] = value
        return
    entries = found.setdefault(name, {})
    if not isinstance(entries, dict):
        _set_twice(name, text)
    if int(index) in entries:
        _set_twice(f"{name}[{int(index)}]", text)
    entries[int(index)] = value


def _set_twice(name: str, text: str) -> NoReturn:
    raise ValueError(f"Multiple assignments to variable '{name}' in {text}")


def _parsed(name: str, kind: Any, words: Iterable[str], shown: str, text: str) -> list[Any]:
    read = _parse_bool if kind is bool else kind
    try:
        return [read(word) for word in words]
    except ValueError:
        raise ValueError(
            f"Could not parse hparam '{name}' of type '{kind.__name__}' with value '{shown}' in "
            f"{text}"
        ) from None


def _parse_bool(word: str) -> bool:
    return _BOOLS[word] if word in _BOOLS else bool(int(word))


def cast(name: str, kind: type, value: object) -> Any:
    """The value as one of the parameter's type, if nothing is lost by that.

    Raises:
        ValueError: a text is wanted and no text given, or a truth value, whole number or number.
    """
    if type(value) is kind or issubclass(kind, type(None)):
        return value
    unfit = (
        (issubclass(kind, _TEXT) and not isinstance(value, _TEXT))
        or issubclass(kind, bool) != isinstance(value, bool)
        or any(
            issubclass(kind, sort) and not isinstance(value, sort) for sort in (Integral, Number)
        )
    )
    if unfit:
        raise ValueError(f"Could not cast hparam '{name}' of type '{kind}' from value {value!r}")
    convert: Any = kind
    return convert(value)
