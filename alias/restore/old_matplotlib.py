# SPDX-License-Identifier: Apache-2.0
"""What matplotlib has moved or given up."""

from __future__ import annotations

from typing import Any

import numpy as np


def hold(b: bool | None = None) -> None:
    """Nothing: what is drawn is always added."""


def ishold() -> bool:
    """Whether what is drawn is added: always."""
    return True


def hold_axes(self: Any, b: bool | None = None) -> None:
    """Nothing: what is drawn is always added."""


def get_cmap(name: Any = None, lut: int | None = None) -> Any:
    """A map of colours by its name."""
    import matplotlib

    found = matplotlib.colormaps.get_cmap(name)
    return found if lut is None else found.resampled(lut)


def register_cmap(name: str | None = None, cmap: Any = None, **options: Any) -> None:
    """Gives a map of colours a name."""
    import matplotlib

    matplotlib.colormaps.register(cmap, name=name, force=bool(options.get("override_builtin")))


def window_title(self: Any, title: str) -> None:
    """The title of a figure's window, if it has one."""
    if self.manager is not None:
        self.manager.set_window_title(title)


def normpdf(x: Any, mu: float, sigma: float) -> Any:
    """The density of a normal distribution."""
    z = (np.asarray(x) - mu) / sigma
    return np.exp(-0.5 * z * z) / (np.sqrt(2 * np.pi) * sigma)


def bivariate_normal(
    X: Any,
    Y: Any,
    sigmax: float = 1.0,
    sigmay: float = 1.0,
    mux: float = 0.0,
    muy: float = 0.0,
    sigmaxy: float = 0.0,
) -> Any:
    """The density of a normal distribution over the plane."""
    x, y = (X - mux) / sigmax, (Y - muy) / sigmay
    rho = sigmaxy / (sigmax * sigmay)
    free = 1 - rho**2
    z = x**2 + y**2 - 2 * rho * x * y
    return np.exp(-z / (2 * free)) / (2 * np.pi * sigmax * sigmay * np.sqrt(free))
