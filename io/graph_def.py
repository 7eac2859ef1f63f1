# SPDX-License-Identifier: Apache-2.0
"""A graph as TensorFlow's GraphDef: nodes, attributes and versions exactly as 1.15 writes them.

Reading one back is graph_import.py's work.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ..engine.api import export
from ..engine.graph.graph import Graph
from . import protos
from .attributes import from_proto as attr_from_proto
from .attributes import op_def, public_value, to_proto
from .graph_bytes import NodeWriter
from .tensor_proto import shape_from_proto, shape_proto
from .text_form import text_of

if TYPE_CHECKING:
    from ..engine.graph.operation import Operation

__all__ = [
    "as_graph_def",
    "attr_from_proto",
    "get_attr",
    "node_def",
    "op_def",
    "shape_from_proto",
    "shape_proto",
    "to_proto",
    "version_def",
    "write_graph",
]

get_attr = public_value


def node_def(operation: Operation) -> Any:
    """The NodeDef message of an operation."""
    message = protos.NodeDef.FromString(NodeWriter().node(operation))
    # A whole graph has them sorted, a node in the order in which they were given.
    for i, control in enumerate(operation._control_inputs_val, len(operation._inputs_val)):
        message.input[i] = f"^{control.name}"
    return message


def as_graph_def(graph: Graph, from_version: int | None = None, add_shapes: bool = False) -> Any:
    """The GraphDef message of a graph; `add_shapes` adds an `_output_shapes` attribute."""
    del from_version  # TensorFlow 1.15 takes it and writes the whole graph all the same.
    content = NodeWriter(add_shapes).graph(graph.get_operations())
    message = protos.GraphDef.FromString(content)
    for function in graph._functions.values():
        message.library.function.add().CopyFrom(function.definition)
        if function.grad_func_name:
            message.library.gradient.add(
                function_name=function.name, gradient_func=function.grad_func_name
            )
    message.versions.CopyFrom(version_def(graph))
    return message


def version_def(graph: Graph) -> Any:
    """The versions of a graph; importing an older one lowers its producer."""
    return protos.VersionDef(producer=graph._producer, min_consumer=graph._min_consumer)


@export("io.write_graph", "train.write_graph")
def write_graph(graph_or_graph_def: Any, logdir: str, name: str, as_text: bool = True) -> str:
    """Writes a graph, or a message, to a file.

    Args:
        graph_or_graph_def: a Graph, a GraphDef or another message.
        logdir: the folder, made if it is missing.
        name: of the file.
        as_text: whether as text; else in binary.

    Returns:
        The path.

    Example:
        >>> with tf.Graph().as_default() as graph:
        ...     x = tf.constant(1, name="x")
        >>> path = tf.train.write_graph(graph, "./logs", "graph.pbtxt")
        >>> with tf.gfile.GFile(path) as file:
        ...     print(path, file.read().count("node {"))
        ./logs/graph.pbtxt 1
    """
    message = graph_or_graph_def
    if isinstance(message, Graph):
        message = as_graph_def(message)
    path = os.path.join(logdir, name)
    content = text_of(message) if as_text else message.SerializeToString()
    write_atomically(path, content)
    return path


def write_atomically(path: str, content: bytes) -> None:
    """Writes a file such that readers see the old one or the new one, never a part."""
    from . import files

    folder = os.path.dirname(path)
    if folder:
        files.recursive_create_dir(folder)
    files.atomic_write_string_to_file(path, content)
