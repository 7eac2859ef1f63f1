# SPDX-License-Identifier: Apache-2.0
"""Simpler forms of what a builder is asked for.  Imports jit's IR."""

from __future__ import annotations

from ..kernel import sizes
from ..kernel.sizes import same
from ..program.tensor_ir import Axis, Shape


def unit_moves(old: Shape, new: Shape) -> tuple[Axis, ...] | None:
    """The view for a reshape that only adds or drops dimensions of one; None for others."""
    places = [i for i, size in enumerate(new) if not same(size, 1)]
    wide = [size for size in old if not same(size, 1)]
    if not sizes.same_shape(wide, [new[i] for i in places]):
        return None
    order = iter(places)
    return tuple(Axis(None) if same(size, 1) else Axis(next(order)) for size in old)
