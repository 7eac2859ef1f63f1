# SPDX-License-Identifier: Apache-2.0
"""What is behind a queue: elements, and the enqueues and dequeues that wait, served in order.

An attempt runs as far as it can whenever the queue has changed.  Callers get the attempt, which is
settled (engine/waiting.py) outside of the queue's lock.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..engine import errors
from ..engine.dtypes import DType
from ..engine.shape import TensorShape
from ..engine.waiting import Pending
from .tensor_array_store import text_of, type_text

Element = tuple[np.ndarray, ...]

# What a turn of an attempt came to.
STUCK, MOVED, DONE = range(3)


class Attempt(Pending):
    """One enqueue, dequeue or close under way."""

    __slots__ = (
        "advance",
        "cancel_text",
        "elements",
        "failure",
        "is_over",
        "owner",
        "value",
        "wanted",
    )

    def __init__(
        self, owner: Queue, wanted: int, advance: Callable[[Attempt], int], cancel_text: str
    ) -> None:
        """advance(attempt) goes as far as it can, under the queue's lock."""
        super().__init__()
        self.owner, self.wanted, self.advance = owner, wanted, advance
        self.cancel_text = cancel_text
        self.elements: list[Element] = []
        self.is_over = False
        self.value: Any = None
        self.failure: BaseException | None = None

    def succeed(self, value: Any = ()) -> int:
        """Ends the attempt with a result."""
        self.value = value
        return DONE

    def fail(self, error: BaseException) -> int:
        """Ends the attempt with an error."""
        self.failure = error
        return DONE

    def cancel(self) -> None:
        """Gives up, unless the attempt is over."""
        self.owner.cancel(self)


class Queue:
    """A bounded queue of tuples of arrays; the kinds differ in what is taken next."""

    kind = ""

    def __init__(
        self, name: str, capacity: int, dtypes: Sequence[DType], shapes: Sequence[TensorShape]
    ) -> None:
        """capacity: negative for no bound; shapes: one per component, or none at all."""
        self.name = name
        self.capacity = 2**31 - 1 if capacity < 0 else capacity
        self.dtypes, self.shapes = list(dtypes), list(shapes)
        self.is_closed = False
        if not self.dtypes:
            raise _wrong(f"Empty component types for queue {name}")
        self._require_shapes()
        self._lock = threading.Lock()
        self._enqueues: deque[Attempt] = deque()
        self._dequeues: deque[Attempt] = deque()

    def _require_shapes(self) -> None:
        if self.shapes and len(self.shapes) != len(self.dtypes):
            raise _wrong(
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
        sizes = self.shapes[component].sizes
        result = np.empty([len(elements), *sizes], self.dtypes[component].np_dtype)
        for row, element in enumerate(elements):
            result[row, ...] = element[component]
        return result

    # What callers use.

    def size(self) -> int:
        """How many elements there are."""
        with self._lock:
            return self._count()

    def enqueue(self, element: Sequence[np.ndarray]) -> Pending:
        """Adds one element once there is room."""
        self._require_types(element)
        self._require_element(element)
        copies = tuple(np.array(value) for value in element)

        def advance(attempt: Attempt) -> int:
            if self.is_closed:
                return attempt.fail(self._closed_error())
            if self._count() >= self.capacity:
                return STUCK
            return self._put_checked(attempt, copies) or attempt.succeed()

        return self._begin(self._enqueues, 1, advance)

    def enqueue_many(self, batch: Sequence[np.ndarray]) -> Pending:
        """Adds the rows of a batch one by one, as there is room."""
        self._require_types(batch)
        self._require_batch(batch)
        total = len(batch[0])
        rows = [np.array(value) for value in batch]

        def advance(attempt: Attempt) -> int:
            if self.is_closed:
                return attempt.fail(self._closed_error())
            turn = STUCK
            while self._count() < self.capacity:
                turn = MOVED
                row = total - attempt.wanted
                element = tuple(value[row, ...].copy() for value in rows)
                if self._put_checked(attempt, element):
                    return DONE
                attempt.wanted -= 1
                if not attempt.wanted:
                    return attempt.succeed()
            return turn

        return self._begin(self._enqueues, total, advance) if total else _nothing()

    def dequeue(self) -> Pending:
        """Takes one element once there is one."""

        def advance(attempt: Attempt) -> int:
            count = self._count()
            if self.is_closed and not count:
                return attempt.fail(self._insufficient(1, count))
            return attempt.succeed(self._take()) if self._available() > 0 else STUCK

        return self._begin(self._dequeues, 1, advance)

    def dequeue_many(self, count: int, allow_small: bool) -> Pending:
        """Takes `count` elements as one batch; fewer if allowed and the queue is closed."""
        self._require_batches()
        if not count:
            return _nothing(self._empty_batch())
        return self._begin(self._dequeues, count, self._dequeue_turn(allow_small))

    def close(self, cancel_enqueues: bool) -> Pending:
        """Closes the queue behind the enqueues that wait, or cancels those."""
        if not cancel_enqueues:
            return self._begin(self._enqueues, 0, self._close_turn)
        with self._lock:
            self.is_closed = True
            dropped = [attempt for attempt in self._enqueues if not attempt.is_over]
            for attempt in dropped:
                attempt.is_over = True
            self._enqueues.clear()
        for attempt in dropped:
            attempt.settle(error=_cancelled(attempt))
        self._flush()
        return _nothing()

    def cancel(self, attempt: Attempt) -> None:
        """Ends an attempt that waits."""
        with self._lock:
            if attempt.is_over:
                return
            attempt.is_over = True
        attempt.settle(error=_cancelled(attempt))
        self._flush()

    # Attempts.

    def _begin(
        self, line: deque[Attempt], wanted: int, advance: Callable[[Attempt], int]
    ) -> Attempt:
        what = "Enqueue" if line is self._enqueues else "Dequeue"
        attempt = Attempt(self, wanted, advance, f"{what} operation was cancelled")
        with self._lock:
            line.append(attempt)
        self._flush()
        return attempt

    def _flush(self) -> None:
        """Lets all attempts go as far as they can."""
        over: list[Attempt] = []
        with self._lock:
            moved = True
            while moved:
                moved = _serve(self._enqueues, over)
                moved = _serve(self._dequeues, over) or moved
        for attempt in over:
            attempt.settle(attempt.value, attempt.failure)

    def _put_checked(self, attempt: Attempt, element: Element) -> int:
        """Adds an element; DONE if that failed."""
        self._put(element)
        return 0

    def _close_turn(self, attempt: Attempt) -> int:
        if self.is_closed:
            text = f"Queue '{self.name}' is already closed."
            return attempt.fail(errors.CancelledError(None, None, text))
        self.is_closed = True
        return attempt.succeed()

    def _dequeue_turn(self, allow_small: bool) -> Callable[[Attempt], int]:
        def advance(attempt: Attempt) -> int:
            if self.is_closed and self._count() < attempt.wanted:
                # No more will come: the attempt starts again with what there is, or fails.
                count, missing = self._count(), attempt.wanted
                self._give_back(attempt.elements)
                attempt.elements = []
                if not (allow_small and self._count()):
                    if allow_small and self._enqueues:
                        return MOVED
                    return attempt.fail(self._insufficient(missing, count))
                attempt.wanted = self._count()
            return self._take_some(attempt)

        return advance

    def _take_some(self, attempt: Attempt) -> int:
        turn = STUCK
        while self._available() > 0:
            turn = MOVED
            attempt.elements.append(self._take())
            attempt.wanted -= 1
            if not attempt.wanted:
                return attempt.succeed(self._batch(attempt.elements))
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
        return errors.CancelledError(None, None, f"{self.kind} '{self.name}' is closed.")

    def _insufficient(self, wanted: int, count: int) -> errors.OutOfRangeError:
        return errors.OutOfRangeError(
            None,
            None,
            f"{self.kind} '{self.name}' is closed and has insufficient elements "
            f"(requested {wanted}, current size {count})",
        )

    def _require_types(self, values: Sequence[np.ndarray]) -> None:
        if len(values) != len(self.dtypes):
            raise _wrong(
                "Wrong number of components in tuple. Expected "
                f"{len(self.dtypes)}, got {len(values)}"
            )

    def _require_element(self, element: Sequence[np.ndarray]) -> None:
        for i, (value, shape) in enumerate(zip(element, self.shapes)):
            self._require_shape(i, value, shape)

    def _require_batch(self, batch: Sequence[np.ndarray]) -> None:
        rows = batch[0].shape[0] if batch[0].ndim else 0
        for i, (value, shape) in enumerate(zip(batch, self.shapes)):
            self._require_shape(i, value, TensorShape([rows]).concatenate(shape))
        for i, value in enumerate(batch if not self.shapes else ()):
            if value.shape[:1] != (rows,):
                raise _wrong(
                    "All input tensors must have the same size in the 0th dimension. Component "
                    f"{i} has {value.shape[0] if value.ndim else 1}, and should have {rows}"
                )

    @staticmethod
    def _require_shape(i: int, value: np.ndarray, wanted: TensorShape) -> None:
        if not wanted.is_compatible_with(value.shape):
            raise _wrong(
                f"Shape mismatch in tuple component {i}. Expected {text_of(wanted)}, got "
                f"{text_of(value.shape)}"
            )

    def _require_batches(self) -> None:
        if not self.shapes:
            raise _wrong(
                f"{self.kind}'s DequeueMany and DequeueUpTo require the components to have "
                "specified shapes."
            )

    # Sharing.

    def require_same(self, other: Queue) -> None:
        """InvalidArgumentError unless `other`, asked for under the same name, is like this one."""
        if other.kind != self.kind:
            raise _wrong(f"Expected {self.kind}, found {other.kind}V2")
        self._require_equal("capacity", self.capacity, other.capacity)
        self._require_settings(other)
        mine, asked = types_text(self.dtypes), types_text(other.dtypes)
        self._require_equal("component types", mine, asked)
        self._require_same_shapes(other)

    def _require_settings(self, other: Any) -> None:
        """Holds what only some kinds have."""

    def _require_same_shapes(self, other: Queue) -> None:
        mine, asked = shapes_text(self.shapes), shapes_text(other.shapes)
        self._require_equal("component shapes", mine, asked)

    def _require_equal(self, what: str, mine: Any, asked: Any) -> None:
        if mine != asked:
            be = "were" if what.endswith("s") else "was"
            raise _wrong(
                f"Shared queue '{self.name}' has {what} {mine} but requested {what} {be} {asked}"
            )


def _serve(line: deque[Attempt], over: list[Attempt]) -> bool:
    """Lets the first attempts of a line go on; whether anything changed."""
    moved = False
    while line:
        attempt = line[0]
        if attempt.is_over:
            line.popleft()
            continue
        turn = attempt.advance(attempt)
        if turn != DONE:
            return moved or turn == MOVED
        attempt.is_over = moved = True
        over.append(line.popleft())
    return moved


def _nothing(value: Any = ()) -> Pending:
    """What is settled at once."""
    pending = Pending()
    pending.settle(value)
    return pending


def _cancelled(attempt: Attempt) -> errors.CancelledError:
    return errors.CancelledError(None, None, attempt.cancel_text)


def _wrong(text: str) -> errors.InvalidArgumentError:
    return errors.InvalidArgumentError(None, None, text)


def types_text(dtypes: Sequence[DType]) -> str:
    """A list of types as the runtime prints it."""
    return ", ".join(map(type_text, dtypes))


def shapes_text(shapes: Sequence[TensorShape]) -> str:
    """A list of shapes as the runtime prints it."""
    return f"[{', '.join(map(text_of, shapes))}]"
