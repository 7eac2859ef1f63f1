# SPDX-License-Identifier: Apache-2.0
"""SavedModels of models: a graph for each use, and the configuration among the assets."""

from __future__ import annotations

import json
import os
from typing import Any

from ...engine.graph.collections import GraphKeys
from ...engine.graph.graph import Graph
from ...engine.interface import log
from ...io.graph_def import write_atomically
from ...ops.public import tf
from ..checkpoints.saver import Saver
from ..keras.backend.sessions import get_session
from ..keras.saving.model_calls import trace_model_call
from ..keras.saving.models import compile_as, model_from_json
from ..objects.object_graph import ObjectGraph
from ..saved_model import folder, names
from ..saved_model.object_saving import save as save_object
from ..saved_model.writing import _SavedModelBuilder
from . import export_utils
from .keras_models import Origin
from .mode_keys import ModeKeys

_CONFIG = "saved_model.json"
_TRAINING = "training_config.json"


def export_saved_model(
    model: Any,
    saved_model_path: str,
    custom_objects: dict[str, Any] | None = None,
    as_text: bool = False,
    input_signature: Any = None,
    serving_only: bool = False,
) -> None:
    """Writes a SavedModel of a model: graphs that train, evaluate and predict, and its weights.

    Args:
        model: a functional or a Sequential model, or for serving any that knows its inputs.
        saved_model_path: a folder, which is made.
        custom_objects: name -> class or function, for layers that are not of Keras.
        as_text: whether the message is written as text.
        input_signature: `tf.TensorSpec`s of the inputs; the model's own if None.
        serving_only: whether only what predicts is written, with the objects of the model.

    Raises:
        ValueError: a Sequential model has no weights yet.
        NotImplementedError: the model has a `call` of its own, and is not for serving only.
        AssertionError: the folder is there, and not empty.
    """
    if serving_only:
        save_object(model, saved_model_path, trace_model_call(model, input_signature))
    else:
        _export_graphs(model, saved_model_path, custom_objects, as_text, input_signature)
    try:
        content = model.to_json()
    except NotImplementedError:
        log.warning(
            "Skipped saving model JSON, subclassed model does not have get_config() defined."
        )
        return
    assets = folder.get_or_create_assets_dir(saved_model_path)
    write_atomically(os.path.join(assets, _CONFIG), content.encode())


def _export_graphs(
    model: Any, saved_model_path: str, custom_objects: Any, as_text: bool, input_signature: Any
) -> None:
    """Writes a graph for each use of a model that a configuration describes."""
    is_sequential = hasattr(model, "add")
    if not model._is_graph_network and not (is_sequential and model.inputs):
        if is_sequential:
            raise ValueError(
                "Weights for sequential model have not yet been created. Weights are created when "
                "the Model is first called on inputs or `build()` is called with an "
                "`input_shape`, or the first layer in the model has `input_shape` during "
                "construction."
            )
        raise NotImplementedError(
            "Subclassed models can only be exported for serving. Please set argument "
            "serving_only=True."
        )
    builder = _SavedModelBuilder(saved_model_path)
    folder.get_or_create_variables_dir(saved_model_path)
    prefix = folder.get_variables_path(saved_model_path)
    model.save_weights(prefix, save_format="tf", overwrite=True)
    origin = Origin(model, custom_objects, saves_objects=True)
    if input_signature is None and not model._is_graph_network:
        # (What the first data were like is known, but no layer says it.)
        input_signature = [
            tf.TensorSpec(x.shape, x.dtype, name)
            for x, name in zip(model.inputs, model.input_names)
        ]
    modes = [ModeKeys.PREDICT]
    if model.optimizer:
        modes = [ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.PREDICT]
    for number, mode in enumerate(modes):
        with Graph().as_default():
            inputs = None if input_signature is None else _placeholders(input_signature)
            _add_graph(builder, origin.copy(mode, inputs), mode, prefix, is_first=not number)
    builder.save(as_text)


def _placeholders(signature: Any) -> list[Any]:
    specs = signature if isinstance(signature, (list, tuple)) else [signature]
    return [tf.placeholder(spec.dtype, spec.shape, name=spec.name) for spec in specs]


def _add_graph(
    builder: _SavedModelBuilder, model: Any, mode: str, prefix: str, is_first: bool
) -> None:
    kind = {ModeKeys.TRAIN: "train", ModeKeys.EVAL: "test"}.get(mode, "predict")
    function = model._function(kind)
    for update in model.state_updates:
        tf.add_to_collection(GraphKeys.UPDATE_OPS, update)
    iterations = None if mode == ModeKeys.PREDICT else getattr(model.optimizer, "iterations", None)
    if iterations is not None and not tf.get_collection(GraphKeys.GLOBAL_STEP):
        # What loads the graph finds the number of updates by this name.
        tf.add_to_collection(GraphKeys.GLOBAL_STEP, iterations)
    signatures = _signatures(model, mode)
    with tf.Session().as_default():
        model.load_weights(prefix)
        if is_first:
            # The state of the optimizer is among the variables of the graph that trains.
            get_session()
            model.save_weights(prefix, save_format="tf", overwrite=True)
            builder._has_saved_variables = True
        saveables = [s for s in ObjectGraph(model).frozen() if s.op is not None]
        builder.add_meta_graph(
            export_utils.EXPORT_TAG_MAP[mode],
            signature_def_map=signatures,
            saver=Saver(saveables, allow_empty=True),
            init_op=tf.local_variables_initializer(),
            train_op=function.updates_op if mode == ModeKeys.TRAIN else None,
        )


def _signatures(model: Any, mode: str) -> dict[str, Any]:
    inputs = dict(zip(model.input_names, model.inputs, strict=True))
    metrics = {}
    if mode != ModeKeys.PREDICT:
        for e in model._endpoints:
            if e.target is not None:
                inputs[e.target.op.name] = e.target
            for metric in (*e.metrics.values(), *e.weighted_metrics.values()):
                for variable in metric.variables:
                    tf.add_to_collection(GraphKeys.LOCAL_VARIABLES, variable)
                metrics[metric.name] = (metric.result(), metric.updates[0])
    outputs = export_utils.export_outputs_for_mode(
        mode,
        predictions=dict(zip(model.output_names, model.outputs, strict=True)),
        loss=model.total_loss if mode != ModeKeys.PREDICT else None,
        metrics=metrics or None,
    )
    return export_utils.build_all_signature_defs(
        inputs, outputs, serving_only=mode == ModeKeys.PREDICT
    )


def load_from_saved_model(
    saved_model_path: str, custom_objects: dict[str, Any] | None = None
) -> Any:
    """The model of a folder that `export_saved_model` wrote, not compiled.

    Args:
        saved_model_path: the folder.
        custom_objects: name -> class or function, for layers that are not of Keras.

    Raises:
        ValueError: the folder holds no configuration of a model.
    """
    path = os.path.join(folder.get_assets_dir(saved_model_path), _CONFIG)
    if not os.path.exists(path):
        raise ValueError(
            f"{path} is not there: the SavedModel was not written by "
            "tf.keras.experimental.export_saved_model, or by `save` of a model that has a "
            "configuration; tf.saved_model.load reads its graphs"
        )
    with open(path, encoding="utf-8") as file:
        model = model_from_json(file.read(), custom_objects=custom_objects)
    model.load_weights(folder.get_variables_path(saved_model_path))
    return model


def load(path: str, custom_objects: dict[str, Any] | None, is_compiled: bool) -> Any:
    """The model of a SavedModel, compiled as it was if that is known."""
    model = load_from_saved_model(path, custom_objects)
    training = os.path.join(folder.get_assets_dir(path), _TRAINING)
    if not is_compiled:
        return model
    if not os.path.exists(training):
        log.warning(
            "No training configuration found in %s: the model was *not* compiled. Compile it "
            "manually.",
            path,
        )
        return model
    with open(training, encoding="utf-8") as file:
        compile_as(model, json.load(file), custom_objects or {})
    model.load_weights(os.path.join(path, names.VARIABLES_DIRECTORY, names.VARIABLES_FILENAME))
    return model
