# SPDX-License-Identifier: Apache-2.0
"""Blocks of elements that are read one by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....engine import errors
from .dataset import Block, Element, OneSource, State, Stream
from .ragged import Ragged


class Singles(OneSource):
    """Reads as many elements as are asked for; an error comes behind those before it."""

    def __init__(self, source: Stream) -> None:
        self._source = source
        # What comes next, if it was read already.
        self._failure: Exception | None = None
        self._held: Element | None = None

    def next(self) -> Element | None:
        if self._held is not None:
            held, self._held = self._held, None
            return held
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure
        return self._source.next()

    def next_block(self, count: int) -> Block | None:
        if self._source.has_wanted and self._failure is self._held is None:
            return self._source.next_wanted(count)
        elements: list[Element] = []
        while len(elements) < count:
            try:
                element = self.next()
            except errors.OpError as error:
                if not elements:
                    raise
                self._failure = error
                break
            if element is None:
                break
            if elements and not self._is_like(element, elements[0]):
                self._held = element
                break
            elements.append(element)
        return [_rows(column) for column in zip(*elements)] if elements else None

    def _is_like(self, element: Element, first: Element) -> bool:
        """Whether an element may be in a block with another one."""
        return all(
            x.shape == y.shape
            or (self.has_ragged_blocks and x.ndim == y.ndim > 0 and x.shape[1:] == y.shape[1:])
            for x, y in zip(element, first)
        )

    def save(self) -> State:
        if self._failure is not None:
            raise self._failure
        return {**super().save(), "held": list(self._held or ())}

    def restore(self, state: State) -> None:
        super().restore(state)
        self._held = tuple(state["held"]) or None


class AheadSingles(Singles):
    """The same of a stream of which nobody sees whether elements are read before their time."""

    has_ragged_blocks = True


def _rows(items: Sequence[np.ndarray]) -> Any:
    """Arrays as rows, which may differ in their first size."""
    first = items[0]
    if not first.ndim:
        return np.fromiter([item[()] for item in items], first.dtype, len(items))
    if all(item.shape == first.shape for item in items):
        return np.stack(items)
    lengths = np.fromiter(map(len, items), np.int64, len(items))
    return Ragged.of_lengths(np.concatenate(items), lengths)
