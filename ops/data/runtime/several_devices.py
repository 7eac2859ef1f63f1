# SPDX-License-Identifier: Apache-2.0
"""An iterator whose elements go to several devices in turns."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ....engine import errors
from ....engine.types.dtypes import DType
from ....engine.types.shape import TensorShape
from .dataset import Dataset, Element
from .iterators import IteratorResource

if TYPE_CHECKING:
    from ....engine.session.session import BaseSession


class DeviceIterators:
    """What the handle of a MultiDeviceIterator stands for: element i is for device i % count."""

    def __init__(
        self,
        name: str,
        types: Sequence[DType],
        shapes: Sequence[TensorShape],
        count: int,
        container: str = "",
    ) -> None:
        self.name, self.container, self.count = name, container, count
        self.types, self.shapes = list(types), list(shapes)
        self._iterator = IteratorResource(name, types, shapes, container)
        self._lock = threading.Lock()
        # Elements for a device that were read while another one asked for its own.
        self._waiting: list[deque[Element]] = [deque() for _ in range(count)]
        # Which device the next element is for, and how often a dataset was begun.
        self._next = self.incarnation = 0

    def begin(self, dataset: Dataset, session: BaseSession) -> int:
        """Begins to read a dataset; the number that its readers must know."""
        with self._lock:
            self._iterator.begin(dataset, session)
            self._waiting, self._next = [deque() for _ in range(self.count)], 0
            self.incarnation += 1
            return self.incarnation

    def next(self, device: int, incarnation: int, session: BaseSession) -> Element | None:
        """The next element of a device; None at the end."""
        if not 0 <= device < self.count:
            raise errors.invalid(f"Shard number must be between 0 and {self.count - 1}: {device}")
        with self._lock:
            if incarnation != self.incarnation:
                raise errors.invalid("Invalid incarnation id")
            while not self._waiting[device]:
                element = self._iterator.next(session)
                if element is None:
                    return None
                self._waiting[self._next].append(element)
                self._next = (self._next + 1) % self.count
            return self._waiting[device].popleft()

    def close(self) -> None:
        """Ends what is being read."""
        self._iterator.close()
