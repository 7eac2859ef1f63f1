# SPDX-License-Identifier: Apache-2.0
"""Models of the structure of others."""

from __future__ import annotations

from typing import Any

from ....engine.types import nest
from ...layers.nodes import history_of
from ..engine.input_layer import Input, InputLayer


def share_weights(layer: Any) -> Any:
    """A layer as it is: a copy of a model that is made with this has the model's own layers."""
    return layer


def clone(model: Any, input_tensors: Any = None, layer_fn: Any = None) -> Any:
    """A model of a model's structure with new layers; ValueError for one with its own `call`."""
    from ..engine.sequential import Sequential

    make = layer_fn or (lambda layer: type(layer).from_config(layer.get_config()))
    if isinstance(model, Sequential):
        return _sequential(model, input_tensors, make)
    if not model._is_graph_network:
        raise ValueError(
            "Expected `model` argument to be a functional `Model` instance, but got a subclass "
            "model instead."
        )
    given = None if input_tensors is None else nest.flatten(input_tensors)
    known: dict[int, Any] = {}
    inputs = []
    for number, x in enumerate(model.inputs):
        layer = history_of(x).layer
        if given is not None:
            new = given[number]
            if history_of(new) is None:
                new = Input(tensor=new, name=f"input_wrapper_for_{layer.name}")
        else:
            new = Input(
                batch_shape=layer._batch_input_shape,
                dtype=layer.dtype,
                sparse=layer.sparse,
                name=layer.name,
            )
        known[id(x)] = new
        inputs.append(new)
    layers: dict[int, Any] = {}
    for node in model._nodes:
        layer = node.outbound_layer
        if isinstance(layer, InputLayer):
            continue
        if id(layer) not in layers:
            layers[id(layer)] = make(layer)
        new_inputs = nest.map_structure(lambda x: known[id(x)], node.input_tensors)
        arguments = nest.map_structure(lambda x: known.get(id(x), x), node.arguments)
        outputs = layers[id(layer)](new_inputs, **arguments)
        for old, x in zip(nest.flatten(node.output_tensors), nest.flatten(outputs)):
            known[id(old)] = x
    outputs = nest.map_structure(lambda x: known[id(x)], model._nested_outputs)
    structure = nest.pack_sequence_as(model._nested_inputs, inputs)
    return type(model)(structure, outputs, name=model.name)


def _sequential(model: Any, input_tensors: Any, make: Any) -> Any:
    layers = [make(layer) for layer in model.layers]
    if input_tensors is None:
        first = model._layers[0] if model._layers else None
        if isinstance(first, InputLayer):
            layers.insert(0, InputLayer.from_config(first.get_config()))
        return type(model)(layers=layers, name=model.name)
    tensors = nest.flatten(input_tensors)
    if len(tensors) != 1:
        raise ValueError(
            "To clone a `Sequential` model, we expect at most one tensor as part of "
            "`input_tensors`."
        )
    x = tensors[0]
    if history_of(x) is None:
        x = Input(tensor=x, name=f"input_wrapper_for_{getattr(x, 'name', 'x').partition(':')[0]}")
    return type(model)(layers=[history_of(x).layer, *layers], name=model.name)
