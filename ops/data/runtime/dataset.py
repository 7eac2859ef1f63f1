# SPDX-License-Identifier: Apache-2.0
"""What a dataset is at run time: an immutable value that gives streams of elements.

An element is a tuple of arrays.  A `Stream` gives them one by one, or, where they are alike, in
blocks: one array for each component, with a row for each element.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ....engine import errors
from ....engine.types.dtypes import DType, boxed
from ....engine.types.shape import TensorShape
from .ragged import kept, taken_up

if TYPE_CHECKING:
    from .batch_filling import RowsWay
    from .context import Context
    from .origins import Origin

Element = tuple[np.ndarray, ...]
Block = list[np.ndarray]
# What picks the way in which blocks of a stream are read.
BlockWay = Callable[["Stream"], Callable[[int], Block | None]]
State = dict[str, Any]

INFINITE, UNKNOWN = -1, -2
# A block that is read ahead for single elements begins with one and doubles up to this many bytes.
_AHEAD_BYTES = 1 << 18
_AHEAD_ROWS = 1024


class Dataset:
    """Gives streams of elements, of `types` and `shapes`; nothing ever changes it."""

    kind = "Dataset"
    # The operation that made it and what it was given; None for what none made.
    origin: Origin | None = None

    def __init__(self, types: Sequence[DType], shapes: Sequence[TensorShape]) -> None:
        self.types, self.shapes = tuple(types), tuple(shapes)

    @property
    def inputs(self) -> Sequence[Dataset]:
        """The datasets that this one reads."""
        return ()

    def reading(self, inputs: Sequence[Dataset]) -> Dataset:
        """A dataset like this one that reads others."""
        del inputs
        return self

    def stream(self, context: Context, path: str) -> Stream:
        """A new stream of all elements; `path` tells it from other streams of the context."""
        raise NotImplementedError

    def rows(self, context: Context) -> Rows | None:
        """The elements by number, where they can be had in any order and any number of times."""
        del context
        return None

    def cardinality(self) -> int:
        """How many elements there are, INFINITE or UNKNOWN."""
        return UNKNOWN

    def boxed(self) -> np.ndarray:
        """As the value of a scalar variant tensor."""
        return boxed(self)

    def __repr__(self) -> str:
        return f"{self.kind}Dataset"


class DatasetOfParts(Dataset):
    """One that reads several datasets, its parts."""

    def __init__(
        self, types: Sequence[DType], shapes: Sequence[TensorShape], parts: Sequence[Dataset]
    ) -> None:
        super().__init__(types, shapes)
        self.parts = parts

    @property
    def inputs(self) -> Sequence[Dataset]:
        """The parts."""
        return self.parts

    def reading(self, inputs: Sequence[Dataset]) -> Dataset:
        """The same of other parts."""
        made = copy.copy(self)
        made.parts = tuple(inputs)
        return made


class Stream:
    """The elements of a dataset in order; one thread at a time reads it."""

    # Whether `next_block` may be called, and gives arrays.
    has_blocks = False
    # Whether it may be called, and may give a `Ragged` in the place of an array.
    has_ragged_blocks = False
    # Whether `next_wanted` may be called, and gives arrays; or may give a `Ragged`, too.
    has_wanted = has_ragged_wanted = False

    def next(self) -> Element | None:
        """The next element; None at the end."""
        raise NotImplementedError

    def next_in(self, rows: Sequence[np.ndarray]) -> Element | None:
        """As `next`, but large arrays of the element may be `rows`, into which they are to go."""
        del rows
        return self.next()

    def next_rows(self, size: int, way: RowsWay) -> tuple[Element | None, int] | None:
        """At most `size` elements as rows of one, None for no rows, and how many there are.

        The rows' memory is their own.  None where elements have to be read one by one.
        """
        del size, way
        return None

    def next_block(self, count: int) -> Block | None:
        """At most `count` elements, at least one, in a row for each; None at the end."""
        raise NotImplementedError

    def next_wanted(self, count: int) -> Block | None:
        """As `next_block`, of elements all of which are wanted: none is read ahead of them.

        For streams of which reading ahead could be seen: they read one element after the other.
        """
        raise NotImplementedError

    def next_packed(self) -> Element | None:
        """As `next`, but vectors of texts may be `PackedTexts`: for who takes them as they are."""
        return self.next()

    def next_packed_block(self, count: int) -> Block | None:
        """As `next_block`, but texts may be `PackedTexts`."""
        return self.next_block(count)

    def read_as(self, source: Stream) -> None:
        """Says that this stream gives its elements in the ways in which another one does."""
        self.has_blocks, self.has_wanted = source.has_blocks, source.has_wanted
        self.has_ragged_blocks = source.has_ragged_blocks
        self.has_ragged_wanted = source.has_ragged_wanted

    def skip(self, count: int) -> int:
        """Passes over `count` elements; how many there were."""
        for done in range(count):
            if self.next() is None:
                return done
        return count

    def save(self) -> State:
        """What `restore` needs so that a new stream goes on where this one is."""
        raise errors.unimplemented(f"{type(self).__name__} cannot be saved")

    def restore(self, state: State) -> None:
        """Makes a new stream go on where another one was when it was saved."""
        raise errors.unimplemented(f"{type(self).__name__} cannot be restored")

    def close(self) -> None:
        """Ends threads and gives back files; the stream is not read again."""


class OneSource(Stream):
    """A stream that has no state but that of its source, `_source`."""

    _source: Stream

    def save(self) -> State:
        return {"source": self._source.save()}

    def restore(self, state: State) -> None:
        self._source.restore(state["source"])

    def close(self) -> None:
        self._source.close()


class BlockStream(Stream):
    """A stream of blocks that gives single elements of a block read ahead."""

    has_blocks = True

    def __init__(self) -> None:
        self._ahead: Block = []
        self._place = self._count = 0
        self._size = 1

    def read_block(self, count: int) -> Block | None:
        """As `next_block`, of what was not read ahead."""
        raise NotImplementedError

    def next(self) -> Element | None:
        place = self._place
        if place == self._count:
            if not self._read_ahead():
                return None
            place = 0
        self._place = place + 1
        return tuple([row_of(column, place) for column in self._ahead])

    @property
    def is_ahead(self) -> bool:
        """Whether some of what was read ahead was not given yet."""
        return self._place < self._count

    def _read_ahead(self) -> bool:
        block = self.read_block(self._size)
        if block is None:
            self._ahead, self._place, self._count = [], 0, 0
            return False
        self._ahead, self._place, self._count = block, 0, len(block[0])
        row_bytes = sum(column.nbytes for column in block) // self._count + 1
        self._size = max(1, min(2 * self._size, _AHEAD_ROWS, _AHEAD_BYTES // row_bytes))
        return True

    def next_block(self, count: int) -> Block | None:
        place = self._place
        if place == self._count:
            return self.read_block(count)
        stop = self._place = min(self._count, place + count)
        return [column[place:stop] for column in self._ahead]

    def skip(self, count: int) -> int:
        done = 0
        while done < count:
            block = self.next_block(min(count - done, 1 << 16))
            if block is None:
                break
            done += len(block[0])
        return done

    def save_ahead(self) -> State:
        """What was read ahead and not given yet."""
        return {"ahead": [kept(column[self._place : self._count]) for column in self._ahead]}

    def restore_ahead(self, state: State) -> None:
        """Takes up what `save_ahead` gave."""
        self._ahead = [taken_up(column) for column in state["ahead"]]
        self._place, self._count = 0, len(self._ahead[0]) if self._ahead else 0


class Rows:
    """Elements by number."""

    def __init__(self, count: int) -> None:
        self.count = count

    def take(self, numbers: np.ndarray) -> Block:
        """The elements of some numbers, as a block of their own memory."""
        raise NotImplementedError


def row_of(column: np.ndarray, place: int) -> np.ndarray:
    """One row of a block's component, as an array."""
    row = column[place]
    if isinstance(row, np.ndarray) and column.ndim > 1:
        return row
    return boxed(row) if column.dtype == object else np.asarray(row)


def alone(result: np.ndarray) -> np.ndarray:
    """A result as a block of one element."""
    block = np.empty((1, *result.shape), result.dtype)
    block[0] = result if result.ndim else result[()]
    return block


def as_array(value: Any, dtype: np.dtype[Any]) -> np.ndarray:
    """A result of a run, where scalars are plain, as an array."""
    if isinstance(value, np.ndarray):
        return value
    return boxed(value) if dtype.hasobject else np.asarray(value, dtype)


def dataset_in(value: object) -> Dataset:
    """The dataset that a scalar variant tensor holds."""
    found = value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value
    if not isinstance(found, Dataset):
        raise errors.invalid(f"The input is no dataset: {found!r}")
    return found
