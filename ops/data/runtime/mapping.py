# SPDX-License-Identifier: Apache-2.0
"""Datasets that call a function for each element: map, filter and what reduces a dataset."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ....engine import errors
from ....engine.memory import offering
from ....engine.types.dtypes import DType
from ....engine.types.shape import TensorShape
from ....engine.types.texts import unpacked
from .dataset import (
    Block,
    BlockStream,
    Dataset,
    Element,
    OneSource,
    Rows,
    State,
    Stream,
    alone,
    row_of,
)
from .functions import BlockError, BlockRun, require_scalar_bool
from .ordering import UnaryDataset
from .singles import Singles
from .stages import stages_of
from .statistics import Teller, teller

if TYPE_CHECKING:
    from .context import Context
    from .functions import Captured, FunctionRun


# What is called with an element's components.
Function = Callable[[Element], Element]

# Components of elements that are computed many at a time have so many numbers at most.
_SMALL = 1 << 14
# So many elements go through the first stage of a function at once, at most.
_STAGED = 64


class MapDataset(UnaryDataset):
    """The results of a function of each element."""

    kind = "Map"

    def __init__(
        self,
        source: Dataset,
        types: Sequence[DType],
        shapes: Sequence[TensorShape],
        function: Captured,
        keeps_count: bool = False,
    ) -> None:
        super().__init__(source, types, shapes)
        self.function, self.keeps_count = function, keeps_count

    def block_run(self, context: Context, is_ragged: bool = False) -> BlockRun | None:
        """What computes blocks of elements, if the function can be computed so."""
        return context.function(self.function).on_blocks(self.source.shapes, is_ragged)

    def stream(self, context: Context, path: str) -> Stream:
        source = self.source_stream(context, path)
        has_blocks = source.has_blocks or source.has_ragged_blocks
        is_wanted = not has_blocks and self._is_small()
        run = None
        if has_blocks or is_wanted:
            run = self.block_run(context, has_blocks and not source.has_blocks)
        if run is not None:
            return _MappedWanted(source, run) if is_wanted else _MappedBlocks(source, run)
        function = self.function
        stages = stages_of(function, self.source.shapes) if source.has_blocks else None
        if stages is not None:
            run = context.function(stages.first).on_blocks(self.source.shapes)
            if run is not None:
                source, function = _FirstStage(source, run), stages.rest
        return self.single_stream(context, source, function)

    def _is_small(self) -> bool:
        """Whether elements are known to be alike, and not worth a call of the function each."""
        sizes = [shape.num_elements() for shape in self.source.shapes]
        sizes += [shape.num_elements() or 0 for shape in self.shapes]
        return all(size is not None and size <= _SMALL for size in sizes)

    def single_stream(self, context: Context, source: Stream, function: Captured) -> Stream:
        """A stream of elements for each of which a function is called: this one, or its rest."""
        return _Mapped(source, context.function(function), self.keeps_count)

    def rows(self, context: Context) -> Rows | None:
        rows = self.source.rows(context)
        run = self.block_run(context) if rows is not None else None
        return _MappedRows(rows, run) if rows and run is not None and run.is_dense else None

    def cardinality(self) -> int:
        # (TensorFlow takes it that the function ends nothing before its time.)
        return self.source.cardinality()


def mapped(function: Function, element: Element, keeps_count: bool) -> Element | None:
    """The results for an element; None where the function says that there are no more."""
    return ended(partial(function, element), keeps_count)


def ended(end: Callable[[], Element], keeps_count: bool) -> Element | None:
    """The same of a call that was begun."""
    try:
        return end()
    except errors.OutOfRangeError as error:
        if not keeps_count:
            return None
        # The caller would take it for the end of the data.
        raise errors.invalid(
            f"Function invocation produced OutOfRangeError: {error.message}"
        ) from error


class _Mapped(OneSource):
    def __init__(self, source: Stream, function: FunctionRun, keeps_count: bool) -> None:
        self._source, self._function, self._keeps_count = source, function, keeps_count

    def next(self) -> Element | None:
        element = self._function.next_of(self._source)
        return None if element is None else mapped(self._function, element, self._keeps_count)

    def next_in(self, rows: Sequence[np.ndarray]) -> Element | None:
        with offering(rows):
            return self.next()


class _MappedRows(Rows):
    def __init__(self, rows: Rows, run: BlockRun) -> None:
        super().__init__(rows.count)
        self._rows, self._run = rows, run

    def take(self, numbers: np.ndarray) -> Block:
        return self._run(self._rows.take(numbers))


class _MappedBlocks(BlockStream):
    def __init__(self, source: Stream, run: BlockRun) -> None:
        super().__init__()
        self._source, self._run = source, run
        self.has_blocks, self.has_ragged_blocks = run.is_dense, True
        # Elements of a block that has an element with an error, not computed yet.
        self._failing: list[Element] = []
        self._single: FunctionRun | None = None

    def read_block(self, count: int) -> Block | None:
        if self._failing:
            return self._one_by_one()
        block = self._run.next_of(self._source, count)
        if block is None:
            return None
        try:
            return self._run(block)
        except BlockError as error:
            self._single = error.single
            block = [unpacked(column) for column in block]
            rows = range(len(block[0]))
            self._failing = [tuple(row_of(column, i) for column in block) for i in rows]
            return self._one_by_one()

    def _one_by_one(self) -> Block:
        element = self._failing.pop(0)
        assert self._single is not None
        return [alone(result) for result in self._single(element)]

    def save(self) -> State:
        failing = [list(element) for element in self._failing]
        return {"source": self._source.save(), "failing": failing, **self.save_ahead()}

    def restore(self, state: State) -> None:
        self.restore_ahead(state)
        self._failing = [tuple(element) for element in state["failing"]]
        self._single = self._run.single
        self._source.restore(state["source"])

    def close(self) -> None:
        self._source.close()


class _FirstStage(_MappedBlocks):
    """What a function computes for blocks, for whom calls the rest of it with each element.

    (Blocks of files and pictures stay in the caches, and take little memory.)
    """

    def read_block(self, count: int) -> Block | None:
        return super().read_block(min(count, _STAGED))


class _MappedWanted(_MappedBlocks):
    """The same of a stream without blocks: of as many elements at once as are wanted."""

    def __init__(self, source: Stream, run: BlockRun) -> None:
        self._singles = Singles(source)
        super().__init__(self._singles, run)
        self.has_wanted, self.has_ragged_wanted = self.has_blocks, True
        self.has_blocks = self.has_ragged_blocks = False

    def next(self) -> Element | None:
        if self.is_ahead or self._failing:
            return super().next()
        element = self._singles.next()
        return None if element is None else self._run.single(element)

    def next_wanted(self, count: int) -> Block | None:
        return self.next_block(count)


class FilterDataset(UnaryDataset):
    """The elements for which a predicate holds."""

    kind = "Filter"

    def __init__(self, source: Dataset, predicate: Captured) -> None:
        super().__init__(source)
        self.predicate = predicate

    def stream(self, context: Context, path: str) -> Stream:
        source = self.source_stream(context, path)
        function = context.function(self.predicate)
        told = teller(context, self)
        if told is not None:
            return _ToldFiltered(source, function, told)
        run = None
        if source.has_blocks or source.has_ragged_blocks:
            run = function.on_blocks(self.source.shapes, not source.has_blocks)
        if run is not None and run.is_dense:
            return _FilteredBlocks(source, run)
        return _Filtered(source, function)

    def cardinality(self) -> int:
        return -2


class _Filtered(OneSource):
    def __init__(self, source: Stream, function: FunctionRun) -> None:
        self._source, self._function = source, function

    def next(self) -> Element | None:
        while True:
            element = self._source.next()
            if element is None or require_scalar_bool(self._function(element)):
                return element


class _ToldFiltered(_Filtered):
    """The same; how many elements were dropped, and how many were not, is told."""

    def __init__(self, source: Stream, function: FunctionRun, told: Teller) -> None:
        super().__init__(source, function)
        self._told, self._dropped, self._kept = told, 0, 0

    def next(self) -> Element | None:
        while (element := self._source.next()) is not None:
            if require_scalar_bool(self._function(element)):
                self._kept += 1
                self._told.set("filtered_elements", self._kept)
                break
            self._dropped += 1
            self._told.set("dropped_elements", self._dropped)
        return element


class _FilteredBlocks(BlockStream):
    def __init__(self, source: Stream, run: BlockRun) -> None:
        super().__init__()
        self._source, self._run = source, run
        self.has_blocks, self.has_ragged_blocks = source.has_blocks, True
        self._failing: list[Element] = []

    def read_block(self, count: int) -> Block | None:
        while True:
            if self._failing:
                kept = self._one()
                if kept is not None:
                    return kept
                continue
            block = self._source.next_block(count)
            if block is None:
                return None
            try:
                (kept_rows,) = self._run(block)
            except BlockError:
                rows = range(len(block[0]))
                self._failing = [tuple(row_of(column, i) for column in block) for i in rows]
                continue
            if kept_rows.all():
                return block
            if kept_rows.any():
                return [column[kept_rows] for column in block]

    def _one(self) -> Block | None:
        element = self._failing.pop(0)
        if not require_scalar_bool(self._run.single(element)):
            return None
        return [alone(component) for component in element]

    def save(self) -> State:
        failing = [list(element) for element in self._failing]
        return {"source": self._source.save(), "failing": failing, **self.save_ahead()}

    def restore(self, state: State) -> None:
        self.restore_ahead(state)
        self._failing = [tuple(element) for element in state["failing"]]
        self._source.restore(state["source"])

    def close(self) -> None:
        self._source.close()


def reduced(
    stream: Stream, function: FunctionRun, state: Sequence[np.ndarray]
) -> Sequence[np.ndarray]:
    """The state after a function has taken up all elements."""
    while True:
        element = stream.next()
        if element is None:
            return state
        found = function([*state, *element])
        if len(found) != len(state):
            raise errors.invalid(
                "The number of components of the initial state and the reduce function output does "
                f"not match. (initial_state={len(state)}, output={len(found)})."
            )
        state = found
