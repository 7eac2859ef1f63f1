# SPDX-License-Identifier: Apache-2.0
"""PTX of kernels: which there is of, and machine code of it where NVIDIA's assembler is."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from numbaflow.engine import settings
from numbaflow.jit.codegen.words import Unfit
from numbaflow.jit.cuda import ptx
from numbaflow.jit.cuda.cuda_kernel import Capability, KernelText, kernel_text
from numbaflow.jit.cuda.device_plan import Launch
from numbaflow.jit.kernel import ir
from numbaflow.jit.kernel import scalar as k
from numbaflow.jit.library import closed_set
from numbaflow.jit.library.block_convolution import block_convolution
from numbaflow.jit.library.block_product import block_product
from numbaflow.jit.library.computed import Convolution

from ...drawing import examples
from ..codegen.test_emit import problems
from . import programs

pytestmark = pytest.mark.cpu

CARDS = [Capability(8, 0), Capability(9, 0), Capability(10, 0)]
# Of these the library's kernels are called by others or have plain forms on a device.
WITHOUT = {
    *("tiles", "avg_pool", "avg_pool_gradient", "max_pool", "max_pool_gradient"),
    *("max_pool_places", "records", "texts_write", "unpool"),
    *("depthwise", "depthwise_filter_gradient", "depthwise_input_gradient"),
    *("bundle_entries", "bundle_numbers", "bundle_texts"),
}


def assembler() -> str | None:
    """The path of ptxas: on the PATH, or of the package nvidia-cuda-nvcc."""
    found = shutil.which("ptxas")
    spec = importlib.util.find_spec("nvidia")
    for place in (spec and spec.submodule_search_locations) or ():
        found = found or next((str(p) for p in Path(place).glob("*/bin/ptxas")), None)
    return found


def assembled(code: str, capability: Capability, folder: Path) -> dict[str, int]:
    """What the assembler tells of a kernel: registers and bytes spilled."""
    path = assembler()
    if path is None:
        pytest.skip("ptxas is not there (package nvidia-cuda-nvcc)")
    file = folder / "kernel.ptx"
    file.write_text(code)
    done = subprocess.run(
        [path, "-v", f"-arch={capability.name}", str(file), "-o", str(folder / "kernel.cubin")],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    spills = re.findall(r"(\d+) bytes spill", done.stderr)
    return {
        "registers": int(re.findall(r"Used (\d+) registers", done.stderr)[0]),
        "spilled": sum(map(int, spills)),
    }


@given(problems())
@examples(30)
def test_every_generated_kernel_has_ptx(problem: Any) -> None:
    code = ptx.ptx(kernel_text(problem[0]))
    assert ".visible .entry" in code and ".extern" not in code


def _single(name: str, dtype: str) -> ir.Kernel:
    primitive = k.PRIMITIVES[name]
    inputs = [ir.Load(n, ir.Index((1,)), dtype) for n in range(primitive.arity)]
    if primitive.result == "branch":
        inputs[0] = k.lt(inputs[1], inputs[2])
    value = k.cast(inputs[0], "int32") if name == "cast" else k.apply(name, *inputs)
    buffers = [ir.Buffer(dtype, "r")] * primitive.arity + [ir.Buffer(value.dtype, "w")]
    store = ir.Store(primitive.arity, ir.Index((1,)), value)
    return ir.Kernel("map", tuple(buffers), (ir.Axis("map"),), (), (store,), 0)


# (float64's remainders and lgamma are C's library's.)
@pytest.mark.parametrize(
    ("dtype", "missing"), [("float32", ""), ("float64", "floormod truncatemod lgamma")]
)
def test_every_function_has_ptx_but_for_what_only_a_library_has(dtype: str, missing: str) -> None:
    without = set()
    for name in k.PRIMITIVES:
        if k.supports(name, dtype) and "b" not in k.PRIMITIVES[name].kinds[:1]:
            try:
                ptx.ptx(kernel_text(_single(name, dtype)))
            except Unfit:
                without.add(name)
    assert without == set(missing.split())


def test_what_only_a_library_has_is_said() -> None:
    with pytest.raises(Unfit, match="lgamma: a GPU has no such function"):
        ptx.ptx(kernel_text(_single("lgamma", "float64")))


def _samples(step: int) -> Iterator[KernelText]:
    names: dict[str, int] = {}
    for kernel in closed_set.kernels():
        if kernel.parts or kernel.name in WITHOUT:
            continue
        names[kernel.name] = names.get(kernel.name, -1) + 1
        if names[kernel.name] % step == 0:
            yield kernel_text(kernel)


def test_library_kernels_have_ptx() -> None:
    count = 0
    for text in _samples(12):
        code = ptx.ptx(text)
        assert f".entry {text.symbol}(" in code and ".extern" not in code
        count += 1
    assert count > 40


@pytest.mark.parametrize("capability", CARDS, ids=lambda c: c.name)
def test_training_steps_assemble_without_spilling(capability: Capability, tmp_path: Path) -> None:
    with settings.override(gpu="emulated", jit="always"):
        _, gpu = programs.results("pictures")
    texts: Sequence[KernelText] = list(
        {
            row.text.symbol: row.text
            for arena in gpu.arenas(None)
            for run in arena.runs.values()
            for row in run.plan.rows
            if isinstance(row, Launch)
        }.values()
    )
    assert len(texts) > 20
    for text in texts:
        told = assembled(ptx.ptx(text, capability), capability, tmp_path)
        assert told["registers"] <= 255
        assert text.form == "library" or told["spilled"] == 0, text.source


@pytest.mark.parametrize("capability", CARDS, ids=lambda c: c.name)
def test_rows_of_many_values_do_not_spill(capability: Capability, tmp_path: Path) -> None:
    """Two passes over a row, and functions of what they find, of more values than is usual."""
    row, one = ir.Index((0, 1)), ir.Index((1, 0))
    each = [ir.Load(n, row, "float32") for n in range(3)]
    lone = [ir.Load(n, one, "float32") for n in range(3, 9)]
    total = ir.Reduced(0, "float32")
    chosen = k.select(k.ge(total, lone[0]), k.exp(total), k.log1p(k.exp(k.neg(total))))
    factor = k.add(k.mul(chosen, lone[1]), k.reciprocal(k.add(1, k.exp(lone[2]))))
    shift = k.add(k.mul(factor, lone[3]), k.mul(lone[4], lone[5]))
    reads = [ir.Buffer("float32", "r")] * 9
    kernel = ir.Kernel(
        "row",
        (*reads, *[ir.Buffer("float32", "w")] * 3),
        (ir.Axis("map"), ir.Axis("reduce")),
        (ir.Reduction("sum", k.mul(each[0], each[1]), "float32"),),
        (
            ir.Store(9, one, factor),
            ir.Store(10, one, shift),
            ir.Store(11, row, k.select(k.gt(each[2], 0), k.mul(factor, each[0]), shift)),
        ),
        0,
    )
    told = assembled(ptx.ptx(kernel_text(kernel), capability), capability, tmp_path)
    assert told["spilled"] == 0, kernel_text(kernel).source


@pytest.mark.parametrize("capability", CARDS, ids=lambda c: c.name)
def test_tiles_assemble_without_spilling(capability: Capability, tmp_path: Path) -> None:
    kernels = [block_product(dtype).over([dtype] * 3) for dtype in ("float32", "float64")]
    for way in ("forward", "images", "filters"):
        computes = Convolution("float32", way, (2, 2), (1, 1))
        kernels.append(block_convolution(computes).over(["float32"] * 3))
    for kernel in kernels:
        code = ptx.ptx(kernel_text(kernel), capability)
        assert ".maxntid 256" in code
        told = assembled(code, capability, tmp_path)
        # All threads of a block have room in a multiprocessor's registers.
        assert told["spilled"] == 0 and told["registers"] <= 255
