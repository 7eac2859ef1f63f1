# SPDX-License-Identifier: Apache-2.0
"""Directions in which inputs move, points nearby, and the place of what goes wrong in one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..types import dtypes
from .functions import Array

# How far an element is moved at most, in units of itself, when all are moved alike.
_ALIKE = 100.0
# How far a point beside a kink is.
_BESIDE = 2e-3
# Elements of an input that are looked at one by one, rather than by halves.
_ONE_BY_ONE = 8
# So many pairs of points are as near as rounding could bring them.
CLOSE = 2
# How far, as powers of the rounding, points lie apart of which the scatter of a gradient is seen.
_NEARBY = (0.5, 0.42, 0.33, 0.33)
_NEARBY_MOST = 1e-2

Point = list[Array]


def random_directions(base: Array, count: int, random: np.random.Generator) -> Iterator[Array]:
    """Random directions: in proportion to the elements, and alike for all of them, in turns."""
    size = np.abs(base.astype(wide(base.dtype)))
    finite = size[np.isfinite(size) & (size > 0)]
    scale = float(np.median(finite)) if finite.size else 1.0
    relative = np.where(size > 0, size, scale)
    # (What is tiny beside the others may have a pole next to it.)
    alike = np.minimum(scale, _ALIKE * relative)
    for k in range(count if base.size else 0):
        drawn = normal(random, base.shape, base.dtype.kind == "c")
        # No element moves by next to nothing, which would leave it unchecked.
        drawn = drawn + np.where(drawn.real < 0, -0.3, 0.3)
        yield drawn * (alike if k % 2 else relative)


def nearby(
    base: Sequence[Array], eps: float, random: np.random.Generator
) -> Iterator[tuple[Point, Point]]:
    """Pairs of points on either side of the base, the first `CLOSE` as near as rounding is."""
    for far in (*(CLOSE * (2 * eps,)), *(min(eps**power, _NEARBY_MOST) for power in _NEARBY)):
        moves = [far * random.uniform(-1, 1, x.shape) for x in base]
        yield (
            [_scaled(x, 1 + move) for x, move in zip(base, moves)],
            [_scaled(x, 1 - move) for x, move in zip(base, moves)],
        )


def narrowed(direction: Array, gap: Callable[[Array], float]) -> tuple[int, ...]:
    """The place of the element that alone has the largest gap, by halves, then one by one."""
    places = np.arange(direction.size)
    while places.size > _ONE_BY_ONE:
        halves = np.array_split(places, 2)
        places = max(halves, key=lambda half: gap(_only(direction, half)))
    best = max(places, key=lambda place: gap(_only(direction, [place])))
    return tuple(int(k) for k in np.unravel_index(int(best), direction.shape))


def _only(direction: Array, places: Any) -> Array:
    part = np.zeros(direction.size, direction.dtype)
    part[places] = direction.reshape(-1)[places]
    return part.reshape(direction.shape)


# Arrays


def wide(kind: np.dtype[Any]) -> Any:
    """The double precision of a number's type."""
    return np.complex128 if kind.kind == "c" else np.float64


def normal(random: np.random.Generator, shape: Any, is_complex: bool) -> Array:
    """Normally distributed numbers."""
    drawn = np.asarray(random.standard_normal(shape))
    return drawn + 1j * random.standard_normal(shape) if is_complex else drawn


def dot(grad: Array | None, direction: Array) -> float:
    """The real inner product; 0 of no gradient."""
    if grad is None or grad.shape != direction.shape:
        return 0.0
    return float(np.sum(np.conj(grad.astype(wide(grad.dtype))) * direction).real)


def magnitude(grad: Array | None, direction: Array) -> float:
    """The sum of the sizes of what `dot` adds up."""
    if grad is None or grad.shape != direction.shape:
        return 0.0
    terms = np.abs(grad.astype(wide(grad.dtype))) * np.abs(direction.astype(wide(direction.dtype)))
    return float(np.sum(terms))


def _scaled(x: Array, factor: Array) -> Array:
    return np.asarray(x.astype(wide(x.dtype)) * factor).astype(x.dtype)


def beside(x: Array, move: int, random: np.random.Generator) -> Array:
    """A point away from a kink: ahead first, then to any side, then behind."""
    value = x.astype(wide(x.dtype))
    size = np.abs(value)
    scale = float(np.median(size[size > 0])) if np.any(size > 0) else 1.0
    low, high = ((0.5, 1), (-1, 1), (-1, -0.5), (-1, 1))[move % 4]
    far = max(_BESIDE, 8 * float(_spacing(x))) * scale * (1 + move)
    return (value + far * random.uniform(low, high, x.shape)).astype(x.dtype)


def _spacing(x: Array) -> float:
    kind = dtypes.as_dtype(x.dtype).real_dtype
    return {dtypes.float16: 2.0**-10, dtypes.bfloat16: 2.0**-7}.get(kind, 0.0)
