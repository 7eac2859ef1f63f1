# SPDX-License-Identifier: Apache-2.0
"""Functions as kernels of their own, and which of them are calls of C's library."""

from __future__ import annotations

import re

import pytest

from numbaflow.jit import target
from numbaflow.jit.codegen import emit, instructions, llvm
from numbaflow.jit.codegen.reductions import CALLS
from numbaflow.jit.kernel.scalar import PRIMITIVES, supports

pytestmark = pytest.mark.cpu
NAMES = [name for name in PRIMITIVES if supports(name, "float32") and name != "cast"]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_calls_of_the_c_library_are_those_that_totals_know_of(dtype: str) -> None:
    found = set()
    for name in NAMES:
        primitive = PRIMITIVES[name]
        if primitive.result == "branch" or primitive.result == "bool":
            continue
        kernel = instructions.function(name, (dtype,) * primitive.arity, dtype)
        source = emit.emit(kernel)
        text = llvm.lowered(source, "kernel", target.current())
        called = re.findall(r"declare [^@]*@\"?([\w.]+)", text)
        if any(not name.startswith("llvm.") for name in called):
            found.add(name)
    assert found == {name for name, dtypes in CALLS.items() if dtype in dtypes}


def test_all_of_them_are_different_kernels_without_sizes():
    kernels = list(instructions.closed())
    assert len(kernels) == len(set(kernels)) > 150
    assert all(kernel.params == 0 and len(kernel.stores) == 1 for kernel in kernels)
