# SPDX-License-Identifier: Apache-2.0
"""Any one object as an array: the value of a scalar tensor of strings, resources or variants.

Imports NumPy alone.
"""

from __future__ import annotations

import numpy as np


def boxed(thing: object) -> np.ndarray:
    """An array without dimensions that holds an object.

    (`np.array` would look into sequences, and one of NumPy's own texts loses zeros at its end.)
    """
    box = np.empty((), object)
    box[()] = thing
    return box
