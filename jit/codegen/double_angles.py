# SPDX-License-Identifier: Apache-2.0
"""Sine, cosine, tangent and their inverses of float64 as straight-line LLVM code.

An angle is reduced in fixed point whatever its size: its mantissa times those bits of 2 / pi that
are neither whole turns nor far below the result.  What is left has two parts, so that a multiple of
pi as near as a float64 gets to it still gives all digits.  Imports llvmlite alone.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from llvmlite import ir

from . import coefficients
from .llvm_scalar import Emitter
from .two_parts import Parts, two_product, two_sum

# 2 / pi * 2 ** -55 in words of 64 bits: whatever an angle's exponent, 192 bits in a row matter.
_WORDS = tuple(
    int(word, 16)
    for word in """
    0000000000000145 f306dc9c882a53f8 4eafa3ea69bb81b6 c52b3278872083fc a2c757bd778ac36e
    48dc74849ba5c00c 925dd413a32439fc 3bd63962534e7dd1 046bea5d768909d3 38e04d68befc8273
    23ac7306a673e939 08bf177bf250763f f12fffbc0b301fde 5e2316b414da3eda 6cfd9e4f96136e9e
    8c7ecd3cbfd45aea 4f758fd7cbe2f67a 0e73ef14a525d4d7 f6bf623f1aba10ac
    """.split()
)
_HALF_PI = (1.5707963267948966, 6.123233995736766e-17)
_QUARTER_PI = (math.pi / 4, _HALF_PI[1] / 2)
_EIGHTH = 0.41421356237309503  # the tangents of an eighth of pi and of three
_THREE_EIGHTHS = 2.414213562373095
_LOW = (1 << 32) - 1


class Reduced(NamedTuple):
    """An angle of at most pi / 4 in two parts, and how many quarter turns were taken off."""

    r: Any
    tail: Any
    turns: Any


def _reduced(e: Emitter, size: Any) -> Reduced:
    """size >= 0 as a rest and quarter turns; NaN of infinity and NaN."""
    bits = e.bitcast(size)
    exponent = e.b.lshr(bits, e.i(52))
    mantissa = e.b.or_(e.b.and_(bits, e.i((1 << 52) - 1)), e.i(1 << 52))
    # Below 1 nothing is shifted out of the words; the largest exponent, which would need one word
    # more, has its last bit in the mantissa.
    place = e.b.sub(exponent, e.i(1022))
    is_last = e.b.icmp_signed("==", place, e.i(1024))
    place = e.select(is_last, e.i(1023), place)
    mantissa = e.select(is_last, e.b.add(mantissa, mantissa), mantissa)
    whole, fraction = _product(e, mantissa, _window(e, place))
    # Of `whole` two bits count quarter turns and 62 are behind the point.
    rounded = e.b.add(whole, e.i(1 << 61))
    turns = e.b.lshr(rounded, e.i(62))
    r, tail = _in_radians(e, e.b.and_(rounded, e.i((1 << 62) - 1)), fraction)
    is_small = e.lt(size, e.c(_QUARTER_PI[0]))
    r = e.select(is_small, size, e.select(e.lt(size, e.c(math.inf)), r, e.c(math.nan)))
    none = e.i(0)
    return Reduced(r, e.select(is_small, e.c(0), tail), e.select(is_small, none, turns))


def _window(e: Emitter, place: Any) -> list[Any]:
    """Three words of 2 / pi, from a bit on."""
    words: list[Any] = [e.i(word) for word in _WORDS]
    # By the bits of the place, the highest first: each halves what may still be meant.
    for bit, count in ((9, 11), (8, 7), (7, 5), (6, 4)):
        is_set = e.compare_bits(e.b.and_(place, e.i(1 << bit)))
        ahead = 1 << (bit - 6)
        words = [e.select(is_set, words[n + ahead], words[n]) for n in range(count)]
    shift = e.b.and_(place, e.i(63))
    return [e.funnel(high, low, shift) for high, low in zip(words, words[1:])]


def _product(e: Emitter, m: Any, words: list[Any]) -> tuple[Any, Any]:
    """The last two words but one of a mantissa times three words; what is above them is turns."""
    whole = e.b.add(e.b.mul(m, words[0]), _high(e, m, words[1]))
    middle = e.b.mul(m, words[1])
    fraction = e.b.add(middle, _high(e, m, words[2]))
    carry = e.b.zext(e.b.icmp_unsigned("<", fraction, middle), e.int)
    return e.b.add(whole, carry), fraction


def _high(e: Emitter, x: Any, y: Any) -> Any:
    """The upper word of the product of two words."""
    low, half = e.i(_LOW), e.i(32)
    x0, x1, y0, y1 = (part for v in (x, y) for part in (e.b.and_(v, low), e.b.lshr(v, half)))
    middle = e.b.add(e.b.mul(x0, y1), e.b.lshr(e.b.mul(x0, y0), half))
    other = e.b.add(e.b.mul(x1, y0), e.b.and_(middle, low))
    return e.b.add(e.b.add(e.b.mul(x1, y1), e.b.lshr(middle, half)), e.b.lshr(other, half))


def _in_radians(e: Emitter, whole: Any, fraction: Any) -> Parts:
    """Quarter turns in fixed point, less one half, times pi / 2 as two numbers."""

    def placed(bits: Any, last: int, less: float = 0.0) -> Any:
        # Bits in the mantissa of a power of two that makes them worth what they are; exact.
        ground = math.ldexp(1, 52 + last)
        exponent = e.i((1023 + 52 + last) << 52)
        return e.b.fsub(e.bitcast(e.b.or_(bits, exponent)), e.c(ground + less))

    high = placed(e.b.lshr(whole, e.i(32)), -30, less=0.5)
    middle = placed(e.b.and_(whole, e.i(_LOW)), -62)
    low = placed(e.b.lshr(fraction, e.i(12)), -114)
    turn = e.b.fadd(high, middle)
    rest = e.b.fadd(e.b.fsub(middle, e.b.fsub(turn, high)), low)
    product = two_product(e, Parts(turn, rest), _known(e, _HALF_PI))
    return two_sum(e, product.high, product.low)


def _known(e: Emitter, parts: tuple[float, float]) -> Parts:
    return Parts(e.c(parts[0]), e.c(parts[1]))


def _waves(e: Emitter, at: Reduced) -> tuple[Any, Any]:
    """Sine and cosine of the rest of an angle."""
    r, tail = at.r, at.tail
    z = e.mul(r, r)
    half = e.mul(z, e.c(0.5))
    level = e.b.fsub(e.c(1), half)
    sines = e.polynomial(z, coefficients.TABLE["sin", 64])
    sine = e.b.fadd(r, e.fma(e.mul(r, z), sines, e.mul(tail, level)))
    cosines = e.polynomial(z, coefficients.TABLE["cos", 64])
    lost = e.b.fsub(e.b.fsub(e.c(1), level), half)
    rest = e.fma(e.mul(z, z), cosines, e.fma(e.neg(r), tail, lost))
    return sine, e.b.fadd(level, rest)


def _turned(e: Emitter, at: Reduced, turns: Any) -> Any:
    """The sine of an angle that has so many quarter turns."""
    sine, cosine = _waves(e, at)
    value = e.select(e.compare_bits(e.b.and_(turns, e.i(1))), cosine, sine)
    sign = e.b.shl(e.b.and_(turns, e.i(2)), e.i(62))
    return e.bitcast(e.b.xor(e.bitcast(value), sign))


def _with_sign(e: Emitter, value: Any, x: Any) -> Any:
    """The value, its sign the other one where x is negative."""
    sign = e.b.and_(e.bitcast(x), e.i(1 << 63))
    return e.bitcast(e.b.xor(e.bitcast(value), sign))


def sin(e: Emitter, x: ir.Value) -> Any:
    at = _reduced(e, e.abs(x))
    return _with_sign(e, _turned(e, at, at.turns), x)


def cos(e: Emitter, x: ir.Value) -> Any:
    at = _reduced(e, e.abs(x))
    return _turned(e, at, e.b.add(at.turns, e.i(1)))


def tan(e: Emitter, x: ir.Value) -> Any:
    at = _reduced(e, e.abs(x))
    sine, cosine = _waves(e, at)
    is_odd = e.compare_bits(e.b.and_(at.turns, e.i(1)))
    top, bottom = e.select(is_odd, e.neg(cosine), sine), e.select(is_odd, sine, cosine)
    return _with_sign(e, e.div(top, bottom), x)


def _arc(e: Emitter, t: Any, name: str) -> Any:
    """How much more the arcus of a number is than the number."""
    z = e.mul(t, t)
    return e.mul(e.mul(t, z), e.polynomial(z, coefficients.TABLE[name, 64]))


def _around(e: Emitter, base: Any, lost: Any, t: Any) -> Any:
    """base + lost + atan(t)."""
    return e.b.fadd(base, e.b.fadd(t, e.b.fadd(_arc(e, t, "atan"), lost)))


def atan(e: Emitter, x: ir.Value) -> Any:
    size, one = e.abs(x), e.c(1)
    is_far, is_mid = e.gt(size, e.c(_THREE_EIGHTHS)), e.gt(size, e.c(_EIGHTH))

    def chosen(far: Any, middle: Any, near: Any) -> Any:
        return e.select(is_far, far, e.select(is_mid, middle, near))

    top = chosen(e.c(-1), e.b.fsub(size, one), size)
    t = e.div(top, chosen(size, e.b.fadd(size, one), one))
    parts = ((e.c(a), e.c(b), e.c(0)) for a, b in zip(_HALF_PI, _QUARTER_PI))
    base, lost = (chosen(*part) for part in parts)
    return e.sign_of(_around(e, base, lost, t), x)


def atan2(e: Emitter, y: ir.Value, x: ir.Value) -> Any:
    tall, wide, zero = e.abs(y), e.abs(x), e.c(0)
    is_steep = e.gt(tall, wide)
    # Of large numbers a quarter, so that their sum is finite.
    scale = e.select(e.gt(e.select(is_steep, tall, wide), e.c(2.0**1000)), e.c(0.25), e.c(1))
    least = e.b.fmul(e.select(is_steep, wide, tall), scale)
    most = e.b.fmul(e.select(is_steep, tall, wide), scale)
    # Of equal numbers the difference is nothing, of infinities too.
    is_equal = e.b.and_(e.eq(least, most), e.gt(most, zero))
    is_mid = e.b.or_(is_equal, e.gt(least, e.b.fmul(most, e.c(_EIGHTH))))
    difference = e.select(is_equal, zero, e.b.fsub(least, most))
    bottom = e.select(is_mid, e.b.fadd(least, most), most)
    bottom = e.select(e.eq(most, zero), e.c(1), bottom)
    t = e.div(e.select(is_mid, difference, least), bottom)
    is_left = e.lt(e.sign_of(e.c(1), x), zero)  # minus zero is on the left
    # Quarters of pi before the arcus, which counts backwards above and on the left.
    quarters = e.select(is_mid, e.c(1), zero)
    quarters = e.select(is_steep, e.b.fsub(e.c(2), quarters), quarters)
    quarters = e.select(is_left, e.b.fsub(e.c(4), quarters), quarters)
    base, lost = two_product(e, Parts(quarters, zero), _known(e, _QUARTER_PI))
    t = e.select(e.b.xor(is_steep, is_left), e.neg(t), t)
    angle = e.sign_of(_around(e, base, lost, t), y)
    return e.select(e.b.or_(e.isnan(x), e.isnan(y)), e.c(math.nan), angle)


def _far_half(e: Emitter, size: Any) -> tuple[Any, Any, Any]:
    """Whether a number is above 1/2, then sqrt((1 - size) / 2), else it; and the arcus' rest."""
    half = e.c(0.5)
    is_far = e.gt(size, half)
    # A number beyond one has no root.
    root = e.call("sqrt", e.b.fmul(half, e.b.fsub(e.c(1), size)))
    s = e.select(is_far, root, size)
    return is_far, s, _arc(e, s, "asin")


def asin(e: Emitter, x: ir.Value) -> Any:
    is_far, s, rest = _far_half(e, e.abs(x))
    # asin(x) = pi / 2 - 2 asin(sqrt((1 - x) / 2)).
    rest = e.b.fsub(rest, e.select(is_far, e.c(_HALF_PI[1] / 2), e.c(0)))
    far = e.fma(e.b.fadd(s, rest), e.c(-2), e.c(_HALF_PI[0]))
    return e.sign_of(e.select(is_far, far, e.b.fadd(s, rest)), x)


def acos(e: Emitter, x: ir.Value) -> Any:
    is_far, s, rest = _far_half(e, e.abs(x))
    is_left = e.lt(x, e.c(0))
    twice = e.b.fmul(e.c(2), e.b.fadd(s, rest))
    left = e.b.fadd(e.b.fsub(e.c(2 * _HALF_PI[0]), twice), e.c(2 * _HALF_PI[1]))
    far = e.select(is_left, left, twice)
    signed = e.b.fadd(s, e.b.fsub(rest, e.select(is_left, e.c(-_HALF_PI[1]), e.c(_HALF_PI[1]))))
    near = e.b.fsub(e.c(_HALF_PI[0]), e.select(is_left, e.neg(signed), signed))
    return e.select(is_far, far, near)
