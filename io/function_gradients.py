# SPDX-License-Identifier: Apache-2.0
"""Gradients of functions of a graph's library, as further functions of the library."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

from ..engine.graph.graph import Graph
from ..engine.session.function_inlining import attributes
from . import protos
from .function_def import Function
from .function_writing import graph_to_function_def


def gradient_function(graph: Graph, called: Any) -> Any:
    """The function that is the gradient of another one, which is added to the library.

    Its parameters are those of the function and a gradient for each of the results; its results
    are gradients of the parameters, zeros where there is no influence.

    Args:
        graph: what has the functions.
        called: the NameAttrList of the function.

    Returns:
        A NameAttrList.

    Raises:
        LookupError: there is no such function, or it draws random numbers: a gradient computes
            anew what it needs of the function, and would draw others.
    """
    function = graph._get_function(called.name)
    if function is None:
        raise LookupError(f"The function {called.name} is not defined")
    if function.grad_func_name:
        return protos.NameAttrList(name=function.grad_func_name)
    for node in _nodes(graph, called.name, set()):
        if {"seed", "seed2"} <= set(node.attr):
            raise LookupError(
                f"The gradient of function {called.name} would draw the random numbers of its "
                f"node '{node.name}' ({node.op}) anew, and get others"
            )
    attrs = attributes(called)
    name = f"{called.name}_gradient{_suffix(attrs)}"
    if not graph._is_function(name):
        body = function.gradient_body(attrs)
        names = [f"gradient_{i}" for i in range(len(body.results))]
        definition = graph_to_function_def(
            None, body.operations, body.parameters, body.results, names, name
        )
        graph._add_function(Function(definition, graph._functions))
    return protos.NameAttrList(name=name)


def _suffix(attrs: Any) -> str:
    """What tells apart the gradients of one function for other types."""
    if not attrs:
        return ""
    parts = [key.encode() + attrs[key].SerializeToString() for key in sorted(attrs)]
    return f"_{hashlib.sha256(b''.join(parts)).hexdigest()[:12]}"


def _nodes(graph: Graph, name: str, seen: set[str]) -> Iterator[Any]:
    """The nodes of a function, and of those that it calls."""
    function = graph._get_function(name)
    if function is None or name in seen:
        return
    seen.add(name)
    yield from function.definition.node_def
    for called in function.calls:
        for other in called:
            yield from _nodes(graph, other, seen)
