# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.meta_graph_transform`: MetaGraphs with rewritten graphs, and what still fits these.

The rewriting is that of io/graph_transforms.py, and freezing (train/saved_model/freezing.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from ...engine.api import export
from ...engine.graph.collections import GraphKeys, get_collection_proto_type
from ...engine.graph.graph import Graph
from ...io import protos
from ...io.graph_transforms import TransformGraph
from ..saved_model.freezing import freeze_graph_with_def_protos

_FREEZING = "freeze_graph"
_MAIN, _LEGACY_MAIN = "saved_model_main_op", "legacy_init_op"
_VARIABLES = (
    *(GraphKeys.GLOBAL_VARIABLES, GraphKeys.TRAINABLE_VARIABLES),
    *(GraphKeys.MOVING_AVERAGE_VARIABLES, GraphKeys.LOCAL_VARIABLES, GraphKeys.MODEL_VARIABLES),
)
_INITIALIZERS = (
    *(_LEGACY_MAIN, _MAIN, GraphKeys.INIT_OP, GraphKeys.LOCAL_INIT_OP),
    *(GraphKeys.READY_OP, GraphKeys.READY_FOR_LOCAL_INIT_OP),
)
# What may be a name in the bytes of a message.
_NAME = re.compile(rb"[/\w]+", re.ASCII)

# Collection -> the nodes that it names, which stay whatever the outputs need.
Kept = dict[str, list[str]]


@export("contrib.meta_graph_transform.meta_graph_transform.meta_graph_transform")
def meta_graph_transform(
    base_meta_graph_def: Any,
    input_names: Sequence[str],
    output_names: Sequence[str],
    transforms: Sequence[str],
    tags: Iterable[str],
    checkpoint_path: str | None = None,
) -> Any:
    """A MetaGraphDef with a rewritten graph, and those collections and signatures that still fit.

    Nodes that save, restore and initialize stay, too, unless the graph is frozen.

    Args:
        base_meta_graph_def: the MetaGraphDef, which stays as it is.
        input_names: names of the nodes that are fed.
        output_names: names of the nodes, or of their tensors, that are wanted.
        transforms: those of `TransformGraph`, in order, and "freeze_graph", which makes constants
            of the variables.
        tags: the tags of the new one.
        checkpoint_path: the checkpoint that "freeze_graph" restores.

    Returns:
        A new MetaGraphDef.

    Raises:
        InvalidArgumentError: there is no such transform.
        UnimplementedError: a transform that is not in numbaflow, as "sparsify_gather".
        ValueError: there is no such checkpoint, a collection has not the kind of list that it must
            have, or a node of the saver is gone.
    """
    kept = _kept_nodes(base_meta_graph_def)
    graph_def = _transformed(
        base_meta_graph_def, input_names, list(output_names), transforms, kept, checkpoint_path
    )
    result = protos.MetaGraphDef()
    result.graph_def.CopyFrom(graph_def)
    result.meta_info_def.CopyFrom(base_meta_graph_def.meta_info_def)
    result.meta_info_def.ClearField("tags")
    result.meta_info_def.tags.extend(tags)
    removed = {node.name for node in base_meta_graph_def.graph_def.node}
    removed -= {node.name for node in graph_def.node}
    if _FREEZING not in transforms and base_meta_graph_def.HasField("saver_def"):
        for name in _names_of_saver(base_meta_graph_def.saver_def):
            _require_kept(name, removed)
        result.saver_def.CopyFrom(base_meta_graph_def.saver_def)
    for name, collection in base_meta_graph_def.collection_def.items():
        _copy_collection(collection, result.collection_def[name], removed)
    for name, signature in base_meta_graph_def.signature_def.items():
        if _fits(signature, removed):
            result.signature_def[name].CopyFrom(signature)
    return result


# The graph


def _transformed(
    meta_graph: Any,
    inputs: Sequence[str],
    outputs: list[str],
    transforms: Sequence[str],
    kept: Kept,
    checkpoint: str | None,
) -> Any:
    """The rewritten graph."""
    graph_def = protos.GraphDef()
    graph_def.CopyFrom(meta_graph.graph_def)
    waiting: list[str] = []

    def rewritten(graph_def: Any) -> Any:
        if not waiting:
            return graph_def
        wanted = outputs + sorted(name for names in kept.values() for name in names)
        found = TransformGraph(graph_def, inputs, wanted, waiting)
        waiting.clear()
        return found

    for transform in transforms:
        if transform != _FREEZING:
            waiting.append(transform)
            continue
        graph_def = rewritten(graph_def)
        graph_def = _frozen(graph_def, outputs, kept, meta_graph.saver_def, checkpoint)
        kept = _kept_when_frozen(kept)
    return rewritten(graph_def)


def _frozen(
    graph_def: Any, outputs: Sequence[str], kept: Kept, saver_def: Any, checkpoint: str | None
) -> Any:
    """A graph with constants for variables, with its outputs and what initializes its tables."""
    tables = kept.get(GraphKeys.TABLE_INITIALIZERS, [])
    names = [_node_of(name) for name in (*outputs, *tables)]
    with Graph().as_default():
        frozen = freeze_graph_with_def_protos(
            *(graph_def, saver_def, checkpoint or "", ",".join(names), None, None, "", False, "")
        )
    main = kept.get(_MAIN) or kept.get(_LEGACY_MAIN)
    if tables and main:
        # What initialized the variables, too, initializes the tables alone now.
        inputs = [f"^{name}" for name in tables]
        frozen.node.add(name=main[0], op="NoOp", input=inputs)
    return frozen


def _kept_when_frozen(kept: Kept) -> Kept:
    if not kept.get(GraphKeys.TABLE_INITIALIZERS):
        return {}
    names = (GraphKeys.TABLE_INITIALIZERS, _LEGACY_MAIN, _MAIN)
    return {name: kept[name] for name in names if name in kept}


# What names nodes


def _kept_nodes(meta_graph: Any) -> Kept:
    """The nodes that save, restore and initialize."""
    savers = [meta_graph.saver_def] if meta_graph.HasField("saver_def") else []
    savers += _messages(meta_graph, GraphKeys.SAVERS)
    kept = {GraphKeys.SAVERS: [name for saver in savers for name in _names_of_saver(saver)]}
    for collection in _VARIABLES:
        kept[collection] = [v.initializer_name for v in _messages(meta_graph, collection)]
    kept[GraphKeys.TABLE_INITIALIZERS] = _nodes(meta_graph, GraphKeys.TABLE_INITIALIZERS)
    for collection in _INITIALIZERS:
        kept[collection] = _nodes(meta_graph, collection)
        if len(kept[collection]) > 1:
            raise ValueError(
                f"Collection {collection} has {len(kept[collection])} elements; expected exactly "
                "one."
            )
    return {collection: names for collection, names in kept.items() if names}


def _names_of_saver(saver_def: Any) -> tuple[str, ...]:
    return saver_def.filename_tensor_name, saver_def.save_tensor_name, saver_def.restore_op_name


def _nodes(meta_graph: Any, collection: str) -> list[str]:
    """The names that a collection has."""
    return list(_listed(meta_graph, collection, "node_list"))


def _messages(meta_graph: Any, collection: str) -> list[Any]:
    """The messages that a collection has."""
    kind: Any = get_collection_proto_type(collection)
    found = []
    for value in _listed(meta_graph, collection, "bytes_list"):
        found.append(kind())
        found[-1].ParseFromString(value)
    return found


def _listed(meta_graph: Any, collection: str, kind: str) -> Sequence[Any]:
    if collection not in meta_graph.collection_def:
        return ()
    values: Sequence[Any] = getattr(meta_graph.collection_def[collection], kind).value
    if not values:
        raise ValueError(f"Collection {collection} is present but type is not {kind}.")
    return values


def _node_of(name: str) -> str:
    return name.removeprefix("^").split(":")[0]


def _require_kept(name: str, removed: set[str]) -> None:
    if not name:
        raise ValueError("Tensor name should not be empty")
    if name.split(":")[0] in removed:
        raise ValueError(f"Expected Tensor, but it was removed: {name}")


def _copy_collection(collection: Any, result: Any, removed: set[str]) -> None:
    """Copies what names no removed node."""
    kind = collection.WhichOneof("kind")
    if kind == "any_list":
        values = collection.any_list.value
        result.any_list.value.extend(v for v in values if not _mentions(v.value, removed))
    elif kind == "bytes_list":
        values = collection.bytes_list.value
        result.bytes_list.value.extend(v for v in values if not _mentions(v, removed))
    elif kind == "node_list":
        values = collection.node_list.value
        result.node_list.value.extend(v for v in values if v.split(":")[0] not in removed)
    else:
        result.CopyFrom(collection)


def _mentions(message: bytes, removed: set[str]) -> bool:
    """Whether a serialized message may name a removed node: some name in it ends like one."""
    ends = tuple(name.encode() for name in removed)
    return any(name.endswith(ends) for name in _NAME.findall(message))


def _fits(signature: Any, removed: set[str]) -> bool:
    """Whether all tensors of a signature are still there."""
    infos = (*signature.inputs.values(), *signature.outputs.values())
    return all(info.name and info.name.split(":")[0] not in removed for info in infos)
