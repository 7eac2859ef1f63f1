# SPDX-License-Identifier: Apache-2.0
"""Whole models in files, and models from configurations."""

from __future__ import annotations

import json
import os
from typing import Any

from ....engine.interface import log
from ..engine.network_weights import may_write
from ..losses import objects as losses
from ..optimizers import table as optimizers
from . import hdf5


def save_model(
    model: Any,
    filepath: Any,
    overwrite: bool = True,
    include_optimizer: bool = True,
    save_format: str | None = None,
    signatures: Any = None,
) -> None:
    """Writes structure, weights, what `compile` was given and the optimizer's state to a file.

    Args:
        model: the model.
        filepath: the file's path, or an h5py.File; a folder's path for "tf".
        overwrite: whether a file may be replaced without a question.
        include_optimizer: whether the optimizer's state is written.
        save_format: "h5", which is meant by None, or "tf" for a SavedModel.
        signatures: of a SavedModel, as `tf.saved_model.save` takes them.

    Raises:
        ValueError: another format is asked for, or a SavedModel of a model without inputs.
        NotImplementedError: an HDF5 file of a model with a `call` of its own.
        ImportError: h5py is not installed.
    """
    if save_format == "tf":
        from ...estimator.keras_object_models import save

        save(model, str(filepath), overwrite, include_optimizer, signatures)
        return
    if save_format not in (None, "h5"):
        raise ValueError(f'`save_format` may be "h5" or "tf", not {save_format!r}')
    if not model._is_graph_network and type(model).__name__ != "Sequential":
        raise NotImplementedError(
            "Saving the model to HDF5 format requires the model to be a Functional model or a "
            "Sequential model. It does not work for subclassed models, because such models are "
            "defined via the body of a Python method, which isn't safely serializable. Consider "
            "using `save_weights`."
        )
    file_class = hdf5.h5py_module().File
    optimizer = getattr(model, "optimizer", None)
    has_state = bool(
        include_optimizer and optimizer and not isinstance(optimizer, optimizers.TFOptimizer)
    )
    found = metadata(model, include_optimizer)
    if isinstance(filepath, file_class):
        hdf5.write_model(filepath, model, found, has_state)
    elif may_write(str(filepath), overwrite):
        with file_class(str(filepath), mode="w") as file:
            hdf5.write_model(file, model, found, has_state)


def metadata(model: Any, include_optimizer: bool, requires_config: bool = True) -> dict[str, Any]:
    """The configurations of a model and of what `compile` was given.

    Raises:
        NotImplementedError: the model has no configuration, but one is required.
    """
    config = {"class_name": type(model).__name__}
    try:
        config["config"] = model.get_config()
    except NotImplementedError:
        if requires_config:
            raise
    found: dict[str, Any] = {
        "keras_version": "2.2.4-tf",
        "backend": "tensorflow",
        "model_config": config,
    }
    if not (include_optimizer and getattr(model, "optimizer", None)):
        return found
    if isinstance(model.optimizer, optimizers.TFOptimizer):
        log.warning(
            "TensorFlow optimizers do not make it possible to access optimizer attributes or "
            "optimizer state after instantiation. As a result, we cannot save the optimizer as "
            "part of the model save file. You will have to compile your model again after loading "
            "it. Prefer using a Keras optimizer instead (see keras.io/optimizers)."
        )
        return found
    optimizer = {
        "class_name": type(model.optimizer).__name__,
        "config": model.optimizer.get_config(),
    }
    found["training_config"] = {
        "loss": _plain_loss(model.loss),
        "metrics": model._compile_metrics,
        "weighted_metrics": model._compile_weighted_metrics,
        "sample_weight_mode": model.sample_weight_mode,
        "loss_weights": model.loss_weights,
        "optimizer_config": optimizer,
    }
    return found


def _plain_loss(loss: Any) -> Any:
    if isinstance(loss, losses.Loss):
        return {"class_name": type(loss).__name__, "config": loss.get_config()}
    return loss


def load_model(filepath: Any, custom_objects: Any = None, compile: bool = True) -> Any:
    """A model from a file that `save` wrote.

    Args:
        filepath: the file's path, or an h5py.File; or the folder of a SavedModel.
        custom_objects: name -> class or function of the program's own.
        compile: whether the model is compiled as it was.

    Raises:
        ValueError: the file holds no model.
        OSError: there is neither such a file nor a SavedModel.
        ImportError: h5py is not installed.
    """
    if isinstance(filepath, (str, os.PathLike)) and not _is_hdf5(filepath):
        from ...estimator.keras_object_models import load

        return load(str(filepath), compile, custom_objects)
    file_class = hdf5.h5py_module().File
    if isinstance(filepath, file_class):
        return _read(filepath, custom_objects, compile)
    with file_class(str(filepath), mode="r") as file:
        return _read(file, custom_objects, compile)


def _is_hdf5(path: str | os.PathLike[str]) -> bool:
    return os.path.isfile(path) and bool(hdf5.h5py_module().is_hdf5(path))


def _read(file: Any, custom_objects: Any, compile: bool) -> Any:
    config = hdf5.read_config(file, "model_config")
    if config is None:
        raise ValueError("No model found in config file.")
    model = model_from_config(config, custom_objects)
    hdf5.read_layers(file["model_weights"], model.layers)
    if not compile:
        return model
    training = hdf5.read_config(file, "training_config")
    if training is None:
        log.warning(
            "No training configuration found in save file: the model was *not* compiled. Compile "
            "it manually."
        )
        return model
    compile_as(model, training, custom_objects or {})
    hdf5.read_optimizer(file, model)
    return model


def compile_as(model: Any, training: dict[str, Any], custom: dict[str, Any]) -> None:
    """Compiles a model as a configuration of `compile` says."""
    optimizer = optimizers.deserialize(training["optimizer_config"], custom)

    def known(value: Any) -> Any:
        if isinstance(value, dict) and "class_name" in value:
            return losses.deserialize(value, custom)
        if isinstance(value, dict):
            return {key: known(item) for key, item in value.items()}
        if isinstance(value, list):
            return [known(item) for item in value]
        return custom.get(value, value) if isinstance(value, str) else value

    model.compile(
        optimizer=optimizer,
        loss=known(training["loss"]),
        metrics=_metrics(training.get("metrics"), custom),
        weighted_metrics=_metrics(training.get("weighted_metrics"), custom),
        loss_weights=training.get("loss_weights"),
        sample_weight_mode=training.get("sample_weight_mode"),
    )


def _metrics(given: Any, custom: dict[str, Any]) -> Any:
    from ..metrics.table import deserialize

    if isinstance(given, dict) and "class_name" in given:
        return deserialize(given, custom)
    if isinstance(given, dict):
        return {key: _metrics(item, custom) for key, item in given.items()}
    if isinstance(given, list):
        return [_metrics(item, custom) for item in given]
    return custom.get(given, given) if isinstance(given, str) else given


def model_from_config(config: Any, custom_objects: Any = None) -> Any:
    """A model with new weights from a dict of class_name and config; TypeError for a list."""
    from ..layers.table import deserialize

    if isinstance(config, list):
        raise TypeError(
            "`model_from_config` expects a dictionary, not a list. Maybe you meant to use "
            "`Sequential.from_config(config)`?"
        )
    return deserialize(config, custom_objects)


def model_from_json(json_string: str, custom_objects: Any = None) -> Any:
    """A model with new weights from what `to_json` gave."""
    return model_from_config(json.loads(json_string), custom_objects)


def model_from_yaml(yaml_string: str, custom_objects: Any = None) -> Any:
    """A model with new weights from what `to_yaml` gave; needs PyYAML."""
    import yaml

    return model_from_config(yaml.safe_load(yaml_string), custom_objects)


def clone_model(model: Any, input_tensors: Any = None, clone_function: Any = None) -> Any:
    """A model of the same structure with new weights.

    Args:
        model: a model of layers, without a `call` of its own.
        input_tensors: tensors that the new model begins with.
        clone_function: a function from each layer to the new one.

    Raises:
        ValueError: the model has a `call` of its own.
    """
    from .cloning import clone

    return clone(model, input_tensors, clone_function)
