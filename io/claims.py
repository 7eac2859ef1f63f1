# SPDX-License-Identifier: Apache-2.0
"""What files claim of tensors, held against what can be before anything is made of it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..engine.types import dtypes

# NumPy's arrays have so many dimensions, and so many bytes if no dimension is empty.
_MOST_DIMENSIONS = 32 if np.lib.NumpyVersion(np.__version__) < "2.0.0" else 64
_MOST_BYTES = (1 << 63) - 1


def is_array_shape(shape: Sequence[int], dtype: dtypes.DType) -> bool:
    """Whether an array of a type can have a shape, however much memory there is."""
    if len(shape) > _MOST_DIMENSIONS or min(shape, default=0) < 0:
        return False
    return math.prod(max(size, 1) for size in shape) * dtype.np_dtype.itemsize <= _MOST_BYTES


def stored_type(number: int) -> dtypes.DType | None:
    """The type that a number in a file stands for; None where no stored tensor has it."""
    if number not in dtypes.NUMBERS:
        return None
    found = dtypes.as_dtype(number)
    return None if found._is_ref_dtype else found
