# SPDX-License-Identifier: Apache-2.0
"""What leaves would be worth, and what splits would gain, from sums of gradients and hessians."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

# Hessians that count as none, and differences of gains that do.
_TINY = np.float32(1e-15)
_TOLERANCE = np.float32(1e-15)


class Penalty(NamedTuple):
    """The weights of the regularization of leaves."""

    l1: np.float32
    l2: np.float32


def is_larger(gain: np.float32, other: np.float32) -> bool:
    """Whether a gain is more than another, and not just by rounding."""
    return bool(gain - other >= _TOLERANCE)


def are_equal(gain: np.float32, other: np.float32) -> bool:
    """Whether gains differ by no more than rounding."""
    return bool(abs(gain - other) < _TOLERANCE)


def _of_one(
    gradient: np.ndarray, hessian: np.ndarray, penalty: Penalty
) -> tuple[np.ndarray, np.ndarray]:
    l1, l2 = penalty
    pulled = gradient
    if l1 > 0:
        # The penalty pulls towards zero, and no further.
        pulled = np.where(
            gradient > l1, gradient - l1, np.where(gradient < -l1, gradient + l1, np.float32(0))
        )
    regular = hessian + l2
    weight = np.where(regular <= _TINY, np.float32(0), -pulled / regular)
    return weight, -pulled * weight


def _solved(gradient: np.ndarray, matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of whole hessians, of which some may have no inverse: the least solution of these."""
    flat = matrix.reshape(-1, *matrix.shape[-2:])
    right = gradient.reshape(-1, gradient.shape[-1])
    weight = np.stack([-np.linalg.lstsq(a, b, rcond=None)[0] for a, b in zip(flat, right)])
    weight = weight.reshape(gradient.shape).astype(np.float32)
    return weight, -(gradient * weight).sum(-1)


def weights_and_gains(
    gradient: np.ndarray, hessian: np.ndarray, penalty: Penalty
) -> tuple[np.ndarray, np.ndarray]:
    """The values of leaves and what they gain.

    Args:
        gradient: sums of gradients [..., logits].
        hessian: sums of hessians [..., 1], of their diagonals [..., logits] or of all
            [..., logits * logits].
        penalty: the regularization; for several logits only its l2 counts.

    Returns:
        float32 arrays [..., logits] and [...].
    """
    logits = gradient.shape[-1]
    with np.errstate(all="ignore"):
        if logits == 1:
            weight, gain = _of_one(gradient[..., 0], hessian[..., 0], penalty)
            return weight[..., None], gain
        if hessian.shape[-1] != logits:
            square = hessian.reshape(*hessian.shape[:-1], logits, logits)
            return _solved(gradient, square + penalty.l2 * np.eye(logits, dtype=np.float32))
        regular = hessian + penalty.l2
        weight = -(np.float32(1) / regular) * gradient
        gain = np.asarray((-gradient * weight).sum(-1))
        singular = (regular == 0).any(-1)
        if singular.any():
            diagonals = regular[singular][..., None] * np.eye(logits, dtype=np.float32)
            weight[singular], gain[singular] = _solved(gradient[singular], diagonals)
        return weight, gain


def best(gains: np.ndarray) -> int | None:
    """The place of the best gain: of those that are alike the first; None where there is none."""
    lowest = np.finfo(np.float32).min
    with np.errstate(all="ignore"):
        # Only new maxima can be larger than what was the best so far.
        highest = np.fmax.accumulate(np.concatenate([[lowest], gains.astype(np.float32)]))
        place, most = None, lowest
        for i in np.flatnonzero(highest[1:] > highest[:-1]).tolist():
            if is_larger(gains[i], most):
                place, most = i, gains[i]
    return place
