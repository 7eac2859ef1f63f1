# SPDX-License-Identifier: Apache-2.0
"""Datasets that keep their elements in files: bundles of a tensor for each component.

The bundle appears whole when all elements were read; another iterator that writes the same
one meanwhile is refused by a lock file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....engine import errors
from .dataset import Dataset, Element, State, Stream, as_array
from .ordering import UnaryDataset

if TYPE_CHECKING:
    from .context import Context

# Widths of the numbers in TensorFlow's names of elements and components.
_ELEMENT_WIDTH = 7


class FileCacheDataset(UnaryDataset):
    """The elements, read once, and kept in files."""

    kind = "FileCache"

    def __init__(self, source: Dataset, filename: bytes) -> None:
        super().__init__(source)
        self.prefix = filename.decode(errors="surrogateescape")
        self.width = len(str(len(source.types) - 1)) or 1

    def stream(self, context: Context, path: str) -> Stream:
        from ....io.files import file_exists
        from ....io.tensor_bundle import index_path

        if file_exists(index_path(self.prefix)):
            return _FromFiles(self)
        return _ToFiles(self, self.source_stream(context, path))

    def key(self, element: int, component: int) -> bytes:
        """The name of a component in the bundle."""
        return f"{element:>{_ELEMENT_WIDTH}d}_{component:>{self.width}d}".encode()


class _ToFiles(Stream):
    """Reads the elements and writes them; the files are there when all were read."""

    def __init__(self, dataset: FileCacheDataset, source: Stream) -> None:
        self._dataset, self._source = dataset, source
        self._writer: Any = None
        self._count = 0
        self._lock = f"{dataset.prefix}_0.lockfile"
        self._is_over = self._is_locked = False

    def _begin(self) -> None:
        from ....io import files
        from ....io.tensor_bundle import BundleWriter

        if files.file_exists(self._lock):
            raise errors.already_exists(
                "There appears to be a concurrent caching iterator running - cache lockfile "
                f"already exists ('{self._lock}'). If you are sure no other running TF "
                "computations are using this cache prefix, delete the lockfile and re-initialize "
                "the iterator."
            )
        self._writer = BundleWriter(self._dataset.prefix)
        files.write_string_to_file(self._lock, "")
        self._is_locked = True

    def next(self) -> Element | None:
        if self._is_over:
            return None
        if self._writer is None:
            self._begin()
        element = self._source.next()
        if element is None:
            self._finish()
            return None
        for i, (component, kind) in enumerate(zip(element, self._dataset.types)):
            self._writer.add(self._dataset.key(self._count, i), component, kind)
        self._count += 1
        return element

    def _finish(self) -> None:
        self._is_over = True
        self._writer.finish()
        self._unlock()

    def _unlock(self) -> None:
        from ....io.files import delete_file

        if self._is_locked:
            self._is_locked = False
            delete_file(self._lock)

    def close(self) -> None:
        if self._writer is not None and not self._is_over:
            self._is_over = True
            self._writer.data.discard()
            self._unlock()
        self._source.close()

    def save(self) -> State:
        raise errors.unimplemented(
            "An iterator that writes a cache file cannot be saved before all elements were read"
        )


class _FromFiles(Stream):
    def __init__(self, dataset: FileCacheDataset) -> None:
        from ....io.bundle_reader import BundleReader

        self._dataset = dataset
        self._reader = BundleReader(dataset.prefix)
        self._next = 0

    def next(self) -> Element | None:
        found = []
        for i, kind in enumerate(self._dataset.types):
            key = self._dataset.key(self._next, i)
            if key not in self._reader:
                return None
            found.append(as_array(self._reader.read(key), kind.np_dtype))
        self._next += 1
        return tuple(found)

    def save(self) -> State:
        return {"next": self._next}

    def restore(self, state: State) -> None:
        self._next = state["next"]

    def close(self) -> None:
        self._reader.close()
