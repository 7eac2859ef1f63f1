# SPDX-License-Identifier: Apache-2.0
"""Floats as numbers of steps from the least value of a range, and back.

There are two ways, which differ in the last bit: one for whole arrays, in float32, and one for
single numbers, in float64.  Which one an op takes is TensorFlow's choice, and followed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..math.rounding import half_away

_f32 = np.float32


def plain(x: np.ndarray) -> np.ndarray:
    """The integers of a quantised array."""
    return x[x.dtype.names[0]] if x.dtype.names else x


def limits(dtype: np.dtype[Any]) -> tuple[int, int]:
    info = np.iinfo(dtype[0] if dtype.names else dtype)
    return int(info.min), int(info.max)


def cast(x: Any, dtype: np.dtype[Any]) -> np.ndarray:
    """Floats that are whole as numbers of a quantised dtype; what lies outside is cut.

    What 32 bits have no room for becomes the least number, as on the processors of the time.
    """
    least, most = limits(dtype)
    kind = dtype[0] if dtype.names else dtype
    whole = np.nan_to_num(np.asarray(x, np.float64), nan=0.0)
    if kind.itemsize == 4:
        whole = np.where(whole > most, least, whole)
    whole = np.clip(whole, least, most)
    return np.ascontiguousarray(whole.astype(kind)).view(dtype)


def to_steps(x: np.ndarray, low: np.float32, high: np.float32, dtype: np.dtype[Any]) -> Any:
    """Floats as numbers of steps from the least value."""
    least, most = limits(dtype)
    scale = _f32(0.0 if low == high else float(most - least) / float(high - low))
    offset = half_away(np.asarray(low * scale)) - _f32(least)
    # The largest float that is an int32.
    return np.minimum(half_away(x * scale) - offset, _f32(min(most, 2147483520)))


def from_steps(x: np.ndarray, low: np.float32, high: np.float32) -> np.ndarray:
    least, most = limits(x.dtype)
    scale = _f32(float(high - low) / float(most - least))
    base = low if low == high else half_away(np.asarray(low / scale)) * scale
    return _f32(base - _f32(least) * scale) + plain(x).astype(np.float32) * scale


def _adjusted(low: np.float32, high: np.float32, dtype: np.dtype[Any]) -> tuple[float, float]:
    """How many steps there are, and the range widened by one of them."""
    steps = 2.0 ** (8 * (dtype[0] if dtype.names else dtype).itemsize)
    return steps, float(high - low) * (steps / (steps - 1.0))


def to_whole(x: Any, low: np.float32, high: np.float32, dtype: np.dtype[Any]) -> np.ndarray:
    """Floats as integers of 64 bits, which may lie outside of the dtype: in float64."""
    least, _ = limits(dtype)
    x = np.asarray(x, np.float32).astype(np.float64)
    if low == high:
        return np.full(x.shape, least, np.int64)
    steps, width = _adjusted(low, high, dtype)
    scale = steps / width
    base = half_away(np.asarray(float(low) * scale))
    return (np.asarray(half_away(x * scale)) - base).astype(np.int64) + least


def to_number(x: Any, low: np.float32, high: np.float32, dtype: np.dtype[Any]) -> np.ndarray:
    """The same, cut to what the dtype holds, as plain integers of 64 bits."""
    return np.clip(to_whole(x, low, high, dtype), *limits(dtype))


def to_float(x: Any, low: np.float32, high: np.float32, dtype: np.dtype[Any]) -> np.ndarray:
    """Integers of a quantised dtype as the floats that they stand for: in float64."""
    least, _ = limits(dtype)
    x = np.asarray(x).astype(np.float64)
    if low == high:
        return np.full(x.shape, low, np.float32)
    steps, width = _adjusted(low, high, dtype)
    scale = width / steps
    base = _f32(half_away(np.asarray(low / _f32(scale)))) * _f32(scale)
    return np.asarray(float(base) + (x - least) * scale, np.float32)


def wrapped(x: np.ndarray, dtype: np.dtype[Any]) -> np.ndarray:
    """Integers of 64 bits in a quantised dtype; what is too large wraps around."""
    kind = dtype[0] if dtype.names else dtype
    return np.ascontiguousarray(x.astype(kind)).view(dtype)


def scalars(*ends: np.ndarray) -> tuple[Any, ...]:
    """The first number of each tensor, as TensorFlow reads ends of ranges."""
    return tuple(_f32(np.asarray(end).reshape(-1)[0]) for end in ends)


def product_range(
    a: tuple[np.float32, np.float32, np.dtype[Any]],
    b: tuple[np.float32, np.float32, np.dtype[Any]],
    dtype: np.dtype[Any],
) -> tuple[np.float32, np.float32]:
    """What the least and the largest number of a dtype stand for in a sum of products."""
    levels = []
    for low, high, kind in (a, b):
        least, most = limits(kind)
        levels.append((high - low) / _f32(most - least))
    one = _f32(levels[0] * levels[1])
    least, most = limits(dtype)
    return one * _f32(least), one * _f32(most)
