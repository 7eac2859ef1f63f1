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


class _Flags:
    """absl's FLAGS, parsed from the command line when first read."""

    def __getattribute__(self, name: str) -> Any:
        if name in ("__class__", "__dict__"):
            return object.__getattribute__(self, name)
        values = _absl.FLAGS
        if not name.startswith("__") and not values.is_parsed() and name in values:
            values(sys.argv, known_only=True)
        return getattr(values, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(_absl.FLAGS, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(_absl.FLAGS, name)

    def __dir__(self) -> list[str]:
        return dir(_absl.FLAGS)

    def __getitem__(self, name: str) -> Any:
        return _absl.FLAGS[name]

    def __setitem__(self, name: str, flag: Any) -> None:
        _absl.FLAGS[name] = flag

    def __contains__(self, name: str) -> bool:
        return name in _absl.FLAGS

    def __len__(self) -> int:
        return len(_absl.FLAGS)

    def __iter__(self) -> Any:
        return iter(_absl.FLAGS)

    def __str__(self) -> str:
        return str(_absl.FLAGS)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return _absl.FLAGS(*args, **kwargs)


FLAGS = _Flags()  # type: ignore[assignment]


def run(main: Callable[[list[str]], Any] | None = None, argv: list[str] | None = None) -> None:
    """Parses the flags and calls `main` with the other arguments, then exits."""
    from absl import app

    def parse(arguments: list[str] | None) -> Any:
        return _absl.FLAGS(sys.argv if arguments is None else arguments, known_only=True)

    app.run(main or sys.modules["__main__"].main, argv=argv, flags_parser=parse)
