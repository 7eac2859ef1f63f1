# SPDX-License-Identifier: Apache-2.0
"""In which order nodes of a GraphDef can be computed, and how large images are on the way."""

from __future__ import annotations

import math
from collections import namedtuple
from collections.abc import Iterator, Sequence
from typing import Any

from ....engine.api import export
from .parse_layer_parameters import get_layer_params

_node_info = namedtuple("_node_info", "order node input_size output_size")


def parse_graph_nodes(graph_def: Any) -> dict[str, Any]:
    """The nodes of a GraphDef by their names."""
    return {node.name: node for node in graph_def.node}


def _compute_output_resolution(
    input_spatial_resolution: Any, kernel_size: Any, stride: Any, total_padding: Any
) -> int | None:
    """The size behind a layer; None where something is not known."""
    if None in (input_spatial_resolution, kernel_size, stride, total_padding):
        return None
    places = input_spatial_resolution + total_padding - kernel_size + 1
    return math.ceil(places / stride)


def _data_inputs(node: Any) -> Iterator[str]:
    """The nodes that a node takes values of."""
    for name in node.input:
        if not name.startswith("^"):
            yield name.split(":")[0]


def _info(
    node: Any, name_to_node: dict[str, Any], found: dict[str, Any], first: str, size: Any
) -> Any:
    """What is found of a node whose inputs are there; of the first input the image comes."""
    if node.name == first:
        return _node_info(0, node, None, size)
    inputs = [found[name] for name in _data_inputs(node)]
    order = max((one.order + 1 for one in inputs), default=0)
    given = inputs[0].output_size if inputs else None
    output = None
    if given is not None:
        params = get_layer_params(node, name_to_node, given, force=True)
        kernels, strides, totals = params[0:2], params[2:4], params[6:8]
        # TensorFlow takes the first size for that of x here.
        output = [
            _compute_output_resolution(*one)
            for one in zip(given, kernels, strides, totals, strict=True)
        ]
    return _node_info(order, node, given, output)


@export("contrib.receptive_field.get_compute_order")
def get_compute_order(
    graph_def: Any, input_node_name: str = "", input_node_size: Sequence[int] | None = None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """How far nodes are from the start, and the sizes of images on the way.

    Args:
        graph_def: a GraphDef.
        input_node_name: the node that gives the image.
        input_node_size: height and width of the image, if they are known.

    Returns:
        Of each node by its name (order, node, input_size, output_size), and the nodes by name.
    """
    name_to_node = parse_graph_nodes(graph_def)
    found: dict[str, Any] = {}
    for root in graph_def.node:
        pending = [root.name]
        while pending:
            name = pending[-1]
            node = name_to_node[name]
            stop = name in found or name == input_node_name
            missing = [] if stop else [one for one in _data_inputs(node) if one not in found]
            if missing:
                pending += missing
                continue
            pending.pop()
            if name not in found:
                found[name] = _info(node, name_to_node, found, input_node_name, input_node_size)
    return found, name_to_node
