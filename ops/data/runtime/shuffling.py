# SPDX-License-Identifier: Apache-2.0
"""Shuffled datasets: TensorFlow's algorithm and random numbers, so that orders are its own.

A buffer is filled; an element is drawn from it and the next one takes a place in it.  Where the
elements can be had by number, only numbers are shuffled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ....engine import errors
from .dataset import INFINITE, UNKNOWN, Block, BlockStream, Dataset, Element, Rows, State, Stream
from .ordering import UnaryDataset
from .random import Samples, SeedGenerator
from .singles import AheadSingles

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
            return _Shuffled(self, context, path).in_blocks()
        return _ShuffledRows(self, context, path, rows)

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
        self.seeds, self.generator = _seeds(dataset, context, path)
        self._samples = Samples(*self.seeds)
        self._buffer: dict[int, Element] = {}
        self._epochs = [_Slots(0, 0)]
        self._epoch = self._held = 0
        self._source: Stream | None = None

    def _begin(self) -> Stream:
        return self._dataset.source_stream(self._context, self._path)

    def in_blocks(self) -> Stream:
        """The stream, in blocks if its source may be read before its time."""
        self._source = self._begin()
        if self._source.has_blocks or self._source.has_ragged_blocks:
            return AheadSingles(self, self._source.has_blocks)
        return self

    def next(self) -> Element | None:
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
        self._epoch = state["epoch"]
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


class _Numbers:
    """The numbers of elements, shuffled as `_Shuffled` shuffles elements, many at a time.

    A step puts a number into the buffer and draws one.  As long as the numbers put there are of one
    epoch, and those drawn are of one, many steps are one loop.
    """

    def __init__(self, size: int, count: int, epochs: int) -> None:
        """epochs: how many times the numbers below `count` come; -1: without end."""
        self._size, self._count, self._most = size, count, epochs
        # (What is held never needs more room, however large a buffer was asked for.)
        self._buffer = [0] * max(1, min(size, count * (_MOST_EPOCHS + 2)))
        self._epochs = [_Slots(0, 0)]
        self._held = self._epoch = self._next = 0
        self._is_over = not count

    def draw(self, samples: Samples, count: int) -> np.ndarray:
        """At most so many numbers, in the order in which they are drawn; none at the end."""
        drawn: list[int] = []
        while len(drawn) < count:
            self._fill()
            if not self._held:
                break
            while self._epochs[0].start == self._epochs[0].stop:
                self._epochs.pop(0)
            self._steps(samples, drawn, count - len(drawn))
        return np.array(drawn, np.int64)

    def _fill(self) -> None:
        """Puts numbers into the buffer as long as there is room."""
        buffer = self._buffer
        while not self._is_over and self._held < self._size:
            last = self._epochs[-1]
            if self._next == self._count:
                self._epoch += 1
                self._epochs.append(_Slots(last.stop, last.stop))
                self._next = 0
                self._is_over = self._epoch == self._most
                continue
            buffer[last.stop % len(buffer)] = self._next
            last.stop += 1
            self._next += 1
            self._held += 1
            if len(self._epochs) > _MOST_EPOCHS:
                return

    def _steps(self, samples: Samples, drawn: list[int], count: int) -> None:
        """Draws, fills, draws again, and so on, at most `count` times; it ends with a draw."""
        buffer, first, last = self._buffer, self._epochs[0], self._epochs[-1]
        width, room = first.stop - first.start, len(buffer)
        stays = first is last and not self._is_over
        if not stays:
            count = min(count, width)
        fills = 0 if self._is_over else min(count - 1, self._count - self._next)
        if not self._is_over:
            count = fills + 1
        widths = width if stays else width - np.arange(count)
        fronts = first.start + np.arange(count)
        places = (fronts + samples.take(count) % np.asarray(widths, np.uint32)) % room
        drawn_at, moved_from = places.tolist(), (fronts % room).tolist()
        ends = ((last.stop + np.arange(fills)) % room).tolist()
        add = drawn.append
        numbers = range(self._next, self._count)
        for place, front, end, number in zip(drawn_at, moved_from, ends, numbers):
            add(buffer[place])
            buffer[place] = buffer[front]
            buffer[end] = number
        for place, front in zip(drawn_at[fills:], moved_from[fills:]):
            add(buffer[place])
            buffer[place] = buffer[front]
        first.start += count
        last.stop += fills
        self._next += fills
        self._held += fills - count

    def save(self) -> State:
        """Where it is."""
        return {
            "buffer": np.array(self._buffer, np.int64),
            "epochs": [[slots.start, slots.stop] for slots in self._epochs],
            "place": [self._held, self._epoch, self._next, int(self._is_over)],
        }

    def restore(self, state: State) -> None:
        """Goes to where another one was."""
        self._buffer = state["buffer"].tolist()
        self._epochs = [_Slots(*slots) for slots in state["epochs"]]
        self._held, self._epoch, self._next, is_over = state["place"]
        self._is_over = bool(is_over)


class _ShuffledRows(BlockStream):
    """Shuffles the numbers of elements, and has the elements computed in that order."""

    def __init__(self, dataset: ShuffleDataset, context: Context, path: str, rows: Rows) -> None:
        super().__init__()
        self.seeds, self.generator = _seeds(dataset, context, path)
        self._rows, self._samples = rows, Samples(*self.seeds)
        self._numbers = _Numbers(dataset.size, rows.count, dataset.count)
        self._computed: Block = []
        self._given = self._ready = 0
        self._most = _DRAWN

    def read_block(self, count: int) -> Block | None:
        if self._given == self._ready:
            numbers = self._numbers.draw(self._samples, max(count, self._most))
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
        state: State = {
            "seeds": list(self.seeds),
            "drawn": self._samples.count,
            "numbers": self._numbers.save(),
            "computed": [np.array(column[self._given : self._ready]) for column in self._computed],
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
        self._numbers.restore(state["numbers"])
        self._computed = list(state["computed"])
        self._given, self._ready = 0, len(self._computed[0]) if self._computed else 0


def _seeds(
    dataset: ShuffleDataset, context: Context, path: str
) -> tuple[tuple[int, int], SeedGenerator | None]:
    """The seeds of a stream, and what generated them."""
    if dataset.generator is None and not dataset.reshuffles:
        return dataset.seeds, None
    generator = dataset.generator or context.generator(path, dataset.seeds)
    return generator.next(), generator
