# SPDX-License-Identifier: Apache-2.0
"""The ops of k-means: the nearest centers of points, and points to begin with."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ...engine import errors
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.types.shape import TensorShape
from ..random.philox import Philox
from .candidate_kernels import Bits

if TYPE_CHECKING:
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext

_NO_GRADIENT = NoGradient("TensorFlow has no gradient of it")


def _half_norms(rows: np.ndarray) -> np.ndarray:
    return np.float32(0.5) * np.einsum("ij,ij->i", rows, rows)


def _nearest(
    c: KernelContext, points: np.ndarray, centers: np.ndarray, k: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of the k nearest centers of each point, and squared distances."""
    for name, value in (("points", points), ("centers", centers)):
        if value.ndim != 2:
            raise errors.invalid(f"Input {name} should be a matrix.")
    if np.ndim(k):
        raise errors.invalid("Input k should be a scalar.")
    if not len(points):
        raise errors.invalid("Expected points.rows() > 0.")
    if points.shape[1] != centers.shape[1]:
        raise errors.invalid(
            f"Expected point_dimensions == center_dimensions: {points.shape[1]} vs "
            f"{centers.shape[1]}."
        )
    most = min(len(centers), int(k))
    if most < 0:
        raise errors.invalid(f"Dimension {most} must be >= 0")
    if not most:
        return np.zeros((len(points), 0), np.int64), np.zeros((len(points), 0), np.float32)
    with np.errstate(all="ignore"):
        near = _half_norms(centers) - points @ centers.T
        if most == 1:
            chosen = near.argmin(1)[:, None]
        else:
            chosen = np.argsort(near, axis=1, kind="stable")[:, :most]
        found = _half_norms(points)[:, None] + np.take_along_axis(near, chosen, 1)
        return chosen.astype(np.int64), np.float32(2) * found


def _nearest_shape(c: ShapeContext) -> list[TensorShape]:
    points, centers = c.inputs[:2]
    k = c.value(2)
    if points.ndims != 2 or centers.ndims != 2 or k is None or np.ndim(k):
        return [TensorShape(None)] * 2
    count = centers.as_list()[0]
    size = None if count is None else min(count, int(k))
    return [TensorShape([points.as_list()[0], size])] * 2


class _Drawing:
    """Draws points that are far from those that were drawn, as likely as they are far."""

    def __init__(self, points: np.ndarray, seed: int) -> None:
        self.points, self.norms = points, _half_norms(points)
        self.bits = Bits(Philox.seeded(seed & (1 << 64) - 1, 0))
        self.distances = np.full(len(points), np.inf, np.float32)
        self.sums = self.distances
        self.drawn: list[int] = []

    def one(self) -> int:
        """A point that was not drawn."""
        if not self.drawn:
            return int(self.bits.below64(len(self.points), 1)[0])
        known = set(self.drawn)
        while True:
            at = self.bits.uniform32() * self.sums[-1]
            index = int(np.searchsorted(self.sums, at, side="right"))
            if index not in known:
                return index

    def _nearer(self, index: int) -> np.ndarray:
        """How far points are from the nearest one drawn, if another were."""
        products = self.points @ self.points[index]
        return np.minimum(self.distances, self.norms - products + self.norms[index])

    def draw(self, retries: int) -> None:
        """Draws one more: of several, that which leaves the others the nearest."""
        if self.drawn:
            # (One after another, as TensorFlow adds.)
            self.sums = np.add.accumulate(self.distances, dtype=np.float32)
        tries = [self.one() for _ in range(1 + retries)]
        nearer = [self._nearer(index) for index in tries]
        best = int(np.argmin([distances.sum() for distances in nearer]))
        self.distances = nearer[best]
        self.drawn.append(min(tries[best], len(self.points) - 1))


def _plus_plus(
    c: KernelContext, points: np.ndarray, count: np.ndarray, seed: np.ndarray, retries: np.ndarray
) -> np.ndarray:
    if points.ndim != 2:
        raise errors.invalid("Input points should be a matrix.")
    scalars = {"num_to_sample": count, "seed": seed, "num_retries_per_sample": retries}
    for name, value in scalars.items():
        if np.ndim(value):
            raise errors.invalid(f"Input {name} should be a scalar.")
    wanted, again = int(count), int(retries)
    if not len(points):
        raise errors.invalid("Expected points.rows() > 0.")
    if wanted <= 0:
        raise errors.invalid("Expected num_to_sample > 0.")
    if wanted > len(points):
        raise errors.invalid(f"Expected num_to_sample <= points.rows(). {wanted} vs {len(points)}.")
    drawing = _Drawing(points, int(seed))
    with np.errstate(all="ignore"):
        for _ in range(wanted):
            drawing.draw(again if again >= 0 else 2 + int(math.log(wanted)))
    return points[drawing.drawn]


def _chain(c: KernelContext, distances: np.ndarray, seed: np.ndarray) -> np.ndarray:
    """Where a Markov chain along distances ends."""
    if distances.ndim != 1:
        raise errors.invalid("Input distances should be a vector.")
    if np.ndim(seed):
        raise errors.invalid("Input seed should be a scalar.")
    if not len(distances):
        raise errors.invalid("Expected distances_tensor.size() > 0.")
    bits = Bits(Philox.seeded(int(seed) & (1 << 64) - 1, 0))
    chosen = 0
    with np.errstate(all="ignore"):
        for i in range(1, len(distances)):
            if distances[i] > bits.uniform32() * distances[chosen]:
                chosen = i
    return np.asarray(chosen, np.int64)


def _points() -> np.ndarray:
    return np.array([[1, 2], [2, 1.5], [-3, 0.5], [7, 7], [-2.5, 1], [6, 8]], np.float32)


define(
    "NearestNeighbors",
    "points: float32, centers: float32, k: int64 -> "
    "nearest_center_indices: int64, nearest_center_distances: float32",
    shape=_nearest_shape,
    kernel=_nearest,
    gradient=_NO_GRADIENT,
    doc="The nearest centers of points, and squared distances from them.",
    test=lambda: {"values": [[_points(), _points()[1:4] + np.float32(0.25), np.int64(2)]]},
)
define(
    "KmeansPlusPlusInitialization",
    "points: float32, num_to_sample: int64, seed: int64, num_retries_per_sample: int64 -> "
    "samples: float32",
    shape=lambda c: TensorShape(None),
    kernel=_plus_plus,
    dynamic_shape=True,
    gradient=_NO_GRADIENT,
    doc="Points far from each other, drawn by k-means++.",
    test=lambda: {"values": [[_points(), np.int64(3), np.int64(5), np.int64(1)]]},
)
define(
    "KMC2ChainInitialization",
    "distances: float32, seed: int64 -> index: int64",
    shape=lambda c: TensorShape([]),
    kernel=_chain,
    gradient=_NO_GRADIENT,
    doc="The number of a point that is drawn as likely as it is far.",
    test=lambda: {"values": [[np.array([0.5, 2, 1, 4, 0.25], np.float32), np.int64(7)]]},
)
