# SPDX-License-Identifier: Apache-2.0
"""The words of library kernels besides plain arithmetic and loops: kinds and LLVM code.

Pointers to the elements at an address (indexed with x[i]), memory copies, register tiles, and
in-register transposes.  All take dtypes from addresses.  What they mean is told, in Python, in
jit/library/plain_vocabulary.py.  Imports llvmlite alone; Numba gets the words from
jit/codegen/intrinsics.py.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from llvmlite import ir

from . import atomics, channel_tiles, checksums, fourier_tiles, numbers, window_tiles
from .numbers import converted, word
from .register_tiles import FMA_TILE
from .sparse_tiles import GATHER_TILE, SCATTER_TILE
from .words import (
    ARGUMENTS,
    WORD,
    Address,
    Kind,
    Pointer,
    Text,
    Unfit,
    Word,
    dtype_at,
    element_bytes,
    of_one_dtype,
    transposed,
)

# Conversions to a kind of numbers, and functions of real numbers, are words as well.
CASTS = ("float32", "float64", "int64", "uint32", "uint64")
FUNCTIONS = ("cos", "log", "sin", "sqrt")
_BYTE = ir.IntType(8).as_pointer()
_FALSE = ir.Constant(ir.IntType(1), 0)
_WIDTHS = {4: ir.FloatType(), 8: ir.DoubleType()}
_BITS = {"float32": "uint32", "float64": "uint64"}
Kinds = tuple[Kind, ...]
Values = tuple[Any, ...]


@cache
def table() -> dict[str, Word]:
    """All words by name."""
    words = (
        *(_choose("min", "<"), _choose("max", ">")),
        Word("pointer", 1, _pointed, _pointer),
        Word("region", 2, _region, _same),
        Word("place", 1, _place, _number),
        Word("as_bytes", 1, _as_bytes, _same),
        _bits("bits_as_float", {bits: number for number, bits in _BITS.items()}),
        _bits("float_as_bits", _BITS),
        Word("copy", 3, _copied, _copy),
        Word("zero", 2, _zeroed, _zero),
        Word("transpose_tile", 5, _transposed, _transpose_tile),
        *(FMA_TILE, GATHER_TILE, SCATTER_TILE),
        *window_tiles.WORDS,
        *channel_tiles.WORDS,
        *fourier_tiles.WORDS,
        *atomics.WORDS,
        *checksums.WORDS,
    )
    return {word.name: word for word in words}


def _choose(name: str, comparison: str) -> Word:
    """One of two numbers; the first where they are equal or not ordered, as in Python."""

    def code(b: ir.IRBuilder, kinds: Kinds, values: Values) -> Any:
        kind = numbers.unified(*kinds)
        x, y = (converted(b, k, value, kind) for k, value in zip(kinds, values, strict=True))
        # min(x, y) of Python is y if y < x, else x: what it says of NaN and of zeros of both signs
        # follows.
        return b.select(numbers.compared(b, comparison, kind, kind, y, x), y, x)

    return Word(name, 2, numbers.unified, code)


def _same(b: ir.IRBuilder, kinds: Kinds, values: Values) -> Any:
    return word(b, kinds[0], values[0])


def element(dtype: str) -> str:
    """What is read and written through a pointer to elements; those of bool are uint8."""
    if dtype in ("float16", "bfloat16"):
        raise Unfit(f"access to {dtype}: 16-bit floats are accessed by generated kernels")
    # Memory holds a byte for each, as NumPy does; a truth value in LLVM has one bit.
    return {"bool": "uint8"}.get(dtype, dtype)


def _pointed(base: Kind) -> Kind:
    return Pointer(element(dtype_at("access", base)))


def _pointer(b: ir.IRBuilder, kinds: Kinds, values: Values) -> Any:
    kind = _pointed(*kinds)
    assert isinstance(kind, Pointer)
    return b.inttoptr(values[0], numbers.type_of(kind.dtype).as_pointer())


def _region(start: Kind, dtype: Kind) -> Kind:
    # Else a text could read an array in another dtype by going through `region`.
    if not numbers.is_whole(start):
        raise Unfit(f"region at {start}: what has a dtype keeps it")
    assert isinstance(dtype, Text)
    return Address(dtype.value)


def _place(base: Kind) -> Kind:
    if base != ARGUMENTS:
        of_one_dtype("place", base)
    return "int64"


def _number(b: ir.IRBuilder, kinds: Kinds, values: Values) -> Any:
    return b.ptrtoint(values[0], WORD) if kinds[0] == ARGUMENTS else _same(b, kinds, values)


def _as_bytes(base: Kind) -> Kind:
    of_one_dtype("access", base)
    return Address("uint8")


def _bits(name: str, results: dict[str, str]) -> Word:
    def result(kind: Kind) -> Kind:
        if kind not in results:
            raise Unfit(f"{name} of {kind}: it is of {' or '.join(results)}")
        return results[str(kind)]

    def code(b: ir.IRBuilder, kinds: Kinds, values: Values) -> Any:
        return b.bitcast(values[0], numbers.type_of(result(*kinds)))

    return Word(name, 1, result, code)


def _copied(target: Kind, source: Kind, count: Kind) -> None:
    of_one_dtype("copy", target, source)


def _copy(b: ir.IRBuilder, kinds: Kinds, values: Values) -> None:
    size = element_bytes(b, of_one_dtype("copy", *kinds[:2]))
    target, source = (b.inttoptr(value, _BYTE) for value in values[:2])
    count = b.mul(word(b, kinds[2], values[2]), WORD(size))
    # LLVM writes a few moves where the count is literal and small, and calls C's where it is not.
    code = b.module.declare_intrinsic("llvm.memcpy", [_BYTE, _BYTE, WORD])
    b.call(code, [target, source, count, _FALSE])


def _zeroed(target: Kind, count: Kind) -> None:
    of_one_dtype("zero", target)


def _zero(b: ir.IRBuilder, kinds: Kinds, values: Values) -> None:
    size = element_bytes(b, of_one_dtype("zero", kinds[0]))
    count = b.mul(word(b, kinds[1], values[1]), WORD(size))
    code = b.module.declare_intrinsic("llvm.memset", [_BYTE, WORD])
    b.call(code, [b.inttoptr(values[0], _BYTE), ir.IntType(8)(0), count, _FALSE])


def _transposed(
    lanes: Kind, source: Kind, source_row: Kind, target: Kind, target_row: Kind
) -> None:
    of_one_dtype("transpose", source, target)


def _transpose_tile(b: ir.IRBuilder, kinds: Kinds, values: Values) -> None:
    count, bytes_each = values[0].constant, element_bytes(b, of_one_dtype("tile", kinds[1]))
    # By width alone: a transpose moves bits, so that integers go as floats of their size do.
    element = _WIDTHS[bytes_each]
    vector = ir.VectorType(element, count)

    def place(side: int, i: int) -> Any:
        start = b.inttoptr(values[side], element.as_pointer())
        row = word(b, kinds[side + 1], values[side + 1])
        return b.bitcast(b.gep(start, [b.mul(WORD(i), row)]), vector.as_pointer())

    rows = [b.load(place(1, i)) for i in range(count)]
    for row in rows:
        # Rows begin at any element; a load that said more would trap on some machines.
        row.align = bytes_each
    for i, row in enumerate(transposed(b, rows)):
        b.store(row, place(3, i)).align = bytes_each
