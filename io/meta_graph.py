# SPDX-License-Identifier: Apache-2.0
"""MetaGraphDefs: a graph with its collections, saver and the signatures of its ops.

`export_scoped_meta_graph` writes one, also of a part of a graph under a name scope;
meta_graph_import.py reads them.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from typing import Any

from ..engine.graph.collections import GraphKeys, get_from_proto_function, get_to_proto_function
from ..engine.graph.graph import Graph, get_default_graph
from ..engine.graph.scope_functions import prepend_name_scope, strip_name_scope
from ..engine.interface.log import get_logger
from . import protos, signatures
from .attributes import default_proto, op_def
from .graph_def import as_graph_def, node_def, version_def, write_graph
from .graph_util import node_name
from .tensor_proto import shape_proto
from .versions import GIT_VERSION, VERSION

# No node's name begins with a dollar.
UNBOUND_PREFIX = "$unbound_inputs_"
SAVE_AND_RESTORE_OPS = frozenset(
    "SaveV2 Save SaveSlice LegacySave LegacySaveSlice RestoreV2 Restore RestoreSlice "
    "LegacyRestore LegacyRestoreSlice".split()
)
_PSEUDO_OPS = frozenset(("_Arg", "_Retval", "_ListToArray", "_ArrayToList"))


def export_scoped_meta_graph(
    filename: str | None = None,
    graph_def: object = None,
    graph: Graph | None = None,
    export_scope: str | None = None,
    as_text: bool = False,
    unbound_inputs_col_name: str | None = "unbound_inputs",
    clear_devices: bool = False,
    saver_def: object = None,
    clear_extraneous_savers: bool = False,
    strip_default_attrs: bool = False,
    save_debug_info: bool = False,
    **options: Any,
) -> tuple[Any, dict[str, Any]]:
    """The MetaGraphDef of a graph, or of what lies under `export_scope`, and its variables.

    `options` go to `create_meta_graph_def`: `meta_info_def` and `collection_list`.
    """
    graph = graph or get_default_graph()
    exclude: Collection[str] = ()
    if export_scope or clear_extraneous_savers or clear_devices:
        whole = graph_def or as_graph_def(graph)
        if clear_extraneous_savers:
            exclude = _extraneous_saver_nodes(whole, saver_def)
        unbound: list[str] = []
        part = _Part(export_scope, exclude, clear_devices, unbound)
        graph_def = part.of_graph(graph) if graph_def is None else part.of_message(graph_def)
        if unbound_inputs_col_name:
            graph.clear_collection(unbound_inputs_col_name)
            for name in unbound:
                graph.add_to_collection(unbound_inputs_col_name, name)
    message = create_meta_graph_def(
        graph_def=graph_def,
        graph=graph,
        export_scope=export_scope,
        exclude_nodes=exclude,
        clear_extraneous_savers=clear_extraneous_savers,
        saver_def=saver_def,
        strip_default_attrs=strip_default_attrs,
        **options,
    )
    if filename:
        write_graph(message, os.path.dirname(filename), os.path.basename(filename), as_text)
        if save_debug_info:
            _write_debug_info(message, graph, export_scope, filename, as_text)
    variables = graph.get_collection(GraphKeys.GLOBAL_VARIABLES, scope=export_scope)
    return message, {
        strip_name_scope(variable.name, export_scope): variable
        for variable in variables
        if _is_included(variable, export_scope, exclude)
    }


class _Part:
    """The nodes under a scope, renamed as if the scope were the root."""

    def __init__(
        self, scope: str | None, exclude: Collection[str], clear_devices: bool, unbound: list[str]
    ) -> None:
        self.scope = scope
        self.exclude = exclude
        self.clear_devices = clear_devices
        self.unbound = unbound  # Gets the names of inputs that lie outside of the scope.

    def of_message(self, graph_def: Any) -> Any:
        """The part of a GraphDef."""
        result = protos.GraphDef(versions=graph_def.versions)
        result.library.CopyFrom(graph_def.library)
        for node in graph_def.node:
            if _is_included(node.name, self.scope, self.exclude):
                result.node.append(self.stripped(node))
        return result

    def of_graph(self, graph: Graph) -> Any:
        """The part of a graph, with shapes."""
        result = protos.GraphDef(versions=version_def(graph))
        for operation in graph.get_operations():
            if not _is_included(operation.name, self.scope, self.exclude):
                continue
            node = self.stripped(node_def(operation))
            if operation.outputs:
                shapes = [shape_proto(output.shape) for output in operation.outputs]
                node.attr["_output_shapes"].list.shape.extend(shapes)
            result.node.append(node)
        return result

    def stripped(self, node: Any) -> Any:
        """A node without the scope in its names."""
        copy = protos.NodeDef()
        copy.CopyFrom(node)
        copy.name = strip_name_scope(node.name, self.scope)
        copy.input[:] = [self._input(text) for text in node.input]
        if "_class" in node.attr:
            groups = [group.decode() for group in node.attr["_class"].list.s]
            copy.attr["_class"].list.s[:] = [
                strip_name_scope(group, self.scope).encode()
                for group in groups
                if not self.scope or group.split("@")[1].startswith(self.scope)
            ]
        if node.op in ("Enter", "RefEnter") and "frame_name" in node.attr:
            frame = node.attr["frame_name"].s.decode()
            copy.attr["frame_name"].s = strip_name_scope(frame, self.scope).encode()
        if self.clear_devices:
            copy.device = ""
        return copy

    def _input(self, text: str) -> str:
        if not self.scope or text.lstrip("^").startswith(self.scope):
            return strip_name_scope(text, self.scope)
        control = "^" * text.startswith("^")
        unbound = f"{control}{UNBOUND_PREFIX}{text.removeprefix('^')}"
        self.unbound.append(unbound)
        return unbound


def create_meta_graph_def(
    meta_info_def: Any = None,
    graph_def: Any = None,
    saver_def: Any = None,
    collection_list: Iterable[str] | None = None,
    graph: Graph | None = None,
    export_scope: str | None = None,
    exclude_nodes: Collection[str] | None = None,
    clear_extraneous_savers: bool = False,
    strip_default_attrs: bool = False,
) -> Any:
    """A MetaGraphDef of the given parts; those left out are taken from the graph."""
    _check_kinds(graph, meta_info_def, graph_def, saver_def)
    graph = graph or get_default_graph()
    message = protos.MetaGraphDef()
    info = meta_info_def or protos.MetaGraphDef.MetaInfoDef()
    info.tensorflow_version = VERSION
    info.tensorflow_git_version = GIT_VERSION
    message.meta_info_def.MergeFrom(info)
    message.graph_def.MergeFrom(graph_def or as_graph_def(graph, add_shapes=True))
    if not message.meta_info_def.stripped_op_list.op:
        op_list = stripped_op_list_for_graph(message.graph_def)
        message.meta_info_def.stripped_op_list.MergeFrom(op_list)
    if strip_default_attrs:
        strip_graph_default_valued_attrs(message)
    if saver_def:
        message.saver_def.MergeFrom(saver_def)
    keys = graph.get_all_collection_keys() if collection_list is None else collection_list
    for key in keys:
        contents = None
        if clear_extraneous_savers and key == GraphKeys.SAVERS:
            contents = [get_from_proto_function(key)(saver_def)]
        add_collection_def(message, key, graph, export_scope, exclude_nodes, contents)
    return message


def _check_kinds(
    graph: Graph | None, meta_info_def: object, graph_def: object, saver_def: object
) -> None:
    for name, value, kind in (
        ("graph", graph, Graph),
        ("meta_info_def", meta_info_def, protos.MetaGraphDef.MetaInfoDef),
        ("graph_def", graph_def, protos.GraphDef),
        ("saver_def", saver_def, protos.SaverDef),
    ):
        if value and not isinstance(value, kind):
            raise TypeError(f"{name} must be of type {kind.__name__}, not {type(value)}")


def ops_used_by_graph_def(graph_def: Any) -> list[str]:
    """The op types in a graph and in the functions that it uses."""
    functions = {function.signature.name: function for function in graph_def.library.function}
    used = {node.op for node in graph_def.node}
    pending = list(used)
    while pending:
        function = functions.get(pending.pop())
        for node in function.node_def if function is not None else ():
            if node.op not in used:
                used.add(node.op)
                pending.append(node.op)
    return [op for op in used if op not in functions]


def stripped_op_list_for_graph(graph_def: object) -> Any:
    """The OpList of the op types in a graph; ValueError for a type that is not known."""
    message = protos.OpList()
    for op in sorted(ops_used_by_graph_def(graph_def)):
        definition = signatures.find(op)
        if definition is not None:
            message.op.append(op_def(definition))
        elif op not in _PSEUDO_OPS:
            raise ValueError(f"Op {op} is used by the graph, but is not registered")
    return message


def strip_graph_default_valued_attrs(meta_graph_def: Any) -> None:
    """Removes attributes that have their default, so that older programs can read the graph."""
    functions = {function.signature.name for function in meta_graph_def.graph_def.library.function}
    nodes = list(meta_graph_def.graph_def.node)
    for function in meta_graph_def.graph_def.library.function:
        nodes.extend(function.node_def)
    for node in nodes:
        definition = signatures.find(node.op)
        if definition is None or node.op in functions:
            continue
        for attr in definition.attrs:
            if attr.has_default and attr.name in node.attr:
                if node.attr[attr.name] == default_proto(attr):
                    del node.attr[attr.name]
    meta_graph_def.meta_info_def.stripped_default_attrs = True


def add_collection_def(
    meta_graph_def: Any,
    key: Any,
    graph: Graph | None = None,
    export_scope: str | None = None,
    exclude_nodes: Collection[str] | None = None,
    override_contents: Iterable[Any] | None = None,
) -> None:
    """Adds a collection of the graph; one that no message can hold is left out with a warning."""
    if graph and not isinstance(graph, Graph):
        raise TypeError(f"graph must be of type Graph, not {type(graph)}")
    if not isinstance(key, (str, bytes)):
        get_logger().warning(
            "Only collections with string type keys will be serialized. This key has %s", type(key)
        )
        return
    items = override_contents or (graph or get_default_graph()).get_collection(key)
    items = [item for item in items if _is_included(item, export_scope, exclude_nodes)]
    if not items:
        return
    try:
        _write_items(meta_graph_def.collection_def[key], key, items, export_scope)
    except Exception as error:
        get_logger().warning(
            "Issue encountered when serializing %s.\nType is unsupported, or the types of the "
            "items don't match field type in CollectionDef. Note this is a warning and probably "
            "safe to ignore.\n%s",
            key,
            error,
        )
        del meta_graph_def.collection_def[key]


def _write_items(message: Any, key: Any, items: list[Any], export_scope: str | None) -> None:
    to_proto = get_to_proto_function(key)
    if to_proto:
        written = (to_proto(item, export_scope=export_scope) for item in items)
        message.bytes_list.value.extend(x.SerializeToString() for x in written if x)
        return
    first = items[0]
    if isinstance(first, (str, bytes)):
        message.bytes_list.value.extend(x.encode() if isinstance(x, str) else x for x in items)
    elif isinstance(first, int):
        message.int64_list.value.extend(items)
    elif isinstance(first, float):
        message.float_list.value.extend(items)
    elif type(first).__name__ == "Any":
        # A message of the default pool is of another class than those here.
        for item in items:
            message.any_list.value.add().ParseFromString(item.SerializeToString())
    else:
        names = [x.name for x in items if not export_scope or x.name.startswith(export_scope)]
        message.node_list.value.extend(strip_name_scope(name, export_scope) for name in names)


def _is_included(
    item: object, export_scope: str | None, exclude_nodes: Collection[str] | None
) -> bool:
    """Whether something with a name belongs to the exported part."""
    name = item if isinstance(item, str) else getattr(item, "name", None)
    if not isinstance(name, str):
        return True
    if exclude_nodes and name in exclude_nodes:
        return False
    # By prefix, as in TensorFlow: the scope "a" takes in "ab/x" too.
    return not export_scope or name.startswith((UNBOUND_PREFIX, export_scope))


def _extraneous_saver_nodes(graph_def: Any, saver_def: Any) -> set[str]:
    """The nodes in the scopes of savers other than the given one."""
    kept = set()
    if saver_def is not None:
        for name in (saver_def.save_tensor_name, saver_def.restore_op_name):
            kept.add(_scope(node_name(name)))
    savers = {node.name for node in graph_def.node if node.op in SAVE_AND_RESTORE_OPS}
    # A saver's nodes are those under one scope, told by its save and restore ops.
    scopes = {_scope(name) for name in savers} - savers - kept
    prefixes = tuple(f"{scope}/" for scope in scopes)
    return {node.name for node in graph_def.node if node.name.startswith(prefixes)}


def _scope(name: str) -> str:
    return name.rpartition("/")[0]


def create_graph_debug_info_def(operations: Iterable[tuple[str, Any]]) -> Any:
    """A GraphDebugInfo: the user's line of each operation.

    `operations` are pairs of the function that an operation is in ("" for the graph) and itself.
    """
    info = protos.GraphDebugInfo()
    files: dict[str, int] = {}
    for function_name, operation in operations:
        trace = info.traces[function_name + operation.name]
        for filename, line, function, text in operation.traceback:
            index = files.setdefault(filename, len(files))
            trace.file_line_cols.add(file_index=index, line=line, func=function, code=text)
    info.files.extend(files)
    return info


def _write_debug_info(
    message: Any, graph: Graph, export_scope: str | None, filename: str, as_text: bool
) -> None:
    """Writes the user's line of each node beside the meta graph."""
    names = (prepend_name_scope(node.name, export_scope) for node in message.graph_def.node)
    info = create_graph_debug_info_def(("", graph.get_operation_by_name(name)) for name in names)
    path = f"{os.path.splitext(filename)[0]}.debug"
    write_graph(info, os.path.dirname(path), os.path.basename(path), as_text)
