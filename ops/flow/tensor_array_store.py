# SPDX-License-Identifier: Apache-2.0
"""The storage behind a TensorArray, for one run: arrays that are written once and read once."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.types.dtypes import as_dtype, runtime_name
from ...engine.types.shape import TensorShape, shape_text
from ..shape_inference import known_sizes

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike

_numbers = itertools.count()


class _Entry:
    """One element: its array (None: zeros), its shape, and what happened to it."""

    __slots__ = ("value", "shape", "written", "read", "cleared", "owned")

    def __init__(self) -> None:
        self.value: np.ndarray | None = None
        self.shape: tuple[int, ...] = ()
        self.written = self.read = self.cleared = False
        # Whether the array is this entry's own sum, which may grow in place.
        self.owned = False


class Store:
    """The elements of a TensorArray; in that of a gradient (`is_gradient`) writes add up."""

    def __init__(
        self,
        dtype: Any,
        size: int,
        element_shape: TensorShape,
        same_shapes: bool,
        dynamic: bool,
        clears: bool,
        name: str,
        is_gradient: bool = False,
    ) -> None:
        if size < 0:
            raise errors.invalid("Size should be >= 0.")
        self.name = name if is_gradient else f"{name}_{next(_numbers)}"
        self.dtype, self.element_shape, self.same_shapes = dtype, element_shape, same_shapes
        self.dynamic, self.clears, self.is_gradient = dynamic, clears, is_gradient
        self.closed = False
        # How many elements a split made: so many the gradient has.
        self.marked = -1
        self.entries = [_Entry() for _ in range(size)]
        self.gradients: dict[str, Store] = {}

    @property
    def size(self) -> int:
        self._require_open()
        return len(self.entries)

    @property
    def concat_size(self) -> int:
        """How many elements a concatenation has."""
        size = self.size
        return self.marked if self.is_gradient else size

    def close(self) -> None:
        """Drops the elements; no more use is allowed."""
        self.entries = []
        self.closed = True

    def _require_open(self) -> None:
        if self.closed:
            raise errors.invalid(f"TensorArray {self.name} has already been closed.")

    def gradient(self, source: str, prefix: tuple[int, ...] = ()) -> Store:
        """The array of gradients for one call of `gradients`, made when first asked for."""
        # The array of gradients has as many elements as this one has now: its size is fixed.
        self.dynamic = False
        size = self.size
        found = self.gradients.get(source)
        if found is not None:
            return found
        shape = TensorShape(list(prefix)).concatenate(self.element_shape)
        name = f"{self.name}@{source}"
        # Of a sum of several gradients each of them reads the gradient (which TensorFlow refuses).
        clears = not self.is_gradient
        result = Store(self.dtype, size, shape, self.same_shapes, False, clears, name, True)
        result.marked = self.marked
        for mine, its in zip(self.entries, result.entries):
            # Elements that were written have gradients of their shapes, zeros until something is
            # added.
            if mine.written:
                its.shape, its.written = prefix + mine.shape, True
        self.gradients[source] = result
        return result

    def write(self, index: int, value: np.ndarray) -> None:
        """Sets an element; in an array of gradients, adds to it."""
        self._require_open()
        size = len(self.entries)
        if index < 0 or (not self.dynamic and index >= size):
            raise errors.invalid(
                f"TensorArray {self.name}: Tried to write to index {index} but array is not "
                f"resizeable and size is: {size}"
            )
        self.entries.extend(_Entry() for _ in range(index + 1 - size))
        entry = self.entries[index]
        problem = f"TensorArray {self.name}: Could not write to TensorArray index {index} because "
        self._check_value(value, problem)
        if entry.read:
            raise errors.invalid(f"{problem}it has already been read.")
        if not entry.written:
            entry.value, entry.shape, entry.written = value, value.shape, True
        elif not self.is_gradient:
            raise errors.invalid(f"{problem}it has already been written to.")
        else:
            self._add(entry, value, index)

    def _check_value(self, value: np.ndarray, problem: str) -> None:
        if value.dtype != self.dtype.np_dtype:
            raise errors.invalid(
                f"{problem}the value dtype is {runtime_name(as_dtype(value.dtype))} but "
                f"TensorArray dtype is {runtime_name(self.dtype)}."
            )
        if not self.element_shape.is_compatible_with(value.shape):
            raise errors.invalid(
                f"{problem}the value shape is {shape_text(value.shape)} which is incompatible with "
                f"the TensorArray's inferred element shape: {shape_text(self.element_shape)} "
                "(consider setting infer_shape=False)."
            )
        # The first element decides for all that follow.
        if self.same_shapes and not self.element_shape.is_fully_defined():
            self.element_shape = TensorShape(value.shape)

    def _add(self, entry: _Entry, value: np.ndarray, index: int) -> None:
        if value.shape != entry.shape:
            raise errors.invalid(
                f"TensorArray {self.name}: Could not aggregate to TensorArray index {index} "
                f"because the existing shape is {shape_text(entry.shape)} but the new input shape "
                f"is {shape_text(value.shape)}."
            )
        # Written, but only a shape so far, which stands for zeros: the sum is the value itself.
        if entry.value is None:
            entry.value = value
            return
        # The first value belongs to whoever wrote it; the sum of two is this entry's own, and
        # further ones add to it in place.
        if entry.owned:
            entry.value += value
        else:
            entry.value = np.asarray(entry.value + value, value.dtype)
            entry.owned = True

    def read(self, index: int) -> np.ndarray:
        """An element; zeros where a gradient was never written."""
        self._require_open()
        if index < 0 or (not self.is_gradient and index >= len(self.entries)):
            raise errors.invalid(
                f"Tried to read from index {index} but array size is: {len(self.entries)}"
            )
        if index >= len(self.entries) or not self.entries[index].written:
            self._fill(index)
        entry = self.entries[index]
        if entry.cleared:
            raise errors.invalid(
                f"TensorArray {self.name}: Could not read index {index} twice because it was "
                "cleared after a previous read (perhaps try setting clear_after_read = false?)."
            )
        value = entry.value
        if value is None:
            value = entry.value = np.zeros(entry.shape, self.dtype.np_dtype)
        if self.clears:
            entry.value, entry.cleared = None, True
        entry.read = True
        return value

    def _fill(self, index: int) -> None:
        """Makes an element that was not written zeros, of the shape that all have."""
        entry = self.entries[index] if index < len(self.entries) else None
        if self.is_gradient and entry is not None and entry.shape:
            shape = entry.shape
        elif self.element_shape.is_fully_defined():
            shape = tuple(known_sizes(self.element_shape))
        else:
            raise errors.invalid(
                f"TensorArray {self.name}: Could not read from TensorArray index {index}.  "
                "Furthermore, the element shape is not fully defined: "
                f"{shape_text(self.element_shape)}.  It is possible you are working with a "
                "resizeable TensorArray and stop_gradients is not allowing the gradients to be "
                "written.  If you set the full element_shape property on the forward TensorArray, "
                "the proper all-zeros tensor will be returned instead of incurring this error."
            )
        first = min(index, len(self.entries))
        self.entries.extend(_Entry() for _ in range(index + 1 - len(self.entries)))
        for i in {index, *range(first, index + 1)}:
            if not self.entries[i].written:
                self.entries[i].shape, self.entries[i].written = shape, True


class Stack:
    """The values that a loop keeps for its gradient, last in first out."""

    def __init__(self, name: str, limit: int) -> None:
        self.name = f"{name}_{next(_numbers)}"
        self.limit = limit
        self.items: list[Any] = []
        self.closed = False

    def _require_open(self) -> None:
        if self.closed:
            raise errors.invalid(f"Stack[{self.name}] has already been closed.")

    def push(self, value: TensorLike) -> None:
        """Puts a value on top."""
        self._require_open()
        if 0 <= self.limit <= len(self.items):
            raise errors.invalid(f"Stack[{self.name}] overflowed its max_size ({self.limit})")
        self.items.append(value)

    def pop(self) -> Any:
        """Takes the value on top away."""
        self._require_open()
        if not self.items:
            raise errors.invalid(f"Stack[{self.name}] is empty when calling Pop().")
        return self.items.pop()

    def close(self) -> None:
        """Drops the values; no more use is allowed."""
        self.items, self.closed = [], True
