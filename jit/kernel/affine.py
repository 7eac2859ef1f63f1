# SPDX-License-Identifier: Apache-2.0
"""Positions as affine functions of loop axes: how a scalar expression finds the element it loads.

Imports the kernel IR and sizes only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cache

from ...engine.record_class import record
from . import ir
from .sizes import AnySize, same


@record(frozen=True, eq=False)
class Affine:
    """offset + the sum of coefficient times position over axes + the sum of expression times size.

    The expressions are for indices that were themselves loaded (gather).
    """

    coefficients: Mapping[int, AnySize] = field(default_factory=dict)
    offset: AnySize = 0
    loaded: tuple[tuple[ir.Expr, AnySize], ...] = ()

    def scaled(self, factor: AnySize) -> Affine:
        """This position times a size."""
        if same(factor, 1):
            return self
        return Affine(
            {axis: c * factor for axis, c in self.coefficients.items()},
            self.offset * factor,
            tuple((e, s * factor) for e, s in self.loaded),
        )

    def shifted(self, amount: AnySize) -> Affine:
        """This position plus a size."""
        return (
            self
            if same(amount, 0)
            else Affine(self.coefficients, self.offset + amount, self.loaded)
        )


ZERO = Affine()


@cache
def along(axis: int | None) -> Affine:
    """The position on one axis; zero for None."""
    return ZERO if axis is None else Affine({axis: 1})


def flatten(position: Sequence[Affine], shape: Sequence[AnySize]) -> Affine:
    """The row-major element offset of a position in a contiguous tensor."""
    coefficients: dict[int, AnySize] = {}
    offset: AnySize = 0
    loaded: tuple[tuple[ir.Expr, AnySize], ...] = ()
    stride: AnySize = 1
    for place, size in zip(reversed(position), reversed(shape)):
        # On a dimension of one the position is 0, whatever expression stands for it.
        if not same(size, 1):
            for axis, factor in place.coefficients.items():
                coefficients[axis] = coefficients.get(axis, 0) + factor * stride
            offset += place.offset * stride
            loaded += tuple((expr, factor * stride) for expr, factor in place.loaded)
        stride = size * stride
    # What cancels out must go: an axis in here counts as one that the position walks along.
    moving = {axis: factor for axis, factor in coefficients.items() if not same(factor, 0)}
    return Affine(moving, offset, loaded)
