# SPDX-License-Identifier: Apache-2.0
"""`tf.import_graph_def`: adds the nodes of a GraphDef to the default graph.

`_Import` walks the nodes in TensorFlow's order (the earliest node whose inputs exist) and creates
each through `Graph`, so that shapes, scopes and control dependencies are those of any other node.
A failure leaves the graph as it was.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

from ..engine import gc_pause
from ..engine.api import export
from ..engine.errors import InvalidArgumentError
from ..engine.graph import registry, trust
from ..engine.graph.graph import Graph, get_default_graph, name_scope
from ..engine.graph.graph_scopes import apply_device_functions
from ..engine.graph.operation import Operation
from ..engine.graph.scopes import control_inputs_for
from ..engine.graph.tensor import Tensor
from ..engine.types import dtypes
from ..engine.types.shape import unknown_shape
from . import protos
from .attributes import from_proto
from .import_arguments import (
    CONTROL,
    Key,
    add_defaults,
    checked_elements,
    checked_graph_def,
    checked_input_map,
    mapped_tensors,
    parse_input,
    parse_tensor_name,
    remove_unknown_defaults,
)
from .node_check import check_node, find_definition, runtime_name
from .tensor_proto import listed_elements, shape_from_proto
from .versions import GRAPH_DEF_VERSION, GRAPH_DEF_VERSION_MIN_PRODUCER, VERSION

_NODE_NAME = re.compile(r"[A-Za-z0-9.][A-Za-z0-9\-./_]*\Z")
_BACK_EDGES = frozenset({"Merge", "RefMerge"})
# Begins a class of nodes that share the device of the node that it names.
_TOGETHER = b"loc:@"

# Ops whose shape functions once erred: graphs written then hold shapes that are wrong.
_SHAPES_IGNORED = frozenset(
    "RandomShuffleQueue PaddingFIFOQueue FIFOQueue PriorityQueue QueueSize Stack Barrier "
    "BarrierReadySize BarrierIncompleteSize HashTable MutableHashTable MutableHashTableOfTensors "
    "Mutex CuckooTable IndexTable WholeFileReader TextLineReader FixedLengthRecordReader "
    "TFRecordReader IdentityReader RefSwitch RefEnter RefNextIteration RefMerge RefIdentity "
    "LMDBReader ConditionalAccumulator SparseConditionalAccumulator Table".split()
)


@export("graph_util.import_graph_def", "import_graph_def")
def import_graph_def(
    graph_def: object,
    input_map: dict[str, Any] | None = None,
    return_elements: Sequence[str] | None = None,
    name: str | None = None,
    op_dict: object = None,
    producer_op_list: object = None,
) -> list[Any] | None:
    """Adds the nodes of a GraphDef to the default graph.

    Args:
        graph_def: a GraphDef.
        input_map: tensors of the graph by names of tensors ("a:0") or control inputs ("^a") of the
            GraphDef, in whose place they are used.
        return_elements: names of operations and tensors to return.
        name: a prefix of all names, "import" by default; "" for none.
        op_dict: not used.
        producer_op_list: an OpList: attributes it says to be defaults may be unknown here.

    Returns:
        A list of the elements; None without `return_elements`.

    Raises:
        TypeError: `graph_def` is none, or a name no string.
        ValueError: a name is of nothing, or an operation cannot be added.

    Example:
        >>> with tf.Graph().as_default() as graph:
        ...     double = tf.multiply(tf.placeholder(tf.int32, name="x"), 2, name="double")
        >>> [y] = tf.import_graph_def(graph.as_graph_def(), {"x:0": tf.constant(21)}, ["double:0"])
        >>> tf.Session().run(y)
        np.int32(42)
    """
    del op_dict
    graph_def = checked_graph_def(graph_def)
    input_map = checked_input_map(input_map)
    wanted = checked_elements(return_elements)
    if producer_op_list is not None:
        remove_unknown_defaults(graph_def, producer_op_list)
    graph = get_default_graph()
    with name_scope(name, "import", list(input_map.values())) as scope:
        mapped = mapped_tensors(name, input_map)
    work = _Import(graph, graph_def, scope or "", mapped, wanted)
    with graph._lock, gc_pause.held_up():
        versions = graph._producer, graph._min_consumer
        functions = set(graph._functions)
        try:
            elements = work.run()
        except BaseException:
            work.undo()
            graph._producer, graph._min_consumer = versions
            for name in set(graph._functions) - functions:
                del graph._functions[name]
            raise
    return None if return_elements is None else elements


class _Import:
    """One import: what it was asked and the nodes it has made."""

    def __init__(
        self,
        graph: Graph,
        graph_def: Any,
        prefix: str,
        mapped: dict[Key, Any],
        wanted: list[str],
    ) -> None:
        self.graph = graph
        self.graph_def = graph_def
        self.nodes = {node.name: node for node in graph_def.node}
        self.prefix = prefix
        self.mapped = mapped
        self.wanted = wanted
        self.permitted = trust.current()
        self.used: set[Key] = set()
        self.made: dict[str, Operation] = {}
        self.added_names: list[str] = []
        self.back_edges: list[tuple[Operation, int, Key]] = []
        self.existing = _names_and_prefixes(graph._nodes_by_name)
        self.coming = _names_and_prefixes(self.nodes)

    def run(self) -> list[Any]:
        """Makes all nodes and returns the wanted elements."""
        self.check()
        # Shape functions look at the version.
        self.lower_versions()
        if self.graph_def.library.function:
            from .function_def import add_functions

            try:
                add_functions(self.graph, self.graph_def.library)
            except InvalidArgumentError as error:
                raise ValueError(error.message) from None
        for node in self.in_order():
            self.make(node)
        for operation, index, (name, output) in self.back_edges:
            self.connect(operation, index, self.made[name].outputs[output])
        # TensorFlow adds these even to nodes whose inputs come after them already.
        around = control_inputs_for(self.graph._control_dependencies_stack, set())
        for operation in self.made.values() if around else ():
            known = set(operation._control_inputs_val)
            operation._add_control_inputs([other for other in around if other not in known])
        # A surrounding branch or loop looks at the control inputs of the whole.
        for operation in list(self.made.values()):
            operation._control_flow_post_processing()
        self.place()
        missing = sorted(
            f"{name}:{index}" for name, index in self.mapped if self.is_missing(name, index)
        )
        if missing:
            raise ValueError(
                f"Attempted to map inputs that were not found in graph_def: [{', '.join(missing)}]"
            )
        return [self.element(name) for name in self.wanted]

    # Checks of the whole message

    def check(self) -> None:
        """Raises ValueError for names, inputs or versions that no graph can have."""
        _check_versions(self.graph_def.versions)
        seen: set[str] = set()
        for node in self.graph_def.node:
            if not _NODE_NAME.match(node.name):
                raise ValueError(f"Node '{node.name}': Node name contains invalid characters")
            if node.name in seen:
                raise ValueError(f"Node '{node.name}' is not unique")
            seen.add(node.name)
            if not node.op:
                raise ValueError(f"Node '{node.name}' does not specify an operation")
            controls = [text.startswith("^") for text in node.input]
            if controls != sorted(controls):
                raise ValueError(
                    f"Node '{node.name}': Control dependencies must come after regular dependencies"
                )
        self.check_inputs()

    def check_inputs(self) -> None:
        """Raises ValueError for an input that comes from nowhere."""
        for node in self.graph_def.node:
            for text in node.input:
                key = parse_input(text)
                if key not in self.mapped and key[0] not in self.nodes:
                    raise ValueError(f"Node '{node.name}': Unknown input node '{text}'")

    def in_order(self) -> list[Any]:
        """The nodes such that inputs come first; the loops' back edges are not waited for."""
        nodes = self.graph_def.node
        index = {node.name: i for i, node in enumerate(nodes)}
        waiting = [0] * len(nodes)
        readers: list[list[int]] = [[] for _ in nodes]
        for i, node in enumerate(nodes):
            for text in node.input:
                key = parse_input(text)
                if key in self.mapped or self.is_back_edge(node, key[0]):
                    continue
                readers[index[key[0]]].append(i)
                waiting[i] += 1
            if node.op in _BACK_EDGES and not waiting[i] and not self.has_mapped(node):
                waiting[i] = 1  # Nothing enters this loop.
        ready = [i for i, count in enumerate(waiting) if not count]
        order = []
        while ready:
            i = heapq.heappop(ready)
            order.append(nodes[i])
            for reader in readers[i]:
                waiting[reader] -= 1
                if not waiting[reader]:
                    heapq.heappush(ready, reader)
        if len(order) < len(nodes):
            raise ValueError(f"{len(nodes) - len(order)} nodes in a cycle")
        return order

    def has_mapped(self, node: Any) -> bool:
        """Whether an input of a node comes from the graph."""
        return any(parse_input(text) in self.mapped for text in node.input)

    def is_back_edge(self, node: Any, source: str) -> bool:
        """Whether an edge closes a loop: only those from NextIteration to Merge may."""
        return node.op in _BACK_EDGES and self.nodes[source].op.endswith("NextIteration")

    # One node

    def make(self, node: Any) -> None:
        """Adds one node to the graph."""
        definition = find_definition(node.op, self.graph._functions)
        inputs, controls = self.inputs_of(node)
        self.check_colocation(node)
        full = protos.NodeDef()
        full.CopyFrom(node)
        full.name = self.unique(node.name)
        add_defaults(full, definition)
        values, types = check_node(full, definition)
        back = [(i, key) for i, key in enumerate(inputs) if not isinstance(key, Tensor)]
        if back:
            # The input that is there stands for the one from the next iteration until that is made.
            present = next(tensor for tensor in inputs if isinstance(tensor, Tensor))
            inputs = [tensor if isinstance(tensor, Tensor) else present for tensor in inputs]
        for i, (tensor, kind) in enumerate(zip(inputs, types)):
            if tensor._dtype is not kind:
                _check_type(full.name, i, tensor, kind)
        operation = self.create(full, definition, values, inputs, types)
        self.made[node.name] = operation
        if back:
            # The shape of the first iteration may not be that of the others.
            operation.outputs[0]._shape_val = unknown_shape()
            self.back_edges.extend((operation, i, key) for i, key in back)
        operation._add_control_inputs(controls)
        self.apply_shapes(full, operation)

    def inputs_of(self, node: Any) -> tuple[list[Any], list[Operation]]:
        """Data inputs (a key where the source is still to come) and control inputs."""
        inputs: list[Any] = []
        controls: list[Operation] = []
        for text in node.input:
            key = name, index = parse_input(text)
            source: Any
            if key in self.mapped:
                self.used.add(key)
                source = self.mapped[key]
            elif name not in self.made:
                source = key
            elif index == CONTROL:
                source = self.made[name]
            else:
                source = self.output(node.name, self.made[name], name, index)
            if index == CONTROL:
                controls.append(source)
            else:
                inputs.append(source)
        return inputs, controls

    def output(self, reader: str, operation: Operation, name: str, index: int) -> Tensor:
        """An output of a node that was made."""
        if index < len(operation.outputs):
            return operation.outputs[index]
        raise ValueError(
            f"Node '{reader}': Connecting to invalid output {index} of source node {name} which "
            f"has {len(operation.outputs)} outputs."
        )

    def check_colocation(self, node: Any) -> None:
        """The nodes that a node wants to share a device with must be part of the import."""
        for other in _colocated(node):
            if other not in self.nodes:
                raise ValueError(
                    f"Node '{node.name}' expects to be colocated with unknown node '{other}'"
                )

    def unique(self, name: str) -> str:
        """The name in the graph: prefixed, or numbered when the graph has it already."""
        name = self.prefix + name
        if name not in self.existing:
            return name
        count = 1
        # A later node of the import may have the numbered name for its own.
        while f"{name}_{count}" in self.existing or f"{name}_{count}" in self.coming:
            count += 1
        return f"{name}_{count}"

    def create(
        self,
        node: Any,
        definition: registry.OpDef,
        values: dict[str, Any],
        inputs: list[Tensor],
        types: list[dtypes.DType],
    ) -> Operation:
        """Makes the operation; its device is set once all nodes exist."""
        kinds = {attr.name: attr.type for attr in definition.attrs}
        attrs = {}
        for name, value in node.attr.items():
            if name != "_output_shapes":
                known = values.get(name)
                attrs[name] = from_proto(value, kinds.get(name)) if known is None else known
        if self.permitted is not None:
            trust.mark(attrs, definition, node.name, self.permitted)
        try:
            operation = self.graph._create(
                definition,
                node.name + "/",
                inputs,
                attrs,
                types,
                compute_device=False,
                in_context=False,
            )
        except TypeError as error:
            raise ValueError(str(error)) from error
        key = node.name.lower()
        if key not in self.graph._names_in_use:
            self.graph._names_in_use[key] = 1
            self.added_names.append(key)
        if node.op == "Const":
            tensor = node.attr["value"].tensor
            # The constant is written again as it was read, element for element or as bytes.
            operation._explicit_elements = listed_elements(tensor)
            operation._raw_elements = bool(tensor.tensor_content)
        if node.HasField("experimental_debug_info"):
            operation._debug_info = node.experimental_debug_info
        return operation

    def apply_shapes(self, node: Any, operation: Operation) -> None:
        """Refines the static shapes by the `_output_shapes` of the graph def."""
        if "_output_shapes" not in node.attr or not node.attr["_output_shapes"].HasField("list"):
            return
        shapes = node.attr["_output_shapes"].list.shape
        if len(shapes) < len(operation.outputs):
            raise ValueError(
                f"Node '{node.name}' has {len(operation.outputs)} outputs but the _output_shapes "
                f"attribute specifies shapes for {len(shapes)} outputs"
            )
        for i, (output, shape) in enumerate(zip(operation.outputs, shapes)):
            try:
                output.set_shape(shape_from_proto(shape))
            except ValueError as error:
                if node.op not in _SHAPES_IGNORED:
                    raise ValueError(
                        f"Node '{node.name}' has an _output_shapes attribute inconsistent with "
                        f"the GraphDef for output #{i}: {error}"
                    ) from None

    def connect(self, operation: Operation, index: int, tensor: Tensor) -> None:
        """Closes a loop."""
        _check_type(operation.name, index, tensor, operation._input_types_val[index])
        operation._update_input(index, tensor)

    # Once all nodes exist

    def place(self) -> None:
        """Sets devices: through the surrounding scopes, or that of a colocated node."""
        names = {old: operation.name for old, operation in self.made.items()}
        # The surrounding colocation has taken the place of the nodes' own.
        is_colocated = bool(self.graph._colocation_stack.entries)
        for old, operation in self.made.items():
            node = self.nodes[old]
            others = [names[other] for other in _colocated(node) if other != old]
            if isinstance(operation._attrs.get("_class"), list) and not is_colocated:
                operation._attrs["_class"] = [
                    _renamed(group, names) for group in operation._attrs["_class"]
                ]
            if not others:
                with self.graph.device(node.device) if node.device else nullcontext():
                    apply_device_functions(self.graph, operation)
        for old, operation in self.made.items():
            for other in _colocated(self.nodes[old]):
                device = self.made[other].device
                if other != old and device:
                    operation._set_device(device)
                    break

    def lower_versions(self) -> None:
        """The graph can only be as new as the oldest part of it."""
        versions = self.graph_def.versions
        graph = self.graph
        graph._producer = min(graph._producer, versions.producer)
        graph._min_consumer = max(graph._min_consumer, versions.min_consumer)

    def is_missing(self, name: str, index: int) -> bool:
        """Whether a key of the input map names nothing in the graph def."""
        if (name, index) in self.used:
            return False
        return name not in self.made or index >= len(self.made[name].outputs)

    def element(self, name: str) -> Any:
        """The imported operation or tensor of that name."""
        if ":" not in name:
            if name not in self.made:
                raise ValueError(f"Requested return node '{name}' not found in graph def")
            return self.made[name]
        node, index = parse_tensor_name(name)
        if (node, index) in self.mapped:
            return self.mapped[node, index]
        if node not in self.made:
            raise ValueError(f"Requested return tensor '{name}' not found in graph def")
        outputs = self.made[node].outputs
        if index >= len(outputs):
            raise ValueError(
                f"Invalid return output {index} of node '{node}', which has {len(outputs)} "
                "output(s)"
            )
        return outputs[index]

    def undo(self) -> None:
        """Takes the nodes out of the graph again."""
        graph = self.graph
        # Backwards: the latest of the readers of a tensor is found at once.
        for operation in reversed(self.made.values()):
            graph._nodes_by_id.pop(operation._id, None)
            graph._nodes_by_name.pop(operation.name, None)
            for tensor in operation._inputs_val:
                _remove_last(tensor._consumers, operation)
            for other in operation._control_inputs_val:
                _remove_last(other._control_outputs_val, operation)
        for name in self.added_names:
            graph._names_in_use.pop(name, None)


def _remove_last(items: list[Operation], item: Operation) -> None:
    """Removes the last occurrence."""
    for i in range(len(items) - 1, -1, -1):
        if items[i] is item:
            del items[i]
            return


def _names_and_prefixes(names: Any) -> set[str]:
    """Names and the scopes that they lie in: neither may be given again."""
    result = set()
    for name in names:
        result.add(name)
        position = name.find("/")
        while position >= 0:
            result.add(name[:position])
            position = name.find("/", position + 1)
    return result


def _check_versions(versions: Any) -> None:
    if versions.producer < GRAPH_DEF_VERSION_MIN_PRODUCER:
        raise ValueError(
            f"GraphDef producer version {versions.producer} below min producer "
            f"{GRAPH_DEF_VERSION_MIN_PRODUCER} supported by TensorFlow {VERSION}.  "
            "Please regenerate your graph."
        )
    if versions.min_consumer > GRAPH_DEF_VERSION:
        raise ValueError(
            f"GraphDef min consumer version {versions.min_consumer} above current version "
            f"{GRAPH_DEF_VERSION} for TensorFlow {VERSION}.  Please upgrade TensorFlow."
        )
    if GRAPH_DEF_VERSION in versions.bad_consumers:
        raise ValueError(
            f"GraphDef disallows consumer version {GRAPH_DEF_VERSION}.  Please upgrade "
            "TensorFlow: this version is likely buggy."
        )


def _check_type(name: str, index: int, tensor: Tensor, kind: dtypes.DType) -> None:
    if tensor.dtype != kind and tensor.dtype.base_dtype != kind:
        raise ValueError(
            f"Input {index} of node {name} was passed {runtime_name(tensor.dtype)} from "
            f"{tensor.name} incompatible with expected {runtime_name(kind)}."
        )


def _colocated(node: Any) -> list[str]:
    """The nodes that a NodeDef wants to share a device with."""
    if "_class" not in node.attr:
        return []
    return [
        # What is no text names no node.
        group.removeprefix(_TOGETHER).decode(errors="replace")
        for group in node.attr["_class"].list.s
        if group.startswith(_TOGETHER)
    ]


def _renamed(group: bytes | str, names: dict[str, str]) -> Any:
    if not isinstance(group, bytes) or not group.startswith(_TOGETHER):
        return group
    return _TOGETHER + names[group.removeprefix(_TOGETHER).decode()].encode()
