# SPDX-License-Identifier: Apache-2.0
"""The logarithm of a float64 as the sum of two, as powers need it: an exponent multiplies its
error.  Imports llvmlite alone.
"""

from __future__ import annotations

import math
from typing import Any

from llvmlite import ir

from . import coefficients
from .llvm_scalar import Emitter
from .two_parts import Parts, two_product, two_sum

_ROOT_HALF = 0x3FE6A09E667F3BCD  # the bits of sqrt(1/2)
_LN2 = (0.6931471805598903, 5.497923018708371e-14)  # of 42 bits, so that multiples are exact
_TWO_THIRDS = (2 / 3, 3.700743415417188e-17)


def log_parts(e: Emitter, x: ir.Value) -> Parts:
    """log(x) for x >= 0 to some 65 bits; the second part of 0, infinity and NaN means nothing."""
    is_tiny = e.lt(x, e.c(2.0**-1022))
    bits = e.bitcast(e.select(is_tiny, e.b.fmul(x, e.c(2.0**54)), x))
    k = e.b.ashr(e.b.sub(bits, e.i(_ROOT_HALF)), e.i(52))
    m = e.bitcast(e.b.sub(bits, e.b.shl(k, e.i(52))))
    k = e.b.sitofp(k, e.type)
    k = e.select(is_tiny, e.b.fsub(k, e.c(54)), k)
    s = _quotient(e, m)
    cube = _behind(e, s)
    total, lost = two_sum(e, e.b.fmul(k, e.c(_LN2[0])), e.b.fmul(s.high, e.c(2)))
    low = e.fma(k, e.c(_LN2[1]), e.fma(s.low, e.c(2), lost))
    total, lost = two_sum(e, total, cube.high)
    high, low = two_sum(e, total, e.b.fadd(e.b.fadd(low, cube.low), lost))
    high = e.select(e.lt(x, e.c(math.inf)), high, x)  # infinity and NaN give themselves
    return Parts(e.select(e.eq(x, e.c(0)), e.c(-math.inf), high), low)


def _quotient(e: Emitter, m: Any) -> Parts:
    """s = (m - 1) / (m + 1), of which log(m) is twice the inverse hyperbolic tangent."""
    one = e.c(1)
    top, bottom = e.b.fsub(m, one), e.b.fadd(m, one)
    lost = e.b.fsub(m, e.b.fsub(bottom, one))
    inverse = e.div(one, bottom)
    s = e.b.fmul(top, inverse)
    rest = e.fma(e.neg(s), lost, e.call("fma", e.neg(s), bottom, top))
    return Parts(s, e.b.fmul(rest, inverse))


def _behind(e: Emitter, s: Parts) -> Parts:
    """What follows 2 s in the series of the logarithm: s z (2/3 + z P(z)), z = s**2."""
    z = two_product(e, s, s)
    first = two_product(e, z, Parts(e.c(_TWO_THIRDS[0]), e.c(_TWO_THIRDS[1])))
    tail = e.polynomial(z.high, coefficients.TABLE["log behind", 64])
    factor = Parts(first.high, e.fma(e.b.fmul(z.high, z.high), tail, first.low))
    return two_product(e, s, factor)
