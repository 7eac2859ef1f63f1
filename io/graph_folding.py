# SPDX-License-Identifier: Apache-2.0
"""Nodes of GraphDefs in the order of their running, and constants for what needs nothing fed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..engine.graph import registry
from . import protos
from .graph_util import extract_sub_graph
from .tensor_proto import make_tensor_proto

# A constant of more bytes is not worth it: TensorFlow's limit, too.
_LARGEST = 10 * 1024 * 1024


def split_input(text: str) -> tuple[str, int, bool]:
    """The node, the output and whether it is a control input, of "a", "a:1" or "^a"."""
    if text.startswith("^"):
        return text[1:], 0, True
    name, _, output = text.partition(":")
    return name, int(output or 0), False


def with_nodes(graph_def: Any, nodes: Iterable[Any]) -> Any:
    """A GraphDef with the versions and functions of another, and other nodes."""
    result = protos.GraphDef()
    result.node.extend(nodes)
    result.versions.CopyFrom(graph_def.versions)
    result.library.CopyFrom(graph_def.library)
    return result


def in_order(graph_def: Any) -> list[Any]:
    """The nodes, each behind those it reads; what goes round in loops does not count."""
    nodes = {node.name: node for node in graph_def.node}
    left = {
        node.name: {
            name
            for name in (split_input(text)[0] for text in node.input)
            if name in nodes and nodes[name].op not in ("NextIteration", "RefNextIteration")
        }
        for node in graph_def.node
    }
    readers: dict[str, list[str]] = {}
    for name, needed in left.items():
        for one in needed:
            readers.setdefault(one, []).append(name)
    ready = [name for name, needed in left.items() if not needed]
    for name in ready:
        for reader in readers.get(name, ()):
            left[reader].discard(name)
            if not left[reader]:
                ready.append(reader)
    return [nodes[name] for name in ready]


def fold_constants(graph_def: Any, kept: set[str], clears_shapes: bool = True) -> Any:
    """The GraphDef with constants for all that always gives the same.

    Args:
        graph_def: a GraphDef.
        kept: names of the graph's inputs and outputs; the latter say what is needed of the rest.
        clears_shapes: whether what nodes note of the shapes of their outputs is forgotten.

    Returns:
        Another GraphDef; a constant has the name of the node in whose place it is.
    """
    nodes = in_order(extract_sub_graph(graph_def, sorted(kept)))
    foldable: set[str] = set()
    for node in nodes:
        needs = {split_input(text)[0] for text in node.input}
        if node.name not in kept and needs <= foldable and _is_foldable(node):
            foldable.add(node.name)
    wanted = {
        name
        for node in nodes
        if node.name not in foldable
        for name, output, is_control in map(split_input, node.input)
        if name in foldable and not is_control and output == 0
    }
    folded = _values(graph_def, nodes, foldable, wanted)
    result = [folded.get(node.name, node) for node in nodes]
    if clears_shapes:
        for node in result:
            node.attr.pop("_output_shapes", None)
    return extract_sub_graph(with_nodes(graph_def, result), sorted(kept))


def _is_foldable(node: Any) -> bool:
    definition = registry.find(node.op)
    if definition is None or definition.stateful or definition.control_flow_role:
        return False
    # What may be fed is no constant.
    return definition.touches is None and not node.op.startswith("Placeholder")


def _values(
    graph_def: Any, nodes: list[Any], foldable: set[str], wanted: set[str]
) -> dict[str, Any]:
    """Constants for nodes of one output, by the names of the nodes."""
    from ..engine.graph.graph import Graph
    from ..engine.session.session import Session
    from .graph_import import import_graph_def

    with Graph().as_default() as graph:
        part = with_nodes(graph_def, [node for node in nodes if node.name in foldable])
        import_graph_def(part, name="")
        operations = [
            graph.get_operation_by_name(name)
            for name in sorted(wanted)
            if graph.get_operation_by_name(name).type != "Const"
        ]
        tensors = [op.outputs[0] for op in operations if len(op.outputs) == 1]
        with Session(graph=graph) as session:
            values = session.run(tensors)
    found = {}
    for tensor, value in zip(tensors, values):
        if value.nbytes <= _LARGEST:
            made = protos.NodeDef(name=tensor.op.name, op="Const", device=tensor.op.device)
            made.attr["dtype"].type = tensor.dtype.as_datatype_enum
            made.attr["value"].tensor.CopyFrom(make_tensor_proto(value, tensor.dtype, value.shape))
            found[made.name] = made
    return found
