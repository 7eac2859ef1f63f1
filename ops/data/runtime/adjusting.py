# SPDX-License-Identifier: Apache-2.0
"""Datasets that adjust others: to replicas, to a rate, to a time, or to what a program expects."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ....engine import errors
from ....engine.types.dtypes import DType
from ....engine.types.shape import TensorShape
from .dataset import UNKNOWN, Dataset, Element, OneSource, State, Stream
from .ordering import UnaryDataset
from .random import Samples

if TYPE_CHECKING:
    from .context import Context

# Who sleeps looks so often whether to go on.
_NAP = 0.05
# The bits of a number that make a float32 of [1, 2).
_MANTISSA, _ONE = np.uint32(0x7FFFFF), np.uint32(127 << 23)


class RebatchDataset(UnaryDataset):
    """Batches cut into as many parts as there are replicas, of which the last may be short."""

    kind = "Rebatch"

    def __init__(
        self, source: Dataset, types: Sequence[DType], shapes: Sequence[TensorShape], parts: int
    ) -> None:
        super().__init__(source, types, shapes)
        self.parts = parts

    def stream(self, context: Context, path: str) -> Stream:
        return _Cut(self.source_stream(context, path), self.parts)

    def cardinality(self) -> int:
        count = self.source.cardinality()
        return count * self.parts if count > 0 else count


class _Cut(Stream):
    def __init__(self, source: Stream, parts: int) -> None:
        self._source, self._parts = source, parts
        self._whole: Element = ()
        self._number = 0

    def next(self) -> Element | None:
        if self._number == 0:
            found = self._source.next()
            if found is None:
                return None
            for i, column in enumerate(found):
                if not column.ndim:
                    raise errors.invalid(
                        "Cannot rebatch dataset: All components must have at least one dimension. "
                        f"Perhaps your input dataset is not batched? Component {i} is scalar."
                    )
            self._whole = found
        number, self._number = self._number, (self._number + 1) % self._parts
        # (Components may have different numbers of rows; parts behind the last row are empty.)
        steps = [-(-len(column) // self._parts) for column in self._whole]
        return tuple(c[s * number : s * (number + 1)] for c, s in zip(self._whole, steps))

    def save(self) -> State:
        whole = list(self._whole) if self._number else []
        return {"source": self._source.save(), "whole": whole, "number": self._number}

    def restore(self, state: State) -> None:
        self._source.restore(state["source"])
        self._whole, self._number = tuple(state["whole"]), int(state["number"])

    def close(self) -> None:
        self._source.close()


class SamplingDataset(UnaryDataset):
    """Each element with a probability."""

    kind = "Sampling"

    def __init__(self, source: Dataset, rate: float, seeds: tuple[int, int]) -> None:
        super().__init__(source)
        self.rate, self.seeds = np.float32(rate), seeds

    def stream(self, context: Context, path: str) -> Stream:
        return _Sampled(self, self.source_stream(context, path))

    def cardinality(self) -> int:
        return UNKNOWN


class _Sampled(Stream):
    def __init__(self, dataset: SamplingDataset, source: Stream) -> None:
        self._dataset, self._source = dataset, source
        # (Of a dataset that chance seeds, those of the run that was saved.)
        self._seeds = dataset.seeds
        self._samples = Samples(*self._seeds)

    def _drawn(self) -> np.float32:
        bits = (self._samples.take(1) & _MANTISSA) | _ONE
        return np.float32(bits.view(np.float32)[0] - np.float32(1))

    def next(self) -> Element | None:
        while (element := self._source.next()) is not None:
            if self._drawn() < self._dataset.rate:
                return element
        return None

    def save(self) -> State:
        seeds = list(self._seeds)
        return {"source": self._source.save(), "drawn": self._samples.count, "seeds": seeds}

    def restore(self, state: State) -> None:
        self._source.restore(state["source"])
        first, second = (int(seed) for seed in state["seeds"])
        self._seeds = first, second
        self._samples = Samples(*self._seeds)
        self._samples.skip_to(int(state["drawn"]))

    def close(self) -> None:
        self._source.close()


class SleepDataset(UnaryDataset):
    """The same elements, each after a while."""

    kind = "Sleep"

    def __init__(self, source: Dataset, microseconds: int) -> None:
        super().__init__(source)
        self.seconds = microseconds / 1e6

    def stream(self, context: Context, path: str) -> Stream:
        return _Slept(self.source_stream(context, path), self.seconds, context)


class _Slept(OneSource):
    def __init__(self, source: Stream, seconds: float, context: Context) -> None:
        self._source, self._seconds, self._context = source, seconds, context

    def next(self) -> Element | None:
        end = time.monotonic() + self._seconds
        while (left := end - time.monotonic()) > 0:
            self._context.check()
            time.sleep(min(left, _NAP))
        return self._source.next()


class AssertNextDataset(UnaryDataset):
    """The same elements, if the datasets that read them are of the kinds that are told."""

    kind = "AssertNext"

    def __init__(self, source: Dataset, kinds: Sequence[str]) -> None:
        super().__init__(source)
        self.expected = tuple(kinds)

    def stream(self, context: Context, path: str) -> Stream:
        # (What is nearest stands last; the first part names the iterator.)
        readers = [part for part in path.split("::")[1:] if part][::-1]
        if len(self.expected) > len(readers):
            raise errors.invalid(
                f"Asserted next {len(self.expected)} transformations but encountered only "
                f"{len(readers)}."
            )
        for i, (expected, found) in enumerate(zip(self.expected, readers)):
            if expected != found:
                raise errors.invalid(
                    f"Asserted {expected} transformation at offset {i} but encountered {found} "
                    "transformation instead."
                )
        return self.source_stream(context, path)


class FastestDataset(UnaryDataset):
    """The elements of the first of several datasets, which have the same."""

    kind = "ChooseFastest"

    def __init__(
        self, sources: Sequence[Dataset], types: Sequence[DType], shapes: Sequence[TensorShape]
    ) -> None:
        super().__init__(sources[0], types, shapes)
        self._check(sources)

    def _check(self, sources: Sequence[Dataset]) -> None:
        count, what = UNKNOWN, "All inputs to ChooseFastestDataset must have"
        for i, source in enumerate(sources):
            if source.types != self.types:
                raise errors.invalid(
                    f"{what} the same output types. Input {i} has output types: "
                    f"{[kind.name for kind in source.types]}. Expected: "
                    f"{[kind.name for kind in self.types]}."
                )
            for j, (own, wanted) in enumerate(zip(source.shapes, self.shapes)):
                if not wanted.is_compatible_with(own):
                    raise errors.invalid(
                        f"{what} compatible output shapes. Component {j} of input {i} has shape: "
                        f"{own}. Expected to be compatible with shape: {wanted}."
                    )
            own_count = source.cardinality()
            if UNKNOWN not in (count, own_count) and count != own_count:
                raise errors.invalid(
                    f"{what} compatible cardinalities. Input {i} has cardinality: {own_count}, "
                    f"while all prior inputs have cardinality: {count}."
                )
            count = own_count if count == UNKNOWN else count

    def stream(self, context: Context, path: str) -> Stream:
        return self.source_stream(context, path)
