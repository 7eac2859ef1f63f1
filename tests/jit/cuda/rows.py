# SPDX-License-Identifier: Apache-2.0
"""Kernels that go over their rows more than once."""

from __future__ import annotations

from numbaflow.jit.kernel import ir
from numbaflow.jit.kernel import scalar as k


def _kernel(
    dtype: str, size: int | None, reductions: tuple[ir.Reduction, ...], result: ir.Expr
) -> ir.Kernel:
    at = ir.Index((ir.Param(0), 1))
    return ir.Kernel(
        "row",
        (ir.Buffer(dtype, "r"), ir.Buffer(dtype, "w")),
        (ir.Axis("map"), ir.Axis("reduce", size)),
        reductions,
        (ir.Store(1, at, result),),
        1,
    )


def element(dtype: str) -> ir.Expr:
    """The element of the row at hand."""
    return ir.Load(0, ir.Index((ir.Param(0), 1)), dtype)


def softmax(dtype: str, size: int | None = None) -> ir.Kernel:
    """Softmax of each row."""
    power = k.exp(k.sub(element(dtype), ir.Reduced(0, dtype)))
    reductions = ir.Reduction("max", element(dtype), dtype), ir.Reduction("sum", power, dtype)
    return _kernel(dtype, size, reductions, k.div(power, ir.Reduced(1, dtype)))


def variance(dtype: str) -> ir.Kernel:
    """Each row's differences from its sum, over the sum of their squares, plus the row."""
    away = k.sub(element(dtype), ir.Reduced(0, dtype))
    square = k.mul(away, away)
    reductions = ir.Reduction("sum", element(dtype), dtype), ir.Reduction("sum", square, dtype)
    quotient = k.div(away, ir.Reduced(1, dtype))
    return _kernel(dtype, None, reductions, k.add(quotient, element(dtype)))


def largest(dtype: str) -> ir.Kernel:
    """The place of each row's largest exponential, at all of its places."""
    power = k.exp(element(dtype))
    reductions = (ir.Reduction("argmax", power, "int64"),)
    return _kernel(dtype, None, reductions, k.cast(ir.Reduced(0, "int64"), dtype))
