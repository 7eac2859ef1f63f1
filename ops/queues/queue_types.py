# SPDX-License-Identifier: Apache-2.0
"""The kinds of queues: first in first out (padding or not), shuffled, and by priority."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...engine import errors
from ...engine.session.futures import Future
from ...engine.types import dtypes
from ...engine.types.dtypes import DType
from ...engine.types.shape import TensorShape, shape_text
from .requests import STUCK, Request
from .store import Element, Queue, shapes_text

# Blocks of four random numbers drawn at a time.
_BLOCKS = 64


class FifoQueue(Queue):
    """First in, first out."""

    kind = "FIFOQueue"

    def __init__(
        self, name: str, capacity: int, dtypes: Sequence[DType], shapes: Sequence[TensorShape]
    ) -> None:
        super().__init__(name, capacity, dtypes, shapes)
        self._elements: deque[Element] = deque()

    def _put(self, element: Element) -> None:
        self._elements.append(element)

    def _take(self) -> Element:
        return self._elements.popleft()

    def _give_back(self, elements: list[Element]) -> None:
        # extendleft puts each before the last one, which undoes the order of the list.
        self._elements.extendleft(reversed(elements))

    def _count(self) -> int:
        return len(self._elements)


class PaddingQueue(FifoQueue):
    """First in, first out; the elements of a batch are padded with zeros to a common shape."""

    kind = "PaddingFIFOQueue"

    def _require_shapes(self) -> None:
        if len(self.shapes) != len(self.dtypes):
            raise errors.invalid(
                f"Shapes must be provided for all components, but received {len(self.dtypes)} "
                f"dtypes and {len(self.shapes)} shapes."
            )

    def _joined(self, elements: list[Element], component: int) -> np.ndarray:
        shape = self.shapes[component]
        if shape.is_fully_defined():
            return super()._joined(elements, component)
        # Sizes left open are those of the largest element of this batch, so they may differ from
        # batch to batch.
        values = [element[component] for element in elements]
        sizes = [
            max(value.shape[axis] for value in values) if size is None else size
            for axis, size in enumerate(shape.as_list())
        ]
        dtype = self.dtypes[component]
        padding: Any = b"" if dtype == dtypes.string else 0
        result = np.full([len(values), *sizes], padding, dtype.np_dtype)
        for row, value in enumerate(values):
            where: Any = (row, *map(slice, value.shape))
            result[where] = value
        return result

    def _require_same_shapes(self, other: Queue) -> None:
        same = len(self.shapes) == len(other.shapes) and all(
            mine.is_compatible_with(asked) for mine, asked in zip(self.shapes, other.shapes)
        )
        if not same:
            raise errors.invalid(
                f"Shared queue '{self.name}' has component shapes {shapes_text(self.shapes)} but "
                f"requested component shapes were {shapes_text(other.shapes)}"
            )


class _Draws:
    """The random numbers of TensorFlow's generator for two seeds, one after the other."""

    def __init__(self, seed: int, seed2: int) -> None:
        from ..random.philox import Stream

        self._stream = Stream(seed, seed2)
        self._numbers: list[int] = []

    def __call__(self) -> int:
        if not self._numbers:
            # Backwards, since numbers are popped from the end.
            numbers = self._stream.reserve(_BLOCKS).blocks(_BLOCKS)
            self._numbers = numbers.ravel()[::-1].tolist()
        return self._numbers.pop()


class ShuffleQueue(Queue):
    """Any element next, at random; `least` elements stay behind while the queue is open."""

    kind = "RandomShuffleQueue"

    def __init__(
        self,
        name: str,
        capacity: int,
        dtypes: Sequence[DType],
        shapes: Sequence[TensorShape],
        least: int,
        seeds: tuple[int, int],
    ) -> None:
        super().__init__(name, capacity, dtypes, shapes)
        if least < 0:
            raise errors.invalid(f"min_after_dequeue {least} must be >= 0")
        # Else no dequeue could ever begin: elements are only taken beyond the first `least`.
        if least >= self.capacity:
            raise errors.invalid(f"min_after_dequeue {least} must be < capacity {self.capacity}")
        self.least, self.seeds = least, seeds
        self._draw = _Draws(*seeds)
        self._elements: list[Element] = []

    def _put(self, element: Element) -> None:
        self._elements.append(element)

    def _take(self) -> Element:
        elements = self._elements
        # The remainder of a 32-bit number, and the swap below, are TensorFlow's
        # (RandomShuffleQueue::DequeueLocked): the same seeds give the same order. The bias of the
        # remainder is part of that.
        place = self._draw() % len(elements)
        # The last one takes the place of the one that goes.
        elements[place], last = elements[-1], elements[place]
        elements.pop()
        return last

    def _give_back(self, elements: list[Element]) -> None:
        self._elements.extend(reversed(elements))

    def _count(self) -> int:
        return len(self._elements)

    def _available(self) -> int:
        return len(self._elements) - (0 if self.is_closed else self.least)

    def _require_settings(self, other: Any) -> None:
        if other.least != self.least:
            raise errors.invalid(
                f"Shared queue '{self.name}' has min_after_dequeue {self.least} but requested "
                f"min_after_dequeue was {other.least}."
            )
        # Two seeds of zero ask for any order, which the queue that is there has.
        if any(other.seeds) and other.seeds != self.seeds:
            mine, asked = (f"({a}, {b})" for a, b in (self.seeds, other.seeds))
            raise errors.invalid(
                f"Shared queue '{self.name}' has random seeds {mine} but requested seeds are "
                f"{asked}."
            )


class _Ranked:
    """An element in the heap; the least priority number comes first."""

    __slots__ = ("element", "priority")

    def __init__(self, element: Element) -> None:
        self.element, self.priority = element, int(element[0])

    def __lt__(self, other: _Ranked) -> bool:
        return self.priority < other.priority


class PriorityQueue(Queue):
    """The element with the least number first; that number is component 0."""

    kind = "PriorityQueue"

    def __init__(
        self, name: str, capacity: int, types: Sequence[DType], shapes: Sequence[TensorShape]
    ) -> None:
        shapes = [TensorShape([]), *shapes] if shapes else []
        super().__init__(name, capacity, [dtypes.int64, *types], shapes)
        # The order of equal priorities is that of C++'s binary heap, as in TensorFlow.
        self._heap: list[_Ranked] = []

    def _put(self, element: Element) -> None:
        heapq.heappush(self._heap, _Ranked(element))

    def _take(self) -> Element:
        return heapq.heappop(self._heap).element

    def _count(self) -> int:
        return len(self._heap)

    def _put_checked(self, request: Request, element: Element) -> int:
        if element[0].ndim:
            shape = shape_text(element[0].shape)
            text = f"Expected the priority element to be a scalar, but received shape: {shape}"
            return request.fail(errors.invalid(text))
        self._put(element)
        return STUCK

    def dequeue_many(self, count: int, allow_small: bool) -> Future:
        """Takes a batch at once, so that it is sorted."""
        if not self.shapes:
            raise errors.invalid(
                "PriorityQueue's DequeueMany requires the components to have specified shapes."
            )
        return super().dequeue_many(count, allow_small)

    def _dequeue_turn(self, allow_small: bool) -> Any:
        def advance(request: Request) -> int:
            # All or nothing: elements taken as they come would be sorted only within each turn, and
            # a smaller number may come between two turns.
            count = self._count()
            if self.is_closed and (not count or (not allow_small and count < request.wanted)):
                return request.fail(self._insufficient(request.wanted, count))
            if count < request.wanted and not (count and self.is_closed and allow_small):
                return STUCK
            elements = [self._take() for _ in range(min(count, request.wanted))]
            return request.succeed(self._batch(elements))

        return advance
