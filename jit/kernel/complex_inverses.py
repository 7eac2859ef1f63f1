# SPDX-License-Identifier: Apache-2.0
"""Inverses of trigonometric and hyperbolic functions of complex numbers, as expressions of reals.

After W. Kahan, "Branch cuts for complex elementary functions" (1987): square roots keep the signs
of zeros, which say on what side of a cut a number is.  Infinities are the limits that the C
standard names.  Pairs are of float64.  Imports the scalar vocabulary.
"""

from __future__ import annotations

import math

from . import scalar as k
from .complex_pairs import Pair, choose, is_infinite, log_modulus, square_root, with_sign
from .ir import Expr

# From here on a function is its first term to the last bit.
_FAR = 1e9
_QUARTER = math.pi / 2


def asin(x: Pair) -> Pair:
    """The angle of this sine."""
    re, im = x
    (a, b), (c, d) = _roots(x)
    turn = k.atan2(re, k.sub(k.mul(a, c), k.mul(b, d)))
    near = turn, k.asinh(k.sub(k.mul(a, d), k.mul(b, c)))
    far = with_sign(k.atan2(k.abs(re), k.abs(im)), re), with_sign(_long_logarithm(x), im)
    turn, size = choose(_is_far(x), far, near)
    return k.select(_is_imaginary_nan(x), re, turn), size


def acos(x: Pair) -> Pair:
    """The angle of this cosine."""
    re, im = x
    (a, b), (c, d) = _roots(x)
    near = k.mul(2, k.atan2(a, c)), k.asinh(k.sub(k.mul(c, b), k.mul(d, a)))
    far = k.atan2(k.abs(im), re), with_sign(k.neg(_long_logarithm(x)), im)
    turn, size = choose(_is_far(x), far, near)
    return k.select(_is_imaginary_nan(x), k.const(_QUARTER, "float64"), turn), size


def acosh(x: Pair) -> Pair:
    """The area of this hyperbolic cosine."""
    turn, size = acos(x)
    is_nothing = k.logical_and(k.isnan(turn), k.isnan(size))
    return choose(is_nothing, (turn, size), (k.abs(size), with_sign(turn, x[1])))


def asinh(x: Pair) -> Pair:
    """The area of this hyperbolic sine."""
    size, turn = asin((k.neg(x[1]), x[0]))
    return turn, k.neg(size)


def atanh(x: Pair) -> Pair:
    """The area of this hyperbolic tangent."""
    re, im = x
    size, turn = choose(_is_limit(x), _far_from_poles(x), _near_poles(x))
    size = k.select(_is_imaginary_nan(x), k.const(0, "float64"), size)
    return with_sign(size, re), with_sign(turn, im)


def atan(x: Pair) -> Pair:
    """The angle of this tangent."""
    size, turn = atanh((k.neg(x[1]), x[0]))
    return turn, k.neg(size)


def _roots(x: Pair) -> tuple[Pair, Pair]:
    """The square roots of 1 - x and 1 + x."""
    re, im = x
    return square_root((k.sub(1, re), k.neg(im))), square_root((k.add(1, re), im))


def _long_logarithm(x: Pair) -> Expr:
    """log(2 |x|)."""
    return k.add(log_modulus(*x), math.log(2))


def _is_far(x: Pair) -> Expr:
    return k.logical_or(k.gt(k.abs(x[0]), _FAR), k.gt(k.abs(x[1]), _FAR))


def _is_imaginary_nan(x: Pair) -> Expr:
    """Is it no number, but certainly on the imaginary axis?"""
    return k.logical_and(k.eq(x[0], 0), k.isnan(x[1]))


def _is_limit(x: Pair) -> Expr:
    """Is it far away, in a direction that is known, or infinite?"""
    is_nothing = k.logical_or(k.isnan(x[0]), k.isnan(x[1]))
    is_known = k.logical_and(_is_far(x), k.logical_not(is_nothing))
    return k.logical_or(is_infinite(x), is_known)


def _far_from_poles(x: Pair) -> Pair:
    """atanh of the number without signs: 1 / x, and a quarter turn."""
    a, b = k.abs(x[0]), k.abs(x[1])
    most, least = k.maximum(a, b), k.minimum(a, b)
    ratio = k.div(least, most)
    size = k.div(k.div(a, most), k.mul(most, k.add(1, k.mul(ratio, ratio))))
    size = k.select(is_infinite(x), k.const(0, "float64"), size)
    return size, k.select(k.isnan(b), b, k.const(_QUARTER, "float64"))


def _near_poles(x: Pair) -> Pair:
    """atanh of the number without signs."""
    a, b = k.abs(x[0]), k.abs(x[1])
    rest, square = k.sub(1, a), k.mul(b, b)
    below = k.add(k.mul(rest, rest), square)
    size = k.mul(0.25, k.log1p(k.div(k.mul(4, a), below)))
    # So near to the pole that the square vanishes.
    at_pole = k.logical_and(k.eq(a, 1), k.lt(b, 1e-100))
    size = k.select(at_pole, k.mul(0.5, k.sub(math.log(2), k.log(b))), size)
    return size, k.mul(0.5, k.atan2(k.mul(2, b), k.sub(k.mul(rest, k.add(1, a)), square)))
