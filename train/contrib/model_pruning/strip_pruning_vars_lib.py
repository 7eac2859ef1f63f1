# SPDX-License-Identifier: Apache-2.0
"""Graphs without masks: pruned weights as constants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....engine.api import export
from ....engine.graph.graph import Graph
from ....engine.interface import log
from ....engine.session.session import Session
from ....io.graph_import import import_graph_def
from ....io.graph_util import convert_variables_to_constants, extract_sub_graph
from ....io.tensor_proto import make_tensor_proto
from ....ops.public import tf
from ...checkpoints.checkpoint_management import latest_checkpoint
from ...checkpoints.meta_graph import import_meta_graph

_MARK = "masked_weight"


def _node_name(tensor_name: str) -> str:
    """The name of the node that a tensor's name, or the node's, means."""
    return tensor_name.partition(":")[0]


def _values(graph_def: Any) -> dict[str, Any]:
    """The masked weights of a graph, by the names of their nodes."""
    names = [node.name for node in graph_def.node if _MARK in node.name]
    with Graph().as_default() as graph:
        import_graph_def(graph_def, name="")
        with Session(graph=graph) as session:
            found = {name: session.run(f"{name}:0") for name in names}
    for name, value in found.items():
        zeros = 100 * np.mean(value == 0)
        log.info("%s has %d values, %1.2f%% zeros \n", name, value.size, zeros)
    return found


@export("contrib.model_pruning.strip_pruning_vars_fn")
def strip_pruning_vars_fn(input_graph_def: Any, output_node_names: Sequence[str]) -> Any:
    """A graph whose masked weights are constants, and whose masks are gone.

    Args:
        input_graph_def: a GraphDef whose variables are constants.
        output_node_names: the names of the nodes that are wanted.

    Returns:
        A GraphDef of these and of what they need.
    """
    values = _values(input_graph_def)
    stripped = type(input_graph_def)()
    for node in input_graph_def.node:
        copy = stripped.node.add()
        if node.name not in values:
            copy.CopyFrom(node)
            continue
        copy.op, copy.name = "Const", node.name
        copy.attr["dtype"].CopyFrom(node.attr["T"])
        copy.attr["value"].tensor.CopyFrom(make_tensor_proto(values[node.name]))
    return extract_sub_graph(stripped, [_node_name(name) for name in output_node_names])


@export("contrib.model_pruning.graph_def_from_checkpoint")
def graph_def_from_checkpoint(checkpoint_dir: str, output_node_names: Sequence[str]) -> Any:
    """The graph of the latest checkpoint in a folder, with its variables as constants.

    Args:
        checkpoint_dir: the folder.
        output_node_names: the names of the nodes that are wanted.

    Returns:
        A GraphDef of these and of what they need.

    Raises:
        ValueError: there is no checkpoint.
    """
    path = latest_checkpoint(checkpoint_dir)
    if path is None:
        raise ValueError(f"Could not find a checkpoint at: {checkpoint_dir}.")
    saver = import_meta_graph(f"{path}.meta", clear_devices=True)
    with Session() as session:
        saver.restore(session, path)
        graph_def = tf.get_default_graph().as_graph_def()
        return convert_variables_to_constants(session, graph_def, list(output_node_names))
