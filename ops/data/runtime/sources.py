# SPDX-License-Identifier: Apache-2.0
"""Datasets that read no other: tensors, their slices, ranges of numbers, Python generators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ....engine import errors
from ....engine.types.dtypes import DType
from ....engine.types.shape import TensorShape, shape_text
from .dataset import (
    Block,
    BlockStream,
    Dataset,
    Element,
    Rows,
    State,
    Stream,
    boxed,
)

if TYPE_CHECKING:
    from .context import Context
    from .functions import Captured


class TensorDataset(Dataset):
    """One element."""

    kind = "Tensor"

    def __init__(
        self, types: Sequence[DType], shapes: Sequence[TensorShape], components: Element
    ) -> None:
        super().__init__(types, shapes)
        self.components = components

    def stream(self, context: Context, path: str) -> Stream:
        return _OneElement(self.components)

    def cardinality(self) -> int:
        return 1


class _OneElement(Stream):
    def __init__(self, components: Element) -> None:
        self._components: Element | None = components

    def next(self) -> Element | None:
        found, self._components = self._components, None
        return found

    def save(self) -> State:
        return {"given": int(self._components is None)}

    def restore(self, state: State) -> None:
        if state["given"]:
            self._components = None


class SliceDataset(Dataset):
    """The slices of tensors along their first axis."""

    kind = "TensorSlice"

    def __init__(
        self, types: Sequence[DType], shapes: Sequence[TensorShape], components: Element
    ) -> None:
        super().__init__(types, shapes)
        if any(component.ndim == 0 for component in components):
            raise errors.invalid("All components must be at least 1-dimensional")
        sizes = [len(component) for component in components]
        for i, size in enumerate(sizes):
            if size != sizes[0]:
                raise errors.invalid(
                    "All components must have the same size in the 0th dimension, but component "
                    f"{i} has {size} and component 0 has {sizes[0]}"
                )
        self.components, self.count = components, sizes[0]

    def stream(self, context: Context, path: str) -> Stream:
        return _Numbered(_Slices(self.components, self.count))

    def rows(self, context: Context) -> Rows:
        return _Slices(self.components, self.count)

    def cardinality(self) -> int:
        return self.count


class _Slices(Rows):
    def __init__(self, components: Element, count: int) -> None:
        super().__init__(count)
        self._components = components

    def take(self, numbers: np.ndarray) -> Block:
        return [component.take(numbers, axis=0) for component in self._components]

    def between(self, start: int, stop: int) -> Block:
        return [component[start:stop] for component in self._components]


class RangeDataset(Dataset):
    """Whole numbers, step by step."""

    kind = "Range"

    def __init__(
        self,
        types: Sequence[DType],
        shapes: Sequence[TensorShape],
        numbers: tuple[int, int, int],
    ) -> None:
        super().__init__(types, shapes)
        start, stop, step = numbers
        if step == 0:
            raise errors.invalid("step must be a non-zero integer.")
        self.numbers = range(start, stop, step)

    def stream(self, context: Context, path: str) -> Stream:
        return _Numbered(_RangeRows(self.numbers))

    def rows(self, context: Context) -> Rows:
        return _RangeRows(self.numbers)

    def cardinality(self) -> int:
        return _length(self.numbers)


def _length(numbers: range) -> int:
    # (`len` refuses what is no index.)
    return max(0, -((numbers.start - numbers.stop) // numbers.step))


class _RangeRows(Rows):
    def __init__(self, numbers: range) -> None:
        super().__init__(_length(numbers))
        self._start, self._step = numbers.start, numbers.step

    def take(self, numbers: np.ndarray) -> Block:
        return [self._start + self._step * numbers.astype(np.int64)]

    def between(self, start: int, stop: int) -> Block:
        first = self._start + self._step * start
        return [first + self._step * np.arange(stop - start, dtype=np.int64)]


class _Numbered(BlockStream):
    """Rows in order."""

    def __init__(self, rows: Any) -> None:
        super().__init__()
        self._rows, self._next = rows, 0

    def read_block(self, count: int) -> Block | None:
        start = self._next
        stop = self._next = min(start + count, self._rows.count)
        return self._rows.between(start, stop) if stop > start else None

    def skip(self, count: int) -> int:
        held = self._count - self._place
        if count <= held:
            self._place += count
            return count
        self._place = self._count
        before = self._next
        self._next = min(before + count - held, self._rows.count)
        return held + self._next - before

    def save(self) -> State:
        return {"next": self._next - (self._count - self._place)}

    def restore(self, state: State) -> None:
        self._next = state["next"]


class SparseSliceDataset(Dataset):
    """The slices of a sparse tensor, each as indices, values and shape."""

    kind = "SparseTensorSlice"

    def __init__(
        self,
        types: Sequence[DType],
        shapes: Sequence[TensorShape],
        sparse: tuple[np.ndarray, np.ndarray, np.ndarray],
    ) -> None:
        super().__init__(types, shapes)
        indices, values, dense_shape = sparse
        _require_sparse(indices, values, dense_shape)
        self.sparse = sparse

    def stream(self, context: Context, path: str) -> Stream:
        return _SparseSlices(*self.sparse)

    def cardinality(self) -> int:
        return int(self.sparse[2][0])


def _require_sparse(indices: np.ndarray, values: np.ndarray, shape: np.ndarray) -> None:
    if indices.ndim != 2:
        raise errors.invalid(
            f"Input indices should be a matrix but received shape {shape_text(indices.shape)}"
        )
    if values.ndim != 1:
        raise errors.invalid(
            f"Input values should be a vector but received shape {shape_text(values.shape)}"
        )
    if shape.ndim != 1:
        raise errors.invalid(
            f"Input shape should be a vector but received shape {shape_text(shape.shape)}"
        )
    if len(shape) < 1 or indices.shape != (len(values), len(shape)):
        raise errors.invalid(
            f"Indices of shape {shape_text(indices.shape)} do not go with {len(values)} values "
            f"of rank {len(shape)}"
        )
    previous = -1
    for number in indices[:, 0].tolist():
        if number < previous:
            raise errors.unimplemented(
                "The SparseTensor must be ordered in the batch dimension; handling arbitrarily "
                "ordered input is not currently supported."
            )
        previous = number


class _SparseSlices(Stream):
    def __init__(self, indices: np.ndarray, values: np.ndarray, shape: np.ndarray) -> None:
        self._indices, self._values, self._shape = indices, values, shape
        self._next = 0

    def next(self) -> Element | None:
        if self._next >= int(self._shape[0]):
            return None
        column = self._indices[:, 0]
        first, last = np.searchsorted(column, [self._next, self._next + 1])
        self._next += 1
        return self._indices[first:last, 1:], self._values[first:last], self._shape[1:]

    def save(self) -> State:
        return {"next": self._next}

    def restore(self, state: State) -> None:
        self._next = state["next"]


class GeneratorDataset(Dataset):
    """What a function gives, called until it raises OutOfRangeError."""

    kind = "Generator"

    def __init__(
        self,
        types: Sequence[DType],
        shapes: Sequence[TensorShape],
        functions: tuple[Captured, Captured, Captured],
    ) -> None:
        super().__init__(types, shapes)
        self.functions = functions

    def stream(self, context: Context, path: str) -> Stream:
        return _Generated(context, self.functions)


class _Generated(Stream):
    def __init__(self, context: Context, functions: tuple[Captured, Captured, Captured]) -> None:
        self._init, self._next, self._finalize = map(context.function, functions)
        self._state: tuple[np.ndarray, ...] | None = None
        self._is_over = self._is_finalized = False

    def next(self) -> Element | None:
        if self._is_over:
            return None
        if self._state is None:
            self._state = self._init([])
        try:
            return self._next(self._state)
        except errors.OutOfRangeError:
            self._is_over = True
            self._finish()
            return None

    def _finish(self) -> None:
        if self._state is not None and not self._is_finalized:
            self._is_finalized = True
            self._finalize(self._state)

    def close(self) -> None:
        try:
            self._finish()
        except errors.OpError:
            # The session is gone, and with it what was to be tidied up.
            self._is_over = True


class FixedDataset(Dataset):
    """Elements that are there: what a window holds."""

    kind = "Window"

    def __init__(
        self, types: Sequence[DType], shapes: Sequence[TensorShape], elements: Sequence[Element]
    ) -> None:
        super().__init__(types, shapes)
        self.elements = elements

    def stream(self, context: Context, path: str) -> Stream:
        return _Fixed(self.elements)

    def cardinality(self) -> int:
        return len(self.elements)


class FailingDataset(Dataset):
    """No elements: who asks for one is told why."""

    kind = "Failing"

    def __init__(
        self,
        types: Sequence[DType],
        shapes: Sequence[TensorShape],
        error: Callable[[], Exception],
    ) -> None:
        super().__init__(types, shapes)
        self.error = error

    def stream(self, context: Context, path: str) -> Stream:
        return _Failing(self.error)


class _Failing(Stream):
    def __init__(self, error: Callable[[], Exception]) -> None:
        self._error = error

    def next(self) -> Element | None:
        raise self._error()

    def save(self) -> State:
        return {}

    def restore(self, state: State) -> None:
        pass


class _Fixed(Stream):
    def __init__(self, elements: Sequence[Element]) -> None:
        self._elements, self._next = elements, 0

    def next(self) -> Element | None:
        if self._next >= len(self._elements):
            return None
        self._next += 1
        return self._elements[self._next - 1]

    def save(self) -> State:
        return {"next": self._next}

    def restore(self, state: State) -> None:
        self._next = state["next"]


def component_of(value: Any) -> np.ndarray:
    """What a kernel is given for a component, as an array that nobody changes."""
    return value if isinstance(value, np.ndarray) else boxed(value)
