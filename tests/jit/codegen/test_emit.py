# SPDX-License-Identifier: Apache-2.0
"""Compiled kernels against NumPy's evaluation of the same IR; kernels are drawn at random."""

from __future__ import annotations

import ast
import ctypes
import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numbaflow.jit.codegen import compile as compiler
from numbaflow.jit.codegen import emit, reductions, writer
from numbaflow.jit.kernel import ir, reference, verify_kernel
from numbaflow.jit.kernel import scalar as k
from numbaflow.jit.kernel.ir_text import digest, text_of

from ...drawing import examples

pytestmark = pytest.mark.cpu

_REDUCE = {
    "sum": np.sum,
    "prod": np.prod,
    "max": np.max,
    "min": np.min,
    "any": np.any,
    "all": np.all,
}


class Evaluation:
    """A kernel computed on the whole grid of its axes at once."""

    def __init__(
        self, kernel: ir.Kernel, buffers: list[Any], sizes: list[int], params: list[int]
    ) -> None:
        self.kernel, self.buffers, self.params, self.sizes = kernel, buffers, params, sizes
        self.grid = np.indices(sizes, dtype=np.int64) if sizes else []
        self.reduce = tuple(n for n, a in enumerate(kernel.axes) if a.kind == "reduce")
        self.valid = np.ones(sizes, bool)
        for n, axis in enumerate(kernel.axes):
            if axis.kind == "chunk":
                low = self.grid[n] * params[axis.length.slot]
                position = self.grid[axis.of]
                self.valid &= (position >= low) & (position < low + params[axis.length.slot])
        self.reduced: list[Any] = []
        self.known: dict[Any, Any] = {}

    def value(self, node: Any) -> Any:
        if node not in self.known:
            self.known[node] = self.compute(node)
        return self.known[node]

    def compute(self, node: Any) -> Any:
        match node:
            case ir.Const(value=value, dtype=dtype):
                return np.asarray(value, reference.numpy_dtype(dtype))
            case ir.AxisIndex(axis=axis):
                return self.grid[axis]
            case ir.Param(slot=slot):
                return np.asarray(self.params[slot], np.int64)
            case ir.Load(buffer=buffer, index=index):
                return self.buffers[buffer][self.offsets(index)]
            case ir.Apply(fn="cast", args=(x,), dtype=dtype):
                return k.cast(self.value(x), dtype)
            case ir.Apply(fn=fn, args=args):
                return k.apply(fn, *map(self.value, args))
            case ir.Reduced(reduction=number):
                return self.reduced[number]
        raise TypeError(node)

    def offsets(self, index: ir.Index) -> Any:
        total = np.zeros(self.sizes, np.int64)
        for axis, stride in enumerate(index.strides):
            total = total + self.grid[axis] * (
                self.params[stride.slot] if isinstance(stride, ir.Param) else stride
            )
        return np.where(
            self.valid, total + (0 if index.offset is None else self.value(index.offset)), 0
        )

    def reduction(self, reduction: ir.Reduction) -> Any:
        value = np.broadcast_to(self.value(reduction.value), self.sizes)
        if reduction.fn.startswith("arg"):
            (axis,) = self.reduce
            found = np.expand_dims(getattr(np, reduction.fn)(value, axis), axis)
            return found.astype(reduction.dtype)
        wide = np.float32 if reduction.dtype in ("float16", "bfloat16") else value.dtype
        start = reductions.identity(reduction.fn, writer.wide(reduction.dtype)).value
        value = np.where(self.valid, value.astype(wide), np.asarray(start).astype(wide))
        with np.errstate(all="ignore"):
            total = _REDUCE[reduction.fn](value, axis=self.reduce, keepdims=True)
        return total.astype(reference.numpy_dtype(reduction.dtype))

    def run(self) -> None:
        for reduction in self.kernel.reductions:
            self.reduced.append(self.reduction(reduction))
        for store in self.kernel.stores:
            value = np.broadcast_to(self.value(store.value), self.sizes)
            where = self.offsets(store.index)
            self.buffers[store.buffer][where[self.valid]] = value[self.valid]


def call(
    kernel: ir.Kernel, buffers: list[Any], sizes: list[int], params: list[int], cuts: int = 1
) -> None:
    """Runs the compiled kernel, rows and columns cut into tiles."""
    tiles(compiler.compile_kernel(kernel).address, kernel, buffers, sizes, params, cuts)


def tiles(
    address: int,
    kernel: ir.Kernel,
    buffers: list[Any],
    sizes: list[int],
    params: list[int],
    cuts: int,
) -> None:
    """Runs machine code of a kernel, rows and columns cut into tiles."""
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p, *[ctypes.c_int64] * 5)(address)
    block = np.array([*(b.ctypes.data for b in buffers), *sizes, *params], np.int64)
    outer = [s for s, a in zip(sizes, kernel.axes) if a.kind != "reduce"]
    columns = 1 if kernel.form == "row" else outer.pop()
    rows = math.prod(outer)
    for r in range(0, rows, max(1, -(-rows // cuts))):
        for c in range(0, columns, max(1, -(-columns // cuts))):
            last = (
                min(r + max(1, -(-rows // cuts)), rows),
                min(c + max(1, -(-columns // cuts)), columns),
            )
            function(block.ctypes.data, r, last[0], c, last[1], 0)


FLOATS = ("float32", "float64", "float16", "bfloat16")
UNARY = ("neg", "abs", "square", "exp", "tanh", "sigmoid", "sin", "erf", "floor", "sign", "log1p")
BINARY = ("add", "sub", "mul", "maximum", "minimum")
INTEGER = (
    "floordiv",
    "floormod",
    "truncatediv",
    "truncatemod",
    "left_shift",
    "right_shift",
    "bitwise_xor",
)


def numbers(rng: np.random.Generator, count: int, dtype: str) -> Any:
    if dtype == "bool":
        return rng.random(count) < 0.5
    if k.kind_of(dtype) == "f":
        return rng.uniform(0.1, 2, count).astype(reference.numpy_dtype(dtype))
    return rng.integers(0 if dtype.startswith("u") else -9, 9, count).astype(dtype)


@st.composite
def expressions(draw: Any, leaves: list[Any], dtype: str, depth: int = 3) -> Any:
    if depth == 0 or draw(st.booleans()):
        return draw(st.sampled_from(leaves))
    x = draw(expressions(leaves, dtype, depth - 1))
    y = draw(expressions(leaves, dtype, depth - 1))
    is_float = k.kind_of(dtype) == "f"
    kind = draw(st.sampled_from(("unary", "binary", "select", "index")))
    if kind == "select":
        return k.select(k.lt(x, y), x, k.mul(y, 2))
    if kind == "index":
        return k.add(
            x, k.cast(ir.AxisIndex(draw(st.integers(0, len(AXES_OF[id(leaves)]) - 1))), dtype)
        )
    if kind == "unary":
        names = UNARY if is_float else ("neg", "abs", "square", "sign")
        value = getattr(k, draw(st.sampled_from(names)))(x)
        return k.minimum(value, 3) if is_float else value
    return getattr(k, draw(st.sampled_from(BINARY if is_float else BINARY + INTEGER)))(x, y)


AXES_OF: dict[int, list[int]] = {}


@st.composite
def problems(draw: Any) -> Any:
    """(kernel, buffers, sizes, params): a random kernel with buffers that fit it."""
    form = draw(st.sampled_from(("map", "row", "column")))
    outer = draw(st.integers(0, 2))
    reduces = 0 if form == "map" else draw(st.integers(1, 2))
    kinds = ["map"] * outer + ["reduce"] * reduces + (["map"] if form != "row" else [])
    sizes = [draw(st.sampled_from((1, 2, 3, 5, 17, 40))) for _ in kinds]
    if form != "row":
        sizes[-1] = draw(st.sampled_from((1, 7, 33, 150)))
    static = [draw(st.sampled_from((None, None, size))) for size in sizes]
    axes = tuple(ir.Axis(kind, size) for kind, size in zip(kinds, static))
    dtype = draw(st.sampled_from((*FLOATS, "int32", "int64", "uint8", "float32")))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    params: list[int] = []
    leaves: list[Any] = [k.const(1.5 if k.kind_of(dtype) == "f" else 3, dtype)]
    buffers, declared = [], []
    for n in range(draw(st.integers(1, 3))):
        strides = _strides(
            draw,
            sizes,
            [draw(st.booleans()) or i == len(sizes) - 1 for i in range(len(sizes))],
            params,
        )
        buffers.append(numbers(rng, math.prod(sizes) + 5, dtype))
        declared.append(ir.Buffer(dtype, "r"))
        leaves.append(ir.Load(n, ir.Index(strides), dtype))
    AXES_OF[id(leaves)] = sizes
    reductions: list[ir.Reduction] = []
    for _ in range(draw(st.integers(1, 2)) if reduces else 0):
        fns = ["sum", "max", "min"] + (["argmax", "argmin"] if reduces == 1 else [])
        fn = draw(st.sampled_from(fns))
        usable = leaves + [
            ir.Reduced(i, r.dtype)
            for i, r in enumerate(reductions)
            if form == "row" and r.dtype == dtype
        ]
        AXES_OF[id(usable)] = sizes
        value = draw(expressions(usable, dtype, 2))
        position = draw(st.sampled_from(("int64", "int32")))
        reductions.append(ir.Reduction(fn, value, position if fn.startswith("arg") else dtype))
    keep = [kind == "map" for kind in kinds]
    stores = []
    for full in ([False] if form != "map" else [True]) + ([True] if draw(st.booleans()) else []):
        number = len(buffers)
        results = [ir.Reduced(i, r.dtype) for i, r in enumerate(reductions)]
        if full:
            same = leaves + [r for r in results if r.dtype == dtype]
            AXES_OF[id(same)] = sizes
            value = draw(expressions(same, dtype, 3))
        else:
            value = draw(st.sampled_from(results))
            value = k.neg(value) if value.dtype == "float32" else value
        strides = _strides(draw, sizes, [True] * len(sizes) if full else keep, params)
        buffers.append(np.zeros(math.prod(sizes) + 5, reference.numpy_dtype(value.dtype)))
        declared.append(ir.Buffer(value.dtype, "w"))
        stores.append(ir.Store(number, ir.Index(strides), value))
    kernel = ir.Kernel(form, tuple(declared), axes, tuple(reductions), tuple(stores), len(params))
    return kernel, buffers, sizes, params


def _strides(draw: Any, sizes: list[int], used: list[bool], params: list[int]) -> tuple[Any, ...]:
    strides: list[Any] = []
    step = 1
    for size, use in reversed(list(zip(sizes, used))):
        if not use:
            strides.append(0)
            continue
        if step == 1 or draw(st.booleans()):
            strides.append(step)
        else:
            params.append(step)
            strides.append(ir.Param(len(params) - 1))
        step *= size
    return tuple(reversed(strides))


@given(problems(), st.sampled_from((1, 3)))
@examples(60)
def test_compiled_kernels_agree_with_numpy(problem: Any, cuts: int) -> None:
    kernel, buffers, sizes, params = problem
    verify_kernel.verify(kernel)
    assert not unread_names(emit.emit(kernel))
    wanted = [b.copy() for b in buffers]
    Evaluation(kernel, wanted, sizes, params).run()
    call(kernel, buffers, sizes, params, cuts)
    for got, want in zip(buffers, wanted):
        compare(got, want, kernel)


def unread_names(source: str) -> set[str]:
    """Values that a source computes and nobody uses."""
    names = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)]
    written = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    unread = written - {node.id for node in names if isinstance(node.ctx, ast.Load)}
    return {name for name in unread if name.startswith("v")}


def compare(got: Any, want: Any, kernel: ir.Kernel) -> None:
    name = got.dtype.name
    if k.kind_of(name) != "f":
        np.testing.assert_array_equal(got, want, err_msg=emit.emit(kernel))
        return
    tolerance = {"float16": 4e-3, "bfloat16": 3e-2, "float32": 2e-5, "float64": 1e-12}[name]
    np.testing.assert_allclose(
        got.astype(np.float64),
        want.astype(np.float64),
        rtol=tolerance,
        atol=tolerance,
        err_msg=emit.emit(kernel),
    )


@pytest.mark.parametrize("form", ("row", "column"))
@pytest.mark.parametrize("fn", ("sum", "max", "argmax", "argmax as int32"))
def test_chunks_reduce_pieces_of_an_axis(form: str, fn: str) -> None:
    size, length, columns = 1000, 64, 30
    pieces = -(-size // length)
    chunk = ir.Axis("chunk", None, of=1, length=ir.Param(0))
    inner = (ir.Axis("map"),) if form == "column" else ()
    strides = (0, columns, 1)[: 2 + len(inner)] if form == "column" else (0, 1)
    load = ir.Load(0, ir.Index(strides), "float32")
    fn, _, given = fn.partition(" as ")
    dtype = given or ("int64" if fn.startswith("arg") else "float32")
    out = ir.Index((columns, 0, 1) if form == "column" else (1, 0))
    kernel = ir.Kernel(
        form,
        (ir.Buffer("float32", "r"), ir.Buffer(dtype, "w")),
        (chunk, ir.Axis("reduce"), *inner),
        (ir.Reduction(fn, load, dtype),),
        (ir.Store(1, out, ir.Reduced(0, dtype)),),
        1,
    )
    width = columns if form == "column" else 1
    x = np.random.default_rng(0).standard_normal((size, width)).astype(np.float32)
    y = np.zeros((pieces, width), dtype)
    call(kernel, [x, y], [pieces, size, width][: 2 + len(inner)], [length], cuts=3)
    for p in range(pieces):
        piece = x[p * length : (p + 1) * length]
        want = getattr(np, fn)(piece, 0) + (p * length if fn.startswith("arg") else 0)
        np.testing.assert_allclose(y[p], want, rtol=1e-5, atol=1e-5)


def test_gather_reads_through_an_index() -> None:
    index = k.mul(k.cast(ir.Load(1, ir.Index((1, 0)), "int32"), "int64"), 7)
    load = ir.Load(0, ir.Index((0, 1), index), "float64")
    kernel = ir.Kernel(
        "map",
        (ir.Buffer("float64", "r"), ir.Buffer("int32", "r"), ir.Buffer("float64", "w")),
        (ir.Axis("map"), ir.Axis("map", 7)),
        (),
        (ir.Store(2, ir.Index((7, 1)), load),),
        0,
    )
    table = np.arange(70, dtype=np.float64)
    rows = np.array([3, 9, 0, 3], np.int32)
    out = np.zeros((4, 7))
    call(kernel, [table, rows, out], [4, 7], [])
    np.testing.assert_array_equal(out, table.reshape(10, 7)[rows])


def test_max_and_argmax_pass_over_nan() -> None:
    load = ir.Load(0, ir.Index((0, 1)), "float32")
    kernel = ir.Kernel(
        "row",
        (ir.Buffer("float32", "r"), ir.Buffer("float32", "w"), ir.Buffer("int64", "w")),
        (ir.Axis("map"), ir.Axis("reduce")),
        (ir.Reduction("max", load, "float32"), ir.Reduction("argmax", load, "int64")),
        (
            ir.Store(1, ir.Index((0, 0)), ir.Reduced(0, "float32")),
            ir.Store(2, ir.Index((0, 0)), ir.Reduced(1, "int64")),
        ),
        0,
    )
    x = np.array([np.nan, 1, 5, np.nan, 5, 2] * 40, np.float32)
    top, where = np.zeros(1, np.float32), np.zeros(1, np.int64)
    call(kernel, [x, top, where], [1, x.size], [])
    assert top[0] == 5 and where[0] == 2


def test_empty_axes_touch_nothing_or_give_the_identity() -> None:
    load = ir.Load(0, ir.Index((ir.Param(0), 1)), "float32")
    kernel = ir.Kernel(
        "row",
        (ir.Buffer("float32", "r"), ir.Buffer("float32", "w")),
        (ir.Axis("map"), ir.Axis("reduce")),
        (ir.Reduction("sum", load, "float32"),),
        (ir.Store(1, ir.Index((1, 0)), ir.Reduced(0, "float32")),),
        1,
    )
    out = np.full(3, 7, np.float32)
    call(kernel, [np.zeros(1, np.float32), out], [3, 0], [0])
    assert (out == 0).all()


def test_digest_is_linear_in_shared_nodes_and_stable() -> None:
    value = ir.Load(0, ir.Index((1,)), "float32")
    for _ in range(300):
        value = k.mul(value, value)
    kernel = ir.Kernel(
        "map",
        (ir.Buffer("float32", "rw"),),
        (ir.Axis("map"),),
        (),
        (ir.Store(0, ir.Index((1,)), value),),
        0,
    )
    assert len(json.loads(text_of(kernel))) < 320
    small = ir.Kernel("map", (ir.Buffer("float32", "rw"),), (ir.Axis("map"),), (), (), 0)
    assert digest(small) == "df5f5feef5548f445488f6a6185702f4"


@pytest.mark.parametrize("dtype", ("float32", "float64", "float16"))
@pytest.mark.parametrize("size", (None, 8))
def test_softmax_computes_each_exponential_once(dtype: str, size: int | None) -> None:
    rows, columns = 13, size or 300
    at = ir.Index((columns if size else ir.Param(0), 1))
    x = ir.Load(0, at, dtype)
    shifted = k.sub(x, ir.Reduced(0, dtype))
    power = k.exp(shifted)
    kernel = ir.Kernel(
        "row",
        (ir.Buffer(dtype, "r"), ir.Buffer(dtype, "w"), ir.Buffer(dtype, "w")),
        (ir.Axis("map"), ir.Axis("reduce", size)),
        (ir.Reduction("max", x, dtype), ir.Reduction("sum", power, dtype)),
        (
            ir.Store(1, at, k.div(power, ir.Reduced(1, dtype))),
            ir.Store(2, at, k.sub(shifted, k.log(ir.Reduced(1, dtype)))),
        ),
        1,
    )
    if size is None and dtype != "float16":
        # In each of two loops, one behind the other.
        assert emit.emit(kernel).count("exp(") == 2
    verify_kernel.verify(kernel)
    assert not unread_names(emit.emit(kernel))
    real = reference.numpy_dtype(dtype)
    values = np.random.default_rng(1).standard_normal((rows, columns)).astype(real)
    buffers = [values, np.zeros_like(values), np.zeros_like(values)]
    call(kernel, buffers, [rows, columns], [columns])
    wide = values.astype(np.float64)
    want = np.exp(wide - wide.max(1, keepdims=True))
    want /= want.sum(1, keepdims=True)
    tolerance = {"float16": 5e-3, "float32": 1e-5, "float64": 1e-13}[dtype]
    np.testing.assert_allclose(buffers[1], want, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(buffers[2], np.log(want), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("sizes, static", [((7, 5), (None, None)), ((9, 2), (None, 2))])
def test_short_rows_on_several_axes_are_turns_of_a_plain_loop(
    sizes: tuple[int, int], static: tuple[int | None, int | None]
) -> None:
    x = ir.Load(0, ir.Index((ir.Param(0), 3, 1)), "float32")
    axes = (*(ir.Axis("map", size) for size in static), ir.Axis("reduce", 3))
    kernel = ir.Kernel(
        "row",
        (ir.Buffer("float32", "r"), ir.Buffer("float32", "w")),
        axes,
        (ir.Reduction("sum", k.mul(x, x), "float32"),),
        (ir.Store(1, ir.Index((ir.Param(1), 1, 0)), k.sqrt(ir.Reduced(0, "float32"))),),
        2,
    )
    verify_kernel.verify(kernel)
    loops = [n for n in ast.walk(ast.parse(emit.emit(kernel))) if isinstance(n, ast.For)]
    # Nothing is counted where a row is computed, so that LLVM may take several rows at a time.
    inner = next(loop for loop in loops if any(isinstance(n, ast.For) for n in loop.body[-3:]))
    turns = next(loop for loop in loops if "sqrt" in ast.unparse(loop) and loop is not inner)
    assert not any(isinstance(n, (ast.If, ast.AugAssign)) for n in ast.walk(turns))
    values = np.random.default_rng(0).standard_normal((*sizes, 3)).astype(np.float32)
    found = np.zeros(sizes, np.float32)
    call(kernel, [values, found], [*sizes, 3], [sizes[1] * 3, sizes[1]], cuts=3)
    np.testing.assert_allclose(found, np.linalg.norm(values, axis=-1), rtol=1e-6)
