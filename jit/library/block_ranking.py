# SPDX-License-Identifier: Apache-2.0
"""The largest elements of rows on GPUs.

Elements become whole numbers that are in the other order.  Of very short rows each is told its
place by a look at its row; a block sorts a longer one in shared memory, by a network; else all rows
are sorted at once, by elements and then by rows.  Rows that hold a NaN have no such order: they
alone are left to the kernel of processors, which has TensorFlow's.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from ..kernel import scalar
from ..kernel.scalar import kind_of
from ..kernel.sizes import AnySize, hint, product
from . import ranking_kernels
from .block_order import bits_below, is_countable, stable_order
from .block_rows import elements
from .block_scan import THREADS, block_kernel, indented, typed
from .library_kernel import LibraryKernel
from .template import specialise

_SHORT = 1 << 10  # elements of rows that are looked at as a whole
_LOOKS = 1 << 32  # looks that take longer than to sort
_VERY_SHORT = 1 << 6
_STAGES = 12  # of a network, and so
_MOST = 1 << _STAGES  # elements that a block sorts


def ranked(b: Any, x: Any, kept: AnySize, scratch: AnySize) -> Any:
    """See `largest`; None for too many elements.  scratch: what its kernel needs for a row."""
    lead, length = tuple(x.shape[:-1]), x.shape[-1]
    rows = product(lead)
    bits = bits_below(rows)
    if not is_countable(rows * length) or bits is None:
        return None
    keys = _keys(b, b.reshape(x, [rows * length]))
    short, count = hint(length) <= _SHORT, hint(rows) * hint(length) ** 2
    if keys.dtype == "uint32" and _VERY_SHORT < hint(length) <= _MOST:
        order, step = _by_network(b, keys, rows, length, kept), kept
    elif short and count <= _LOOKS:
        order, step = _by_looks(b, keys, rows, length, kept), kept
    else:
        order, step = _sorted(b, keys, bits, rows, length), length
    inputs = [x, order]
    if kind_of(x.dtype) == "f":
        inputs += _unordered(b, x, rows, kept, scratch)
    return b.call(
        _taken_kernel(x.dtype, len(inputs) > 2),
        inputs,
        [((*lead, kept), x.dtype), ((*lead, kept), "int32")],
        [length, kept, step, 0 if step is kept else length],
        columns=rows * kept,
        col_tile=THREADS,
        operations=rows * kept,
    )


def _keys(b: Any, x: Any) -> Any:
    """Whole numbers without a sign in the other order; zeros of both signs are alike."""
    dtype = "uint64" if x.dtype in ("int64", "float64", "uint32") else "uint32"
    if kind_of(x.dtype) == "f":
        (count,) = x.shape
        outputs = [((count,), dtype)]
        kernel = _keys_kernel(x.dtype, dtype)
        return b.call(kernel, [x], outputs, columns=count, col_tile=THREADS, operations=count)[0]
    signed = dtype[1:]
    top = _HIGHEST[dtype] >> 1
    return b.map(
        lambda v: scalar.bitwise_xor(scalar.cast(scalar.cast(v, signed), dtype), top),
        x,
    )


_HIGHEST = {"uint32": (1 << 32) - 1, "uint64": (1 << 64) - 1}


def _by_looks(b: Any, keys: Any, rows: AnySize, length: AnySize, kept: AnySize) -> Any:
    """Where in their rows the first of each are, int32 [rows * kept]."""
    (order,) = b.call(
        _looks_kernel(keys.dtype),
        [keys],
        [((rows * kept,), "int32")],
        [length, kept],
        columns=rows * length,
        col_tile=THREADS,
        operations=rows * length * length,
    )
    return order


def _by_network(b: Any, keys: Any, rows: AnySize, length: AnySize, kept: AnySize) -> Any:
    """The same; keys have 32 bits."""
    (order,) = b.call(
        _network_kernel(),
        [keys],
        [((rows * kept,), "int32")],
        [length, kept],
        columns=rows,
        col_tile=1,
        operations=rows * length * _STAGES * _STAGES,
    )
    return order


def _sorted(b: Any, keys: Any, bits: int, rows: AnySize, length: AnySize) -> Any:
    """Where all are, row by row and each in order, int32."""
    _, order = stable_order(b, keys, 64 if keys.dtype == "uint64" else 32)
    if hint(rows) == 1 and rows == 1:
        return order
    size = b.known_as(np.array(length, object), "int64")
    of_rows = b.map(
        lambda i, size: scalar.cast(scalar.truncatediv(scalar.cast(i, "int64"), size), "uint32"),
        order,
        size,
    )
    return stable_order(b, of_rows, bits, order)[1]


def _unordered(b: Any, x: Any, rows: AnySize, kept: AnySize, scratch: AnySize) -> list[Any]:
    """What rows with a NaN have, int32 [rows * kept], and which rows these are."""
    wide = b.reshape(x, (rows, x.shape[-1]))
    flags = b.reduce("any", b.map(scalar.isnan, wide), [1])
    found = b.reduce("any", flags, None)
    (special,) = b.call(
        specialise("largest_unordered", ranking_kernels.unordered),
        [x, found, flags],
        [((rows * kept,), "int32")],
        [x.shape[-1], kept, rows],
        scratch=scratch,
    )
    return [special, flags]


@cache
def _keys_kernel(dtype: str, bits: str) -> LibraryKernel:
    """Arguments: floats, keys.  Columns are both."""
    head = [f"ZERO = {typed(0, dtype)}", f"NONE = {typed(0, bits)}"]
    head.append(f"REST = {typed(_HIGHEST[bits] >> 1, bits)}")
    return block_kernel("block_keys", head, _floats(bits), (1, THREADS, THREADS))


def _floats(bits: str) -> Iterator[str]:
    yield "x = args[0]"
    yield "keys = args[1]"
    yield elements()
    yield "    value = load(x, e)"
    yield "    value = select(eq(value, ZERO), ZERO, value)"
    # Negative ones are in the other order already, behind all others.
    yield "    raw = float_as_bits(value)"
    yield "    store(keys, e, bitwise_xor(raw, select(gt(raw, REST), NONE, REST)))"


@cache
def _looks_kernel(dtype: str) -> LibraryKernel:
    """Arguments: keys, places of the first of each row; length of a row, how many are kept.
    Columns are keys."""
    return block_kernel("block_looks", ["CONSTANT = (0,)"], _looks(), (1, THREADS, THREADS))


def _looks() -> Iterator[str]:
    yield from (f"{name} = args[{i}]" for i, name in enumerate("keys order length kept".split()))
    yield elements()
    yield "    row = truncatediv(e, length)"
    yield "    i = e - row * length"
    yield from indented(_ranked(), 1)


def _ranked() -> Iterator[str]:
    """Tells element `i` of a row its place by a look at all."""
    yield "key = load(keys, row * length + i)"
    yield "rank = 0"
    yield "for j in range(length):"
    yield "    other = load(keys, row * length + j)"
    yield "    ties = logical_and(eq(other, key), lt(j, i))"
    yield "    rank += select(logical_or(lt(other, key), ties), 1, 0)"
    yield "if rank < kept:"
    yield "    store(order, row * kept + rank, cast_int32(i))"


@cache
def _network_kernel() -> LibraryKernel:
    """Arguments: keys, places of the first of each row; length of a row, how many are kept.
    Columns are rows."""
    head = ["CONSTANT = (0,)", f"HALF = {typed(32, 'uint64')}"]
    head.append(f"LOW = {typed((1 << 32) - 1, 'uint64')}")
    return block_kernel("block_network", head, _network(), (1, 1, THREADS))


def _network() -> Iterator[str]:
    """Batcher's bitonic network (1968), all of whose comparators put the lower one first, so that
    none is needed where there is nothing any more.

    Words are a key and its place behind it, so that no two are alike.
    """
    yield from (f"{name} = args[{i}]" for i, name in enumerate("keys order length kept".split()))
    yield f"words = shared_uint64({_MOST})"
    yield "for row in range(block_x(), columns, blocks_x()):"
    yield f"    if length <= {_MOST}:"
    yield "        barrier()"
    yield "        for e in range(lane(), length, lanes()):"
    yield "            word = left_shift(cast_uint64(load(keys, row * length + e)), HALF)"
    yield "            store_ordered(words, e, bitwise_or(word, cast_uint64(e)))"
    yield f"        for stage in range(minimum(length, {_STAGES})):"
    yield "            if left_shift(1, stage) < length:"
    yield from indented(_compared("stage", "left_shift(2, stage) - 1"), 4)
    yield "                for more in range(stage):"
    yield "                    bit = stage - 1 - more"
    yield from indented(_compared("bit", "left_shift(1, bit)"), 5)
    yield "        barrier()"
    yield "        for e in range(lane(), kept, lanes()):"
    yield "            place = bitwise_and(load_ordered(words, e), LOW)"
    yield "            store(order, row * kept + e, cast_int32(place))"
    yield f"    if length > {_MOST}:"
    yield "        for i in range(lane(), length, lanes()):"
    yield from indented(_ranked(), 3)


def _compared(bit: str, flip: str) -> Iterator[str]:
    """All pairs of places that differ by some bits, of which that is the highest."""
    yield "barrier()"
    yield f"pairs = right_shift(length + left_shift(1, {bit}), 1)"
    yield "for pair in range(lane(), pairs, lanes()):"
    yield f"    above = right_shift(pair, {bit})"
    yield f"    first = pair + left_shift(above, {bit})"
    yield f"    partner = bitwise_xor(first, {flip})"
    yield "    if partner < length:"
    yield "        low = load_ordered(words, first)"
    yield "        high = load_ordered(words, partner)"
    yield "        is_turned = lt(high, low)"
    yield "        store_ordered(words, first, select(is_turned, high, low))"
    yield "        store_ordered(words, partner, select(is_turned, low, high))"


@cache
def _taken_kernel(dtype: str, is_special: bool) -> LibraryKernel:
    """Arguments: x, order, what special rows have and which they are (if there may be any), values
    and places; length of a row, how many are kept, how far rows' orders are apart, and by how much
    their numbers are.  Columns are results."""
    head = ["CONSTANT = (0, 1)"]
    return block_kernel("block_taken", head, _taken(is_special), (1, THREADS, THREADS))


def _taken(is_special: bool) -> Iterator[str]:
    names = ["x", "order", *["special", "flags"] * is_special, "values", "indices"]
    names += ["length", "kept", "step", "less"]
    yield from (f"{name} = args[{i}]" for i, name in enumerate(names))
    yield elements()
    yield "    row = truncatediv(e, kept)"
    yield "    i = cast_int64(load(order, row * step + e - row * kept)) - row * less"
    if is_special:
        yield "    i = select(load(flags, row), cast_int64(load(special, e)), i)"
    yield "    store(indices, e, cast_int32(i))"
    yield "    store(values, e, load(x, row * length + i))"
