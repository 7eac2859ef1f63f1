# SPDX-License-Identifier: Apache-2.0
"""Resizing by weighted sums of several rows and columns: bicubic, by area, and scaled and moved.

What each row (or column) of the result takes of the image's is a table, made with NumPy in single
precision as TensorFlow does, and read by one kernel of jit/library/image.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine.record_class import record
from ...jit.kernel import scalar as k

if TYPE_CHECKING:
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder

STEPS = 1 << 10
# Weights that add up to less are left as they are.
TINY = np.float32(1000) * np.finfo(np.float32).tiny


@record(frozen=True)
class Spans:
    """For each row of a result: how many rows of the image it takes, which, and how much of each.

    places: int64 and weights: float32, [rows, most]; counts: int64, [rows].
    """

    counts: np.ndarray
    places: np.ndarray
    weights: np.ndarray

    def values(self, b: Builder) -> list[Value]:
        """The tables as constants of a plan."""
        return [b.constant(part) for part in (self.counts, self.places, self.weights)]

    def summed(self, image: np.ndarray, axis: int) -> np.ndarray:
        """Weighted sums along an axis of images, term by term."""
        if not image.shape[axis]:
            sizes = (*image.shape[:axis], len(self.counts), *image.shape[axis + 1 :])
            return np.zeros(sizes, image.dtype)
        tail = (1,) * (image.ndim - axis - 1)
        total: Any = None
        with np.errstate(all="ignore"):
            for i in range(self.places.shape[1]):
                weight = self.weights[:, i].reshape(-1, *tail)
                part = np.take(image, self.places[:, i], axis) * weight
                if total is not None:
                    is_part = (i < self.counts).reshape(-1, *tail)
                    part = np.where(is_part, total + part, total)
                total = part
        return total

    def turned(self, size: int, with_zeros: bool = False) -> Spans:
        """What each row of the image gives to the rows of the result, in their order.

        with_zeros: whether what has no weight is summed, too: it makes NaN of an infinity.
        """
        given: list[list[tuple[int, np.float32]]] = [[] for _ in range(size)]
        for row, count in enumerate(self.counts):
            for place, weight in zip(self.places[row, :count], self.weights[row, :count]):
                if with_zeros or weight != 0:
                    given[place].append((row, weight))
        return Spans.of(
            [[r for r, _ in each] for each in given], [[w for _, w in each] for each in given]
        )

    @staticmethod
    def of(places: Sequence[Sequence[int]], weights: Sequence[Sequence[Any]]) -> Spans:
        """Tables of lists; rows that take nothing take nothing of row 0."""
        most = max(1, *(len(each) for each in places)) if places else 1
        shape = (len(places), most)
        result = Spans(
            np.array([max(len(each), 1) for each in places], np.int64),
            np.zeros(shape, np.int64),
            np.zeros(shape, np.float32),
        )
        for row, (where, much) in enumerate(zip(places, weights, strict=True)):
            result.places[row, : len(where)] = where
            result.weights[row, : len(much)] = much
        return result


# Bicubic: four rows each.


@cache
def coefficients(a: float) -> tuple[np.ndarray, np.ndarray]:
    """Keys' cubic for distances below one and from one to two, at steps of a table."""
    near = (np.arange(STEPS + 1) / STEPS).astype(np.float32)
    far = (near + np.float32(1)).astype(np.float64)
    x = near.astype(np.float64)
    inner = ((a + 2) * x - (a + 3)) * x * x + 1
    outer = ((a * far - 5 * a) * far + 8 * a) * far - 4 * a
    return inner.astype(np.float32), outer.astype(np.float32)


def cubic(places: np.ndarray, size: int, is_half: bool) -> Spans:
    """The four rows around each place.

    With centres at half numbers (is_half) rows outside of the image have no weight, and the others
    make up for it; else the outermost row stands for them.
    """
    low = np.floor(places)
    step = np.rint((places - low) * np.float32(STEPS)).astype(np.int64)
    inner, outer = coefficients(-0.5 if is_half else -0.75)
    weights = np.stack([outer[step], inner[step], inner[STEPS - step], outer[STEPS - step]], 1)
    wanted = low.astype(np.int64)[:, None] + np.arange(-1, 3)
    rows = np.clip(wanted, 0, size - 1)
    if is_half:
        weights = np.where(rows == wanted, weights, np.float32(0))
        total = ((weights[:, 0] + weights[:, 1]) + weights[:, 2]) + weights[:, 3]
        with np.errstate(all="ignore"):
            scaled = weights * (np.float32(1) / total)[:, None]
        weights = np.where(np.abs(total)[:, None] >= TINY, scaled, weights)
    return Spans(np.full(len(places), 4, np.int64), rows, weights)


# By area: all rows that a row of the result covers.


def area(size: int, resized: int, scale: np.float32) -> Spans:
    """The rows that each row covers, and how much of them; `scale` is how high it is."""
    one = np.float32(1)
    places: list[list[int]] = []
    weights: list[list[Any]] = []
    for row in range(resized):
        first, last = np.float32(row) * scale, np.float32(row + 1) * scale
        covered = range(int(np.floor(first)), int(np.ceil(last)))
        places.append([min(max(i, 0), size - 1) for i in covered])
        weights.append([_covered(np.float32(i), first, last, scale, one) for i in covered])
    return Spans.of(places, weights)


def _covered(
    i: np.float32, first: np.float32, last: np.float32, scale: np.float32, one: np.float32
) -> np.float32:
    ends_inside = i + one > last
    if i < first:
        return scale if ends_inside else i + one - first
    return last - i if ends_inside else one


# Scaled and moved: a kernel of sampling around each place.


def _sine(x: object) -> Any:
    # The C library's, which is nearly always the nearest number.
    return k.cast(k.sin(k.cast(x, "float64")), "float32")


def _lanczos(radius: float) -> tuple[float, Callable[[Any], Any]]:
    def weight(x: object) -> Any:
        pi, reach, tiny = (k.const_like(value, x) for value in (3.14159265359, radius, 1e-3))
        angle, zero, one = k.mul(pi, x), k.const_like(0, x), k.const_like(1, x)
        waves = k.mul(k.mul(reach, _sine(angle)), _sine(k.div(angle, reach)))
        wave = k.div(waves, k.mul(k.mul(k.mul(pi, pi), x), x))
        return k.select(k.gt(x, reach), zero, k.select(k.le(x, tiny), one, wave))

    return radius, weight


def _gaussian(x: object) -> Any:
    # (Twice the square of a third of the radius, 0.5.)
    exact = k.cast(k.neg(k.mul(x, x)), "float64")
    bell = k.cast(k.exp(k.div(exact, k.const_like(0.5, exact))), "float32")
    return k.select(k.ge(x, k.const_like(1.5, x)), k.const_like(0, x), bell)


def _box(x: object) -> Any:
    half, zero, one = (k.const_like(value, x) for value in (0.5, 0, 1))
    return k.select(k.lt(x, half), one, k.select(k.eq(x, half), half, zero))


def _triangle(x: object) -> Any:
    one, zero = k.const_like(1, x), k.const_like(0, x)
    return k.select(k.lt(x, one), k.sub(one, x), zero)


def _polynomial(x: object, *coefficients: float) -> Any:
    """Of a polynomial's coefficients in single precision, that of the highest power first."""
    total = k.const_like(np.float32(coefficients[0]), x)
    for coefficient in coefficients[1:]:
        total = k.mul(total, x)
        if coefficient:
            total = k.add(total, k.const_like(np.float32(coefficient), x))
    return total


def _cubic_kernel(inner: Sequence[float], outer: Sequence[float]) -> Callable[[Any], Any]:
    """A kernel that is one polynomial below a distance of one, another up to two, and zero."""

    def weight(x: object) -> Any:
        one, two, zero = (k.const_like(value, x) for value in (1, 2, 0))
        far = k.select(k.ge(x, one), _polynomial(x, *outer), _polynomial(x, *inner))
        return k.select(k.ge(x, two), zero, far)

    return weight


_KEYS = _cubic_kernel((1.5, -2.5, 0, 1), (-0.5, 2.5, -4, 2))
_F = np.float32
_MITCHELL = _cubic_kernel(
    [float(c) for c in (_F(7) / _F(6), -2, 0, _F(8) / _F(9))],
    [float(c) for c in (_F(-7) / _F(18), 2, _F(-10) / _F(3), _F(16) / _F(9))],
)


# Kernel types: how far they reach, and their weight at a distance.
SAMPLING: dict[str, tuple[float, Callable[[Any], Any]]] = {
    "lanczos1": _lanczos(1.0),
    "lanczos3": _lanczos(3.0),
    "lanczos5": _lanczos(5.0),
    "gaussian": (1.5, _gaussian),
    "box": (1.0, _box),
    "triangle": (1.0, _triangle),
    "keyscubic": (2.0, _KEYS),
    "mitchellcubic": (2.0, _MITCHELL),
}


def sampled(
    kernel: str, size: int, resized: int, scale: np.float32, move: np.float32, smooth: bool
) -> Spans:
    """The rows around where each row of the result lies, weighted by a sampling kernel."""
    radius, weigh = SAMPLING[kernel]
    half, one = np.float32(0.5), np.float32(1)
    inverse = np.float32(1.0 / float(scale))
    stretch = max(inverse, one) if smooth else one
    reach = np.float32(radius) * stretch
    most = min(2 * int(np.ceil(reach)) + 1, size)
    at = (np.arange(resized, dtype=np.float32) + half) * inverse + -inverse * move
    is_inside = ~((at < 0) | (at > np.float32(size)))
    # No place at all is the first one, where no row has a weight.
    firsts, lasts = np.ceil(at - reach - half), np.floor(at + reach - half)
    starts, ends = (
        np.clip(np.nan_to_num(each, nan=0), 0, size - 1).astype(np.int64)
        for each in (firsts, lasts)
    )
    ends = ends + 1
    rows = starts[:, None] + np.arange(most)
    distance = np.abs((rows.astype(np.float32) + half - at[:, None]) * (one / stretch))
    with np.errstate(all="ignore"):
        weights = np.where(rows < ends[:, None], weigh(distance), np.float32(0))
    total = np.zeros(resized, np.float32)
    for i in range(most):
        total = total + weights[:, i]
    with np.errstate(all="ignore"):
        scaled = weights * (one / total)[:, None]
    weights = np.where((np.abs(total) >= TINY)[:, None], scaled, np.float32(0))
    starts = np.where(is_inside, starts, 0)
    weights = np.where(is_inside[:, None], weights, np.float32(0))
    counts = np.minimum(starts + most, size) - starts
    rows = np.minimum(starts[:, None] + np.arange(most), size - 1)
    return Spans(counts, rows, weights)
