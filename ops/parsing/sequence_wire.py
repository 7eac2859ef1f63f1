# SPDX-License-Identifier: Apache-2.0
"""Serialized SequenceExamples read by compiled kernels, without messages, as Examples are.

Only the usual form is read; `Unusual` is raised for anything else (ops/parsing/example_wire.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from ...engine.types.texts import PackedTexts
from .example_wire import Column, Rooms, Table, Unusual, Wanted, read_columns


class Steps(NamedTuple):
    """The values of a list in all messages: those of all steps, one behind the other.

    lengths: how many steps there are in each message, at most `most`; counts: how many values in
    each step, at most `longest`.
    """

    lengths: np.ndarray
    counts: np.ndarray
    values: np.ndarray
    most: int
    longest: int


class SequenceTable:
    """What kernels are told of features and of lists; made once for what is asked for often."""

    def __init__(self, context: Sequence[Wanted], lists: Sequence[Wanted]) -> None:
        """Lists that are not `is_needed` may be missing."""
        self.context, self.lists = Table(context), Table(lists)
        self.may_be_missing = np.array([not one.is_needed for one in lists], np.int64)


def read_sequences(
    texts: Sequence[bytes], table: SequenceTable
) -> tuple[list[Column], list[Steps]]:
    """The values of a table's features and lists in many SequenceExamples.

    Raises:
        Unusual: they are of a form that is not read here, or something is of another type.
    """
    from ...jit.library import sequences
    from ...jit.runtime.calling import SHORT, address_of, call

    lists, rows = table.lists, len(texts)
    count = len(lists.kinds)
    packed = texts if isinstance(texts, PackedTexts) else PackedTexts.of(texts)
    heads, spans = np.empty((rows, 2), np.int64), np.empty((rows, count, 3), np.int64)
    sums, problem = np.zeros((count, 2), np.int64), np.zeros(1, np.int64)
    given: list[np.ndarray | int] = [address_of(packed.data), packed.places]
    given += [*lists.addresses[:2], table.may_be_missing]
    keeps_lock = len(packed.data) < SHORT
    given += [heads, spans, sums, problem]
    call(sequences.find_lists(), given, [count], rows, keeps_lock)
    if problem[0]:
        raise Unusual
    context = (
        read_columns(PackedTexts(packed.data, heads), table.context) if table.context.kinds else []
    )
    return context, _read_steps(packed, lists, spans, sums) if count else []


def _read_steps(
    packed: PackedTexts, table: Table, spans: np.ndarray, sums: np.ndarray
) -> list[Steps]:
    """The values of lists, given where they lie in each message and how many steps they have."""
    from ...jit.library import sequences
    from ...jit.runtime.calling import SHORT, address_of, call

    count, text = len(table.kinds), address_of(packed.data)
    keeps_lock = len(packed.data) < SHORT
    wanted = table.addresses[-1]
    totals, most = sums.T.tolist()
    ends = list(accumulate(totals, initial=0))
    bounds = np.array(ends, np.int64)
    found = np.empty((ends[-1], 3), np.int64)
    sums, problem = np.zeros((count, 2), np.int64), np.zeros(1, np.int64)
    given: list[np.ndarray | int] = [text, spans, wanted, bounds.copy(), found, sums]
    call(sequences.find_steps(), [*given, problem], [count], len(spans), keeps_lock)
    if problem[0]:
        raise Unusual
    values, longest = sums.T.tolist()
    rooms = Rooms(table.kinds, values)
    given = [text, wanted, bounds, found, rooms.places, *rooms.arrays]
    call(sequences.gather_steps(), [*given, problem], [], count, keeps_lock)
    if problem[0]:
        raise Unusual
    return [
        Steps(spans[:, i, 2], found[ends[i] : ends[i + 1], 2], column, most[i], longest[i])
        for i, column in enumerate(rooms.values(packed.data))
    ]
