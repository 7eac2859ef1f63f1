# SPDX-License-Identifier: Apache-2.0
"""Edits of GraphDefs, and the placeholders of a graph."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ....engine.api import export
from ....engine.graph.graph import Graph
from ....io.graph_util import node_name


def _reachable(names: Sequence[str], inputs: dict[str, list[str]]) -> set[str]:
    """All nodes that some need, and they themselves."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += inputs[name]
    return found


def _check_closed(
    inner: Iterable[str], outer: set[str], given: set[str], inputs: dict[str, list[str]]
) -> None:
    """Refuses nodes of the part that read what comes before it and is not given."""
    for name in inner:
        for source in inputs[name]:
            if source in outer and source not in given:
                raise TypeError(f"Node {name} uses input {source} not in input_nodes.")


@export("contrib.framework.fuse_op")
def fuse_op(
    graph_def: Any,
    input_nodes: Sequence[str],
    output_nodes: Sequence[str],
    output_dtypes: Sequence[int],
    output_quantized: bool,
    op_name: str,
    op_type: str,
) -> Any:
    """A GraphDef in which one node stands for all between some nodes and others.

    Args:
        graph_def: a GraphDef.
        input_nodes: names of nodes that the new one reads.
        output_nodes: names of nodes of one input each, which read the new node instead.
        output_dtypes: numbers of the dtypes that the new node gives.
        output_quantized: the new node's attribute of that name.
        op_name, op_type: the new node's name and op type.

    Returns:
        Another GraphDef.

    Raises:
        TypeError: `graph_def` is no GraphDef, names are no list, or a node between reads another
            that is not among `input_nodes`.
    """
    from ....io import protos

    if not isinstance(graph_def, protos.GraphDef):
        raise TypeError("graph_def must be a graph_pb2.GraphDef proto.")
    for argument, names in (("input_nodes", input_nodes), ("output_nodes", output_nodes)):
        if isinstance(names, str):
            raise TypeError(f"{argument} must be a list.")
    nodes = {node_name(node.name): node for node in graph_def.node}
    for name in (*input_nodes, *output_nodes):
        if name not in nodes:
            raise AssertionError(f"{name} is not in graph")
    inputs = {name: [node_name(i) for i in node.input] for name, node in nodes.items()}
    before, until = _reachable(input_nodes, inputs), _reachable(output_nodes, inputs)
    inner = [n for n in nodes if n in until and n not in before and n not in output_nodes]
    _check_closed(inner, before, set(input_nodes), inputs)
    fused = protos.GraphDef()
    fused.node.extend(nodes[n] for n in nodes if n in before)
    new = fused.node.add(name=op_name, op=op_type, input=input_nodes)
    new.attr["_output_types"].list.type[:] = output_dtypes
    new.attr["_output_quantized"].b = output_quantized
    for index, name in enumerate(output_nodes):
        if len(nodes[name].input) != 1:
            raise AssertionError(f"Node {name} has {len(nodes[name].input)} inputs, not one.")
        node = fused.node.add()
        node.CopyFrom(nodes[name])
        node.input[:] = [f"{op_name}:{index}" if index else op_name]
    fused.node.extend(nodes[n] for n in nodes if n not in until and n not in before)
    fused.library.CopyFrom(graph_def.library)
    fused.versions.CopyFrom(graph_def.versions)
    return fused


@export("contrib.framework.get_placeholders")
def get_placeholders(graph: Graph) -> list[Any]:
    """The placeholders of a graph, in the order in which they were made.

    Raises:
        TypeError: it is no graph.

    Example:
        >>> x = tf.placeholder(tf.float32)
        >>> tf.contrib.framework.get_placeholders(tf.get_default_graph()) == [x]
        True
    """
    if not isinstance(graph, Graph):
        raise TypeError(f"Input graph needs to be a Graph: {graph}")
    return [op.outputs[0] for op in graph.get_operations() if op.type == "Placeholder"]
