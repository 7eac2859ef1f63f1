# SPDX-License-Identifier: Apache-2.0
"""A mark for functions that may change."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from ....engine.interface import log

_WARNING = (
    "%s (from %s) is experimental and may change or be removed at any time, and without warning."
)
_NOTICE = (
    "Warning: THIS FUNCTION IS EXPERIMENTAL. It may change or be removed at any time, and without "
    "warning."
)


def experimental(func: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator: calls warn that the function may change, and its docstring says so."""

    @functools.wraps(func)
    def warning(*args: Any, **kwargs: Any) -> Any:
        log.warning(_WARNING, func.__name__, func.__module__)
        return func(*args, **kwargs)

    first, _, rest = (inspect.getdoc(func) or func.__name__).partition("\n")
    parts = (f"{first} (experimental)", _NOTICE, rest.strip("\n"))
    warning.__doc__ = "\n\n".join(part for part in parts if part)
    return warning
