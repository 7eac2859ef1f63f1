# SPDX-License-Identifier: Apache-2.0
"""`Sequential`: layers one behind the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....engine.interface import log
from ....engine.types import nest
from ....engine.types.shape import TensorShape
from ...layers.base_layer import Layer
from ...layers.connected import mask_of
from ...layers.nodes import history_of
from .input_layer import Input, InputLayer
from .network_map import refuse_legacy, source_inputs
from .training import Model


class Sequential(Model):
    """Layers one behind the other, each with one input and one output.

    Args:
        layers: the layers; more may be added.
        name: the model's name.
    """

    def __init__(self, layers: Any = None, name: str | None = None) -> None:
        super().__init__(name=name)
        self.supports_masking = True
        self._set(_build_input_shape=None)
        for layer in [] if layers is None else _listed(layers):
            self.add(layer)

    @property
    def layers(self) -> list[Any]:
        """The layers, without the one for inputs."""
        found = super().layers
        return found[1:] if found and isinstance(found[0], InputLayer) else found

    def add(self, layer: Any) -> None:
        """Puts a layer behind the last.

        Raises:
            TypeError: it is no layer, or one of `tf.layers`, or it has several outputs.
            ValueError: it is the first and has several outputs.
        """
        if history_of(layer) is not None and isinstance(history_of(layer).layer, InputLayer):
            layer = history_of(layer).layer
        if not isinstance(layer, Layer):
            raise TypeError(f"The added layer must be an instance of class Layer. Found: {layer}")
        refuse_legacy([layer])
        self.built = False
        outputs = None
        if not self._layers:
            outputs = self._begin_with(layer)
        elif self.outputs:
            outputs = nest.flatten(layer(self.outputs[0]))
            if len(outputs) != 1:
                raise TypeError(
                    "All layers in a Sequential model should have a single output tensor. For "
                    "multi-output layers, use the functional API."
                )
        if outputs and self.outputs and not self._is_graph_network:
            # A model that its first inputs have built: its inputs are no layer's.
            self._set(outputs=outputs, _layers=[*self._layers, layer])
            self._track_layers()
            self.built = True
        elif outputs:
            inputs = self.inputs or source_inputs(outputs[0])
            self._init_graph_network(inputs, outputs, name=self.name)
            self.built = True
        else:
            self._set(_layers=[*self._layers, layer])
            self._track_layers()

    def _begin_with(self, layer: Any) -> Any:
        """The outputs of the first layer, if it says what its inputs are like."""
        if not isinstance(layer, InputLayer):
            shape, dtype = _input_of(layer)
            if not shape:
                return None
            layer(Input(batch_shape=shape, dtype=dtype, name=f"{layer.name}_input"))
        outputs = nest.flatten(layer.inbound_nodes[-1].output_tensors)
        if len(outputs) != 1:
            raise ValueError(
                "All layers in a Sequential model should have a single output tensor. For "
                "multi-output layers, use the functional API."
            )
        return outputs

    @property
    def _object_identifier(self) -> str:
        return "_tf_keras_sequential"

    def pop(self) -> None:
        """Takes away the last layer; TypeError if there is none."""
        if not self.layers:
            raise TypeError("There are no layers in the model.")
        self._set(_layers=self._layers[:-1])
        if not self.layers:
            self._set(outputs=None, inputs=None, _is_graph_network=False)
            self.built = False
        elif self._is_graph_network:
            self.layers[-1].outbound_nodes.clear()
            self._init_graph_network(self.inputs, [self.layers[-1].output], name=self.name)
            self.built = True

    def build(self, input_shape: Any = None) -> None:
        """Makes the variables for inputs of a shape; ValueError if there is none."""
        if not self._is_graph_network:
            if input_shape is None:
                raise ValueError("You must provide an `input_shape` argument.")
            # (A file has a list, which would be several shapes.)
            shape = tuple(TensorShape(input_shape).as_list())
            self._set(_build_input_shape=shape)
            super().build(shape)
            self._track_layers()
        self.built = True

    def _maybe_build(self, inputs: Any) -> None:
        if type(self).build is not Sequential.build or self._is_graph_network or self.built:
            super()._maybe_build(inputs)
            return
        # The layers make their variables as they are called.
        if isinstance(inputs, dict):
            shape: tuple[Any, ...] = (None,)
        else:
            sizes = nest.flatten(inputs)[0].shape
            shape = (None, *(sizes.as_list()[1:] if sizes.ndims else ()))
        self._set(_build_input_shape=shape)
        self.built = True

    def _set_inputs(self, inputs: Any, outputs: Any = None, training: Any = None) -> None:
        if isinstance(inputs, dict) and not getattr(self.layers[0], "_is_feature_layer", False):
            raise ValueError(
                "Passing a dictionary input to a Sequential Model which doesn't have FeatureLayer "
                f"as the first layer is an error: {self.layers[0].name} reads one tensor"
            )
        super()._set_inputs(inputs, outputs, training)
        # Only now is known which layers have weights.
        self._track_layers()

    def call(  # type: ignore[override]
        self, inputs: Any, training: Any = None, mask: Any = None
    ) -> Any:
        """The last layer's outputs."""
        if self._is_graph_network:
            return super().call(inputs, training=training, mask=mask)
        for layer in self.layers:
            given: dict[str, Any] = {}
            if "mask" in layer._call_fn_args:
                given["mask"] = mask
            if "training" in layer._call_fn_args:
                given["training"] = training
            inputs = layer(inputs, **given)
            mask = mask_of(inputs)
        return inputs

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the last layer's outputs."""
        for layer in self.layers:
            input_shape = layer.compute_output_shape(input_shape)
        return input_shape

    def predict_proba(self, x: Any, batch_size: int = 32, verbose: int = 0) -> Any:
        """As `predict`; a warning says that what comes out are no probabilities."""
        found = self.predict(x, batch_size, verbose)
        if found.min() < 0.0 or found.max() > 1.0:
            log.warning(
                "Network returning invalid probability values. The last layer might not normalize "
                "predictions into probabilities (like softmax or sigmoid would)."
            )
        return found

    def predict_classes(self, x: Any, batch_size: int = 32, verbose: int = 0) -> Any:
        """The numbers of the most probable classes; 0 or 1 for one output."""
        found = self.predict(x, batch_size=batch_size, verbose=verbose)
        if found.shape[-1] > 1:
            return np.argmax(found, axis=-1)
        return (found > 0.5).astype("int32")

    def get_config(self) -> Any:
        """The layers' configurations."""
        layers = [
            {"class_name": type(layer).__name__, "config": layer.get_config()}
            for layer in self.layers
        ]
        if self._is_graph_network and layers:
            # Behind an `InputLayer` the first layer does not know the shape that it stands for.
            shape = getattr(self._layers[0], "_batch_input_shape", None)
            layers[0]["config"] = {"batch_input_shape": shape, **layers[0]["config"]}
        config: dict[str, Any] = {"name": self.name, "layers": layers}
        if vars(self)["_build_input_shape"]:
            config["build_input_shape"] = vars(self)["_build_input_shape"]
        return config

    @classmethod
    def from_config(cls, config: Any, custom_objects: Any = None) -> Any:
        """A model of what `get_config` gave."""
        from ..layers.table import deserialize

        name, shape, layers = None, None, config
        if isinstance(config, dict):
            name, shape = config.get("name"), config.get("build_input_shape")
            layers = config["layers"]
        model = cls(name=name)
        for layer in layers:
            model.add(deserialize(layer, custom_objects))
        if not model.inputs and shape:
            model.build(shape)
        return model

    @property
    def input_spec(self) -> Any:
        """What the first layer's inputs must be."""
        return getattr(self.layers[0], "input_spec", None) if self.layers else None

    @input_spec.setter
    def input_spec(self, value: Any) -> None:
        del value


def _listed(layers: Any) -> Sequence[Any]:
    return layers if isinstance(layers, (list, tuple)) else [layers]


def _input_of(layer: Any) -> tuple[Any, Any]:
    """The shape and dtype of a layer's inputs, or of the first within it."""
    while isinstance(layer, Sequential) or getattr(layer, "_is_graph_network", False):
        if not layer.layers:
            raise ValueError("An empty Model cannot be used as a Layer.")
        if layer.inputs:
            first = layer.inputs[0]
            return tuple(first.shape.as_list()), first.dtype.base_dtype
        layer = layer.layers[0]
    return getattr(layer, "_batch_input_shape", None), layer.dtype
