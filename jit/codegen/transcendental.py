# SPDX-License-Identifier: Apache-2.0
"""Transcendental functions as straight-line LLVM code, for float32 and float64.

Each reduces its argument by bit operations and evaluates a polynomial fitted to the reduced range,
so that loops over them become vector loops; ranges are full, with NaN, infinities and denormals.
tests/jit/codegen/test_transcendental.py holds their largest errors in units in the last place.
Those of angles are in double_angles.py for float64, whose lgamma calls C's library.  Imports
llvmlite alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from llvmlite import ir

from ...engine.record_class import record
from . import coefficients, double_angles, double_logarithm, llvm_scalar
from .llvm_scalar import Emitter

INF, NAN = math.inf, math.nan


@record(frozen=True, slots=True)
class Format:
    """What a function needs to know about a floating-point type."""

    mantissa: int  # explicit bits
    magic: float  # adding it rounds to an integer, held by the low bits of the sum
    ln2: tuple[float, float]  # in two parts, the first with trailing zeros
    exp_range: tuple[float, float]  # beyond: zero, infinity
    root_half: int  # the bits of sqrt(1/2)
    tiny: float  # the smallest normal number


_FORMATS = {
    "float32": Format(
        23, 12582912.0, (0.693359375, -2.12194440e-4), (-104.0, 89.0), 0x3F3504F3, 2.0**-126
    ),
    "float64": Format(
        52,
        6755399441055744.0,
        (6.93147180369123816490e-01, 1.90821492927058770002e-10),
        (-746.0, 710.0),
        0x3FE6A09E667F3BCD,
        2.0**-1022,
    ),
}


def _format(e: Emitter) -> Format:
    return _FORMATS[f"float{e.wide}"]


def _table(e: Emitter, name: str) -> tuple[float, ...]:
    return coefficients.TABLE[name, e.wide]


def _clamp(e: Emitter, x: ir.Value, low: float, high: float) -> Any:
    """x within limits; NaN stays."""
    x = e.select(e.lt(x, e.c(low)), e.c(low), x)
    return e.select(e.gt(x, e.c(high)), e.c(high), x)


def _reduced_exp(e: Emitter, x: ir.Value) -> tuple[Any, Any]:
    """(exp(r) - 1, n) with x = n ln 2 + r, n as an integer; x is within the range of exp."""
    f = _format(e)
    shifted = e.fma(x, e.c(1 / math.log(2)), e.c(f.magic))
    n = e.b.fsub(shifted, e.c(f.magic))
    r = e.fma(n, e.c(-f.ln2[1]), e.fma(n, e.c(-f.ln2[0]), x))
    tail = e.polynomial(r, _table(e, "exp"))
    whole = e.b.sub(e.bitcast(shifted), e.bitcast(e.c(f.magic)))
    return e.fma(e.mul(r, r), tail, r), whole


def _power_of_two(e: Emitter, n: ir.Value) -> Any:
    """2.0 ** n for an integer n within the normal exponents."""
    f = _format(e)
    bias = (1 << (e.wide - f.mantissa - 2)) - 1
    return e.bitcast(e.b.shl(e.b.add(n, e.i(bias)), e.i(f.mantissa)))


def _scale(e: Emitter, x: ir.Value, n: ir.Value) -> Any:
    """x * 2.0 ** n in two steps, so that results may be denormal or overflow."""
    half = e.b.ashr(n, e.i(1))
    rest = e.b.sub(n, half)
    return e.b.fmul(e.b.fmul(x, _power_of_two(e, half)), _power_of_two(e, rest))


def _normal_power(e: Emitter, n: ir.Value, offset: int = 0) -> Any:
    """2.0 ** (n + offset), which is a normal number, for an integer n in the low bits of `n`."""
    f = _format(e)
    bias = (1 << (e.wide - f.mantissa - 2)) - 1 + offset
    return e.bitcast(e.b.add(e.b.shl(n, e.i(f.mantissa)), e.i(bias << f.mantissa)))


def _exp_down(e: Emitter, x: ir.Value) -> Any:
    """exp(x) for x <= 0 or NaN; the result may be denormal, which the last product rounds."""
    f = _format(e)
    low = e.c(f.exp_range[0])
    value, n = _reduced_exp(e, e.select(e.lt(x, low), low, x))
    room = f.mantissa + 2
    power = _normal_power(e, n, room)
    return e.b.fmul(e.b.fmul(e.add(value, e.c(1)), power), e.c(2.0**-room))


def _expm1_up(e: Emitter, x: ir.Value) -> Any:
    """exp(x) - 1 for x >= 0 (or NaN) whose exponential is far from overflow."""
    value, n = _reduced_exp(e, x)
    power = _normal_power(e, n)
    return e.fma(power, value, e.b.fsub(power, e.c(1)))


def exp(e: Emitter, x: ir.Value) -> Any:
    x = _clamp(e, x, *_format(e).exp_range)
    value, n = _reduced_exp(e, x)
    return _scale(e, e.add(value, e.c(1)), n)


def expm1(e: Emitter, x: ir.Value) -> Any:
    # (exp(r) - 1 + (1 - 2**-n)) * 2**n; below -40 the result is -1 and n must not grow further.
    bounded = _clamp(e, x, -40.0, _format(e).exp_range[1])
    value, n = _reduced_exp(e, bounded)
    # 1 - 2**-n is 1 for n >= 64, where 2**-n might leave the normal range.
    few = e.select(e.b.icmp_signed(">", n, e.i(64)), e.i(64), n)
    shift = e.b.fsub(e.c(1), _power_of_two(e, e.b.sub(e.i(0), few)))
    result = _scale(e, e.b.fadd(value, shift), n)
    return e.select(e.eq(x, e.c(0)), x, result)  # the sum made -0.0 positive


def _log_parts(e: Emitter, x: ir.Value) -> tuple[Any, Any]:
    """(f, k) with x = 2**k (1 + f), 1 + f between sqrt(1/2) and sqrt(2), for x > 0 and normal."""
    fmt = _format(e)
    bits = e.bitcast(x)
    k = e.b.ashr(e.b.sub(bits, e.i(fmt.root_half)), e.i(fmt.mantissa))
    fraction = e.bitcast(e.b.sub(bits, e.b.shl(k, e.i(fmt.mantissa))))
    return e.b.fsub(fraction, e.c(1)), e.b.sitofp(k, e.type)


def _log_near_one(e: Emitter, f: ir.Value, k: ir.Value, extra: Any = None) -> Any:
    """k ln 2 + log(1 + f) (+ extra, a small correction)."""
    fmt = _format(e)
    s = e.div(f, e.add(f, e.c(2)))
    z = e.mul(s, s)
    rest = e.mul(z, e.polynomial(z, _table(e, "log")))
    half = e.mul(e.mul(f, f), e.c(0.5))
    low = e.mul(k, e.c(fmt.ln2[1]))
    low = low if extra is None else e.add(low, extra)
    tail = e.b.fsub(half, e.fma(s, e.add(half, rest), low))
    return e.fma(k, e.c(fmt.ln2[0]), e.b.fsub(f, tail))


def _log_limits(e: Emitter, x: ir.Value, value: ir.Value) -> Any:
    """The logarithm's values at zero (and what is too small to be normal), infinity and below."""
    value = e.select(e.lt(x, e.c(INF)), value, x)  # infinity and NaN give themselves
    value = e.select(e.lt(x, e.c(0)), e.c(NAN), value)
    return e.select(e.lt(e.abs(x), e.c(_format(e).tiny)), e.c(-INF), value)


def log(e: Emitter, x: ir.Value) -> Any:
    return _log_limits(e, x, _log_near_one(e, *_log_parts(e, x)))


def log1p(e: Emitter, x: ir.Value) -> Any:
    u = e.b.fadd(x, e.c(1))
    # What the sum lost, from the larger of its terms.
    lost = e.select(
        e.gt(x, e.c(1)), e.b.fsub(e.c(1), e.b.fsub(u, x)), e.b.fsub(x, e.b.fsub(u, e.c(1)))
    )
    f, k = _log_parts(e, u)
    value = _log_limits(e, u, _log_near_one(e, f, k, e.div(lost, u)))
    tiny = e.lt(e.abs(x), e.c(2.0 ** -(_format(e).mantissa + 2)))
    return e.select(tiny, x, value)


def sigmoid(e: Emitter, x: ir.Value) -> Any:
    small = _exp_down(e, e.neg(e.abs(x)))
    top = e.select(e.lt(x, e.c(0)), small, e.c(1))
    return e.div(top, e.add(small, e.c(1)))


def tanh(e: Emitter, x: ir.Value) -> Any:
    size = e.abs(x)
    size = e.select(e.gt(size, e.c(22)), e.c(22), size)
    t = _expm1_up(e, e.b.fadd(size, size))
    return e.sign_of(e.div(t, e.add(t, e.c(2))), x)


def sinh(e: Emitter, x: ir.Value) -> Any:
    size = e.abs(x)
    t = expm1(e, size)
    small = e.mul(e.c(0.5), e.add(t, e.div(t, e.add(t, e.c(1)))))
    return e.sign_of(e.select(e.gt(size, e.c(20)), _half_exp(e, size), small), x)


def cosh(e: Emitter, x: ir.Value) -> Any:
    size = e.abs(x)
    t = exp(e, size)
    small = e.add(e.mul(t, e.c(0.5)), e.div(e.c(0.5), t))
    return e.select(e.gt(size, e.c(20)), _half_exp(e, size), small)


def _half_exp(e: Emitter, x: ir.Value) -> Any:
    """exp(x) / 2 where exp(x) alone might overflow."""
    root = exp(e, e.mul(x, e.c(0.5)))
    return e.b.fmul(e.b.fmul(root, e.c(0.5)), root)


def asinh(e: Emitter, x: ir.Value) -> Any:
    size, large = e.abs(x), e.c(2.0 ** (_format(e).mantissa // 2 + 3))
    square = e.mul(size, size)
    root = e.call("sqrt", e.add(square, e.c(1)))
    near = log1p(e, e.add(size, e.div(square, e.add(root, e.c(1)))))
    far = e.add(log(e, size), e.c(math.log(2)))
    return e.sign_of(e.select(e.gt(size, large), far, near), x)


def acosh(e: Emitter, x: ir.Value) -> Any:
    large = e.c(2.0 ** (_format(e).mantissa // 2 + 3))
    t = e.sub(x, e.c(1))
    near = log1p(e, e.add(t, e.call("sqrt", e.add(e.mul(t, t), e.add(t, t)))))
    # Far below one the sum vanishes.
    near = e.select(e.lt(t, e.c(0)), e.c(float("nan")), near)
    return e.select(e.gt(x, large), e.add(log(e, x), e.c(math.log(2))), near)


def atanh(e: Emitter, x: ir.Value) -> Any:
    size = e.abs(x)
    ratio = e.div(e.add(size, size), e.b.fsub(e.c(1), size))
    return e.sign_of(e.mul(e.c(0.5), log1p(e, ratio)), x)


def _doubled(
    function: Callable[..., Any], of_double: Callable[..., Any], signed: bool = True
) -> Callable[..., Any]:
    """A function that is computed in double precision for float32; another one is float64's.

    With `signed` its result gets the sign of the first argument.  That is done in float32: where
    the argument comes from float16, LLVM copies its sign to float64 by calls of __truncdfhf2 on
    some processors, and there is no such function.
    """

    def computed(e: Emitter, *args: Any) -> Any:
        if e.wide == 64:
            return of_double(e, *args)
        d = e.with_dtype("float64")
        value = e.b.fptrunc(function(d, *(e.b.fpext(x, d.type) for x in args)), e.type)
        return e.sign_of(value, args[0]) if signed else value

    return computed


def _arc(d: Emitter, r: ir.Value, name: str) -> Any:
    """The arcus of a number in the range of its polynomial."""
    z = d.mul(r, r)
    return d.fma(d.mul(r, z), d.polynomial(z, coefficients.TABLE[name, 32]), r)


def _atan(d: Emitter, x: ir.Value) -> Any:
    size, one = d.abs(x), d.c(1)
    is_steep = d.gt(size, one)
    angle = _arc(d, d.select(is_steep, d.div(one, size), size), "atan")
    return d.select(is_steep, d.sub(d.c(math.pi / 2), angle), angle)


def _asin(d: Emitter, x: ir.Value) -> Any:
    size, half = d.abs(x), d.c(0.5)
    is_far = d.gt(size, half)
    # asin(x) = pi / 2 - 2 asin(sqrt((1 - x) / 2)); a number beyond one has no root.
    root = d.call("sqrt", d.mul(half, d.sub(d.c(1), size)))
    angle = _arc(d, d.select(is_far, root, size), "asin")
    far = d.sub(d.c(math.pi / 2), d.add(angle, angle))
    return d.select(is_far, far, angle)


def _acos(d: Emitter, x: ir.Value) -> Any:
    size, half = d.abs(x), d.c(0.5)
    is_far = d.gt(size, half)
    root = d.call("sqrt", d.mul(half, d.sub(d.c(1), size)))
    angle = _arc(d, d.select(is_far, root, x), "asin")
    twice = d.add(angle, angle)
    far = d.select(d.lt(x, d.c(0)), d.sub(d.c(math.pi), twice), twice)
    return d.select(is_far, far, d.sub(d.c(math.pi / 2), angle))


def _atan2(d: Emitter, y: ir.Value, x: ir.Value) -> Any:
    tall, wide, zero = d.abs(y), d.abs(x), d.c(0)
    is_steep = d.gt(tall, wide)
    least, most = d.select(is_steep, wide, tall), d.select(is_steep, tall, wide)
    # Of equal numbers, zeros and infinities too, the quotient is one or, of zeros, nothing.
    ratio = d.select(d.eq(least, most), d.c(1), d.div(least, most))
    ratio = d.select(d.eq(most, zero), zero, ratio)
    angle = _arc(d, ratio, "atan")
    angle = d.select(is_steep, d.sub(d.c(math.pi / 2), angle), angle)
    is_left = d.lt(d.sign_of(d.c(1), x), zero)  # minus zero is on the left
    angle = d.select(is_left, d.sub(d.c(math.pi), angle), angle)
    is_nan = d.b.or_(d.isnan(x), d.isnan(y))
    return d.select(is_nan, d.c(NAN), angle)


def erf(e: Emitter, x: ir.Value) -> Any:
    size = e.abs(x)
    near = e.fma(x, e.polynomial(e.mul(x, x), _table(e, "erf")), x)
    limit = e.c(4.0 if e.wide == 32 else 6.0)
    bounded = e.select(e.gt(size, limit), limit, size)
    value, n = _reduced_exp(e, e.neg(e.polynomial(bounded, _table(e, "-log erfc"))))
    complement = e.b.fmul(e.add(value, e.c(1)), _normal_power(e, n))
    far = e.sign_of(e.b.fsub(e.c(1), complement), x)
    return e.select(e.lt(size, e.c(1)), near, e.select(e.isnan(x), x, far))


def erfc(e: Emitter, x: ir.Value) -> Any:
    limit = e.c(10.5 if e.wide == 32 else 28.0)
    size = e.abs(x)
    value = _erfc_positive(e, e.select(e.gt(size, limit), limit, size))
    far = e.select(e.lt(x, e.c(0)), e.b.fsub(e.c(2), value), value)
    near = e.fma(e.neg(x), e.polynomial(e.mul(x, x), _table(e, "erf")), e.b.fsub(e.c(1), x))
    return e.select(e.lt(size, e.c(0.5)), near, far)


def _erfc_positive(e: Emitter, a: Any) -> Any:
    """erfc(a) = exp(-a**2) P((a - k) / (a + k)) / (1 + 2 a)."""
    k = e.c(2.0 if e.wide == 32 else 4.0)
    q = e.div(e.b.fsub(a, k), e.b.fadd(a, k))
    ratio = e.div(e.polynomial(q, _table(e, "erfc")), e.fma(a, e.c(2), e.c(1)))
    # a**2 = high + low exactly: a is cut to half its bits, whose square is exact.
    mask = (1 << e.wide) - (1 << (_format(e).mantissa // 2 + 1))
    cut = e.bitcast(e.b.and_(e.bitcast(a), e.i(mask)))
    high = e.b.fmul(cut, cut)
    low = e.b.fmul(e.b.fsub(a, cut), e.b.fadd(a, cut))
    scale = exp(e, e.neg(high))
    return e.mul(e.mul(scale, ratio), exp(e, e.neg(low)))


# sin and cos: the quadrant and the rest of the argument, then one of two polynomials.

_TWO_OVER_PI = 0xA2F9836E4E441529FC2757D1F534DDC0DB6295993C439041FE5163ABDEBBC561  # * 2**-256
# In parts of 25 bits, whose products with the quadrant are exact even without fused operations.
_HALF_PI = (1.5707963109016418, 1.5893254712295857e-08, 6.123233995736766e-17)


def _quadrant(e: Emitter, size: Any) -> tuple[Any, Any]:
    """(r, k): the float32 `size` >= 0 is k pi / 2 + r, k modulo 4 as an i32; reduced in float64."""
    wide, word = e.with_dtype("float64"), ir.IntType(64)
    x = e.b.fpext(size, wide.type)
    shifted = wide.fma(x, wide.c(2 / math.pi), wide.c(_FORMATS["float64"].magic))
    n = e.b.fsub(shifted, wide.c(_FORMATS["float64"].magic))
    r = x
    for part in _HALF_PI:
        r = wide.fma(n, wide.c(-part), r)
    is_large = wide.gt(x, wide.c(2.0**28))
    far_r, far_k = _far_quadrant(e, wide, size)
    k = e.select(is_large, far_k, e.bitcast_to(shifted, word))
    return e.b.fptrunc(e.select(is_large, far_r, r), e.type), e.b.trunc(k, e.int)


def _far_quadrant(e: Emitter, wide: Emitter, size: Any) -> tuple[Any, Any]:
    """The same for large arguments: the mantissa times the bits of 2 / pi that matter."""
    word = ir.IntType(64)
    words = [
        ir.Constant(word, (_TWO_OVER_PI >> shift) & (2**64 - 1)) for shift in (192, 128, 64, 0)
    ]
    bits = e.bitcast(size)
    exponent = e.b.sub(e.b.lshr(bits, e.i(23)), e.i(152))  # size = m * 2**(exponent + 2)
    mantissa = e.b.or_(e.b.and_(bits, e.i(0x7FFFFF)), e.i(0x800000))
    m, u = e.b.zext(mantissa, word), e.b.zext(e.b.and_(exponent, e.i(127)), word)
    late = e.b.icmp_unsigned(">=", u, word(64))
    first, second, third = (e.select(late, words[i + 1], words[i]) for i in range(3))
    shift = e.b.and_(u, word(63))
    window = wide.funnel(first, second, shift)
    below = e.b.lshr(wide.funnel(second, third, shift), word(32))
    product = e.b.add(e.b.mul(m, window), e.b.lshr(e.b.mul(m, below), word(32)))
    k = e.b.lshr(e.b.add(product, word(1 << 61)), word(62))
    rest = e.b.sub(product, e.b.shl(k, word(62)))
    r = e.b.fmul(e.b.sitofp(rest, wide.type), wide.c(math.pi / 2 * 2.0**-62))
    return e.select(e.lt(size, e.c(INF)), r, wide.c(NAN)), k


def _wave(e: Emitter, r: ir.Value, k: ir.Value) -> Any:
    """sin(r + k pi / 2)."""
    z = e.mul(r, r)
    sine = e.fma(e.mul(r, z), e.polynomial(z, _table(e, "sin")), r)
    cosine = e.fma(e.mul(z, z), e.polynomial(z, _table(e, "cos")), e.fma(z, e.c(-0.5), e.c(1)))
    odd = e.compare_bits(e.b.and_(k, e.i(1)))
    value = e.select(odd, cosine, sine)
    sign = e.b.shl(e.b.and_(k, e.i(2)), e.i(30))
    return e.bitcast(e.b.xor(e.bitcast(value), sign))


def sin(e: Emitter, x: ir.Value) -> Any:
    if e.wide == 64:
        return double_angles.sin(e, x)
    value = _wave(e, *_quadrant(e, e.abs(x)))
    sign = e.b.and_(e.bitcast(x), e.i(1 << 31))
    return e.bitcast(e.b.xor(e.bitcast(value), sign))


def cos(e: Emitter, x: ir.Value) -> Any:
    if e.wide == 64:
        return double_angles.cos(e, x)
    r, k = _quadrant(e, e.abs(x))
    return _wave(e, r, e.b.add(k, e.i(1)))


def tan(e: Emitter, x: ir.Value) -> Any:
    if e.wide == 64:
        return double_angles.tan(e, x)
    r, k = _quadrant(e, e.abs(x))
    value = e.div(_wave(e, r, k), _wave(e, r, e.b.add(k, e.i(1))))
    sign = e.b.and_(e.bitcast(x), e.i(1 << 31))
    return e.bitcast(e.b.xor(e.bitcast(value), sign))


def _single_power(e: Emitter, size: ir.Value, y: ir.Value) -> Any:
    """size ** y for size >= 0 or NaN; what neither has a limit, 1 for example, is left out."""
    d = e.with_dtype("float64")
    base, exponent = e.b.fpext(size, d.type), e.b.fpext(y, d.type)
    return e.b.fptrunc(exp(d, d.mul(exponent, log(d, base))), e.type)


def _double_power(e: Emitter, size: ir.Value, y: ir.Value) -> Any:
    """The same for float64: the exponential of a sum of two."""
    high, low = double_logarithm.log_parts(e, size)
    product = e.b.fmul(y, high)
    bounded = _clamp(e, product, *_format(e).exp_range)
    # (Of what is bounded the second part means nothing.)
    lost = e.fma(y, low, e.call("fma", y, high, e.neg(product)))
    lost = e.select(e.eq(bounded, product), lost, e.c(0))
    value, n = _reduced_exp(e, bounded)
    value = e.b.fadd(e.c(1), e.fma(lost, e.add(value, e.c(1)), value))
    return _scale(e, value, n)


def pow(e: Emitter, x: ir.Value, y: ir.Value) -> Any:
    if not e.is_float:
        return llvm_scalar.int_pow(e, x, y)
    value = (_double_power if e.wide == 64 else _single_power)(e, e.abs(x), y)
    whole = e.eq(e.call("rint", y), y)
    half = e.mul(y, e.c(0.5))
    odd = e.b.and_(whole, e.compare("!=", e.call("rint", half), half))
    value = e.select(odd, e.sign_of(value, x), value)
    undefined = e.b.and_(e.lt(x, e.c(0)), e.b.and_(e.gt(x, e.c(-INF)), e.b.not_(whole)))
    value = e.select(undefined, e.c(NAN), value)
    is_one = e.b.or_(e.eq(y, e.c(0)), e.eq(x, e.c(1)))
    minus_one = e.b.and_(e.eq(x, e.c(-1)), e.eq(e.abs(y), e.c(INF)))
    return e.select(e.b.or_(is_one, minus_one), e.c(1), value)


def _around(e: Emitter, size: ir.Value) -> tuple[Any, Any]:
    """sin(pi size) and cos(pi size) in float64 for 0 <= size <= 1/2."""
    # Beyond a quarter each is the other one of what is left to a half, which is exact.
    is_steep = e.gt(size, e.c(0.25))
    angle = e.mul(e.c(math.pi), e.select(is_steep, e.b.fsub(e.c(0.5), size), size))
    square = e.mul(angle, angle)
    sine = e.mul(angle, e.polynomial(square, coefficients.SINE))
    cosine = e.polynomial(square, coefficients.COSINE)
    return e.select(is_steep, cosine, sine), e.select(is_steep, sine, cosine)


def _cotangent(e: Emitter, x: ir.Value) -> Any:
    """cot(pi x) in float64 for -1/2 <= x <= 1/2."""
    sine, cosine = _around(e, e.abs(x))
    return e.sign_of(e.div(cosine, sine), x)


def digamma(e: Emitter, x: ir.Value) -> Any:
    """Reflection below zero, recurrence up to ten, then the asymptotic series; in float64."""
    d = e.with_dtype("float64")
    wide = e.b.fpext(x, d.type) if e.wide == 32 else x
    below = e.b.fcmp_ordered("<=", wide, d.c(0))
    at = e.select(below, d.b.fsub(d.c(1), wide), wide)
    total = d.c(0)
    for _ in range(10):
        early = d.lt(at, d.c(10))
        total = e.select(early, d.sub(total, d.div(d.c(1), at)), total)
        at = e.select(early, d.add(at, d.c(1)), at)
    inverse = d.div(d.c(1), at)
    series = d.polynomial(d.mul(inverse, inverse), coefficients.DIGAMMA)
    value = d.sub(
        d.sub(log(d, at), d.mul(d.c(0.5), inverse)), d.mul(d.mul(inverse, inverse), series)
    )
    value = d.add(value, total)
    fraction = d.sub(wide, d.call("rint", wide))
    value = e.select(below, d.sub(value, d.mul(d.c(math.pi), _cotangent(d, fraction))), value)
    pole = e.b.or_(d.eq(fraction, d.c(0)), d.eq(wide, d.c(-INF)))
    value = e.select(e.b.and_(below, pole), d.c(INF), value)
    return e.b.fptrunc(value, e.type) if e.wide == 32 else value


def lgamma(e: Emitter, x: ir.Value) -> Any:
    """log |gamma(x)|: for float32 as `digamma`, in float64; C's library has float64's."""
    if e.wide == 64:
        return e.library("lgamma", x)
    d = e.with_dtype("float64")
    wide = e.b.fpext(x, d.type)
    below = d.lt(wide, d.c(0.5))
    at = d.select(below, d.b.fsub(d.c(1), wide), wide)
    passed = d.c(1)
    for _ in range(8):
        early = d.lt(at, d.c(8))
        passed = d.select(early, d.mul(passed, at), passed)
        at = d.select(early, d.add(at, d.c(1)), at)
    inverse = d.div(d.c(1), at)
    series = d.mul(inverse, d.polynomial(d.mul(inverse, inverse), coefficients.STIRLING))
    half_log = d.c(0.5 * math.log(2 * math.pi))
    value = d.fma(d.b.fsub(at, d.c(0.5)), log(d, at), d.add(d.b.fsub(half_log, at), series))
    # gamma(x) gamma(1 - x) is pi / sin(pi x), whose logarithm is one with that of what was passed.
    fraction = d.abs(d.sub(wide, d.call("rint", wide)))
    mirror = d.div(d.mul(passed, d.c(math.pi)), _around(d, fraction)[0])
    rest = log(d, d.select(below, mirror, passed))
    value = d.select(below, d.sub(rest, value), d.sub(value, rest))
    is_zero = d.b.or_(d.eq(wide, d.c(1)), d.eq(wide, d.c(2)))
    is_end = d.b.or_(d.b.and_(below, d.eq(fraction, d.c(0))), d.eq(d.abs(wide), d.c(INF)))
    value = d.select(is_end, d.c(INF), d.select(is_zero, d.c(0), value))
    return e.b.fptrunc(value, e.type)


def _bessel(order: int) -> Callable[..., Any]:
    """exp(-|x|) times the modified Bessel function of order 0 or 1."""

    def computed(e: Emitter, x: ir.Value) -> Any:
        size, limit = e.abs(x), e.c(8)
        is_near = e.lt(size, limit)
        small, large = e.select(is_near, size, limit), e.select(is_near, limit, size)
        near = e.polynomial(e.fma(small, e.c(0.25), e.c(-1)), _table(e, f"i{order}e near"))
        near = e.div(e.mul(near, small) if order else near, e.add(small, e.c(1)))
        place = e.b.fsub(e.div(e.c(16), large), e.c(1))
        far = e.div(e.polynomial(place, _table(e, f"i{order}e far")), e.call("sqrt", large))
        value = e.select(is_near, near, far)
        return e.sign_of(value, x) if order else value

    return computed


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "lgamma": lgamma,
    "asin": _doubled(_asin, double_angles.asin),
    "acos": _doubled(_acos, double_angles.acos, signed=False),
    "atan": _doubled(_atan, double_angles.atan),
    "atan2": _doubled(_atan2, double_angles.atan2),
    "exp": exp,
    "expm1": expm1,
    "log": log,
    "log1p": log1p,
    "sin": sin,
    "cos": cos,
    "tan": tan,
    "sinh": sinh,
    "cosh": cosh,
    "tanh": tanh,
    "asinh": asinh,
    "acosh": acosh,
    "atanh": atanh,
    "sigmoid": sigmoid,
    "erf": erf,
    "erfc": erfc,
    "pow": pow,
    "digamma": digamma,
    "i0e": _bessel(0),
    "i1e": _bessel(1),
}
