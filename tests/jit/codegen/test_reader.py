# SPDX-License-Identifier: Apache-2.0
"""Generated texts compiled by the reader and by Numba: the same bits."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numbaflow.jit import target
from numbaflow.jit.codegen import compile as compiler
from numbaflow.jit.codegen import emit, llvm, reader
from numbaflow.jit.kernel import ir
from numbaflow.jit.kernel import scalar as k
from numbaflow.jit.kernel.ir_text import digest

from ...drawing import examples
from .test_emit import problems, tiles

pytestmark = pytest.mark.cpu

HEAD = "BUFFERS = ('float32', 'int32')\nk0 = float32(1.5)\n\n\n"
HEAD += "def kernel(args, r0, r1, c0, c1, worker):\n"


def by_reader(source: str, symbol: str) -> str:
    return llvm.lowered(source, symbol, target.current())


def by_numba(source: str, symbol: str) -> str:
    from numbaflow.jit.codegen import library_code

    return llvm.finished(library_code.module(source, symbol, is_generated=True), target.current())


def by_numba_intrinsic(source: str, symbol: str) -> str:
    """A Numba function whose whole body is one intrinsic, which the reader writes."""
    from numba import types
    from numba.extending import intrinsic

    from numbaflow.jit.codegen import library_code

    @intrinsic
    def whole(
        typing_context: Any, args: Any, r0: Any, r1: Any, c0: Any, c1: Any, worker: Any
    ) -> Any:
        def lower(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            reader.write(builder, source, values)
            return context.get_dummy_value()

        return types.void(args, *[types.intp] * 5), lower

    text = "def kernel(args, r0, r1, c0, c1, worker):\n    whole(args, r0, r1, c0, c1, worker)\n"
    text = source[: source.index("\n") + 1] + text
    return llvm.finished(
        library_code.module(text, symbol, names={"whole": whole}), target.current()
    )


FRONT_ENDS = {"reader": by_reader, "numba": by_numba, "intrinsic": by_numba_intrinsic}


def run(kernel: ir.Kernel, front_end: str, buffers: list[Any], sizes: Any, params: Any) -> None:
    symbol = f"{front_end}_{digest(kernel)}"
    if symbol not in ADDRESSES:
        text = FRONT_ENDS[front_end](emit.emit(kernel), symbol)
        code = llvm.object_code(text, target.current())
        ADDRESSES[symbol] = compiler.load_object(code, symbol)
    tiles(ADDRESSES[symbol], kernel, buffers, sizes, params, 2)


ADDRESSES: dict[str, int] = {}


@given(problems(), st.sampled_from(("numba", "numba", "intrinsic")))
@examples(40)
def test_random_kernels(problem: Any, other: str) -> None:
    kernel, buffers, sizes, params = problem
    found = [[b.copy() for b in buffers] for _ in range(2)]
    run(kernel, "reader", found[0], sizes, params)
    run(kernel, other, found[1], sizes, params)
    for mine, theirs in zip(*found):
        if "lanes(" in emit.emit(kernel):  # whose order Numba's loops do not have
            np.testing.assert_allclose(mine.astype(float), theirs.astype(float), 1e-3, 1e-3)
        else:
            assert mine.tobytes() == theirs.tobytes(), emit.emit(kernel)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("form", ["row", "column"])
def test_long_sums(form: str, dtype: str) -> None:
    """Those of rows have an order that loops of Numba's do not keep to."""
    rng = np.random.default_rng(0)
    strides = (ir.Param(0), 1) if form == "row" else (1, ir.Param(0))
    x = ir.Load(0, ir.Index(strides if form == "row" else (0, *strides[::-1])), dtype)
    kinds = ("map", "reduce") if form == "row" else ("map", "reduce", "map")
    sums = (ir.Reduction("sum", x, dtype), ir.Reduction("sum", k.mul(x, x), dtype))
    outputs = tuple(
        ir.Store(n + 1, ir.Index((1, 0) if form == "row" else (0, 0, 1)), ir.Reduced(n, dtype))
        for n in range(2)
    )
    buffers = (ir.Buffer(dtype, "r"), ir.Buffer(dtype, "w"), ir.Buffer(dtype, "w"))
    kernel = ir.Kernel(form, buffers, tuple(map(ir.Axis, kinds)), sums, outputs, 1)
    data = rng.standard_normal((37, 1001)).astype(dtype)
    sizes = [37, 1001] if form == "row" else [1, 37, 1001]
    results = {}
    for name in FRONT_ENDS:
        found = [np.zeros(sizes[0] if form == "row" else 1001, dtype) for _ in range(2)]
        run(kernel, name, [data, *found], sizes, [1001])
        results[name] = found[0].tobytes() + found[1].tobytes()
    np.testing.assert_allclose(found[0], data.sum(1 if form == "row" else 0), rtol=1e-3, atol=1e-3)
    if form == "column":
        assert results["reader"] == results["numba"] == results["intrinsic"]
    for other in ("numba", "intrinsic"):
        np.testing.assert_allclose(
            *(np.frombuffer(results[n], dtype) for n in ("reader", other)), 1e-4, 1e-4
        )


def column(size: int | None) -> ir.Kernel:
    """A sum of rectified values, which are stored as well, over an axis of a size."""
    at = ir.Index((ir.Param(0), ir.Param(1), 1))
    value = k.maximum(ir.Load(0, at, "float32"), 0.0)
    axes = (ir.Axis("map"), ir.Axis("reduce", size), ir.Axis("map"))
    total = ir.Store(2, ir.Index((ir.Param(1), 0, 1)), ir.Reduced(0, "float32"))
    buffers = (ir.Buffer("float32", "r"), *[ir.Buffer("float32", "w")] * 2)
    sums = (ir.Reduction("sum", value, "float32"),)
    return ir.Kernel("column", buffers, axes, sums, (ir.Store(1, at, value), total), 2)


def machine_code(kernel: ir.Kernel) -> bytes:
    return llvm.object_code(by_reader(emit.emit(kernel), "k"), target.current())


def test_nests_are_not_copied_for_every_position_of_an_axis() -> None:
    """Vector loops within a loop of eight turns are as many as within one of any length."""
    assert len(machine_code(column(8))) < 1.3 * len(machine_code(column(None)))


def test_innermost_loops_are_vectors() -> None:
    text = llvm.assembly(by_reader(emit.emit(column(None)), "k"), target.current())
    lanes = target.current().lanes(4)
    register = {16: "zmm", 8: "ymm", 4: "xmm"}[lanes]
    assert re.search(rf"v?addps.*%{register}", text) or "x86" not in target.current().triple


@pytest.mark.parametrize(
    "line, message",
    [
        ("while r0: store(args[1], 0, r1)", "While is no part of generated kernels"),
        ("x = r0 if r1 else c0", "IfExp is no part of generated kernels"),
        ("store(args[0], unknown, k0)", "unknown: it is assigned nowhere before"),
        ("open(r0)", "open of 1 arguments: there is no such word"),
        ("load(args[0], 0, r1)", "load of 3 arguments: there is no such word"),
        ("r2 = r0 + k0", "add of float32: this is arithmetic of whole numbers"),
        (
            "for i in range(k0): store(args[0], i, k0)",
            "range of float32: this is arithmetic of whole numbers",
        ),
        ("x = k0; x = r0", "x of float32, int64: a name has one kind"),
        ("x = r0[0]", "element of int64: only the argument block has any"),
    ],
)
def test_what_is_no_generated_text(line: str, message: str) -> None:
    with pytest.raises(llvm.Untyped, match=re.escape(message)) as raised:
        by_reader(HEAD + f"    {line}\n", "k")
    assert "in line 6: " in str(raised.value)


def test_generated_kernels_do_not_load_numba() -> None:
    """It takes longer to import than most kernels take to compile."""
    program = (
        "import sys\n"
        "from numbaflow.jit import target\n"
        "from numbaflow.jit.codegen import llvm\n"
        f"source = {HEAD + '    store(args[0], r0, mul(load(args[0], r0), k0))'!r}\n"
        "text = llvm.lowered(source, 'k', target.current())\n"
        "assert llvm.object_code(text, target.current())\n"
        "print('numba' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("False\n", "")
