# SPDX-License-Identifier: Apache-2.0
"""Points in the plane that are made up: circles and spirals."""

from __future__ import annotations

from typing import Any

import numpy as np

from .....engine.api import export
from .base import Dataset


def _shuffled(x: Any, y: Any, points: Any, labels: Any, noise: float | None) -> Dataset:
    """The points in an order that is drawn, with noise."""
    data, target = np.vstack((x, y)).T, np.hstack([labels])
    order = np.random.permutation(range(points))
    if noise is not None:
        data += np.random.normal(scale=noise, size=data.shape)
    return Dataset(data=data[order], target=target[order])


@export("contrib.learn.datasets.synthetic.circles")
def circles(
    n_samples: int = 100,
    noise: float | None = None,
    seed: int | None = None,
    factor: float = 0.8,
    n_classes: int = 2,
    *args: Any,
    **kwargs: Any,
) -> Dataset:
    """Circles within each other, one a class.

    Args:
        n_samples: how many points.
        noise: the standard deviation of what is added to them.
        seed: of NumPy's generator.
        factor: the ratio of one circle's radius to that around it.
        n_classes: how many circles.

    Returns:
        A Dataset in an order that is drawn.
    """
    if seed is not None:
        np.random.seed(seed)
    each, extras = n_samples // n_classes, n_samples % n_classes
    angles = np.linspace(0, 2 * np.pi, each)
    # One factor after the other, as rounding is of products of products.
    cosines, sines = [np.cos(angles)], [np.sin(angles)]
    for _ in range(n_classes - 1):
        cosines.append(cosines[-1] * factor)
        sines.append(sines[-1] * factor)
    x = np.append(np.concatenate(cosines), np.cos(np.random.rand(extras) * 2 * np.pi))
    y = np.append(np.concatenate(sines), np.sin(np.random.rand(extras) * 2 * np.pi))
    labels = np.append(np.repeat(np.arange(n_classes), each), np.zeros(extras, dtype=np.int32))
    return _shuffled(x, y, n_samples, labels.astype(np.int32), noise)


def _archimedes(theta: Any, offset: float = 0.0) -> tuple[Any, Any]:
    x, y = theta * np.cos(theta + offset), theta * np.sin(theta + offset)
    return x / np.max(np.abs(x)), y / np.max(np.abs(y))


def _bernoulli(theta: Any, offset: float = 0.0, exp_scale: float = 0.1) -> tuple[Any, Any]:
    radius = np.exp(exp_scale * theta)
    x, y = radius * np.cos(theta + offset), radius * np.sin(theta + offset)
    return x / np.max(np.abs(x)), y / np.max(np.abs(y))


def _fermat(theta: Any, offset: float = 0.0) -> tuple[Any, Any]:
    radius = np.sqrt(theta)
    x, y = radius * np.cos(theta + offset), radius * np.sin(theta + offset)
    return x / np.max(np.abs(x)), y / np.max(np.abs(y))


_SPIRALS: dict[Any, Any] = {
    "archimedes": _archimedes,
    "bernoulli": _bernoulli,
    "fermat": _fermat,
}


@export("contrib.learn.datasets.synthetic.spirals")
def spirals(
    n_samples: int = 100,
    noise: float | None = None,
    seed: int | None = None,
    mode: str = "archimedes",
    n_loops: int = 2,
    *args: Any,
    **kwargs: Any,
) -> Dataset:
    """Two spirals, one a class.

    Args:
        n_samples: how many points.
        noise: the standard deviation of what is added to them.
        seed: of NumPy's generator.
        mode: "archimedes", "bernoulli" or "fermat": how the radius grows.
        n_loops: how often they go round.
        **kwargs: `exp_scale`, how fast "bernoulli" grows.

    Returns:
        A Dataset in an order that is drawn.

    Raises:
        ValueError: there is no such spiral.
    """
    if mode not in _SPIRALS:
        raise ValueError(f"Cannot generate spiral with mode {mode}")
    if seed is not None:
        np.random.seed(seed)
    each, extras = n_samples // 2, n_samples % 2
    angles = np.linspace(0, 2 * n_loops * np.pi, each)
    parts = [_SPIRALS[mode](angles, label * np.pi, *args, **kwargs) for label in range(2)]
    if extras:
        parts.append(_SPIRALS[mode](np.random.rand(extras) * 2 * np.pi, *args, **kwargs))
    x, y = (np.concatenate([part[i] for part in parts]) for i in range(2))
    labels = np.append(np.repeat(np.arange(2), each), np.zeros(extras, dtype=np.int32))
    return _shuffled(x, y, n_samples, labels.astype(np.int32), noise)
