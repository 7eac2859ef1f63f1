# SPDX-License-Identifier: Apache-2.0
"""Rows that are combined by index, on GPUs: who belongs where is put in order first.

The indices' stable order (block_order.py) makes a list for every row of what belongs there, as it
comes; then a thread combines for each element of the result what its row's list has, neighbours
side by side.  Imports jit's IR.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from ..kernel import scalar
from ..kernel.sizes import AnySize, product
from .block_order import bits_below, is_countable, stable_order
from .block_scan import THREADS, block_kernel, indented, typed
from .library_kernel import LibraryKernel

# By the names of rows.py: the function of what was there and what comes, and its words.
_COMBINE = {name: (name, f"{name}(total, new)") for name in ("add", "sub", "mul", "div")}
_COMBINE |= {
    "max": ("lt", "select(lt(new, total), total, new)"),
    "min": ("gt", "select(gt(new, total), total, new)"),
    "update": ("", "new"),
}


def combined_rows(
    b: Any, fn: str, indices: Any, updates: Any, rows: AnySize, base: Any, start: Any
) -> Any:
    """See scatter_rows; None where the dtype has no such function, or there are too many."""
    needed = _COMBINE[fn][0]
    if needed and not scalar.supports(needed, updates.dtype):
        return None
    lists = lists_of_rows(b, indices, rows)
    if lists is None:
        return None
    keys, order = lists
    starts = starts_of_rows(b, keys, rows)
    tail = tuple(updates.shape[indices.ndim :])
    inputs = [updates, order, starts]
    (out,) = b.call(
        _combine_kernel(fn, updates.dtype, base is not None, start),
        inputs if base is None else [*inputs, base],
        [((rows, *tail), updates.dtype)],
        [product(tail)],
        columns=rows * product(tail),
        col_tile=THREADS,
        operations=product(updates.shape),
    )
    return out


def lists_of_rows(b: Any, indices: Any, rows: AnySize) -> tuple[Any, Any] | None:
    """(indices in order, those outside of [0, rows) being `rows`; where they were, int32, equal
    ones as they come); None if they are too many."""
    count = product(indices.shape)
    bits = bits_below(rows + 1)
    if bits is None or not is_countable(count):
        return None

    wide = b.cast(b.reshape(indices, [count]), "int64")
    keys = b.map(_key, wide, b.known_as(np.array(rows, object), "int64"))
    return stable_order(b, keys, bits)


def _key(i: Any, limit: Any) -> Any:
    """The key of an index: that of those outside comes last."""
    is_outside = scalar.logical_or(scalar.lt(i, 0), scalar.ge(i, limit))
    return scalar.cast(scalar.select(is_outside, limit, i), "uint32")


def starts_of_rows(b: Any, keys: Any, rows: AnySize) -> Any:
    """Where every row's list begins among sorted keys, and where the last one ends."""
    (starts,) = b.call(
        _starts_kernel(keys.dtype),
        [keys],
        [((rows + 1,), "int32")],
        [keys.shape[0]],
        columns=rows + 1,
        col_tile=THREADS,
        operations=rows,
    )
    return starts


@cache
def _starts_kernel(dtype: str) -> LibraryKernel:
    """Arguments: sorted keys, starts; how many keys.  Columns are rows, and one more."""
    return block_kernel("block_starts", ["CONSTANT = (0,)"], _starts(), (1, THREADS, THREADS))


def elements() -> str:
    """The loop over all columns, neighbours by neighbouring threads."""
    return "for e in range(block_x() * lanes() + lane(), columns, blocks_x() * lanes()):"


def _starts() -> Iterator[str]:
    yield from (f"{name} = args[{i}]" for i, name in enumerate("keys starts count".split()))
    yield elements()
    yield "    low = 0"
    yield "    high = count"
    yield from indented(bisected("lt(cast_int64(load(keys, middle)), e)"))
    yield "    store(starts, e, cast_int32(low))"


def ends_of_runs(b: Any, keys: Any, rows: AnySize) -> Any:
    """Of sorted keys below a number of rows up to where they are the same, int32; the place itself
    for those that are no first ones, or not below it."""
    (count,) = keys.shape
    outputs = [((count,), "int32")]
    (ends,) = b.call(
        _ends_kernel(keys.dtype), [keys], outputs, [count, rows], columns=count, col_tile=THREADS
    )
    return ends


@cache
def _ends_kernel(dtype: str) -> LibraryKernel:
    """Arguments: sorted keys, ends; how many keys, rows.  Columns are keys."""
    return block_kernel("block_ends", ["CONSTANT = (0,)"], _ends(), (1, THREADS, THREADS))


def _ends() -> Iterator[str]:
    yield from (f"{name} = args[{i}]" for i, name in enumerate("keys ends count most".split()))
    yield elements()
    yield "    key = load(keys, e)"
    yield "    low = e"
    yield "    high = count"
    yield "    same = logical_and(eq(load(keys, maximum(e - 1, 0)), key), gt(e, 0))"
    yield "    none = logical_or(same, ge(cast_int64(key), most))"
    yield "    high = select(none, e, high)"
    yield from indented(bisected("le(load(keys, middle), key)"))
    yield "    store(ends, e, cast_int32(low))"


def bisected(is_before: str) -> Iterator[str]:
    """The lines that raise `low` to the first place, at most `high`, that is not before."""
    yield "for step in range(32):"
    yield "    if low < high:"
    yield "        middle = right_shift(low + high, 1)"
    yield f"        below = {is_before}"
    yield "        low = select(below, middle + 1, low)"
    yield "        high = select(below, high, middle)"


@cache
def _combine_kernel(fn: str, dtype: str, is_based: bool, start: Any) -> LibraryKernel:
    """Arguments: updates, order, starts, base (if there is one), result; width of a row.  Columns
    are elements of the result."""
    head = [f"CONSTANT = {tuple(range(3 + is_based))}", f"START = {typed(start, dtype)}"]
    body = _combined(fn, is_based)
    return block_kernel(f"block_rows_{fn}", head, body, (1, THREADS, THREADS))


def _combined(fn: str, is_based: bool) -> Iterator[str]:
    names = "updates order starts base".split()[: 3 + is_based] + ["out", "width"]
    yield from (f"{name} = args[{i}]" for i, name in enumerate(names))
    yield elements()
    yield "    row = truncatediv(e, width)"
    yield "    column = e - row * width"
    yield f"    total = {'load(base, e)' if is_based else 'START'}"
    yield "    last = cast_int64(load(starts, row + 1))"
    yield "    for k in range(cast_int64(load(starts, row)), last):"
    yield "        new = load(updates, cast_int64(load(order, k)) * width + column)"
    yield f"        total = {_COMBINE[fn][1]}"
    yield "    store(out, e, total)"
