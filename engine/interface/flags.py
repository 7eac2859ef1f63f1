# SPDX-License-Identifier: Apache-2.0
"""`tf.flags` and `tf.app`: absl's flags, with TensorFlow's argument names and lenient parsing."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

from absl import flags as _absl
from absl.flags import *  # noqa: F403

_absl.disclaim_key_flags()

_OLD_NAMES = {"flag_name": "name", "default_value": "default", "docstring": "help"}


def _accept_old_names(define: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(define)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return define(*args, **{_OLD_NAMES.get(key, key): v for key, v in kwargs.items()})

    return wrapper


DEFINE_string = _accept_old_names(_absl.DEFINE_string)
DEFINE_boolean = _accept_old_names(_absl.DEFINE_boolean)
DEFINE_bool = DEFINE_boolean
DEFINE_float = _accept_old_names(_absl.DEFINE_float)
DEFINE_integer = _accept_old_names(_absl.DEFINE_integer)


class _FlagValuesWrapper:
    """absl's flag values, parsed from the command line when a flag is first read."""

    def __init__(self, flags_object: object) -> None:
        self.__dict__["__wrapped"] = flags_object

    def __getattribute__(self, name: str) -> Any:
        if name == "__dict__":
            return super().__getattribute__(name)
        return self.__dict__["__wrapped"].__getattribute__(name)

    def __getattr__(self, name: str) -> Any:
        values = self.__dict__["__wrapped"]
        if not values.is_parsed():
            values(sys.argv)
        return values.__getattr__(name)

    def __setattr__(self, name: str, value: object) -> None:
        self.__dict__["__wrapped"].__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        self.__dict__["__wrapped"].__delattr__(name)

    def __dir__(self) -> list[str]:
        return self.__dict__["__wrapped"].__dir__()

    def __getitem__(self, name: str) -> Any:
        return self.__dict__["__wrapped"][name]

    def __setitem__(self, name: str, flag: object) -> None:
        self.__dict__["__wrapped"][name] = flag

    def __contains__(self, name: str) -> bool:
        return name in self.__dict__["__wrapped"]

    def __len__(self) -> int:
        return len(self.__dict__["__wrapped"])

    def __iter__(self) -> Any:
        return iter(self.__dict__["__wrapped"])

    def __str__(self) -> str:
        return str(self.__dict__["__wrapped"])

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.__dict__["__wrapped"](*args, **kwargs)


FLAGS = _FlagValuesWrapper(_absl.FLAGS)  # type: ignore[assignment]


def run(main: Callable[[list[str]], Any] | None = None, argv: list[str] | None = None) -> None:
    """Parses the flags and calls `main` with the other arguments, then exits."""
    from absl import app

    def parse(arguments: list[str] | None) -> list[str]:
        return _absl.FLAGS(sys.argv if arguments is None else arguments, known_only=True)

    app.run(main or sys.modules["__main__"].main, argv=argv, flags_parser=parse)
