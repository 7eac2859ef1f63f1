# SPDX-License-Identifier: Apache-2.0
"""Models as SavedModels of objects: `model.save(folder, save_format="tf")` and `load_model`."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ...engine.interface import log
from ..keras.backend.phase import learning_phase_scope
from ..keras.backend.sessions import get_session
from ..keras.optimizers.restored import RestoredOptimizer
from ..keras.saving.model_calls import raise_model_input_error
from ..keras.saving.models import compile_as, model_from_config
from ..saved_model.object_loading import load_internal
from ..saved_model.object_saving import save as save_object
from ..saved_model.reading import parse_saved_model

_MODELS = ("_tf_keras_sequential", "_tf_keras_network", "_tf_keras_model")


def save(
    model: Any, path: str, overwrite: bool, include_optimizer: bool, signatures: Any = None
) -> None:
    """Writes a model, with its functions and what `compile` was given, as a SavedModel.

    Raises:
        ValueError: nobody knows the model's inputs yet.
        NotImplementedError: the optimizer is one of a SavedModel, without its rule.
    """
    if not overwrite and os.path.exists(path) and not _is_permitted(path):
        return
    if not model.inputs:
        raise_model_input_error(model)
    if include_optimizer and isinstance(getattr(model, "optimizer", None), RestoredOptimizer):
        raise NotImplementedError(
            "As of now, Optimizers loaded from SavedModel cannot be saved. If you're calling "
            "`model.save` or `tf.keras.models.save_model`, please set the `include_optimizer` "
            "option to `False`. For `tf.saved_model.save`, delete the optimizer from the model."
        )
    session = get_session()  # Initializes the variables that are new.
    with session.as_default(), _without_optimizer(model, include_optimizer):
        with learning_phase_scope(0):
            save_object(model, path, signatures)


def _is_permitted(path: str) -> bool:
    answer = input(f"[WARNING] {path} already exists - overwrite? [y/n]").strip().lower()
    while answer not in ("y", "n"):
        answer = input('Enter "y" (overwrite) or "n" (cancel).').strip().lower()
    return answer == "y"


@contextmanager
def _without_optimizer(model: Any, keeps: bool) -> Iterator[None]:
    """A context in which a model has no optimizer, unless it keeps it."""
    optimizer = getattr(model, "optimizer", None)
    if keeps or optimizer is None:
        yield
        return
    model.optimizer = None
    model._untrack("optimizer")
    try:
        yield
    finally:
        model.optimizer = optimizer


def load(path: str, compile: bool = True, custom_objects: dict[str, Any] | None = None) -> Any:
    """The model of a SavedModel, compiled as it was.

    A model of known layers is made of these again; another one has the functions that were saved.

    Raises:
        ValueError: the folder holds no model.
    """
    graphs = parse_saved_model(path).meta_graphs
    if len(graphs) != 1 or not graphs[0].HasField("object_graph_def"):
        from .keras_saved_models import load as load_graphs

        return load_graphs(path, custom_objects, compile)
    root = graphs[0].object_graph_def.nodes[0].user_object
    metadata = json.loads(root.metadata) if root.identifier in _MODELS else {}
    from .keras_revived import KerasLoader

    made = _from_config(metadata.get("model_config") or {}, custom_objects)
    training = metadata.get("training_config")
    if training is None and compile:
        log.warning(
            "No training configuration found in save file: the model was *not* compiled. Compile "
            "it manually."
        )
    if made is None:
        made = load_internal(path, loader_class=KerasLoader)
        if training is not None and compile:
            compile_as(made, training, custom_objects or {})
        return made
    if training is not None and compile:
        compile_as(made, training, custom_objects or {})
        _ = made.optimizer.iterations
        made.optimizer._create_hypers()
    return load_internal(path, loader_class=functools.partial(KerasLoader, model=made))


def _from_config(config: dict[str, Any], custom_objects: dict[str, Any] | None) -> Any:
    """A model of a configuration, if it is one of layers of known classes; None otherwise."""
    if "layers" not in (config.get("config") or {}):
        return None
    if config["class_name"] not in ("Model", "Sequential", *(custom_objects or {})):
        config = {**config, "class_name": "Model"}
    try:
        return model_from_config(config, custom_objects)
    except (ValueError, TypeError) as error:
        log.info(
            "The model is made of its functions, as its configuration cannot be used: %s", error
        )
        return None
