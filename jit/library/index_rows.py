# SPDX-License-Identifier: Apache-2.0
"""Rows of indices, as sparse tensors have them: merged, parted, sorted, and filled up.

One tile does it all: each row's place depends on those before it.  That takes some nanoseconds a
row, so that threads would gain little.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..kernel.sizes import AnySize
from . import index_rows_kernels, rows_kernels
from .library_kernel import LibraryKernel
from .template import specialise

# Narrower integers, and those without a sign, have sums that do not fit.
_SUMMED = ("float32", "float64", "int64")
_COMBINE = {
    "add": rows_kernels.add,
    "max": index_rows_kernels.larger,
    "min": index_rows_kernels.smaller,
}


def merged_rows(b: Any, fn: str, a: Sequence[Any], others: Sequence[Any], least: Any = None) -> Any:
    """(rows, values, their number): what two lists have, both being in order.

    Args:
        b: the builder.
        fn: what becomes of values in one place: add, max or min.  Of what stands alone add leaves
            the value, and the others combine it with zero.
        a: its rows, int64 [m, rank], and its values [m].
        others: likewise, [n, rank] and [n].
        least: a 0-d value of the values' dtype: sums of two that are smaller, sign apart, are left
            out.

    Returns:
        Rows [m + n, rank] and values [m + n], of which so many count as the 0-d int64 says; or
        NotImplemented for other dtypes.
    """
    (rows, values), (other_rows, other_values) = a, others
    if values.dtype not in _SUMMED or (rows.dtype, other_rows.dtype) != ("int64", "int64"):
        return NotImplemented
    m, rank = rows.shape
    n = other_rows.shape[0]
    number = values if least is None else least
    return b.call(
        _merge_kernel(fn, values.dtype, least is not None),
        [rows, values, other_rows, other_values, number],
        [((m + n, rank), "int64"), ((m + n,), values.dtype), ((), "int64")],
        [m, n, rank],
        operations=4 * (m + n) * rank,
    )


def _merge_kernel(fn: str, dtype: str, is_least: bool) -> LibraryKernel:
    return specialise(
        f"merged_{fn}",
        index_rows_kernels.merged,
        COMBINE=_COMBINE[fn],
        LONELY=fn != "add",
        ZERO=_zero(dtype),
        LEAST=is_least,
    )


def parted_rows(b: Any, values: Any, a: Any, others: Any, whole: Any) -> Any:
    """The values of the rows of a whole that each of two lists of rows has too, else zero.

    values [k] belong to the whole, int64 [k, rank]; all three are in order.  NotImplemented for
    dtypes other than those of `merged_rows`.
    """
    if values.dtype not in _SUMMED:
        return NotImplemented
    m, n, (count, rank) = a.shape[0], others.shape[0], whole.shape
    return b.call(
        _parted_kernel(values.dtype),
        [values, a, others, whole],
        [((m,), values.dtype), ((n,), values.dtype)],
        [m, n, count, rank],
        operations=4 * (m + n) * rank,
    )


def spread_subsequence(b: Any, values: Any, rows: Any, chosen: Any, start: Any) -> Any:
    """For each row the value of the one of a subsequence that it is, else zero; and how many were
    found.

    values [n] belong to the subsequence, whose rows, int64 [n, rank], are `start` less than those
    that it is of.  NotImplemented for dtypes other than those of `merged_rows`.
    """
    if values.dtype not in _SUMMED:
        return NotImplemented
    m, rank = rows.shape
    return b.call(
        _subsequence_kernel(values.dtype),
        [values, rows, chosen, start],
        [((m,), values.dtype), ((), "int64")],
        [m, chosen.shape[0], rank],
        operations=2 * m * rank,
    )


def row_order(b: Any, rows: Any) -> Any:
    """The numbers of rows of indices, int64 [count, rank], in order; equal ones as they come."""
    count, rank = rows.shape
    (order,) = b.call(
        specialise("row_order", index_rows_kernels.row_order),
        [rows],
        [((count,), "int64")],
        [count, rank],
        scratch=8 * count + 64,
        operations=20 * count * rank,
    )
    return order


def row_groups(b: Any, rows: Any, order: Any, depth: AnySize) -> Any:
    """The number of the group of each row of indices in their order, int64 [count].

    A group is of rows whose first `depth` indices are alike.
    """
    count, rank = rows.shape
    (groups,) = b.call(
        specialise("row_groups", index_rows_kernels.row_groups),
        [rows, order],
        [((count,), "int64")],
        [count, rank, depth],
        operations=2 * count * rank,
    )
    return groups


def row_places(b: Any, splits: Any, count: AnySize) -> tuple[Any, Any]:
    """The row of each of so many values, and its number in the row, both int64 [count].

    splits: int64 [rows + 1], where rows begin and end: they begin with 0 and do not decrease.
    """
    return b.call(
        specialise("row_places", index_rows_kernels.row_places),
        [splits],
        [((count,), "int64"), ((count,), "int64")],
        [splits.shape[0] - 1, count],
        operations=2 * count,
    )


def filled_rows(b: Any, rows: Any, numbers: AnySize) -> tuple[Any, Any, Any, Any, Any]:
    """Rows of indices with one more for each of so many numbers that none begins with.

    Returns:
        (rows [count + numbers, rank], by their first numbers and else as they come; for each the
        row that it was, or -1; whether a number was missing, bool [numbers]; where each row has
        gone, [count]; how many rows there are, 0-d).  All but the flags are int64.
    """
    count, rank = rows.shape
    most = count + numbers
    made = b.call(
        specialise("filled_rows", index_rows_kernels.filled),
        [rows],
        [
            ((most, rank), "int64"),
            ((most,), "int64"),
            ((numbers,), "bool"),
            ((count,), "int64"),
            ((), "int64"),
        ],
        [count, rank, numbers],
        scratch=8 * numbers + 64,
        operations=4 * most * rank,
    )
    return made


def _zero(dtype: str) -> Any:
    """The number as kernels have it: floats in their dtype, integers all alike."""
    kind = np.dtype(dtype)
    return kind.type(0) if kind.kind == "f" else 0


def _parted_kernel(dtype: str) -> LibraryKernel:
    return specialise("parted", index_rows_kernels.parted, ZERO=_zero(dtype))


def _subsequence_kernel(dtype: str) -> LibraryKernel:
    return specialise("subsequence", index_rows_kernels.subsequence, ZERO=_zero(dtype))


def closed(dtypes: Sequence[str]) -> Iterator[LibraryKernel]:
    """Sums, with and without a least one, extremes, and the others for values of these dtypes."""
    whole = "int64"
    for dtype in dtypes:
        if np.dtype(dtype).name not in _SUMMED:
            continue
        sides = [whole, dtype] * 2
        for fn, is_least in (("add", True), ("max", False), ("min", False)):
            yield _merge_kernel(fn, dtype, is_least).over([*sides, dtype, whole, dtype, whole])
        yield _parted_kernel(dtype).over([dtype, whole, whole, whole, dtype, dtype])
        yield _subsequence_kernel(dtype).over([dtype, whole, whole, whole, dtype, whole])
    yield specialise("row_order", index_rows_kernels.row_order).over([whole] * 2)
    yield specialise("row_groups", index_rows_kernels.row_groups).over([whole] * 3)
    yield specialise("row_places", index_rows_kernels.row_places).over([whole] * 3)
    filled = specialise("filled_rows", index_rows_kernels.filled)
    yield filled.over([whole, whole, whole, "bool", whole, whole])
