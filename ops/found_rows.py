# SPDX-License-Identifier: Apache-2.0
"""Compiled forms of sparse results: rows that keep as many elements as a run finds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..jit.kernel import scalar as k
from ..jit.kernel.sizes import AnySize, product

if TYPE_CHECKING:
    from ..jit.program.tensor_ir import Value
    from ..jit.trace.builder import Builder


def elements_at(b: Builder, x: Value, indices: Value) -> Value:
    """The elements at some places (int64 [count, rank]), as a vector."""
    count = indices.shape[0]
    at = b.full((count,), 0, "int64")
    for axis, extent in enumerate(x.shape):
        column = column_of(b, indices, axis)
        size = b.constant(extent, "int64")
        at = b.map(lambda at, i, size: k.add(k.mul(at, size), i), at, column, size)
    return b.pick(b.reshape(x, (product(x.shape),)), at)


def column_of(b: Builder, indices: Value, axis: int) -> Value:
    """One column of a matrix, as a vector."""
    count = indices.shape[0]
    return b.reshape(b.slice(indices, (0, axis), (count, 1)), (count,))


def shape_of_rows(b: Builder, lead: Sequence[AnySize], counts: Value) -> Value:
    """The dense shape of rows with so many elements each: int64, its last size that of the longest.

    counts: int64 of the shape `lead`; no rows are of length 0.
    """
    most = b.reshape(b.reduce("max", counts, None), (1,))
    return b.concat([b.constant(lead, "int64"), b.map(lambda n: k.maximum(n, 0), most)], 0)
