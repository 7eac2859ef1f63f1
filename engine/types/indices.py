# SPDX-License-Identifier: Apache-2.0
"""Indices that are out of range: which one is first, where it stands, and how errors say so."""

from __future__ import annotations

import numpy as np

from .. import errors


def first_outside(indices: np.ndarray, size: int, low: int | None = 0) -> int | None:
    """The position, in flat order, of the first index outside of [low, size)."""
    outside = indices >= size
    if low is not None:
        outside |= indices < low
    bad = np.flatnonzero(outside)
    return int(bad[0]) if bad.size else None


def place_text(position: int, shape: tuple[int, ...]) -> str:
    """An element's place as the runtime prints it: "[0,2]", "" for a scalar."""
    at = np.unravel_index(position, shape)
    return "[" + ",".join(str(i) for i in at) + "]" if shape else ""


def outside_error(
    name: str, indices: np.ndarray, size: int, low: int | None = 0, verb: str = "not in"
) -> errors.InvalidArgumentError:
    """The error for the first of `indices` that is outside of [low, size)."""
    bad = first_outside(indices, size, low) or 0
    place = place_text(bad, indices.shape)
    text = f"{name}{place} = {indices.flat[bad]} is {verb} [0, {size})"
    return errors.invalid(text)


def not_inside(indices: np.ndarray, size: int) -> errors.InvalidArgumentError:
    """What gathers and scatters say of an index out of range."""
    return outside_error("indices", indices, size)
