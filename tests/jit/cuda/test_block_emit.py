# SPDX-License-Identifier: Apache-2.0
"""CUDA kernels against NumPy's evaluation of the same IR, by one thread and under the simulator."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given

from numbaflow.jit import target
from numbaflow.jit.codegen import compile as compiler
from numbaflow.jit.codegen import llvm
from numbaflow.jit.cuda import ptx
from numbaflow.jit.cuda.cuda_kernel import kernel_text
from numbaflow.jit.cuda.launching import extents
from numbaflow.jit.kernel import ir
from numbaflow.jit.kernel import scalar as k

from ...drawing import examples
from ..codegen.test_emit import Evaluation, compare, problems, tiles, unread_names

pytestmark = pytest.mark.cpu


@given(problems())
@examples(40)
def test_random_kernels_by_one_thread(problem: Any) -> None:
    kernel, buffers, sizes, params = problem
    text = kernel_text(kernel)
    assert not unread_names(text.source)
    module = llvm.finished(str(ptx.module_alone(text.source, text.symbol)), target.current())
    code = llvm.object_code(module, target.current())
    wanted = [b.copy() for b in buffers]
    Evaluation(kernel, wanted, sizes, params).run()
    tiles(compiler.load_object(code, text.symbol), kernel, buffers, sizes, params, 1)
    for got, want in zip(buffers, wanted):
        compare(got, want, kernel)


@pytest.mark.process
def test_random_kernels_under_the_simulator(request: pytest.FixtureRequest) -> None:
    """Barriers, shared memory and what warps exchange, by blocks of many shapes."""
    count = 300 if request.config.getoption("--deep") else 15
    done = subprocess.run(
        [sys.executable, "-m", "numbaflow.tests.jit.cuda.simulated_cases", str(count)],
        env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1"},
        capture_output=True,
        text=True,
        timeout=60 + 10 * count,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > count // 2


def summed(form: str) -> ir.Kernel:
    """Sums of rows, or of columns, of the exponentials of a matrix."""
    is_row = form == "row"
    strides = (ir.Param(0), 1) if is_row else (0, ir.Param(0), 1)
    value = k.exp(ir.Load(0, ir.Index(strides), "float32"))
    kinds = ("map", "reduce") if is_row else ("map", "reduce", "map")
    place = ir.Index((1, 0) if is_row else (0, 0, 1))
    return ir.Kernel(
        form,
        (ir.Buffer("float32", "r"), ir.Buffer("float32", "w")),
        tuple(map(ir.Axis, kinds)),
        (ir.Reduction("sum", value, "float32"),),
        (ir.Store(1, place, ir.Reduced(0, "float32")),),
        1,
    )


def test_lanes_of_a_row_share_it_and_meet() -> None:
    text = kernel_text(summed("row"))
    assert "for i1 in range(lane(), n1, lanes()):" in text.source
    assert "shuffled(a0, 16)" in text.source and "barrier()" in text.source
    code = ptx.ptx(text)
    assert "shfl.sync.bfly" in code and "bar.sync" in code and ".shared" in code


def test_lanes_take_columns_side_by_side_and_layers_share_them() -> None:
    text = kernel_text(summed("column"))
    assert "column = first + lane()" in text.source
    assert "for i1 in range(layer(), n1, layers()):" in text.source
    assert "bar.sync" in ptx.ptx(text)
    # What is only read goes through the cache for constants.
    assert "ld.global.nc" in ptx.ptx(text)


def test_layers_share_the_columns_of_few_results() -> None:
    bias = extents("column", 1, 64, 64 * 2000)
    assert (bias.lanes, bias.lines, bias.layers) == (32, 1, 8)
    wide = extents("column", 64, 1 << 16, (1 << 22) * 100)
    assert wide.layers == 1 and wide.lanes * wide.lines == 256
    short = extents("column", 1, 10, 10 * 4)
    assert short.layers == 1
