# SPDX-License-Identifier: Apache-2.0
"""Weights and models in files of HDF5, as Keras lays them out; h5py reads and writes these."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from ....engine.interface import log
from ..backend.sessions import batch_get_value, batch_set_value
from ..engine.network_config import json_value
from .conversion import preprocess_weights_for_loading

_VERSION = "2.2.4-tf"
# Attributes of HDF5 hold a little less than 64 KiB.
_LIMIT = 64512


def h5py_module() -> Any:
    """h5py; an ImportError says how it is installed."""
    try:
        import h5py
    except ImportError as error:
        raise ImportError("files of HDF5 need h5py: pip install h5py") from error
    return h5py


def _text(value: Any) -> str:
    return value.decode("utf8") if isinstance(value, bytes) else str(value)


def write_names(group: Any, name: str, texts: Sequence[str | bytes]) -> None:
    """Writes texts as an attribute, in several where they are too long for one."""
    data = np.asarray([text.encode("utf8") if isinstance(text, str) else text for text in texts])
    longest = max(map(len, data.tolist()), default=0)
    if longest > _LIMIT:
        raise RuntimeError(
            f"The following attributes cannot be saved to HDF5 file because they are larger than "
            f"{_LIMIT} bytes: {name}"
        )
    count = 1
    while any(part.nbytes > _LIMIT for part in np.array_split(data, count)):
        count += 1
    if count == 1:
        group.attrs[name] = data
        return
    for number, part in enumerate(np.array_split(data, count)):
        group.attrs[f"{name}{number}"] = part


def read_names(group: Any, name: str) -> list[str]:
    """The texts of an attribute, or of the several that `write_names` made of one."""
    if name in group.attrs:
        return [_text(text) for text in group.attrs[name]]
    found: list[str] = []
    number = 0
    while f"{name}{number}" in group.attrs:
        found += [_text(text) for text in group.attrs[f"{name}{number}"]]
        number += 1
    return found


def _write(group: Any, names: Sequence[str], values: Sequence[Any]) -> None:
    for name, value in zip(names, values):
        value = np.asarray(value)
        stored = group.create_dataset(name, value.shape, dtype=value.dtype)
        stored[() if not value.shape else slice(None)] = value


def _variables(layer: Any) -> list[Any]:
    """A layer's variables as files have them: those to train first."""
    return [*layer.trainable_weights, *layer.non_trainable_weights]


def write_layers(group: Any, layers: Sequence[Any]) -> None:
    """Writes the weights of layers to a group."""
    write_names(group, "layer_names", [layer.name for layer in layers])
    group.attrs["backend"] = b"tensorflow"
    group.attrs["keras_version"] = _VERSION.encode()
    variables = [_variables(layer) for layer in layers]
    values = iter(batch_get_value([v for own in variables for v in own]))
    for layer, own in zip(layers, variables):
        part = group.create_group(layer.name)
        names = [v.name for v in own]
        write_names(part, "weight_names", names)
        _write(part, names, [next(values) for _ in own])


def read_layers(group: Any, layers: Sequence[Any], by_name: bool = False) -> None:
    """Reads the weights of layers from a group; ValueError where they do not fit."""
    version = _text(group.attrs.get("keras_version", "1"))
    backend = _text(group.attrs["backend"]) if "backend" in group.attrs else None
    names = read_names(group, "layer_names")
    stored = {name: read_names(group[name], "weight_names") for name in names}
    if by_name:
        index: dict[str, list[Any]] = {}
        for layer in layers:
            index.setdefault(layer.name, []).append(layer)
        pairs = [(name, layer) for name in names for layer in index.get(name, [])]
    else:
        named = [name for name in names if stored[name]]
        own = [layer for layer in layers if _variables(layer)]
        if len(named) != len(own):
            raise ValueError(
                f"You are trying to load a weight file containing {len(named)} layers into a model "
                f"with {len(own)} layers."
            )
        pairs = list(zip(named, own))
    assigned = []
    for number, (name, layer) in enumerate(pairs):
        values = [np.asarray(group[name][weight]) for weight in stored[name]]
        values = preprocess_weights_for_loading(layer, values, version, backend)
        variables = _variables(layer)
        if len(values) != len(variables):
            raise ValueError(
                f'Layer #{number} (named "{layer.name}" in the current model) was found to '
                f"correspond to layer {name} in the save file. However the new layer {layer.name} "
                f"expects {len(variables)} weights, but the saved weights have {len(values)} "
                "elements."
            )
        for variable, value in zip(variables, values):
            if not variable.shape.is_compatible_with(value.shape):
                raise ValueError(
                    f'Layer #{number} (named "{layer.name}"), weight {variable} has shape '
                    f"{variable.shape}, but the saved weight has shape {value.shape}."
                )
            assigned.append((variable, value))
    batch_set_value(assigned)


def read_layers_by_name(group: Any, layers: Sequence[Any]) -> None:
    """Reads the weights of those layers whose names the group has."""
    read_layers(group, layers, by_name=True)


def save_weights(path: str, layers: Sequence[Any]) -> None:
    """Writes the weights of layers to a file."""
    with h5py_module().File(path, "w") as file:
        write_layers(file, layers)


def load_weights(path: str, layers: Sequence[Any], by_name: bool) -> None:
    """Reads the weights of layers from a file, also one of a whole model."""
    with h5py_module().File(path, "r") as file:
        group = file
        if "layer_names" not in file.attrs and "model_weights" in file:
            group = file["model_weights"]
        read_layers(group, layers, by_name)


def write_model(file: Any, model: Any, metadata: dict[str, Any], with_optimizer: bool) -> None:
    """Writes a model to an open file."""
    for name, value in metadata.items():
        if isinstance(value, (dict, list, tuple)):
            value = json.dumps(value, default=json_value).encode("utf8")
        file.attrs[name] = value
    write_layers(file.create_group("model_weights"), model.layers)
    if with_optimizer:
        variables = model.optimizer.weights
        if variables:
            group = file.create_group("optimizer_weights")
            names = [v.name for v in variables]
            write_names(group, "weight_names", names)
            _write(group, names, batch_get_value(variables))
    file.flush()


def read_config(file: Any, name: str) -> Any:
    """A dictionary of a model's file; None if it is not there."""
    found = file.attrs.get(name)
    return None if found is None else json.loads(_text(found))


def read_optimizer(file: Any, model: Any) -> None:
    """Reads the optimizer's state; a warning says that it does not fit."""
    if "optimizer_weights" not in file:
        return
    if not model._is_graph_network:
        log.warning(
            "Sequential models without an `input_shape` passed to the first layer cannot reload "
            "their optimizer state. As a result, your model isstarting with a freshly initialized "
            "optimizer."
        )
        return
    model._make_train_function()
    group = file["optimizer_weights"]
    values = [np.asarray(group[name]) for name in read_names(group, "weight_names")]
    try:
        model.optimizer.set_weights(values)
    except ValueError:
        log.warning(
            "Error in loading the saved optimizer state. As a result, your model is starting with "
            "a freshly initialized optimizer."
        )
