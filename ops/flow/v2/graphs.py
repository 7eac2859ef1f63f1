# SPDX-License-Identifier: Apache-2.0
"""The bodies of branches and loops as graphs: built by Python functions, or read from the library.

A body is built in a `BodyGraph`, becomes a function of the library, and is read back from there
when a gradient needs it: so the nodes of imported graphs are no different from those made here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

from ....engine.graph.convert import convert_to_tensor
from ....engine.graph.operation import Operation
from ....engine.graph.scope_functions import control_dependencies
from ....engine.graph.tensor import Tensor, uid
from ....engine.types import dtypes, nest
from ....engine.types.shape import TensorShape, as_shape
from ...public import tf
from ..capturing_graph import BodyGraph
from ..effects import current, ordered
from ..tensor_array import arrays_of, flow_of

LOOPS = ("While", "StatelessWhile")


def unique_fn_name(scope: str, name: str) -> str:
    """A name for a function of a branch or loop in a scope."""
    return f"{scope}{name}_{uid()}".replace("/", "_")


def unique_grad_fn_name(forward_name: str) -> str:
    """A name for the gradient of a function."""
    return f"{forward_name}_grad_{uid()}"


def build(
    graph: BodyGraph, function: Callable[..., Any], args: Sequence[Any], done: Tensor | None = None
) -> None:
    """Calls a Python function in a graph, whose results are what it returns.

    Args:
        graph: the body; it gets a parameter for each tensor of `args` that is no parameter yet.
        function: takes `args`.
        args: parameters, in any structure.
        done: what is returned, behind it, for an operation among the results.
    """
    # Where a function puts its effects in order, those of its branches and loops are.
    is_ordered = current() is not None
    with graph.as_default(), ordered() if is_ordered else nullcontext() as effects:
        found = function(*args)
        waits = [] if effects is None else effects.settle()
        flat = nest.flatten(found, expand_composites=True)
        graph.outputs = [graph.capture(_as_result(x, done)) for x in flat if x is not None]
    graph.control_outputs = [*graph.control_outputs, *waits]
    graph.structured_outputs = found


def _as_result(value: Any, done: Tensor | None) -> Tensor:
    if isinstance(value, Operation):
        if done is None:
            raise TypeError(f"An operation is no result of a function: {value.name}")
        with control_dependencies([value]):
            return tf.identity(done)
    return convert_to_tensor(flow_of(value))


def parameter(graph: BodyGraph, like: Any, shape: TensorShape) -> Tensor:
    """A parameter of a body, for the values of a tensor outside of it."""
    with graph.as_default():
        made = tf.placeholder(like.dtype.base_dtype, shape=shape, name=like.op.name)
    made.op._given = like
    graph.inputs.append(made)
    return made


def pack(structure: Any, tensors: Sequence[Any]) -> Any:
    """Tensors in the structure, TensorArrays for their flows; None where it has None."""
    flat = nest.flatten(structure, expand_composites=True)
    given = iter(tensors)
    leaves = [None if x is None else next(given) for x in flat]
    found = arrays_of(flat, leaves)
    return nest.pack_sequence_as(structure, found, expand_composites=True)


def as_function(graph: BodyGraph) -> Any:
    """A body as a function of the library, of the graph's name: what states it in an attribute."""
    from ....io import protos
    from ....io.function_def import Function
    from ....io.function_writing import graph_to_function_def

    definition = graph_to_function_def(
        graph,
        graph.get_operations(),
        graph.inputs,
        graph.outputs,
        None,
        graph.name,
        graph.control_outputs,
    )
    frames = {op.name: op._frame for op in graph.get_operations()}
    graph.outer_graph._add_function(Function(definition, graph._functions, frames=frames))
    return protos.NameAttrList(name=graph.name)


def body_of(op: Operation, called: Any, inputs: Sequence[Tensor]) -> BodyGraph:
    """The body of a function that an operation calls, as a graph within that of the operation.

    Args:
        op: a branch or loop.
        called: the NameAttrList of the function.
        inputs: what its parameters stand for.

    Raises:
        LookupError: the library has no such function.
    """
    from ....engine.graph import trust
    from ....engine.session.function_inlining import attributes
    from ....io.function_def import graph_def_of
    from ....io.graph_import import import_graph_def

    function = op.graph._get_function(called.name)
    if function is None:
        raise LookupError(f"The function {called.name} that '{op.name}' calls is not defined")
    definition = function.definition
    message, flat = graph_def_of(definition, attributes(called), op.graph._functions)
    graph = BodyGraph(called.name, op.graph)
    names = [argument.name for argument in definition.signature.input_arg]
    given: dict[str, Any] = {}
    with graph.as_default(), control_dependencies(None):
        for name, tensor, shape in zip(names, inputs, _shapes(op, inputs), strict=True):
            made = tf.placeholder(tensor.dtype.base_dtype, shape=shape, name=name)
            made.op._given = tensor
            graph.inputs.append(made)
            given[f"{name}:0"] = made
        del message.node[: len(names)]
        used = {
            name if ":" in name else f"{name}:0" for node in message.node for name in node.input
        }
        with trust.importing(None):
            known = {name: tensor for name, tensor in given.items() if name in used}
            import_graph_def(message, input_map=known, name="")
    frames = getattr(function, "frames", {})
    for each in graph.get_operations():
        each._frame = frames.get(each.name, each._frame)
    graph.control_outputs = [
        graph.get_operation_by_name(name) for name in definition.control_ret.values()
    ]
    for argument in definition.signature.output_arg:
        place = flat[definition.ret[argument.name]]
        graph.outputs.append(given[place] if place in given else graph.get_tensor_by_name(place))
    # (A branch and a call capture what they are given; a loop's variables change.)
    if op.type not in LOOPS:
        graph._captured = dict(zip(inputs, graph.inputs, strict=True))
    return graph


def _shapes(op: Operation, inputs: Sequence[Tensor]) -> list[TensorShape]:
    """The shapes of a body's parameters: those of a loop may change from turn to turn."""
    if op.type not in LOOPS:
        return [tensor.shape for tensor in inputs]
    stated = op._attrs["output_shapes"] or [None] * len(inputs)
    return [as_shape(shape) for shape in stated]


def is_stateful(graph: BodyGraph) -> bool:
    """Whether a body changes something, or draws numbers."""
    return any(op._is_stateful for op in graph.get_operations())


def origin(tensor: Tensor, inputs: Sequence[Tensor]) -> int:
    """Which of the parameters of a body a resource in it is.

    Raises:
        ValueError: the resource is made in the body.
    """
    seen = tensor
    while not any(seen is x for x in inputs):
        op = seen.op
        if op.type in ("Identity", "Enter", "Switch", "Merge"):
            seen = op.inputs[0]
        elif op.type in LOOPS:
            seen = op.inputs[seen.value_index]
        else:
            raise ValueError(
                "Taking gradient of a while loop which creates a resource in its body is not "
                f"supported: {op.name}"
            )
    return next(i for i, x in enumerate(inputs) if x is seen)


def is_resource(tensor: Tensor) -> bool:
    """Whether a tensor is a handle."""
    return tensor.dtype.base_dtype == dtypes.resource
