# SPDX-License-Identifier: Apache-2.0
"""`tf.keras.estimator.model_to_estimator`: an Estimator that trains a model of Keras."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from ...engine.graph.convert import convert_to_tensor_or_sparse_tensor
from ...engine.interface import log
from ...ops.public import tf
from ..checkpoints.checkpoint_management import latest_checkpoint
from ..checkpoints.saver import Saver
from ..keras.backend.phase import set_learning_phase
from ..keras.backend.sessions import get_session
from ..keras.optimizers.table import TFOptimizer
from ..keras.saving.cloning import clone
from ..keras.saving.copies import compile_like, optimizer_like
from ..keras.saving.models import load_model
from ..keras.serialization import CustomObjectScope
from ..layers.weights import track
from ..objects.checkpoint import frozen_saver
from ..objects.object_graph import ObjectGraph
from ..sessions.scaffold import Scaffold
from ..variables.global_step import (
    create_global_step,
    get_global_step,
    get_or_create_global_step,
)
from . import settings
from .estimator import Estimator
from .export_output import PredictOutput
from .mode_keys import ModeKeys
from .model_fn import EstimatorSpec

_SERVING = "serving_default"


def model_to_estimator(
    keras_model: Any = None,
    keras_model_path: str | None = None,
    custom_objects: dict[str, Any] | None = None,
    model_dir: str | None = None,
    config: Any = None,
    checkpoint_format: str | None = "saver",
) -> Estimator:
    """An Estimator of a compiled model, which begins with the model's weights.

    The features are tensors in the order of the model's inputs, or a dict by their names; or
    `{"features": …, "sample_weights": …}`.

    Args:
        keras_model: the model.
        keras_model_path: an HDF5 file of one, instead.
        custom_objects: name -> class or function, for layers that are not of Keras.
        model_dir: the folder of checkpoints and events; a new one if None.
        config: a `tf.estimator.RunConfig`.
        checkpoint_format: "saver" for keys by names; "checkpoint", or None, for those by objects.

    Returns:
        The Estimator.

    Raises:
        ValueError: there is no model, or there are two, or it is not compiled or has a `call` of
            its own, or the format is unknown.
    """
    if not (keras_model or keras_model_path):
        raise ValueError("Either `keras_model` or `keras_model_path` needs to be provided.")
    if keras_model and keras_model_path:
        raise ValueError("Please specity either `keras_model` or `keras_model_path`, but not both.")
    config = settings.with_folder_and_session(config, model_dir)
    if not keras_model:
        log.info("Loading models from %s", keras_model_path)
        keras_model = load_model(keras_model_path)
    if checkpoint_format not in (None, "checkpoint", "saver"):
        raise ValueError(
            f'Checkpoint format must be one of "checkpoint" or "saver". Got {checkpoint_format}'
        )
    if not keras_model._is_graph_network and not hasattr(keras_model, "add"):
        raise ValueError(
            "An Estimator is made of functional and Sequential models; a class with a `call` of "
            "its own cannot be made anew in another graph."
        )
    if not getattr(keras_model, "optimizer", None):
        raise ValueError(
            "The given keras model has not been compiled yet. Please compile the model with "
            "`model.compile()` before calling `model_to_estimator()`."
        )
    origin = Origin(keras_model, custom_objects, checkpoint_format != "saver")
    start = origin.first_checkpoint(config) if keras_model._is_graph_network else None
    return Estimator(origin.model_fn, config=config, warm_start_from=start)


class Origin:
    """The model that the Estimator's graphs have copies of."""

    def __init__(
        self, model: Any, custom_objects: dict[str, Any] | None, saves_objects: bool
    ) -> None:
        self.model, self.custom_objects = model, custom_objects
        self.saves_objects = saves_objects
        # Read here: hyperparameters are variables of the model's own graph.
        has_config = model.optimizer and not isinstance(model.optimizer, TFOptimizer)
        self.optimizer_config = model.optimizer.get_config() if has_config else None

    # The copy

    def copy(
        self, mode: str, features: Any = None, labels: Any = None, counts_steps: bool = False
    ) -> Any:
        """A model of new layers in the current graph, compiled unless it only predicts.

        Its optimizer counts updates by the global step if `counts_steps`.
        """
        set_learning_phase(mode == ModeKeys.TRAIN)
        features, weights = _without_weights(features)
        inputs = _in_order(features, getattr(self.model, "input_names", None), "features", "inputs")
        names = getattr(self.model, "output_names", None)
        targets = _in_order(labels, names, "labels", "outputs")
        step = None
        if counts_steps and mode != ModeKeys.PREDICT:
            step = get_or_create_global_step()
            track(step)
        with CustomObjectScope(self.custom_objects or {}):
            made = clone(self.model, inputs)
        if mode == ModeKeys.PREDICT:
            return made
        optimizer = optimizer_like(self.model.optimizer, self.optimizer_config, step)
        compile_like(self.model, made, optimizer, targets)
        if weights is not None:
            _weigh(made, weights)
        return made

    # What Estimators ask for

    def model_fn(self, features: Any, labels: Any, mode: str) -> EstimatorSpec:
        """The EstimatorSpec of a copy of the model."""
        model = self.copy(mode, features, labels, counts_steps=True)
        predictions = dict(zip(model.output_names, model.outputs, strict=True))
        loss = train_op = metrics = None
        if mode == ModeKeys.TRAIN:
            train_op = model._function("train").updates_op
        elif mode == ModeKeys.EVAL:
            model._function("test")
        if mode != ModeKeys.PREDICT:
            loss = model.total_loss
            # Not those of `add_metric`.
            own = [
                metric
                for e in model._endpoints
                for metric in (*e.metrics.values(), *e.weighted_metrics.values())
            ]
            metrics = {metric.name: metric for metric in own} or None
        return EstimatorSpec(
            mode=mode,
            predictions=predictions,
            loss=loss,
            train_op=train_op,
            eval_metric_ops=metrics,
            export_outputs={_SERVING: PredictOutput(predictions)},
            scaffold=self._scaffold(model),
        )

    def _scaffold(self, model: Any) -> Scaffold | None:
        if not self.saves_objects:
            return None
        _track_step(model)
        saver: Any = Saver(var_list=ObjectGraph(model).frozen(), sharded=True)
        saver._object_restore_saver = frozen_saver(model)
        return Scaffold(saver=saver)

    def first_checkpoint(self, config: Any) -> str:
        """The path of a checkpoint of the model's weights, in a folder of the Estimator's."""
        folder = os.path.join(config.model_dir, "keras")
        found = latest_checkpoint(folder)
        if found:
            return str(found)
        values = self._values()
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, "keras_model.ckpt")
        with tf.Graph().as_default():
            tf.set_random_seed(config.tf_random_seed)
            create_global_step()
            model = self.copy(ModeKeys.TRAIN, counts_steps=True)
            model._function("train")
            with tf.Session(config=config.session_config) as session:
                if values:
                    model.set_weights(values)
                get_session()
                if self.saves_objects:
                    _track_step(model)
                    model.save_weights(path)
                else:
                    Saver().save(session, path)
        return path

    def _values(self) -> list[Any] | None:
        """The weights, if anything gave them values; else the copy begins with its own."""
        weights = [w for layer in self.model.layers for w in layer.weights]
        if any(hasattr(w, "_keras_initialized") for w in weights):
            return self.model.get_weights()  # type: ignore[no-any-return]
        return None


def _track_step(model: Any) -> None:
    model._track_trackable(get_global_step(), "estimator_global_step", overwrite=True)


def _without_weights(features: Any) -> tuple[Any, Any]:
    if isinstance(features, dict) and set(features) == {"features", "sample_weights"}:
        return features["features"], features["sample_weights"]
    return features, None


def _in_order(given: Any, names: Sequence[str] | None, what: str, of: str) -> list[Any] | None:
    """Tensors in the order of a model's inputs or outputs; KeyError for other names."""
    if given is None:
        return None
    if isinstance(given, dict):
        others = set(given) ^ set(names or ())
        if others:
            raise KeyError(
                f"The dictionary passed into {what} does not have the expected {of} keys defined "
                f"in the keras model.\n\tExpected keys: {set(names or ())}\n\t{what} keys: "
                f"{set(given)}\n\tDifference: {others}"
            )
        given = [given[name] for name in names or ()]
    tensors = given if isinstance(given, (list, tuple)) else [given]
    return [convert_to_tensor_or_sparse_tensor(x) for x in tensors]


def _weigh(model: Any, weights: Any) -> None:
    """Has a model's loss weigh samples by tensors, one for each output."""
    if isinstance(weights, dict):
        weights = [weights.get(name) for name in model.output_names]
    weights = weights if isinstance(weights, (list, tuple)) else [weights]
    for endpoint, weight in zip(model._endpoints, weights, strict=True):
        endpoint.given_weight = weight
    model._make_loss()
