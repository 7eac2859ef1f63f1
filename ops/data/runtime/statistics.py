# SPDX-License-Identifier: Apache-2.0
"""Statistics of pipelines: what a dataset counts as its elements pass, and where that is kept."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from .dataset import Dataset, Element, OneSource, State, Stream
from .ordering import UnaryDataset
from .origins import node_names

if TYPE_CHECKING:
    from .context import Context
    from .functions import FunctionRun


class Aggregator:
    """Histograms and scalars by name, fed from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._histograms: dict[str, list[float]] = {}
        self._scalars: dict[str, float] = {}

    def add(self, name: str, values: list[float]) -> None:
        """Puts values into a histogram."""
        with self._lock:
            self._histograms.setdefault(name, []).extend(values)

    def set(self, name: str, value: float) -> None:
        """Sets a scalar."""
        with self._lock:
            self._scalars[name] = value

    def summary(self) -> bytes:
        """All that was told, as a serialized Summary."""
        from ....io import protos
        from ...summaries.summary_ops import fill_histogram

        summary = protos.Summary()
        with self._lock:
            for name, values in self._histograms.items():
                value = summary.value.add(tag=name)
                fill_histogram(value.histo, np.array(values, np.float64), name)
            for name, scalar in self._scalars.items():
                summary.value.add(tag=name, simple_value=scalar)
        return summary.SerializeToString()


class Listening:
    """Who is told of an iteration's statistics, and under which names."""

    def __init__(self) -> None:
        self.aggregator: Aggregator | None = None
        self.tag = ""
        # What datasets are called.
        self.nodes: dict[Dataset, str] = {}

    def name(self, tag: str) -> str:
        """A tag with what stands in front of all."""
        return f"{self.tag}::{tag}" if self.tag else tag


def listening(context: Context) -> Listening:
    """Who listens in an iteration."""
    return context.kept("statistics", Listening)  # type: ignore[no-any-return]


class Teller:
    """Tells what a dataset's streams do, under the name of its node."""

    def __init__(self, listener: Listening, aggregator: Aggregator, node: str) -> None:
        self._listener, self._aggregator, self.node = listener, aggregator, node

    def set(self, tag: str, value: float) -> None:
        """Sets a scalar of the node."""
        self._aggregator.set(self._listener.name(f"{self.node}::{tag}"), value)

    def add(self, tag: str, value: float) -> None:
        """Puts a value into a histogram of the node."""
        self._aggregator.add(self._listener.name(f"{self.node}::{tag}"), [value])

    def add_time(self, function: str, seconds: float) -> None:
        """Puts what a call of a function took into a histogram of functions of such nodes."""
        kind = self.node.partition("Dataset")[0]
        name = self._listener.name(f"{kind}::{function}::execution_time")
        self._aggregator.add(name, [seconds * 1e9])


def teller(context: Context, dataset: Dataset) -> Teller | None:
    """What tells of a dataset in an iteration; None where nobody listens."""
    listener = listening(context)
    if listener.aggregator is None:
        return None
    return Teller(listener, listener.aggregator, listener.nodes.get(dataset) or dataset.kind)


class ToldFunction:
    """A function whose calls are told of: how long they take, and how many go on at a time."""

    def __init__(self, function: FunctionRun, told: Teller, most: int) -> None:
        """most: so many calls go on at a time at most."""
        self._function, self._told, self._most = function, told, most
        self._lock = threading.Lock()
        self._running = 0
        self.next_of = function.next_of

    @property
    def holds_lock(self) -> bool:
        """See `FunctionRun`."""
        return self._function.holds_lock

    def begun(self, many: Sequence[Element]) -> list[Callable[[], Element]]:
        """See `FunctionRun`: calls of which each is told of for itself."""
        return [partial(self, arguments) for arguments in many]

    def __call__(self, arguments: Element) -> Element:
        self._count(1)
        start = time.perf_counter()
        try:
            return self._function(arguments)
        finally:
            self._told.add_time(self._function.captured.name, time.perf_counter() - start)
            self._count(-1)

    def _count(self, change: int) -> None:
        with self._lock:
            self._running += change
            self._told.set("thread_utilization", self._running / self._most)


class ToldTurns(OneSource):
    """The elements of datasets in turns, which are read where they are wanted: no thread does."""

    def __init__(self, source: Stream, told: Teller) -> None:
        self._source, self._told = source, told

    def next(self) -> Element | None:
        self._told.set("thread_utilization", 0.0)
        return self._source.next()

    def save(self) -> State:
        return self._source.save()

    def restore(self, state: State) -> None:
        self._source.restore(state)


class ListenedDataset(UnaryDataset):
    """The same elements, whose statistics go to an aggregator."""

    kind = "SetStatsAggregator"

    def __init__(self, source: Dataset, aggregator: Aggregator, tag: str) -> None:
        super().__init__(source)
        self.aggregator, self.tag = aggregator, tag

    def stream(self, context: Context, path: str) -> Stream:
        listener = listening(context)
        listener.aggregator, listener.tag = self.aggregator, self.tag
        listener.nodes = node_names(self.source)
        return self.source_stream(context, path)


class MeasuredDataset(UnaryDataset):
    """The same elements; how many bytes each has, or how long it took, is told."""

    kind = "Stats"

    def __init__(self, source: Dataset, tag: str, is_latency: bool) -> None:
        super().__init__(source)
        self.tag, self.is_latency = tag, is_latency

    def stream(self, context: Context, path: str) -> Stream:
        return _Measured(self.source_stream(context, path), self, listening(context))


class _Measured(OneSource):
    def __init__(self, source: Stream, dataset: MeasuredDataset, listener: Listening) -> None:
        self._source, self._dataset, self._listener = source, dataset, listener

    def next(self) -> Element | None:
        start = time.perf_counter()
        element = self._source.next()
        aggregator = self._listener.aggregator
        if aggregator is not None and element is not None:
            if self._dataset.is_latency:
                value = (time.perf_counter() - start) * 1e6
            else:
                value = float(sum(map(_bytes_of, element)))
            aggregator.add(self._listener.name(self._dataset.tag), [value])
        return element


def _bytes_of(component: np.ndarray) -> int:
    """The bytes of an array; of texts, those of the texts."""
    if component.dtype != object:
        return component.nbytes
    items = component.reshape(-1).tolist()
    return sum(len(item) if isinstance(item, bytes) else 0 for item in items)
