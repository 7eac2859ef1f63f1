# SPDX-License-Identifier: Apache-2.0
"""Names that can be imported and not be used: each fails with its name when it is called."""

from __future__ import annotations

import abc
from typing import Any, NoReturn


def absent(name: str, instead: str = "") -> Any:
    """A class that raises NotImplementedError when it is called; other classes may inherit it.

    Its constants (`X.SUM`), which stand as defaults in libraries' signatures, are absent, too.

    Args:
        name: what it stands for.
        instead: what programs may use, as the end of a sentence.

    Returns:
        The class.

    Example:
        >>> absent("tf.Unheard")()
        Traceback (most recent call last):
        NotImplementedError: tf.Unheard is not in numbaflow
    """

    def fail(cls: type, *args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(f"{name} is not in numbaflow{instead}")

    last = name.rpartition(".")[2]
    return _Kind(last, (), {"__new__": fail, "__doc__": "Not here.", "_absent": (name, instead)})


def is_absent(thing: object) -> bool:
    """Whether something is such a class."""
    return isinstance(thing, _Kind)


class _Kind(abc.ABCMeta):
    """What classes that are not here are; abstract classes may inherit them, too."""

    _absent: tuple[str, str]

    def __getattr__(cls, name: str) -> Any:
        if not name.isupper():
            raise AttributeError(f"type object {cls.__name__!r} has no attribute {name!r}")
        path, instead = cls._absent
        return absent(f"{path}.{name}", instead)
