# SPDX-License-Identifier: Apache-2.0
"""The machine code of register tiles: sums stay in registers."""

from __future__ import annotations

import pytest

from numbaflow.engine import settings
from numbaflow.jit import target
from numbaflow.jit.codegen import llvm
from numbaflow.jit.library.tiles import heights, tiles

# The rows of tiles that products are made of, and of those that have the most sums.
TILES = [("x86-64-v4", 2, height) for height in (8, 10, 12, 13, 14)]
TILES += [("x86-64-v4", 1, 24), ("x86-64-v3", 2, 6), ("x86-64-v3", 1, 8)]


@pytest.mark.cpu
@pytest.mark.parametrize("adjacent", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("level, count, rows", TILES)
def test_sums_stay_in_registers(
    level: str, count: int, rows: int, dtype: str, adjacent: bool
) -> None:
    with settings.override(target=level):
        aim = target.current()
        assert rows in heights(dtype, count)
        kernel = tiles(dtype, rows, count, adjacent=adjacent)
        text = llvm.assembly(llvm.lowered(kernel.text, "k", aim, is_library=True), aim)
    register = "%zmm" if aim.vector_bits == 512 else "%ymm"
    lines = [line for line in text.splitlines() if register in line]
    assert sum("vfmadd" in line for line in lines) >= rows * count
    assert [line for line in lines if "(%rsp)" in line] == []
