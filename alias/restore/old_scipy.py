# SPDX-License-Identifier: Apache-2.0
"""Functions of `scipy.stats` that were given up."""

from __future__ import annotations

from typing import Any

import numpy as np


def itemfreq(a: Any) -> Any:
    """Values and how often each is there, as the two columns of an array."""
    values, counts = np.unique(a, return_counts=True)
    return np.array([values, counts]).T


def median_absolute_deviation(
    x: Any,
    axis: Any = 0,
    center: Any = np.median,
    scale: float = 1.4826,
    nan_policy: str = "propagate",
) -> Any:
    """The median distance from the median, times a number that makes it a standard deviation."""
    from scipy.stats import median_abs_deviation

    found = median_abs_deviation(x, axis=axis, center=center, nan_policy=nan_policy)
    return found * scale


def binom_test(x: Any, n: Any = None, p: float = 0.5, alternative: str = "two-sided") -> float:
    """The p-value of a number of successes."""
    from scipy.stats import binomtest

    if n is None:  # Successes and failures.
        x, n = int(x[0]), int(x[0] + x[1])
    return float(binomtest(int(x), int(n), p, alternative).pvalue)
