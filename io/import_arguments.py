# SPDX-License-Identifier: Apache-2.0
"""The arguments of `tf.import_graph_def`, checked and in the form that the import works with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..engine.graph import registry
from ..engine.graph.convert import convert_to_tensor
from ..engine.graph.graph import name_scope
from ..engine.graph.tensor import Tensor
from . import protos, signatures
from .attributes import default_proto

CONTROL = -1  # The output index that stands for a control edge.
Key = tuple[str, int]


def parse_tensor_name(name: str) -> Key:
    """The node and output index in "a:1" or "a"; ValueError for anything else."""
    parts = name.split(":")
    if len(parts) == 1:
        return name, 0
    if len(parts) == 2 and parts[1].isdigit():
        return parts[0], int(parts[1])
    raise ValueError(f"Cannot convert {name!r} to a tensor name.")


def parse_input(text: str) -> Key:
    """The node and output index of an input; a name that is not "a:1" is a node's as it stands."""
    if text.startswith("^"):
        return text[1:], CONTROL
    node, _, index = text.rpartition(":")
    return (node, int(index)) if node and index.isdigit() else (text, 0)


def checked_graph_def(graph_def: Any) -> Any:
    """The GraphDef with defaults filled in; TypeError for anything else."""
    if isinstance(graph_def, protos.GraphDef):
        # TensorFlow shows its callers the defaults that it fills in.
        for node in graph_def.node:
            definition = signatures.find(node.op)
            if definition is not None:
                add_defaults(node, definition)
        return graph_def
    # Messages of other packages come as their bytes.
    if getattr(getattr(graph_def, "DESCRIPTOR", None), "full_name", "") != "tensorflow.GraphDef":
        raise TypeError("graph_def must be a GraphDef proto.")
    return protos.GraphDef.FromString(graph_def.SerializeToString())


def add_defaults(node: Any, definition: registry.OpDef) -> None:
    """Fills in the attributes that a NodeDef leaves out."""
    for attr in definition.attrs:
        if attr.has_default and (
            attr.name not in node.attr or node.attr[attr.name].WhichOneof("value") is None
        ):
            node.attr[attr.name].CopyFrom(default_proto(attr))


def checked_input_map(input_map: dict[Any, Any] | None) -> dict[str, Any]:
    """The input map with text for keys."""
    if input_map is None:
        return {}
    if not isinstance(input_map, dict) or not all(isinstance(k, (str, bytes)) for k in input_map):
        raise TypeError("input_map must be a dictionary mapping strings to Tensor objects.")
    return {k.decode() if isinstance(k, bytes) else k: value for k, value in input_map.items()}


def checked_elements(elements: Sequence[str] | None) -> list[str]:
    """The wanted elements as text."""
    if elements is None:
        return []
    if not all(isinstance(x, (str, bytes)) for x in elements):
        raise TypeError("return_elements must be a list of strings.")
    names = [x.decode() if isinstance(x, bytes) else x for x in elements]
    for name in names:
        if ":" in name:
            parse_tensor_name(name)
    return names


def mapped_tensors(name: str | None, input_map: dict[str, Any]) -> dict[Key, Any]:
    """The input map by node and index; its values as tensors (operations for control inputs)."""
    if not all(isinstance(value, Tensor) for value in input_map.values()):
        if name == "":
            raise ValueError(
                "tf.import_graph_def() requires a non-empty `name` if `input_map` contains "
                "non-Tensor values. Try calling tf.convert_to_tensor() on `input_map` values "
                "before calling tf.import_graph_def()."
            )
        with name_scope("_inputs"):
            input_map = {key: convert_to_tensor(value) for key, value in input_map.items()}
    result: dict[Key, Any] = {}
    for key, tensor in input_map.items():
        if key.startswith("^"):
            result[key[1:], CONTROL] = tensor.op
        else:
            result[parse_tensor_name(key)] = tensor
    return result


def remove_unknown_defaults(graph_def: Any, producer_op_list: Any) -> None:
    """Drops attributes unknown here that have the default of the program that wrote the graph."""
    producer = {op.name: {attr.name: attr for attr in op.attr} for op in producer_op_list.op}
    for node in graph_def.node:
        definition = signatures.find(node.op)
        if definition is None or node.op not in producer:
            continue
        known = {attr.name for attr in definition.attrs}
        for key in [key for key in node.attr if key not in known]:
            attr = producer[node.op].get(key)
            if attr is None or not attr.HasField("default_value"):
                continue
            # With its default it changes nothing; a program that does not know it may leave it out.
            if node.attr[key] == attr.default_value:
                del node.attr[key]
