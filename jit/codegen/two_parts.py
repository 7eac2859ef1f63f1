# SPDX-License-Identifier: Apache-2.0
"""Numbers as sums of two floats, the second of which is what the first lost.  Imports llvmlite
alone.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from .llvm_scalar import Emitter


class Parts(NamedTuple):
    """A number as the sum of two."""

    high: Any
    low: Any


def two_sum(e: Emitter, large: Any, small: Any) -> Parts:
    """A sum, where the first number is not the smaller one."""
    total = e.b.fadd(large, small)
    return Parts(total, e.b.fadd(e.b.fsub(large, total), small))


def two_product(e: Emitter, x: Parts, y: Parts) -> Parts:
    """A product, but for what both lost."""
    product = e.b.fmul(x.high, y.high)
    lost = e.call("fma", x.high, y.high, e.neg(product))
    return Parts(product, e.fma(x.low, y.high, e.fma(x.high, y.low, lost)))
