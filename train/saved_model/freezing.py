# SPDX-License-Identifier: Apache-2.0
"""Graphs frozen from files: variables of a checkpoint or SavedModel become constants.

These are TensorFlow's freeze_graph and the reading parts of saved_model_utils.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from ...engine.graph.graph import Graph
from ...engine.session.session import Session
from ...io import files, protos
from ...io.checkpoint_reader import new_checkpoint_reader
from ...io.graph_import import import_graph_def
from ...io.graph_util import convert_variables_to_constants
from ...io.strip_unused import read_message
from ..checkpoints.checkpoint_management import checkpoint_exists
from ..checkpoints.meta_graph import import_meta_graph
from ..checkpoints.saver import Saver
from ..checkpoints.saver_builder import V2
from . import names
from .reading import load, parse_saved_model

read_saved_model = parse_saved_model


def get_saved_model_tag_sets(saved_model_dir: str) -> list[list[str]]:
    """The tags of each graph of a SavedModel."""
    return [list(m.meta_info_def.tags) for m in parse_saved_model(saved_model_dir).meta_graphs]


def get_meta_graph_def(saved_model_dir: str, tag_set: str) -> Any:
    """The MetaGraphDef of a SavedModel with these tags, separated by commas.

    Raises:
      RuntimeError: There is none.
    """
    wanted = set(tag_set.split(","))
    for message in parse_saved_model(saved_model_dir).meta_graphs:
        if set(message.meta_info_def.tags) == wanted:
            return message
    raise RuntimeError(
        f"MetaGraphDef associated with tag-set {tag_set} could not be found in SavedModel"
    )


def _listed(text: str) -> list[str]:
    return text.replace(" ", "").split(",")


def freeze_graph_with_def_protos(
    input_graph_def: Any,
    input_saver_def: Any,
    input_checkpoint: str,
    output_node_names: str,
    restore_op_name: Any,
    filename_tensor_name: Any,
    output_graph: str,
    clear_devices: bool,
    initializer_nodes: str,
    variable_names_whitelist: str = "",
    variable_names_blacklist: str = "",
    input_meta_graph_def: Any = None,
    input_saved_model_dir: Any = None,
    saved_model_tags: Iterable[str] | None = None,
    checkpoint_version: int = V2,
) -> Any:
    """Adds a graph to the default one, restores its variables and freezes it.

    Args:
      input_graph_def: A GraphDef, or None.
      input_saver_def: The SaverDef that restores it; else a saver is made from the checkpoint.
      input_checkpoint: The prefix of the checkpoint.
      output_node_names: Names of nodes, separated by commas.
      restore_op_name: Unused.
      filename_tensor_name: Unused.
      output_graph: A file for the result, or "".
      clear_devices: Whether to forget the devices of the nodes.
      initializer_nodes: Names of nodes to run after restoring, separated by commas.
      variable_names_whitelist: Names of the only variables to freeze, separated by commas.
      variable_names_blacklist: Names of variables not to freeze, separated by commas.
      input_meta_graph_def: A MetaGraphDef in place of graph and saver.
      input_saved_model_dir: The folder of a SavedModel in place of a checkpoint.
      saved_model_tags: The tags of its graph.
      checkpoint_version: The format of the checkpoint.

    Returns:
      The frozen GraphDef.

    Raises:
      ValueError: There is no such checkpoint, no output is named, or the graph has no variables.
    """
    # TensorFlow 1.15 takes them and does not use them either: the SaverDef names both.
    del restore_op_name, filename_tensor_name
    if not input_saved_model_dir and not checkpoint_exists(input_checkpoint):
        raise ValueError(f"Input checkpoint '{input_checkpoint}' doesn't exist!")
    if not output_node_names:
        raise ValueError("You need to supply the name of a node to --output_node_names.")
    graph_def = input_meta_graph_def.graph_def if input_meta_graph_def else input_graph_def
    if clear_devices and graph_def is not None:
        for node in graph_def.node:
            node.device = ""
    if input_graph_def and not input_saved_model_dir:
        import_graph_def(input_graph_def, name="")
    checkpoint = input_checkpoint, checkpoint_version
    with Session() as session:
        if input_saved_model_dir and not input_saver_def:
            load(session, list(saved_model_tags or ()), input_saved_model_dir)
        else:
            saver = _saver(session.graph, input_saver_def, input_meta_graph_def, checkpoint)
            saver.restore(session, input_checkpoint)
            if initializer_nodes and not input_saver_def:
                session.run(_listed(initializer_nodes))
        allowed = _listed(variable_names_whitelist) if variable_names_whitelist else None
        refused = _listed(variable_names_blacklist) if variable_names_blacklist else None
        outputs = _listed(output_node_names)
        frozen = convert_variables_to_constants(session, graph_def, outputs, allowed, refused)
    if output_graph:
        files.write_string_to_file(output_graph, frozen.SerializeToString())
    return frozen


def _saver(graph: Graph, stated: object, meta_graph: object, checkpoint: tuple[str, int]) -> Saver:
    """The saver that restores a graph: as stated, of its MetaGraph, or for what it has."""
    if stated:
        return Saver(saver_def=stated, write_version=checkpoint[1])
    if meta_graph:
        return import_meta_graph(meta_graph, clear_devices=True)
    return _saver_of(graph, *checkpoint)


def _saver_of(graph: Graph, checkpoint: str, version: int) -> Saver:
    """A saver for those tensors of a checkpoint that the graph has variables for."""
    found = {}
    for name in new_checkpoint_reader(checkpoint).get_variable_to_shape_map():
        op = graph._nodes_by_name.get(name)
        if op is not None and op.type == "VarHandleOp":
            # A saver knows a resource variable by a tensor that reads it.
            op = graph._nodes_by_name.get(f"{name}/Read/ReadVariableOp")
        if op is not None:
            found[name] = op.outputs[0]
    try:
        return Saver(var_list=found, write_version=version)
    except (TypeError, ValueError):
        operations = graph.get_operations()
        if any(re.search(r"/part_\d+/", f"{op.name}/") for op in operations):
            raise ValueError(
                "Models containing partition variables cannot be converted from checkpoint files. "
                "Please pass in a SavedModel using the flag --input_saved_model_dir."
            ) from None
        if not any(
            op.type.startswith("Variable") or op.type.endswith("VariableOp") for op in operations
        ):
            raise ValueError(
                "No variables were found in this model. It is likely the model was frozen "
                "previously. You cannot freeze a graph twice."
            ) from None
        raise


def freeze_graph(
    input_graph: str,
    input_saver: str,
    input_binary: bool,
    input_checkpoint: str,
    output_node_names: str,
    restore_op_name: str | None,
    filename_tensor_name: str | None,
    output_graph: str,
    clear_devices: bool,
    initializer_nodes: str,
    variable_names_whitelist: str = "",
    variable_names_blacklist: str = "",
    input_meta_graph: str | None = None,
    input_saved_model_dir: str | None = None,
    saved_model_tags: str = names.SERVING,
    checkpoint_version: int = V2,
) -> Any:
    """Freezes a graph that lies in files; see `freeze_graph_with_def_protos`.

    `input_graph`, `input_saver` and `input_meta_graph` are files, binary if `input_binary`; tags
    are separated by commas.

    Raises:
      IOError: A file does not exist.
    """
    graph_def = meta_graph_def = saver_def = None
    if input_saved_model_dir:
        graph_def = get_meta_graph_def(input_saved_model_dir, saved_model_tags).graph_def
    elif input_graph:
        graph_def = read_message(input_graph, protos.GraphDef(), input_binary)
    if input_meta_graph:
        meta_graph_def = read_message(input_meta_graph, protos.MetaGraphDef(), input_binary)
    if input_saver:
        saver_def = read_message(input_saver, protos.SaverDef(), input_binary)
    return freeze_graph_with_def_protos(
        graph_def,
        saver_def,
        input_checkpoint,
        output_node_names,
        restore_op_name,
        filename_tensor_name,
        output_graph,
        clear_devices,
        initializer_nodes,
        variable_names_whitelist,
        variable_names_blacklist,
        meta_graph_def,
        input_saved_model_dir,
        _listed(saved_model_tags),
        checkpoint_version,
    )
