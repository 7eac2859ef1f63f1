# SPDX-License-Identifier: Apache-2.0
"""Complex arithmetic as expressions of reals, so that kernels hold nothing but reals.

`k.mul(x, y)` of complex expressions is complex(re, im), where re and im are expressions of the
parts of x and y; a kernel loads and stores the two parts of an element, which lie beside each other
in memory.  Values are those of the reference (jit/kernel/reference.py): special ones follow the C
standard, as NumPy's do.  Imports the scalar vocabulary.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import complex_inverses as inverses
from . import scalar as k
from .complex_pairs import (
    Pair,
    choose,
    is_infinite,
    joined,
    log_modulus,
    modulus,
    narrow,
    parts,
    square_root,
    wide,
    with_sign,
)
from .ir import Expr


def build(fn: str, args: Sequence[Expr]) -> Expr:
    """Primitive `fn` of complex expressions; a choice has its condition in front of them."""
    if fn == "select":
        condition, x, y = args
        return joined(choose(condition, parts(x), parts(y)))
    if fn in _TESTS:
        return _TESTS[fn](*map(parts, args))
    form = _FORMS.get(fn)
    if form is None:
        raise TypeError(f"k.{fn} has no compiled form for {args[-1].dtype}")
    return joined(form(*map(parts, args)))


def convert(x: Expr, dtype: str) -> Expr:
    """A cast from or to complex numbers."""
    if not k.is_complex(x.dtype):
        part = k.cast(x, k.part_dtype(dtype))
        return k.complex(part, k.const(0, part.dtype))
    re, im = parts(x)
    if k.is_complex(dtype):
        return k.complex(k.cast(re, k.part_dtype(dtype)), k.cast(im, k.part_dtype(dtype)))
    if dtype == "bool":
        return k.logical_or(k.ne(re, 0), k.ne(im, 0))
    return k.cast(re, dtype)


def angle(x: Expr) -> Expr:
    """The argument, in radians."""
    return k.atan2(k.imag(x), k.real(x))


def _add(x: Pair, y: Pair) -> Pair:
    return k.add(x[0], y[0]), k.add(x[1], y[1])


def _sub(x: Pair, y: Pair) -> Pair:
    return k.sub(x[0], y[0]), k.sub(x[1], y[1])


def _neg(x: Pair) -> Pair:
    return k.neg(x[0]), k.neg(x[1])


def _mul(x: Pair, y: Pair) -> Pair:
    (a, b), (c, d) = x, y
    return k.sub(k.mul(a, c), k.mul(b, d)), k.add(k.mul(a, d), k.mul(b, c))


def _recovered(x: Pair, y: Pair) -> Pair:
    """The product as the C standard has it: infinite where a factor is, not NaN (Annex G)."""
    found = _mul(x, y)
    is_lost = k.logical_and(k.isnan(found[0]), k.isnan(found[1]))
    is_high = k.logical_or(is_infinite(x), is_infinite(y))
    one, other = _unit(x, y), _unit(y, x)
    turned = _mul(one, other)
    # (A product of two parts that overflows where the other is NaN is left as it is.)
    ends = k.mul(turned[0], math.inf), k.mul(turned[1], math.inf)
    return choose(k.logical_and(is_lost, is_high), ends, found)


def _unit(x: Pair, y: Pair) -> Pair:
    """The corner of a unit square that an infinite number is at; without NaN beside such a one."""
    zero, one = k.const(0, x[0].dtype), k.const(1, x[0].dtype)
    re, im = (with_sign(k.select(k.isinf(part), one, zero), part) for part in x)
    beside = k.select(k.isnan(x[0]), zero, x[0]), k.select(k.isnan(x[1]), zero, x[1])
    other = choose(is_infinite(y), beside, x)
    return choose(is_infinite(x), (re, im), other)


def _square(x: Pair) -> Pair:
    return _mul(x, x)


def _div(x: Pair, y: Pair) -> Pair:
    # Smith's: by the larger part of the divisor first, so that no square overflows.  A divisor of
    # zero gives NaN.
    (a, b), (c, d) = x, y
    is_real = k.ge(k.abs(c), k.abs(d))
    big, small = k.select(is_real, c, d), k.select(is_real, d, c)
    ratio = k.div(small, big)
    scale = k.reciprocal(k.add(big, k.mul(small, ratio)))
    p, q = k.mul(a, ratio), k.mul(b, ratio)
    re = k.select(is_real, k.add(a, q), k.add(p, b))
    im = k.select(is_real, k.sub(b, p), k.sub(q, a))
    return k.mul(re, scale), k.mul(im, scale)


def _one(x: Pair) -> Pair:
    return k.const(1, x[0].dtype), k.const(0, x[0].dtype)


def _reciprocal(x: Pair) -> Pair:
    return _div(_one(x), x)


def _sign(x: Pair) -> Pair:
    # The modulus of the largest numbers of float32 is one of float64 alone.
    return narrow(_direction(wide(x))) if x[0].dtype == "float32" else _direction(x)


def _direction(x: Pair) -> Pair:
    re, im = x
    size = modulus(joined(x))
    zero, nothing = k.const(0, size.dtype), k.const(math.nan, size.dtype)
    found = choose(k.eq(size, 0), (zero, zero), (k.div(re, size), k.div(im, size)))
    # Next to an infinite part the other one is nothing; of two there is no direction.
    one = k.const(1, size.dtype)
    is_real, is_imaginary = k.isinf(re), k.isinf(im)
    found = choose(is_imaginary, (zero, with_sign(one, im)), found)
    found = choose(is_real, (with_sign(one, re), zero), found)
    is_none = k.logical_and(is_real, is_imaginary)
    return choose(is_none, (nothing, nothing), found)


def _rsqrt(x: Pair) -> Pair:
    return _reciprocal(square_root(x))


# exp(x) is split where it would overflow though its product with a sine or cosine does not.
_STEP = {"float32": 64.0, "float64": 512.0}


def _exp(x: Pair) -> Pair:
    re, im = x
    step = _STEP[re.dtype]
    is_high = k.gt(re, step)
    low = k.exp(k.select(is_high, k.sub(re, step), re))
    high = k.select(is_high, float(np.exp(np.asarray(step, re.dtype))), k.const(1, re.dtype))
    cos, sin = (k.mul(k.mul(low, f(im)), high) for f in (k.cos, k.sin))
    # A real number has a real exponential, an infinite one too; and nothing has no direction.
    zero, has_angle = k.const(0, re.dtype), k.isfinite(im)
    is_none = k.logical_and(k.eq(re, -math.inf), k.logical_not(has_angle))
    is_pole = k.logical_and(k.eq(re, math.inf), k.logical_not(has_angle))
    cos = k.select(is_none, zero, k.select(is_pole, math.inf, cos))
    return cos, k.select(is_none, zero, k.select(k.eq(im, 0), im, sin))


def _log(x: Pair) -> Pair:
    re, im = x
    # What is too small to be normal is zero (reference.log).
    least = float(np.finfo(re.dtype).tiny)
    is_zero = k.logical_and(k.lt(k.abs(re), least), k.lt(k.abs(im), least))
    zero, lowest = k.const(0, re.dtype), k.const(-math.inf, re.dtype)
    return choose(is_zero, (lowest, zero), (log_modulus(re, im), k.atan2(im, re)))


def _pow(x: Pair, y: Pair) -> Pair:
    dtype = x[0].dtype
    # As of reals: computed in float64, and rounded once.
    x, y = wide(x), wide(y)
    found = _exp(_recovered(y, _log(x)))
    zero, nothing = k.const(0, "float64"), k.const(math.nan, "float64")
    is_zero = k.logical_and(k.eq(x[0], 0), k.eq(x[1], 0))
    of_zero = k.select(k.gt(y[0], 0), zero, nothing)
    found = choose(is_zero, (of_zero, of_zero), found)
    return found if dtype == "float64" else narrow(found)


def _times(x: Expr, re: Expr, y: Expr, im: Expr) -> Expr:
    """x * y, made of re and im: zero where one of these is, though the other's be no number."""
    is_real = k.logical_and(k.eq(im, 0), k.logical_not(k.isfinite(x)))
    is_imaginary = k.logical_and(k.eq(re, 0), k.logical_not(k.isfinite(y)))
    zero = k.const(0, x.dtype)
    return k.select(k.logical_or(is_real, is_imaginary), zero, k.mul(x, y))


def _is_pole(re: Expr, im: Expr) -> Expr:
    return k.logical_and(k.isinf(re), k.logical_not(k.isfinite(im)))


def _sinh(x: Pair) -> Pair:
    re, im = x
    sinh, cosh, sin, cos = k.sinh(re), k.cosh(re), k.sin(im), k.cos(im)
    is_zero = k.logical_and(k.eq(re, 0), k.logical_not(k.isfinite(im)))
    part = k.select(is_zero, re, k.select(_is_pole(re, im), re, k.mul(sinh, cos)))
    return part, k.select(k.eq(im, 0), im, k.mul(cosh, sin))


def _cosh(x: Pair) -> Pair:
    re, im = x
    sinh, cosh, sin, cos = k.sinh(re), k.cosh(re), k.sin(im), k.cos(im)
    part = k.select(_is_pole(re, im), math.inf, k.mul(cosh, cos))
    return part, _times(sinh, re, sin, im)


def _turned(x: Pair) -> Pair:
    """x times the imaginary unit."""
    return k.neg(x[1]), x[0]


def _turned_back(x: Pair) -> Pair:
    return x[1], k.neg(x[0])


def _sin(x: Pair) -> Pair:
    return _turned_back(_sinh(_turned(x)))


def _cos(x: Pair) -> Pair:
    return _cosh(_turned(x))


# From here on tanh is one to the last bit.
_FLAT = {"float32": 11.0, "float64": 22.0}


def _tanh(x: Pair) -> Pair:
    # Kahan's: through the tangent, so that nothing cancels.
    re, im = x
    t, s = k.tan(im), k.sinh(re)
    beta = k.add(1, k.mul(t, t))
    below = k.add(1, k.mul(beta, k.mul(s, s)))
    near = k.div(k.mul(k.mul(beta, k.sqrt(k.add(1, k.mul(s, s)))), s), below), k.div(t, below)
    least = k.exp(k.mul(k.abs(re), -2))
    slope = k.mul(k.mul(k.mul(k.sin(im), k.cos(im)), 4), least)
    slope = k.select(k.isinf(re), k.const(0, re.dtype), slope)
    has_angle = k.isfinite(im)
    whole = k.select(k.logical_or(has_angle, k.isinf(re)), with_sign(k.const(1, re.dtype), re), im)
    is_far = k.gt(k.abs(re), _FLAT[re.dtype])
    found = choose(is_far, (k.select(k.isinf(whole), math.nan, whole), slope), near)
    is_zero = k.logical_and(k.eq(re, 0), k.logical_not(has_angle))
    return k.select(is_zero, re, found[0]), k.select(k.eq(im, 0), im, found[1])


def _tan(x: Pair) -> Pair:
    return _turned_back(_tanh(_turned(x)))


def _sigmoid(x: Pair) -> Pair:
    return _reciprocal(_add(_one(x), _exp(_neg(x))))


def _log1p(x: Pair) -> Pair:
    # (As NumPy has it: next to zero it is as exact as one more than that.)
    re, im = k.add(x[0], 1), x[1]
    return log_modulus(re, im), k.atan2(im, re)


def _expm1(x: Pair) -> Pair:
    re, im = x
    half = k.sin(k.mul(im, 0.5))
    part = k.sub(k.mul(k.expm1(re), k.cos(im)), k.mul(2, k.mul(half, half)))
    return part, k.mul(k.exp(re), k.sin(im))


def _in_float64(form: Callable[[Pair], Pair]) -> Callable[[Pair], Pair]:
    """A form of pairs of float64, for pairs of both precisions."""

    def rounded(x: Pair) -> Pair:
        return narrow(form(wide(x))) if x[0].dtype == "float32" else form(x)

    return rounded


def _eq(x: Pair, y: Pair) -> Expr:
    return k.logical_and(k.eq(x[0], y[0]), k.eq(x[1], y[1]))


def _ne(x: Pair, y: Pair) -> Expr:
    return k.logical_or(k.ne(x[0], y[0]), k.ne(x[1], y[1]))


_TESTS: dict[str, Callable[..., Expr]] = {"eq": _eq, "ne": _ne}
_FORMS: dict[str, Callable[..., Any]] = {
    "add": _add,
    "sub": _sub,
    "mul": _mul,
    "div": _div,
    "neg": _neg,
    "square": _square,
    "reciprocal": _reciprocal,
    "sign": _sign,
    "sqrt": square_root,
    "rsqrt": _rsqrt,
    "exp": _exp,
    "log": _log,
    "pow": _pow,
    "sin": _sin,
    "cos": _cos,
    "tan": _tan,
    "sinh": _sinh,
    "cosh": _cosh,
    "tanh": _tanh,
    "sigmoid": _sigmoid,
    "log1p": _in_float64(_log1p),
    "expm1": _in_float64(_expm1),
    "asin": _in_float64(inverses.asin),
    "acos": _in_float64(inverses.acos),
    "atan": _in_float64(inverses.atan),
    "asinh": _in_float64(inverses.asinh),
    "acosh": _in_float64(inverses.acosh),
    "atanh": _in_float64(inverses.atanh),
}
