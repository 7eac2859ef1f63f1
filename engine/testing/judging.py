# SPDX-License-Identifier: Apache-2.0
"""Whether a symbolic derivative is near enough to the numeric one, and what is wrong if it is not.

How near it must be follows from the error of the numeric one, from rounding, and from how much the
gradient scatters at points nearby.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .derivatives import Derivative
from .directions import CLOSE, dot, magnitude, narrowed
from .functions import Array
from .report import Fault, Kink, Mode, explain

if TYPE_CHECKING:
    from .checking import Check

# How far symbolic derivatives may be off: so many units of rounding of what is added up, and so
# many times what moving the inputs by rounding changes.
_ROUNDINGS = 16.0
_SPREADS = 10.0
_ERRORS = 20.0


class Judge:
    """The derivatives by one input: numeric ones, and whether symbolic ones are near enough."""

    def __init__(
        self,
        check: Check,
        i: int,
        weights: Sequence[Array],
        gradient: list[Array | None],
        nearby: Sequence[tuple[list[Array | None], ...]],
    ) -> None:
        self._check, self._i, self._weights = check, i, weights
        self._x = check.inputs[i]
        self._base = check.base
        self._gradient = gradient[i]
        self._nearby = [tuple(near[i] for near in pair) for pair in nearby]
        terms = 0.0
        for grad, x in zip(gradient, self._base, strict=True):
            terms += magnitude(grad, x) if grad is None or grad.shape == x.shape else 0.0
        self._terms = terms if math.isfinite(terms) else 0.0

    def numeric(self, direction: Array) -> Derivative:
        zeros = [np.zeros(x.shape) for x in self._base]
        zeros[self._i] = direction
        return self._check.function.derivative(self._base, zeros, self._weights, self._terms)

    def tolerance(self, derivative: Derivative, direction: Array) -> float:
        """How far a right gradient may be from the numeric one."""
        grad = self._gradient
        added = magnitude(grad, direction)
        rounding = self._check.function.eps * (
            _ROUNDINGS * (added + abs(derivative.value)) + self._terms + derivative.scale
        )
        allowed = _ERRORS * derivative.error + _SPREADS * self._scatter(direction) + rounding
        relative = self._check.options.rtol * abs(derivative.value)
        return float(allowed + relative + 1e-300)

    def _scatter(self, direction: Array) -> float:
        """How much rounding makes of the gradient.

        Next to the base all change is the work of rounding; further away only what is not linear.
        """
        here = dot(self._gradient, direction)
        found = 0.0
        for k, pair in enumerate(self._nearby):
            ahead, behind = (dot(near, direction) - here for near in pair)
            change = abs(ahead + behind) / 2 if k >= CLOSE else max(abs(ahead), abs(behind))
            found = max(found, change if math.isfinite(change) else 0.0)
        return found

    def verdict(self, symbolic: float, derivative: Derivative, direction: Array) -> float:
        """The difference in units of what is tolerable."""
        difference = abs(symbolic - derivative.value)
        if not math.isfinite(difference):
            return math.inf
        return float(difference / self.tolerance(derivative, direction))

    def fault(self, mode: Mode, direction: Array) -> Fault:
        """What is wrong, down to one element."""
        check = self._check

        def symbolic(part: Array) -> float:
            if mode == "reverse":
                return dot(self._gradient, part)
            return check.pushed(self._i, part, self._weights)

        def gap(part: Array) -> float:
            derivative = self.numeric(part)
            value = symbolic(part)
            if not math.isfinite(value):
                return math.inf
            return abs(value - derivative.value) if derivative.is_known else -1.0

        place = narrowed(direction, gap)
        unit = np.zeros(direction.shape, direction.dtype)
        unit[place] = direction[place] / abs(direction[place])
        derivative = self.numeric(unit)
        value = symbolic(unit)
        return Fault(
            check.level.order,
            mode,
            self._x.name,
            tuple(int(k) for k in place),
            complex(self._base[self._i][place]),
            complex(unit[place]),
            value,
            derivative.value,
            derivative.error,
            self.tolerance(derivative, unit),
            derivative.step,
            derivative.method,
            explain(value, derivative.value),
        )

    def kink(self, direction: Array, derivative: Derivative) -> Kink | None:
        """Where there is no derivative, down to one element.

        None where the direction alone was too much for an element much smaller than the others.
        """
        place = narrowed(direction, lambda part: 0.0 if self.numeric(part).is_known else 1.0)
        part = np.zeros(direction.shape, direction.dtype)
        part[place] = direction[place]
        one = self.numeric(part)
        if one.is_known:
            # Only all together are at a kink: a norm at 0 is, by its elements.
            place, one, per = (), derivative, 1.0
        else:
            size = abs(self._base[self._i][place])
            if size and self.numeric(part * (size / abs(direction[place]))).is_known:
                return None
            per = float(abs(direction[place]))
        return Kink(
            self._check.level.order,
            self._x.name,
            tuple(int(k) for k in place),
            one.left / per,
            one.right / per,
            dot(self._gradient, direction if place == () else part) / per,
        )
