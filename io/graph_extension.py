# SPDX-License-Identifier: Apache-2.0
"""Adds the nodes of a GraphDef to a graph under their own names, as servers do.

Unlike in `tf.import_graph_def`, nodes may take what the graph has already, and their names may be
those that TensorFlow's runtime gives to nodes of its own ("_send_y_0").
"""

from __future__ import annotations

import re
from typing import Any

from ..engine import errors, gc_pause
from ..engine.graph.graph import Graph
from ..engine.graph.operation import Operation
from . import protos
from .graph_import import _Import
from .import_arguments import CONTROL

_TOGETHER = "_class"


class RuntimeGraph(Graph):
    """A graph whose nodes may have the names that a runtime gives: "_send_y_0"."""

    _node_name = re.compile(r"[A-Za-z0-9_.][A-Za-z0-9_.\\\-/>]*\Z")


def extend_graph(graph: Graph, graph_def: Any) -> None:
    """Adds all nodes and functions; InvalidArgumentError, and nothing added, where one is wrong."""
    work = _Extension(graph, graph_def)
    with graph._lock, gc_pause.held_up():
        functions = set(graph._functions)
        try:
            work.run()
        except BaseException as error:
            work.undo()
            for name in set(graph._functions) - functions:
                del graph._functions[name]
            if isinstance(error, (ValueError, TypeError)):
                raise errors.invalid(str(error)) from error
            raise


class _Extension(_Import):
    """One addition of nodes to a graph."""

    def __init__(self, graph: Graph, graph_def: Any) -> None:
        message = protos.GraphDef()
        message.CopyFrom(graph_def)
        # Colocation is stated of nodes that are elsewhere, too: it is put back at the end.
        self.together: dict[str, list[bytes]] = {}
        for node in message.node:
            if _TOGETHER in node.attr:
                self.together[node.name] = list(node.attr[_TOGETHER].list.s)
                del node.attr[_TOGETHER]
        super().__init__(graph, message, "", {}, [])
        coming = self.nodes
        for name in {text.lstrip("^") for node in message.node for text in node.input}:
            base = name.partition(":")[0]
            found = graph._nodes_by_name.get(base)
            if found is not None and base not in coming:
                self._offer(found)

    def _offer(self, operation: Operation) -> None:
        """Lets nodes take what an operation of the graph gives."""
        self.mapped[operation.name, CONTROL] = operation
        for i, output in enumerate(operation.outputs):
            self.mapped[operation.name, i] = output

    def run(self) -> list[Any]:
        """Makes all nodes."""
        result = super().run()
        for name, together in self.together.items():
            self.made[name]._attrs[_TOGETHER] = together
        return result

    def check(self) -> None:
        """Raises ValueError for a name that is taken or an input that is nowhere."""
        seen: set[str] = set()
        for node in self.graph_def.node:
            if node.name in seen or node.name in self.graph._nodes_by_name:
                raise ValueError(f"Node '{node.name}' is not unique")
            seen.add(node.name)
        self.check_inputs()

    def is_missing(self, name: str, index: int) -> bool:
        """Nothing that is offered has to be taken."""
        return False
