# SPDX-License-Identifier: Apache-2.0
"""GraphDefs cut down to what lies between given inputs and outputs (TensorFlow's strip_unused)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import protos
from .graph_util import extract_sub_graph
from .text_form import text_of


def strip_unused(
    input_graph_def: Any,
    input_node_names: Sequence[str],
    output_node_names: Sequence[str],
    placeholder_type_enum: Any,
) -> Any:
    """The GraphDef that the outputs need, with placeholders for the inputs.

    Args:
      input_graph_def: A GraphDef.
      input_node_names: Names of nodes to be fed.
      output_node_names: Names of nodes.
      placeholder_type_enum: The DataType of the placeholders, or a list of one for each input.

    Raises:
      KeyError: There is no input of some name.
      ValueError: A name is a tensor's.
    """
    names = list(input_node_names)
    for name in names:
        if ":" in name:
            raise ValueError(f"Name '{name}' appears to refer to a Tensor, not a Operation.")
    missing = set(names) - {node.name for node in input_graph_def.node}
    if missing:
        raise KeyError(f"The following input nodes were not found: {missing}")
    result = protos.GraphDef()
    for node in input_graph_def.node:
        if node.name not in names:
            result.node.append(node)
            continue
        kind = placeholder_type_enum
        kind = kind[names.index(node.name)] if isinstance(kind, list) else kind
        result.node.append(_placeholder(node, kind))
    return extract_sub_graph(result, list(output_node_names))


def _placeholder(node: Any, kind: int) -> Any:
    placeholder = protos.NodeDef(name=node.name, op="Placeholder")
    placeholder.attr["dtype"].type = kind
    for key in ("_output_shapes", "shape"):
        if key in node.attr:
            placeholder.attr[key].CopyFrom(node.attr[key])
    return placeholder


def read_message(path: str, message: Any, is_binary: bool) -> Any:
    """Fills a message from a file, binary or text; IOError when there is no such file."""
    from google.protobuf import text_format

    from . import files

    if not files.file_exists(path):
        raise OSError(f"Input file '{path}' does not exist!")
    content = files.read_file_to_string(path, binary_mode=True)
    if is_binary:
        message.ParseFromString(content)
    else:
        text_format.Merge(content.decode(), message)
    return message


def strip_unused_from_files(
    input_graph: str,
    input_binary: bool,
    output_graph: str,
    output_binary: bool,
    input_node_names: str,
    output_node_names: str,
    placeholder_type_enum: int | Sequence[int],
) -> None:
    """Cuts a GraphDef file down to another; names are separated by commas.

    Raises:
      IOError: There is no such file.
      ValueError: No output is named.
    """
    from . import files

    if not output_node_names:
        raise ValueError("You need to supply the name of a node to --output_node_names.")
    graph_def = read_message(input_graph, protos.GraphDef(), input_binary)
    inputs, outputs = input_node_names.split(","), output_node_names.split(",")
    result = strip_unused(graph_def, inputs, outputs, placeholder_type_enum)
    content = result.SerializeToString() if output_binary else text_of(result)
    files.write_string_to_file(output_graph, content)
    print(f"{len(result.node)} ops in the final graph.")
