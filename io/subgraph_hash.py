# SPDX-License-Identifier: Apache-2.0
"""The number that TensorFlow 1.15 tells the graphs of datasets apart by.

It does not depend on the names of nodes and functions, nor on their order; snapshots of datasets
lie in folders of this name.
"""

from __future__ import annotations

from typing import Any

from . import protos
from .function_hash import combined, hash64, message_hash, signature_hash

_MASK = (1 << 64) - 1


def subgraph_hash(graph_def: Any, node: str) -> int:
    """The hash of a node of a GraphDef and of all that it depends on.

    As TensorFlow's, but for nodes of one name in several functions: there the second counts as the
    first, so that pipelines which differ in it alone have the same hash.
    """
    library = {f.signature.name: f for f in graph_def.library.function}
    nodes = {each.name: each for each in graph_def.node}
    return _Nodes(nodes, _Functions(library)).hash_of(node)


class _Functions:
    """The hashes of the functions of a library, as far as they are known."""

    def __init__(self, library: dict[str, Any]) -> None:
        self._library = library
        self._known: dict[str, int] = {}
        # What is being hashed; a function that calls itself counts by its signature there.
        self._open: set[str] = set()

    def attrs(self, attrs: Any) -> int:
        """The hash of attributes, whatever their order."""
        return sum(self._attr(key, value) for key, value in attrs.items()) & _MASK

    def _attr(self, key: str, value: Any) -> int:
        if value.WhichOneof("value") != "func":
            number = message_hash(value)
        elif value.func.name in self._library:
            number = self._function(value.func.name)
        else:
            return 0
        return hash64(f"{key}={number}".encode())

    def _function(self, name: str) -> int:
        definition = self._library[name]
        signature = _signature(definition.signature)
        if name in self._open:
            self._known[name] = combined(hash64(b"DependencyLoopFn"), signature)
        if name not in self._known:
            self._open.add(name)
            found = self._of_definition(definition, signature)
            self._open.discard(name)
            self._known[name] = found
        return self._known[name]

    def _of_definition(self, definition: Any, signature: int) -> int:
        of_arguments = 0
        for i, attrs in definition.arg_attr.items():
            each = (self._attr(*item) for item in attrs.attr.items())
            of_arguments = of_arguments + sum(combined(i, number) for number in each) & _MASK
        nodes = {node.name: node for node in definition.node_def}
        for argument in definition.signature.input_arg:
            nodes[argument.name] = protos.NodeDef(name=argument.name, op="_Retval")
        body = _Nodes(nodes, self)
        head = combined(combined(signature, self.attrs(definition.attr)), of_arguments)
        return combined(
            head, combined(body.results(definition.ret), body.results(definition.control_ret))
        )


class _Nodes:
    """The hashes of the nodes of a graph or of a function's body."""

    def __init__(self, nodes: dict[str, Any], functions: _Functions) -> None:
        self._nodes, self._functions = nodes, functions
        self._known: dict[str, int] = {}
        self._open: set[str] = set()

    def hash_of(self, name: str) -> int:
        """The hash of a node; one that depends on itself counts by its type there."""
        kind = hash64(self._nodes[name].op.encode())
        if name in self._open:
            self._known[name] = combined(hash64(b"DependencyLoopNode"), kind)
        if name not in self._known:
            self._open.add(name)
            found = self._of_node(self._nodes[name], kind)
            self._open.discard(name)
            self._known[name] = found
        return self._known[name]

    def _of_node(self, node: Any, kind: int) -> int:
        inputs = controls = 0
        for text in node.input:
            if text.startswith("^"):
                controls = controls + self.hash_of(text[1:]) & _MASK
            else:
                inputs = combined(inputs, self._output(text))
        attrs = combined(self._functions.attrs(node.attr), kind)
        rest = combined(hash64(node.device.encode()), combined(inputs, controls))
        return combined(attrs, rest)

    def _output(self, text: str) -> int:
        name, _, port = text.partition(":")
        return combined(self.hash_of(name), hash64(port.encode()))

    def results(self, results: Any) -> int:
        """The hash of what a function returns by names, or has done."""
        total = len(results)
        for name, text in results.items():
            total = total + combined(hash64(name.encode()), self._output(text)) & _MASK
        return total


def _signature(given: Any) -> int:
    """Of an OpDef, without names and texts."""
    signature = type(given)()
    signature.CopyFrom(given)
    for field in ("name", "description", "summary"):
        signature.ClearField(field)
    for argument in (*signature.input_arg, *signature.output_arg):
        argument.ClearField("name")
        argument.ClearField("description")
    return signature_hash(signature)
