# SPDX-License-Identifier: Apache-2.0
"""Losses of linear models as stochastic dual coordinate ascent sees them, an example at a time.

Each loss states its value, its convex conjugate at minus a dual variable, its slope, and the dual
variable that is best when all others stay (Shalev-Shwartz and Zhang, arXiv:1209.1873 and 1309.2375;
with the scale of CoCoA+, arXiv:1502.03508, for several partitions of a loss).
"""

from __future__ import annotations

import math
import sys
from typing import Protocol

from ...engine import errors

# What a dual loss is where it is not defined.
_NOWHERE = sys.float_info.max
# Newton's method doubles its digits with each step: these are more than a double has.
_STEPS = 10


class Loss(Protocol):
    """A loss; `scale` below is the examples' weight times its norm, by l2 and by partitions."""

    # Slopes differ by no more than predictions over this.
    smoothness: float

    def label(self, given: float) -> float:
        """A label as the formulas have it; InvalidArgumentError for what it may not be."""

    def best_dual(self, label: float, dual: float, wx: float, scale: float) -> float:
        """The dual variable that lowers the dual loss most."""

    def dual_loss(self, dual: float, label: float) -> float:
        """The conjugate at minus `dual`."""

    def primal_loss(self, wx: float, label: float) -> float:
        """The loss of a prediction."""

    def slope(self, wx: float, label: float) -> float:
        """The derivative of the loss with respect to the prediction."""


def _number(value: float) -> str:
    """A float32 as C++ streams print it."""
    return f"{value:g}"


def _sign(given: float) -> float:
    """-1 or 1 for the labels 0 and 1."""
    if given == 0.0:
        return -1.0
    if given == 1.0:
        return 1.0
    raise errors.invalid(
        "Only labels of 0.0 or 1.0 are supported right now. "
        f"Found example with label: {_number(given)}"
    )


def _between(dual: float, label: float) -> float:
    """The nearest dual whose product with the label is from 0 to 1."""
    if label * dual < 0:
        return 0.0
    return label if label * dual > 1.0 else dual


def _exp(x: float) -> float:
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf


def _over(x: float, y: float) -> float:
    """x / y as IEEE 754 has it, for examples without any feature or weight."""
    if y:
        return x / y
    return math.nan if not x or math.isnan(x) else math.copysign(math.inf, x)


class Logistic:
    """log(1 + exp(-y wx)), for y of -1 and 1."""

    smoothness = 4.0
    label = staticmethod(_sign)

    def best_dual(self, label: float, dual: float, wx: float, scale: float) -> float:
        """By Newton's method in x, where tanh(x) is what keeps the dual within its bounds."""
        x = 0.0
        for _ in range(_STEPS):
            tanh = math.tanh(x)
            value = -2 * label * x - wx - scale * (0.5 * (1 + tanh) / label - dual)
            x -= value / (-2 * label - scale * (1 - tanh * tanh) * 0.5 / label)
        return 0.5 * (1 + math.tanh(x)) / label

    def dual_loss(self, dual: float, label: float) -> float:
        """ay log(ay) + (1 - ay) log(1 - ay)."""
        share = dual * label
        rest = 1 - share
        return share * (math.log(share) if share > 0 else 0.0) + rest * (
            math.log(rest) if rest > 0 else 0.0
        )

    def primal_loss(self, wx: float, label: float) -> float:
        """Without an exponential of what is positive."""
        margin = label * wx
        if margin > 0:
            return math.log1p(math.exp(-margin))
        return math.log1p(math.exp(margin)) - margin

    def slope(self, wx: float, label: float) -> float:
        """-y / (1 + exp(y wx))."""
        margin = label * wx
        if margin > 0:
            small = math.exp(-margin)
            return -label * (small / (1 + small))
        return -label / (1 + math.exp(margin))


class Squared:
    """(wx - y)² / 2."""

    smoothness = 1.0

    def label(self, given: float) -> float:
        """Any number."""
        return given

    def best_dual(self, label: float, dual: float, wx: float, scale: float) -> float:
        """Where the slope of a parabola is 0."""
        return dual + (label - dual - wx) / (1 + scale)

    def dual_loss(self, dual: float, label: float) -> float:
        """a (a / 2 - y)."""
        return dual * (0.5 * dual - label)

    def primal_loss(self, wx: float, label: float) -> float:
        """Half of the squared error."""
        return (wx - label) ** 2 * 0.5

    def slope(self, wx: float, label: float) -> float:
        """The error."""
        return wx - label


class Hinge:
    """max(0, 1 - y wx), for y of -1 and 1."""

    smoothness = 0.0
    label = staticmethod(_sign)

    def best_dual(self, label: float, dual: float, wx: float, scale: float) -> float:
        """Where the slope of a parabola is 0, or the nearest that is allowed."""
        return _between(dual + _over(label - wx, scale), label)

    def dual_loss(self, dual: float, label: float) -> float:
        """-ay, where it is from -1 to 0."""
        product = dual * label
        return _NOWHERE if product < 0 or product > 1.0 else -product

    def primal_loss(self, wx: float, label: float) -> float:
        """What a margin lacks of 1."""
        return max(0.0, 1 - label * wx)

    def slope(self, wx: float, label: float) -> float:
        """-y, or 0 where nothing is lacking."""
        return -label if label * wx < 1 else 0.0


class SmoothHinge:
    """The hinge loss with a parabola, `gamma` wide, in place of its corner."""

    gamma = 1.0
    smoothness = gamma
    label = staticmethod(_sign)

    def best_dual(self, label: float, dual: float, wx: float, scale: float) -> float:
        """Where the slope of a parabola is 0, or the nearest that is allowed."""
        return _between(dual + (label - wx - self.gamma * dual) / (scale + self.gamma), label)

    def dual_loss(self, dual: float, label: float) -> float:
        """-ay + gamma a² / 2, where ay is from 0 to 1."""
        product = dual * label
        if product < 0 or product > 1.0:
            return _NOWHERE
        return -product + 0.5 * self.gamma * dual * dual

    def primal_loss(self, wx: float, label: float) -> float:
        """0, the parabola, or the line."""
        lacking = 1 - label * wx
        if lacking <= 0:
            return 0.0
        if lacking >= self.gamma:
            return lacking - self.gamma / 2
        return lacking * lacking * 0.5 / self.gamma

    def slope(self, wx: float, label: float) -> float:
        """Of the same three parts."""
        margin = label * wx
        if margin >= 1:
            return 0.0
        return -label if margin <= 1 - self.gamma else (wx - label) / self.gamma


class Poisson:
    """exp(wx) - y wx, for y of 0 and above."""

    smoothness = 1.0

    def label(self, given: float) -> float:
        """A count."""
        if given < 0.0:
            raise errors.invalid(
                "Only non-negative labels can be used with the Poisson log loss. "
                f"Found example with label: {_number(given)}"
            )
        return given

    def best_dual(self, label: float, dual: float, wx: float, scale: float) -> float:
        """By Newton's method in x, where exp(x) is y - a, which is positive."""
        rest = label - dual
        x = math.log(rest) if rest > 0 else 0.0
        for _ in range(_STEPS):
            exp = _exp(x)
            x -= (x - wx - scale * (rest - exp)) / (1 + scale * exp)
        return label - _exp(x)

    def dual_loss(self, dual: float, label: float) -> float:
        """(y - a) (log(y - a) - 1)."""
        rest = label - dual
        if rest == 0.0:
            return 0.0
        return _NOWHERE if rest < 0.0 else rest * (math.log(rest) - 1)

    def primal_loss(self, wx: float, label: float) -> float:
        """Without log(y!), which is the same for all predictions."""
        return _exp(wx) - wx * label

    def slope(self, wx: float, label: float) -> float:
        """exp(wx) - y."""
        return _exp(wx) - label


LOSSES: dict[str, Loss] = {
    "logistic_loss": Logistic(),
    "squared_loss": Squared(),
    "hinge_loss": Hinge(),
    "smooth_hinge_loss": SmoothHinge(),
    "poisson_loss": Poisson(),
}
