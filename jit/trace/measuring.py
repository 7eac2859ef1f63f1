# SPDX-License-Identifier: Apache-2.0
"""Sizes that the program itself computes: runs measure them on their way.  Imports jit's IR."""

from __future__ import annotations

import numpy as np

from ..kernel import scalar
from ..kernel.sizes import product
from ..program.tensor_ir import Value
from .builder import Builder, NotLowered


def measured(b: Builder, numbers: Value) -> Value:
    """A few integers as sizes that a run measures; it takes for granted that none is negative.

    Raises:
        NotLowered: that cannot be here.
    """
    count = product(numbers.shape)
    if numbers.ndim > 1 or not isinstance(count, int):
        raise NotLowered("how many sizes there are is not known")
    wide = b.cast(numbers, "int64")
    b.assume(b.reduce("any", b.map(lambda n: scalar.lt(n, 0), wide), None))
    flat = b.reshape(b.map(lambda n: scalar.maximum(n, 0), wide), [count])
    places = [b.reshape(b.slice(flat, [i], [1]), []) for i in range(count)]
    found = np.array([b.measure(place) for place in places], object)
    return b.known_as(found.reshape(numbers.shape), numbers.dtype)
