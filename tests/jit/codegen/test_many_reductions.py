# SPDX-License-Identifier: Apache-2.0
"""Kernels of many reductions: what it takes to write them grows as they do."""

from __future__ import annotations

import pytest

from numbaflow.jit.codegen import compile as compiler
from numbaflow.jit.codegen import reductions
from numbaflow.jit.kernel import ir
from numbaflow.jit.kernel import scalar as k

pytestmark = pytest.mark.cpu


def totals(count: int) -> ir.Kernel:
    """So many totals of every row, of a long expression that they share."""
    shared: ir.Expr = ir.Load(0, ir.Index((ir.Param(0), 1)), "float32")
    for n in range(40):
        shared = k.add(k.mul(shared, shared), 0.5 + n)
    found = [ir.Reduction("sum", k.mul(shared, 1.5 + n), "float32") for n in range(count)]
    stores = [
        ir.Store(1 + n, ir.Index((1, 0)), ir.Reduced(n, "float32")) for n in range(len(found))
    ]
    buffers = (ir.Buffer("float32", "r"), *(ir.Buffer("float32", "w") for _ in found))
    axes = ir.Axis("map"), ir.Axis("reduce")
    return ir.Kernel("row", buffers, axes, tuple(found), tuple(stores), 1)


def test_a_kernel_is_written_in_time_that_grows_with_its_reductions(monkeypatch):
    walked: list[int] = []
    postorder = reductions.postorder

    def counted(*args):
        found = postorder(*args)
        walked.append(len(found))
        return found

    monkeypatch.setattr(reductions, "postorder", counted)

    def taken(count: int) -> int:
        walked.clear()
        assert f"a{count - 1} " in compiler.source_of(totals(count))
        return sum(walked)

    assert taken(64) <= 2.5 * taken(32)
