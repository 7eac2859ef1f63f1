# SPDX-License-Identifier: Apache-2.0
"""`tf.keras.experimental`: a linear model, and one beside a deep network."""

from __future__ import annotations

from typing import Any

from ..layers.base_layer import Layer
from . import activations
from .backend.published import nn
from .engine.compiled import Compiled
from .engine.training import Model
from .identifiers import Identifier
from .layers.core import Dense
from .layers.style import resolved
from .serialization import serialize_keras_object, serialized

_LINEAR = (
    *("units", "activation", "use_bias", "kernel_initializer", "bias_initializer"),
    *("kernel_regularizer", "bias_regularizer"),
)


class LinearModel(Model):
    """The sum of products of inputs and kernels, a bias and an activation.

    Args:
        units: the size of the output.
        activation, *_initializer, *_regularizer: objects or their names.
        use_bias: whether there is a bias.
        name, trainable, dtype: as of all models.
    """

    activation: Any
    kernel_initializer: Any
    bias_initializer: Any
    kernel_regularizer: Any
    bias_regularizer: Any

    def __init__(
        self,
        units: int = 1,
        activation: Identifier = None,
        use_bias: bool = True,
        kernel_initializer: Identifier = "glorot_uniform",
        bias_initializer: Identifier = "zeros",
        kernel_regularizer: Identifier = None,
        bias_regularizer: Identifier = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        given = resolved(
            activation=activation,
            kernel_initializer=kernel_initializer,
            bias_initializer=bias_initializer,
            kernel_regularizer=kernel_regularizer,
            bias_regularizer=bias_regularizer,
        )
        self._set(units=units, use_bias=use_bias, **given)

    units: int
    use_bias: bool

    def build(self, input_shape: Any) -> None:
        """Makes a layer for each input, and the bias they share."""
        shapes = input_shape if isinstance(input_shape, list) else [input_shape]
        self.dense_layers = [
            Dense(
                units=self.units,
                use_bias=False,
                kernel_initializer=self.kernel_initializer,
                kernel_regularizer=self.kernel_regularizer,
            )
            for _ in shapes
        ]
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(
                "bias",
                shape=self.units,
                initializer=self.bias_initializer,
                regularizer=self.bias_regularizer,
                dtype=self.dtype,
                trainable=True,
            )
        self.built = True

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        """The sum; ValueError for another number of inputs than the model was built for."""
        given = inputs if isinstance(inputs, (tuple, list)) else [inputs]
        if len(given) != len(self.dense_layers):
            raise ValueError(
                f"Expected {len(self.dense_layers)} inputs, but got {len(given)} inputs"
            )
        result = None
        for x, layer in zip(given, self.dense_layers, strict=True):
            output = layer(x)
            result = output if result is None else result + output
        if self.use_bias:
            result = nn.bias_add(result, self.bias)
        return result if self.activation is None else self.activation(result)

    def get_config(self) -> dict[str, Any]:
        """The arguments."""
        return {**Layer.get_config(self), **serialized(self, _LINEAR)}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        """A model of what `get_config` gave."""
        del custom_objects
        return cls(**config)


class WideDeepModel(Model):
    """The mean of a linear model's outputs and a network's, each with an optimizer of its own.

    Args:
        linear_model: the model of the linear part.
        dnn_model: the network.
        activation: of the mean.
        name, trainable, dtype: as of all models.

    `compile` may get two optimizers, the first for the linear part.
    """

    activation: Any

    def __init__(
        self, linear_model: Any, dnn_model: Any, activation: Identifier = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.linear_model = linear_model
        self.dnn_model = dnn_model
        self._set(activation=activations.get(activation))

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        """The mean; two inputs are one for each part."""
        if not isinstance(inputs, (tuple, list)) or len(inputs) != 2:
            inputs = inputs, inputs
        output = 0.5 * (self.linear_model(inputs[0]) + self.dnn_model(inputs[1]))
        return self.activation(output) if self.activation else output

    def _training_updates(self) -> list[Any]:
        given = self.optimizer
        first, second = given if isinstance(given, (tuple, list)) else (given, given)
        updates: list[Any] = []
        for optimizer, part in ((first, self.linear_model), (second, self.dnn_model)):
            params = Compiled._unique(self, part.trainable_weights)
            updates += optimizer.get_updates(params=params, loss=self.total_loss)
        return updates

    def get_config(self) -> dict[str, Any]:
        """The arguments."""
        return {
            **Layer.get_config(self),
            "linear_model": serialize_keras_object(self.linear_model),
            "dnn_model": serialize_keras_object(self.dnn_model),
            "activation": activations.serialize(self.activation),
        }

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        """A model of what `get_config` gave."""
        from .layers.table import deserialize

        rest = dict(config)
        parts = [
            deserialize(rest.pop(name), custom_objects) for name in ("linear_model", "dnn_model")
        ]
        return cls(*parts, **rest)
