# SPDX-License-Identifier: Apache-2.0
"""Weights of other layers of the same kind: of CuDNN's, and of layers within layers."""

from __future__ import annotations

from typing import Any

import numpy as np


def converted(layer: Any, weights: list[np.ndarray], version: str) -> list[np.ndarray]:
    """Weights of a file as a layer has them.

    Args:
        layer: the layer.
        weights: arrays in the order of the file.
        version: of Keras that wrote it.
    """
    kind = type(layer).__name__
    if kind == "Bidirectional":
        half = len(weights) // 2
        return [
            *converted(layer.forward_layer, weights[:half], version),
            *converted(layer.backward_layer, weights[half:], version),
        ]
    if kind == "TimeDistributed":
        return converted(layer.layer, weights, version)
    if kind in ("Model", "Sequential"):
        return _of_network(layer, weights, version)
    if kind in ("LSTM", "CuDNNLSTM") and len(weights) == 3:
        return _lstm(layer, kind, weights)
    if kind in ("GRU", "CuDNNGRU") and len(weights) == 3:
        return _gru(layer, kind, weights)
    return weights


def _of_network(network: Any, weights: list[np.ndarray], version: str) -> list[np.ndarray]:
    """The weights of a network within: those to train of all layers come first."""
    count = len(network.trainable_weights)
    trained, others = weights[:count], weights[count:]
    found: tuple[list[Any], list[Any]] = ([], [])
    for layer in network.layers:
        a, b = len(layer.trainable_weights), len(layer.non_trainable_weights)
        made = converted(layer, [*trained[:a], *others[:b]], version)
        found[0].extend(made[:a])
        found[1].extend(made[a:])
        trained, others = trained[a:], others[b:]
    return [*found[0], *found[1]]


def _turned(kernel: np.ndarray, gates: int, is_cudnn: bool) -> np.ndarray:
    """A kernel of inputs, whose parts CuDNN keeps transposed, in its own memory order."""
    order: Any = "F" if is_cudnn else "C"
    parts = np.split(kernel, gates, axis=1)
    return np.hstack([part.T.reshape(part.shape, order=order) for part in parts])


def _lstm(layer: Any, kind: str, weights: list[np.ndarray]) -> list[np.ndarray]:
    """Between LSTM, whose bias is one for each gate, and CuDNN's with two."""
    units = layer.units
    is_cudnn, wants_cudnn = weights[2].shape == (8 * units,), kind == "CuDNNLSTM"
    if is_cudnn == wants_cudnn:
        return weights
    kernels = [_turned(weights[0], 4, is_cudnn), _transposed(weights[1], 4)]
    if is_cudnn:
        return [*kernels, weights[2][: 4 * units] + weights[2][4 * units :]]
    return [*kernels, np.concatenate([np.zeros(4 * units, weights[2].dtype), weights[2]])]


def _gru(layer: Any, kind: str, weights: list[np.ndarray]) -> list[np.ndarray]:
    """Between GRU with `reset_after`, whose biases are two rows, and CuDNN's with one."""
    units = layer.units
    shape, wants_cudnn = weights[2].shape, kind == "CuDNNGRU"
    is_cudnn = shape == (6 * units,)
    if is_cudnn == wants_cudnn:
        return weights
    if shape == (3 * units,) or (not wants_cudnn and not layer.reset_after):
        raise ValueError(
            f"{'GRU(reset_after=False)' if not wants_cudnn else 'CuDNNGRU'} is not compatible with "
            "the saved GRU; only GRU(reset_after=True) and CuDNNGRU are with each other"
        )
    kernels = [_turned(weights[0], 3, is_cudnn), _transposed(weights[1], 3)]
    bias = weights[2].reshape((2, 3 * units) if is_cudnn else (6 * units,))
    return [*kernels, bias]


def _transposed(kernel: np.ndarray, gates: int) -> np.ndarray:
    """A kernel of states, each of whose parts is transposed."""
    return np.hstack([part.T for part in np.split(kernel, gates, axis=1)])
