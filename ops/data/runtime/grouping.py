# SPDX-License-Identifier: Apache-2.0
"""Datasets that group elements by a key that a function computes."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ....engine import errors
from ....engine.types.dtypes import DType
from ....engine.types.shape import TensorShape
from .dataset import UNKNOWN, Dataset, Element, OneSource, State, Stream, dataset_in, row_of
from .functions import BlockError
from .ordering import UnaryDataset
from .sources import FixedDataset

if TYPE_CHECKING:
    from .context import Context
    from .functions import BlockRun, Captured, FunctionRun

# So many elements are read ahead at most.
_AHEAD = 256


def _int64_of(results: Sequence[np.ndarray], what: str) -> int:
    """The number that a function returned; InvalidArgumentError for anything else."""
    if len(results) != 1 or results[0].dtype != np.int64 or results[0].size != 1:
        raise errors.invalid(f"`{what}` must return a scalar int64.")
    return int(results[0].reshape(()))


class WindowFunctions(NamedTuple):
    """The functions of group_by_window: an element's key, a group's elements, a group's size."""

    key: Captured
    reduce: Captured
    size: Captured


class GroupByWindowDataset(UnaryDataset):
    """The elements of datasets that a function makes of groups of elements with one key."""

    kind = "GroupByWindow"

    def __init__(
        self,
        source: Dataset,
        types: Sequence[DType],
        shapes: Sequence[TensorShape],
        functions: WindowFunctions,
    ) -> None:
        super().__init__(source, types, shapes)
        self.functions = functions

    def stream(self, context: Context, path: str) -> Stream:
        return _Windows(self, context, self.source_stream(context, path), f"{path}::{self.kind}")

    def cardinality(self) -> int:
        return UNKNOWN


class _Keyed(OneSource):
    """Elements with what a function makes of each, computed for many at once where it can be."""

    def __init__(
        self, source: Stream, function: FunctionRun, shapes: Sequence[TensorShape]
    ) -> None:
        self._source, self._function = source, function
        self._run: BlockRun | None = None
        if source.has_blocks or source.has_ragged_blocks:
            self._run = function.on_blocks(shapes, not source.has_blocks)
        # What was read ahead, with its results if there are any.
        self._ahead: deque[tuple[Element, Sequence[np.ndarray] | None]] = deque()
        self._size = 1

    def next_pair(self) -> tuple[Element, Sequence[np.ndarray]] | None:
        """The next element and its results."""
        if not self._ahead and self._run is not None:
            self._read(self._run)
        element, results = self._ahead.popleft() if self._ahead else (self._source.next(), None)
        if element is None:
            return None
        return element, self._function(element) if results is None else results

    def _read(self, run: BlockRun) -> None:
        """Reads a block, twice as large as the last one."""
        block = self._source.next_block(self._size)
        if block is None:
            return
        self._size = min(2 * self._size, _AHEAD)
        elements = [tuple([row_of(x, i) for x in block]) for i in range(len(block[0]))]
        try:
            found = run(block)
        except BlockError:
            self._ahead.extend((element, None) for element in elements)
            return
        results = [tuple([row_of(x, i) for x in found]) for i in range(len(elements))]
        self._ahead.extend(zip(elements, results))

    def save(self) -> State:
        return {**super().save(), "ahead": [list(element) for element, _ in self._ahead]}

    def restore(self, state: State) -> None:
        super().restore(state)
        self._ahead = deque((tuple(element), None) for element in state["ahead"])


class _Windows(Stream):
    def __init__(
        self, dataset: GroupByWindowDataset, context: Context, source: Stream, path: str
    ) -> None:
        self._dataset, self._context, self._path = dataset, context, path
        functions = map(context.function, dataset.functions)
        key_of, self._reduce, self._size_of = functions
        self._source = _Keyed(source, key_of, dataset.source.shapes)
        self._groups: dict[int, list[Element]] = {}
        self._sizes: dict[int, int] = {}
        self._key = self._number = 0
        self._inner: Stream | None = None
        self._is_over = False

    def next(self) -> Element | None:
        while True:
            if self._inner is not None:
                found = self._inner.next()
                if found is not None:
                    return found
                self._inner.close()
                self._inner = None
                del self._groups[self._key]
            if not self._is_over:
                self._read()
            if self._is_over and self._inner is None:
                if not self._groups:
                    return None
                # (At the end groups are given in the order of their keys.)
                self._begin(min(self._groups))

    def _read(self) -> None:
        """Reads until a group is full, or there is nothing more to read."""
        while True:
            pair = self._source.next_pair()
            if pair is None:
                self._is_over = True
                return
            element, result = pair
            key = _int64_of(result, "key_func")
            if key not in self._sizes:
                size = _int64_of(self._size_of(result), "window_size_func")
                if size <= 0:
                    raise errors.invalid(f"Window size must be greater than zero, but got {size}.")
                self._sizes[key] = size
            group = self._groups.setdefault(key, [])
            group.append(element)
            if len(group) == self._sizes[key]:
                self._begin(key)
                return

    def _begin(self, key: int) -> None:
        self._key = key
        self._number += 1
        source = self._dataset.source
        group = FixedDataset(source.types, source.shapes, self._groups[key])
        results = self._reduce([np.array(key, np.int64), group.boxed()])
        if len(results) != 1 or results[0].ndim:
            raise errors.invalid("`reduce_func` must return a single scalar of dtype DT_VARIANT.")
        path = f"{self._path}[{self._number}]"
        self._inner = dataset_in(results[0]).stream(self._context, path)

    def save(self) -> State:
        state: State = {
            "source": self._source.save(),
            "keys": list(self._groups),
            "groups": [[list(e) for e in group] for group in self._groups.values()],
            "sized": list(self._sizes),
            "sizes": list(self._sizes.values()),
            "number": self._number,
            "over": int(self._is_over),
        }
        if self._inner is not None:
            state.update(key=self._key, inner=self._inner.save())
        return state

    def restore(self, state: State) -> None:
        self._source.restore(state["source"])
        groups = [[tuple(e) for e in group] for group in state["groups"]]
        self._groups = dict(zip(state["keys"], groups))
        self._sizes = dict(zip(state["sized"], state["sizes"]))
        self._number, self._is_over = state["number"], bool(state["over"])
        self._inner = None
        if "inner" in state:
            self._number -= 1
            self._begin(state["key"])
            assert self._inner is not None
            self._inner.restore(state["inner"])

    def close(self) -> None:
        self._source.close()
        if self._inner is not None:
            self._inner.close()


class ReducerFunctions(NamedTuple):
    """Those of group_by_reducer: an element's key, a first state, the next one, a result."""

    key: Captured
    init: Captured
    reduce: Captured
    finalize: Captured


class GroupByReducerDataset(UnaryDataset):
    """For each key, in order, what functions make of the elements that have it."""

    kind = "GroupByReducer"

    def __init__(
        self,
        source: Dataset,
        types: Sequence[DType],
        shapes: Sequence[TensorShape],
        functions: ReducerFunctions,
    ) -> None:
        super().__init__(source, types, shapes)
        self.functions = functions

    def stream(self, context: Context, path: str) -> Stream:
        return _Reduced(self, context, self.source_stream(context, path))

    def cardinality(self) -> int:
        return UNKNOWN


class _Reduced(Stream):
    def __init__(self, dataset: GroupByReducerDataset, context: Context, source: Stream) -> None:
        runs: list[FunctionRun] = [context.function(f) for f in dataset.functions]
        key_of, self._init, self._reduce, self._finalize = runs
        self._source = _Keyed(source, key_of, dataset.source.shapes)
        self._states: dict[int, Sequence[np.ndarray]] = {}
        self._is_read = False

    def next(self) -> Element | None:
        if not self._is_read:
            self._read()
        if not self._states:
            return None
        key = min(self._states)
        return self._finalize(self._states.pop(key))

    def _read(self) -> None:
        while True:
            pair = self._source.next_pair()
            if pair is None:
                self._is_read = True
                return
            element, result = pair
            key = _int64_of(result, "key_func")
            if key not in self._states:
                self._states[key] = self._init(result)
            self._states[key] = self._reduce([*self._states[key], *element])

    def save(self) -> State:
        return {
            "source": self._source.save(),
            "keys": list(self._states),
            "states": [list(state) for state in self._states.values()],
            "read": int(self._is_read),
        }

    def restore(self, state: State) -> None:
        self._source.restore(state["source"])
        self._states = dict(zip(state["keys"], map(tuple, state["states"])))
        self._is_read = bool(state["read"])

    def close(self) -> None:
        self._source.close()
