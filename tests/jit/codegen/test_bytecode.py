# SPDX-License-Identifier: Apache-2.0
"""Bytecode against machine code of the same kernels; see also tests/ops/test_registry.py."""

from __future__ import annotations

import numpy as np
import pytest

from numbaflow.jit.codegen import compile as compiler
from numbaflow.jit.codegen.bytecode import is_fit, may_meet, program
from numbaflow.jit.codegen.signature import SIGNATURE
from numbaflow.jit.kernel import scalar as k
from numbaflow.jit.kernel.ir import (
    Axis,
    AxisIndex,
    Buffer,
    Const,
    Expr,
    Index,
    Kernel,
    Load,
    Param,
    Reduced,
    Reduction,
    Store,
)
from numbaflow.jit.library import bytecode_kernels as layout

from ..bytecode import Bytecode

pytestmark = pytest.mark.cpu
LIMIT = layout.LIMIT


def both(kernel: Kernel, buffers: list[np.ndarray], numbers: list[int], tile: tuple[int, ...]):
    """What a tile writes to the buffers, as bytecode and as machine code."""
    found = []
    for run in (
        Bytecode(kernel).run,
        SIGNATURE(compiler.compile_kernel(kernel).address),
    ):
        arrays = [array.copy() for array in buffers]
        block = np.array([*(a.ctypes.data for a in arrays), *numbers], np.int64)
        run(block.ctypes.data, *tile, 0)
        found.append(arrays)
    return found


def same(kernel: Kernel, buffers: list[np.ndarray], numbers: list[int], *tile: int) -> None:
    one, other = both(kernel, buffers, numbers, tile)
    for x, y in zip(one, other):
        np.testing.assert_array_equal(x, y)


def numbers(count: int, dtype: str = "float32") -> np.ndarray:
    return (np.random.RandomState(count).standard_normal(count) * 9).astype(dtype)


def at(*strides: int | Param, offset: Expr | None = None) -> Index:
    return Index(tuple(strides), offset)


@pytest.mark.parametrize("columns", [1, 3, LIMIT - 1, LIMIT, LIMIT + 1, 3 * LIMIT + 7])
@pytest.mark.parametrize("rows", [(0, 6), (1, 4), (5, 6), (2, 2)])
def test_tiles_of_a_map_over_three_axes(columns, rows):
    """Outer axes of 2 by 3 positions; the rows of a block go along one of them."""
    x = Load(0, at(Param(0), 0, 1), "float32")
    y = Load(1, at(0, 1, 0), "float32")
    value = k.add(k.mul(x, y), k.cast(AxisIndex(1), "float32"))
    buffers = (Buffer("float32", "r"), Buffer("float32", "r"), Buffer("float32", "w"))
    store = Store(2, at(Param(1), Param(2), 1), value)
    kernel = Kernel("map", buffers, (Axis("map"),) * 3, (), (store,), 3)
    arrays = [numbers(2 * columns), numbers(3), np.zeros(6 * columns, np.float32)]
    sizes = [2, 3, columns, columns, 3 * columns, columns]
    same(kernel, arrays, sizes, *rows, 0, columns)
    same(kernel, arrays, sizes, *rows, columns // 3, columns // 2)


@pytest.mark.parametrize("length", [0, 1, 31, 64, 65, LIMIT, LIMIT + 33, 3 * LIMIT - 1, 5 * LIMIT])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_rows_with_a_total_that_depends_on_another(length, dtype):
    """As in softmax: each row's values less their greatest, and the total of these."""
    x = Load(0, at(Param(0), 1), dtype)
    least = k.sub(x, Reduced(0, dtype))
    reductions = (Reduction("max", x, dtype), Reduction("sum", k.mul(least, least), dtype))
    late = Store(1, at(Param(0), 1), k.sub(least, Reduced(1, dtype)))
    whole = Store(2, at(1, 0), Reduced(1, dtype))
    buffers = (Buffer(dtype, "r"), Buffer(dtype, "w"), Buffer(dtype, "w"))
    kernel = Kernel("row", buffers, (Axis("map"), Axis("reduce")), reductions, (late, whole), 1)
    arrays = [numbers(4 * length, dtype), np.zeros(4 * length, dtype), np.zeros(4, dtype)]
    same(kernel, arrays, [4, length, length], 0, 4, 0, 1)
    same(kernel, arrays, [4, length, length], 1, 3, 0, 1)


@pytest.mark.parametrize("fn", ["sum", "prod", "max", "min", "argmax", "argmin"])
@pytest.mark.parametrize("columns", [1, 5, LIMIT + 3])
def test_columns_in_pieces(fn, columns):
    """Chunks of four of eleven rows each, the last of which is short; NaN is no extreme."""
    dtype = "int64" if fn.startswith("arg") else "float32"
    x = Load(0, at(0, Param(0), 1), "float32")
    reduction = Reduction(fn, x, dtype)
    axes = (Axis("chunk", of=1, length=Param(1)), Axis("reduce"), Axis("map"))
    if fn.startswith("arg"):
        axes = (Axis("map"), *axes[1:])
    buffers = (Buffer("float32", "r"), Buffer(dtype, "w"))
    kernel = Kernel(
        "column", buffers, axes, (reduction,), (Store(1, at(Param(0), 0, 1), Reduced(0, dtype)),), 2
    )
    array = numbers(11 * columns)
    array[::7] = np.nan
    outer = 1 if fn.startswith("arg") else 3
    arrays = [array, np.zeros(3 * columns, dtype)]
    same(kernel, arrays, [outer, 11, columns, columns, 4], 0, outer, 0, columns)


def test_rows_that_meet_see_what_was_written_before():
    """A table's rows that are looked up are doubled, one after the other."""
    place = k.mul(Load(1, at(1, 0), "int64"), Const(5, "int64"))
    row = Load(0, at(0, 1, offset=place), "float32")
    store = Store(0, at(0, 1, offset=place), k.mul(row, Const(2.0, "float32")))
    buffers = (Buffer("float32", "rw"), Buffer("int64", "r"))
    kernel = Kernel("map", buffers, (Axis("map"), Axis("map")), (), (store,), 0)
    assert may_meet(kernel) and is_fit(kernel)
    arrays = [numbers(20), np.array([3, 0, 3, 3, 1], np.int64)]
    one, other = both(kernel, arrays, [5, 5], (0, 5, 0, 5))
    np.testing.assert_array_equal(one[0], other[0])
    np.testing.assert_array_equal(one[0][15:], 8 * arrays[0][15:])


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_short_floats_are_rounded_where_kernels_round_them(dtype):
    from numbaflow.jit.kernel.reference import numpy_dtype

    x = Load(0, at(1), dtype)
    value = k.add(k.mul(x, x), k.neg(k.exp(x)))
    buffers = (Buffer(dtype, "r"), Buffer(dtype, "w"))
    kernel = Kernel("map", buffers, (Axis("map"),), (), (Store(1, at(1), value),), 0)
    arrays = [numbers(700).astype(numpy_dtype(dtype)), np.zeros(700, numpy_dtype(dtype))]
    one, other = both(kernel, arrays, [700], (0, 1, 0, 700))
    np.testing.assert_array_equal(one[1].view(np.uint16), other[1].view(np.uint16))


def test_registers_are_used_again():
    """A chain of a hundred functions needs as many as two of them have operands."""
    value: Expr = Load(0, at(1), "float32")
    for number in range(100):
        value = k.mul(k.abs(value), Const(1.0 + number % 3, "float32"))
    buffers = (Buffer("float32", "r"), Buffer("float32", "w"))
    kernel = Kernel("map", buffers, (Axis("map"),), (), (Store(1, at(1), value),), 0)
    made = program(kernel)
    # Three constants, and three registers at a time.
    assert made.size < 7 * 8 * LIMIT + 8 * len(made.words) + layout.LINE
    same(kernel, [numbers(50), np.zeros(50, np.float32)], [50], 0, 1, 0, 50)
