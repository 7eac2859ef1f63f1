# SPDX-License-Identifier: Apache-2.0
"""`tf.graph_util`: GraphDefs cut down, frozen and freed of what only training needs."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ..engine.api import export
from ..engine.graph.operation import Operation
from ..engine.types import dtypes
from . import protos
from .tensor_proto import make_tensor_proto

if TYPE_CHECKING:
    from ..engine.graph.graph import Graph
    from ..engine.session.session import BaseSession

_LOG = logging.getLogger("tensorflow")

_VARIABLE_OPS = frozenset(
    "Assign AssignAdd AssignSub Queue ScatterAdd ScatterSub ScatterUpdate TruncatedNormal "
    "Variable VariableV2".split()
)
# What may stand between a variable's handle and the op that reads it.
_PASSING = frozenset("Switch Enter Exit Identity Merge NextIteration".split())
# TensorFlow's list, op for op (framework/graph_util_impl.py).
_INT32_ONLY_ON_CPU = {"DynamicStitch": "T", "ParallelDynamicStitch": "T", "Cast": "SrcT"}


def node_name(text: str) -> str:
    """The node that an input's text names: "a", "a:1" and "^a" all name "a"."""
    return text[1:] if text.startswith("^") else text.split(":")[0]


@export("graph_util.must_run_on_cpu")
def must_run_on_cpu(node: Any, pin_variables_on_cpu: bool = False) -> bool:
    """Whether TensorFlow has the node (an Operation or NodeDef) on the CPU only."""
    if isinstance(node, Operation):
        node = node.node_def
    if pin_variables_on_cpu and node.op in _VARIABLE_OPS:
        return True
    if node.op == "Const":
        return node.attr["dtype"].type in (protos.DT_STRING, protos.DT_INT32)
    attr = _INT32_ONLY_ON_CPU.get(node.op)
    return attr is not None and node.attr[attr].type == protos.DT_INT32


@export("graph_util.extract_sub_graph")
def extract_sub_graph(graph_def: object, dest_nodes: Sequence[str]) -> Any:
    """The part of a GraphDef that the named nodes need, in its order."""
    if not isinstance(graph_def, protos.GraphDef):
        raise TypeError("graph_def must be a graph_pb2.GraphDef proto.")
    if isinstance(dest_nodes, str):
        raise TypeError("dest_nodes must be a list.")
    needs = {node.name: _needs(node) for node in graph_def.node}
    for name in dest_nodes:
        assert name in needs, f"{name} is not in graph"
    keep: set[str] = set()
    pending = list(dest_nodes)
    while pending:
        name = pending.pop()
        if name not in keep:
            keep.add(name)
            pending.extend(needs.get(name, ()))
    result = protos.GraphDef()
    result.node.extend(node for node in graph_def.node if node.name in keep)
    result.library.CopyFrom(graph_def.library)
    result.versions.CopyFrom(graph_def.versions)
    return result


def _needs(node: Any) -> list[str]:
    """The nodes that a node reads or shares its device with."""
    names = [node_name(text) for text in node.input]
    groups = node.attr["_class"].list.s if "_class" in node.attr else ()
    # A node that shares the device of another names it, and would name nothing without it.
    return names + [
        g.decode(errors="replace")[len("loc:@") :] for g in groups if g.startswith(b"loc:@")
    ]


@export("graph_util.tensor_shape_from_node_def_name")
def tensor_shape_from_node_def_name(graph: Graph, input_name: str) -> Any:
    """The static shape of the tensor that an input's text names."""
    name = input_name if ":" in input_name else f"{input_name}:0"
    return graph.get_tensor_by_name(name).get_shape()


@export("graph_util.convert_variables_to_constants")
def convert_variables_to_constants(
    sess: BaseSession,
    input_graph_def: object,
    output_node_names: Sequence[str],
    variable_names_whitelist: Iterable[str] | None = None,
    variable_names_blacklist: Iterable[str] | None = None,
) -> Any:
    """A GraphDef for inference: what the outputs need, with variables frozen to their values."""
    inference = extract_sub_graph(input_graph_def, output_node_names)
    by_name = {node.name: node for node in inference.node}
    wanted = _chosen(variable_names_whitelist, variable_names_blacklist)
    reads = {
        node.name: f"{node.name}/Read/ReadVariableOp:0"
        if node.op == "VarHandleOp"
        else f"{node.name}:0"
        for node in inference.node
        if node.op in ("Variable", "VariableV2", "VarHandleOp") and wanted(node.name)
    }
    values = dict(zip(reads, sess.run(list(reads.values())))) if reads else {}
    _LOG.info("Froze %d variables.", len(values))
    handles: dict[str, Any] = {}
    for node in inference.node:
        if node.op in ("ReadVariableOp", "ResourceGather"):
            _follow_handle(node, by_name, handles)
    result = protos.GraphDef()
    for node in inference.node:
        result.node.extend(_frozen(node, values, handles))
    result.library.CopyFrom(inference.library)
    _LOG.info("Converted %d variables to const ops.", len(values))
    return result


def _chosen(
    whitelist: Iterable[str] | None, blacklist: Iterable[str] | None
) -> Callable[[str], bool]:
    allowed = None if whitelist is None else set(whitelist)
    refused = set(blacklist or ())
    return lambda name: (allowed is None or name in allowed) and name not in refused


def _follow_handle(node: Any, by_name: dict[str, Any], handles: dict[str, Any]) -> None:
    """Notes the nodes between a read and its variable: they will carry values, not handles."""
    pending = [node_name(node.input[0])]
    while pending:
        source = by_name[pending.pop()]
        if source.op in _PASSING:
            if source.name not in handles:
                handles[source.name] = node.attr["dtype"]
                both = source.op == "Merge"
                pending.extend(map(node_name, source.input[: 2 if both else 1]))
        elif source.op != "VarHandleOp":
            raise ValueError("Cannot find the variable that is an input to the ReadVariableOp.")


def _constant(name: str, dtype: Any, value: Any) -> Any:
    node = protos.NodeDef(name=name, op="Const")
    node.attr["dtype"].CopyFrom(dtype)
    shape = getattr(value, "shape", None)
    tensor = make_tensor_proto(value, dtype=dtypes.as_dtype(dtype.type), shape=shape)
    node.attr["value"].tensor.CopyFrom(tensor)
    return node


def _frozen(node: Any, values: dict[str, Any], handles: dict[str, Any]) -> list[Any]:
    """What stands for a node in the frozen graph."""
    if node.name in values:
        return [_constant(node.name, node.attr["dtype"], values[node.name])]
    copy = protos.NodeDef(name=node.name, op=node.op, input=node.input)
    if node.name in handles:
        for name, value in node.attr.items():
            if name != "_output_shapes":
                copy.attr[name].CopyFrom(value)
        copy.attr["T"].CopyFrom(handles[node.name])
        return [copy]
    if node.op == "ReadVariableOp":
        copy = protos.NodeDef(name=node.name, op="Identity", input=node.input[:1])
        copy.attr["T"].CopyFrom(node.attr["dtype"])
    elif node.op == "ResourceGather":
        return _frozen_gather(node)
    else:
        return [node]
    _copy_class(node, copy)
    return [copy]


def _frozen_gather(node: Any) -> list[Any]:
    if node.attr["batch_dims"].i != 0:
        raise ValueError("batch_dims != 0 is not supported by freeze_graph.")
    # ResourceGather takes rows; GatherV2 asks along which axis.
    axis = _constant(f"{node.name}/axis", node.attr["Tindices"], 0)
    gather = protos.NodeDef(name=node.name, op="GatherV2", input=[*node.input[:2], axis.name])
    gather.attr["Tparams"].CopyFrom(node.attr["dtype"])
    gather.attr["Tindices"].CopyFrom(node.attr["Tindices"])
    gather.attr["Taxis"].CopyFrom(node.attr["Tindices"])
    _copy_class(node, gather)
    return [axis, gather]


def _copy_class(source: Any, target: Any) -> None:
    if "_class" in source.attr:
        target.attr["_class"].CopyFrom(source.attr["_class"])


@export("graph_util.remove_training_nodes")
def remove_training_nodes(input_graph: Any, protected_nodes: Sequence[str] | None = None) -> Any:
    """A GraphDef without CheckNumerics, and without Identity nodes that no control edge touches."""
    protected = set(protected_nodes or ())
    removed = {
        node.name
        for node in input_graph.node
        if node.op == "CheckNumerics" and node.name not in protected
    }
    nodes = []
    for node in input_graph.node:
        if node.name not in removed:
            # TensorFlow 1.15 drops the input, too, rather than put in its place what CheckNumerics
            # checked.
            inputs = [text for text in node.input if text.removeprefix("^") not in removed]
            nodes.append(_with_inputs(node, inputs))
    return _without_identities(nodes, protected)


def _without_identities(nodes: list[Any], protected: set[str]) -> Any:
    controls = {text[1:] for node in nodes for text in node.input if text.startswith("^")}
    controlled = {node.name for node in nodes if any(t.startswith("^") for t in node.input)}
    # An Identity that control edges touch may be there for the order alone.
    keep = protected | controls | controlled
    spliced = {
        node.name: node.input[0]
        for node in nodes
        if node.op == "Identity" and node.name not in keep
    }
    result = protos.GraphDef()
    for node in nodes:
        if node.name in spliced:
            continue
        inputs = []
        for text in node.input:
            # Identities may stand one behind the other.
            while text.removeprefix("^") in spliced:
                text = spliced[text.removeprefix("^")]
            inputs.append(text)
        result.node.append(_with_inputs(node, inputs))
    return result


def _with_inputs(node: object, inputs: list[str]) -> Any:
    copy = protos.NodeDef()
    copy.CopyFrom(node)
    copy.input[:] = inputs
    return copy
