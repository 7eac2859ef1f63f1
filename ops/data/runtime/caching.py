# SPDX-License-Identifier: Apache-2.0
"""Datasets that keep their elements once they were read, in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .dataset import Dataset, Element, State, Stream
from .ordering import UnaryDataset

if TYPE_CHECKING:
    from .context import Context


class CacheDataset(UnaryDataset):
    """The elements, read once for each iterator, and kept in memory."""

    # (TensorFlow names what reads the source.)
    kind = "MemoryCacheImpl"

    def stream(self, context: Context, path: str) -> Stream:
        kept: _Kept = context.kept((path, self.kind), _Kept)
        if kept.is_complete:
            return _FromMemory(kept)
        return _ToMemory(self, context, path, kept)


class _Kept:
    """The elements of a dataset, once all were read."""

    def __init__(self) -> None:
        self.elements: list[Element] = []
        self.is_complete = False


class _ToMemory(Stream):
    """Reads the elements and keeps them."""

    def __init__(self, dataset: CacheDataset, context: Context, path: str, kept: _Kept) -> None:
        self._source = dataset.source_stream(context, path)
        self._kept = kept
        self._elements: list[Element] = []

    def next(self) -> Element | None:
        element = self._source.next()
        # (Of a restored epoch that came after the first, all elements are kept before it begins.)
        if not self._kept.is_complete:
            if element is not None:
                self._elements.append(element)
            else:
                self._kept.elements, self._kept.is_complete = self._elements, True
        return element

    def save(self) -> State:
        if isinstance(self._source, _FromMemory):
            return self._source.save()
        elements = [list(element) for element in self._elements]
        return {"elements": elements, "complete": 0, "source": self._source.save()}

    def restore(self, state: State) -> None:
        self._elements = [tuple(element) for element in state["elements"]]
        if state["complete"]:
            self._kept.elements, self._kept.is_complete = self._elements, True
            self._source = _FromMemory(self._kept)
            self._source.restore(state)
        else:
            self._source.restore(state["source"])

    def close(self) -> None:
        self._source.close()


class _FromMemory(Stream):
    def __init__(self, kept: _Kept) -> None:
        self._kept, self._next = kept, 0

    def next(self) -> Element | None:
        if self._next >= len(self._kept.elements):
            return None
        self._next += 1
        return self._kept.elements[self._next - 1]

    def save(self) -> State:
        elements = [list(element) for element in self._kept.elements]
        return {"elements": elements, "complete": 1, "next": self._next}

    def restore(self, state: State) -> None:
        self._next = state.get("next", 0)


def cached(source: Dataset, filename: bytes) -> Dataset:
    """The dataset that keeps the elements in memory, or in files."""
    if filename:
        from .file_cache import FileCacheDataset

        return FileCacheDataset(source, filename)
    return CacheDataset(source)
