# SPDX-License-Identifier: Apache-2.0
"""The limits of dtypes, from which TensorFlow's searches for extremes begin."""

from __future__ import annotations

from typing import Any

import numpy as np


def lowest(dtype: np.dtype) -> Any:
    """The smallest finite value."""
    return _limits(dtype).min


def highest(dtype: np.dtype) -> Any:
    """The largest finite value."""
    return _limits(dtype).max


def _limits(dtype: np.dtype) -> Any:
    if dtype.kind in "iu":
        return np.iinfo(dtype)
    if dtype.name == "bfloat16":
        import ml_dtypes

        return ml_dtypes.finfo(dtype)
    return np.finfo(dtype)
