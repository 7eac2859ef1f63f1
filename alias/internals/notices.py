# SPDX-License-Identifier: Apache-2.0
"""`tensorflow.python.util.decorator_utils`: names of functions, and notices in their docstrings."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any


def get_qualified_name(function: Any) -> str:
    """The name of a function with that of its class."""
    return str(getattr(function, "__qualname__", function.__name__))


def validate_callable(func: Any, decorator_name: str) -> None:
    """Refuses what cannot be called, such as a property that was decorated too late.

    Raises:
        ValueError: `func` cannot be called.
    """
    if not callable(func):
        raise ValueError(
            f"{func} is not a function. If this is a property, make sure @property appears before "
            f"@{decorator_name} in your source code:\n\n@property\n@{decorator_name}\n"
            "def method(...)"
        )


def _normalize_docstring(docstring: str | None) -> str:
    """A docstring without indentation and without blank lines around it."""
    return inspect.cleandoc(docstring.strip()) if docstring else ""


def add_notice_to_docstring(
    doc: str | None, instructions: str, no_doc_str: str, suffix_str: str, notice: Sequence[str]
) -> str:
    """A docstring whose first line has a suffix, with a notice and instructions below it.

    Args:
        doc: the docstring; `no_doc_str` stands for an empty one.
        instructions: the last line of the notice, if not empty.
        no_doc_str: the first line of a function without a docstring.
        suffix_str: what the first line of a docstring gets at its end.
        notice: lines.

    Returns:
        The new docstring.

    Raises:
        ValueError: there is no notice.
    """
    if not notice:
        raise ValueError("The `notice` arg must not be empty.")
    lines = _normalize_docstring(doc).splitlines() if doc else []
    first, rest = (f"{lines[0]} {suffix_str}", lines[1:]) if lines else (no_doc_str, [])
    added = ["", f"Warning: {notice[0]}", *notice[1:], *([instructions] if instructions else [])]
    gap = [""] if rest and rest[0].strip() else []
    return "\n".join([first, *added, *gap, *rest])


class classproperty:  # noqa: N801 - TensorFlow's name
    """A property of a class: `Thing.name` calls the function with `Thing`."""

    def __init__(self, func: Callable[[Any], Any]) -> None:
        self._func = func

    def __get__(self, owner_self: object, owner_cls: type) -> Any:
        return self._func(owner_cls)
