# SPDX-License-Identifier: Apache-2.0
"""Functions of a graph's library: their messages, signatures as op definitions, and bodies.

The message is kept as it was read, so that a graph is written with the functions it came with;
a body is built from it when a call of the function is to run (engine/session/function_inlining.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..engine import errors
from ..engine.graph import registry, trust
from ..engine.graph.graph import Graph
from ..engine.graph.operation import Frame, Operation
from ..engine.graph.tensor import Tensor
from ..engine.session.function_inlining import Body, Inliner
from ..engine.trampoline import Steps
from ..engine.types.nest import as_list
from ..engine.types.shape import TensorShape, unknown_shape
from . import protos, signatures
from .attributes import KINDS
from .claims import stored_type
from .node_check import MOST_OUTPUTS
from .signatures import argument_of, attribute_of


class Function:
    """A function that a graph may call, in the place of an op type or by a function attribute."""

    def __init__(
        self,
        definition: Any,
        functions: Mapping[str, Any],
        grad_func_name: str | None = None,
        python_grad_func: Callable[..., Any] | None = None,
        frames: Mapping[str, Frame] | None = None,
        stated: Sequence[Tensor] = (),
    ) -> None:
        """definition: the FunctionDef; functions: the library that the function may call.
        stated: tensors of the graph that it was made of whose shapes the program stated, which is
        no part of a FunctionDef.

        The gradient is another function of the library, a Python function, or what follows from
        the body.  `frames` tells where the program made the nodes, by their names.
        """
        self.definition = definition
        self.grad_func_name = grad_func_name
        self.python_grad_func = python_grad_func
        self.frames = {} if frames is None else frames
        self._functions = functions
        self._stated = [(tensor.op.name, tensor.value_index, tensor.shape) for tensor in stated]
        self._op_definition: registry.OpDef | None = None
        self._bodies: dict[Any, Any] = {}
        self._calls: list[list[str]] | None = None

    @property
    def name(self) -> str:
        """The name in the library."""
        return self.definition.signature.name

    @property
    def signature(self) -> Any:
        """The OpDef message."""
        return self.definition.signature

    @property
    def op_definition(self) -> registry.OpDef:
        """What makes the function's name an op type of its graph."""
        if self._op_definition is None:
            self._op_definition = op_definition_of(self.signature)
        return self._op_definition

    @property
    def calls(self) -> list[list[str]]:
        """For each node of the body, the names of the functions that it calls."""
        if self._calls is None:
            self._calls = [_called(node, self._functions) for node in self.definition.node_def]
        return self._calls

    def body(self, attrs: Mapping[str, Any]) -> Body:
        """The function's operations, in a graph of their own.

        `attrs` are the AttrValues that a call gives to the attributes of the signature.
        """
        return self._made("", attrs, self._stated_body)

    def _stated_body(self, *given: Any) -> Body:
        """The body, with the shapes that the program stated, and where it made the nodes."""
        body = _body(*given)._replace(frames=self.frames)
        stated: dict[str, list[tuple[int, TensorShape]]] = {}
        for name, number, shape in self._stated:
            stated.setdefault(name, []).append((number, shape))
        for op in body.operations:
            for number, shape in stated.get(op.name, ()):
                if op.outputs[number].shape.is_compatible_with(shape):
                    op.outputs[number].set_shape(shape)
        return body

    def gradient_body(self, attrs: Mapping[str, Any]) -> Body:
        """The body of the gradient: its parameters are the function's and its results' gradients.

        The results are the gradients of the parameters, zeros where there is no influence.
        """
        return self._made("gradient", attrs, _gradient_body)

    def made_of_body(
        self, key: object, attrs: Mapping[str, Any], make: Callable[[Body], Any]
    ) -> Any:
        """What is made of the body for a key; made once."""
        return self._made(key, attrs, lambda *_: make(self.body(attrs)))

    def _made(self, kind: object, attrs: Mapping[str, Any], make: Callable[..., Any]) -> Any:
        given = {attr.name: attrs[attr.name] for attr in self.signature.attr if attr.name in attrs}
        key = (kind, *((name, value.SerializeToString()) for name, value in sorted(given.items())))
        if key not in self._bodies:
            self._bodies[key] = make(self.definition, given, self._functions)
        return self._bodies[key]


def add_functions(graph: Graph, library: Any) -> None:
    """Adds the functions of a FunctionDefLibrary to a graph.

    Raises:
      InvalidArgumentError: The graph has another function of the same name.
    """
    gradients = {entry.function_name: entry.gradient_func for entry in library.gradient}
    names = {definition.signature.name for definition in library.function}
    for name in gradients.values():
        if name not in names and name not in graph._functions:
            raise ValueError(f"FunctionDefLibrary missing '{name}' FunctionDef")
    for definition in library.function:
        name = definition.signature.name
        if signatures.find(name) is not None:
            raise ValueError(
                f"Cannot add function '{name}' because an op with the same name already exists."
            )
        known = graph._functions.get(name)
        # The same function may come with each of several graphs.
        if known is None or _without_marks(known.definition) != _without_marks(definition):
            copy = marked(definition)
            graph._add_function(Function(copy, graph._functions, gradients.get(name)))


def marked(definition: object) -> Any:
    """A copy of a FunctionDef, with the marks of nodes from outside while such are imported."""
    copy = protos.FunctionDef()
    copy.CopyFrom(definition)
    permitted = trust.current()
    for node in copy.node_def if permitted is not None else ():
        node.attr[trust.MARK].CopyFrom(protos.AttrValue(list={"s": permitted}))
    return copy


def _without_marks(definition: Any) -> Any:
    """A FunctionDef as it is without such marks."""
    if all(trust.MARK not in node.attr for node in definition.node_def):
        return definition
    copy = protos.FunctionDef()
    copy.CopyFrom(definition)
    for node in copy.node_def:
        node.attr.pop(trust.MARK, None)
    return copy


def op_definition_of(signature: Any) -> registry.OpDef:
    """What makes a function's name an op type, from its OpDef message."""

    _check_signature(signature)

    def expand(x: Inliner, op: Operation, inputs: list[Tensor]) -> Steps:
        return x.call(op, protos.NameAttrList(name=op.type, attr=op.node_def.attr), inputs)

    return registry.OpDef(
        signature.name,
        tuple(map(argument_of, signature.input_arg)),
        tuple(map(argument_of, signature.output_arg)),
        tuple(map(attribute_of, signature.attr)),
        shape=lambda c: [unknown_shape() for _ in signature.output_arg],
        gradient=_call_gradient,
        stateful=signature.is_stateful,
        expand=expand,
        doc=signature.description,
    )


def _check_signature(signature: Any) -> None:
    """Raises InvalidArgumentError for arguments whose types nothing tells."""
    kinds = {attr.name: attr.type for attr in signature.attr}

    def wrong(text: str) -> errors.InvalidArgumentError:
        return errors.invalid(f"The signature of function '{signature.name}' is malformed: {text}")

    for attr in signature.attr:
        if attr.type.removeprefix("list(").removesuffix(")") not in KINDS:
            raise wrong(f"attr '{attr.name}' is of the unknown type '{attr.type}'")
    for argument in (*signature.input_arg, *signature.output_arg):
        given = [
            (argument.type_attr, "type"),
            (argument.number_attr, "int"),
            (argument.type_list_attr, "list(type)"),
        ]
        for name, kind in given:
            if name and kinds.get(name) != kind:
                raise wrong(f"argument '{argument.name}' needs an attr '{name}' of type '{kind}'")
        if not (argument.type or argument.type_attr or argument.type_list_attr):
            raise wrong(f"argument '{argument.name}' has no type")
        if argument.type and stored_type(argument.type) is None:
            raise wrong(f"argument '{argument.name}' is of the unknown type {argument.type}")


def _call_gradient(op: Operation, *grads: Any) -> Any:
    """The gradient of a call by name: the function's own in Python, or a SymbolicGradient node."""
    from ..ops.public import raw, tf

    function = op._called_function or op.graph._get_function(op.type)
    if function is None:
        raise LookupError(f"The function {op.type} that node '{op.name}' calls is not defined")
    if function.python_grad_func is not None:
        return function.python_grad_func(op, *grads)
    given = [
        tf.zeros_like(output) if grad is None else tf.convert_to_tensor(grad)
        for output, grad in zip(op.outputs, grads)
    ]
    called = protos.NameAttrList(name=op.type, attr=op.node_def.attr)
    types = [tensor.dtype.base_dtype for tensor in op.inputs]
    found = raw.SymbolicGradient([*op.inputs, *given], Tout=types, f=called)
    return as_list(found)


def _body(definition: Any, attrs: Mapping[str, Any], functions: Mapping[str, Any]) -> Body:
    from .graph_import import import_graph_def

    graph = Graph()
    graph._functions = functions  # type: ignore[assignment]
    signature = definition.signature
    try:
        message, flat = graph_def_of(definition, attrs, functions)
        # Its nodes have the marks that they came with.
        with graph.as_default(), trust.importing(None):
            import_graph_def(message, name="")
        parameters = [
            graph.get_tensor_by_name(flat[argument.name]) for argument in signature.input_arg
        ]
        results = [
            graph.get_tensor_by_name(_found(definition.ret[argument.name], flat))
            for argument in signature.output_arg
        ]
    except (ValueError, errors.OpError) as error:
        raise errors.unimplemented(f"Function {signature.name} cannot run here: {error}") from error

    # What changes state runs although nothing reads it, as in TensorFlow's functions.
    wanted = set(definition.control_ret.values())
    inner = _without(graph, parameters)
    effects = [op for op in inner if op.name in wanted or op._is_stateful]
    return Body(inner, parameters, results, effects)


def _without(graph: Graph, parameters: list[Tensor]) -> list[Operation]:
    """The operations of a graph but for its parameters."""
    skipped = {tensor.op for tensor in parameters}
    return [op for op in graph.get_operations() if op not in skipped]


def _gradient_body(
    definition: object, attrs: Mapping[str, Any], functions: Mapping[str, Any]
) -> Body:
    from ..engine.gradients.autodiff import gradients, is_trainable
    from ..ops.public import tf

    body = _body(definition, attrs, functions)
    graph = (body.parameters + body.results)[0].graph
    with graph.as_default():
        given = [tf.placeholder(r.dtype.base_dtype, name="gradient") for r in body.results]
        pairs = [(r, grad) for r, grad in zip(body.results, given) if is_trainable(r)]
        found: list[Any] = [None] * len(body.parameters)
        if pairs and body.parameters:
            ys, grad_ys = zip(*pairs)
            found = gradients(list(ys), body.parameters, grad_ys=list(grad_ys))
        results = [
            tf.zeros_like(parameter) if grad is None else tf.convert_to_tensor(grad)
            for parameter, grad in zip(body.parameters, found)
        ]
    parameters = body.parameters + given
    return Body(_without(graph, parameters), parameters, results, [])


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
        if argument.type_attr and argument.type_attr not in attrs:
            raise ValueError(f"no value is given for attr '{argument.type_attr}'")
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
            length = _length(argument, node)
            if length > MOST_OUTPUTS:
                raise ValueError(f"node '{node.name}' has {length} outputs")
            for i in range(length):
                flat[f"{node.name}:{argument.name}:{i}"] = f"{node.name}:{position}"
                position += 1
    for node in message.node:
        node.input[:] = [
            text if text.startswith("^") else _found(text, flat) for text in node.input
        ]
    return message, flat


def _called(node: Any, functions: Mapping[str, Any]) -> list[str]:
    names = [node.op] if node.op in functions else []
    for value in node.attr.values():
        names += [function.name for function in (value.func, *value.list.func) if function.name]
    return names


def _found(text: str, flat: Mapping[str, str]) -> str:
    """The name in the graph of what a function calls `text`."""
    if text not in flat:
        raise ValueError(f"'{text}' is neither an argument nor the output of a node")
    return flat[text]


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
