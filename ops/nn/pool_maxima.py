# SPDX-License-Identifier: Apache-2.0
"""The maxima of windows, and where they are: as TensorFlow has them with NaN and infinities.

`pool` is a pooling as in `pool`, and arrays are channels-last, with the window's axes inside.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..math.limits import lowest

_NEAR = 1e-5  # elements that differ by less share a gradient, in TensorFlow's pooling of volumes


def maxima(pool: Any, x: np.ndarray) -> np.ndarray:
    """The largest element of every window, where NaN is larger than nothing.

    As TensorFlow has it, pooling over height and width begins with the least finite number, with
    minus infinity if there is a third axis, and pooling over channels with the first element.
    """
    if pool.deep:
        return first_maxima(pool, x)
    is_volume = len(pool.window.axes) == 3 and x.dtype.kind not in "iu"
    start = -np.inf if is_volume else lowest(x.dtype)
    padded, result = pool.window.pad(x, start), pool.result(x, start)
    for _, where in pool.window.offsets():
        np.copyto(result, padded[where], where=padded[where] > result)
    return result


def first_maxima(pool: Any, x: np.ndarray) -> np.ndarray:
    """The largest element of every window; NaN where it comes first."""
    padded, result = pool.window.pad(x), pool.result(x)
    for where, hit in first_hits(pool, x):
        np.copyto(result, padded[where], where=hit)
    return result


def first_hits(pool: Any, x: np.ndarray) -> Any:
    """For each offset: where the padded input lies, and whether the first maximum is there.

    NaN is never larger than anything: it wins only where it comes first.
    """
    padded = pool.window.pad(x)
    inside = pool.window.pad(np.ones(x.shape, bool), False)
    best = pool.result(x)
    winner = np.full(best.shape, -1)
    places = [where for _, where in pool.window.offsets()]
    for i, where in enumerate(places):
        better = inside[where] & ((winner < 0) | (best < padded[where]))
        np.copyto(best, padded[where], where=better)
        winner[better] = i
    for i, where in enumerate(places):
        yield where, winner == i


def near_hits(pool: Any, x: np.ndarray, top: np.ndarray) -> Any:
    """For each offset: where the padded input lies, and whether it is nearly the maximum there.

    TensorFlow's gradient of pooling over three axes goes to all of these, but for 16-bit floats.
    """
    padded = pool.window.pad(x)
    inside = pool.window.pad(np.ones(x.shape, bool), False)
    for _, where in pool.window.offsets():
        with np.errstate(invalid="ignore", over="ignore"):
            near = np.abs(padded[where] - top) < np.asarray(_NEAR, x.dtype)
        yield where, inside[where] & near


def equal_hits(pool: Any, x: np.ndarray, top: np.ndarray) -> Any:
    """For each offset: where the padded input lies, and whether the first equal of top is there."""
    padded = pool.window.pad(x)
    inside = pool.window.pad(np.ones(x.shape, bool), False)
    found = np.zeros(top.shape, bool)
    for _, where in pool.window.offsets():
        hit = inside[where] & (padded[where] == top) & ~found
        found |= hit
        yield where, hit
