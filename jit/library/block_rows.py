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
from ..kernel.scalar import kind_of
from ..kernel.sizes import AnySize, hint, product
from .block_order import bits_below, is_countable, stable_order
from .block_scan import THREADS, block_kernel, indented, typed
from .library_kernel import LibraryKernel

# Entries of a stretch, and how many there are of where stretches are combined first: so a row that
# has very many is not one thread's work.
_BITS = 7
_PART = 1 << _BITS
_LONG = 16 * _PART
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
    parts = _parts(b, fn, updates, (keys, order), product(tail))
    (out,) = b.call(
        _combine_kernel(fn, updates.dtype, base is not None, start, bool(parts)),
        [*inputs, *parts] if base is None else [*inputs, *parts, base],
        [((rows, *tail), updates.dtype)],
        [product(tail)],
        columns=rows * product(tail),
        col_tile=THREADS,
        operations=product(updates.shape),
    )
    return out


def _parts(b: Any, fn: str, updates: Any, lists: tuple[Any, Any], width: AnySize) -> list[Any]:
    """What stretches of the lists come to, if there may be long lists, and their parts add up."""
    keys, order = lists
    is_exact = kind_of(updates.dtype) != "f"
    within = {"add": "add", "sub": "add", "mul": "mul"}
    # (Of floats the greatest depends on where a NaN is.)
    within |= {"max": "max", "min": "min"} if is_exact else {}
    if fn not in within or hint(keys.shape[0]) < _LONG:
        return []
    count = keys.shape[0] // _PART
    (parts,) = b.call(
        _parts_kernel(within[fn], updates.dtype),
        [updates, order, keys],
        [((count, width), updates.dtype)],
        [width],
        columns=count * width,
        col_tile=THREADS,
        operations=product(updates.shape),
    )
    return [parts]


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
def _parts_kernel(fn: str, dtype: str) -> LibraryKernel:
    """Arguments: updates, order, sorted keys, what stretches of the order come to, of which all
    keys are the same; width of a row.  Columns are elements of stretches."""
    head = ["CONSTANT = (0, 1, 2)"]
    return block_kernel(f"block_parts_{fn}", head, _of_parts(fn), (1, THREADS, THREADS))


def _of_parts(fn: str) -> Iterator[str]:
    names = "updates order keys out width".split()
    yield from (f"{name} = args[{i}]" for i, name in enumerate(names))
    yield elements()
    yield "    part = truncatediv(e, width)"
    yield "    column = e - part * width"
    yield f"    first = part * {_PART}"
    yield f"    is_one = eq(load(keys, first), load(keys, first + {_PART - 1}))"
    yield f"    last = first + select(is_one, {_PART}, 0)"
    yield "    total = load(updates, cast_int64(load(order, first)) * width + column)"
    yield from indented(_over(fn, "first + 1", "last"))
    yield "    store(out, e, total)"


def _over(fn: str, first: str, last: str) -> list[str]:
    """The lines that combine what a stretch of the order has with `total`."""
    found = "load(updates, cast_int64(load(order, k)) * width + column)"
    lines = [f"for k in range({first}, {last}):", f"    new = {found}"]
    return [*lines, f"    total = {_COMBINE[fn][1]}"]


@cache
def _combine_kernel(
    fn: str, dtype: str, is_based: bool, start: Any, is_parted: bool = False
) -> LibraryKernel:
    """Arguments: updates, order, starts, what stretches come to (if lists are long), base (if there
    is one), result; width of a row.  Columns are elements of the result."""
    given = tuple(range(3 + is_parted + is_based))
    head = [f"CONSTANT = {given}", f"START = {typed(start, dtype)}"]
    body = _combined(fn, is_based, is_parted)
    return block_kernel(f"block_rows_{fn}", head, body, (1, THREADS, THREADS))


def _combined(fn: str, is_based: bool, is_parted: bool) -> Iterator[str]:
    names = ["updates", "order", "starts", *["parts"] * is_parted, *["base"] * is_based]
    yield from (f"{name} = args[{i}]" for i, name in enumerate([*names, "out", "width"]))
    yield elements()
    yield "    row = truncatediv(e, width)"
    yield "    column = e - row * width"
    yield f"    total = {'load(base, e)' if is_based else 'START'}"
    yield "    first = cast_int64(load(starts, row))"
    yield "    last = cast_int64(load(starts, row + 1))"
    if fn == "update":
        yield "    first = maximum(first, last - 1)"
    if is_parted:
        yield f"    low = left_shift(right_shift(first + {_PART - 1}, {_BITS}), {_BITS})"
        yield "    low = minimum(low, last)"
        yield f"    top = maximum(left_shift(right_shift(last, {_BITS}), {_BITS}), low)"
        yield from indented(_over(fn, "first", "low"))
        yield f"    for c in range(right_shift(low, {_BITS}), right_shift(top, {_BITS})):"
        yield "        new = load(parts, c * width + column)"
        yield f"        total = {_COMBINE[fn][1]}"
        yield "    first = top"
    yield from indented(_over(fn, "first", "last"))
    yield "    store(out, e, total)"
