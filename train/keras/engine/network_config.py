# SPDX-License-Identifier: Apache-2.0
"""A network as a dictionary of its layers and calls, and networks from such dictionaries."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from ....engine.graph.tensor import Tensor
from ....engine.interface import log
from ....engine.types import dtypes, nest
from ....engine.types.shape import Dimension, TensorShape
from ...layers.nodes import history_of
from .network_map import node_key


def network_config(network: Any) -> dict[str, Any]:
    """The layers, how they are called, and which are inputs and outputs."""
    numbers = _numbers_of_calls(network)
    layers = [
        {
            "name": layer.name,
            "class_name": type(layer).__name__,
            "config": layer.get_config(),
            "inbound_nodes": [
                _call_config(node, numbers)
                for node in layer.inbound_nodes
                if node_key(node) in network._keys and nest.flatten(node.inbound_layers)
            ],
        }
        for layer in network.layers
    ]
    config = {
        "name": network.name,
        "layers": layers,
        "input_layers": _ends(network.inputs, network._nested_inputs, numbers),
        "output_layers": _ends(network.outputs, network._nested_outputs, numbers),
    }
    return copy.deepcopy(config)


def _numbers_of_calls(network: Any) -> dict[tuple[str, int], int]:
    """The number of each call among those that count."""
    from .network import skips_first_node

    found = {}
    for layer in network.layers:
        kept = 1 if skips_first_node(layer) else 0
        for node in layer.inbound_nodes:
            if node_key(node) in network._keys:
                found[node_key(node)] = kept
                kept += 1
    return found


def _call_config(node: Any, numbers: dict[tuple[str, int], int]) -> Any:
    arguments = nest.map_structure(_plain, node.arguments) if node.arguments else {}
    try:
        json.dumps(arguments)
    except TypeError:
        log.warning(
            "Layer %s was passed non-serializable keyword arguments: %s. They will not be included "
            "in the serialized model (and thus will be missing at deserialization time).",
            node.outbound_layer.name,
            node.arguments,
        )
        arguments = {}
    calls = [
        [layer.name, numbers.get((layer.name, number), 0), place, arguments]
        for layer, number, place, _ in node.iterate_inbound()
    ]
    structure = node.input_tensors
    if isinstance(structure, (list, tuple, dict)):
        return _fill(structure, iter(calls))
    return calls


def _fill(structure: Any, leaves: Iterator[Any]) -> Any:
    if isinstance(structure, dict):
        return {key: _fill(structure[key], leaves) for key in sorted(structure)}
    if isinstance(structure, (list, tuple)):
        return [_fill(x, leaves) for x in structure]
    return next(leaves)


def _plain(value: Any) -> Any:
    """An argument of a call as JSON has it."""
    if history_of(value) is not None:
        layer, number, place = history_of(value)
        return [layer.name, number, place]
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, Tensor):
        from ..backend.sessions import get_value

        return get_value(value).tolist()
    return value


def _ends(tensors: list[Any], structure: Any, numbers: dict[tuple[str, int], int]) -> Any:
    found = []
    for x in tensors:
        layer, number, place = history_of(x)
        found.append([layer.name, numbers.get((layer.name, number), number), place])
    return _fill(structure, iter(found)) if isinstance(structure, (list, tuple, dict)) else found


# From a configuration


class _Waiting(Exception):
    """A call needs another one, which has not been made yet."""


def network_parts(config: dict[str, Any], custom_objects: Any = None) -> tuple[Any, Any, list[Any]]:
    """The inputs, outputs and layers of a new network as a configuration describes it.

    Raises:
        ValueError: calls are described in no known form, or need each other.
    """
    from ..layers.table import deserialize

    layers: dict[str, Any] = {}
    waiting: list[tuple[Any, Any]] = []
    for data in config["layers"]:
        layers[data["name"]] = layer = deserialize(data, custom_objects)
        waiting += [(layer, call) for call in data["inbound_nodes"]]
    while waiting:
        left = []
        blocked: set[int] = set()
        for layer, call in waiting:
            try:
                if id(layer) in blocked:
                    raise _Waiting
                _call(layer, call, layers)
            except _Waiting:
                # The calls of a layer keep their order.
                blocked.add(id(layer))
                left.append((layer, call))
        if len(left) == len(waiting):
            raise ValueError("Improperly formatted model config.")
        waiting = left
    inputs = _found_ends(config["input_layers"], layers)
    return inputs, _found_ends(config["output_layers"], layers), list(layers.values())


def _is_leaf(value: Any) -> bool:
    return (
        isinstance(value, (list, tuple))
        and len(value) in (3, 4)
        and isinstance(value[0], str)
        and all(isinstance(number, int) for number in value[1:3])
    )


def _mapped(structure: Any, function: Any) -> Any:
    if _is_leaf(structure):
        return function(structure)
    if isinstance(structure, dict):
        return {key: _mapped(value, function) for key, value in structure.items()}
    if isinstance(structure, (list, tuple)):
        return [_mapped(value, function) for value in structure]
    return structure


def _tensor(leaf: Any, layers: dict[str, Any]) -> Any:
    name, number, place = leaf[:3]
    nodes = layers[name].inbound_nodes
    if len(nodes) <= number:
        raise _Waiting
    return nest.flatten(nodes[number].output_tensors)[place]


def _call(layer: Any, call: Any, layers: dict[str, Any]) -> None:
    arguments: dict[str, Any] = {}

    def tensor(leaf: Any) -> Any:
        if len(leaf) == 4:
            arguments.update(_mapped(leaf[3], lambda inner: _tensor(inner, layers)))
        return _tensor(leaf, layers)

    inputs = _mapped(call, tensor)
    if not isinstance(inputs, dict) and len(nest.flatten(inputs)) == 1:
        inputs = nest.flatten(inputs)[0]
    layer(inputs, **arguments)


def _found_ends(ends: Any, layers: dict[str, Any]) -> Any:
    return _mapped(ends, lambda leaf: _tensor(leaf, layers))


def json_value(value: Any) -> Any:
    """What JSON has none of, as something that it has; TypeError if there is nothing."""
    if hasattr(value, "get_config"):
        return {"class_name": type(value).__name__, "config": value.get_config()}
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, TensorShape):
        return value.as_list()
    if isinstance(value, Dimension):
        return value.value
    if isinstance(value, dtypes.DType):
        return value.name
    if callable(value):
        return value.__name__
    if isinstance(value, type):
        return value.__name__
    raise TypeError("Not JSON Serializable:", value)
