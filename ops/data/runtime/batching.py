# SPDX-License-Identifier: Apache-2.0
"""Datasets that put elements together and take them apart: batches, padded ones, windows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ....engine import errors
from ....engine.memory import recycled_empty
from ....engine.types.dtypes import DType
from ....engine.types.shape import TensorShape, shape_text
from ....engine.types.texts import PackedTexts
from .batch_filling import LEAST_OFFERED, RowsWay, put_row
from .dataset import INFINITE, Block, BlockWay, Dataset, Element, State, Stream, row_of
from .ordering import UnaryDataset
from .ragged import Ragged
from .sources import FixedDataset

if TYPE_CHECKING:
    from .context import Context


def _batches(count: int, size: int, drops: bool) -> int:
    """How many batches there are of `count` elements."""
    if count < 0:
        return count
    return count // size if drops else -(-count // size)


class BatchDataset(UnaryDataset):
    """Several elements, all of one shape, as one."""

    kind = "Batch"

    def __init__(
        self,
        source: Dataset,
        types: Sequence[DType],
        shapes: Sequence[TensorShape],
        size: int,
        drops: bool,
    ) -> None:
        super().__init__(source, types, shapes)
        self.size, self.drops = size, drops

    def stream(self, context: Context, path: str) -> Stream:
        return Batched(self, self.source_stream(context, path))

    def cardinality(self) -> int:
        return _batches(self.source.cardinality(), self.size, self.drops)


def gathered(stream: Stream, count: int) -> list[Element]:
    """The next elements, at most so many."""
    found: list[Element] = []
    while len(found) < count:
        element = stream.next()
        if element is None:
            break
        found.append(element)
    return found


class Batched(Stream):
    def __init__(self, dataset: BatchDataset, source: Stream) -> None:
        self._dataset = dataset
        self._source: Stream | None = source

    def next(self) -> Element | None:
        return self._next(lambda source: source.next_block)

    def next_packed(self) -> Element | None:
        return self._next(lambda source: source.next_packed_block)

    def _next(self, way: BlockWay) -> Element | None:
        source, size = self._source, self._dataset.size
        if source is None:
            return None
        found: Element | None = None
        if source.has_blocks:
            found, count = self._of_blocks(way(source))
        elif source.has_wanted:
            found, count = self._of_blocks(source.next_wanted)
        else:
            found, count = gathered_rows(source, size)
        if count < size:
            source.close()
            self._source = None
        return None if found is None or (count < size and self._dataset.drops) else found

    def _of_blocks(self, read: Callable[[int], Block | None]) -> tuple[Element | None, int]:
        """A batch of what is read in blocks, and its size."""
        size = self._dataset.size
        first = read(size)
        if first is None:
            return None, 0
        count = len(first[0])
        if count == size:
            return tuple(first), count
        blocks = [first]
        while count < size:
            block = read(size - count)
            if block is None:
                break
            blocks.append(block)
            count += len(block[0])
        return joined(blocks, count), count

    def save(self) -> State:
        return {} if self._source is None else {"source": self._source.save()}

    def restore(self, state: State) -> None:
        if "source" not in state:
            self._source = None
        elif self._source is not None:
            self._source.restore(state["source"])

    def close(self) -> None:
        if self._source is not None:
            self._source.close()


def joined(blocks: Sequence[Block], count: int) -> Element:
    """Blocks as one."""
    if len(blocks) == 1:
        return tuple(blocks[0])
    found: list[Any] = []
    for i, like in enumerate(blocks[0]):
        if any(isinstance(block[i], PackedTexts) for block in blocks):
            found.append(PackedTexts.joined([_packed(block[i]) for block in blocks]))
            continue
        whole = recycled_empty((count, *like.shape[1:]), like.dtype)
        place = 0
        for block in blocks:
            column = block[i]
            if column.shape[1:] != like.shape[1:]:
                raise _different(i, like.shape[1:], place, column.shape[1:])
            whole[place : place + len(column)] = column
            place += len(column)
        found.append(whole)
    return tuple(found)


def _packed(column: Any) -> PackedTexts:
    return column if isinstance(column, PackedTexts) else PackedTexts.of(column.tolist())


def _different(
    component: int, first: tuple[int, ...], number: int, other: tuple[int, ...]
) -> errors.InvalidArgumentError:
    return errors.invalid(
        f"Cannot batch tensors with different shapes in component {component}. First element had "
        f"shape {shape_text(first)} and element {number} had shape {shape_text(other)}."
    )


def gathered_rows(stream: Stream, size: int) -> tuple[Element | None, int]:
    """The next elements as rows, at most so many, and how many there are.

    Each becomes a row at once, while it lies in caches and before the next one takes its memory.
    InvalidArgumentError where shapes differ; the elements are read all the same.
    """
    found = stream.next_rows(size, _ONE_BY_ONE)
    if found is not None:
        return found
    first = stream.next()
    if first is None:
        return None, 0
    columns = [recycled_empty((size, *like.shape), like.dtype) for like in first]
    large = [column for column in columns if column.nbytes >= size * LEAST_OFFERED]
    element: Element | None = first
    failure, count = None, 0
    while element is not None:
        failure = failure or _put(columns, element, count)
        count += 1
        if count == size:
            break
        element = stream.next_in([column[count] for column in large]) if large else stream.next()
    if failure is not None:
        raise failure
    return tuple(columns if count == size else [column[:count] for column in columns]), count


def _put(
    columns: Sequence[np.ndarray], element: Element, number: int
) -> errors.InvalidArgumentError | None:
    """Makes an element one of the rows; what is wrong where it is of another shape."""
    for i, (column, item) in enumerate(zip(columns, element)):
        if item.shape != column.shape[1:]:
            return _different(i, column.shape[1:], number, item.shape)
        put_row(column, item, number)
    return None


def stacked(elements: Sequence[Element]) -> Element:
    """Elements as rows; InvalidArgumentError where their shapes differ."""
    columns = [recycled_empty((len(elements), *like.shape), like.dtype) for like in elements[0]]
    for number, element in enumerate(elements):
        failure = _put(columns, element, number)
        if failure is not None:
            raise failure
    return tuple(columns)


# What fails takes those before it along; the next batch begins behind it.
_ONE_BY_ONE = RowsWay(stacked, is_whole=False)


class PaddedBatchDataset(UnaryDataset):
    """Several elements as one, padded to one shape."""

    kind = "PaddedBatch"

    def __init__(
        self,
        source: Dataset,
        types: Sequence[DType],
        shapes: Sequence[TensorShape],
        size: int,
        drops: bool,
        paddings: Sequence[tuple[Sequence[int], Any]],
    ) -> None:
        """paddings: for each component its sizes, -1 for the longest, and what pads it."""
        super().__init__(source, types, shapes)
        self.size, self.drops, self.paddings = size, drops, paddings

    def stream(self, context: Context, path: str) -> Stream:
        return _Padded(self, self.source_stream(context, path))

    def cardinality(self) -> int:
        return _batches(self.source.cardinality(), self.size, self.drops)


class _Padded(Stream):
    def __init__(self, dataset: PaddedBatchDataset, source: Stream) -> None:
        self._dataset = dataset
        self._source: Stream | None = source

    def next(self) -> Element | None:
        if self._source is None:
            return None
        size = self._dataset.size
        columns = self._columns(self._source, size)
        count = len(columns[0]) if columns else 0
        if count < size:
            self._source.close()
            self._source = None
            if not count or self._dataset.drops:
                return None
        return tuple(
            padded(column, *padding, component=i)
            for i, (column, padding) in enumerate(zip(columns, self._dataset.paddings))
        )

    @staticmethod
    def _columns(source: Stream, size: int) -> list[Any]:
        """The components of the next elements, at most so many: a list of arrays each, or one."""
        read = source.next_block
        if not (source.has_blocks or source.has_ragged_blocks):
            read = source.next_wanted
            if not (source.has_wanted or source.has_ragged_wanted):
                return [list(column) for column in zip(*gathered(source, size))]
        blocks: list[Block] = []
        while size:
            block = read(size)
            if block is None:
                break
            blocks.append(block)
            size -= len(block[0])
        return [_rows_of(columns) for columns in zip(*blocks)]

    def save(self) -> State:
        return {} if self._source is None else {"source": self._source.save()}

    def restore(self, state: State) -> None:
        if "source" not in state:
            self._source = None
        elif self._source is not None:
            self._source.restore(state["source"])

    def close(self) -> None:
        if self._source is not None:
            self._source.close()


def _rows_of(columns: Sequence[Any]) -> Any:
    """A component of several blocks: together where they allow it, or a list of rows."""
    like = columns[0]
    if any(isinstance(column, Ragged) for column in columns) and like.ndim == 2:
        parts = [Ragged.of_rows(column) for column in columns]
        lengths = np.concatenate([part.lengths for part in parts])
        return Ragged.of_lengths(np.concatenate([part.flat for part in parts]), lengths)
    if like.ndim == 1:
        return np.concatenate(columns)
    return [row_of(column, i) for column in columns for i in range(len(column))]


def padded(items: Any, sizes: Sequence[int], filler: Any, component: int) -> np.ndarray:
    """Arrays as rows of one array, padded at their ends; items: a list of them, or a component."""
    if isinstance(items, np.ndarray) and not sizes:
        return items
    if isinstance(items, Ragged) and len(sizes) == 1:
        return _padded_vectors(items, sizes[0], filler, component)
    if not isinstance(items, list):
        items = [row_of(items, i) for i in range(len(items))]
    if len(sizes) == 1 and all(item.ndim == 1 for item in items):
        lengths = np.fromiter(map(len, items), np.int64, len(items))
        rows = Ragged.of_lengths(np.concatenate(items), lengths)
        return _padded_vectors(rows, sizes[0], filler, component)
    longest = [0] * len(sizes)
    for item in items:
        if item.ndim != len(sizes):
            raise errors.invalid(
                "All elements in a batch must have the same rank as the padded shape for component"
                f"{component}: expected rank {len(sizes)} but got element with rank {item.ndim}"
            )
        longest = [max(pair) for pair in zip(longest, item.shape)]
    for axis, (size, most) in enumerate(zip(sizes, longest)):
        if 0 <= size < most:
            raise _too_long(component, axis, most, size)
    shape = [most if size < 0 else size for size, most in zip(sizes, longest)]
    whole = recycled_empty((len(items), *shape), items[0].dtype)
    if any(item.shape != tuple(shape) for item in items):
        whole[...] = filler
    for i, item in enumerate(items):
        place: Any = (i, *(slice(0, size) for size in item.shape))
        whole[place] = item if item.ndim else item[()]
    return whole


def _too_long(component: int, axis: int, most: int, size: int) -> errors.DataLossError:
    return errors.data_loss(
        f"Attempted to pad to a smaller size than the input element: component {component}"
        f", axis {axis}, {most} > {size}."
    )


def _padded_vectors(rows: Ragged, size: int, filler: Any, component: int) -> np.ndarray:
    """The same for vectors, all at once."""
    lengths = rows.lengths
    most = int(lengths.max())
    if 0 <= size < most:
        raise _too_long(component, 0, most, size)
    width = most if size < 0 else size
    whole = recycled_empty((len(rows), width), rows.dtype)
    whole[...] = filler
    whole[np.arange(width) < lengths[:, None]] = rows.flat
    return whole


class UnbatchDataset(UnaryDataset):
    """The rows of elements."""

    kind = "Unbatch"

    def stream(self, context: Context, path: str) -> Stream:
        return _Unbatched(self.source_stream(context, path))

    def cardinality(self) -> int:
        count = self.source.cardinality()
        if count in (0, INFINITE):
            return count
        sizes = {shape[0] if shape.ndims else None for shape in self.source.shapes}
        size = next(iter(sizes)) if len(sizes) == 1 else None
        size = getattr(size, "value", size)
        return count * int(size) if count > 0 and size is not None else -2


class _Unbatched(Stream):
    def __init__(self, source: Stream) -> None:
        self._source = source
        self._batch: Element = ()
        self._next = 0

    def next(self) -> Element | None:
        while not self._batch or self._next >= len(self._batch[0]):
            batch = self._source.next()
            if batch is None:
                return None
            sizes = {len(column) for column in batch if column.ndim}
            if len(sizes) > 1 or any(column.ndim == 0 for column in batch):
                raise errors.invalid(
                    "Input element must have the same batch size in each component. Component 0 "
                    f"had size {_first_size(batch[0])} but component 1 had size, "
                    f"{_first_size(batch[-1])}."
                )
            self._batch, self._next = batch, 0
        self._next += 1
        return tuple([row_of(column, self._next - 1) for column in self._batch])

    def save(self) -> State:
        left = [np.array(column[self._next :]) for column in self._batch]
        return {"left": left, "source": self._source.save()}

    def restore(self, state: State) -> None:
        self._batch, self._next = tuple(state["left"]), 0
        self._source.restore(state["source"])

    def close(self) -> None:
        self._source.close()


def _first_size(column: np.ndarray) -> int | None:
    return len(column) if column.ndim else None


class WindowDataset(UnaryDataset):
    """Datasets of neighbouring elements, one for each component."""

    kind = "Window"

    def __init__(
        self,
        source: Dataset,
        types: Sequence[DType],
        shapes: Sequence[TensorShape],
        numbers: tuple[int, int, int],
        drops: bool,
    ) -> None:
        """numbers: size of a window, how far windows are apart, and how far its elements."""
        super().__init__(source, types, shapes)
        self.size, self.shift, self.stride = numbers
        self.drops = drops

    def stream(self, context: Context, path: str) -> Stream:
        return _Windows(self, self.source_stream(context, path))

    def cardinality(self) -> int:
        count = self.source.cardinality()
        if count < 0:
            return count
        if not self.drops:
            return -(-count // self.shift)
        whole = (self.size - 1) * self.stride + 1
        return 0 if count < whole else (count - whole) // self.shift + 1

    def combined(self, window: Sequence[Element]) -> Element:
        """A window as an element."""
        return tuple(
            FixedDataset([kind], [shape], [(element[i],) for element in window]).boxed()
            for i, (kind, shape) in enumerate(zip(self.source.types, self.source.shapes))
        )


class SlidingWindowDataset(WindowDataset):
    """Neighbouring elements as batches; what is left at the end is dropped."""

    kind = "SlidingWindow"

    def combined(self, window: Sequence[Element]) -> Element:
        """A window as a batch."""
        return stacked(window)


class _Windows(Stream):
    def __init__(self, dataset: WindowDataset, source: Stream) -> None:
        self._dataset, self._source = dataset, source
        # Elements, or in their place what was raised when they were asked for.
        self._held: list[Element | errors.OpError] = []
        # Elements to pass over before the next window, where windows lie far apart.
        self._ahead = 0
        self._is_over = False

    def next(self) -> Element | None:
        d = self._dataset
        whole = (d.size - 1) * d.stride + 1
        if not self._is_over:
            if self._ahead:
                self._is_over = self._source.skip(self._ahead) < self._ahead
                self._ahead = 0
            while not self._is_over and len(self._held) < whole:
                element = self._read()
                if element is None:
                    self._is_over = True
                else:
                    self._held.append(element)
        if not self._held or (d.drops and len(self._held) < whole):
            return None
        window = self._held[: whole : d.stride]
        self._ahead = max(0, d.shift - len(self._held))
        self._held = self._held[d.shift :]
        failed = [each for each in window if isinstance(each, errors.OpError)]
        if failed:
            raise failed[0]
        return d.combined([each for each in window if not isinstance(each, errors.OpError)])

    def _read(self) -> Element | errors.OpError | None:
        """The next element, or what is wrong with it: no window may come to want it."""
        try:
            return self._source.next()
        except (errors.CancelledError, errors.DeadlineExceededError):
            raise
        except errors.OpError as error:
            return error

    def save(self) -> State:
        held = []
        for each in self._held:
            if isinstance(each, errors.OpError):
                raise each
            held.append(list(each))
        return {
            "held": held,
            "ahead": self._ahead,
            "over": int(self._is_over),
            "source": self._source.save(),
        }

    def restore(self, state: State) -> None:
        self._held = [tuple(element) for element in state["held"]]
        self._ahead, self._is_over = state["ahead"], bool(state["over"])
        self._source.restore(state["source"])

    def close(self) -> None:
        self._source.close()
