# SPDX-License-Identifier: Apache-2.0
"""Layers and models of SavedModels whose classes are not known: their functions are their calls."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from ...engine.graph.trackable import Trackable, no_automatic_dependency_tracking_scope
from ...engine.interface.specs import TensorSpec
from ...engine.types import nest
from ...engine.types.shape import TensorShape
from ...ops.state.resource_variable import BaseResourceVariable
from ..keras import regularizers
from ..keras.backend.phase import known_or_cond, learning_phase
from ..keras.backend.sessions import get_session
from ..keras.engine.network import Network
from ..keras.engine.sequential import Sequential
from ..keras.engine.training import Model
from ..keras.saving.layer_objects import KERAS_ATTR, PUBLIC_ATTRIBUTES
from ..keras.serialization import deserialize_keras_object
from ..layers.base_layer import Layer
from ..layers.input_spec import InputSpec
from ..saved_model.object_loading import Loader


class RevivedLayer(Trackable):
    """A layer of a SavedModel: its class and description are those that it had."""

    _serialized_attributes: dict[str, Any]

    @property
    def keras_api(self) -> Any:
        """What the SavedModel has of the layer besides its parts."""
        return self._serialized_attributes.get(KERAS_ATTR)

    def get_config(self) -> Any:
        """The configuration that the layer had when it was saved.

        Raises:
            NotImplementedError: its class had none.
        """
        config = vars(self).get("_config")
        if config is None:
            raise NotImplementedError(f"{type(self).__name__} was saved without a configuration")
        return config

    def _list_extra_dependencies_for_serialization(self, cache: Any) -> dict[str, Any]:
        return {
            name: value
            for name, value in self._serialized_attributes.items()
            if isinstance(value, Trackable)
        }

    def _list_functions_for_serialization(self, cache: Any) -> dict[str, Any]:
        return {
            name: value
            for name, value in self._serialized_attributes.items()
            if not isinstance(value, Trackable)
        }

    def _use_function(self, function: Any) -> None:
        """Makes a function of the SavedModel the layer's call."""
        names = list(function.function_spec.arg_names)
        takes_training = (
            "training" in names or "training" in function.function_spec.fullargspec.kwonlyargs
        )

        def call(inputs: Any, *args: Any, **kwargs: Any) -> Any:
            outputs, losses = self._run_function(function, takes_training, inputs, args, kwargs)
            self.add_loss(losses, inputs)  # type: ignore[attr-defined]
            return outputs

        call.__signature__ = function.__signature__  # type: ignore[attr-defined]
        own = vars(self)
        own["call"] = call
        own["_call_fn_args"] = names
        own["_expects_training_arg"] = takes_training

    def _run_function(
        self, function: Any, takes_training: bool, inputs: Any, args: Any, kwargs: dict[str, Any]
    ) -> Any:
        if not takes_training:
            kwargs.pop("training", None)
            return function(inputs, *args, **kwargs)
        given, named = function.function_spec.canonical((inputs, *args), kwargs)
        names = function.function_spec.arg_names
        place = names.index("training") if "training" in names else None
        passed = "training" in kwargs or (place is not None and place < len(args) + 1)
        training = named.get("training") if place is None else given[place]
        if not passed or training is None:
            training = learning_phase()

        def called(value: bool) -> Callable[[], Any]:
            def call() -> Any:
                if place is None:
                    return function(*given, **{**named, "training": value})
                return function(*given[:place], value, *given[place + 1 :], **named)

            return call

        if training in (0, 1) or isinstance(training, bool):
            return called(bool(training))()
        return _chosen(training, called(True), called(False))


def _chosen(condition: Any, then: Callable[[], Any], otherwise: Callable[[], Any]) -> Any:
    """One of two structures of tensors, by a condition that is known when the graph runs."""
    structures: list[Any] = []

    def flat(call: Callable[[], Any]) -> Callable[[], Any]:
        def called() -> list[Any]:
            structures.append(call())
            return nest.flatten(structures[-1], expand_composites=True)

        return called

    found = known_or_cond(condition, flat(then), flat(otherwise))
    results = found if isinstance(found, (list, tuple)) else [found]
    for i, result in enumerate(results):
        shapes = [nest.flatten(s, expand_composites=True)[i].shape for s in structures]
        result.set_shape(_common(*shapes) if len(shapes) == 2 else shapes[0])
    return nest.pack_sequence_as(structures[0], list(results), expand_composites=True)


def _set_up(layer: Any, metadata: dict[str, Any]) -> None:
    """Gives a layer what its description says."""
    vars(layer)["_serialized_attributes"] = {}
    with no_automatic_dependency_tracking_scope(layer):
        vars(layer)["_expects_training_arg"] = metadata["expects_training_arg"]
        vars(layer)["_config"] = metadata.get("config")
        spec = metadata.get("input_spec")
        if spec is not None and not isinstance(layer, Network):
            layer.input_spec = _with_objects(spec)
        if metadata.get("activity_regularizer") is not None:
            layer.activity_regularizer = regularizers.deserialize(metadata["activity_regularizer"])
        if isinstance(layer, Network):
            layer._trainable = metadata["trainable"]
            vars(layer)["_training_config"] = metadata.get("training_config")


def _with_objects(config: Any) -> Any:
    if isinstance(config, dict) and "class_name" in config:
        return deserialize_keras_object(config, module_objects={"InputSpec": InputSpec})
    if isinstance(config, dict):
        return {key: _with_objects(value) for key, value in config.items()}
    return [_with_objects(value) for value in config]


def _options(metadata: dict[str, Any]) -> dict[str, Any]:
    found = {"name": metadata["name"], "trainable": metadata["trainable"]}
    for key in ("dtype", "batch_input_shape"):
        if metadata.get(key) is not None:
            found[key] = metadata[key]
    return found


class KerasLoader(Loader):
    """Makes layers and models of a SavedModel again, each of a class of its own."""

    _PARENTS = {
        "_tf_keras_layer": Layer,
        "_tf_keras_network": Network,
        "_tf_keras_model": Model,
        "_tf_keras_sequential": Sequential,
    }

    def __init__(self, *args: Any, model: Any = None) -> None:
        """model: a model that was made of the configuration, whose parts are what is restored."""
        self._model = model
        self._known: dict[int, Any] = {}
        self._wanted: set[int] | None = None
        super().__init__(*args)
        self._initialize()
        layers = [node for node in self.nodes.values() if isinstance(node, RevivedLayer)]
        for layer in layers:
            function = getattr(layer.keras_api, "call_and_return_conditional_losses", None)
            if function is not None and not isinstance(layer, Sequential):
                layer._use_function(function)
                layer.built = True  # type: ignore[attr-defined]
        for layer in layers:
            if isinstance(layer, Model):
                self._set_inputs(layer)
            self._add_losses(layer)
            for name in PUBLIC_ATTRIBUTES:
                layer._untrack(name)
        for number, layer in self._known.items():
            if isinstance(layer, Layer):
                self._add_further(layer, self._proto.nodes[number])

    def _initialize(self) -> None:
        """Gives the variables the saved values, in the session of Keras."""
        variables = [n for n in self.nodes.values() if isinstance(n, BaseResourceVariable)]
        get_session().run([variable.initializer for variable in variables])

    def _load_nodes(self) -> None:
        if self._model is not None:
            self._match(self._model)
            self._wanted = self._reached()
        super()._load_nodes()

    def _is_wanted(self, number: int) -> bool:
        return self._wanted is None or number in self._wanted

    def _reached(self) -> set[int]:
        """The objects that a model of known layers needs: not the lists of what it has."""
        keras_api = {
            child.node_id
            for number in self._known
            for child in self._proto.nodes[number].children
            if child.local_name == KERAS_ATTR
        }
        reached, pending = {0}, [0]
        while pending:
            number = pending.pop()
            proto = self._proto.nodes[number]
            found = [
                child.node_id
                for child in proto.children
                if _is_followed(child.local_name, number in keras_api, number in self._known)
            ]
            for name in (*proto.function.concrete_functions, _bare_name(proto)):
                found += self._proto.concrete_functions[name].bound_inputs if name else ()
            pending += [each for each in found if each not in reached]
            reached.update(found)
        return reached

    def _match(self, model: Any) -> None:
        """Finds the objects of the SavedModel that are there as parts of a model."""
        self._known[0] = model
        pending = [0]
        while pending:
            number = pending.pop()
            for child in self._proto.nodes[number].children:
                found = self._known[number]._lookup_dependency(child.local_name)
                if found is not None and child.node_id not in self._known:
                    self._known[child.node_id] = found
                    pending.append(child.node_id)

    def _recreate(self, proto: Any, number: int) -> tuple[Any, Callable[..., Any]]:
        if number in self._known:
            return self._known[number], _keep
        return super()._recreate(proto, number)

    def _set_inputs(self, model: Any) -> None:
        function = getattr(model.keras_api, "call_and_return_conditional_losses", None)
        if function is None:
            return
        if function.input_signature is not None:
            inputs = function.input_signature[0]
        else:
            inputs = _inputs_of(function)
        if isinstance(model, Sequential):
            vars(model)["_layers"] = []
            for layer in model.keras_api.layers:  # type: ignore[attr-defined]
                model.add(layer)
        if not model.inputs:
            model._set_inputs(inputs)

    def _add_losses(self, layer: Any) -> None:
        losses = getattr(layer.keras_api, "layer_regularization_losses", None)
        if losses is None:
            losses = layer._serialized_attributes.get("regularization_losses", [])
        for loss in losses:
            layer.add_loss(loss)
        if layer.activity_regularizer is None:
            layer.activity_regularizer = getattr(layer.keras_api, "activity_regularizer_fn", None)

    def _add_further(self, layer: Any, proto: Any) -> None:
        """Gives a layer of a configuration the losses that the program had added besides."""
        api = [c.node_id for c in proto.children if c.local_name == KERAS_ATTR]
        if api:
            losses = list(getattr(self.nodes[api[0]], "layer_regularization_losses", ()))
            for loss in losses[len(layer._callable_losses) :]:
                layer.add_loss(loss)
        given = json.loads(proto.user_object.metadata).get("activity_regularizer")
        if layer.activity_regularizer is None and given is not None:
            layer.activity_regularizer = regularizers.deserialize(given)

    def _recreate_base_user_object(self, proto: Any, number: int) -> Any:
        parent = self._PARENTS.get(proto.identifier)
        if parent is None:
            return super()._recreate_base_user_object(proto, number)
        metadata = json.loads(proto.metadata)
        kind = type(str(metadata["class_name"]), (RevivedLayer, parent), {})
        if issubclass(parent, Network):
            made = kind(name=metadata["name"])
            if metadata.get("dtype") is not None:
                made._set_dtype_policy(metadata["dtype"])
        else:
            made = kind(**_options(metadata))
        _set_up(made, metadata)
        return made, _revive_child


def _is_followed(name: str, is_api: bool, is_known: bool) -> bool:
    """Whether the child of an object is needed by a model whose parts are known."""
    if is_api:
        return name == "layer_regularization_losses"
    return not is_known or name == KERAS_ATTR or name not in PUBLIC_ATTRIBUTES


def _bare_name(proto: Any) -> str:
    return str(proto.bare_concrete_function.concrete_function_name)


def _keep(obj: Any, name: str, value: Any) -> None:
    """Gives an object that was there what it lacks, such as functions and signatures."""
    if name not in PUBLIC_ATTRIBUTES and not hasattr(obj, name):
        vars(obj)[name] = value


def _revive_child(layer: Any, name: str, value: Any) -> None:
    if name in PUBLIC_ATTRIBUTES:
        if isinstance(value, Trackable):
            layer._track_trackable(value, name=name)
        layer._serialized_attributes[name] = value
    elif name.startswith(("layer-", "layer_with_weights-")):
        # Names that networks give to their layers themselves.
        layer._track_trackable(value, name=name, overwrite=True)
    else:
        setattr(layer, name, value)


def _inputs_of(function: Any) -> Any:
    """The TensorSpecs of inputs that fit all kinds that a function was traced for."""
    specs = [f.structured_input_signature[0][0] for f in function.concrete_functions]
    found = specs[0]
    for other in specs[1:]:
        found = nest.map_structure(
            lambda a, b: TensorSpec(_common(a.shape, b.shape), a.dtype, a.name), found, other
        )
    return found


def _common(one: TensorShape, other: TensorShape) -> TensorShape:
    if one.rank is None or one.rank != other.rank:
        return TensorShape(None)
    return TensorShape([a if a == b else None for a, b in zip(one.as_list(), other.as_list())])
