# SPDX-License-Identifier: Apache-2.0
"""The numbers that every peer computes with: the same seeds, the same arrays.

Imports NumPy alone, so that it loads in the Python of any peer.
"""

from __future__ import annotations

import numpy as np


def images(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Random images of 784 pixels and one-hot labels of ten classes."""
    random = np.random.default_rng(1)
    pixels = random.random((count, 784), dtype=np.float32)
    return pixels, np.eye(10, dtype=np.float32)[random.integers(0, 10, count)]


def options(count: int, dtype: str) -> list[np.ndarray]:
    """Prices, strikes and years of options for Black and Scholes."""
    random = np.random.default_rng(2)
    limits = ((10, 50), (10, 50), (0.2, 2))
    return [random.uniform(low, high, count).astype(dtype) for low, high in limits]


def normal(*shape: int, scale: float = 1.0) -> np.ndarray:
    """Normally distributed float32."""
    return np.random.default_rng(0).standard_normal(shape, dtype=np.float32) * np.float32(scale)


def dense_weights(*units: int) -> list[np.ndarray]:
    """Weights and zero biases of fully connected layers: the start of training in the peers."""
    parameters = []
    for inputs, outputs in zip(units, units[1:]):
        parameters += [normal(inputs, outputs, scale=0.05), np.zeros(outputs, np.float32)]
    return parameters


LENET_UNITS = (7 * 7 * 64, 1024, 10)
LENET_FILTERS = ((1, 32), (32, 64))
DEEP_LAYERS = 200
