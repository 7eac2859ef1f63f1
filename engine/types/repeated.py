# SPDX-License-Identifier: Apache-2.0
"""Constants that list few elements and let the last of them stand for many more."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


class Repeated:
    """An array that is made when something needs it: few bytes of a file, or of a program, may
    claim any size."""

    __slots__ = ("_array", "dtype", "listed", "shape")

    def __init__(self, listed: np.ndarray, shape: tuple[int, ...]) -> None:
        """listed: the first elements, at least one, as a vector; the last stands for the rest."""
        self.listed, self.shape, self.dtype = listed, shape, listed.dtype
        self._array: np.ndarray | None = None

    @property
    def size(self) -> int:
        """How many elements there are."""
        return math.prod(self.shape)

    def array(self) -> np.ndarray:
        """All of it, read-only; MemoryError where that is too much."""
        if self._array is None:
            try:
                array = np.empty(self.size, self.dtype)
            except ValueError:  # more bytes than there are addresses
                raise MemoryError(f"a constant of shape {list(self.shape)}") from None
            array[: len(self.listed)] = self.listed[: len(array)]
            array[len(self.listed) :] = self.listed[-1]
            array.flags.writeable = False
            self._array = array.reshape(self.shape)
        return self._array


# So many elements that are one and the same are no array until somebody asks for it.
_MANY = 1 << 14


def is_vast(value: Any) -> bool:
    """Is the value of a constant one element that stands for many?"""
    return isinstance(value, Repeated) and len(value.listed) == 1 and value.size > _MANY


def whole(value: Any) -> np.ndarray:
    """The value of a constant as an array."""
    return value.array() if isinstance(value, Repeated) else value
