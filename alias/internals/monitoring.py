# SPDX-License-Identifier: Apache-2.0
"""`tensorflow.python.eager.monitoring`: counters and gauges that libraries keep of themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeVar

Value = TypeVar("Value", int, str, bool)


class Cell(Generic[Value]):
    """What is kept under one set of labels."""

    def __init__(self, start: Value) -> None:
        self._value = start

    def set(self, value: Value) -> None:
        """Replaces what is kept."""
        self._value = value

    def value(self) -> Value:
        """What is kept."""
        return self._value


class CounterCell(Cell[int]):
    """A count that rises."""

    def increase_by(self, value: int) -> None:
        """Adds to the count."""
        self._value += value


class SamplerCell:
    """How many values fell between each two limits."""

    def __init__(self, limits: Sequence[float]) -> None:
        self._limits = limits
        self._counts = [0] * (len(limits) + 1)

    def add(self, value: float) -> None:
        """Counts a value."""
        self._counts[sum(limit <= value for limit in self._limits)] += 1

    def value(self) -> list[int]:
        """The counts, from below the first limit to above the last."""
        return list(self._counts)


class _Gauge(Generic[Value]):
    """Cells by their labels; `get_cell` makes one when it is first asked for."""

    _start: Value

    def __init__(self, name: str, description: str, *labels: str) -> None:
        self._name, self._description, self._labels = name, description, labels
        self._cells: dict[tuple[str, ...], Cell[Value]] = {}

    def get_cell(self, *labels: str) -> Cell[Value]:
        """The cell with these labels.

        Raises:
            ValueError: there are more or fewer labels than the metric has.
        """
        _check(self._name, self._labels, labels)
        return self._cells.setdefault(labels, self._new())

    def _new(self) -> Cell[Value]:
        return Cell(self._start)


class Counter(_Gauge[int]):
    """Counts."""

    _start = 0

    def _new(self) -> CounterCell:
        return CounterCell(0)


class IntGauge(_Gauge[int]):
    """Whole numbers."""

    _start = 0


class StringGauge(_Gauge[str]):
    """Texts."""

    _start = ""


class BoolGauge(_Gauge[bool]):
    """Truth values."""

    _start = False


class Buckets:
    """Limits that a sampler counts between."""

    def __init__(self, limits: Sequence[float]) -> None:
        self.limits = tuple(limits)


class ExponentialBuckets(Buckets):
    """Limits that grow by a factor: scale, scale * growth_factor, …"""

    def __init__(self, scale: float, growth_factor: float, bucket_count: int) -> None:
        super().__init__([scale * growth_factor**i for i in range(bucket_count)])


class Sampler:
    """Counts of values between limits."""

    def __init__(self, name: str, buckets: Buckets, description: str, *labels: str) -> None:
        self._name, self._buckets, self._description = name, buckets, description
        self._labels = labels
        self._cells: dict[tuple[str, ...], SamplerCell] = {}

    def get_cell(self, *labels: str) -> SamplerCell:
        """The counts with these labels.

        Raises:
            ValueError: there are more or fewer labels than the metric has.
        """
        _check(self._name, self._labels, labels)
        return self._cells.setdefault(labels, SamplerCell(self._buckets.limits))


def _check(name: str, wanted: Sequence[str], given: Sequence[str]) -> None:
    if len(wanted) != len(given):
        raise ValueError(f"The {name} expects taking {len(wanted)} labels, but got {len(given)}")
