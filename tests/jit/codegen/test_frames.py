# SPDX-License-Identifier: Apache-2.0
"""Emitted texts, read as Python, keep to the frame and to their buffers: in place and in dtype."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given

from numbaflow.jit.codegen import emit, reductions, writer
from numbaflow.jit.kernel import ir, reference, scalar, verify_kernel
from numbaflow.jit.kernel import scalar as k

from ...drawing import examples
from .test_emit import Evaluation, compare, problems

pytestmark = pytest.mark.pure

STEPS = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}


class Memory:
    """A buffer or a block of the frame, with the dtype that it was declared with."""

    def __init__(self, array: np.ndarray, dtype: str) -> None:
        self.array, self.dtype = array, dtype
        self.held = np.dtype(writer.wide(dtype))

    def place(self, i: Any) -> int:
        assert 0 <= i < len(self.array), f"{i} of {len(self.array)}"
        return int(i)

    def load(self, i: Any) -> np.ndarray:
        return self.array[self.place(i)].astype(self.held)

    def store(self, i: Any, value: Any) -> None:
        assert np.asarray(value).dtype == self.held, f"{np.asarray(value).dtype} in {self.dtype}"
        self.array[self.place(i)] = value


def vocabulary() -> dict[str, Any]:
    """The names of jit/codegen/intrinsics.py in NumPy."""

    def one(fn: str) -> Any:
        return lambda *args: np.asarray(scalar.apply(fn, *map(alike, args)))

    def alike(value: Any) -> np.ndarray:
        return np.asarray(value)

    names: dict[str, Any] = {fn: one(fn) for fn in scalar.PRIMITIVES if fn != "cast"}
    names |= {f"accumulate_{name}": step for name, step in STEPS.items()}
    for dtype in scalar.COMPILED_DTYPES:
        held = np.dtype(writer.wide(dtype))
        own = reference.numpy_dtype(dtype)
        names[dtype] = held.type
        names[f"cast_{dtype}"] = lambda x, d=dtype, h=held: scalar.cast(alike(x), d).astype(h)
        names[f"round_{dtype}"] = lambda x, own=own: np.asarray(x).astype(own).astype(np.float32)
        names[f"stack_{dtype}"] = lambda count, own=own, d=dtype: Memory(np.zeros(count, own), d)
    names["lanes"] = lambda first, last, width, vectors: range(first, last)
    return names | {"load": Memory.load, "store": Memory.store}


def check(kernel: ir.Kernel, buffers: list[Any], sizes: list[int], params: list[int]) -> None:
    """Runs a kernel's text as Python and holds what it gives against NumPy's."""
    wanted = [array.copy() for array in buffers]
    Evaluation(kernel, wanted, sizes, params).run()
    memory = [Memory(array, buffer.dtype) for array, buffer in zip(buffers, kernel.buffers)]
    names = vocabulary()
    exec(emit.emit(kernel), names)
    outer = [s for s, a in zip(sizes, kernel.axes) if a.kind != "reduce"]
    columns = 1 if kernel.form == "row" else outer.pop()
    with np.errstate(all="ignore"):
        names["kernel"]([*memory, *sizes, *params], 0, math.prod(outer), 0, columns, 0)
    for got, want in zip(buffers, wanted):
        compare(got, want, kernel)


@given(problems())
@examples(60)
def test_every_access_of_a_text_is_in_its_memory_and_of_its_dtype(problem: Any) -> None:
    kernel, buffers, sizes, params = problem
    assume(math.prod(sizes) <= 600)
    check(kernel, buffers, sizes, params)


@pytest.mark.parametrize("fns", [("argmax", "sum"), ("min", "argmin"), ("argmin", "argmax")])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int16"])
@pytest.mark.parametrize("form", ["row", "column"])
def test_more_rows_and_columns_than_a_block_has(form: str, dtype: str, fns: tuple[str, str]):
    rows, columns = (13, 6) if form == "row" else (3, 2 * reductions.BLOCK + 5)
    load = ir.Load(0, ir.Index((columns, 1)), dtype)
    made = [ir.Reduction(fn, load, "int32" if "arg" in fn else dtype) for fn in fns]
    if form == "row":  # over which it goes twice, so that it keeps a block of results
        first = k.cast(ir.Reduced(0, made[0].dtype), dtype)
        made[1] = ir.Reduction(fns[1], k.sub(load, first), made[1].dtype)
    kinds = ("map", "reduce") if form == "row" else ("reduce", "map")
    place = ir.Index((1, 0) if form == "row" else (0, 1))
    stores = [ir.Store(n + 1, place, ir.Reduced(n, r.dtype)) for n, r in enumerate(made)]
    buffers = [ir.Buffer(dtype, "r"), *(ir.Buffer(r.dtype, "w") for r in made)]
    kernel = ir.Kernel(
        form, tuple(buffers), tuple(map(ir.Axis, kinds)), tuple(made), tuple(stores), 0
    )
    count = rows if form == "row" else columns
    results = [np.zeros(count, reference.numpy_dtype(r.dtype)) for r in made]
    data = np.random.default_rng(2).integers(-9, 9, rows * columns)
    x = data.astype(reference.numpy_dtype(dtype))
    verify_kernel.verify(kernel)
    check(kernel, [x, *results], [rows, columns], [])
