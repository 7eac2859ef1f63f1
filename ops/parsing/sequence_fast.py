# SPDX-License-Identifier: Apache-2.0
"""What is asked of SequenceExamples, and how what kernels read of them becomes arrays."""

from __future__ import annotations

import math
from collections.abc import Container, Sequence
from functools import cached_property

import numpy as np

from ...engine import settings
from ..sparse.common import indices_of
from .example_store import Dense, Sparse, columns, nothing, of_one, wanted
from .example_wire import Column, Unusual
from .sequence_wire import SequenceTable, Steps, read_sequences


class Asked:
    """The features wanted, and which lists may be missing: they are taken to be empty."""

    def __init__(
        self,
        context_sparse: Sequence[Sparse],
        context_dense: Sequence[Dense],
        list_sparse: Sequence[Sparse],
        list_dense: Sequence[Dense],
        may_be_missing: Container[str],
    ) -> None:
        self.context_sparse, self.context_dense = context_sparse, context_dense
        self.list_sparse, self.list_dense = list_sparse, list_dense
        self.may_be_missing = may_be_missing

    def with_defaults(self, defaults: Sequence[np.ndarray]) -> Asked:
        """The same with other defaults of the same shapes."""
        pairs = zip(self.context_dense, defaults, strict=True)
        dense = [one._replace(default=default) for one, default in pairs]
        lists = self.list_sparse, self.list_dense, self.may_be_missing
        found = Asked(self.context_sparse, dense, *lists)
        found.__dict__["table"] = self.table
        return found

    @cached_property
    def table(self) -> SequenceTable | None:
        """What kernels are told of them; None where what they read would not be enough."""
        dense = [*self.context_dense, *self.list_dense]
        # (Of no values it counts whether they are there.)
        if any(one.has_rows or not math.prod(one.row) for one in dense):
            return None
        context: list[Sparse | Dense] = [*self.context_sparse, *self.context_dense]
        lists = [
            *map(wanted, self.list_sparse),
            *(
                wanted(one)._replace(is_needed=one.key not in self.may_be_missing)
                for one in self.list_dense
            ),
        ]
        keys = [one.key for one in context], [one.key for one in lists]
        # (What is asked for twice kernels would give once.)
        if any(len(set(each)) < len(each) for each in keys):
            return None
        return SequenceTable(list(map(wanted, context)), lists)


def _read(texts: Sequence[bytes], asked: Asked) -> tuple[list[Column], list[Steps]] | None:
    """What kernels read; None where something is unusual, which messages explain."""
    if not len(texts) or settings.get("jit") == "never" or asked.table is None:
        return None
    try:
        return read_sequences(texts, asked.table)
    except Unusual:
        return None


def read_batch(texts: Sequence[bytes], asked: Asked) -> list[np.ndarray] | None:
    """See `parse_sequences`; None where something is unusual."""
    found = _read(texts, asked)
    if found is None:
        return None
    context, lists = found
    sparse, list_sparse = len(asked.context_sparse), len(asked.list_sparse)
    count = len(texts)
    return [
        *columns([_sparse_rows(column, count) for column in context[:sparse]]),
        *map(_dense, asked.context_dense, context[sparse:]),
        *columns([_sparse_lists(steps) for steps in lists[:list_sparse]]),
        *columns(
            [
                (_padded(one, steps), steps.lengths.copy())
                for one, steps in zip(asked.list_dense, lists[list_sparse:])
            ],
            width=2,
        ),
    ]


def read_single(text: bytes, asked: Asked) -> list[np.ndarray] | None:
    """See `parse_single_sequence`; None where something is unusual."""
    found = _read([text], asked)
    if found is None:
        return None
    context, lists = found
    sparse, list_sparse = len(asked.context_sparse), len(asked.list_sparse)
    dense = zip(asked.context_dense, context[sparse:])
    return [
        *columns([of_one(column.values) for column in context[:sparse]]),
        *(_dense(one, column)[0] if one.row else _scalar(one, column) for one, column in dense),
        *columns([_sparse_steps(steps) for steps in lists[:list_sparse]]),
        *(
            steps.values.reshape(steps.most, *one.row)
            for one, steps in zip(asked.list_dense, lists[list_sparse:])
        ),
    ]


def _dense(asked: Dense, column: Column) -> np.ndarray:
    """A row for each message."""
    if column.present is None:
        return column.values.reshape(-1, *asked.row)
    result = np.empty((len(column.present), *asked.row), asked.dtype.np_dtype)
    result[...] = asked.default
    result[column.present] = column.values.reshape(-1, *asked.row)
    return result


def _scalar(asked: Dense, column: Column) -> np.ndarray:
    return column.values.reshape(()) if column.present is None else asked.default


def _sparse_rows(column: Column, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    shape = np.array([count, column.longest], np.int64)
    return indices_of(column.counts), column.values, shape


def _sparse_steps(steps: Steps) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of one message, without the dimension of messages."""
    shape = np.array([steps.most, steps.longest], np.int64)
    return indices_of(steps.counts), steps.values, shape


def _sparse_lists(steps: Steps) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Places are the numbers of the message, of the step in it, and of the value in that."""
    places = indices_of(steps.counts)
    of_steps = indices_of(steps.lengths)
    indices = np.empty((len(places), 3), np.int64)
    indices[:, :2] = of_steps[places[:, 0]]
    indices[:, 2] = places[:, 1]
    shape = np.array([len(steps.lengths), steps.most, steps.longest], np.int64)
    return indices, steps.values, shape


def _padded(asked: Dense, steps: Steps) -> np.ndarray:
    """The steps of each message, those of shorter ones with zeros or empty texts behind them."""
    count, row = len(steps.lengths), asked.row
    shape = (count, steps.most, *row)
    if len(steps.counts) == count * steps.most:
        return steps.values.reshape(shape)
    result = nothing(asked.dtype, shape)
    is_there = np.arange(steps.most) < steps.lengths[:, None]
    result[is_there] = steps.values.reshape(-1, *row)
    return result
