# SPDX-License-Identifier: Apache-2.0
"""Datasets that know what came before: scans, prefixes, first occurrences, what has no errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ....engine import errors
from ....engine.types import dtypes
from ....engine.types.dtypes import DType
from ....engine.types.shape import TensorShape
from .dataset import (
    INFINITE,
    UNKNOWN,
    Block,
    BlockStream,
    Dataset,
    Element,
    OneSource,
    State,
    Stream,
)
from .functions import Captured, FunctionRun
from .ordering import UnaryDataset
from .random import Samples, seeds_or_chance

if TYPE_CHECKING:
    from .context import Context


class ScanDataset(UnaryDataset):
    """The outputs of a function of a state and an element, which also gives the next state."""

    kind = "Scan"

    def __init__(
        self,
        source: Dataset,
        types: Sequence[DType],
        shapes: Sequence[TensorShape],
        function: Captured,
        state: tuple[Sequence[np.ndarray], Sequence[DType]],
        keeps_count: bool,
    ) -> None:
        """state: the first one and its types."""
        super().__init__(source, types, shapes)
        self.function, self.keeps_count = function, keeps_count
        self.state, self.state_types = state

    def stream(self, context: Context, path: str) -> Stream:
        return _Scanned(self, context.function(self.function), self.source_stream(context, path))

    def cardinality(self) -> int:
        return self.source.cardinality()


class _Scanned(Stream):
    def __init__(self, dataset: ScanDataset, function: FunctionRun, source: Stream) -> None:
        self._dataset, self._function, self._source = dataset, function, source
        self._state: Sequence[np.ndarray] = dataset.state

    def next(self) -> Element | None:
        element = self._source.next()
        if element is None:
            return None
        try:
            found = self._function([*self._state, *element])
        except errors.OutOfRangeError as error:
            if not self._dataset.keeps_count:
                return None
            # The caller would take it for the end of the data.
            raise errors.invalid(
                f"Function invocation produced OutOfRangeError: {error.message}"
            ) from error
        count = len(self._dataset.state_types)
        self._check(found)
        self._state = found[:count]
        return tuple(found[count:])

    def _check(self, found: Sequence[np.ndarray]) -> None:
        d = self._dataset
        kinds = [*d.state_types, *d.types]
        for i, (value, kind) in enumerate(zip(found, kinds)):
            if value.dtype != kind.base_dtype.np_dtype:
                raise errors.invalid(
                    f"Got wrong type for scan_func return value {i} (expected {kind.name}, got "
                    f"{value.dtype})."
                )
        for i, (value, shape) in enumerate(zip(found[len(d.state_types) :], d.shapes)):
            if not shape.is_compatible_with(value.shape):
                raise errors.invalid(
                    f"Got wrong shape for scan_func return value {i + len(d.state_types)} (expected"
                    f" {shape}, got {TensorShape(value.shape)})."
                )

    def save(self) -> State:
        return {"source": self._source.save(), "state": list(self._state)}

    def restore(self, state: State) -> None:
        self._source.restore(state["source"])
        self._state = tuple(state["state"])

    def close(self) -> None:
        self._source.close()


class TakeWhileDataset(UnaryDataset):
    """The elements in front of the first for which a predicate does not hold."""

    kind = "TakeWhile"

    def __init__(self, source: Dataset, predicate: Captured) -> None:
        super().__init__(source)
        self.predicate = predicate

    def stream(self, context: Context, path: str) -> Stream:
        function = context.function(self.predicate)
        return _TakenWhile(self.source_stream(context, path), function)

    def cardinality(self) -> int:
        return UNKNOWN


class _TakenWhile(Stream):
    def __init__(self, source: Stream, function: FunctionRun) -> None:
        self._source, self._function = source, function
        self._is_over = False

    def next(self) -> Element | None:
        element = None if self._is_over else self._source.next()
        if element is not None:
            found = self._function(element)
            if len(found) != 1 or found[0].dtype != np.bool_ or found[0].size != 1:
                raise errors.invalid("`predicate` must returns a scalar bool tensor.")
            if found[0].reshape(()):
                return element
        self._is_over = True
        return None

    def save(self) -> State:
        return {"source": self._source.save(), "over": int(self._is_over)}

    def restore(self, state: State) -> None:
        self._source.restore(state["source"])
        self._is_over = bool(state["over"])

    def close(self) -> None:
        self._source.close()


class UniqueDataset(UnaryDataset):
    """The elements without those that came before."""

    kind = "Unique"

    def stream(self, context: Context, path: str) -> Stream:
        return _Unique(self.source_stream(context, path))

    def cardinality(self) -> int:
        return UNKNOWN


class _Unique(Stream):
    def __init__(self, source: Stream) -> None:
        self._source = source
        self._known: dict[object, np.ndarray] = {}

    def next(self) -> Element | None:
        while True:
            element = self._source.next()
            if element is None:
                return None
            (value,) = element
            key = (value.shape, tuple(value.reshape(-1).tolist()))
            if key not in self._known:
                self._known[key] = value
                return element

    def save(self) -> State:
        return {"source": self._source.save(), "known": list(self._known.values())}

    def restore(self, state: State) -> None:
        self._source.restore(state["source"])
        values = state["known"]
        self._known = {(v.shape, tuple(v.reshape(-1).tolist())): v for v in values}

    def close(self) -> None:
        self._source.close()


class IgnoreErrorsDataset(UnaryDataset):
    """The elements that can be computed."""

    kind = "IgnoreErrors"

    def stream(self, context: Context, path: str) -> Stream:
        return _WithoutErrors(self.source_stream(context, path), context)

    def cardinality(self) -> int:
        return UNKNOWN


class _WithoutErrors(OneSource):
    def __init__(self, source: Stream, context: Context) -> None:
        self._source, self._context = source, context

    def next(self) -> Element | None:
        while True:
            try:
                return self._source.next()
            except (errors.CancelledError, errors.DeadlineExceededError):
                raise
            except errors.OpError:
                # (An error that comes for ever must not keep the reader from being stopped.)
                self._context.check()


class RandomDataset(Dataset):
    """Random numbers of 32 bits, as int64."""

    kind = "Random"

    def __init__(self, seed: int, seed2: int) -> None:
        super().__init__([dtypes.int64], [TensorShape([])])
        self.seeds = seeds_or_chance(seed, seed2)

    def stream(self, context: Context, path: str) -> Stream:
        return _Numbers(Samples(*self.seeds))

    def cardinality(self) -> int:
        return INFINITE


class _Numbers(BlockStream):
    def __init__(self, samples: Samples) -> None:
        super().__init__()
        self._samples = samples

    def read_block(self, count: int) -> Block | None:
        return [self._samples.take(count).astype(np.int64)]

    def save(self) -> State:
        return {"drawn": self._samples.count, **self.save_ahead()}

    def restore(self, state: State) -> None:
        self.restore_ahead(state)
        self._samples.skip_to(state["drawn"])
