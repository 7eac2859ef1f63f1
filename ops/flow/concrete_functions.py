# SPDX-License-Identifier: Apache-2.0
"""`tf.function` for arguments of one kind: a graph of its own, which takes in what it uses.

Variables, tables and tensors of the program become further parameters; with the graph as a
FunctionDef, this is what a SavedModel holds of a function.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from ...engine.graph.collections import GraphKeys
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.defaults import get_default_graph
from ...engine.graph.graph import Graph
from ...engine.graph.operation import Operation
from ...engine.graph.scope_functions import control_dependencies, init_scope
from ...engine.graph.tensor import Tensor
from ...engine.types import dtypes, nest
from ..public import tf
from ..state.resource_variable import BaseResourceVariable
from ..state.variable_scope import variable_creator_scope
from .effects import ordered
from .function_graph import FuncGraph, share_variables
from .function_spec import FunctionSpec, filled, named, placeholders
from .lifting import UnliftableError, lift_to_graph

_numbers = itertools.count()


class TracedGraph(FuncGraph):
    """The graph of a function, with the structure of its arguments and results."""

    calls_functions = True

    def __init__(self, name: str, signature: tuple[Any, Any] | None) -> None:
        super().__init__(name, False, set(), False)
        self.structured_input_signature = signature
        self.structured_outputs: Any = None
        self.variables: list[Any] = []


def unique_name(name: str) -> str:
    """A name for a function of a library, as TensorFlow gives them."""
    return f"__inference_{name}_{next(_numbers)}"


class ConcreteFunction:
    """A function for arguments of one kind: its graph, and how it is called."""

    def __init__(self, graph: Any, name: str) -> None:
        """graph: the body, with `structured_input_signature` and `structured_outputs`."""
        self.graph = graph
        self.name = name
        # Tensors of the program for the last of the inputs.
        self.captured_inputs: list[Tensor] = []
        self._arg_keywords: list[str] = []
        self._num_positional_args = 0

    @property
    def inputs(self) -> list[Tensor]:
        """The placeholders of the graph: for the arguments, then for what is captured."""
        return self.graph.inputs

    @property
    def outputs(self) -> list[Tensor]:
        """The results, one after the other."""
        return self.graph.outputs

    @property
    def structured_outputs(self) -> Any:
        """The results as the function returns them."""
        return self.graph.structured_outputs

    @property
    def structured_input_signature(self) -> tuple[Any, Any]:
        """TypeSpecs and values of the arguments: (by position, by name)."""
        return self.graph.structured_input_signature

    @property
    def output_shapes(self) -> Any:
        """The shapes of the results."""
        return nest.map_structure(lambda x: getattr(x, "shape", x), self.structured_outputs)

    @property
    def output_dtypes(self) -> Any:
        """The dtypes of the results."""
        return nest.map_structure(lambda x: getattr(x, "dtype", x), self.structured_outputs)

    @property
    def variables(self) -> tuple[Any, ...]:
        """The variables that the function uses."""
        return tuple(self.graph.variables)

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        """Those of them to train."""
        return tuple(v for v in self.graph.variables if v.trainable)

    @property
    def function_def(self) -> Any:
        """The FunctionDef message."""
        return self.library()[self.name].definition

    def library(self) -> dict[str, Any]:
        """The function and those that it calls, by name."""
        raise NotImplementedError("Abstract method")

    def add_to_graph(self, g: Graph | None = None) -> None:
        """Adds the function, and those that it calls, to a graph's library."""
        graph = get_default_graph() if g is None else g
        for function in self.library().values():
            graph._add_function(function)

    def _call_flat(self, args: Sequence[Any]) -> Any:
        """What the function returns of tensors for its arguments."""
        raise NotImplementedError("Abstract method")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the function returns of tensors, given by position or by the names of the arguments.

        Raises:
            TypeError: there are more or fewer arguments than the function has.
            ValueError: one is of another dtype or shape.
        """
        given = self._flat_arguments(args, kwargs)
        for i, (value, placed) in enumerate(zip(given, self.inputs)):
            given[i] = tensor = convert_to_tensor(value, dtype_hint=placed.dtype)
            if tensor.dtype != placed.dtype or not self._may_be(tensor, placed):
                raise ValueError(
                    f"{tensor} does not fit {self.name}, which takes {placed.dtype.name} of the "
                    f"shape {placed.shape}"
                )
        return self._call_flat(given)

    def _may_be(self, tensor: Tensor, placed: Tensor) -> bool:
        """Whether a tensor's shape can be that of an argument."""
        return placed.shape.is_compatible_with(tensor.shape)

    def _flat_arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        keywords = self._arg_keywords
        if len(args) > self._num_positional_args:
            raise TypeError(
                f"Expected at most {self._num_positional_args} positional arguments (and the rest "
                f"keywords, of {keywords}), got {args}. When calling a concrete function, "
                "positional arguments may not be bound to Tensors within nested structures."
            )
        given = list(args)
        for keyword in keywords[len(args) :]:
            if keyword not in kwargs:
                names = [*keywords[: len(given)], *kwargs]
                raise TypeError(
                    f"Expected argument names {keywords} but got values for {names}. Missing: "
                    f"{[k for k in keywords if k not in names]}."
                )
            given.append(kwargs.pop(keyword))
        for unused in kwargs:
            if unused in keywords[: len(args)]:
                raise TypeError(f"Got two values for keyword '{unused}'.")
        if kwargs:
            raise TypeError(f"Keyword arguments {list(kwargs)} unknown. Expected {keywords}.")
        return given

    def _name_arguments(self) -> None:
        """Names each placeholder's argument, numbered where several have one name."""
        seen: set[str] = set()
        count = len(self.inputs) - len(self.captured_inputs)
        for placed in self.inputs[:count]:
            name = proposal = user_name(placed)
            number = itertools.count(1)
            while proposal in seen:
                proposal = f"{name}_{next(number)}"
            seen.add(proposal)
            self._arg_keywords.append(proposal)
        self._num_positional_args = count


def user_name(placed: Tensor) -> str:
    """The name of the argument that a placeholder stands for."""
    return placed.op.get_attr("_user_specified_name").decode()


class TracedFunction(ConcreteFunction):
    """What a Python function builds of arguments of one kind; a call builds it anew."""

    def __init__(
        self,
        building: Callable[..., Any],
        calling: Callable[..., Any],
        name: str,
        spec: FunctionSpec,
        signature: tuple[Any, Any],
    ) -> None:
        """building: the Python function; calling: the tf.function, given the same arguments."""
        args, kwargs = signature
        super().__init__(_traced(building, name, spec, args, kwargs), unique_name(name))
        self._calling = calling
        self.captured_inputs = self.graph.extra_inputs
        self._library: dict[str, Any] | None = None
        self._name_arguments()

    def _call_flat(self, args: Sequence[Any]) -> Any:
        given, named_ones = filled(self.structured_input_signature, args)
        return self._calling(given, named_ones)

    def library(self) -> dict[str, Any]:
        if self._library is None:
            self._library = library_of(self.graph, self.name, self.graph.get_operations())
        return self._library


def _traced(
    building: Callable[..., Any], name: str, spec: FunctionSpec, args: Any, kwargs: Any
) -> TracedGraph:
    """The graph that a Python function builds from placeholders in the place of tensors."""
    several = [f"{spec.vararg_name}_{i}" for i in range(len(args))]
    names = [*spec.arg_names, *several[len(spec.arg_names) :]]
    given = tuple(named(value, key) for value, key in zip(args, names))
    given_named = {key: named(kwargs[key], key) for key in sorted(kwargs)}
    with init_scope():
        graph = TracedGraph(name, (given, given_named))
        share_variables(graph)
        with graph.as_default(), variable_creator_scope(made_outside):
            values = tuple(_parameter(graph, s, n) for s, n in zip(given, names))
            named_values = {key: _parameter(graph, s, key) for key, s in given_named.items()}
            with ordered() as inner:
                with tf.variable_scope(
                    tf.get_variable_scope(),
                    use_resource=True,
                    reuse=tf.AUTO_REUSE,
                    auxiliary_name_scope=False,
                    custom_getter=graph.get_variable,
                ):
                    found = building(*values, **named_values)
                effects = inner.settle()
            with control_dependencies(effects):
                results = nest.map_structure(_result, found, expand_composites=True)
    graph.control_outputs = effects
    graph.structured_outputs = results
    graph.outputs = [x for x in nest.flatten(results, expand_composites=True) if x is not None]
    graph.variables = list(variables_behind(graph.extra_inputs))
    return graph


def _parameter(graph: FuncGraph, spec: Any, name: str) -> Any:
    value, made = placeholders(spec, name)
    graph.inputs += made
    return value


def _result(value: Any) -> Any:
    if value is None or isinstance(value, Operation):
        return None
    return tf.identity(convert_to_tensor(value))


def variables_behind(handles: Iterable[Tensor]) -> Iterator[Any]:
    """The variables of the program whose handles are given, in that order."""
    for handle in handles:
        if handle.dtype == dtypes.resource:
            for variable in handle.graph.get_collection(GraphKeys.GLOBAL_VARIABLES):
                if isinstance(variable, BaseResourceVariable) and variable.handle is handle:
                    yield variable
                    break


def made_outside(next_creator: Callable[..., Any], **given: Any) -> Any:
    """Makes a variable outside of the function that asks for it, as a resource."""
    inner = get_default_graph()
    given["use_resource"] = True
    with init_scope():
        value = given.get("initial_value")
        if isinstance(value, Tensor) and value.graph is inner:
            try:
                given["initial_value"] = _lifted(value, inner)
            except UnliftableError as error:
                raise ValueError(
                    "A variable's initial value depends on an argument of the function that makes "
                    f"the variable: it must be made of values that are known before. {error}"
                ) from None
        return next_creator(**given)


def _lifted(value: Tensor, inner: Any) -> Any:
    """A tensor of a function's graph, built again in the default graph, outside."""
    outside = {parameter: tensor for tensor, parameter in inner.captures}
    return lift_to_graph([value], get_default_graph(), outside, op_map=outside)[value]


def library_of(graph: TracedGraph, name: str, operations: Sequence[Operation]) -> dict[str, Any]:
    """The FunctionDef of some operations of a graph, and the functions that they call."""
    from ...io import protos
    from ...io.function_def import Function
    from ...io.function_writing import graph_to_function_def
    from ...io.tensor_proto import shape_proto

    definition = graph_to_function_def(
        graph, operations, graph.inputs, graph.outputs, None, name, graph.control_outputs
    )
    for i, placed in enumerate(graph.inputs):
        attrs = definition.arg_attr[i].attr
        attrs["_output_shapes"].list.shape.add().CopyFrom(shape_proto(placed.shape))
        told = placed.op._attrs.get("_user_specified_name")
        if told is not None:
            attrs["_user_specified_name"].CopyFrom(protos.AttrValue(s=told))
    library: dict[str, Any] = dict(graph._functions)
    library[name] = Function(definition, library)
    return library


def call_of(function: ConcreteFunction, inputs: Sequence[Tensor]) -> list[Tensor]:
    """The results of a node that calls a function, in the default graph."""
    from ...io import protos
    from ..public import raw

    function.add_to_graph()
    definition = function.function_def
    kind = "StatefulPartitionedCall" if definition.signature.is_stateful else "PartitionedCall"
    found = getattr(raw, kind)(
        list(inputs),
        Tout=[dtypes.as_dtype(arg.type) for arg in definition.signature.output_arg],
        f=protos.NameAttrList(name=function.name),
        config_proto="",
        executor_type="",
    )
    results = [] if isinstance(found, Operation) else list(_listed(found))
    for result, inner in zip(results, function.outputs):
        result.set_shape(inner.shape)
    return results if results else [found]


def _listed(found: Any) -> Sequence[Any]:
    return found if isinstance(found, (list, tuple)) else [found]
