# SPDX-License-Identifier: Apache-2.0
"""The stable order of whole numbers on GPUs, by their digits from the last one on.

A pass puts everything in the order of eight bits: blocks count how often each digit is among their
share, running sums of the counts say where what a block has of a digit belongs, and blocks bring
their share into order in shared memory, by four bits and by four more, before they write it there.
Of few numbers each is told its place by a look at all others.  Nothing depends on which thread
comes first.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from ..kernel.sizes import ceil_div, hint
from .block_scan import CHUNK, THREADS, block_kernel, indented, running_sums, scanned_threads, typed
from .library_kernel import LibraryKernel

_EACH = CHUNK // THREADS
_BITS = 8  # of a digit
_DIGITS = 1 << _BITS
_PLACE = 12  # bits of a place in a block's share
_FEW = 1 << 10  # numbers of which each looks at all others
_MOST = 1 << 31
# Counters lie apart by one more after every 16, so that threads meet different banks of memory.
_COUNTERS = 16 * THREADS
_ROOM = _COUNTERS + _COUNTERS // 16


def stable_order(b: Any, keys: Any, bits: int, places: Any = None) -> tuple[Any, Any]:
    """The keys in order, and the places int32 where they were; equal ones as they come.

    keys: a vector of whole numbers without a sign, of which so many bits count, and so few that
    int32 counts them.  places: what they have in place of their numbers.
    """
    (count,) = keys.shape
    if hint(count) <= _FEW:
        return b.call(
            _few_kernel(keys.dtype, places is not None),
            [keys] if places is None else [keys, places],
            [((count,), keys.dtype), ((count,), "int32")],
            [count],
            columns=count,
            col_tile=1,
        )
    for shift in range(0, bits, _BITS):
        keys, places = _pass(b, keys, places, shift)
    return keys, places


def bits_below(bound: Any) -> int | None:
    """Bits that hold all numbers below a bound, in whole digits; None where int32 does not."""
    for bits in range(_BITS, 32, _BITS):
        if bound <= 1 << bits:
            return bits
    return 32 if bound <= _MOST else None


def is_countable(count: Any) -> bool:
    """Whether int32 counts so many, and the counters of their digits."""
    return bool(count < _MOST // 2)


def _pass(b: Any, keys: Any, places: Any, shift: int) -> tuple[Any, Any]:
    """Everything in the order of one digit."""
    (count,) = keys.shape
    blocks = ceil_div(count, CHUNK)
    (counts,) = b.call(
        _counts_kernel(keys.dtype),
        [keys],
        [((_DIGITS * blocks,), "int32")],
        [count, shift],
        columns=blocks,
        col_tile=1,
        operations=count,
    )
    starts = running_sums(b, "add", counts, 0, exclusive=True)
    return b.call(
        _moves_kernel(keys.dtype, places is not None),
        [keys, starts] if places is None else [keys, starts, places],
        [((count,), keys.dtype), ((count,), "int32")],
        [count, shift],
        columns=blocks,
        col_tile=1,
        operations=8 * count,
    )


@cache
def _few_kernel(dtype: str, is_later: bool = False) -> LibraryKernel:
    """Arguments: keys, their places (if they have any), both in order; how many."""
    return block_kernel("block_few", ["CONSTANT = (0,)"], _few(is_later), (1, 32, 32))


def _few(is_later: bool) -> Iterator[str]:
    names = ["keys", *["given"] * is_later, "ordered", "places", "count"]
    yield from (f"{name} = args[{i}]" for i, name in enumerate(names))
    yield "for i in range(block_x() * lanes() + lane(), columns, blocks_x() * lanes()):"
    yield "    key = load(keys, i)"
    yield "    rank = 0"
    yield "    for j in range(count):"
    yield "        other = load(keys, j)"
    yield "        ties = logical_and(eq(other, key), lt(j, i))"
    yield "        rank += select(logical_or(lt(other, key), ties), 1, 0)"
    yield "    store(ordered, rank, key)"
    place = "load(given, i)" if is_later else "cast_int32(i)"
    yield f"    store(places, rank, {place})"


@cache
def _counts_kernel(dtype: str) -> LibraryKernel:
    """Arguments: keys, counts of digits of blocks, digit by digit; how many keys, the bits below
    the digit.  Columns are blocks."""
    head = [f"MASK = {typed(_DIGITS - 1, dtype)}", f"ONE = {typed(1, 'int32')}"]
    head.append(f"NONE = {typed(0, 'int32')}")
    return block_kernel("block_counts", head, _counts(dtype), (1, 1, THREADS))


def _counts(dtype: str) -> Iterator[str]:
    yield from (f"{name} = args[{i}]" for i, name in enumerate("keys counts count below".split()))
    yield f"tally = shared_int32({_DIGITS})"
    yield f"shift = cast_{dtype}(below)"
    yield "for part in range(block_x(), columns, blocks_x()):"
    yield "    barrier()"
    yield f"    for d in range(lane(), {_DIGITS}, lanes()):"
    yield "        store_ordered(tally, d, NONE)"
    yield "    barrier()"
    yield f"    last = minimum((part + 1) * {CHUNK}, count)"
    yield f"    for e in range(part * {CHUNK} + lane(), last, lanes()):"
    yield "        digit = bitwise_and(right_shift(load(keys, e), shift), MASK)"
    yield "        count_up(tally, cast_int64(digit), ONE)"
    yield "    barrier()"
    yield f"    for d in range(lane(), {_DIGITS}, lanes()):"
    yield "        store(counts, d * columns + part, load_ordered(tally, d))"


@cache
def _moves_kernel(dtype: str, is_later: bool) -> LibraryKernel:
    """Arguments: keys, where what blocks have of a digit belongs, digit by digit, places (of all
    passes but the first), then keys and places in order; how many, the bits below the digit.
    Columns are blocks."""
    head = [f"MASK = {typed(_DIGITS - 1, dtype)}", f"ONE = {typed(1, 'int32')}"]
    head.append(f"NONE = {typed(0, 'int32')}")
    return block_kernel("block_moves", head, _moves(dtype, is_later), (1, 1, THREADS))


def _moves(dtype: str, is_later: bool) -> Iterator[str]:
    names = "keys starts places".split()[: 2 + is_later]
    names += "ordered moved count below".split()
    yield from (f"{name} = args[{i}]" for i, name in enumerate(names))
    for name, size in (("items", CHUNK), ("others", CHUNK), ("counters", _ROOM)):
        yield f"{name} = shared_int32({size})"
    for name in ("sums", "spare", "firsts"):
        yield f"{name} = shared_int32({THREADS})"
    yield f"shift = cast_{dtype}(below)"
    yield "for part in range(block_x(), columns, blocks_x()):"
    yield f"    begin = part * {CHUNK}"
    yield f"    size = minimum(count - begin, {CHUNK})"
    yield "    barrier()"
    # A word for each key: its digit, then its place among those of the block.
    yield f"    for e in range(lane(), {CHUNK}, lanes()):"
    yield "        key = load(keys, begin + minimum(e, size - 1))"
    yield "        digit = cast_int64(bitwise_and(right_shift(key, shift), MASK))"
    # (What is behind the last key comes behind all.)
    yield f"        digit = select(lt(e, size), digit, {_DIGITS - 1})"
    yield f"        store_ordered(items, e, cast_int32(digit * {1 << _PLACE} + e))"
    yield from indented(_split("items", "others", _PLACE))
    yield from indented(_split("others", "items", _PLACE + 4))
    yield from indented(_written(is_later))


def _split(source: str, target: str, shift: int) -> Iterator[str]:
    """Brings words into the order of four bits, thread by thread those of each."""
    found = f"cast_int64(load_ordered({source}, t * {_EACH} + s))"
    place = [f"at = bitwise_and(right_shift({found}, {shift}), 15) * {THREADS} + t"]
    place.append("at = at + right_shift(at, 4)")
    yield "barrier()"
    yield f"for t in range(lane(), {THREADS}, lanes()):"
    yield "    for d in range(16):"
    yield f"        at = d * {THREADS} + t"
    yield "        store_ordered(counters, at + right_shift(at, 4), NONE)"
    yield f"    for s in range({_EACH}):"
    yield from indented(place, 2)
    yield "        store_ordered(counters, at, add(load_ordered(counters, at), ONE))"
    yield "barrier()"
    yield f"for t in range(lane(), {THREADS}, lanes()):"
    yield "    total = NONE"
    yield "    for s in range(16):"
    yield "        total = add(total, load_ordered(counters, t * 17 + s))"
    yield "    store_ordered(sums, t, total)"
    yield from scanned_threads("sums", "spare", "add", "NONE")
    yield f"for t in range(lane(), {THREADS}, lanes()):"
    yield "    total = select(lt(t, 1), NONE, load_ordered(sums, maximum(t - 1, 0)))"
    yield "    for s in range(16):"
    yield "        here = load_ordered(counters, t * 17 + s)"
    yield "        store_ordered(counters, t * 17 + s, total)"
    yield "        total = add(total, here)"
    yield "barrier()"
    yield f"for t in range(lane(), {THREADS}, lanes()):"
    yield f"    for s in range({_EACH}):"
    yield from indented(place, 2)
    yield "        to = load_ordered(counters, at)"
    yield "        store_ordered(counters, at, add(to, ONE))"
    yield f"        word = load_ordered({source}, t * {_EACH} + s)"
    yield f"        store_ordered({target}, cast_int64(to), word)"
    yield "barrier()"


def _written(is_later: bool) -> Iterator[str]:
    """Where every digit begins, and everything to where it belongs."""
    yield f"for e in range(lane(), {CHUNK}, lanes()):"
    yield f"    digit = right_shift(cast_int64(load_ordered(items, e)), {_PLACE})"
    yield "    before = cast_int64(load_ordered(items, maximum(e - 1, 0)))"
    yield f"    before = select(lt(e, 1), -1, right_shift(before, {_PLACE}))"
    yield "    if digit != before:"
    yield "        store_ordered(firsts, digit, cast_int32(e))"
    yield "barrier()"
    yield "for e in range(lane(), size, lanes()):"
    yield "    item = cast_int64(load_ordered(items, e))"
    yield f"    digit = right_shift(item, {_PLACE})"
    yield f"    source = begin + item - digit * {1 << _PLACE}"
    yield "    to = add(load(starts, digit * columns + part), cast_int32(e))"
    yield "    to = sub(to, load_ordered(firsts, digit))"
    yield "    store(ordered, cast_int64(to), load(keys, source))"
    value = "load(places, source)" if is_later else "cast_int32(source)"
    yield f"    store(moved, cast_int64(to), {value})"
