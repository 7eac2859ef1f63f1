# SPDX-License-Identifier: Apache-2.0
"""What is behind a staging area: tuples in order, or by key; limited in number and bytes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...engine import errors
from ...engine.session.futures import Future
from .requests import STUCK, Request, RequestQueue

_PUTS, _TAKES = range(2)


def _bytes(values: Sequence[Any]) -> int:
    return sum(value.nbytes for value in values if value is not None)


class Area(RequestQueue):
    """What both areas share; requests that wait do not hold up each other."""

    # TensorFlow's areas wait on condition variables, so whoever finds what it needs goes first.
    in_order = False

    def __init__(self, capacity: int, memory_limit: int) -> None:
        super().__init__(lines=2)
        self._capacity, self._limit = capacity, memory_limit
        self._bytes = 0

    def size(self) -> int:
        """How many tuples there are."""
        raise NotImplementedError

    def _has_room(self, values: Sequence[Any], adds: bool) -> bool:
        # Zero is no limit, here and below.
        if self._limit and _bytes(values) + self._bytes > self._limit:
            return False
        return not (adds and self._capacity and self.size() >= self._capacity)

    def _require_fit(self, values: Sequence[Any]) -> None:
        # At once, as waiting would never end.
        if self._limit and _bytes(values) > self._limit:
            raise errors.resource_exhausted(
                f"Attempted to insert tensors with combined size of '{_bytes(values)}' bytes into "
                f"Staging Area with a memory limit of '{self._limit}'."
            )

    def _empty(self) -> None:
        raise NotImplementedError

    def clear(self) -> None:
        """Forgets everything."""
        with self._lock:
            self._empty()
            self._bytes = 0
        self._flush()


class Buffer(Area):
    """Tuples in the order in which they came."""

    def __init__(self, capacity: int, memory_limit: int) -> None:
        super().__init__(capacity, memory_limit)
        self._tuples: deque[list[np.ndarray]] = deque()

    def size(self) -> int:
        return len(self._tuples)

    def _empty(self) -> None:
        self._tuples.clear()

    def put(self, values: Sequence[np.ndarray]) -> Future:
        """Adds a tuple, once there is room."""
        # What was staged must not change when the variable or the feed it came from does.
        copies = [np.array(value) for value in values]
        self._require_fit(copies)

        def advance(request: Request) -> int:
            if not self._has_room(copies, adds=True):
                return STUCK
            self._tuples.append(copies)
            self._bytes += _bytes(copies)
            return request.succeed()

        return self._begin(_PUTS, "Stage", 1, advance)

    def get(self, count: int) -> Future:
        """Takes the first tuple, once there is one."""

        def advance(request: Request) -> int:
            if not self._tuples:
                return STUCK
            found = self._tuples.popleft()
            self._bytes -= _bytes(found)
            return _answer(request, found, count)

        return self._begin(_TAKES, "Unstage", 1, advance)

    def peek(self, index: int, count: int) -> Future:
        """The tuple at a place, once there are so many; it stays."""

        def advance(request: Request) -> int:
            if index >= len(self._tuples):
                return STUCK
            return _answer(request, self._tuples[index], count)

        return self._begin(_TAKES, "StagePeek", 1, advance)


def _answer(request: Request, found: list[np.ndarray], count: int) -> int:
    # Nodes that share an area by its name may disagree; `Unstage` has taken the tuple by then, in
    # TensorFlow too.
    if len(found) != count:
        return request.fail(errors.invalid(f"Mismatch stage/unstage: {len(found)} vs. {count}"))
    return request.succeed(list(found))


class Map(Area):
    """Tuples by key; components may come and go one by one."""

    def __init__(self, components: int, capacity: int, memory_limit: int, ordered: bool) -> None:
        super().__init__(capacity, memory_limit)
        self._count, self._ordered = components, ordered
        self._whole: dict[int, list[Any]] = {}
        self._incomplete: dict[int, list[Any]] = {}

    def size(self) -> int:
        return len(self._whole)

    def incomplete_size(self) -> int:
        """How many tuples lack a component."""
        return len(self._incomplete)

    def _empty(self) -> None:
        self._whole.clear()
        self._incomplete.clear()

    def put(self, key: int, indices: list[int], values: Sequence[np.ndarray]) -> Future:
        """Adds a tuple, or some components of one, once there is room."""
        _require_order(indices)
        copies = [np.array(value) for value in values]
        self._require_fit(copies)
        is_whole = len(indices) == self._count

        def advance(request: Request) -> int:
            if not self._has_room(copies, adds=is_whole):
                return STUCK
            if is_whole:
                # The first tuple under a key stays and the other one is dropped, though its bytes
                # count: TensorFlow's `map_.insert` does nothing for a key that is there
                # (StagingMap::put).
                self._whole.setdefault(key, copies)
            else:
                try:
                    self._add(key, indices, copies)
                except errors.InvalidArgumentError as error:
                    return request.fail(error)
            self._bytes += _bytes(copies)
            return request.succeed()

        return self._begin(_PUTS, "MapStage", 1, advance)

    def _add(self, key: int, indices: list[int], values: list[np.ndarray]) -> None:
        # All indices are checked before the first component is kept.
        present = self._incomplete.get(key, [None] * self._count)
        for index in indices:
            self._require_index(key, index)
            if present[index] is not None:
                raise errors.invalid(
                    f"The tensor for index '{index}' for key '{key}' was already initialized "
                    f"'{self._count}'."
                )
        for index, value in zip(indices, values):
            present[index] = value
        if any(value is None for value in present):
            self._incomplete[key] = present
            return
        self._incomplete.pop(key, None)
        self._whole.setdefault(key, present)

    def _require_index(self, key: int, index: int) -> None:
        if not 0 <= index < self._count:
            raise errors.invalid(
                f"Index '{index}' for key '{key}' was out of bounds '{self._count}'."
            )

    def peek(self, key: int, indices: list[int]) -> Future:
        """Components of a tuple, once it is there; they stay."""
        return self._wait(lambda: key if key in self._whole else None, indices, takes=False)

    def pop(self, key: int, indices: list[int]) -> Future:
        """Takes components of a tuple, once it is there."""
        return self._wait(lambda: key if key in self._whole else None, indices, takes=True)

    def pop_any(self, indices: list[int]) -> Future:
        """Takes components of the first tuple, with its key in front."""

        def first() -> int | None:
            if not self._whole:
                return None
            # TensorFlow's unordered map gives any key; here it is the one that came first.
            return min(self._whole) if self._ordered else next(iter(self._whole))

        return self._wait(first, indices, takes=True, with_key=True)

    def _wait(
        self,
        find: Callable[[], int | None],
        indices: list[int],
        takes: bool,
        with_key: bool = False,
    ) -> Future:
        _require_order(indices)

        def advance(request: Request) -> int:
            key = find()
            if key is None:
                return STUCK
            try:
                found = self._parts(key, indices, takes)
            except errors.InvalidArgumentError as error:
                return request.fail(error)
            return request.succeed([np.asarray(key, np.int64), *found] if with_key else found)

        return self._begin(_TAKES, "MapUnstage", 1, advance)

    def _parts(self, key: int, indices: list[int], takes: bool) -> list[np.ndarray]:
        present = self._whole[key]
        for index in indices:
            self._require_index(key, index)
            if present[index] is None:
                raise errors.invalid(
                    f"Tensor at index '{index}' for key '{key}' has already been removed."
                )
        found = [present[index] for index in indices]
        # Only what goes is taken off. TensorFlow takes off what a peek reads too (StagingMap::get),
        # and then lets in more than its limit.
        if takes:
            self._bytes -= _bytes(found)
            for index in indices:
                present[index] = None
            if all(value is None for value in present):
                del self._whole[key]
        return found


def _require_order(indices: list[int]) -> None:
    if not indices:
        raise errors.invalid("Indices are empty")
    if any(a >= b for a, b in zip(indices, indices[1:])):
        raise errors.invalid("Indices are not strictly ordered")
