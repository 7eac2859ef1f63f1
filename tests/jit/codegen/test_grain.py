# SPDX-License-Identifier: Apache-2.0
"""Maps that read across the grain, and those of few columns: as NumPy evaluates the same IR."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numbaflow.jit.codegen import emit
from numbaflow.jit.kernel import grain, ir, reference, verify_kernel
from numbaflow.jit.kernel import scalar as k

from ...drawing import examples
from .test_emit import Evaluation, call, compare, numbers, unread_names
from .test_reader import run

pytestmark = pytest.mark.cpu

DTYPES = ("float32", "float64", "float16", "bfloat16", "int8", "int32", "int64", "bool")
SIDES = (1, 2, 3, 4, 5, 17, 64, 70)


def param(params: list[int], value: int) -> ir.Param:
    params.append(value)
    return ir.Param(len(params) - 1)


@st.composite
def permutations(draw: Any) -> Any:
    """(kernel, buffers, sizes, params) of a map over one to three permuted tensors, the first of
    which is read across the grain, if its sides are long enough."""
    rank = draw(st.integers(2, 4))
    sizes = [draw(st.sampled_from(SIDES[:6])) for _ in range(rank - 2)]
    sizes += [draw(st.sampled_from(SIDES)) for _ in range(2)]
    sizes = draw(st.permutations(sizes))
    dtype = draw(st.sampled_from(DTYPES))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    params: list[int] = []
    buffers, loads = [], []
    for number in range(draw(st.integers(1, 3))):
        order = draw(st.permutations(range(rank)))
        if number == 0 and order[-1] == rank - 1:
            order = order[::-1]
        loads.append(load(number, order, sizes, params, dtype, draw(st.sampled_from((0, 3)))))
        buffers.append(numbers(rng, math.prod(sizes) + 3, dtype))
    value: Any = loads[0]
    for other in loads[1:]:
        value = k.logical_and(value, other) if dtype == "bool" else k.add(value, other)
    if dtype != "bool" and draw(st.booleans()):
        value = k.add(k.mul(value, 2), k.cast(ir.AxisIndex(draw(st.integers(0, 1))), dtype))
    out = load(len(buffers), range(rank), sizes, params, dtype, 0)
    stores = (ir.Store(len(buffers), out.index, value),)
    buffers.append(np.zeros(math.prod(sizes), reference.numpy_dtype(dtype)))
    declared = tuple(ir.Buffer(dtype, "w" if b is buffers[-1] else "r") for b in buffers)
    static = [size if size <= 4 and draw(st.booleans()) else None for size in sizes]
    axes = tuple(ir.Axis("map", size) for size in static)
    return ir.Kernel("map", declared, axes, (), stores, len(params)), buffers, sizes, params


def load(buffer: int, order: Any, sizes: Any, params: Any, dtype: str, offset: int) -> ir.Load:
    """The element of a tensor whose dimensions are the axes in another order."""
    strides: list[Any] = [1] * len(sizes)
    step = 1
    for axis in reversed(order):
        strides[axis] = step if step <= 3 else param(params, step)
        step *= sizes[axis]
    where = param(params, offset) if offset else None
    return ir.Load(buffer, ir.Index(tuple(strides), where), dtype)


@given(permutations(), st.sampled_from((1, 3)))
@examples(60)
def test_permuted_maps_agree_with_numpy(problem: Any, cuts: int) -> None:
    kernel, buffers, sizes, params = problem
    verify_kernel.verify(kernel)
    assert ("turn(" in emit.emit(kernel)) == (grain.squares_of(kernel) is not None)
    assert not unread_names(emit.emit(kernel))
    wanted = [b.copy() for b in buffers]
    Evaluation(kernel, wanted, sizes, params).run()
    call(kernel, buffers, sizes, params, cuts)
    for got, want in zip(buffers, wanted):
        compare(got, want, kernel)


@given(permutations())
@examples(10)
def test_front_ends_agree(problem: Any) -> None:
    kernel, buffers, sizes, params = problem
    found = [[b.copy() for b in buffers] for _ in range(2)]
    run(kernel, "reader", found[0], sizes, params)
    run(kernel, "numba", found[1], sizes, params)
    for mine, theirs in zip(*found):
        assert mine.tobytes() == theirs.tobytes(), emit.emit(kernel)


def test_channels_of_pixels_are_read_together() -> None:
    """Of tiles that have all of them, and one by one of others."""
    value = ir.Load(0, ir.Index((ir.Param(0), 1, 3)), "float32")
    store = ir.Store(1, ir.Index((ir.Param(0), ir.Param(1), 1)), value)
    axes = (ir.Axis("map"), ir.Axis("map", 3), ir.Axis("map"))
    buffers = (ir.Buffer("float32", "r"), ir.Buffer("float32", "w"))
    kernel = ir.Kernel("map", buffers, axes, (), (store,), 2)
    assert grain.pixels_of(kernel) == 1 and grain.rows_together(kernel) == 3
    x = np.random.default_rng(0).random((2, 50, 3), np.float32)
    for cuts in (1, 2, 4, 6):
        out = np.zeros((2, 3, 50), np.float32)
        call(kernel, [x, out], [2, 3, 50], [150, 50], cuts)
        np.testing.assert_array_equal(out, x.transpose(0, 2, 1))


def test_what_is_read_along_the_grain_has_no_squares() -> None:
    far = ir.Param(0)
    for strides, is_across in [((far, 1), False), ((1, far), True), ((1, 3), False)]:
        value = ir.Load(0, ir.Index(strides), "float32")
        store = ir.Store(1, ir.Index((far, 1)), value)
        buffers = (ir.Buffer("float32", "r"), ir.Buffer("float32", "w"))
        kernel = ir.Kernel("map", buffers, (ir.Axis("map"),) * 2, (), (store,), 1)
        assert (grain.squares_of(kernel) is not None) == is_across
        assert grain.rows_together(kernel) == (64 if is_across else 1)
