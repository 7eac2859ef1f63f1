# SPDX-License-Identifier: Apache-2.0
"""What a SavedModel holds of layers besides what they are made of: lists, functions, descriptions.

Names and forms are TensorFlow's, so that layers can be loaded there as here.
"""

from __future__ import annotations

import functools
import json
from typing import Any

from ....engine.interface import log
from ....engine.interface.specs import TensorSpec
from ....engine.types import nest
from ....ops.flow.graph_functions import Function, function
from ...layers.base_layer import Layer
from ...objects.data_wrappers import ListWrapper
from ...objects.tracking import AutoTrackable
from ..backend.settings import floatx
from ..engine.input_layer import InputLayer
from ..engine.network_config import json_value
from ..metrics.base import Metric
from ..serialization import serialize_keras_object
from .layer_functions import LayerFunctions, layers_below, recorded_calls
from .model_calls import input_specs, model_input_signature

KERAS_ATTR = "keras_api"
_CACHE_KEY = "keras_serialized_attributes"
# What is at the object itself; the rest is at its `keras_api`.
COMMON_FUNCTIONS = ("__call__", "call_and_return_all_conditional_losses", "_default_save_signature")
COMMON_OBJECTS = ("variables", "trainable_variables", "regularization_losses")
PUBLIC_ATTRIBUTES = frozenset((*COMMON_FUNCTIONS, *COMMON_OBJECTS, KERAS_ATTR))


class _Attributes:
    """The objects and functions of one layer."""

    def __init__(self) -> None:
        self.objects: dict[str, Any] = {}
        self.functions: dict[str, Any] = {}
        self.keras_api = AutoTrackable()

    def fill(self, objects: dict[str, Any], functions: dict[str, Any]) -> None:
        """Takes objects and functions; None where there is none."""
        for name, value in (*objects.items(), *functions.items()):
            setattr(self.keras_api, name, value)
        self.objects = {k: v for k, v in objects.items() if k in COMMON_OBJECTS}
        self.functions = {
            k: v for k, v in functions.items() if k in COMMON_FUNCTIONS and v is not None
        }


class _Models:
    """The layers of one SavedModel: what is known of each, and how each was called."""

    def __init__(self) -> None:
        self.attributes: dict[int, _Attributes] = {}
        self.functions: dict[int, LayerFunctions] = {}
        self.losses: dict[int, Function] = {}
        self.kept: list[Any] = []

    def attributes_of(self, layer: Any) -> _Attributes:
        """What a layer has; the first that is asked for is traced with all within it."""
        if id(layer) not in self.attributes:
            is_first = not self.attributes
            made = self.attributes[id(layer)] = _Attributes()
            self.kept.append(layer)
            if not _is_skipped(layer):
                self._fill(layer, made, is_first)
        return self.attributes[id(layer)]

    def _fill(self, layer: Any, made: _Attributes, is_first: bool) -> None:
        try:
            if id(layer) not in self.functions:
                self._trace(layer)
            functions = self.functions[id(layer)].functions()
            functions["_default_save_signature"] = None
            if is_first and hasattr(layer, "output_names"):
                functions["_default_save_signature"] = self._default_signature(layer)
        except (ValueError, TypeError) as error:
            log.warning(
                "Skipping full serialization of object %s, because an error occurred while tracing "
                "layer functions. Error message: %s",
                layer,
                error,
            )
            return
        made.fill(self._objects(layer), functions)

    def _trace(self, layer: Any) -> None:
        """Traces a layer, and those within it as it calls them."""
        inner = [
            one
            for one in layers_below(layer)
            if one is not layer and id(one) not in self.functions and not _is_skipped(one)
        ]
        calls: list[tuple[Any, Any, Any]] = []

        def record(called: Any, args: Any, kwargs: Any) -> None:
            calls.append((called, *_specs((args, kwargs))))

        # What comes of a SavedModel has functions already.
        own = [x for x in inner if not hasattr(x, "_serialized_attributes")]
        with recorded_calls(own, record):
            self._traced(layer, self._kinds_of(layer))
        for called, args, kwargs in calls:
            self._traced(called, [(args, kwargs)])
        for one in inner:
            if id(one) not in self.functions:
                self._traced(one, self._kinds_of(one))

    def _traced(self, layer: Any, kinds: list[tuple[Any, Any]]) -> None:
        if id(layer) not in self.functions:
            self.functions[id(layer)] = LayerFunctions(layer)
        made = self.functions[id(layer)]
        for args, kwargs in kinds:
            made.trace(args, kwargs)

    def _kinds_of(self, layer: Any) -> list[tuple[Any, Any]]:
        """The arguments that a layer was called with, or a model takes."""
        if hasattr(layer, "input_names"):
            return [((input_specs(layer),), {})]
        kinds: list[tuple[Any, Any]] = []
        for node in vars(layer).get("_nodes_in", ()):
            if nest.flatten(node.inbound_layers):
                args, _ = _specs(((node.input_tensors,), {}))
                kinds.append((args, {}))
        spec = None if kinds else _input_of(layer)
        return kinds if spec is None else [((spec,), {})]

    def _default_signature(self, model: Any) -> Function:
        made = self.functions[id(model)]

        def _wrapped_model(*args: Any) -> dict[str, Any]:
            outputs = made.without_training(args[0])
            return dict(zip(model.output_names, nest.flatten(outputs)))

        signature = model_input_signature(model)
        return function(_wrapped_model, input_signature=signature, autograph=False)

    def _objects(self, layer: Any) -> dict[str, Any]:
        """The lists of a layer's variables, layers, metrics and losses."""
        below = [one for one in layers_below(layer) if one is not layer]
        own = [self._loss(loss) for loss in layer._callable_losses]
        inner = [self._loss(loss) for one in below for loss in one._callable_losses]
        return {
            "variables": ListWrapper(list(layer.variables)),
            "trainable_variables": ListWrapper(list(layer.trainable_variables)),
            "non_trainable_variables": ListWrapper(list(layer.non_trainable_variables)),
            "layers": ListWrapper(list(getattr(layer, "layers", None) or layer._nested_layers())),
            "metrics": ListWrapper(list(layer.metrics)),
            "regularization_losses": ListWrapper([*own, *inner]),
            "layer_regularization_losses": ListWrapper(own),
        }

    def _loss(self, loss: Any) -> Function:
        """A loss that depends on no input as a function."""
        if id(loss) not in self.losses:
            self.kept.append(loss)
            inner = loss.args[0] if isinstance(loss, functools.partial) and loss.args else loss
            made = inner
            if not isinstance(inner, Function):
                made = Function(lambda: inner(), f"loss_fn_{len(self.losses)}", [], None)
            self.losses[id(loss)] = made
        return self.losses[id(loss)]


def _specs(arguments: tuple[Any, Any]) -> tuple[Any, Any]:
    from ....ops.flow.function_spec import specs_of

    found = specs_of(arguments)
    if found is None:
        raise ValueError(f"arguments of a kind that no SavedModel can hold: {arguments}")
    return found


def _input_of(layer: Any) -> Any:
    """TensorSpecs of what a layer that was never called says of its inputs; None if too little."""
    if layer.input_spec is None:
        return None
    found = nest.map_structure(lambda spec: _as_tensor_spec(spec, layer.dtype), layer.input_spec)
    return None if any(spec is None for spec in nest.flatten(found)) else found


def _as_tensor_spec(spec: Any, dtype: Any) -> TensorSpec | None:
    dtype = spec.dtype or dtype or floatx()
    if spec.shape is not None:
        return TensorSpec(spec.shape, dtype)
    if spec.ndim is None:
        return None
    sizes: list[int | None] = [None] * spec.ndim
    for axis, size in (spec.axes or {}).items():
        sizes[axis] = size
    return TensorSpec(sizes, dtype)


def _is_skipped(layer: Any) -> bool:
    """Whether a layer cannot be traced, as nobody knows what its inputs are like."""
    if hasattr(layer, "input_names"):
        if not layer.inputs:
            log.warning(
                "Skipping full serialization of Keras model %s, because its inputs are not "
                "defined.",
                layer,
            )
        return not layer.inputs
    # Inputs of networks and metrics are not called as layers are.
    return not layer.built or isinstance(layer, (InputLayer, Metric))


def attributes_of(layer: Any, cache: dict[Any, Any]) -> _Attributes:
    """What a SavedModel has of a layer; `cache` is that of the SavedModel."""
    models = cache.setdefault(_CACHE_KEY, _Models())
    return models.attributes_of(layer)  # type: ignore[no-any-return]


def extra_dependencies(layer: Any, cache: dict[Any, Any]) -> dict[str, Any]:
    """The lists of a layer, and the object with all else."""
    found = attributes_of(layer, cache)
    return {**found.objects, KERAS_ATTR: found.keras_api}


def metadata_of(layer: Any) -> str:
    """What a SavedModel says of a layer, as JSON."""
    spec = layer.input_spec
    regularizer = layer.activity_regularizer
    found: dict[str, Any] = {
        "class_name": type(layer).__name__,
        "name": layer.name,
        "trainable": layer.trainable,
        "expects_training_arg": layer._expects_training_arg,
        "dtype": layer.dtype,
        "batch_input_shape": getattr(layer, "_batch_input_shape", None),
        "input_spec": None,
        "activity_regularizer": None,
    }
    try:
        found["config"] = layer.get_config()
    except NotImplementedError:
        pass  # A class with arguments of its own, which it does not tell.
    if spec is not None:
        found["input_spec"] = nest.map_structure(
            lambda x: None if x is None else serialize_keras_object(x), spec
        )
    if hasattr(regularizer, "get_config"):
        found["activity_regularizer"] = serialize_keras_object(regularizer)
    if isinstance(layer, Layer) and hasattr(layer, "_compile_metrics"):
        from .models import metadata

        found.update(metadata(layer, include_optimizer=True, requires_config=False))
    return json.dumps(found, default=json_value)
