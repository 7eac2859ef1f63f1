# SPDX-License-Identifier: Apache-2.0
"""Numbers that leave an array's dtype as it is, as those of NumPy did before 2.0.

`np.sqrt(2.0 / n)` is a float64; times an array of float32 it gave float32 then, and gives float64
now.  Programs that make the first values of their weights so got variables of float32.  Imports
NumPy: calls.py does this one only when a function gave such a number.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .table import LENIENT
from .use import note

_NARROW = frozenset("efF")  # codes of float16, float32 and complex64


class LenientFloat(np.float64):
    """A float64 that is a Python float to arrays; what it gives with other numbers is one, too."""

    __slots__ = ()

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        arrays = [x for x in inputs if isinstance(x, np.ndarray) and x.ndim]
        # (Arrays without dimensions counted as numbers.)
        plain: Callable[[Any], Any] = float if arrays else np.float64
        inputs = tuple(plain(x) if type(x) is LenientFloat else x for x in inputs)
        if any(x.dtype.char in _NARROW for x in arrays):
            note(*LENIENT)
        return lenient(getattr(ufunc, method)(*inputs, **kwargs))

    def __repr__(self) -> str:
        return repr(np.float64(self))


def lenient(result: Any) -> Any:
    """A float64 as one that is lenient; anything else as it is."""
    return LenientFloat(result) if type(result) is np.float64 else result


def _operator(name: str) -> Callable[..., Any]:
    function = getattr(np.float64, name)

    def apply(self: LenientFloat, *other: Any) -> Any:
        return lenient(function(self, *other))

    apply.__name__ = name
    return apply


for _name in "add sub mul truediv floordiv mod pow".split():
    for _side in ("", "r"):
        _full = f"__{_side}{_name}__"
        setattr(LenientFloat, _full, _operator(_full))
for _name in ("__neg__", "__abs__", "__pos__"):
    setattr(LenientFloat, _name, _operator(_name))
