# SPDX-License-Identifier: Apache-2.0
"""Shuffled datasets: TensorFlow's algorithm and random numbers, so that orders are its own.

A buffer is filled; an element is drawn from it and the next one takes a place in it.  Where the
elements can be had by number, only numbers are shuffled.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

import numpy as np

from ....engine import errors
from ....engine.types.dtypes import int64
from ....engine.types.shape import TensorShape
from .dataset import INFINITE, UNKNOWN, Block, BlockStream, Dataset, Element, Rows, State, Stream
from .ordering import UnaryDataset
from .random import Samples, SeedGenerator
from .sources import RangeDataset

if TYPE_CHECKING:
    from .context import Context

# Elements of so many epochs lie in a buffer at most: one more is begun (shuffle_dataset_op.cc).
_MOST_EPOCHS = 3
# Numbers shuffled at a time.
_DRAWN = 1 << 13
_COMPUTED_BYTES = 1 << 19


class ShuffleDataset(UnaryDataset):
    """The elements in random order, `count` times over."""

    kind = "Shuffle"

    def __init__(
        self,
        source: Dataset,
        size: int,
        seeds: tuple[int, int],
        reshuffles: bool,
        count: int = 1,
        generator: SeedGenerator | None = None,
    ) -> None:
        """generator: gives the seeds of each stream; without one, a context's own for the place."""
        super().__init__(source)
        self.size, self.seeds, self.reshuffles, self.count = size, seeds, reshuffles, count
        self.generator = generator

    def stream(self, context: Context, path: str) -> Stream:
        rows = self.source.rows(context)
        if rows is None:
            return _Shuffled(self, context, path)
        if self.count == 1:
            shuffled = _Shuffled(self, context, path)
            return _ShuffledRows(shuffled.seeds, shuffled.generator, self.size, rows)
        # Over repetitions the numbers of elements are what is shuffled.
        numbers = copy.copy(self)
        numbers.source = RangeDataset([int64], [TensorShape([])], (0, rows.count, 1))
        return _ByNumber(_Shuffled(numbers, context, path), rows)

    def cardinality(self) -> int:
        count = self.source.cardinality()
        if self.count == -1 or count == INFINITE:
            return INFINITE
        return count * self.count if count != UNKNOWN else UNKNOWN


class _Slots:
    """Where elements of one epoch lie in the buffer."""

    __slots__ = ("start", "stop")

    def __init__(self, start: int, stop: int) -> None:
        self.start, self.stop = start, stop


class _Shuffled(Stream):
    """Shuffles elements themselves."""

    def __init__(self, dataset: ShuffleDataset, context: Context, path: str) -> None:
        self._dataset, self._context, self._path = dataset, context, path
        self.generator: SeedGenerator | None = None
        self.seeds = dataset.seeds
        if dataset.generator is not None or dataset.reshuffles:
            self.generator = dataset.generator or context.generator(path, dataset.seeds)
            self.seeds = self.generator.next()
        self._samples = Samples(*self.seeds)
        self._buffer: dict[int, Element] = {}
        self._epochs = [_Slots(0, 0)]
        self._epoch = self._held = 0
        self._source: Stream | None = None
        self._has_begun = False

    def _begin(self) -> Stream:
        return self._dataset.source_stream(self._context, self._path)

    def next(self) -> Element | None:
        if not self._has_begun:
            self._has_begun = True
            self._source = self._begin()
        while self._source is not None and self._held < self._dataset.size:
            element = self._read()
            if element is None:
                break
            last = self._epochs[-1]
            self._buffer[last.stop % self._dataset.size] = element
            last.stop += 1
            self._held += 1
            if len(self._epochs) > _MOST_EPOCHS:
                break
        return self._draw() if self._held else None

    def _read(self) -> Element | None:
        """The next element to be put into the buffer; None when there is no more."""
        assert self._source is not None
        while self._dataset.count == -1 or self._epoch < self._dataset.count:
            element = self._source.next()
            if element is not None:
                return element
            self._source.close()
            stop = self._epochs[-1].stop
            if self._dataset.count == -1 and stop == 0:
                break
            self._epoch += 1
            self._epochs.append(_Slots(stop, stop))
            self._context.check()
            # Even where nobody reads it: what it reads may draw seeds.
            self._source = self._begin()
        self._source.close()
        self._source = None
        return None

    def _draw(self) -> Element:
        size = self._dataset.size
        while self._epochs[0].start == self._epochs[0].stop:
            self._epochs.pop(0)
        first = self._epochs[0]
        offset = self._samples.next() % (first.stop - first.start)
        place, front = (first.start + offset) % size, first.start % size
        drawn = self._buffer[place]
        self._buffer[place] = self._buffer[front]
        del self._buffer[front]
        first.start += 1
        self._held -= 1
        return drawn

    def save(self) -> State:
        state: State = {
            "seeds": list(self.seeds),
            "drawn": self._samples.count,
            "epoch": self._epoch,
            "epochs": [[slots.start, slots.stop] for slots in self._epochs],
            "begun": int(self._has_begun),
            "places": list(self._buffer),
            "buffer": [list(element) for element in self._buffer.values()],
        }
        if self.generator is not None:
            state["generated"] = self.generator.count
        if self._source is not None:
            state["source"] = self._source.save()
        return state

    def restore(self, state: State) -> None:
        self.seeds = tuple(state["seeds"])
        self._samples = Samples(*self.seeds)
        self._samples.skip_to(state["drawn"])
        if self.generator is not None:
            self.generator.skip_to(state["generated"])
        self._epoch, self._has_begun = state["epoch"], bool(state["begun"])
        self._epochs = [_Slots(*slots) for slots in state["epochs"]]
        elements = (tuple(element) for element in state["buffer"])
        self._buffer = dict(zip(state["places"], elements))
        self._held = len(self._buffer)
        self._source = None
        if "source" in state:
            self._source = self._begin()
            self._source.restore(state["source"])

    def close(self) -> None:
        if self._source is not None:
            self._source.close()


class _ShuffledRows(BlockStream):
    """Shuffles the numbers of elements, and has the elements computed in that order."""

    def __init__(
        self,
        seeds: tuple[int, int],
        generator: SeedGenerator | None,
        size: int,
        rows: Rows,
    ) -> None:
        super().__init__()
        self.seeds, self.generator, self._rows = seeds, generator, rows
        self._samples = Samples(*seeds)
        self._buffer = list(range(min(size, rows.count)))
        # How many elements were drawn.
        self._start = 0
        self._computed: Block = []
        self._place = self._count = 0
        self._given = self._ready = 0
        self._most = _DRAWN

    def _draw(self, count: int) -> np.ndarray:
        """The numbers of the next elements."""
        left = self._rows.count - self._start
        count = min(count, left)
        size, start = len(self._buffer), self._start
        held = np.minimum(left - np.arange(count), size)
        offsets = self._samples.take(count) % held.astype(np.uint32)
        fronts = np.arange(start, start + count)
        places = ((fronts + offsets) % size).tolist()
        buffer, drawn = self._buffer, []
        # Where an element of the front was, the next one comes, if there is one.
        for front, number, place in zip((fronts % size).tolist(), (fronts + size).tolist(), places):
            drawn.append(buffer[place])
            buffer[place] = buffer[front]
            buffer[front] = number
        self._start += count
        return np.array(drawn, np.int64)

    def read_block(self, count: int) -> Block | None:
        if self._given == self._ready:
            numbers = self._draw(max(count, self._most))
            if not len(numbers):
                return None
            self._computed = self._rows.take(numbers)
            self._given, self._ready = 0, len(numbers)
            row_bytes = sum(column.nbytes for column in self._computed) // len(numbers) + 1
            self._most = max(1, min(_DRAWN, _COMPUTED_BYTES // row_bytes))
        start = self._given
        stop = self._given = min(self._ready, start + count)
        return [column[start:stop] for column in self._computed]

    def save(self) -> State:
        left = [np.array(column[self._given : self._ready]) for column in self._computed]
        state: State = {
            "seeds": list(self.seeds),
            "drawn": self._samples.count,
            "start": self._start,
            "numbers": np.array(self._buffer, np.int64),
            "computed": left,
            **self.save_ahead(),
        }
        if self.generator is not None:
            state["generated"] = self.generator.count
        return state

    def restore(self, state: State) -> None:
        if "numbers" not in state:
            raise errors.invalid("The state is of an iterator over other data")
        self.restore_ahead(state)
        self.seeds = tuple(state["seeds"])
        self._samples = Samples(*self.seeds)
        self._samples.skip_to(state["drawn"])
        if self.generator is not None:
            self.generator.skip_to(state["generated"])
        self._start = state["start"]
        self._buffer = state["numbers"].tolist()
        self._computed = list(state["computed"])
        self._given, self._ready = 0, len(self._computed[0]) if self._computed else 0


class _ByNumber(BlockStream):
    """The elements whose numbers a stream gives."""

    def __init__(self, numbers: Stream, rows: Rows) -> None:
        super().__init__()
        self._numbers, self._rows = numbers, rows

    def read_block(self, count: int) -> Block | None:
        found: list[int] = []
        while len(found) < count:
            element = self._numbers.next()
            if element is None:
                break
            found.append(int(element[0]))
        return self._rows.take(np.array(found, np.int64)) if found else None

    def save(self) -> State:
        return {"numbers": self._numbers.save(), **self.save_ahead()}

    def restore(self, state: State) -> None:
        self.restore_ahead(state)
        self._numbers.restore(state["numbers"])
