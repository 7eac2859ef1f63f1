# SPDX-License-Identifier: Apache-2.0
"""The kernels of special functions of two and three arguments; see jit/library/special.py.

All is computed in double precision, but what is rounded to single precision stops when it has the
digits of that, and some more.
"""

from __future__ import annotations

from collections.abc import Callable

from .plain_vocabulary import (
    GIVEN,
    Arguments,
    Scalar,
    cos,
    exp,
    float32,
    float64,
    helper,
    int64,
    log,
    log1p,
    pointer,
    sin,
    sqrt,
)

FUNCTION: Callable[..., Scalar] = GIVEN
IS_SINGLE: bool = GIVEN  # is the result float32?
LARGEST: float = GIVEN  # the largest and the smallest normal number of the op's dtype
TINY: float = GIVEN
EPSILON: float = GIVEN  # a part of a result that does not count
FIRST: int = GIVEN  # terms of Zeta's series before its sum is one of derivatives
DEPTH: int = GIVEN  # levels of the fraction of a slope, and how many more there are with sqrt(a)
GROWTH: float = GIVEN

HUGE = 1.7976931348623157e308  # above it there is infinity alone
PI = 3.141592653589793
HALF_LOG_TWO_PI = 0.9189385332046727
MOST_TERMS = 100000
GROWN = 2.0**100  # both sides of a fraction are divided by it
NORMAL = 1e6  # from here on slopes are those of a distribution that is nearly normal
# B(2n) / (2n (2n - 1)) of Stirling's series, B(2n) / 2n of Digamma's, B(2n) / (2n)! of Zeta's.
S1, S2, S3, S4, S5, S6, S7 = 1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156
D1, D2, D3, D4, D5, D6, D7 = 1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12
Z = (
    *(1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160, -691 / 1307674368000),
    *(1 / 74724249600, -3617 / 10670622842880000, 43867 / 5109094217170944000),
    *(-174611 / 802857662698291200000, 77683 / 14101100039391805440000),
    -236364091 / 1693824136731743669452800000,
)


@helper
def infinity() -> Scalar:
    return float64(HUGE) * 2.0


@helper
def not_a_number() -> Scalar:
    return infinity() - infinity()


@helper
def stirling(x: Scalar) -> Scalar:
    """What the logarithm of gamma is more than (x - 1/2) log(x) - x + log(2 pi) / 2; x >= 10."""
    r = 1.0 / x
    s = r * r
    return r * (S1 + s * (S2 + s * (S3 + s * (S4 + s * (S5 + s * (S6 + s * S7))))))


@helper
def log_gamma(x: Scalar) -> Scalar:
    """The logarithm of gamma for x > 0."""
    below = float64(1.0)
    while x < 10.0:
        below *= x
        x += 1.0
    return (x - 0.5) * log(x) - x + HALF_LOG_TWO_PI + stirling(x) - log(below)


@helper
def psi(x: Scalar) -> Scalar:
    """The derivative of the logarithm of gamma."""
    total = float64(0.0)
    if x <= 0.0:
        fraction = x - float64(int64(x - 0.5)) if x > -4e18 else float64(0.0)
        if fraction == 0.0:
            return infinity()
        total = -PI * cos(PI * fraction) / sin(PI * fraction)
        x = 1.0 - x
    while x < 10.0:
        total -= 1.0 / x
        x += 1.0
    s = 1.0 / (x * x)
    rest = s * (D1 + s * (D2 + s * (D3 + s * (D4 + s * (D5 + s * (D6 + s * D7))))))
    return total + log(x) - 0.5 / x - rest


@helper
def gamma_density(a: Scalar, x: Scalar) -> Scalar:
    """x**a exp(-x) / gamma(a), for a > 0 and x > 0."""
    if a < 20.0:
        return exp(a * log(x) - x - log_gamma(a))
    # In terms of how far x is from a, so that large numbers do not cancel out.
    u = (x - a) / a
    return exp(a * (log1p(u) - u) - stirling(a)) * sqrt(a / (2 * PI))


@helper
def lower_part(a: Scalar, x: Scalar) -> Scalar:
    """P(a, x) by its series, which has positive terms."""
    term = 1.0 / a
    total, n, count = term, a, 0
    while term > total * EPSILON and count < MOST_TERMS:
        n += 1.0
        term *= x / n
        total += term
        count += 1
    return total * gamma_density(a, x)


@helper
def upper_part(a: Scalar, x: Scalar) -> Scalar:
    """Q(a, x) by its continued fraction, for x > a and x > 1.

    Fractions that follow each other are compared crosswise: a division takes longer than a step.
    """
    y, z, i = 1.0 - a, x + 2.0 - a, float64(0.0)
    under, under_before = float64(1.0), 1.0 / z
    over, over_before = (x + 1.0) / x * under_before, under_before / x
    left, right = float64(1.0), float64(0.0)
    while abs(left - right) > 2 * EPSILON * abs(left) and i < MOST_TERMS:
        i += 1.0
        y += 1.0
        z += 2.0
        factor = y * i
        over, over_before = over * z - over_before * factor, over
        under, under_before = under * z - under_before * factor, under
        if abs(under) > GROWN:
            over, over_before = over / GROWN, over_before / GROWN
            under, under_before = under / GROWN, under_before / GROWN
        left, right = over * under_before, over_before * under
    return over / under * gamma_density(a, x)


@helper
def lacks_fraction(a: Scalar, x: Scalar) -> bool:
    """Where TensorFlow's fraction is an infinity over another."""
    beyond = a > 0.0 and x > a and x <= HUGE and x * (x - a + 2.0) > LARGEST
    return a == 0.0 or beyond or (a > HUGE and x >= 1.0)


@helper
def igamma(a: Scalar, x: Scalar) -> Scalar:
    """The lower regularized incomplete gamma function P(a, x)."""
    if x == 0.0:
        return float64(0.0)
    if not (a > 0.0 and x > 0.0) or lacks_fraction(a, x):
        return not_a_number()
    if a > HUGE:
        return float64(0.0)
    if x > HUGE:
        return float64(1.0)
    return 1.0 - upper_part(a, x) if x > 1.0 and x > a else lower_part(a, x)


@helper
def igammac(a: Scalar, x: Scalar) -> Scalar:
    """The upper regularized incomplete gamma function Q(a, x)."""
    if x > HUGE and a > HUGE:
        return float64(0.0)
    if not (a > 0.0 and x >= 0.0) or lacks_fraction(a, x):
        return not_a_number()
    if a > HUGE or x == 0.0:
        return float64(1.0)
    if x > HUGE:
        return float64(0.0)
    return upper_part(a, x) if x > 1.0 and x > a else 1.0 - lower_part(a, x)


@helper
def upper_slope(a: Scalar, x: Scalar) -> Scalar:
    """The derivative of Q(a, x) by a, by that of its continued fraction from the far end on.

    As that of P, without the factor x**a exp(-x) / gamma(a).
    """
    i = float64(int64(GROWTH * sqrt(a)) + DEPTH)
    f, slope = x + 2.0 * i + 1.0 - a, float64(-1.0)
    while i > 0.0:
        factor = i * (a - i)
        slope = (i * f - factor * slope) / (f * f) - 1.0
        f = x + 2.0 * i - 1.0 - a + factor / f
        i -= 1.0
    return (log(x) - psi(a) - slope / f) / f


@helper
def lower_slope(a: Scalar, x: Scalar) -> Scalar:
    """The derivative of P(a, x) by a: of each term of the series, and of what they are times."""
    term, slope = float64(1.0), float64(0.0)
    total, slopes, n, count = term, slope, a, 0
    while (term > total * EPSILON or abs(slope) > abs(slopes) * EPSILON) and count < MOST_TERMS:
        n += 1.0
        slope = (slope - term / n) * x / n
        term *= x / n
        total += term
        slopes += slope
        count += 1
    return (slopes + total * (log(x) - psi(a + 1.0))) / a


@helper
def normal_slope(a: Scalar, x: Scalar) -> Scalar:
    """The same for a so large that cube roots of samples are normal, after Wilson and Hilferty.

    Where P is neither 0 nor 1.  Fractions and series have too many terms there.
    """
    root = exp(log(x / a) / 3.0)
    return -root * root * (1.5 - 0.5 * root + 1.0 / (6.0 * a)) / x


@helper
def relative_slope(a: Scalar, x: Scalar) -> Scalar:
    """The derivative of P(a, x) by a, without the factor x**a exp(-x) / gamma(a)."""
    if not (a > 0.0 and x > 0.0 and a <= HUGE and x <= HUGE):
        is_end = a > 0.0 and a <= HUGE and (x == 0.0 or x > HUGE)
        return float64(0.0) if is_end else not_a_number()
    if a > NORMAL:
        return normal_slope(a, x)
    return -upper_slope(a, x) if x > a + 2.0 * sqrt(a) + 2.0 else lower_slope(a, x)


@helper
def igamma_slope(a: Scalar, x: Scalar) -> Scalar:
    """The derivative of P(a, x) by a."""
    slope = relative_slope(a, x)
    return slope if slope == 0.0 or slope != slope else slope * gamma_density(a, x)


@helper
def gamma_slope(a: Scalar, x: Scalar) -> Scalar:
    """How a sample x of the gamma distribution moves with a."""
    return -relative_slope(a, x) * x


@helper
def power(x: Scalar, y: Scalar) -> Scalar:
    """x ** y, for x < 0 of whole numbers y."""
    if y < 0.0 and y >= -8.0 and y == float64(int64(y)):
        inverse, made = 1.0 / x, float64(1.0)
        while y < 0.0:
            made *= inverse
            y += 1.0
        return made
    size = exp(y * log(abs(x)))
    return -size if x < 0.0 and y - 2.0 * float64(int64(0.5 * y)) != 0.0 else size


@helper
def lacks_series(x: Scalar, q: Scalar) -> bool:
    """Where the terms of TensorFlow's series are zero times infinity."""
    grown = float64(1.0)
    if x > 20.0:  # less grows to less than the largest float32
        for i in range(23):
            grown *= x + float64(i)
    return q > HUGE or (q > 0.0 and power(q, -x) < TINY and grown > LARGEST)


@helper
def zeta(x: Scalar, q: Scalar) -> Scalar:
    """The Hurwitz zeta function, by Euler and Maclaurin behind the first terms."""
    if x == 1.0:
        return infinity()
    if x < 1.0 or q != q or (x > 1.0 and lacks_series(x, q)):
        return not_a_number()
    if q <= 0.0:
        if q < -1e15 or q == float64(int64(q)):
            return infinity()
        if not x < 1e15 or x != float64(int64(x)):
            return infinity() if x > HUGE else not_a_number()
    if x != x:
        return not_a_number()
    if x > HUGE:
        return infinity() if q < 1.0 else float64(1.0 if q == 1.0 else 0.0)
    if q > 1e8:
        return (1.0 / (x - 1.0) + 1.0 / (2.0 * q)) * power(q, 1.0 - x)
    term, at, count = power(q, -x), q, 0
    total = term
    while count < FIRST or at <= float64(FIRST):
        count += 1
        at += 1.0
        term = power(at, -x)
        total += term
        if abs(term) < abs(total) * EPSILON:
            return total
    total += term * at / (x - 1.0) - 0.5 * term
    inverse, k = 1.0 / at, x
    term *= k * inverse
    for number in Z:
        total += term * number
        if abs(term * number) < abs(total) * EPSILON:
            return total
        term *= (k + 1.0) * (k + 2.0) * inverse * inverse
        k += 2.0
    return total


@helper
def polygamma(n: Scalar, x: Scalar) -> Scalar:
    """The n-th derivative of Digamma: (-1)**(n + 1) n! zeta(n + 1, x)."""
    if n == 0.0:
        return psi(x)
    if n > HUGE:
        return not_a_number() if lacks_series(n, x) else infinity() * zeta(n, x)
    if not (n > 0.0 and n < 1e15) or n != float64(int64(n)) or lacks_series(n + 1.0, x):
        return not_a_number()
    factor, k = float64(-1.0), n
    while k > 0.0 and abs(factor) <= HUGE:
        factor *= k
        k -= 1.0
    sign = -1.0 if n - 2.0 * float64(int64(0.5 * n)) == 0.0 else 1.0
    return sign * abs(factor) * zeta(n + 1.0, x)


@helper
def beta_fraction(a: Scalar, b: Scalar, x: Scalar) -> Scalar:
    """The continued fraction of the incomplete beta function, after Lentz.

    For x < (a + 1) / (a + b + 2).
    """
    small = float64(1e-300)
    c, d = float64(1.0), 1.0 - (a + b) * x / (a + 1.0)
    d = 1.0 / (small if abs(d) < small else d)
    h, m, change = d, float64(0.0), float64(0.0)
    while abs(change - 1.0) > 2 * EPSILON and m < MOST_TERMS:
        m += 1.0
        factor = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m))
        d, c = 1.0 + factor * d, 1.0 + factor / c
        d = 1.0 / (small if abs(d) < small else d)
        c = small if abs(c) < small else c
        h *= d * c
        factor = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0))
        d, c = 1.0 + factor * d, 1.0 + factor / c
        d = 1.0 / (small if abs(d) < small else d)
        c = small if abs(c) < small else c
        change = d * c
        h *= change
    return h


@helper
def betainc(a: Scalar, b: Scalar, x: Scalar) -> Scalar:
    """The regularized incomplete beta function."""
    if a <= 0.0 or b <= 0.0:
        return not_a_number()
    if x == 0.0 or x == 1.0:
        return abs(x)
    if not (x > 0.0 and x < 1.0 and a <= HUGE and b <= HUGE):
        return not_a_number()
    beta = log_gamma(a) + log_gamma(b) - log_gamma(a + b)
    front = exp(a * log(x) + b * log1p(-x) - beta)
    if x < (a + 1.0) / (a + b + 2.0):
        return front * beta_fraction(a, b, x) / a
    return 1.0 - front * beta_fraction(b, a, 1.0 - x) / b


def of_two(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: x, y, values."""
    x, y, out = pointer(args[0]), pointer(args[1]), pointer(args[2])
    for r in range(r0, r1):
        value = FUNCTION(float64(x[r]), float64(y[r]))
        out[r] = float32(value) if IS_SINGLE else value


def of_three(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: x, y, z, values."""
    x, y, z, out = pointer(args[0]), pointer(args[1]), pointer(args[2]), pointer(args[3])
    for r in range(r0, r1):
        value = FUNCTION(float64(x[r]), float64(y[r]), float64(z[r]))
        out[r] = float32(value) if IS_SINGLE else value
