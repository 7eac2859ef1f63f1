# SPDX-License-Identifier: Apache-2.0
"""The objects of a checkpoint as a graph for Graphviz."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ....engine.api import export
from ....engine.graph.trackable import VARIABLE_VALUE_KEY
from ....io.checkpoint_reader import new_checkpoint_reader
from ...objects.checkpoint import object_metadata


@export("contrib.checkpoint.dot_graph_from_checkpoint")
def dot_graph_from_checkpoint(save_path: str) -> str:
    """The objects of a checkpoint of `tf.train.Checkpoint` as a graph in the language of `dot`.

    Args:
        save_path: the checkpoint's prefix.

    Returns:
        The graph's text: points for objects, blue for variables, orange for slots of optimizers and
        red for these.

    Raises:
        ValueError: the checkpoint is not one of objects.
    """
    graph, reader = object_metadata(save_path), new_checkpoint_reader(save_path)
    shapes, dtypes = reader.get_variable_to_shape_map(), reader.get_variable_to_dtype_map()
    slots = {slot.slot_variable_node_id for node in graph.nodes for slot in node.slot_variables}
    lines = ["digraph {"]
    for number, node in enumerate(graph.nodes):
        names = [attribute.name for attribute in node.attributes]
        look = 'label="" width=.25'
        if names == [VARIABLE_VALUE_KEY]:
            attribute = node.attributes[0]
            key = attribute.checkpoint_key
            color, kind = ("orange", "Slot variable") if number in slots else ("blue", "Variable")
            name = _escaped(attribute.full_name)
            tip = f"{kind} {name} shape={shapes[key]} {dtypes[key].name}"
            look = f'label="" color={color} width=.25 tooltip="{tip}"'
        elif node.slot_variables:
            look = 'label="" width=.25 color=red,tooltip="Optimizer"'
        lines += [f"N_{number} [shape=point {look}]", *_edges(number, node)]
    return "\n".join([*lines, "}", ""])


def _edges(number: int, node: Any) -> Iterator[str]:
    for child in node.children:
        yield f'N_{number} -> N_{child.node_id} [label="{_escaped(child.local_name)}"]'
    for slot in node.slot_variables:
        variable = slot.slot_variable_node_id
        yield f'N_{number} -> N_{variable} [label="{_escaped(slot.slot_name)}" style=dotted]'
        yield f"N_{slot.original_variable_node_id} -> N_{variable} [style=dotted]"


def _escaped(name: str) -> str:
    return name.replace('"', '\\"')
