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
from .nesting import FlatMapDataset, _Nested, _Turn
from .ordering import UnaryDataset
from .threads import Ahead

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
        nested = _Nested(context, self.function, f"{path}::{self.kind}")
        return _InTurns(self, context, self.source_stream(context, path), nested)


class _Failed(Stream):
    """In the place of elements, an error once."""

    def __init__(self, error: errors.OpError) -> None:
        self._error: errors.OpError | None = error

    def next(self) -> Element | None:
        error, self._error = self._error, None
        if error is not None:
            raise error
        return None


class _InTurns(Stream):
    def __init__(
        self, dataset: ParallelInterleaveDataset, context: Context, source: Stream, nested: _Nested
    ) -> None:
        self._dataset, self._context = dataset, context
        self._source, self._nested = source, nested
        self._turns: list[_Turn] = []
        self._place = self._given = self._number = 0
        self._is_over = False

    def _open(self, element: Element, number: int) -> _Turn:
        stream = self._nested.begin(element, number)
        return _Turn(element, number, Ahead(stream, self._context, self._dataset.room))

    def _more(self) -> _Turn | None:
        """A dataset more, if there is one."""
        try:
            element = None if self._is_over else self._source.next()
            if element is None:
                self._is_over = True
                return None
            self._number += 1
            return self._open(element, self._number)
        except (errors.CancelledError, errors.DeadlineExceededError):
            raise
        except errors.OpError as error:
            # What fails has its turn, too.
            return _Turn((), self._number, _Failed(error))

    def _count(self) -> None:
        """Goes on to the next dataset when a block was given."""
        self._given += 1
        if self._given == self._dataset.block:
            self._given = 0
            self._place = (self._place + 1) % len(self._turns)

    def next(self) -> Element | None:
        while True:
            while not self._is_over and len(self._turns) < self._dataset.cycle:
                turn = self._more()
                if turn is not None:
                    self._turns.append(turn)
            if not self._turns:
                return None
            turn = self._turns[self._place]
            try:
                found = turn.stream.next()
            except errors.OpError:
                self._count()
                raise
            if found is not None:
                self._count()
                return found
            turn.stream.close()
            self._given = 0
            other = self._more()
            if other is not None:
                # The new one has its first turn when all others have had theirs.
                self._turns[self._place] = other
                self._place = (self._place + 1) % len(self._turns)
            else:
                del self._turns[self._place]
                self._place = self._place % len(self._turns) if self._turns else 0

    def save(self) -> State:
        turns = [
            {"element": list(t.element), "number": t.number, "stream": t.stream.save()}
            for t in self._turns
        ]
        return {
            "source": self._source.save(),
            "turns": turns,
            "place": self._place,
            "given": self._given,
            "number": self._number,
            "over": int(self._is_over),
        }

    def restore(self, state: State) -> None:
        self._source.restore(state["source"])
        self._place, self._given = state["place"], state["given"]
        self._number, self._is_over = state["number"], bool(state["over"])
        self._turns = []
        for saved in state["turns"]:
            turn = self._open(tuple(saved["element"]), saved["number"])
            turn.stream.restore(saved["stream"])
            self._turns.append(turn)

    def close(self) -> None:
        self._source.close()
        for turn in self._turns:
            turn.stream.close()
