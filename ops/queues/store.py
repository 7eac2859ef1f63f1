# SPDX-License-Identifier: Apache-2.0
"""What is behind a queue: elements, and the enqueues and dequeues that wait."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence

import numpy as np

from ...engine import errors
from ...engine.memory import copy_of, put_rows, recycled_empty
from ...engine.session.futures import Future
from ...engine.types.dtypes import DType, runtime_name
from ...engine.types.shape import TensorShape, shape_text
from ..shape_inference import known_sizes
from .requests import DONE, MOVED, STUCK, Request, RequestQueue, settled

Element = tuple[np.ndarray, ...]

_ENQUEUES, _DEQUEUES = range(2)


class Queue(RequestQueue):
    """A bounded queue of tuples of arrays; the kinds differ in what is taken next."""

    kind = ""

    def __init__(
        self, name: str, capacity: int, dtypes: Sequence[DType], shapes: Sequence[TensorShape]
    ) -> None:
        """capacity: negative for no bound; shapes: one per component, or none at all."""
        self.name = name
        # TensorFlow's kUnbounded is the largest int32 as well (queue_base.h).
        self.capacity = 2**31 - 1 if capacity < 0 else capacity
        self.dtypes, self.shapes = list(dtypes), list(shapes)
        self.is_closed = False
        if not self.dtypes:
            raise errors.invalid(f"Empty component types for queue {name}")
        self._require_shapes()
        # What an element's arrays look like where that is known to the last size.
        self._exact = [
            tuple(shape.as_list()) if shape.is_fully_defined() else None for shape in self.shapes
        ]
        # Operations whose components have been held against the queue's types.
        self.checked: weakref.WeakSet[object] = weakref.WeakSet()
        super().__init__(lines=2)

    def _require_shapes(self) -> None:
        if self.shapes and len(self.shapes) != len(self.dtypes):
            raise errors.invalid(
                f"Different number of component types.  Types: {types_text(self.dtypes)}, "
                f"Shapes: {shapes_text(self.shapes)}"
            )

    # What kinds differ in; called under the lock.

    def _put(self, element: Element) -> None:
        raise NotImplementedError

    def _take(self) -> Element:
        raise NotImplementedError

    def _give_back(self, elements: list[Element]) -> None:
        """Puts elements that were taken, in this order, where they were."""
        raise NotImplementedError

    def _count(self) -> int:
        raise NotImplementedError

    def _available(self) -> int:
        """How many elements may be taken now."""
        return self._count()

    def _joined(self, elements: list[Element], component: int) -> np.ndarray:
        """One component of some elements as a batch."""
        sizes = known_sizes(self.shapes[component])
        result = recycled_empty([len(elements), *sizes], self.dtypes[component].np_dtype)
        rows = [element[component] for element in elements]
        if not put_rows(result, rows):
            for row, value in enumerate(rows):
                result[row, ...] = value
        return result

    # What callers use.

    def size(self) -> int:
        """How many elements there are."""
        with self._lock:
            return self._count()

    def enqueue(self, element: Sequence[np.ndarray]) -> Future:
        """Adds one element once there is room."""
        self._require_types(element)
        self._require_element(element)
        # The arrays may be a variable's memory or a feed that its owner writes over; an element is
        # what it was when the step enqueued it, however long it waits.
        copies = tuple(map(copy_of, element))

        def advance(request: Request) -> int:
            if self.is_closed:
                return request.fail(self._closed_error())
            if self._count() >= self.capacity:
                return STUCK
            return self._put_checked(request, copies) or request.succeed()

        return self._begin(_ENQUEUES, "Enqueue", 1, advance)

    def enqueue_many(self, batch: Sequence[np.ndarray]) -> Future:
        """Adds the rows of a batch one by one, as there is room."""
        self._require_types(batch)
        self._require_batch(batch)
        total = len(batch[0])
        rows = [np.array(value) for value in batch]

        def advance(request: Request) -> int:
            if self.is_closed:
                return request.fail(self._closed_error())
            turn = STUCK
            # A batch larger than the room there is goes in bit by bit; dequeues between two bits
            # see a part of it, and cancelling leaves that part in the queue. TensorFlow does the
            # same (FIFOQueue::TryEnqueueMany).
            while self._count() < self.capacity:
                turn = MOVED
                row = total - request.wanted
                element = tuple(value[row, ...].copy() for value in rows)
                if self._put_checked(request, element):
                    return DONE
                request.wanted -= 1
                if not request.wanted:
                    return request.succeed()
            return turn

        return self._begin(_ENQUEUES, "Enqueue", total, advance) if total else settled()

    def dequeue(self) -> Future:
        """Takes one element once there is one."""

        def advance(request: Request) -> int:
            count = self._count()
            if self.is_closed and not count:
                return request.fail(self._insufficient(1, count))
            return request.succeed(self._take()) if self._available() > 0 else STUCK

        return self._begin(_DEQUEUES, "Dequeue", 1, advance)

    def dequeue_many(self, count: int, allow_small: bool) -> Future:
        """Takes `count` elements as one batch; fewer if allowed and the queue is closed."""
        self._require_batches()
        # No request: an empty batch does not wait behind others, not even of a closed queue.
        if not count:
            return settled(self._empty_batch())
        return self._begin(_DEQUEUES, "Dequeue", count, self._dequeue_turn(allow_small))

    def close(self, cancel_enqueues: bool) -> Future:
        """Closes the queue behind the enqueues that wait, or cancels those."""
        # A request in the line of enqueues, so that all who asked before it still get their
        # elements in.
        if not cancel_enqueues:
            return self._begin(_ENQUEUES, "Enqueue", 0, self._close_turn)
        with self._lock:
            self.is_closed = True
            dropped = list(self._lines[_ENQUEUES])
        self.cancel(*dropped)
        self._flush()
        return settled()

    # Attempts.

    def _put_checked(self, request: Request, element: Element) -> int:
        """Adds an element; DONE if that failed."""
        self._put(element)
        return 0

    def _close_turn(self, request: Request) -> int:
        if self.is_closed:
            text = f"Queue '{self.name}' is already closed."
            return request.fail(errors.cancelled(text))
        self.is_closed = True
        return request.succeed()

    def _dequeue_turn(self, allow_small: bool) -> Callable[[Request], int]:
        def advance(request: Request) -> int:
            if self.is_closed and self._count() < request.wanted:
                # No more will come: the request starts again with what there is, or fails.
                count, missing = self._count(), request.wanted
                self._give_back(request.elements)
                request.elements = []
                if not (allow_small and self._count()):
                    # The enqueues that still wait fail first, as in TensorFlow.
                    if allow_small and self._lines[_ENQUEUES]:
                        return MOVED
                    return request.fail(self._insufficient(missing, count))
                request.wanted = self._count()
            return self._take_some(request)

        return advance

    def _take_some(self, request: Request) -> int:
        turn = STUCK
        while self._available() > 0:
            turn = MOVED
            request.elements.append(self._take())
            request.wanted -= 1
            if not request.wanted:
                return request.succeed(self._batch(request.elements))
        return turn

    def _batch(self, elements: list[Element]) -> list[np.ndarray]:
        return [self._joined(elements, i) for i in range(len(self.dtypes))]

    def _empty_batch(self) -> list[np.ndarray]:
        return [
            np.empty([0, *(size or 0 for size in shape.sizes or ())], dtype.np_dtype)
            for dtype, shape in zip(self.dtypes, self.shapes)
        ]

    # Errors.

    def _closed_error(self) -> errors.CancelledError:
        return errors.cancelled(f"{self.kind} '{self.name}' is closed.")

    def _insufficient(self, wanted: int, count: int) -> errors.OutOfRangeError:
        return errors.out_of_range(
            f"{self.kind} '{self.name}' is closed and has insufficient elements "
            f"(requested {wanted}, current size {count})"
        )

    def _require_types(self, values: Sequence[np.ndarray]) -> None:
        if len(values) != len(self.dtypes):
            raise errors.invalid(
                "Wrong number of components in tuple. Expected "
                f"{len(self.dtypes)}, got {len(values)}"
            )

    def _require_element(self, element: Sequence[np.ndarray]) -> None:
        for i, (value, exact) in enumerate(zip(element, self._exact)):
            if value.shape != exact:
                self._require_shape(i, value, self.shapes[i])

    def _require_batch(self, batch: Sequence[np.ndarray]) -> None:
        rows = batch[0].shape[0] if batch[0].ndim else 0
        for i, (value, shape) in enumerate(zip(batch, self.shapes)):
            self._require_shape(i, value, TensorShape([rows]).concatenate(shape))
        for i, value in enumerate(batch if not self.shapes else ()):
            if value.shape[:1] != (rows,):
                raise errors.invalid(
                    "All input tensors must have the same size in the 0th dimension. Component "
                    f"{i} has {value.shape[0] if value.ndim else 1}, and should have {rows}"
                )

    @staticmethod
    def _require_shape(i: int, value: np.ndarray, wanted: TensorShape) -> None:
        if not wanted.is_compatible_with(value.shape):
            raise errors.invalid(
                f"Shape mismatch in tuple component {i}. Expected {shape_text(wanted)}, got "
                f"{shape_text(value.shape)}"
            )

    def _require_batches(self) -> None:
        if not self.shapes:
            raise errors.invalid(
                f"{self.kind}'s DequeueMany and DequeueUpTo require the components to have "
                "specified shapes."
            )

    # Sharing.

    def require_same(self, other: Queue) -> None:
        """InvalidArgumentError unless `other`, asked for under the same name, is like this one."""
        if other.kind != self.kind:
            raise errors.invalid(f"Expected {self.kind}, found {other.kind}V2")
        self._require_equal("capacity", self.capacity, other.capacity)
        self._require_settings(other)
        mine, asked = types_text(self.dtypes), types_text(other.dtypes)
        self._require_equal("component types", mine, asked)
        self._require_same_shapes(other)

    def _require_settings(self, other: object) -> None:
        """Holds what only some kinds have."""

    def _require_same_shapes(self, other: Queue) -> None:
        mine, asked = shapes_text(self.shapes), shapes_text(other.shapes)
        self._require_equal("component shapes", mine, asked)

    def _require_equal(self, what: str, mine: object, asked: object) -> None:
        if mine != asked:
            be = "were" if what.endswith("s") else "was"
            raise errors.invalid(
                f"Shared queue '{self.name}' has {what} {mine} but requested {what} {be} {asked}"
            )


def types_text(dtypes: Sequence[DType]) -> str:
    """A list of types as the runtime prints it."""
    return ", ".join(map(runtime_name, dtypes))


def shapes_text(shapes: Sequence[TensorShape]) -> str:
    """A list of shapes as the runtime prints it."""
    return f"[{', '.join(map(shape_text, shapes))}]"
