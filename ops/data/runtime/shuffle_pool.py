# SPDX-License-Identifier: Apache-2.0
"""The buffer of a shuffled dataset, many steps of which are one loop.

TensorFlow's algorithm and random numbers, as the `_Shuffled` of shuffling.py has them for elements
one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ....engine import errors
from .dataset import State

if TYPE_CHECKING:
    from .random import Samples

# Elements of so many epochs lie in a buffer at most: one more is begun (shuffle_dataset_op.cc).
MOST_EPOCHS = 3


class Slots:
    """Where elements of one epoch lie in the buffer."""

    __slots__ = ("start", "stop")

    def __init__(self, start: int, stop: int) -> None:
        self.start, self.stop = start, stop


class Feed(Protocol):
    """What is put into a buffer: the values of some epochs, one after the other."""

    def take(self, count: int) -> Sequence[Any]:
        """At most so many values, none at the end of an epoch."""

    def end_epoch(self, is_last: bool) -> None:
        """Goes on to the next epoch, unless that was the last."""


class Numbers:
    """The numbers of elements."""

    def __init__(self, count: int) -> None:
        self.count, self.next = count, 0

    def take(self, count: int) -> Sequence[int]:
        """See `Feed`."""
        found = range(self.next, min(self.next + count, self.count))
        self.next += len(found)
        return found

    def end_epoch(self, is_last: bool) -> None:
        """See `Feed`."""
        del is_last
        self.next = 0


class Pool:
    """Values that are put into a buffer and drawn from it, many at a time.

    A step puts a value into the buffer and draws one.  As long as the values put there are of one
    epoch, and those drawn are of one, many steps are one loop.
    """

    def __init__(self, size: int, feed: Feed, epochs: int, room: int | None = None) -> None:
        """epochs: how many there are; -1: without end.  room: no more values are ever held."""
        self._size, self._feed, self._most = size, feed, epochs
        self.buffer: Any = {} if room is None else [0] * room
        self._room = size if room is None else room
        self.epochs = [Slots(0, 0)]
        self.held = self.epoch = 0
        self.is_over = room == 0
        # Why the next value could not be had, which is told when it is put into the buffer.
        self.failure: errors.OpError | None = None

    def draw(self, samples: Samples, drawn: list[Any], count: int) -> None:
        """Adds values in the order in which they are drawn, at most so many; none at the end."""
        while len(drawn) < count:
            self._fill()
            if not self.held:
                break
            while self.epochs[0].start == self.epochs[0].stop:
                self.epochs.pop(0)
            self._steps(samples, drawn, count - len(drawn))

    def _fill(self) -> None:
        """Puts values into the buffer as long as there is room."""
        buffer, room = self.buffer, self._room
        while not self.is_over and self.held < self._size:
            if self.failure is not None:
                failure, self.failure = self.failure, None
                raise failure
            last = self.epochs[-1]
            is_one = len(self.epochs) > MOST_EPOCHS
            values = self._feed.take(1 if is_one else self._size - self.held)
            if not values:
                self.epoch += 1
                self.epochs.append(Slots(last.stop, last.stop))
                # (What is empty has no end of epochs, either.)
                self.is_over = self.epoch == self._most or (self._most == -1 and not last.stop)
                self._feed.end_epoch(self.is_over)
                continue
            for place, value in enumerate(values, last.stop):
                buffer[place % room] = value
            last.stop += len(values)
            self.held += len(values)
            if is_one:
                return

    def _taken(self, count: int) -> Sequence[Any]:
        """Values to be put into the buffer later: what fails does so then."""
        try:
            return self._feed.take(count)
        except errors.OpError as error:
            self.failure = error
            return []

    def _steps(self, samples: Samples, drawn: list[Any], count: int) -> None:
        """Draws, fills, draws again, and so on, at most `count` times; it ends with a draw."""
        buffer, first, last, room = self.buffer, self.epochs[0], self.epochs[-1], self._room
        width = first.stop - first.start
        stays = first is last and not self.is_over
        if not stays:
            count = min(count, width)
        values = [] if self.is_over else self._taken(count - 1)
        fills = len(values)
        if not self.is_over:
            count = fills + 1
        widths = width if stays else width - np.arange(count)
        fronts = first.start + np.arange(count)
        places = (fronts + samples.take(count) % np.asarray(widths, np.uint32)) % room
        drawn_at, moved_from = places.tolist(), (fronts % room).tolist()
        ends = ((last.stop + np.arange(fills)) % room).tolist()
        add = drawn.append
        for place, front, end, value in zip(drawn_at, moved_from, ends, values):
            add(buffer[place])
            buffer[place] = buffer[front]
            buffer[end] = value
        for place, front in zip(drawn_at[fills:], moved_from[fills:]):
            add(buffer[place])
            buffer[place] = buffer[front]
        first.start += count
        last.stop += fills
        self.held += fills - count

    def places(self) -> list[int]:
        """Where in the buffer the values are that are held."""
        slots = (range(each.start, each.stop) for each in self.epochs)
        return [number % self._room for numbers in slots for number in numbers]

    def save(self) -> State:
        """Where it is, but for the buffer and the feed."""
        return {
            "epochs": [[slots.start, slots.stop] for slots in self.epochs],
            "place": [self.held, self.epoch, int(self.is_over)],
        }

    def restore(self, state: State) -> None:
        """Goes to where another one was."""
        self.epochs = [Slots(*slots) for slots in state["epochs"]]
        self.held, self.epoch, is_over = state["place"]
        self.is_over = bool(is_over)
