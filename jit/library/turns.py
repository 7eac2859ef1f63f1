# SPDX-License-Identifier: Apache-2.0
"""Sizes that hold for one turn of a loop, or in a branch, where something outlasts these.

A loop's body may measure sizes, which are others in every turn, and a branch of it sizes that no
other turn may have.  What a loop leaves must not be laid out by them.  What it keeps on stacks for
its gradient may: behind each item lie the sizes of its turn, and the gradient's loop measures them
there.  Imports jit's IR.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..kernel.sizes import AnySize, Size, expression, substituted, symbols_of
from ..program.tensor_ir import Value


def of_turn(b: Any, numbers: Iterable[AnySize], place: frozenset[Any]) -> list[str]:
    """The symbols among sizes that hold for a turn or branch only, as seen from a place around."""
    if not b.scope.measured:
        return []
    names = {name for size in numbers for name in symbols_of(expression(size))}
    return sorted(name for name in names if not b.scope.places.get(name, place) <= place)


def sizes_of(value: Value) -> list[AnySize]:
    """The sizes that a value is laid out by, and those that it is known to hold."""
    held = () if value.known is None else value.known.flat
    return [*value.shape, *(item for item in held if isinstance(item, Size))]


def vector(b: Any, names: Sequence[str]) -> Value:
    """The sizes of this turn as numbers in memory."""
    numbers = np.array([b.scope.named(name) for name in names], object)
    return b.known_as(numbers, "int64")  # type: ignore[no-any-return]


def is_learnt(b: Any, name: str) -> bool:
    """Does the builder know here what a symbol of another loop's turn was?"""
    return name in b.turn_sizes and b.knows(b.turn_sizes[name])


def learn(b: Any, names: Sequence[str], numbers: Value) -> None:
    """Measures what the symbols of another loop's turn were, those that are new here."""
    for place, name in enumerate(names):
        if not is_learnt(b, name):
            b.turn_sizes[name] = b.measure(b.reshape(b.slice(numbers, [place], [1]), []))


def shape_of(b: Any, item: Value) -> tuple[AnySize, ...]:
    """The shape that something was kept in, in sizes of this turn."""
    return tuple(substituted(size, b.turn_sizes) for size in item.shape)


def known_of(b: Any, item: Value) -> np.ndarray:
    """What something that was kept is known to hold, in sizes of this turn."""
    assert item.known is not None
    found = np.empty(item.known.size, object)
    found[:] = [substituted(each, b.turn_sizes) for each in item.known.flat]
    return found.reshape(item.known.shape)
