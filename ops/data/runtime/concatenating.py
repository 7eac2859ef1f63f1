# SPDX-License-Identifier: Apache-2.0
"""Datasets that give the elements of one dataset, then those of another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ....engine.types.dtypes import DType
from ....engine.types.shape import TensorShape
from .dataset import INFINITE, UNKNOWN, Block, Dataset, DatasetOfParts, Element, State, Stream

if TYPE_CHECKING:
    from .context import Context

# Datasets of which nothing can tell when they are begun.
_ANY_TIME = {
    *("CSV", "Concatenate", "Files", "Filter", "FlatMap", "Map", "Range", "Shard", "Tensor"),
    *("EmptyRepeat", "FiniteRepeat", "ForeverRepeat", "EmptySkip", "FiniteSkip"),
    *("EmptyTake", "FiniteTake", "TensorSlice", "Zip"),
}


def _may_begin_early(dataset: Dataset) -> bool:
    return dataset.kind in _ANY_TIME and all(map(_may_begin_early, dataset.inputs))


class ConcatenateDataset(DatasetOfParts):
    """The elements of one dataset, then those of another."""

    kind = "Concatenate"

    def __init__(
        self,
        types: Sequence[DType],
        shapes: Sequence[TensorShape],
        first: Dataset,
        second: Dataset,
    ) -> None:
        super().__init__(types, shapes, (first, second))

    def stream(self, context: Context, path: str) -> Stream:
        if not all(map(_may_begin_early, self.parts)):
            return _Concatenated(self, context, path)
        parts = [
            part.stream(context, f"{path}::Concatenate[{number}]")
            for number, part in enumerate(self.parts)
        ]
        return _ConcatenatedParts(parts)

    def cardinality(self) -> int:
        counts = [part.cardinality() for part in self.parts]
        for special in (INFINITE, UNKNOWN):
            if special in counts:
                return special
        return sum(counts)


class _Concatenated(Stream):
    def __init__(self, dataset: ConcatenateDataset, context: Context, path: str) -> None:
        self._dataset, self._context, self._path = dataset, context, path
        self._number = 0
        self._source: Stream | None = self._begin()

    def _begin(self) -> Stream:
        part = self._dataset.parts[self._number]
        return part.stream(self._context, f"{self._path}::Concatenate[{self._number}]")

    def next(self) -> Element | None:
        while self._source is not None:
            element = self._source.next()
            if element is not None:
                return element
            self._source.close()
            self._number += 1
            self._source = self._begin() if self._number < 2 else None
        return None

    def save(self) -> State:
        source = {} if self._source is None else self._source.save()
        return {"number": self._number, "source": source}

    def restore(self, state: State) -> None:
        self._number = state["number"]
        self._source = self._begin() if self._number < 2 else None
        if self._source is not None:
            self._source.restore(state["source"])

    def close(self) -> None:
        if self._source is not None:
            self._source.close()


class _ConcatenatedParts(Stream):
    """The same of two streams that were begun, and may give blocks."""

    def __init__(self, parts: Sequence[Stream]) -> None:
        self._parts, self._number = parts, 0
        self.has_blocks = all(part.has_blocks for part in parts)
        self.has_ragged_blocks = all(p.has_blocks or p.has_ragged_blocks for p in parts)

    def next(self) -> Element | None:
        return self._first_of(lambda part: part.next())

    def next_block(self, count: int) -> Block | None:
        return self._first_of(lambda part: part.next_block(count))

    def next_packed_block(self, count: int) -> Block | None:
        return self._first_of(lambda part: part.next_packed_block(count))

    def _first_of(self, read: Callable[[Stream], Any]) -> Any:
        while self._number < len(self._parts):
            found = read(self._parts[self._number])
            if found is not None:
                return found
            self._parts[self._number].close()
            self._number += 1
        return None

    def save(self) -> State:
        is_over = self._number == len(self._parts)
        source = {} if is_over else self._parts[self._number].save()
        return {"number": self._number, "source": source}

    def restore(self, state: State) -> None:
        self._number = state["number"]
        if self._number < len(self._parts):
            self._parts[self._number].restore(state["source"])

    def close(self) -> None:
        for part in self._parts[self._number :]:
            part.close()
