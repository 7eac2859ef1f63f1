# SPDX-License-Identifier: Apache-2.0
"""What the texts of library kernels may call besides plain arithmetic and loops.

Pointers to the elements at an address (indexed with x[i]), memory copies, register tiles, and
in-register transposes.  All take dtypes from addresses (jit/codegen/addresses.py).  Imports Numba;
used only while a kernel is compiled.
"""

from __future__ import annotations

from math import cos, log, sin, sqrt
from typing import Any

from llvmlite import ir
from numba import float32, float64, int64, types, uint32, uint64
from numba.core import cgutils
from numba.extending import intrinsic

from .addresses import Address, Mismatch, element_bytes, of_one_dtype
from .atomics import (
    atomic_add,
    atomic_load,
    atomic_store,
    atomic_swap,
    call_kernel,
    clock,
    futex,
    pause,
    take_if_zero,
)
from .numba_target import helper
from .register_tiles import fma_tile
from .sparse_tiles import gather_tile, scatter_tile
from .window_tiles import spread_mean, spread_places, window_max, window_mean, window_places

__all__ = [
    "as_bytes", "atomic_add", "atomic_load", "atomic_store", "atomic_swap", "bits_as_float",
    "call_kernel", "clock", "copy", "cos", "float32", "float64", "float_as_bits",
    "futex", "pause", "take_if_zero",
    "fma_tile", "gather_tile", "helper", "int64", "log", "maximum", "minimum", "place", "pointer",
    "region", "scatter_tile", "sin", "spread_mean", "spread_places", "sqrt", "transpose_tile",
    "uint32", "uint64", "window_max", "window_mean", "window_places", "zero",
]  # fmt: skip

_BYTE = ir.IntType(8).as_pointer()
_WORD = ir.IntType(64)
_WIDTHS = {4: ir.FloatType(), 8: ir.DoubleType()}


def _choose(name: str, comparison: str) -> Any:
    """One of two numbers; the first where they are equal or not ordered, as in Python."""

    def choose(typing_context: Any, x: Any, y: Any) -> Any:
        kind = typing_context.unify_types(x, y)

        def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            if isinstance(kind, types.Float):
                compare = builder.fcmp_ordered
            else:
                compare = builder.icmp_signed if kind.signed else builder.icmp_unsigned
            return builder.select(compare(comparison, args[1], args[0]), args[1], args[0])

        return kind(kind, kind), lower

    choose.__name__ = choose.__qualname__ = name
    return intrinsic(choose)


# In place of Python's, which Numba makes out of tuples and loops.
minimum, maximum = _choose("min", "<"), _choose("max", ">")


@intrinsic
def pointer(typing_context: Any, address: Any) -> Any:
    """The address as a pointer to its elements; those of bool are uint8."""
    dtype = of_one_dtype("access", address)
    if dtype in ("float16", "bfloat16"):
        raise Mismatch(f"access to {dtype}", "16-bit floats are accessed by generated kernels")
    result = types.CPointer(getattr(types, {"bool": "uint8"}.get(dtype, dtype)))

    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], context.get_value_type(result))

    return result(address), lower


@intrinsic(prefer_literal=True)
def region(typing_context: Any, start: Any, dtype: Any) -> Any:
    """Declares what lies at an int address (of scratch memory): elements of a dtype."""
    if not isinstance(start, types.Integer):
        raise Mismatch(f"region at {start}", "what has a dtype keeps it")
    result = Address(dtype.literal_value)
    return result(types.int64, dtype), lambda context, builder, signature, args: args[0]


@intrinsic
def place(typing_context: Any, address: Any) -> Any:
    """The address as a number, to be handed to another kernel."""
    of_one_dtype("place", address)
    return types.int64(address), lambda context, builder, signature, args: args[0]


@intrinsic
def as_bytes(typing_context: Any, address: Any) -> Any:
    """The address of elements of any dtype as that of their bytes, to be copied."""
    of_one_dtype("access", address)
    result = Address("uint8")
    return result(address), lambda context, builder, signature, args: args[0]


@intrinsic
def bits_as_float(typing_context: Any, bits: Any) -> Any:
    """The float with the given bits: float32 of uint32, float64 of uint64."""
    result = {types.uint32: types.float32, types.uint64: types.float64}[bits]

    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], context.get_value_type(result))

    return result(bits), lower


@intrinsic
def float_as_bits(typing_context: Any, number: Any) -> Any:
    """The bits of a float: uint32 of float32, uint64 of float64."""
    result = {types.float32: types.uint32, types.float64: types.uint64}[number]

    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], context.get_value_type(result))

    return result(number), lower


@intrinsic
def copy(typing_context: Any, target: Any, source: Any, count: Any) -> Any:
    """Copies `count` elements between addresses that do not overlap."""
    dtype = of_one_dtype("copy", target, source)

    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        target, source = (builder.inttoptr(a, _BYTE) for a in args[:2])
        cgutils.raw_memcpy(builder, target, source, args[2], element_bytes(builder, dtype))
        return context.get_dummy_value()

    return types.void(target, source, types.int64), lower


@intrinsic
def zero(typing_context: Any, target: Any, count: Any) -> Any:
    """Sets `count` elements at an address to zero."""
    dtype = of_one_dtype("zero", target)

    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        size = builder.mul(args[1], _WORD(element_bytes(builder, dtype)))
        cgutils.memset(builder, builder.inttoptr(args[0], _BYTE), size, 0)
        return context.get_dummy_value()

    return types.void(target, types.int64), lower


@intrinsic(prefer_literal=True)
def transpose_tile(
    typing_context: Any,
    lanes: Any,
    source: Any,
    source_row: Any,
    target: Any,
    target_row: Any,
) -> Any:
    """target[j * target_row + i] = source[i * source_row + j] for i, j < lanes.

    Elements have 4 or 8 bytes, strides are in elements; `lanes` (a power of two) is a literal.
    All loads come before all stores.
    """
    dtype = of_one_dtype("transpose", source, target)
    count = lanes.literal_value

    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        bytes_each = element_bytes(builder, dtype)
        element = _WIDTHS[bytes_each]
        vector = ir.VectorType(element, count)

        def place(base: Any, row: Any, i: int) -> Any:
            start = builder.inttoptr(base, element.as_pointer())
            spot = builder.gep(start, [builder.mul(_WORD(i), row)])
            return builder.bitcast(spot, vector.as_pointer())

        rows = [builder.load(place(args[1], args[2], i)) for i in range(count)]
        for row in rows:
            row.align = bytes_each
        for i, row in enumerate(_transpose(builder, rows, count)):
            builder.store(row, place(args[3], args[4], i)).align = bytes_each
        return context.get_dummy_value()

    return types.void(lanes, source, types.int64, target, types.int64), lower


def _transpose(builder: Any, rows: list[Any], count: int) -> list[Any]:
    """Butterflies: swaps the off-diagonal halves of ever smaller squares."""
    half = count // 2
    while half:
        # Lane j of the low row: its own where bit `half` of j is clear, else the high row's lane.
        low = [j if not j & half else count + j - half for j in range(count)]
        high = [j + half if not j & half else count + j for j in range(count)]
        masks = [ir.Constant(ir.VectorType(ir.IntType(32), count), lanes) for lanes in (low, high)]
        for i in range(count):
            if not i & half:
                a, b = rows[i], rows[i + half]
                rows[i] = builder.shuffle_vector(a, b, masks[0])
                rows[i + half] = builder.shuffle_vector(a, b, masks[1])
        half //= 2
    return rows
