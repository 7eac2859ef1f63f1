# SPDX-License-Identifier: Apache-2.0
"""Contents that lie elsewhere, such as in a file, and how cells take many of them together.

A `LazyArray` stands for an array that has not been read yet.  While a `BulkAssign` is open in a
thread, cells note what they are to take; all of it is read at the end, in whatever order is
quickest.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..memory import aligned_arrays
from .shared_reads import Changing

if TYPE_CHECKING:
    from .state import VariableStorage


class LazyArray:
    """Contents that lie elsewhere as yet, such as in a file: a cell takes them without a copy."""

    __slots__ = ("dtype", "shape")

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self.shape, self.dtype = shape, dtype

    @classmethod
    def fill_all(cls, sources: Sequence[Any], targets: Sequence[np.ndarray]) -> None:
        """Puts the contents of sources of this class into C-contiguous arrays of their kinds."""
        raise NotImplementedError


class EagerArray(LazyArray):
    """An array that is there."""

    __slots__ = ("array",)

    def __init__(self, array: np.ndarray) -> None:
        super().__init__(array.shape, array.dtype)
        self.array = array

    @classmethod
    def fill_all(cls, sources: Sequence[Any], targets: Sequence[np.ndarray]) -> None:
        """Copies the arrays."""
        for source, target in zip(sources, targets):
            target[...] = source.array


class BulkAssign:
    """The sources that cells take by the end of a run; no cell changes before."""

    def __init__(self) -> None:
        self._sources: dict[Any, LazyArray] = {}

    def __enter__(self) -> BulkAssign:
        _local.intake = self
        return self

    def __exit__(self, kind: Callable[..., Any] | None, *unused: Any) -> None:
        _local.intake = None
        if kind is None:
            take(self._sources)

    def note(self, cell: VariableStorage, source: LazyArray) -> None:
        """What a cell takes; the last counts."""
        self._sources[cell] = source


_local = threading.local()


def current() -> BulkAssign | None:
    """The intake that is open in this thread."""
    return getattr(_local, "intake", None)


def take(sources: dict[Any, LazyArray]) -> None:
    """Gives cells the contents of sources; those that have no array of the kind get one."""
    with Changing(*sources):
        _take(sources)


def _take(sources: dict[Any, LazyArray]) -> None:
    targets, fresh = {}, []
    for cell, source in sources.items():
        value = cell.value
        if value is not None and value.shape == source.shape and value.dtype == source.dtype:
            targets[cell] = value
        else:
            fresh.append(cell)
    kept = list(targets)
    arrays = aligned_arrays([(sources[cell].shape, sources[cell].dtype) for cell in fresh])
    targets.update(zip(fresh, arrays))
    try:
        _fill(sources, targets)
    except BaseException:
        for cell in kept:
            cell.clear()  # Rather no value than half of one and half of another.
        raise
    # Only now that all has been read: a file that cannot be read leaves them as they were.
    for cell in fresh:
        cell.value = targets[cell]
        cell.version += 1


def _fill(sources: dict[Any, LazyArray], targets: dict[Any, np.ndarray]) -> None:
    of_kind: dict[type[LazyArray], list[Any]] = {}
    for cell, source in sources.items():
        of_kind.setdefault(type(source), []).append(cell)
    for kind, cells in of_kind.items():
        kind.fill_all([sources[cell] for cell in cells], [targets[cell] for cell in cells])
