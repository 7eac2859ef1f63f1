# SPDX-License-Identifier: Apache-2.0
"""Simpler forms of what a builder is asked for.  Imports jit's IR."""

from __future__ import annotations

import numpy as np

from ..kernel import sizes
from ..kernel.sizes import Size, same
from ..program.tensor_ir import Axis, Shape


def unit_moves(old: Shape, new: Shape) -> tuple[Axis, ...] | None:
    """The view for a reshape that only adds or drops dimensions of one; None for others."""
    places = [i for i, size in enumerate(new) if not same(size, 1)]
    wide = [size for size in old if not same(size, 1)]
    if not sizes.same_shape(wide, [new[i] for i in places]):
        return None
    order = iter(places)
    return tuple(Axis(None) if same(size, 1) else Axis(next(order)) for size in old)


def holds_sizes(value: object) -> bool:
    """Is there a symbolic size in what contents are given as?"""
    if isinstance(value, (list, tuple)):
        return any(map(holds_sizes, value))
    return isinstance(value, Size) or (isinstance(value, np.ndarray) and value.dtype == object)


def numpy_dtype(name: str) -> np.dtype:
    """The NumPy dtype of a name."""
    if name == "bfloat16":
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(name)
