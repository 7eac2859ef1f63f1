# SPDX-License-Identifier: Apache-2.0
"""Copies of models that are compiled as they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....engine.interface import log
from ....ops.public import tf
from ..metrics.table import clone_metric
from ..optimizers.table import TFOptimizer
from ..serialization import CustomObjectScope
from .cloning import clone


def clone_and_build_model(
    model: Any,
    input_tensors: Any = None,
    target_tensors: Any = None,
    custom_objects: dict[str, Any] | None = None,
    compile_clone: bool = True,
    in_place_reset: bool = False,
    optimizer_iterations: Any = None,
    optimizer_config: Any = None,
) -> Any:
    """A model of new layers in the current graph, compiled as a model is.

    Args:
        model: the model; a class with a `call` of its own needs `get_config`.
        input_tensors: its inputs; placeholders if None.
        target_tensors: as of `compile`.
        custom_objects: name -> class or function, for layers that are not of Keras.
        compile_clone: whether it is compiled.
        in_place_reset: cannot be asked for.
        optimizer_iterations: a variable that counts updates.
        optimizer_config: the optimizer's, where the model is of another graph.

    Raises:
        ValueError: the model has a `call` and no `get_config`, or is not compiled.
    """
    if compile_clone and not model.optimizer:
        raise ValueError(
            "Error when cloning model: compile_clone was set to True, but the original model has "
            "not been compiled."
        )
    with CustomObjectScope(custom_objects or {}):
        made = _copy(model, input_tensors)
    if compile_clone:
        optimizer = optimizer_like(model.optimizer, optimizer_config, optimizer_iterations)
        compile_like(model, made, optimizer, target_tensors)
    return made


def _copy(model: Any, input_tensors: Any) -> Any:
    if model._is_graph_network or hasattr(model, "add"):
        made = clone(model, input_tensors)
        shape = getattr(model, "_build_input_shape", None)
        if not made._is_graph_network and shape is not None:
            made._set_inputs(tf.placeholder(model.inputs[0].dtype, shape))
        return made
    try:
        made = type(model).from_config(model.get_config())
    except NotImplementedError as error:
        log.warning(
            "This model is a subclassed model. Please implement `get_config` and `from_config` to "
            "better support cloning the model."
        )
        raise ValueError(
            "This model is a subclassed model. Such a model cannot be cloned, nor be reset in "
            "place here: give its class `get_config` and `from_config`."
        ) from error
    if input_tensors is not None:
        is_one = isinstance(input_tensors, (list, tuple)) and len(input_tensors) == 1
        made._set_inputs(input_tensors[0] if is_one else input_tensors)
    return made


def optimizer_like(given: Any, config: Any = None, iterations: Any = None) -> Any:
    """An optimizer like one.

    Args:
        given: the optimizer.
        config: what its `get_config` gave in the graph of its variables, or a list with that;
            None where that is this graph.
        iterations: a variable that counts updates; a new one if None.
    """
    if isinstance(given, TFOptimizer):
        return TFOptimizer(given.optimizer, iterations)
    if isinstance(config, Sequence):
        config = config[0]
    made = type(given).from_config(given.get_config() if config is None else config)
    if iterations is not None:
        made.iterations = iterations
    return made


def compile_like(model: Any, made: Any, optimizer: Any, target_tensors: Any = None) -> None:
    """Compiles a copy of a model with what the model was compiled with, and new metrics."""
    made.compile(
        optimizer,
        model.loss,
        metrics=_cloned(model._compile_metrics),
        loss_weights=model.loss_weights,
        sample_weight_mode=model.sample_weight_mode,
        weighted_metrics=_cloned(model._compile_weighted_metrics),
        target_tensors=target_tensors,
    )


def _cloned(metrics: Any) -> Any:
    """New metrics of the same configurations, in the same structure."""
    if isinstance(metrics, dict):
        return {name: _cloned(metric) for name, metric in metrics.items()}
    if isinstance(metrics, (list, tuple)):
        return [_cloned(metric) for metric in metrics]
    return clone_metric(metrics)
