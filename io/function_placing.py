# SPDX-License-Identifier: Apache-2.0
"""The functions of a SavedModel as nodes of a graph: a call has the body in its place.

So gradients go through the nodes themselves, also to variables, and shapes are those of the call.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ..engine import errors
from ..engine.graph.graph import get_default_graph
from ..engine.graph.operation import Operation
from ..engine.graph.scope_functions import control_dependencies
from ..engine.graph.tensor import Tensor
from . import protos
from .function_def import Function, graph_def_of, marked
from .graph_import import import_graph_def

_CALLS = ("PartitionedCall", "StatefulPartitionedCall")
# Nodes of one function with all that it calls, at most: functions of some lines can mean billions.
_MOST_NODES = 1 << 20


class FlatFunction(NamedTuple):
    """A function without calls: nodes, and the names of parameters, results and effects."""

    graph_def: Any
    parameters: list[str]
    results: list[str]
    effects: list[str]
    # The functions that its branches and loops call.
    functions: list[Any]


class _Flattening:
    """Collects the nodes of a function, and of those that it calls under the calls' names."""

    def __init__(self, library: Mapping[str, Any], is_implied: bool) -> None:
        """is_implied: whether all effects are the function's where it states none."""
        self.library = library
        self._is_implied = is_implied
        self.nodes: list[Any] = []
        # Results of calls and arguments -> what they are; calls -> their effects.
        self.renamed: dict[str, str] = {}
        self.effects: dict[str, list[str]] = {}
        self._active: list[str] = []

    def add(
        self, name: str, attrs: Mapping[str, Any], prefix: str, inputs: Sequence[str]
    ) -> tuple[list[str], list[str]]:
        """Adds a function's nodes; the names of its results and effects."""
        if name in self._active:
            raise ValueError(
                f"There is a cyclic-dependency between functions. Could not resolve {name!r}."
            )
        self._active.append(name)
        definition = self.library[name].definition
        signature = definition.signature
        message, flat = graph_def_of(definition, attrs, self.library)
        names = {argument.name for argument in signature.input_arg}
        for argument, given in zip(signature.input_arg, inputs, strict=True):
            self.renamed[f"{prefix}{argument.name}:0"] = given
        body = [node for node in message.node if node.name not in names]
        for node in body:
            self._add_node(node, prefix)
        if len(self.nodes) > _MOST_NODES:
            raise errors.invalid(
                f"Function {name} has more than {_MOST_NODES} nodes with its calls"
            )
        wanted = list(definition.control_ret.values())
        if not wanted and signature.is_stateful and (self._is_implied or len(self._active) > 1):
            wanted = _effects(body, self.library)
        self._active.pop()
        results = [prefix + flat[definition.ret[arg.name]] for arg in signature.output_arg]
        return results, [prefix + effect for effect in wanted]

    def _add_node(self, node: Any, prefix: str) -> None:
        node.name = prefix + node.name
        node.input[:] = [
            f"^{prefix}{text[1:]}" if text.startswith("^") else prefix + text for text in node.input
        ]
        node.attr.pop("_gradient_op_type", None)
        node.attr.pop("_class", None)
        called = _called(node, self.library)
        if called is None:
            self.nodes.append(node)
            return
        data = [text for text in node.input if not text.startswith("^")]
        controls = [text for text in node.input if text.startswith("^")]
        first = len(self.nodes)
        results, effects = self.add(called[0], called[1], f"{node.name}/", data)
        for i, result in enumerate(results):
            self.renamed[f"{node.name}:{i}"] = result
        self.effects[node.name] = effects or [_node_of(result) for result in results]
        for inner in self.nodes[first:]:
            # What changes or reads state waits for what the call waits for.
            if _is_stateful(inner.op, self.library):
                inner.input.extend(controls)

    def resolved(self, text: str) -> str:
        """A tensor that is neither an argument nor the result of a call."""
        while text in self.renamed:
            text = self.renamed[text]
        return text

    def resolved_effects(self, names: Iterable[str]) -> list[str]:
        """Operations that are no calls."""
        found: dict[str, None] = {}
        pending = list(names)
        while pending:
            name = pending.pop()
            if name in self.effects:
                pending += self.effects[name]
            else:
                found[_node_of(self.resolved(f"{name}:0"))] = None
        return list(found)


def _effects(body: Sequence[Any], library: Mapping[str, Any]) -> list[str]:
    """The nodes with effects; for those within a loop of TensorFlow 1, where it is left."""
    users: dict[str, list[Any]] = {}
    for node in body:
        for text in node.input:
            users.setdefault(text.lstrip("^").partition(":")[0], []).append(node)
    within, left = set[str](), set[str]()
    pending = [node for node in body if node.op in ("Enter", "RefEnter")]
    while pending:
        node = pending.pop()
        if node.op in ("Exit", "RefExit"):
            left.add(node.name)
        elif node.name not in within:
            within.add(node.name)
            pending += users.get(node.name, ())
    found = [node.name for node in body if _is_stateful(node.op, library)]
    outside = [name for name in found if name not in within]
    return outside if len(outside) == len(found) else [*outside, *sorted(left)]


def _node_of(tensor: str) -> str:
    return tensor.rpartition(":")[0]


def _is_stateful(op_type: str, library: Mapping[str, Any]) -> bool:
    from .node_check import find_definition

    return find_definition(op_type, library).is_stateful


def _called(node: Any, library: Mapping[str, Any]) -> tuple[str, Any] | None:
    if node.op in library:
        return node.op, node.attr
    if node.op in _CALLS:
        return node.attr["f"].func.name, node.attr["f"].func.attr
    return None


def flattened(
    name: str, library: Mapping[str, Any], effects_are_stated: bool = False
) -> FlatFunction:
    """A function of a library without the calls in it.

    effects_are_stated: whether only what the function states must run besides its results.

    Raises:
        ValueError: functions call one another in a circle.
        InvalidArgumentError: it has too many nodes.
    """
    work = _Flattening(library, not effects_are_stated)
    signature = library[name].definition.signature
    # A name that no node has.
    parameters = [f"__argument_{i}" for i in range(len(signature.input_arg))]
    results, effects = work.add(name, {}, "", [f"{parameter}:0" for parameter in parameters])
    message = protos.GraphDef()
    message.versions.producer = get_default_graph()._producer
    given = set(parameters)
    for node in work.nodes:
        data = [work.resolved(text) for text in node.input if not text.startswith("^")]
        waits = work.resolved_effects(text[1:] for text in node.input if text.startswith("^"))
        node.input[:] = [*data, *(f"^{wait}" for wait in sorted(waits) if wait not in given)]
        message.node.append(node)
    return FlatFunction(
        message,
        [f"{parameter}:0" for parameter in parameters],
        [work.resolved(result) for result in results],
        [effect for effect in work.resolved_effects(effects) if effect not in given],
        _functions_of(work.nodes, library),
    )


def _functions_of(nodes: Iterable[Any], library: Mapping[str, Any]) -> list[Any]:
    found: dict[str, Any] = {}
    pending = list(nodes)
    while pending:
        node = pending.pop()
        for value in node.attr.values():
            for called in (value.func, *value.list.func):
                if called.name and called.name not in found:
                    found[called.name] = library[called.name]
                    pending += library[called.name].definition.node_def
    return list(found.values())


def placed(
    function: FlatFunction, inputs: Sequence[Tensor], name: str
) -> tuple[list[Tensor], list[Operation]]:
    """Adds a function's nodes to the default graph: its results, behind its effects, and these."""
    from ..ops.public import tf

    graph = get_default_graph()
    for called in function.functions:
        graph._add_function(called)
    used = {text for node in function.graph_def.node for text in node.input}
    used |= set(function.results)
    given = dict(zip(function.parameters, inputs, strict=True))
    inner = [result for result in function.results if result not in given]
    found = import_graph_def(
        function.graph_def,
        input_map={parameter: tensor for parameter, tensor in given.items() if parameter in used},
        return_elements=[*inner, *function.effects],
        name=name,
    )
    assert found is not None
    made = dict(zip(inner, found))
    effects = [op for op in found[len(inner) :] if isinstance(op, Operation)]
    results: list[Any] = [made.get(result, given.get(result)) for result in function.results]
    with control_dependencies(effects):
        return [tf.identity(result) for result in results], effects


def renamed_library(
    library: Any, suffix: str, new_name: Callable[[str], str]
) -> dict[str, tuple[str, Any]]:
    """The functions of a FunctionDefLibrary under new names: old name -> (new name, Function).

    suffix: what is added to the names by which nodes share resources: those of one load share.
    """
    names = {d.signature.name: new_name(clean_name(d.signature.name)) for d in library.function}
    known: dict[str, Any] = {}
    for definition in library.function:
        copy = marked(definition)
        copy.signature.name = names[definition.signature.name]
        for node in copy.node_def:
            fix_node(node, names, suffix)
        known[copy.signature.name] = Function(copy, known)
    return {old: (new, known[new]) for old, new in names.items()}


def fix_node(node: Any, names: Mapping[str, str], suffix: str) -> None:
    """Gives a node the new names of functions, and of what it shares with other nodes."""
    node.op = names.get(node.op, node.op)
    for value in node.attr.values():
        for called in (value.func, *value.list.func) if value.WhichOneof("value") else ():
            if called.name:
                called.name = names.get(called.name, called.name)
    if node.op == "HashTableV2" and not node.attr["use_node_name_sharing"].b:
        node.attr["use_node_name_sharing"].b = True
    if "shared_name" in node.attr:
        shared = node.attr["shared_name"].s or node.name.encode()
        node.attr["shared_name"].s = shared + suffix.encode()


def clean_name(name: str) -> str:
    """A function's name without what made it unique."""
    found = re.match(r"^__inference_(.*)_\d+$", name)
    return found.group(1) if found else name
