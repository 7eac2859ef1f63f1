# SPDX-License-Identifier: Apache-2.0
"""Shuffled datasets: TensorFlow's algorithm and random numbers, so that orders are its own.

A buffer is filled; an element is drawn from it and the next one takes a place in it.  Where the
elements can be had by number, only numbers are shuffled.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ....engine import errors
from .dataset import INFINITE, UNKNOWN, Block, BlockStream, Dataset, Element, Rows, State, Stream
from .ordering import UnaryDataset
from .random import Samples, SeedGenerator
from .shuffle_pool import MOST_EPOCHS, Numbers, Pool, Slots
from .singles import AheadSingles

if TYPE_CHECKING:
    from .context import Context

# The seeds of a stream, and what generated them.
Seeds = tuple[tuple[int, int], SeedGenerator | None]
# Numbers shuffled at a time.
_DRAWN = 1 << 13
_COMPUTED_BYTES = 1 << 19
# Rows of a source read at a time.
_MOST_ROWS = 256


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
        if rows is not None:
            return _ShuffledRows(self, context, path, rows)
        seeds = _seeds(self, context, path)
        source = self.source_stream(context, path)
        if source.has_blocks:
            return _ShuffledBlocks(self, context, path, seeds, source)
        found = _Shuffled(self, context, path, seeds, source)
        return AheadSingles(found) if source.has_ragged_blocks else found

    def cardinality(self) -> int:
        count = self.source.cardinality()
        if self.count == -1 or count == INFINITE:
            return INFINITE
        return count * self.count if count != UNKNOWN else UNKNOWN


class _Shuffled(Stream):
    """Shuffles elements themselves."""

    def __init__(
        self,
        dataset: ShuffleDataset,
        context: Context,
        path: str,
        seeds: Seeds,
        source: Stream,
    ) -> None:
        self._dataset, self._context, self._path = dataset, context, path
        self.seeds, self.generator = seeds
        self._samples = Samples(*self.seeds)
        self._buffer: dict[int, Element] = {}
        self._epochs = [Slots(0, 0)]
        self._epoch = self._held = 0
        self._source: Stream | None = source

    def _begin(self) -> Stream:
        return self._dataset.source_stream(self._context, self._path)

    def next(self) -> Element | None:
        while self._source is not None and self._held < self._dataset.size:
            element = self._read()
            if element is None:
                break
            last = self._epochs[-1]
            self._buffer[last.stop % self._dataset.size] = element
            last.stop += 1
            self._held += 1
            if len(self._epochs) > MOST_EPOCHS:
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
            self._epochs.append(Slots(stop, stop))
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
            **_drawn(self),
            "epoch": self._epoch,
            "epochs": [[slots.start, slots.stop] for slots in self._epochs],
            "places": list(self._buffer),
            "buffer": [list(element) for element in self._buffer.values()],
        }
        if self._source is not None:
            state["source"] = self._source.save()
        return state

    def restore(self, state: State) -> None:
        _draw_on(self, state)
        self._epoch = state["epoch"]
        self._epochs = [Slots(*slots) for slots in state["epochs"]]
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

    def __init__(self, dataset: ShuffleDataset, context: Context, path: str, rows: Rows) -> None:
        super().__init__()
        self.seeds, self.generator = _seeds(dataset, context, path)
        self._rows, self._samples = rows, Samples(*self.seeds)
        # (What is held never needs more room, however large a buffer was asked for.)
        room = min(dataset.size, rows.count * (MOST_EPOCHS + 2))
        self._feed = Numbers(rows.count)
        self._pool = Pool(dataset.size, self._feed, dataset.count, room)
        self._computed: Block = []
        self._given = self._ready = 0
        self._most = _DRAWN

    def read_block(self, count: int) -> Block | None:
        if self._given == self._ready:
            drawn: list[int] = []
            self._pool.draw(self._samples, drawn, max(count, self._most))
            if not drawn:
                return None
            numbers = np.array(drawn, np.int64)
            self._computed = self._rows.take(numbers)
            self._given, self._ready = 0, len(numbers)
            row_bytes = sum(column.nbytes for column in self._computed) // len(numbers) + 1
            self._most = max(1, min(_DRAWN, _COMPUTED_BYTES // row_bytes))
        start = self._given
        stop = self._given = min(self._ready, start + count)
        return [column[start:stop] for column in self._computed]

    def save(self) -> State:
        state: State = {
            **_drawn(self),
            "numbers": {
                **self._pool.save(),
                "buffer": np.array(self._pool.buffer, np.int64),
                "next": self._feed.next,
            },
            "computed": [np.array(column[self._given : self._ready]) for column in self._computed],
            **self.save_ahead(),
        }
        return state

    def restore(self, state: State) -> None:
        if "numbers" not in state:
            raise errors.invalid("The state is of an iterator over other data")
        self.restore_ahead(state)
        _draw_on(self, state)
        self._pool.restore(state["numbers"])
        self._pool.buffer = state["numbers"]["buffer"].tolist()
        self._feed.next = state["numbers"]["next"]
        self._computed = list(state["computed"])
        self._given, self._ready = 0, len(self._computed[0]) if self._computed else 0


class _Elements:
    """The elements of a source, by rows of its blocks."""

    def __init__(
        self, dataset: ShuffleDataset, context: Context, path: str, source: Stream
    ) -> None:
        self._dataset, self._context, self._path = dataset, context, path
        self.source: Stream | None = source
        # Type and rank of each component, once there was an element.
        self.likes: list[tuple[np.dtype[Any], int]] = []
        self._is_at_end = False

    def take(self, count: int) -> Sequence[Any]:
        """See `Feed`."""
        if count <= 0 or self.source is None or self._is_at_end:
            return []
        # (Rows keep their whole block.)
        block = self.source.next_block(min(count, _MOST_ROWS))
        if block is None:
            self._is_at_end = True
            return []
        self.likes = self.likes or [(column.dtype, column.ndim) for column in block]
        return rows_of(block)

    def end_epoch(self, is_last: bool) -> None:
        """See `Feed`."""
        if self.source is not None:
            self.source.close()
        self.source, self._is_at_end = None, False
        self._context.check()
        # Begun even where nobody reads it: what it reads may draw seeds.
        found = self._dataset.source_stream(self._context, self._path)
        if is_last:
            found.close()
        else:
            self.source = found

    def restore(self, state: State) -> None:
        """Goes on where another one was."""
        if self.source is not None:
            self.source.close()
        self.source = None
        if state:
            self.source = self._dataset.source_stream(self._context, self._path)
            self.source.restore(state)

    def block(self, rows: Sequence[Any]) -> Block:
        """Rows as a block."""
        return [
            np.stack(values) if rank > 1 else np.fromiter(values, dtype, len(rows))
            for values, (dtype, rank) in zip(zip(*rows), self.likes)
        ]


def rows_of(block: Block) -> list[Any]:
    """The rows of a block, each a tuple of what the components have there."""
    columns = [x.tolist() if x.dtype == object and x.ndim == 1 else list(x) for x in block]
    return list(zip(*columns))


class _ShuffledBlocks(BlockStream):
    """Shuffles elements of one shape, read in blocks as nobody sees that."""

    def __init__(
        self, dataset: ShuffleDataset, context: Context, path: str, seeds: Seeds, source: Stream
    ) -> None:
        super().__init__()
        self.seeds, self.generator = seeds
        self._samples = Samples(*self.seeds)
        self._feed = _Elements(dataset, context, path, source)
        self._pool = Pool(dataset.size, self._feed, dataset.count)
        # What comes behind what was drawn before it.
        self._failure: Exception | None = None

    def read_block(self, count: int) -> Block | None:
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure
        drawn: list[Any] = []
        try:
            self._pool.draw(self._samples, drawn, count)
        except errors.OpError as error:
            if not drawn:
                raise
            self._failure = error
        return self._feed.block(drawn) if drawn else None

    def save(self) -> State:
        failure = self._failure or self._pool.failure
        if failure is not None:
            raise failure
        places, source = self._pool.places(), self._feed.source
        held = [self._pool.buffer[place] for place in places]
        state: State = {
            **_drawn(self),
            "pool": self._pool.save(),
            "places": places,
            "held": self._feed.block(held) if held else [],
            "source": {} if source is None else source.save(),
            **self.save_ahead(),
        }
        return state

    def restore(self, state: State) -> None:
        if "pool" not in state:
            raise errors.invalid("The state is of an iterator over other data")
        self.restore_ahead(state)
        _draw_on(self, state)
        self._pool.restore(state["pool"])
        held = list(state["held"])
        self._feed.likes = [(column.dtype, column.ndim) for column in held]
        self._pool.buffer = dict(zip(state["places"], rows_of(held)))
        self._feed.restore(state["source"])

    def close(self) -> None:
        if self._feed.source is not None:
            self._feed.source.close()


def _seeds(dataset: ShuffleDataset, context: Context, path: str) -> Seeds:
    """The seeds of a stream, and what generated them."""
    if dataset.generator is None and not dataset.reshuffles:
        return dataset.seeds, None
    generator = dataset.generator or context.generator(path, dataset.seeds)
    return generator.next(), generator


def _drawn(stream: _Shuffled | _ShuffledRows | _ShuffledBlocks) -> State:
    """What a stream has drawn so far."""
    state: State = {"seeds": list(stream.seeds), "drawn": stream._samples.count}
    if stream.generator is not None:
        state["generated"] = stream.generator.count
    return state


def _draw_on(stream: _Shuffled | _ShuffledRows | _ShuffledBlocks, state: State) -> None:
    """Has a stream draw what comes behind that."""
    stream.seeds = tuple(state["seeds"])
    stream._samples = Samples(*stream.seeds)
    stream._samples.skip_to(state["drawn"])
    if stream.generator is not None:
        stream.generator.skip_to(state["generated"])
