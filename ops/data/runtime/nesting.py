# SPDX-License-Identifier: Apache-2.0
"""Datasets whose function makes a dataset of each element: flat_map and interleave."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ....engine import errors
from ....engine.types.dtypes import DType
from ....engine.types.shape import TensorShape
from .dataset import Block, BlockWay, Dataset, Element, State, Stream, dataset_in
from .functions import is_stateless
from .interleaved_blocks import BlockTurn, InterleavedBlocks
from .ordering import UnaryDataset
from .statistics import ToldTurns, teller
from .threads import Ahead
from .turns import Begin, Order, Turn, Turns

if TYPE_CHECKING:
    from .context import Context
    from .functions import Captured

# What gives blocks: datasets of these are read in blocks, one after the other.
_IN_BLOCKS = {
    *("FixedLengthRecordDataset", "FixedLengthRecordDatasetV2", "TextLineDataset"),
    *("RangeDataset", "TFRecordDataset", "TensorSliceDataset"),
    *("CSVDataset", "ExperimentalCSVDataset"),
}
# What gives them as it gets them.
_PASSING = {"Identity", "RepeatDataset", "SkipDataset", "TakeDataset"}
# What a parallel interleave reads ahead of each dataset, in blocks of the cycle.
_BLOCKS_AHEAD = 2


class Nested:
    """Streams of the datasets that a function makes of elements."""

    def __init__(self, context: Context, function: Captured, path: str) -> None:
        self._context, self._path = context, path
        self._function = context.function(function)

    def begin(self, element: Element, number: int) -> Stream:
        """A stream of the dataset of an element."""
        return self.dataset(element).stream(self._context, f"{self._path}[{number}]")

    def ahead(self, room: int) -> Begin:
        """As `begin`, of streams of which so many elements are read ahead."""
        return lambda *of: Ahead(self.begin(*of), self._context, room)

    @property
    def is_in_blocks(self) -> bool:
        """Whether the function makes datasets that give blocks."""
        return _makes_blocks(self._function.captured)

    def dataset(self, element: Element) -> Dataset:
        """The dataset of an element."""
        results = self._function(element)
        if len(results) != 1 or results[0].ndim:
            raise errors.invalid("Function must return a single scalar of dtype DT_VARIANT.")
        return dataset_in(results[0])


def _makes_blocks(function: Captured) -> bool:
    """Whether a function makes datasets that give blocks."""
    results = function.body().results
    if len(results) != 1:
        return False
    op = results[0].op
    while op.type in _PASSING and op._inputs_val:
        op = op._inputs_val[0].op
    if op.type == "FlatMapDataset":
        called = function.called_by(op)
        return len(called) == 1 and _makes_blocks(called[0])
    return op.type in _IN_BLOCKS


class FlatMapDataset(UnaryDataset):
    """The elements of the datasets of all elements, one dataset after the other."""

    kind = "FlatMap"

    def __init__(
        self,
        source: Dataset,
        types: Sequence[DType],
        shapes: Sequence[TensorShape],
        function: Captured,
    ) -> None:
        super().__init__(source, types, shapes)
        self.function = function

    def stream(self, context: Context, path: str) -> Stream:
        nested = Nested(context, self.function, f"{path}::{self.kind}")
        kind = _FlatBlocks if nested.is_in_blocks else _Flat
        return kind(self.source_stream(context, path), nested)

    def cardinality(self) -> int:
        return -2


class _Flat(Stream):
    def __init__(self, source: Stream, nested: Nested) -> None:
        self._source, self._nested = source, nested
        self._element: Element | None = None
        self._inner: Stream | None = None
        self._number = 0
        self._is_over = False

    def next(self) -> Element | None:
        while (inner := self._begun()) is not None:
            found = inner.next()
            if found is not None:
                return found
            self._end()
        return None

    def _begun(self) -> Stream | None:
        """The stream that is read, or else the next one; None when there are no more."""
        if self._inner is None and not self._is_over:
            self._element = self._source.next()
            if self._element is None:
                self._is_over = True
            else:
                self._number += 1
                self._inner = self._nested.begin(self._element, self._number)
        return self._inner

    def _end(self) -> None:
        assert self._inner is not None
        self._inner.close()
        self._inner = None

    def save(self) -> State:
        state: State = {
            "source": self._source.save(),
            "number": self._number,
            "over": int(self._is_over),
        }
        if self._inner is not None:
            state.update(element=list(self._element or ()), inner=self._inner.save())
        return state

    def restore(self, state: State) -> None:
        self._source.restore(state["source"])
        self._number, self._is_over = state["number"], bool(state["over"])
        self._inner = None
        if "inner" in state:
            self._element = tuple(state["element"])
            self._inner = self._nested.begin(self._element, self._number)
            self._inner.restore(state["inner"])

    def close(self) -> None:
        self._source.close()
        if self._inner is not None:
            self._inner.close()


class _FlatBlocks(_Flat):
    """The same of datasets that give blocks."""

    has_blocks = True

    def next_block(self, count: int) -> Block | None:
        return self._block(count, lambda inner: inner.next_block)

    def next_packed_block(self, count: int) -> Block | None:
        return self._block(count, lambda inner: inner.next_packed_block)

    def _block(self, count: int, way: BlockWay) -> Block | None:
        while (inner := self._begun()) is not None:
            block = way(inner)(count)
            if block is not None:
                return block
            self._end()
        return None


class InterleaveDataset(FlatMapDataset):
    """The elements of the datasets of several elements in turns."""

    kind = "Interleave"

    def __init__(
        self,
        source: Dataset,
        types: Sequence[DType],
        shapes: Sequence[TensorShape],
        function: Captured,
        numbers: tuple[int, int],
        parallel: int = 0,
    ) -> None:
        """numbers: how many datasets take turns, and how many elements each gives at a time.

        parallel: how many of the datasets are read ahead.
        """
        super().__init__(source, types, shapes, function)
        self.cycle, self.block = numbers
        self.parallel = parallel

    def stream(self, context: Context, path: str) -> Stream:
        nested = Nested(context, self.function, f"{path}::{self.kind}")
        source = self.source_stream(context, path)
        told = teller(context, self) if self.is_parallel else None
        # (Where nobody can tell when the function is called.)
        is_in_blocks = source.has_blocks and nested.is_in_blocks and is_stateless(self.function)
        if told is None and is_in_blocks:
            return InterleavedBlocks(
                Turns(source, nested.begin, (self.cycle, self.block), BlockTurn)
            )
        begin: Begin = nested.begin
        if self.parallel:
            begin = nested.ahead(max(1, _BLOCKS_AHEAD * self.block))
        stream = Interleaved(Turns(source, begin, (self.cycle, self.block), Turn))
        return stream if told is None else ToldTurns(stream, told)

    @property
    def is_parallel(self) -> bool:
        """Whether the operation that made it may read several datasets at a time."""
        return self.origin is not None and self.origin.op.type.startswith("Parallel")


class Interleaved(Stream):
    """Elements of several datasets in turns, one by one."""

    def __init__(self, turns: Order[Turn]) -> None:
        self._turns = turns

    def next(self) -> Element | None:
        while (turn := self._turns.current()) is not None:
            try:
                found = turn.stream.next()
            except errors.OpError:
                self._turns.failed()
                raise
            if found is not None:
                self._turns.gave()
                return found
            self._turns.end()
        return None

    def save(self) -> State:
        return self._turns.save()

    def restore(self, state: State) -> None:
        self._turns.restore(state)

    def close(self) -> None:
        self._turns.close()
