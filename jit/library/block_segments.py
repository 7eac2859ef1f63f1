# SPDX-License-Identifier: Apache-2.0
"""Reductions of rows by sorted segment and products of sparse matrices on GPUs.

A thread takes an element of the result and combines what belongs there in order; neighbours lie
side by side.  Entries of a sparse matrix come in any order: their lists are made first
(block_rows.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from ..kernel import scalar
from ..kernel.scalar import kind_of
from ..kernel.sizes import AnySize
from .block_rows import elements, lists_of_rows, starts_of_rows
from .block_scan import THREADS, block_kernel, typed
from .library_kernel import LibraryKernel

# Of what was there and what comes, as segments.py has them.
_COMBINE = {
    "add": "add(total, new)",
    "mul": "mul(total, new)",
    "fmax": "select(logical_or(ge(total, new), ne(new, new)), total, new)",
    "fmin": "select(logical_or(le(total, new), ne(new, new)), total, new)",
}


def combined_segments(
    b: Any, fn: str, data: Any, ids: Any, rows: AnySize, ends: tuple[Any, Any], width: AnySize,
    picks: Any, halves: int,
) -> Any:  # fmt: skip
    """See sorted_segments.  ends: what is there at first, and what remains where no row is.
    halves: twice the power of the number of rows by which results are divided.  None where the
    dtype has no such function."""
    needed = fn if fn in ("add", "mul") else "ge"
    if not scalar.supports(needed, data.dtype):
        return None
    starts = starts_of_rows(b, ids, rows)
    inputs = [data, starts] if picks is None else [data, starts, picks]
    (out,) = b.call(
        _segments_kernel(fn, data.dtype, *ends, picks is not None, halves),
        inputs,
        [((rows, *data.shape[1:]), data.dtype)],
        [width, data.shape[0]],
        columns=rows * width,
        col_tile=THREADS,
        operations=ids.shape[0] * width,
    )
    return out


def product_of_sparse(
    b: Any, rows: Any, columns: Any, values: Any, dense: Any, count: AnySize
) -> Any:
    """See sparse_product; None if there are too many rows."""
    lists = lists_of_rows(b, rows, count)
    if lists is None:
        return None
    keys, order = lists
    width = dense.shape[1]
    (out,) = b.call(
        _product_kernel(dense.dtype),
        [columns, values, dense, order, starts_of_rows(b, keys, count)],
        [((count, width), dense.dtype)],
        [width, dense.shape[0]],
        columns=count * width,
        col_tile=THREADS,
        operations=2 * values.shape[0] * width,
    )
    return out


@cache
def _segments_kernel(
    fn: str, dtype: str, start: Any, empty: Any, is_picked: bool, halves: int
) -> LibraryKernel:
    """Arguments: data, where segments begin, picked rows (if they are), result; width of a row,
    rows of data.  Columns are elements of the result."""
    head = [f"CONSTANT = {tuple(range(2 + is_picked))}", f"START = {typed(start, dtype)}"]
    head.append(f"EMPTY = {typed(empty, dtype)}")
    body = _segments(fn, dtype, is_picked, halves)
    return block_kernel(f"block_segments_{fn}", head, body, (1, THREADS, THREADS))


def _segments(fn: str, dtype: str, is_picked: bool, halves: int) -> Iterator[str]:
    names = ["data", "starts", *["picks"] * is_picked, "out", "width", "most"]
    yield from (f"{name} = args[{i}]" for i, name in enumerate(names))
    # (Where picks are outside, the run fails; here nothing outside is read.)
    picked = "minimum(maximum(load(picks, k), 0), most - 1)"
    yield elements()
    yield "    row = truncatediv(e, width)"
    yield "    column = e - row * width"
    yield "    first = cast_int64(load(starts, row))"
    yield "    size = cast_int64(load(starts, row + 1)) - first"
    yield "    total = START"
    yield "    new = START"
    yield "    for k in range(first, first + size):"
    yield f"        new = load(data, {picked if is_picked else 'k'} * width + column)"
    yield f"        total = {_COMBINE[fn]}"
    if fn in ("fmax", "fmin"):
        # One that is alone is taken as it is, a NaN too.
        yield "    total = select(eq(size, 1), new, total)"
    yield "    total = select(lt(size, 1), EMPTY, total)"
    if halves and kind_of(dtype) == "f":
        number = "cast_float64(maximum(size, 1))"
        power = f"sqrt({number})" if halves == 1 else number
        yield f"    total = div(total, cast_{dtype}({power}))"
    yield "    store(out, e, total)"


@cache
def _product_kernel(dtype: str) -> LibraryKernel:
    """Arguments: columns and values of entries, matrix, order of entries, where rows' begin,
    result; width of a row, rows of the matrix.  Columns are elements of the result."""
    head = ["CONSTANT = (0, 1, 2, 3, 4)", f"START = {typed(0, dtype)}"]
    return block_kernel("block_sparse_product", head, _product(), (1, THREADS, THREADS))


def _product() -> Iterator[str]:
    names = "places values dense order starts out width most".split()
    yield from (f"{name} = args[{i}]" for i, name in enumerate(names))
    yield elements()
    yield "    row = truncatediv(e, width)"
    yield "    column = e - row * width"
    yield "    total = START"
    yield "    last = cast_int64(load(starts, row + 1))"
    yield "    for k in range(cast_int64(load(starts, row)), last):"
    yield "        entry = cast_int64(load(order, k))"
    yield "        source = load(places, entry)"
    # (Where places are outside, the run fails; here nothing outside is read.)
    yield "        inside = minimum(maximum(source, 0), most - 1)"
    yield "        found = load(dense, inside * width + column)"
    yield "        total = add(total, mul(load(values, entry), found))"
    yield "    store(out, e, total)"
