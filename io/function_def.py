# SPDX-License-Identifier: Apache-2.0
"""Functions of a graph's library: their messages, signatures as op definitions, and bodies.

The message is kept as it was read, so that a graph is written with the functions it came with;
a body is built from it when a call of the function is to run (engine/calls.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..engine import dtypes, errors, registry
from ..engine.calls import Body, Expander
from ..engine.graph import Graph
from ..engine.operation import Operation
from ..engine.shape import unknown_shape
from ..engine.tensor import Tensor
from . import protos


class Function:
    """A function that a graph may call, in the place of an op type or by a function attribute."""

    def __init__(
        self, definition: Any, functions: Mapping[str, Any], grad_func_name: str | None = None
    ) -> None:
        """definition: the FunctionDef; functions: the library that the function may call."""
        self.definition = definition
        self.name: str = definition.signature.name
        self.grad_func_name = grad_func_name
        self.python_grad_func = None
        self._functions = functions
        self._op_definition: registry.OpDef | None = None
        self._bodies: dict[Any, Body] = {}

    @property
    def signature(self) -> Any:
        """The OpDef message."""
        return self.definition.signature

    @property
    def op_definition(self) -> registry.OpDef:
        """What makes the function's name an op type of its graph."""
        if self._op_definition is None:
            self._op_definition = _op_definition(self)
        return self._op_definition

    def body(self, attrs: Mapping[str, Any]) -> Body:
        """The function's operations, in a graph of their own.

        `attrs` are the AttrValues that a call gives to the attributes of the signature.
        """
        given = {attr.name: attrs[attr.name] for attr in self.signature.attr if attr.name in attrs}
        key = tuple((name, value.SerializeToString()) for name, value in sorted(given.items()))
        if key not in self._bodies:
            self._bodies[key] = _body(self.definition, given, self._functions)
        return self._bodies[key]


def add_functions(graph: Graph, library: Any) -> None:
    """Adds the functions of a FunctionDefLibrary to a graph.

    Raises:
      InvalidArgumentError: The graph has another function of the same name.
    """
    gradients = {entry.function_name: entry.gradient_func for entry in library.gradient}
    for definition in library.function:
        name = definition.signature.name
        known = graph._functions.get(name)
        if known is None:
            copy = protos.FunctionDef()
            copy.CopyFrom(definition)
            graph._functions[name] = Function(copy, graph._functions, gradients.get(name))
        elif known.definition != definition:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Cannot add function '{name}' because a different function with the same name "
                "already exists.",
            )
    if library.function:
        # Programs before that version know no functions.
        graph._min_consumer = max(graph._min_consumer, 12)


def _op_definition(function: Function) -> registry.OpDef:
    signature = function.signature

    def expand(
        x: Expander, op: Operation, inputs: list[Tensor]
    ) -> tuple[list[Tensor], list[Operation]]:
        return x.call(op, protos.NameAttrList(name=function.name, attr=op.node_def.attr), inputs)

    return registry.OpDef(
        signature.name,
        tuple(map(_argument, signature.input_arg)),
        tuple(map(_argument, signature.output_arg)),
        tuple(map(_attribute, signature.attr)),
        shape=lambda c: [unknown_shape() for _ in signature.output_arg],
        gradient=registry.NoGradient(
            f"the gradient of function {signature.name} is not known", silent=False
        ),
        stateful=signature.is_stateful,
        expand=expand,
        doc=signature.description,
    )


def _argument(message: Any) -> registry.Arg:
    return registry.Arg(
        message.name,
        dtype=dtypes.as_dtype(message.type) if message.type else None,
        type_attr=message.type_attr or None,
        type_list_attr=message.type_list_attr or None,
        number_attr=message.number_attr or None,
        is_ref=message.is_ref,
    )


def _attribute(message: Any) -> registry.Attr:
    return registry.Attr(message.name, message.type)


def _body(definition: Any, attrs: Mapping[str, Any], functions: Mapping[str, Any]) -> Body:
    from .graph_import import import_graph_def

    graph = Graph()
    graph._functions = functions  # type: ignore[assignment]
    signature = definition.signature
    try:
        message, flat = graph_def_of(definition, attrs, functions)
        with graph.as_default():
            import_graph_def(message, name="")
    except (ValueError, errors.OpError) as error:
        raise errors.UnimplementedError(
            None, None, f"Function {signature.name} cannot run here: {error}"
        ) from error

    def tensor(name: str) -> Tensor:
        return graph.get_tensor_by_name(flat[name])

    parameters = [tensor(argument.name) for argument in signature.input_arg]
    results = [tensor(definition.ret[argument.name]) for argument in signature.output_arg]
    operations = [op for op in graph.get_operations() if op not in {p.op for p in parameters}]
    wanted = set(definition.control_ret.values())
    effects = [op for op in operations if op.name in wanted or op.definition.stateful]
    return Body(operations, parameters, results, effects)


def graph_def_of(
    definition: Any, attrs: Mapping[str, Any], functions: Mapping[str, Any]
) -> tuple[Any, dict[str, str]]:
    """A FunctionDef as a GraphDef with a placeholder for each parameter.

    The second result tells the name in the graph ("node:1") of what the function calls "node:y:0".
    """
    message = protos.GraphDef()
    message.versions.producer = Graph()._producer
    flat: dict[str, str] = {}
    for i, argument in enumerate(definition.signature.input_arg):
        node = message.node.add(name=argument.name, op="Placeholder")
        kind = attrs[argument.type_attr].type if argument.type_attr else argument.type
        node.attr["dtype"].type = kind
        for key, value in definition.arg_attr[i].attr.items():
            if key.startswith("_") and key != "_output_shapes":
                node.attr[key].CopyFrom(value)
        flat[argument.name] = f"{argument.name}:0"
    for original in definition.node_def:
        node = message.node.add()
        node.CopyFrom(original)
        for value in node.attr.values():
            _bind(value, attrs)
        position = 0
        for argument in _definition(node.op, functions).outputs:
            for i in range(_length(argument, node)):
                flat[f"{node.name}:{argument.name}:{i}"] = f"{node.name}:{position}"
                position += 1
    for node in message.node:
        node.input[:] = [text if text.startswith("^") else flat[text] for text in node.input]
    return message, flat


def _bind(value: Any, attrs: Mapping[str, Any]) -> None:
    """Puts the attributes of a call in place of their names, "$T"."""
    if value.WhichOneof("value") == "placeholder" and value.placeholder in attrs:
        value.CopyFrom(attrs[value.placeholder])


def _definition(op_type: str, functions: Mapping[str, Any]) -> registry.OpDef:
    from .node_check import find_definition

    return find_definition(op_type, functions)


def _length(argument: registry.Arg, node: Any) -> int:
    if argument.number_attr:
        return node.attr[argument.number_attr].i
    if argument.type_list_attr:
        return len(node.attr[argument.type_list_attr].list.type)
    return 1
