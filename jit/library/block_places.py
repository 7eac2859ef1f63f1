# SPDX-License-Identifier: Apache-2.0
"""Where things are, on GPUs: places of what is not zero, permutations, and what occurs in a vector.

Running sums tell everything its place (block_scan.py); equal numbers meet in sorted order
(block_order.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from ..kernel import scalar
from ..kernel.sizes import AnySize, product
from .block_order import is_countable, stable_order
from .block_rows import bisected, elements
from .block_scan import THREADS, block_kernel, indented, running_sums
from .library_kernel import LibraryKernel

_TOP = 1 << 31


def nonzero_places(b: Any, x: Any, count: AnySize) -> Any:
    """See `coordinates`; None for too many elements."""
    size = product(x.shape)
    if not is_countable(size):
        return None
    flat = b.reshape(x, [size])
    marks = b.map(lambda v: scalar.cast(_is_there(v), "int32"), flat)
    before = running_sums(b, "add", marks, 0, exclusive=True)
    (out,) = b.call(
        _places_kernel(x.ndim),
        [marks, before],
        [((count, x.ndim), "int64")],
        [count, *x.shape[1:]],
        columns=size,
        col_tile=THREADS,
        operations=size,
    )
    return out


def _is_there(value: Any) -> Any:
    return value if value.dtype == "bool" else scalar.ne(value, 0)


@cache
def _places_kernel(rank: int) -> LibraryKernel:
    """Arguments: marks, running sums of these, places; how many there is room for, and the sizes of
    the dimensions behind the first.  Columns are marks."""
    return block_kernel("block_places", ["CONSTANT = (0, 1)"], _places(rank), (1, THREADS, THREADS))


def _places(rank: int) -> Iterator[str]:
    names = ["marks", "before", "out", "room", *(f"n{axis}" for axis in range(1, rank))]
    yield from (f"{name} = args[{i}]" for i, name in enumerate(names))
    yield elements()
    yield "    at = cast_int64(load(before, e))"
    yield "    if cast_int64(load(marks, e)) > 0:"
    yield "        if at < room:"
    yield "            rest = e"
    for axis in range(rank - 1, 0, -1):
        yield f"            part = truncatediv(rest, n{axis})"
        yield f"            store(out, at * {rank} + {axis}, rest - part * n{axis})"
        yield "            rest = part"
    yield f"            store(out, at * {rank}, rest)"


def inverted_numbers(b: Any, numbers: Any) -> Any:
    """See `inverted`."""
    (count,) = numbers.shape
    (out,) = b.call(
        _inverted_kernel(numbers.dtype),
        [numbers],
        [((count,), numbers.dtype)],
        [count],
        columns=count,
        col_tile=THREADS,
    )
    # One of two equal numbers does not find itself again; where no two are equal, all are there.
    (wrong,) = b.call(
        _found_kernel(numbers.dtype),
        [numbers, out],
        [((count,), "bool")],
        [count],
        columns=count,
        col_tile=THREADS,
    )
    return out, b.map(scalar.logical_not, b.reduce("any", wrong, None))


@cache
def _inverted_kernel(dtype: str) -> LibraryKernel:
    """Arguments: numbers, result; how many.  Columns are numbers."""
    body = _inverted(dtype)
    return block_kernel("block_inverted", ["CONSTANT = (0,)"], body, (1, THREADS, THREADS))


def _inverted(dtype: str) -> Iterator[str]:
    yield from (f"{name} = args[{i}]" for i, name in enumerate("numbers out count".split()))
    yield elements()
    yield "    number = cast_int64(load(numbers, e))"
    yield "    if number >= 0:"
    yield "        if number < count:"
    yield f"            store(out, number, cast_{dtype}(e))"


@cache
def _found_kernel(dtype: str) -> LibraryKernel:
    """Arguments: numbers, where each is said to be, whether it is not there; how many.  Columns are
    numbers."""
    return block_kernel("block_found", ["CONSTANT = (0, 1)"], _found(), (1, THREADS, THREADS))


def _found() -> Iterator[str]:
    yield from (f"{name} = args[{i}]" for i, name in enumerate("numbers out wrong count".split()))
    yield elements()
    yield "    number = cast_int64(load(numbers, e))"
    yield "    inside = minimum(maximum(number, 0), count - 1)"
    # (Nothing was written there for a number outside; what is read does not matter then.)
    yield "    other = cast_int64(load(out, inside))"
    yield "    store(wrong, e, logical_or(ne(inside, number), ne(other, e)))"


def distinct_numbers(b: Any, x: Any, dtype: str) -> Any:
    """See `distinct`; None for too many."""
    (count,) = x.shape
    if not is_countable(count):
        return None
    wide = "uint64" if x.dtype == "int64" else "uint32"
    top = _TOP if wide == "uint32" else _TOP << 32
    raw = b.map(lambda v: scalar.bitwise_xor(scalar.cast(v, wide), top), x)
    keys, order = stable_order(b, raw, int(wide[4:]))
    # An element is new if it comes first among its equals, as they come in order.
    (marks,) = b.call(
        _new_kernel(wide),
        [keys, order],
        [((count,), "int32")],
        columns=count,
        col_tile=THREADS,
    )
    before = running_sums(b, "add", marks, 0, exclusive=True)
    made = b.call(
        _distinct_kernel(x.dtype, wide, dtype),
        [x, keys, order, before],
        [((count,), x.dtype), ((count,), dtype), ((count,), dtype)],
        [count],
        columns=count,
        col_tile=THREADS,
        operations=40 * count,
    )
    return (*made, b.reduce("sum", b.cast(marks, "int64"), None))


@cache
def _new_kernel(dtype: str) -> LibraryKernel:
    """Arguments: sorted keys, where they were, whether what was there is new.  Columns are keys."""
    head = ["CONSTANT = (0, 1)"]
    return block_kernel("block_new", head, _new(), (1, THREADS, THREADS))


def _new() -> Iterator[str]:
    yield from (f"{name} = args[{i}]" for i, name in enumerate("keys order marks".split()))
    yield elements()
    yield "    before = load(keys, maximum(e - 1, 0))"
    yield "    is_new = logical_or(lt(e, 1), ne(before, load(keys, e)))"
    yield "    store(marks, cast_int64(load(order, e)), cast_int32(is_new))"


@cache
def _distinct_kernel(dtype: str, keys: str, out: str) -> LibraryKernel:
    """Arguments: numbers, sorted keys, where they were, how many new ones are before each place;
    those that are new, for each its number among these, how often each of these occurs; how many.
    Columns are keys."""
    head = ["CONSTANT = (0, 1, 2, 3)"]
    return block_kernel("block_distinct", head, _distinct(out), (1, THREADS, THREADS))


def _distinct(out: str) -> Iterator[str]:
    names = "x keys order before new number often count".split()
    yield from (f"{name} = args[{i}]" for i, name in enumerate(names))
    yield elements()
    yield "    key = load(keys, e)"
    yield "    low = 0"
    yield "    high = e"
    yield from indented(list(bisected("lt(load(keys, middle), key)")))
    yield "    first = low"
    yield "    place = cast_int64(load(order, first))"
    yield "    which = load(before, place)"
    yield f"    store(number, cast_int64(load(order, e)), cast_{out}(which))"
    yield "    if first == e:"
    yield "        high = count"
    yield from indented(list(bisected("le(load(keys, middle), key)")), 2)
    yield "        store(new, cast_int64(which), load(x, place))"
    yield f"        store(often, cast_int64(which), cast_{out}(low - e))"
