# SPDX-License-Identifier: Apache-2.0
"""Weights of other layers of the same kind: of CuDNN's, of Keras 1, of layers within layers."""

from __future__ import annotations

from typing import Any

import numpy as np

# The order of the gates in which Keras 1 has the weights, each gate with three of its own.
_GATES = {"GRU": (0, 1, 2), "LSTM": (0, 2, 1, 3), "ConvLSTM2D": (0, 2, 1, 3)}
# Layer -> format of data -> the order of the axes of a kernel of Keras 1.
_AXES: dict[str, dict[str, tuple[int, ...]]] = {
    "Conv2D": {"channels_first": (2, 3, 1, 0)},
    "Conv2DTranspose": {"channels_last": (0, 1, 3, 2), "channels_first": (2, 3, 0, 1)},
    "Conv3D": {"channels_first": (2, 3, 4, 1, 0)},
}
_CONVOLUTIONS = ("Conv1D", "Conv2D", "Conv3D", "Conv2DTranspose", "ConvLSTM2D")


def preprocess_weights_for_loading(
    layer: Any,
    weights: list[np.ndarray],
    original_keras_version: str | None = None,
    original_backend: str | None = None,
) -> list[np.ndarray]:
    """Weights of a file as a layer has them.

    Args:
        layer: the layer.
        weights: arrays in the order of the file.
        original_keras_version: of Keras that wrote it; "1" for files that do not say.
        original_backend: the backend that Keras had; Theano's kernels are turned.

    Raises:
        ValueError: the weights are of a recurrent layer that cannot be turned into this one.
    """
    version, backend = original_keras_version, original_backend
    kind = type(layer).__name__
    if kind == "Bidirectional":
        half = len(weights) // 2
        return [
            *preprocess_weights_for_loading(layer.forward_layer, weights[:half], version, backend),
            *preprocess_weights_for_loading(layer.backward_layer, weights[half:], version, backend),
        ]
    if kind == "TimeDistributed":
        return preprocess_weights_for_loading(layer.layer, weights, version, backend)
    if kind in ("Model", "Sequential"):
        return _of_network(layer, weights, version, backend)
    if version == "1":
        weights = _of_keras_1(layer, kind, weights)
    if kind in _CONVOLUTIONS:
        weights = _of_convolution(layer, kind, weights, backend)
    if kind in ("LSTM", "CuDNNLSTM") and len(weights) == 3:
        return _lstm(layer, kind, weights)
    if kind in ("GRU", "CuDNNGRU") and len(weights) == 3:
        return _gru(layer, kind, weights)
    return weights


def _of_keras_1(layer: Any, kind: str, weights: list[np.ndarray]) -> list[np.ndarray]:
    """Weights as Keras 2 has them: one kernel for all gates, and another order of axes."""
    found = list(weights)
    if kind == "Conv1D":
        shape = found[0].shape
        if shape[:2] != (layer.kernel_size[0], 1) or shape[3] != layer.filters:
            found[0] = np.transpose(found[0], (2, 3, 1, 0))
        found[0] = found[0][:, 0, :, :]
    axes = _AXES.get(kind, {}).get(getattr(layer, "data_format", ""))
    if axes is not None:
        found[0] = np.transpose(found[0], axes)
    gates = _GATES.get(kind)
    if gates is not None and len(found) == 3 * len(gates):
        found = [
            np.concatenate([found[3 * gate + part] for gate in gates], axis=-1) for part in range(3)
        ]
        if kind == "ConvLSTM2D" and layer.data_format == "channels_first":
            found[:2] = [np.transpose(kernel, (2, 3, 1, 0)) for kernel in found[:2]]
    return found


def _of_convolution(
    layer: Any, kind: str, weights: list[np.ndarray], backend: str | None
) -> list[np.ndarray]:
    """Kernels as TensorFlow has them: Theano's are turned around, and may have other axes."""
    found, count = list(weights), 2 if kind == "ConvLSTM2D" else 1
    if backend == "theano":
        found[:count] = [_turned_around(kernel) for kernel in found[:count]]
    own = [tuple(w.shape.as_list()) for w in layer.weights[:1]]
    if found and found[0].ndim == 4 and own not in ([], [found[0].shape]):
        found[:count] = [np.transpose(kernel, (3, 2, 0, 1)) for kernel in found[:count]]
    return found


def _turned_around(kernel: np.ndarray) -> np.ndarray:
    """A kernel whose positions are in the opposite order."""
    return np.flip(kernel, axis=tuple(range(kernel.ndim - 2)))


def _of_network(
    network: Any, weights: list[np.ndarray], version: str | None, backend: str | None
) -> list[np.ndarray]:
    """The weights of a network within: those to train of all layers come first."""
    count = len(network.trainable_weights)
    trained, others = weights[:count], weights[count:]
    found: tuple[list[Any], list[Any]] = ([], [])
    for layer in network.layers:
        a, b = len(layer.trainable_weights), len(layer.non_trainable_weights)
        if not a + b:
            continue
        own = [*trained[:a], *others[:b]]
        made = preprocess_weights_for_loading(layer, own, version, backend)
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
    return [*kernels, np.tile(0.5 * weights[2], 2)]


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
