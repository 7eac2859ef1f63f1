# SPDX-License-Identifier: Apache-2.0
"""Optimizers by name, as ready-made models take them beside objects."""

from __future__ import annotations

from typing import Any

from ..optimizers.adaptive import AdagradOptimizer, RMSPropOptimizer
from ..optimizers.gradient_descent import AdamOptimizer, GradientDescentOptimizer
from ..optimizers.optimizer import Optimizer
from ..optimizers.proximal import FtrlOptimizer

_BY_NAME: dict[str, Any] = {
    "Adagrad": AdagradOptimizer,
    "Adam": AdamOptimizer,
    "Ftrl": FtrlOptimizer,
    "RMSProp": RMSPropOptimizer,
    "SGD": GradientDescentOptimizer,
}


def optimizer_of(given: object, learning_rate: float) -> Any:
    """The optimizer that a name, a function or an object means.

    Raises:
        ValueError: there is none of that name, or it is something else.
    """
    if isinstance(given, str):
        if given not in _BY_NAME:
            raise ValueError(
                f"Unsupported optimizer name: {given}. Supported names are: "
                f"{tuple(sorted(_BY_NAME))}"
            )
        return _BY_NAME[given](learning_rate=learning_rate)
    made = given() if callable(given) else given
    if not isinstance(made, Optimizer):
        raise ValueError(f"The given object is not an Optimizer instance. Given: {made}")
    return made
