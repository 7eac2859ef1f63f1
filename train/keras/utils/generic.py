# SPDX-License-Identifier: Apache-2.0
"""Small helpers that old libraries take from Keras's own."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any


def to_list(x: Any) -> list[Any]:
    """A list as it is, other things as a list of one."""
    return x if isinstance(x, list) else [x]


def has_arg(fn: Callable[..., Any], name: str, accept_all: bool = False) -> bool:
    """Whether a function has an argument; or any further ones, if these count."""
    found = inspect.signature(fn).parameters
    if accept_all and any(p.kind is p.VAR_KEYWORD for p in found.values()):
        return True
    return name in found


def make_batches(size: int, batch_size: int) -> list[tuple[int, int]]:
    """(first, behind the last) of each batch."""
    return [(i, min(size, i + batch_size)) for i in range(0, size, batch_size)]


def slice_arrays(arrays: Any, start: Any = None, stop: Any = None) -> Any:
    """The rows of an array, or of a list of arrays, at indices or between two."""
    if arrays is None:
        return [None]
    is_many = hasattr(start, "__len__")
    if isinstance(arrays, list):
        if is_many:
            return [None if x is None else x[start] for x in arrays]
        return [x[start:stop] if hasattr(x, "__getitem__") else None for x in arrays]
    return arrays[start] if is_many else arrays[start:stop]


def is_all_none(iterable: Iterable[Any]) -> bool:
    """Whether all are None."""
    return all(x is None for x in (iterable if isinstance(iterable, (list, tuple)) else [iterable]))


def unpack_singleton(x: Any) -> Any:
    """The element of a list of one, other things as they are."""
    return x[0] if isinstance(x, (list, tuple)) and len(x) == 1 else x
