# SPDX-License-Identifier: Apache-2.0
"""Rows of indices: merged, parted, sorted and filled up, against plain NumPy and plain Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from numbaflow.jit import library

from .eager import EagerBuilder
from .plain import PlainBuilder

pytestmark = pytest.mark.cpu
DTYPES = ("float32", "float64", "int64")


def rows_of(count: int, rank: int, seed: int, high: int = 4) -> np.ndarray:
    """Different rows of small numbers, in order."""
    drawn = np.random.default_rng(seed).integers(-1, high, (count, rank))
    return np.unique(drawn, axis=0)


def values_of(rows: np.ndarray, dtype: str, seed: int) -> np.ndarray:
    """Few distinct numbers, so that some sums are zero."""
    return np.random.default_rng(seed).integers(-2, 3, len(rows)).astype(dtype)


def both_ways(call: Callable[[Any], Any]) -> list[np.ndarray]:
    """What a call gives, which is the same in Python and compiled, where it counts."""
    results = [call(b) for b in (PlainBuilder(), EagerBuilder())]
    counts = {int(one.data) for result in results for one in result if not one.ndim} or {None}
    (count,) = counts
    plain, compiled = ([one.data[:count] if one.ndim else one.data for one in r] for r in results)
    for one, other in zip(plain, compiled, strict=True):
        np.testing.assert_array_equal(one, other)
    return compiled


@pytest.mark.parametrize("lengths", [[3, 0, 0, 2, 5], [0, 0], [], [40] * 30])
def test_values_know_their_row_and_their_number_in_it(lengths: list[int]) -> None:
    splits, total = np.cumsum([0, *lengths]), sum(lengths)
    # Two more than there are, which is refused elsewhere, must not be left as memory was.
    for count in (total, total + 2):
        results = []
        for b in (PlainBuilder(), EagerBuilder()):
            owners, inside = library.row_places(b, b.value(splits), count)
            results.append((owners.data.tolist(), inside.data.tolist()))
        want = [(row, i) for row, length in enumerate(lengths) for i in range(length)]
        want += [(max(len(lengths) - 1, 0), 0)] * (count - total)
        assert results == [([row for row, _ in want], [i for _, i in want])] * 2


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("sizes", [(20, 30), (0, 5), (6, 0), (1, 1)])
def test_a_merge_has_all_rows_and_leaves_out_small_sums_of_two(dtype: str, sizes: Any) -> None:
    sides = [(rows := rows_of(n, 3, n), values_of(rows, dtype, n)) for n in sizes]

    def call(b: EagerBuilder) -> Any:
        (a, x), (c, y) = ((b.value(rows), b.value(values)) for rows, values in sides)
        return library.merged_rows(b, "add", (a, x), (c, y), b.value(np.array(1, dtype)))

    want: dict[tuple[int, ...], list[Any]] = {}
    for rows, values in sides:
        for row, value in zip(rows.tolist(), values.tolist(), strict=True):
            want.setdefault(tuple(row), []).append(value)
    kept = {row: sum(v) for row, v in sorted(want.items()) if len(v) == 1 or abs(sum(v)) >= 1}
    got_rows, got_values, count = both_ways(call)
    assert int(count) == len(kept)
    assert dict(zip(map(tuple, got_rows.tolist()), got_values.tolist(), strict=True)) == kept


@pytest.mark.parametrize("fn, choose", [("max", max), ("min", min)])
def test_extremes_compare_what_is_alone_with_zero(fn: str, choose: Callable[..., float]) -> None:
    a, c = np.array([[0], [1], [3]]), np.array([[1], [2]])
    x, y = np.array([-1, 5, np.inf], np.float32), np.array([7, -4], np.float32)

    def call(b: EagerBuilder) -> Any:
        return library.merged_rows(b, fn, (b.value(a), b.value(x)), (b.value(c), b.value(y)))

    rows, values, _ = both_ways(call)
    assert rows.tolist() == [[0], [1], [2], [3]]
    assert values.tolist() == [choose(-1, 0), choose(5, 7), choose(0, -4), choose(np.inf, 0)]


@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_of_a_whole_get_their_values_back(dtype: str) -> None:
    a, c, whole = (rows_of(n, 2, n) for n in (7, 9, 12))
    values = np.arange(1, len(whole) + 1).astype(dtype)

    def call(b: EagerBuilder) -> Any:
        return library.parted_rows(b, *map(b.value, (values, a, c, whole)))

    known = dict(zip(map(tuple, whole.tolist()), values.tolist(), strict=True))
    for rows, got in zip((a, c), both_ways(call), strict=True):
        assert got.tolist() == [known.get(tuple(row), 0) for row in rows.tolist()]


def test_a_subsequence_gives_values_to_the_rows_that_it_is_of() -> None:
    rows = np.array([[5, 1], [0, 2], [3, 3], [0, 2]])
    chosen = rows[[1, 2]] - [0, 1]
    values, start = np.array([8, 9], np.float32), np.array([0, 1])
    results = []
    for b in (PlainBuilder(), EagerBuilder()):
        given = map(b.value, (values, rows, chosen, start))
        out, count = library.spread_subsequence(b, *given)
        results.append((out.data.tolist(), int(count.data)))
    assert results == [([0, 8, 9, 0], 2)] * 2


@pytest.mark.parametrize("count", [0, 1, 2, 37])
@pytest.mark.parametrize("is_sorted", [False, True])
def test_an_order_is_lexicographic_and_stable(count: int, is_sorted: bool) -> None:
    rows = np.random.default_rng(count).integers(-2, 3, (count, 3))
    want = np.lexsort(rows.T[::-1])
    if is_sorted:
        rows, want = rows[want], np.arange(count)
    (got,) = both_ways(lambda b: [library.row_order(b, b.value(rows))])
    assert got.tolist() == want.tolist()


def test_missing_numbers_get_a_row_each() -> None:
    rows = np.array([[3, 7], [1, 5], [3, 2], [9, 9]])
    results = []
    for b in (PlainBuilder(), EagerBuilder()):
        made = library.filled_rows(b, b.value(rows), 5)
        target, source, missing, gone, count = (one.data for one in made)
        results.append(
            [target[:6].tolist(), source[:6].tolist(), missing.tolist(), gone.tolist(), int(count)]
        )
    filled = [[0, 0], [1, 5], [2, 0], [3, 7], [3, 2], [4, 0]]
    want = [filled, [-1, 1, -1, 0, 2, -1], [True, False, True, False, True], [3, 1, 4, 0], 6]
    assert results == [want] * 2
