# SPDX-License-Identifier: Apache-2.0
"""Datasets that take their elements from several others: as one says, or as they come."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ....engine import errors
from ....engine.types.dtypes import DType
from ....engine.types.shape import TensorShape
from .dataset import UNKNOWN, Dataset, Element, State, Stream, dataset_in
from .nesting import FlatMapDataset, Interleaved, Nested
from .ordering import UnaryDataset
from .turns import ClosedUpTurns, Turn

if TYPE_CHECKING:
    from .context import Context
    from .functions import Captured


class DirectedInterleaveDataset(Dataset):
    """Elements of several datasets; another dataset says of which the next one is."""

    kind = "DirectedInterleave"

    def __init__(
        self,
        types: Sequence[DType],
        shapes: Sequence[TensorShape],
        selector: Dataset,
        sources: Sequence[Dataset],
    ) -> None:
        super().__init__(types, shapes)
        self.selector, self.sources = selector, tuple(sources)

    @property
    def inputs(self) -> Sequence[Dataset]:
        return (self.selector, *self.sources)

    def reading(self, inputs: Sequence[Dataset]) -> Dataset:
        made = copy.copy(self)
        made.selector, made.sources = inputs[0], tuple(inputs[1:])
        return made

    def stream(self, context: Context, path: str) -> Stream:
        return _Chosen(self, context, f"{path}::{self.kind}")

    def cardinality(self) -> int:
        return UNKNOWN


class _ReadOnce(UnaryDataset):
    """The same elements, for one stream alone."""

    kind = "Wrapper"
    _is_taken = False

    def stream(self, context: Context, path: str) -> Stream:
        if self._is_taken:
            raise errors.invalid("Cannot create more than one WrapperIterator per WrapperDataset.")
        self._is_taken = True
        return self.source_stream(context, path)


class BranchDataset(UnaryDataset):
    """The elements of the dataset that a function makes of another one.

    It is the first of several that make the same elements: which is the fastest is not measured.
    """

    kind = "ChooseFastestBranch"

    def __init__(
        self,
        source: Dataset,
        types: Sequence[DType],
        shapes: Sequence[TensorShape],
        branch: Captured,
        ratio: tuple[int, int],
    ) -> None:
        super().__init__(source, types, shapes)
        self.branch, self.ratio = branch, ratio

    def stream(self, context: Context, path: str) -> Stream:
        source = _ReadOnce(self.source).boxed()
        made = dataset_in(context.function(self.branch)([source])[0])
        return made.stream(context, f"{path}::{self.kind}")

    def cardinality(self) -> int:
        count = self.source.cardinality()
        return count if count < 0 else count * self.ratio[0] // self.ratio[1]


class _Chosen(Stream):
    def __init__(self, dataset: DirectedInterleaveDataset, context: Context, path: str) -> None:
        self._selector: Stream | None = dataset.selector.stream(context, f"{path}.selector")
        self._sources: list[Stream | None] = [
            source.stream(context, f"{path}[{i}]") for i, source in enumerate(dataset.sources)
        ]

    def next(self) -> Element | None:
        while self._selector is not None and any(self._sources):
            choice = self._selector.next()
            if choice is None:
                break
            number = int(choice[0])
            if not 0 <= number < len(self._sources):
                raise errors.invalid(
                    f"Selector index out of range: {number} >= {len(self._sources)}"
                )
            source = self._sources[number]
            element = None if source is None else source.next()
            if element is not None:
                return element
            # What is at its end is passed over when it is chosen again.
            if source is not None:
                source.close()
                self._sources[number] = None
        self.close()
        self._selector = None
        return None

    def save(self) -> State:
        if self._selector is None:
            return {}
        return {
            "selector": self._selector.save(),
            "sources": [{} if s is None else {"stream": s.save()} for s in self._sources],
        }

    def restore(self, state: State) -> None:
        if "selector" not in state:
            self.close()
            self._selector = None
            return
        assert self._selector is not None
        self._selector.restore(state["selector"])
        for i, (source, saved) in enumerate(zip(self._sources, state["sources"])):
            if not saved:
                self._sources[i] = None
            elif source is not None:
                source.restore(saved["stream"])

    def close(self) -> None:
        for stream in (self._selector, *self._sources):
            if stream is not None:
                stream.close()


class ParallelInterleaveDataset(FlatMapDataset):
    """The elements of the datasets of several elements in turns, as TensorFlow's older op has them.

    A dataset that has no elements left gives its place to the next one at once, in the same turn.
    """

    kind = "ParallelInterleave"

    def __init__(
        self,
        source: Dataset,
        types: Sequence[DType],
        shapes: Sequence[TensorShape],
        function: Captured,
        numbers: tuple[int, int],
        room: int,
    ) -> None:
        """numbers: how many datasets take turns, and how many elements each gives at a time.

        room: how many elements of each are read ahead.
        """
        super().__init__(source, types, shapes, function)
        self.cycle, self.block = numbers
        self.room = room

    def stream(self, context: Context, path: str) -> Stream:
        nested = Nested(context, self.function, f"{path}::{self.kind}")
        source, numbers = self.source_stream(context, path), (self.cycle, self.block)
        return Interleaved(ClosedUpTurns(source, nested.ahead(self.room), numbers, Turn))
