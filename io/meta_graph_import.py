# SPDX-License-Identifier: Apache-2.0
"""MetaGraphDefs back into a graph: nodes, then collections with their variables and runners."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..engine import errors
from ..engine.graph import trust
from ..engine.graph.collections import GraphKeys, get_collection_proto_type, get_from_proto_function
from ..engine.graph.graph import Graph, get_default_graph
from ..engine.graph.scope_functions import prepend_name_scope, strip_name_scope
from ..engine.interface.log import get_logger
from . import protos
from .graph_import import import_graph_def
from .meta_graph import export_scoped_meta_graph

# Collections that once had no messages of their own: old files hold names in them.
_ONCE_NAMES = (
    GraphKeys.LOCAL_VARIABLES,
    GraphKeys.MODEL_VARIABLES,
    GraphKeys.METRIC_VARIABLES,
)
_UNBOUND = "unbound_inputs"


def _all_keys(key: str) -> bool:
    del key
    return True


def read_meta_graph_file(filename: str) -> Any:
    """The MetaGraphDef in a file, binary or text; IOError when there is none."""
    from google.protobuf import text_format
    from google.protobuf.message import DecodeError

    from . import files

    if not files.file_exists(filename):
        raise OSError(f"File {filename} does not exist.")
    content = files.read_file_to_string(filename, binary_mode=True)
    try:
        return protos.MetaGraphDef.FromString(content)
    except DecodeError:
        pass  # Text, then; what cannot be read as text either is an error.
    try:
        return text_format.Parse(content.decode("utf-8"), protos.MetaGraphDef())
    except (text_format.ParseError, UnicodeDecodeError) as error:
        raise OSError(f"Cannot parse file {filename}: {error}.") from None


def import_scoped_meta_graph(
    meta_graph_or_file: object,
    clear_devices: bool = False,
    graph: Graph | None = None,
    import_scope: str | None = None,
    input_map: dict[str, Any] | None = None,
    unbound_inputs_col_name: str | None = _UNBOUND,
    restore_collections_predicate: Callable[[str], bool] = _all_keys,
) -> dict[str, Any]:
    """Adds a meta graph (message or file) to a graph; returns its variables by name."""
    return import_scoped_meta_graph_with_return_elements(
        meta_graph_or_file,
        clear_devices,
        graph,
        import_scope,
        input_map,
        unbound_inputs_col_name,
        restore_collections_predicate,
    )[0]


def import_scoped_meta_graph_with_return_elements(
    meta_graph_or_file: Any,
    clear_devices: bool = False,
    graph: Graph | None = None,
    import_scope: str | None = None,
    input_map: dict[str, Any] | None = None,
    unbound_inputs_col_name: str | None = _UNBOUND,
    restore_collections_predicate: Callable[[str], bool] = _all_keys,
    return_elements: Sequence[str] | None = None,
) -> tuple[dict[str, Any], list[Any] | None]:
    """Like `import_scoped_meta_graph`; also returns the elements of the given names."""
    message = meta_graph_or_file
    if not isinstance(message, protos.MetaGraphDef):
        message = read_meta_graph_file(meta_graph_or_file)
    if unbound_inputs_col_name:
        _check_bound(message, unbound_inputs_col_name, input_map)
    graph = graph or get_default_graph()
    with graph.as_default():
        if clear_devices:
            for node in message.graph_def.node:
                node.device = ""
        info = message.meta_info_def
        scope = graph.unique_name(import_scope or "", mark_as_used=False)
        elements = import_graph_def(
            message.graph_def,
            name=import_scope or scope,
            input_map=input_map,
            producer_op_list=info.stripped_op_list if info.HasField("stripped_op_list") else None,
            return_elements=return_elements,
        )
        reader = _Collections(graph, scope, _variables_state_trainable(info.tensorflow_version))
        for key in _in_order(message.collection_def):
            if key != unbound_inputs_col_name and restore_collections_predicate(key):
                reader.read(key, message.collection_def[key])
        variables = graph.get_collection(GraphKeys.GLOBAL_VARIABLES, scope=scope)
    return {strip_name_scope(v.name, scope): v for v in variables}, elements


def _check_bound(message: Any, name: str, input_map: dict[str, Any] | None) -> None:
    """Inputs that lay outside of the exported scope must all be mapped."""
    if name not in message.collection_def:
        return
    collection = message.collection_def[name]
    values = getattr(collection, collection.WhichOneof("kind")).value
    names = [value.decode() if isinstance(value, bytes) else value for value in values]
    if names and (not input_map or sorted(names) != sorted(input_map)):
        missing = ",".join(name for name in names if not input_map or name not in input_map)
        raise ValueError(
            f"Graph contains unbound inputs: {missing}. Must provide these inputs through "
            "input_map."
        )


def _variables_state_trainable(version: str) -> bool:
    """Whether VariableDefs say if they are trainable: since TensorFlow 1.9."""
    numbers = [int(part) for part in version.split(".")[:2] if part.isdigit()]
    return not version or numbers >= [1, 9]


def _in_order(collections: Any) -> list[str]:
    """Trainable variables come first, as their membership decides what old files leave out."""
    first = GraphKeys.TRAINABLE_VARIABLES
    return sorted(collections, key=lambda key: (key != first, key))


class _Collections:
    """Rebuilds collections; equal VariableDefs in several of them become one variable."""

    def __init__(self, graph: Graph, scope: str, states_trainable: bool) -> None:
        self.graph = graph
        self.scope = scope
        self.states_trainable = states_trainable
        self.variables: dict[bytes, Any] = {}

    def read(self, key: str, message: Any) -> None:
        """Adds the members of one collection to the graph."""
        kind = message.WhichOneof("kind")
        if kind is None:
            get_logger().error("Cannot identify data type for collection %s. Skipping.", key)
            return
        from_proto = get_from_proto_function(key)
        if from_proto and kind == "bytes_list":
            for value in message.bytes_list.value:
                with _named(key):
                    self.graph.add_to_collection(key, self.member(key, value, from_proto))
            return
        if key in _ONCE_NAMES:
            get_logger().warning(
                "The saved meta_graph is possibly from an older release:\n'%s' collection should "
                "be of type 'byte_list', but instead is of type '%s'.",
                key,
                kind,
            )
        for value in getattr(message, kind).value:
            with _named(key):
                self.graph.add_to_collection(key, self.plain(kind, value))

    def member(self, key: str, value: bytes, from_proto: Callable[..., Any]) -> Any:
        """The object that a serialized message describes."""
        shared = key in GraphKeys._VARIABLE_COLLECTIONS
        if shared and value in self.variables:
            return self.variables[value]
        message = get_collection_proto_type(key)()
        message.ParseFromString(value)
        if shared and not self.states_trainable:
            message.trainable = key == GraphKeys.TRAINABLE_VARIABLES
        thing = from_proto(message, import_scope=self.scope)
        if shared:
            self.variables[value] = thing
        return thing

    def plain(self, kind: str, value: Any) -> Any:
        """A member that is a graph element, a number or text."""
        if kind == "node_list":
            return self.graph.as_graph_element(prepend_name_scope(value, self.scope))
        if kind == "int64_list":
            return int(value)
        if not self.scope or kind != "bytes_list":
            return value
        return prepend_name_scope(value.decode(), self.scope)


@contextmanager
def _named(key: str) -> Iterator[None]:
    """A context whose failures say which collection does not go with its graph."""
    from google.protobuf.message import DecodeError

    try:
        yield
    except (KeyError, DecodeError, UnicodeDecodeError) as error:
        raise errors.invalid(
            f"A member of collection '{key}' of the meta graph does not go with its graph, or is "
            f"damaged: {error.args[0] if isinstance(error, KeyError) else error}. Leave the "
            "collection out with `restore_collections_predicate`, or write the meta graph anew."
        ) from error


def copy_scoped_meta_graph(
    from_scope: str,
    to_scope: str,
    from_graph: Graph | None = None,
    to_graph: Graph | None = None,
) -> dict[str, Any]:
    """Copies what lies under one scope to another; returns the copied variables."""
    from_graph = from_graph or get_default_graph()
    to_graph = to_graph or get_default_graph()
    if from_graph is to_graph and from_scope == to_scope:
        raise ValueError(
            "'from_scope' and 'to_scope' need to be different when performing copy in the same "
            "graph."
        )
    message, _ = export_scoped_meta_graph(export_scope=from_scope, graph=from_graph)
    with trust.importing(None):  # The nodes have the marks that they had.
        return import_scoped_meta_graph(message, graph=to_graph, import_scope=to_scope)
