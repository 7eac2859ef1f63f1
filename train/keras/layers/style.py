# SPDX-License-Identifier: Apache-2.0
"""What layers of Keras have in common: arguments by their names, and configurations of these.

Layers that `tf.layers` has, too, inherit what they compute from there, and how they are called and
make variables from the class here: without variable scopes.
"""

from __future__ import annotations

from typing import Any

from ...layers import base_layer
from .. import activations, constraints, initializers, regularizers
from ..serialization import serialized


class KerasLayer(base_layer.Layer):
    """A layer whose configuration consists of the attributes that its class names."""

    _arguments: tuple[str, ...] = ()
    # What layers get from `resolved` arguments.
    activation: Any
    recurrent_activation: Any
    kernel_initializer: Any
    bias_initializer: Any
    depthwise_initializer: Any
    embeddings_initializer: Any
    kernel_regularizer: Any
    bias_regularizer: Any
    depthwise_regularizer: Any
    embeddings_regularizer: Any
    kernel_constraint: Any
    bias_constraint: Any
    depthwise_constraint: Any
    embeddings_constraint: Any
    use_bias: bool
    _keras_style = True
    _looks_at_attributes = True
    _is_legacy_layer = False

    # As those of all layers, where a class has these of tf.layers otherwise.
    _init_set_name = base_layer.Layer._init_set_name
    _name_scope = base_layer.Layer._name_scope
    add_loss = base_layer.Layer.add_loss
    add_weight: Any = base_layer.Layer.add_weight
    __call__ = base_layer.Layer.__call__

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """A layer from its arguments, which the class looks at itself."""
        return cls(**config)

    def get_config(self) -> dict[str, Any]:
        """The arguments."""
        return {**super().get_config(), **serialized(self, self._arguments)}


def resolved(**given: Any) -> dict[str, Any]:
    """Arguments whose names say what they are, as objects: names and descriptions are looked up."""
    return {name: _kind(name)(value) for name, value in given.items()}


def _kind(name: str) -> Any:
    for ending, get in (
        ("activation", activations.get),
        ("initializer", initializers.get),
        ("regularizer", regularizers.get),
        ("constraint", constraints.get),
    ):
        if name.endswith(ending):
            return get
    return lambda value: value


def with_input_shape(options: dict[str, Any], *more: Any) -> dict[str, Any]:
    """Options of a layer, `input_dim` among them made an `input_shape` with `more` before it."""
    if "input_dim" in options:
        size = options.pop("input_dim")
        if "input_shape" not in options:
            options["input_shape"] = (*more, size)
    return options
