# SPDX-License-Identifier: Apache-2.0
"""`inspect.getargspec` and what it gives, in terms of `getfullargspec`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple


class ArgSpec(NamedTuple):
    """Arguments of a function as Python 2 could have them."""

    args: list[str]
    varargs: str | None
    keywords: str | None
    defaults: tuple[Any, ...] | None


def getargspec(func: Callable[..., Any]) -> ArgSpec:
    """Names and defaults of a function's arguments.

    Raises:
        ValueError: arguments that are given by keyword only have no place in the answer.
    """
    full = inspect.getfullargspec(func)
    if full.kwonlyargs:
        raise ValueError(
            "Function has keyword-only parameters or annotations, use getfullargspec() API which "
            "can support them"
        )
    return ArgSpec(full.args, full.varargs, full.varkw, full.defaults)


def formatargspec(
    args: Sequence[str],
    varargs: str | None = None,
    varkw: str | None = None,
    defaults: Sequence[Any] | None = None,
    *others: Any,
    **formats: Any,
) -> str:
    """The text "(a, b=1, *c, **d)" of arguments."""
    del others, formats
    first = len(args) - len(defaults or ())
    shown = [
        name if i < first else f"{name}={(defaults or ())[i - first]!r}"
        for i, name in enumerate(args)
    ]
    shown += [f"*{varargs}"] if varargs else []
    shown += [f"**{varkw}"] if varkw else []
    return f"({', '.join(shown)})"
