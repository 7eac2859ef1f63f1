# SPDX-License-Identifier: Apache-2.0
"""The nodes between a network's inputs and outputs, by their depth, and the layers in order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ....engine.types import nest
from ...layers.nodes import Node, history_of


class NetworkMap(NamedTuple):
    """What a network consists of.

    Args:
        keys: (name of a layer, number of its call) of each node.
        nodes: the nodes, those that others need first.
        layers: the layers in the same order.
        first: how many nodes are farthest from the outputs: inputs all of them.
    """

    keys: set[tuple[str, int]]
    nodes: list[Node]
    layers: list[Any]
    first: int


def network_map(inputs: Sequence[Any], outputs: Sequence[Any]) -> NetworkMap:
    """Walks from the outputs to the inputs.

    Raises:
        ValueError: an output needs what no input gives, two layers have one name, or calls go
            round in a circle.
    """
    finished, order = _walk(outputs)
    depths, layer_depths = _depths(finished)
    for x in inputs:
        layer, node, _ = history_of(x)
        if layer not in layer_depths:
            # It may be there for losses and metrics only.
            layer_depths[layer], order[layer] = 0, -1
            depths[layer.inbound_nodes[0]] = 0
    by_depth: dict[int, list[Node]] = defaultdict(list)
    for node, depth in depths.items():
        by_depth[depth].append(node)
    nodes = [node for depth in sorted(by_depth, reverse=True) for node in by_depth[depth]]
    layers = sorted(layer_depths, key=lambda layer: (-layer_depths[layer], order[layer]))
    _check_connected(inputs, nodes)
    _check_names(layers)
    refuse_legacy(layers)
    keys = {node_key(node) for node in nodes}
    return NetworkMap(keys, nodes, layers, len(by_depth[max(by_depth)]))


def node_key(node: Node) -> tuple[str, int]:
    """The name of a node's layer and the number of the call."""
    layer = node.outbound_layer
    return layer.name, layer.inbound_nodes.index(node)


def _walk(outputs: Sequence[Any]) -> tuple[list[Node], dict[Any, int]]:
    """The nodes, each behind what it needs, and the layers' numbers as they were met."""
    finished: dict[Node, None] = {}
    active: set[Node] = set()
    order: dict[Any, int] = {}
    for x in outputs:
        waiting = [(_origin(x), False)]
        while waiting:
            node, is_left = waiting.pop()
            if is_left:
                active.discard(node)
                finished[node] = None
            elif node in active:
                raise ValueError(
                    f'The tensor {x} at layer "{node.outbound_layer.name}" is part of a cycle.'
                )
            elif node not in finished:
                order.setdefault(node.outbound_layer, len(order))
                active.add(node)
                waiting.append((node, True))
                # The first input is walked first.
                waiting.extend((inner, False) for inner in reversed(node.dependencies()))
    return list(finished), order


def _origin(tensor: Any) -> Node:
    layer, node, _ = history_of(tensor)
    return layer.inbound_nodes[node]  # type: ignore[no-any-return]


def _depths(finished: list[Node]) -> tuple[dict[Node, int], dict[Any, int]]:
    """How far nodes and layers are from the end; a layer as far as its farthest call."""
    depths: dict[Node, int] = {}
    of_layers: dict[Any, int] = {}
    for node in reversed(finished):
        layer = node.outbound_layer
        depth = max(depths.setdefault(node, 0), of_layers.get(layer, 0))
        of_layers[layer] = depths[node] = depth
        for inner in node.dependencies():
            depths[inner] = max(depth + 1, depths.get(inner, 0))
    return depths, of_layers


def _check_connected(inputs: Sequence[Any], nodes: list[Node]) -> None:
    there = {id(x) for x in inputs}
    passed: list[str] = []
    for node in nodes:
        for x in nest.flatten(node.input_tensors):
            if id(x) not in there:
                raise ValueError(
                    f"Graph disconnected: cannot obtain value for tensor {x} at layer "
                    f'"{node.outbound_layer.name}". The following previous layers were accessed '
                    f"without issue: {passed}"
                )
        there.update(id(x) for x in nest.flatten(node.output_tensors))
        passed.append(node.outbound_layer.name)


def refuse_legacy(layers: Iterable[Any]) -> None:
    """Raises a TypeError where some are layers of `tf.layers`, of which no network can be made."""
    legacy = [layer for layer in layers if getattr(layer, "_is_legacy_layer", False)]
    if legacy:
        listed = "\n".join(f"  {layer}" for layer in legacy)
        raise TypeError(
            f"The following are legacy tf.layers.Layers:\n{listed}\nTo use keras as a framework "
            "(for instance using the Network, Model, or Sequential classes), please use the "
            "tf.keras.layers implementation instead. (Or, if writing custom layers, subclass from "
            "tf.keras.layers rather than tf.layers)"
        )


def _check_names(layers: list[Any]) -> None:
    names = [layer.name for layer in layers]
    for name in names:
        if names.count(name) != 1:
            raise ValueError(
                f'The name "{name}" is used {names.count(name)} times in the model. All layer '
                "names should be unique."
            )


def source_inputs(tensor: Any, layer: Any = None, node_index: int | None = None) -> list[Any]:
    """The inputs of the network that a tensor depends on.

    Args:
        tensor: a tensor that a layer gave.
        layer, node_index: where it comes from; found out if None.
    """
    if history_of(tensor) is None:
        return [tensor]
    if layer is None or node_index:
        layer, node_index, _ = history_of(tensor)
    if not layer.inbound_nodes:
        return [tensor]
    node = layer.inbound_nodes[node_index or 0]
    if not nest.flatten(node.inbound_layers):
        return nest.flatten(node.input_tensors)
    found: dict[int, Any] = {}
    for inner, index, _, x in node.iterate_inbound():
        for source in source_inputs(x, inner, index):
            found.setdefault(id(source), source)
    return list(found.values())
