# SPDX-License-Identifier: Apache-2.0
"""The kernels of random numbers that are drawn until one is accepted; see jit/library/rejection.py.

Every sample owns 256 blocks of the stream, from which it takes uniform and normal numbers two at a
time, the second of a pair first.  The methods are those of ops/random/rejection.py.
"""

from __future__ import annotations

from collections.abc import Callable

from .plain_vocabulary import (
    GIVEN,
    Arguments,
    Scalar,
    exp,
    float32,
    float64,
    helper,
    int64,
    log,
    pointer,
    sqrt,
    uint64,
)
from .random_kernels import ONE, block, normal_float64, uniform_float64
from .special_kernels import log_gamma

SAMPLE: Callable[..., Scalar] = GIVEN
KIND: str = GIVEN  # of the samples: float32, float64, or an integer

BLOCKS = uint64(256)
MOST_TURNS = 10000  # parameters that are too large may accept nothing


@helper
def uniforms(key: Scalar, low: Scalar, high: Scalar, at: Scalar) -> tuple[Scalar, Scalar]:
    n0, n1, n2, n3 = block(key, low, high, at)
    return uniform_float64(n0, n1, n2, n3, 0, 0)


@helper
def normals(key: Scalar, low: Scalar, high: Scalar, at: Scalar) -> tuple[Scalar, Scalar]:
    n0, n1, n2, n3 = block(key, low, high, at)
    return normal_float64(n0, n1, n2, n3, 0, 0)


@helper
def gamma(alpha: Scalar, key: Scalar, low: Scalar, high: Scalar, at: Scalar) -> Scalar:
    """Marsaglia and Tsang's method; below one, by way of alpha + 1."""
    if alpha == 1.0:
        return -log(1.0 - uniforms(key, low, high, at)[1])
    d = alpha + (2.0 / 3 if alpha < 1.0 else -1.0 / 3)
    c = 1.0 / 3 / sqrt(d)
    x0, x1 = float64(0.0), float64(0.0)
    u0, u1 = float64(0.0), float64(0.0)
    normal_left, uniform_left, turns, found = 0, 0, 0, float64(-1.0)
    while found < 0.0 and turns < MOST_TURNS:
        turns += 1
        if normal_left == 0:
            x0, x1 = normals(key, low, high, at)
            at = at + ONE
            normal_left = 2
        normal_left -= 1
        x = x1 if normal_left == 1 else x0
        v = 1.0 + c * x
        # (What is no number goes on: of an alpha that is none, all samples are none.)
        if v > 0.0 or v != v:
            v = v * v * v
            if uniform_left == 0:
                u0, u1 = uniforms(key, low, high, at)
                at = at + ONE
                uniform_left = 2
            uniform_left -= 1
            u = u1 if uniform_left == 1 else u0
            square = x * x
            # The squeeze mostly saves the exact test, which takes logarithms.
            if u < 1.0 - 0.0331 * square * square:
                found = d * v
            elif log(u) < 0.5 * square + d * (1.0 - v + log(v)):
                found = d * v
    if alpha < 1.0:
        if uniform_left == 0:
            u0, u1 = uniforms(key, low, high, at)
            uniform_left = 2
        u = u1 if uniform_left == 2 else u0
        found *= exp(log(u) / alpha)
    return found


@helper
def poisson(rate: Scalar, key: Scalar, low: Scalar, high: Scalar, at: Scalar) -> Scalar:
    """Knuth's method for small rates, else Hoermann's transformed rejection."""
    u0, u1 = float64(0.0), float64(0.0)
    count, turns = float64(0.0), 0
    if rate < 10.0:
        limit, product, left, is_open = exp(-rate), float64(1.0), 0, True
        while is_open:
            if left == 0:
                u0, u1 = uniforms(key, low, high, at)
                at = at + ONE
                left = 2
            left -= 1
            product *= u1 if left == 1 else u0
            is_open = product > limit
            count += 1.0 if is_open else 0.0
        return count
    b = 0.931 + 2.53 * sqrt(rate)
    a = -0.059 + 0.02483 * b
    alpha, squeeze = 1.1239 + 1.1328 / (b - 3.4), 0.9277 - 3.6224 / (b - 2.0)
    is_open = rate >= 10.0
    while is_open and turns < MOST_TURNS:
        turns += 1
        u0, u1 = uniforms(key, low, high, at)
        at = at + ONE
        u, v = u1 - 0.5, u0
        shifted = 0.5 - abs(u)
        drawn = (2.0 * a / shifted + b) * u + rate + 0.43
        # (What no integer holds is whole.)
        k = float64(int64(drawn)) if abs(drawn) < 4e18 else drawn
        k = k - 1.0 if k > drawn else k
        if shifted >= 0.07 and v <= squeeze:
            count, is_open = k, False
        elif not (k < 0.0 or (shifted < 0.013 and v > shifted)):
            s = log(v * alpha / (a / (shifted * shifted) + b))
            if s <= -rate + k * log(rate) - log_gamma(k + 1.0):
                count, is_open = k, False
    return count


def draw(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: parameters, samples; how many samples of each, how many parameters; then the stream's
    position.  All samples of a parameter stand together in the stream, and apart in the result.
    """
    parameters, out, count, width = pointer(args[0]), pointer(args[1]), args[2], args[3]
    key, low, high = uint64(args[4]), uint64(args[5]), uint64(args[6])
    for r in range(r0, r1):
        which = r // count
        value = SAMPLE(parameters[which], key, low, high, uint64(r) * BLOCKS)
        place = (r - which * count) * width + which
        if KIND == "float32":
            out[place] = float32(value)
        elif KIND == "float64":
            out[place] = value
        else:
            out[place] = int64(value)
