# SPDX-License-Identifier: Apache-2.0
"""What kernels compute of the lengths of rows: where they begin and end, and their places."""

from __future__ import annotations

from typing import Any

import numpy as np


def splits_of(lengths: np.ndarray, dtype: Any) -> np.ndarray:
    """Where rows of these lengths begin and end: one number more than there are rows."""
    splits = np.zeros(len(lengths) + 1, dtype)
    np.cumsum(lengths, out=splits[1:])
    return splits


def places_of(lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The row of every element of rows of these lengths, and its number in the row."""
    rows = np.repeat(np.arange(len(lengths)), lengths)
    starts = np.cumsum(lengths) - lengths
    return rows, np.arange(len(rows)) - starts[rows]
