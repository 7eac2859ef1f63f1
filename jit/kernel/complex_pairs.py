# SPDX-License-Identifier: Apache-2.0
"""Complex numbers as pairs of real expressions: choices, moduli, roots.

Imports the scalar vocabulary.
"""

from __future__ import annotations

import math

from . import scalar as k
from .ir import Expr

Pair = tuple[Expr, Expr]


def parts(x: Expr) -> Pair:
    """The real and the imaginary part."""
    return k.real(x), k.imag(x)


def modulus(x: Expr) -> Expr:
    """sqrt(re² + im²) without overflow; infinite where a part is, whatever the other one."""
    re, im = parts(x)
    either = k.logical_or(k.isinf(re), k.isinf(im))
    if re.dtype == "float32":
        # Squares of float32 are exact in float64, and neither overflow nor vanish.
        a, b = k.cast(re, "float64"), k.cast(im, "float64")
        found = k.cast(k.sqrt(k.add(k.mul(a, a), k.mul(b, b))), "float32")
    else:
        big, small = by_size(re, im)
        ratio = k.div(small, big)
        long = k.mul(big, k.sqrt(k.add(1, k.mul(ratio, ratio))))
        found = k.select(k.eq(big, 0), k.add(big, small), long)
    return k.select(either, math.inf, found)


def joined(pair: Pair) -> Expr:
    return k.complex(*pair)


def choose(condition: Expr, x: Pair, y: Pair) -> Pair:
    return k.select(condition, x[0], y[0]), k.select(condition, x[1], y[1])


def by_size(re: Expr, im: Expr) -> Pair:
    """The larger and the smaller of the absolute values; of a NaN both are what they were."""
    a, b = k.abs(re), k.abs(im)
    is_first = k.ge(a, b)
    return k.select(is_first, a, b), k.select(is_first, b, a)


def is_infinite(x: Pair) -> Expr:
    """Is either part infinite?"""
    return k.logical_or(k.isinf(x[0]), k.isinf(x[1]))


def is_negative(x: Expr) -> Expr:
    """Is the sign of x minus?  That of -0 is."""
    return k.logical_or(k.lt(x, 0), k.lt(k.div(1, x), 0))


def with_sign(size: Expr, x: Expr) -> Expr:
    return k.select(is_negative(x), k.neg(size), size)


# Where the sum of a modulus and a part is larger than any number, or squares are no normal ones:
# roots are those of scaled numbers, scaled back.
_SCALES = ((1e307, 2.0**-2, 2.0), (-1e-290, 2.0**54, 2.0**-27))


def square_root(x: Pair) -> Pair:
    if x[0].dtype == "float32":
        return narrow(_root(wide(x)))
    big, _ = by_size(*x)
    scale, back = k.const(1, "float64"), k.const(1, "float64")
    for limit, before, behind in _SCALES:
        is_beyond = k.gt(big, limit) if limit > 0 else k.lt(big, -limit)
        scale, back = k.select(is_beyond, before, scale), k.select(is_beyond, behind, back)
    found = _root((k.mul(x[0], scale), k.mul(x[1], scale)))
    return k.mul(found[0], back), k.mul(found[1], back)


def _root(x: Pair) -> Pair:
    """The square root of a number of float64, in which its modulus is a number."""
    re, im = x
    root = k.sqrt(k.mul(k.add(k.abs(re), modulus(joined(x))), 0.5))
    rest = k.div(k.abs(im), k.mul(root, 2))
    rest = k.select(k.eq(root, 0), k.abs(im), rest)
    is_pole = k.isinf(im)
    root, rest = k.select(is_pole, math.inf, root), k.select(is_pole, math.inf, rest)
    is_left = is_negative(re)
    return k.select(is_left, rest, root), with_sign(k.select(is_left, root, rest), im)


def log_modulus(re: Expr, im: Expr) -> Expr:
    either = k.logical_or(k.isinf(re), k.isinf(im))
    if re.dtype == "float32":
        a, b = k.cast(re, "float64"), k.cast(im, "float64")
        whole = k.add(k.mul(a, a), k.mul(b, b))
        return k.select(either, math.inf, k.cast(k.mul(k.log(whole), 0.5), "float32"))
    big, small = by_size(re, im)
    # Near the unit circle the logarithm is that of a difference, which is to be kept.
    square = k.add(k.mul(k.sub(big, 1), k.add(big, 1)), k.mul(small, small))
    ratio = k.div(small, big)
    far = k.add(k.log(big), k.mul(k.log1p(k.mul(ratio, ratio)), 0.5))
    is_near = k.logical_and(k.gt(big, 0.5), k.lt(big, 2))
    return k.select(either, math.inf, k.select(is_near, k.mul(k.log1p(square), 0.5), far))


def wide(x: Pair) -> Pair:
    return k.cast(x[0], "float64"), k.cast(x[1], "float64")


def narrow(x: Pair) -> Pair:
    return k.cast(x[0], "float32"), k.cast(x[1], "float32")
