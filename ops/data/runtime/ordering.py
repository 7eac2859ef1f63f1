# SPDX-License-Identifier: Apache-2.0
"""Datasets that give the elements of others as they are: some of them, again, or side by side."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ....engine import errors
from ....engine.types.dtypes import DType
from ....engine.types.shape import TensorShape
from ....engine.types.texts import PackedTexts
from .dataset import (
    INFINITE,
    UNKNOWN,
    Block,
    BlockStream,
    BlockWay,
    Dataset,
    DatasetOfParts,
    Element,
    Rows,
    State,
    Stream,
)
from .ragged import kept, taken_up

if TYPE_CHECKING:
    from .context import Context


class UnaryDataset(Dataset):
    """A dataset of elements of another one, of its types and shapes unless others are given."""

    def __init__(
        self,
        source: Dataset,
        types: Sequence[DType] | None = None,
        shapes: Sequence[TensorShape] | None = None,
    ) -> None:
        super().__init__(types or source.types, shapes or source.shapes)
        self.source = source

    @property
    def inputs(self) -> Sequence[Dataset]:
        return (self.source,)

    def reading(self, inputs: Sequence[Dataset]) -> Dataset:
        made = copy.copy(self)
        (made.source,) = inputs
        return made

    def source_stream(self, context: Context, path: str) -> Stream:
        """A stream of what this dataset reads."""
        return self.source.stream(context, f"{path}::{self.kind}")

    def cardinality(self) -> int:
        return self.source.cardinality()


class PassingDataset(UnaryDataset):
    """The same elements: what only says how they are to be read."""

    def stream(self, context: Context, path: str) -> Stream:
        return self.source_stream(context, path)

    def rows(self, context: Context) -> Rows | None:
        return self.source.rows(context)


class RepeatDataset(UnaryDataset):
    """The elements again and again."""

    def __init__(self, source: Dataset, count: int) -> None:
        super().__init__(source)
        self.count = count
        # (TensorFlow tells these apart.)
        self.kind = ("Forever" if count < 0 else "Finite" if count else "Empty") + "Repeat"

    def stream(self, context: Context, path: str) -> Stream:
        return _Repeated(self, context, path)

    def cardinality(self) -> int:
        count = self.source.cardinality()
        if self.count < 0:
            return 0 if count == 0 else INFINITE
        if self.count == 0:
            return 0
        return count * self.count if count >= 0 else count


class _Repeated(Stream):
    def __init__(self, dataset: RepeatDataset, context: Context, path: str) -> None:
        self._dataset, self._context, self._path = dataset, context, path
        self._left = dataset.count
        self._source = self._begin() if self._left else None
        self._is_first = True
        if self._source is not None:
            self.read_as(self._source)

    def _begin(self) -> Stream:
        return self._dataset.source_stream(self._context, self._path)

    def _again(self) -> bool:
        """Begins once more; whether there is anything to begin with."""
        assert self._source is not None
        self._source.close()
        if self._left > 0:
            self._left -= 1
        # An endless repetition of nothing ends.
        if self._left == 0 or (self._left < 0 and self._is_first):
            self._source, self._left = None, 0
            return False
        self._context.check()
        self._source, self._is_first = self._begin(), True
        return True

    def next(self) -> Element | None:
        while self._source is not None:
            element = self._source.next()
            if element is not None:
                self._is_first = False
                return element
            self._again()
        return None

    def next_block(self, count: int) -> Block | None:
        return self._block(count, lambda source: source.next_block)

    def next_packed_block(self, count: int) -> Block | None:
        return self._block(count, lambda source: source.next_packed_block)

    def next_wanted(self, count: int) -> Block | None:
        return self._block(count, lambda source: source.next_wanted)

    def _block(self, count: int, way: BlockWay) -> Block | None:
        while self._source is not None:
            block = way(self._source)(count)
            if block is not None:
                self._is_first = False
                return block
            self._again()
        return None

    def save(self) -> State:
        state: State = {"left": self._left, "is_first": int(self._is_first)}
        if self._source is not None:
            state["source"] = self._source.save()
        return state

    def restore(self, state: State) -> None:
        self._left, self._is_first = state["left"], bool(state["is_first"])
        if "source" not in state:
            self._source = None
        elif self._source is not None:
            self._source.restore(state["source"])

    def close(self) -> None:
        if self._source is not None:
            self._source.close()


class TakeDataset(UnaryDataset):
    """The first elements."""

    def __init__(self, source: Dataset, count: int) -> None:
        super().__init__(source)
        self.count = count
        # (TensorFlow tells these apart.)
        self.kind = ("Finite" if count else "Empty") + "Take"

    def stream(self, context: Context, path: str) -> Stream:
        return _Taken(self.source_stream(context, path), self.count)

    def rows(self, context: Context) -> Rows | None:
        rows = self.source.rows(context)
        if rows is None or self.count < 0:
            return rows
        return _Part(rows, 0, min(self.count, rows.count))

    def cardinality(self) -> int:
        count = self.source.cardinality()
        if count == UNKNOWN or self.count < 0:
            return count
        return self.count if count == INFINITE else min(count, self.count)


class _Part(Rows):
    """Every `step`-th of some rows."""

    def __init__(self, rows: Rows, start: int, count: int, step: int = 1) -> None:
        super().__init__(count)
        self._rows, self._start, self._step = rows, start, step

    def take(self, numbers: np.ndarray) -> Block:
        return self._rows.take(self._start + self._step * numbers)


class _Taken(Stream):
    def __init__(self, source: Stream, count: int) -> None:
        self._source, self._left = source, count
        self.read_as(source)

    def next(self) -> Element | None:
        if self._left == 0:
            self._source.close()
            return None
        self._left -= 1
        return self._source.next()

    def next_block(self, count: int) -> Block | None:
        return self._block(count, self._source.next_block)

    def next_packed_block(self, count: int) -> Block | None:
        return self._block(count, self._source.next_packed_block)

    def next_wanted(self, count: int) -> Block | None:
        return self._block(count, self._source.next_wanted)

    def _block(self, count: int, read: Callable[[int], Block | None]) -> Block | None:
        if self._left == 0:
            return None
        block = read(count if self._left < 0 else min(count, self._left))
        if block is not None and self._left > 0:
            self._left -= len(block[0])
        return block

    def save(self) -> State:
        return {"left": self._left, "source": self._source.save()}

    def restore(self, state: State) -> None:
        self._left = state["left"]
        self._source.restore(state["source"])

    def close(self) -> None:
        self._source.close()


class SkipDataset(UnaryDataset):
    """All but the first elements."""

    def __init__(self, source: Dataset, count: int) -> None:
        super().__init__(source)
        self.count = count
        # (TensorFlow tells these apart.)
        self.kind = ("Finite" if count >= 0 else "Empty") + "Skip"

    def stream(self, context: Context, path: str) -> Stream:
        return _Skipping(self.source_stream(context, path), self.count)

    def rows(self, context: Context) -> Rows | None:
        rows = self.source.rows(context)
        if rows is None:
            return None
        left = max(rows.count - self.count, 0) if self.count >= 0 else 0
        return _Part(rows, rows.count - left, left)

    def cardinality(self) -> int:
        if self.count < 0:
            return 0
        count = self.source.cardinality()
        return max(count - self.count, 0) if count >= 0 else count


class _Skipping(Stream):
    def __init__(self, source: Stream, count: int) -> None:
        self._source, self._left = source, count
        self.read_as(source)

    def _has_skipped(self) -> bool:
        """Skips what is to be skipped; whether anything can be left."""
        if self._left > 0:
            self._left -= self._source.skip(self._left)
            if self._left > 0:
                self._left = -1
        return self._left == 0

    def next(self) -> Element | None:
        return self._source.next() if self._has_skipped() else None

    def next_block(self, count: int) -> Block | None:
        return self._source.next_block(count) if self._has_skipped() else None

    def next_packed_block(self, count: int) -> Block | None:
        return self._source.next_packed_block(count) if self._has_skipped() else None

    def next_wanted(self, count: int) -> Block | None:
        return self._source.next_wanted(count) if self._has_skipped() else None

    def save(self) -> State:
        return {"left": self._left, "source": self._source.save()}

    def restore(self, state: State) -> None:
        self._left = state["left"]
        self._source.restore(state["source"])

    def close(self) -> None:
        self._source.close()


class ShardDataset(UnaryDataset):
    """Every n-th element."""

    kind = "Shard"

    def __init__(self, source: Dataset, shards: int, index: int, requires: bool = False) -> None:
        super().__init__(source)
        self.shards, self.index, self.requires = shards, index, requires

    def stream(self, context: Context, path: str) -> Stream:
        source = self.source_stream(context, path)
        has_blocks = source.has_blocks or source.has_ragged_blocks
        kind = _ShardedBlocks if has_blocks and not self.requires else _Sharded
        return kind(self, source)

    def rows(self, context: Context) -> Rows | None:
        rows = None if self.requires else self.source.rows(context)
        if rows is None:
            return None
        count = max(0, -((self.index - rows.count) // self.shards))
        return _Part(rows, self.index, count, self.shards)

    def cardinality(self) -> int:
        count = self.source.cardinality()
        return count if count < 0 else max(0, -((self.index - count) // self.shards))


class _Sharded(Stream):
    def __init__(self, dataset: ShardDataset, source: Stream) -> None:
        self._dataset, self._source = dataset, source
        self._next = 0

    def next(self) -> Element | None:
        shards, index = self._dataset.shards, self._dataset.index
        before = (index - self._next) % shards
        done = self._source.skip(before)
        self._next += done
        element = self._source.next() if done == before else None
        if element is None:
            return None
        self._next += 1
        if self._dataset.requires and self._next <= shards:
            self._look_on(shards)
        return element

    def _look_on(self, shards: int) -> None:
        """Holds that the other shards get an element, too; who has none itself does not ask."""
        done = self._source.skip(shards - self._next)
        self._next += done
        if self._next < shards:
            raise errors.invalid(
                f"There aren't enough elements in this dataset for each shard to have at least one "
                f"element (# elems = {self._next}, # shards = {shards}). If you are using datasets "
                "with distribution strategy, consider turning dataset autosharding off with "
                "`tf.data.Options`."
            )

    def save(self) -> State:
        return {"next": self._next, "source": self._source.save()}

    def restore(self, state: State) -> None:
        self._next = state["next"]
        self._source.restore(state["source"])

    def close(self) -> None:
        self._source.close()


class _ShardedBlocks(_Sharded):
    """The same of a stream of blocks."""

    def __init__(self, dataset: ShardDataset, source: Stream) -> None:
        super().__init__(dataset, source)
        self.has_blocks, self.has_ragged_blocks = source.has_blocks, source.has_ragged_blocks

    def next_block(self, count: int) -> Block | None:
        return self._block(count, self._source.next_block)

    def next_packed_block(self, count: int) -> Block | None:
        return self._block(count, self._source.next_packed_block)

    def _block(self, count: int, read: Callable[[int], Block | None]) -> Block | None:
        shards, index = self._dataset.shards, self._dataset.index
        # (From the first row that is wanted to the last.)
        size = (index - self._next) % shards + (count - 1) * shards + 1
        while (block := read(size)) is not None:
            is_wanted = (self._next + np.arange(len(block[0]))) % shards == index
            self._next += len(block[0])
            if is_wanted.any():
                return [_rows_where(column, is_wanted) for column in block]
        return None


def _rows_where(column: Any, mask: np.ndarray) -> Any:
    """Some rows of a component of a block."""
    if isinstance(column, PackedTexts):
        return PackedTexts(column.data, column.places[mask])
    return column[mask]


class ZipDataset(DatasetOfParts):
    """Elements of several datasets side by side, as long as all have one."""

    kind = "Zip"

    def stream(self, context: Context, path: str) -> Stream:
        streams = [part.stream(context, f"{path}::Zip[{i}]") for i, part in enumerate(self.parts)]
        if all(stream.has_blocks or stream.has_ragged_blocks for stream in streams):
            return _ZippedBlocks(streams)
        return _Zipped(streams)

    def rows(self, context: Context) -> Rows | None:
        found = [part.rows(context) for part in self.parts]
        rows = [part for part in found if part is not None]
        return _ZippedRows(rows) if len(rows) == len(found) else None

    def cardinality(self) -> int:
        counts = [part.cardinality() for part in self.parts]
        if UNKNOWN in counts:
            return UNKNOWN
        return min((count for count in counts if count != INFINITE), default=INFINITE)


class _ZippedRows(Rows):
    def __init__(self, parts: Sequence[Rows]) -> None:
        super().__init__(min(part.count for part in parts))
        self._parts = parts

    def take(self, numbers: np.ndarray) -> Block:
        return [column for part in self._parts for column in part.take(numbers)]


class _Zipped(Stream):
    def __init__(self, parts: Sequence[Stream]) -> None:
        self._parts = parts
        self._is_over = False

    def next(self) -> Element | None:
        if self._is_over:
            return None
        found: list[np.ndarray] = []
        for part in self._parts:
            element = part.next()
            if element is None:
                self._is_over = True
                return None
            found += element
        return tuple(found)

    def save(self) -> State:
        return {"over": int(self._is_over), "parts": [part.save() for part in self._parts]}

    def restore(self, state: State) -> None:
        self._is_over = bool(state["over"])
        for part, saved in zip(self._parts, state["parts"], strict=True):
            part.restore(saved)

    def close(self) -> None:
        for part in self._parts:
            part.close()


class _ZippedBlocks(BlockStream):
    def __init__(self, parts: Sequence[Stream]) -> None:
        super().__init__()
        self._parts = parts
        self.has_blocks = all(part.has_blocks for part in parts)
        self.has_ragged_blocks = True
        # What a part gave more than the others.
        self._held: list[Block | None] = [None] * len(parts)

    def read_block(self, count: int) -> Block | None:
        for i, part in enumerate(self._parts):
            if self._held[i] is None:
                self._held[i] = part.next_block(count)
        blocks = [block for block in self._held if block is not None]
        if len(blocks) < len(self._parts):
            return None
        rows = min(count, *(len(block[0]) for block in blocks))
        self._held = [
            [column[rows:] for column in block] if len(block[0]) > rows else None
            for block in blocks
        ]
        return [column[:rows] for block in blocks for column in block]

    def save(self) -> State:
        held = [list(map(kept, block or ())) for block in self._held]
        parts = [part.save() for part in self._parts]
        return {"held": held, "parts": parts, **self.save_ahead()}

    def restore(self, state: State) -> None:
        self.restore_ahead(state)
        self._held = [list(map(taken_up, block)) or None for block in state["held"]]
        for part, saved in zip(self._parts, state["parts"], strict=True):
            part.restore(saved)

    def close(self) -> None:
        for part in self._parts:
            part.close()
