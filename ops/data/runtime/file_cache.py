# SPDX-License-Identifier: Apache-2.0
"""Datasets that keep their elements in files: bundles of a tensor for each component.

The bundle appears whole when all elements were read; another iterator that writes the same
one meanwhile is refused by a lock file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....engine import errors
from .dataset import Block, BlockStream, Dataset, Element, State, Stream, alone, as_array
from .ordering import UnaryDataset

if TYPE_CHECKING:
    from ....io.bundle_reader import BundleReader
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
    """Reads the elements and writes them; the files are there when all were read.

    What is written between two times at which the iterator is saved is a bundle, a *shard*; in the
    end all are made one.  A lock file stands beside each until then.
    """

    def __init__(self, dataset: FileCacheDataset, source: Stream) -> None:
        self._dataset, self._source = dataset, source
        self._writer: Any = None
        # How many elements were read, and the number of the shard that the next one is written to.
        self._count = self._shard = 0
        self._is_over = False
        # What is read in place of the source, where the files were written after a state was kept.
        self._reader: _FromFiles | None = None

    def _prefix(self, shard: int) -> str:
        return f"{self._dataset.prefix}_{shard}"

    def _lock(self, shard: int) -> str:
        return f"{self._prefix(shard)}.lockfile"

    def _begin(self) -> None:
        from ....io import files
        from ....io.tensor_bundle import BundleWriter, index_path

        prefix, lock = self._prefix(self._shard), self._lock(self._shard)
        if files.file_exists(index_path(prefix)):
            raise errors.already_exists(
                f"Existing cache files found: '{index_path(prefix)}'. An iterator wrote them that "
                "was saved before all elements were read. Restore it, or delete the files."
            )
        if files.file_exists(lock):
            raise errors.already_exists(
                "There appears to be a concurrent caching iterator running - cache lockfile "
                f"already exists ('{lock}'). If you are sure no other running TF "
                "computations are using this cache prefix, delete the lockfile and re-initialize "
                "the iterator."
            )
        self._writer = BundleWriter(prefix)
        files.write_string_to_file(lock, "")

    def next(self) -> Element | None:
        if self._reader is not None:
            return self._reader.next()
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
        """Makes one bundle of all shards."""
        from ....io.tensor_bundle import BundleWriter, merge_bundles

        self._is_over = True
        shards = list(range(self._shard + 1))
        if self._writer.entries:
            self._writer.finish()
        else:  # (A bundle without entries cannot be one of several.)
            self._writer.data.discard()
            shards.pop()
        if shards:
            merge_bundles(map(self._prefix, shards), self._dataset.prefix)
        else:
            BundleWriter(self._dataset.prefix).finish()
        for shard in range(self._shard + 1):
            _delete(self._lock(shard))

    def _discard(self) -> None:
        """Gives up the shard that is being written."""
        if self._writer is not None and not self._is_over:
            self._is_over = True
            self._writer.data.discard()
            _delete(self._lock(self._shard))

    def __del__(self) -> None:
        self._discard()  # (The session went, and nobody closed what it had.)

    def close(self) -> None:
        self._discard()
        if self._reader is not None:
            self._reader.close()
        self._source.close()

    def save(self) -> State:
        if self._reader is not None:
            return self._reader.save()
        if self._writer is not None and not self._is_over and self._writer.entries:
            self._writer.finish()
            self._writer, self._shard = None, self._shard + 1
        state = {"shard": self._shard, "next": self._count, "over": int(self._is_over)}
        return state if self._is_over else {**state, "source": self._source.save()}

    def restore(self, state: State) -> None:
        from ....io.files import file_exists
        from ....io.tensor_bundle import index_path

        if file_exists(index_path(self._dataset.prefix)):
            self._reader = _FromFiles(self._dataset)
            self._reader.restore(state)
        elif "source" not in state:
            raise errors.not_found(
                f"The cache files {self._dataset.prefix!r}, which a saved iterator was reading, "
                "are gone."
            )
        else:
            self._count, self._shard = state["next"], state["shard"]
            self._source.restore(state["source"])
            self._forget()

    def _forget(self) -> None:
        """Deletes what was written after a state was kept, by a run that ended since."""
        from ....io.tensor_bundle import data_path, index_path

        shard = self._shard
        while any(
            # (A list: all are deleted, whichever are there.)
            [
                _delete(index_path(self._prefix(shard))),
                _delete(data_path(self._prefix(shard), 0, 1)),
                _delete(self._lock(shard)),
            ]
        ):
            shard += 1


def _delete(path: str) -> bool:
    """Deletes a file; whether it was there."""
    from ....io import files

    if not files.file_exists(path):
        return False
    files.delete_file(path)
    return True


class _FromFiles(BlockStream):
    def __init__(self, dataset: FileCacheDataset) -> None:
        from ....io.bundle_elements import BundleElements

        super().__init__()
        self._dataset = dataset
        self._elements = BundleElements(dataset.prefix, dataset.types)
        # Reads tensor by tensor; made when there is anything unusual.
        self._reader: BundleReader | None = None
        self._next = 0
        self.has_blocks = all(shape.is_fully_defined() for shape in dataset.shapes)

    def read_block(self, count: int) -> Block | None:
        if self._next == self._elements.count:
            return None
        block = self._elements.block(self._next, count) or self._read_one()
        if block is not None:
            self._next += len(block[0])
        return block

    def _read_one(self) -> Block | None:
        """The next element as a block of one."""
        from ....io.bundle_reader import BundleReader

        if self._reader is None:
            self._reader = BundleReader(self._dataset.prefix)
        found = []
        for i, kind in enumerate(self._dataset.types):
            key = self._dataset.key(self._next, i)
            if key not in self._reader:
                return None
            found.append(alone(as_array(self._reader.read(key), kind.np_dtype)))
        return found

    def save(self) -> State:
        return {"next": self._next - (self._count - self._place)}

    def restore(self, state: State) -> None:
        self._next = state["next"]
        self._place = self._count

    def close(self) -> None:
        self._elements.close()
        if self._reader is not None:
            self._reader.close()
