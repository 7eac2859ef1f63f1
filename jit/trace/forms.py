# SPDX-License-Identifier: Apache-2.0
"""Simpler forms of what a builder is asked for.  Imports jit's IR."""

from __future__ import annotations

from ..kernel import ir, sizes
from ..kernel.sizes import same
from ..program.tensor_ir import Axis, Shape, Value

# Scalars that stand in the kernel's text; others are loaded, so that kernels differing only in a
# learning rate are one kernel.
_LITERALS = frozenset({0, 1, 2, 3, 4, -1, 0.5, -0.5})


def literal(value: Value) -> ir.Const | None:
    """The Const for a plain known scalar, if it is one of those written into kernels."""
    if value.known is None or value.ndim or value.known.dtype == object:
        return None
    item = value.known.item()
    if isinstance(item, bool) or (item in _LITERALS and str(item) != "-0.0"):
        return ir.Const(item, value.dtype)
    return None


def unit_moves(old: Shape, new: Shape) -> tuple[Axis, ...] | None:
    """The view for a reshape that only adds or drops dimensions of one; None for others."""
    places = [i for i, size in enumerate(new) if not same(size, 1)]
    wide = [size for size in old if not same(size, 1)]
    if not sizes.same_shape(wide, [new[i] for i in places]):
        return None
    order = iter(places)
    return tuple(Axis(None) if same(size, 1) else Axis(next(order)) for size in old)
