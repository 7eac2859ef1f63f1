# SPDX-License-Identifier: Apache-2.0
"""Datasets that take their elements from several others: as one says, or as they come."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ....engine import errors
from ....engine.types.dtypes import DType
from ....engine.types.shape import TensorShape
from .dataset import UNKNOWN, Dataset, Stream, dataset_in
from .functions import is_stateless
from .interleaved_blocks import BlockTurn, InterleavedBlocks
from .nesting import FlatMapDataset, Interleaved, Nested
from .ordering import UnaryDataset
from .turns import ChosenTurns, ClosedUpTurns, Turn

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
        path = f"{path}::{self.kind}"
        selector = self.selector.stream(context, f"{path}.selector")
        sources = [each.stream(context, f"{path}[{i}]") for i, each in enumerate(self.sources)]
        if all(source.has_blocks for source in sources):
            return InterleavedBlocks(ChosenTurns(selector, sources, BlockTurn))
        return Interleaved(ChosenTurns(selector, sources, Turn))

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
        # (Where nobody can tell when the function is called.)
        if source.has_blocks and nested.is_in_blocks and is_stateless(self.function):
            return InterleavedBlocks(ClosedUpTurns(source, nested.begin, numbers, BlockTurn))
        return Interleaved(ClosedUpTurns(source, nested.ahead(self.room), numbers, Turn))
