# SPDX-License-Identifier: Apache-2.0
"""The derivative at 0 of a function of one number, with an estimate of its error.

Where the function can be computed for complex numbers, by one step along the imaginary axis, which
subtracts nothing and so loses nothing.  Else by central differences over a ladder of steps, which
Richardson's extrapolation combines; of all combinations the one counts that changed the least.
The same values give the derivatives to the left and to the right, by which kinks are found.

Knows numbers only: no graph, no tensor.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

from ..record_class import record

Method = Literal["complex step", "central differences"]

# The largest step, as part of the direction's length; each is a quarter of the one before.
_FIRST_STEP = 1 / 16
_RATIO = 4.0
_LEVELS = 11
# A rung is good enough when the error is this many times the rounding of the values.
_GOOD = 4.0
# The derivatives to the left and right differ: by so many times their errors, and by this part.
_APART = 8.0
_APART_RELATIVE = 1e-3
# Values agree that are no further apart than so many times their errors.
_TOGETHER = 4.0
# How far apart the points are that tell of rounding.
_NEAR = (1e-9, 1e-7)
# So small that its square is lost: the real part is that of the function at 0.
_COMPLEX_STEP = 1e-100


@record(frozen=True, slots=True)
class Derivative:
    """A numeric derivative: its value, how wrong it may be, and how it was found.

    `left` and `right` are the derivatives of either side; they differ at a kink.  `scale` is the
    size of the function's values: what is small beside it is lost in their rounding.
    """

    value: float
    error: float
    step: float
    method: Method
    left: float
    right: float
    is_kink: bool = False
    scale: float = 0.0

    @property
    def is_known(self) -> bool:
        """Whether there is a derivative at all."""
        return math.isfinite(self.value) and math.isfinite(self.error) and not self.is_kink


@record(frozen=True, slots=True)
class _Rung:
    """The best entry of a row of an extrapolation table."""

    value: float = math.nan
    error: float = math.inf
    step: float = math.nan

    def allows(self, other: _Rung) -> bool:
        """Whether both can be right."""
        return not abs(self.value - other.value) > _TOGETHER * (self.error + other.error)


class _Table:
    """Richardson's extrapolation of quotients of steps that shrink by a ratio.

    Their errors are a series in the step's powers `first`, `first + by`, ...
    """

    def __init__(self, first: int, by: int) -> None:
        self._first, self._by = first, by
        self._row: list[float] = []
        self._rungs: list[_Rung] = []

    @property
    def best(self) -> _Rung:
        """The entry that changed the least, of those that all smaller steps agree with.

        (From far, a pole or a kink next to 0 may not be seen at all.)
        """
        found = _Rung()
        for k, rung in enumerate(self._rungs):
            if rung.error < found.error and all(map(rung.allows, self._rungs[k + 1 :])):
                found = rung
        return found

    def add(self, quotient: float, step: float, rounding: float) -> None:
        """Takes up the quotient of the next, smaller step, which rounding makes that much wrong."""
        if not math.isfinite(quotient):
            self._row = []
            return
        row, best = [quotient], _Rung()
        for column, above in enumerate(self._row):
            factor = _RATIO ** (self._first + self._by * column)
            row.append(row[-1] + (row[-1] - above) / (factor - 1))
            error = max(abs(row[-1] - row[-2]), abs(row[-1] - above)) + 2 * rounding
            if error < best.error:
                best = _Rung(row[-1], error, step)
        self._row = row
        if math.isfinite(best.error):
            self._rungs.append(best)


def by_differences(f: Callable[[float], float], noise: float, eps: float = 2.0**-52) -> Derivative:
    """The derivative of f at 0, by central differences.

    Args:
      f: the change of the function from 0; f(0) is 0.
      noise: how far rounding moves values of f at least; how far it does is measured.
      eps: the spacing of the numbers that f computes with, at 1.
    """
    noise = max(noise, *(_scatter(f, max(step, 32 * eps)) for step in _NEAR))
    center, left, right = _Table(2, 2), _Table(1, 1), _Table(1, 1)
    step, largest = _FIRST_STEP, 0.0
    for _ in range(_LEVELS):
        ahead, behind = f(step), f(-step)
        if math.isfinite(ahead) and math.isfinite(behind):
            largest = max(largest, abs(ahead), abs(behind))
        rounding = noise / step
        right.add(ahead / step, step, rounding)
        left.add(-behind / step, step, rounding)
        center.add((ahead - behind) / (2 * step), step, rounding / 2)
        if _is_settled(center, left, right, rounding):
            break
        step /= _RATIO
    return _judged(center.best, left.best, right.best, largest, noise)


def _scatter(f: Callable[[float], float], step: float) -> float:
    """How irregular f is next to 0: third differences of what is smooth would be nothing.

    Of either side alone, for between them there may be a jump.
    """
    found = 0.0
    for side in (step, -step):
        a, b, c, d, e = (f(k * side) for k in (1, 2, 3, 4, 5))
        thirds = (d - 3 * c + 3 * b - a, e - 3 * d + 3 * c - b)
        found = max([found, *(abs(third) / math.sqrt(20) for third in thirds)])
    return found if math.isfinite(found) else 0.0


def _is_settled(center: _Table, left: _Table, right: _Table, rounding: float) -> bool:
    best = center.best
    if best.error > _GOOD * max(rounding, 1e-13 * abs(best.value)):
        return False
    # A kink right here has perfect central differences: both sides must have settled, too.
    side = max(left.best.error, right.best.error)
    return side <= max(1e-4 * abs(best.value), 100 * rounding)


def _judged(best: _Rung, left: _Rung, right: _Rung, largest: float, noise: float) -> Derivative:
    gap = abs(right.value - left.value)
    unsure = left.error + right.error
    size = max(abs(left.value), abs(right.value), abs(best.value))
    # Sides that do not settle, although steps shrank by millions, belong to a jump, or to a point
    # such as the root's at 0, or to a pole between the steps.
    floor = max(0.5 * size, _APART * best.error, 1e-6 * largest / _FIRST_STEP)
    is_kink = not unsure <= floor or not math.isfinite(best.error)
    # Nor does what is as wrong as it is large, for no reason of rounding.
    sure = max(0.25 * abs(best.value), 10 * noise / best.step, 1e-4 * largest / _FIRST_STEP)
    is_kink = is_kink or best.error > sure
    is_kink = is_kink or gap > _APART * unsure + _APART_RELATIVE * size + best.error
    return Derivative(
        best.value, best.error, best.step, "central differences", left.value, right.value, is_kink
    )


def by_complex_step(f: Callable[[complex], complex]) -> Derivative:
    """The derivative of f at 0, by one step along the imaginary axis; f must be analytic there."""
    value = f(1j * _COMPLEX_STEP).imag / _COMPLEX_STEP
    # Rounding in f is all that is wrong; a step of another size rounds in another way.
    other = f(1j * _COMPLEX_STEP * 0.7).imag / (_COMPLEX_STEP * 0.7)
    error = abs(value - other) + 1e-15 * abs(value)
    return Derivative(value, error, _COMPLEX_STEP, "complex step", value, value)
