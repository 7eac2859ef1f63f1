# SPDX-License-Identifier: Apache-2.0
"""Marks for what TensorFlow 1.15 deprecates; programs keep working without a warning."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from .graph.annotations import TensorLike

F = TypeVar("F", bound=Callable[..., Any])


def deprecated(date: str | None = None, instructions: str = "", **unused: Any) -> Callable[[F], F]:
    """A decorator that notes the advice on the function and leaves it as it is."""

    def mark(function: F) -> F:
        function._deprecated = (date, instructions)  # type: ignore[attr-defined]
        return function

    return mark


def deprecated_argument_lookup(
    new_name: str, new_value: TensorLike | None, old_name: str, old_value: TensorLike | None
) -> Any:
    """The one value given under a new or an old argument name."""
    if old_value is None:
        return new_value
    if new_value is not None:
        raise ValueError(f"Cannot specify both '{old_name}' and '{new_name}'")
    return old_value


def deprecated_args(
    date: str | None, instructions: str, *names: Any, **unused: Any
) -> Callable[[F], F]:
    """A decorator that notes which arguments TensorFlow 1.15 deprecates."""
    return deprecated(date, f"{instructions} ({', '.join(map(str, names))})")


def deprecated_arg_values(
    date: str | None, instructions: str, warn_once: bool = True, **values: Any
) -> Callable[[F], F]:
    """A decorator that notes which values of arguments TensorFlow 1.15 deprecates."""
    del warn_once
    return deprecated(date, f"{instructions} ({values})")
