# SPDX-License-Identifier: Apache-2.0
"""`tf.wrap_function`: what TensorFlow 1 code builds, as a function with the variables that it made.

A wrapped function runs what its results need and nothing else, in no other order than they need,
as `Session.run` does; `prune` makes functions between other tensors of its graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ...engine.graph.collections import GraphKeys
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.operation import Operation
from ...engine.graph.scope_functions import init_scope, name_scope
from ...engine.graph.tensor import Tensor
from ...engine.interface.log import get_logger
from ...engine.types import nest
from ...io import protos
from ...io.tensor_proto import shape_from_proto
from ...ops.flow.concrete_functions import (
    TracedGraph,
    library_of,
    made_outside,
    unique_name,
    variables_behind,
)
from ...ops.flow.function_spec import placeholders
from ...ops.flow.lifting import lift_to_graph, operations_behind
from ...ops.flow.placed_functions import PlacedFunction
from ...ops.flow.v2.graphs import pack
from ...ops.public import tf
from ...ops.state.resource_variable import (
    BaseResourceVariable,
    UninitializedVariable,
    is_resource_variable,
)
from ...ops.state.variable_scope import variable_creator_scope
from ..objects.data_structures import Mapping
from .tensor_info import get_tensor_from_tensor_info

_COLLECTIONS = (GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES)


class VariableHolder:
    """The variables that a wrapped function made, by name.

    Args:
        fn: the function; a call of the holder calls it, and notes what it makes.
        share_variables: whether a variable of a known name is the known one.
    """

    def __init__(self, fn: Callable[..., Any] | None = None, share_variables: bool = False) -> None:
        self._fn = fn
        self._share_variables = share_variables
        self._variables_by_name = Mapping()

    @property
    def variables(self) -> Any:
        """The variables by their names."""
        return self._variables_by_name

    def variable_creator_scope(self, next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        """Makes a variable, and adds it to the collections of the function's graph."""
        collections = kwargs.pop("collections", None)
        with name_scope(kwargs.get("name"), "Variable") as scope:
            name = scope.rstrip("/")
        known = self._variables_by_name
        variable = known.get(name) if self._share_variables else None
        if variable is None:
            # (The graph outside, whose variable it is, may have another one of the name.)
            with init_scope(), name_scope(None):
                kwargs["name"] = f"{tf.get_default_graph().unique_name(name)}/"
            variable = known[name] = next_creator(**kwargs)
        names = [GraphKeys.GLOBAL_VARIABLES] if collections is None else list(collections)
        if variable.trainable and GraphKeys.TRAINABLE_VARIABLES not in names:
            names.append(GraphKeys.TRAINABLE_VARIABLES)
        tf.get_default_graph().add_to_collections(names, variable)
        return variable

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        assert self._fn is not None, "the holder is one of a function"
        return self.call_with_variable_creator_scope(self._fn)(*args, **kwargs)

    def call_with_variable_creator_scope(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        """A function whose variables the holder notes."""

        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with variable_creator_scope(self.variable_creator_scope):
                return fn(*args, **kwargs)

        return wrapped


class WrappedFunction(PlacedFunction):
    """The part of a graph from some placeholders to results, as a function.

    Args:
        fn_graph: the graph, with its inputs, outputs and operations that must run.
        variable_holder: has the variables that were made in it.
        signature: TensorSpecs and values by position, if the function is called so.
    """

    effects_are_stated = True

    def __init__(
        self, fn_graph: TracedGraph, variable_holder: VariableHolder, signature: Any = None
    ) -> None:
        self._variable_holder = variable_holder
        _lift_variables(fn_graph, variable_holder)
        super().__init__(fn_graph, unique_name(fn_graph.name))
        self._signature = signature
        self.captured_inputs = fn_graph.external_captures
        self._library: dict[str, Any] | None = None

    def library(self) -> dict[str, Any]:
        if self._library is None:
            graph = self.graph
            wanted = [*graph.outputs, *graph.control_outputs]
            self._library = library_of(graph, self.name, operations_behind(wanted, graph.inputs))
        return self._library

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._signature is None:
            return super().__call__(*args, **kwargs)
        if kwargs:
            raise NotImplementedError(
                "Keyword arguments not supported when calling a wrap_function-decorated function."
            )
        given = nest.flatten(list(args), expand_composites=True)
        placed = self.inputs[: len(self.inputs) - len(self.captured_inputs)]
        if len(given) != len(placed):
            raise ValueError(
                f"{self.name} takes {len(placed)} tensors, of its signature {self._signature}, but "
                f"{len(given)} are given"
            )
        pairs = zip(given, placed, strict=True)
        return self._call_flat([convert_to_tensor(x, p.dtype.base_dtype) for x, p in pairs])

    def _may_be(self, tensor: Tensor, placed: Tensor) -> bool:
        # (A graph's placeholders tell shapes, which nothing held it to.)
        return True

    def _call_flat(self, args: Sequence[Any]) -> Any:
        results, effects = self._placed(args)
        for result, known in zip(results, self.outputs):
            if known.shape.is_compatible_with(result.shape):
                result.set_shape(known.shape)
        structure = self.structured_outputs
        return tf.group(*effects) if structure is None else pack(structure, results)

    def prune(
        self, feeds: Any, fetches: Any, name: str | None = None, input_signature: Any = None
    ) -> WrappedFunction:
        """A function of a part of this one's graph.

        Args:
            feeds: tensors of the graph, in any structure: the function's arguments.
            fetches: tensors, operations, their names and TensorInfos, in any structure: what it
                returns, None for operations.
            name: of its graph, "pruned" by default.
            input_signature: the specs that its graph tells of its arguments.

        Raises:
            ValueError: a feed is no tensor, or something is of another graph.
            UnliftableError: a result depends on a placeholder that is no feed.
        """
        graph = self.graph
        own = set(graph.internal_captures)
        fed = [graph.as_graph_element(x) for x in nest.flatten(feeds, expand_composites=True)]
        if not all(isinstance(x, Tensor) for x in fed):
            raise ValueError("Feeds must be tensors.")
        fed = [x for x in fed if x not in own]
        infos: list[Any] = []
        wanted = nest.map_structure(lambda x: _element(x, graph, infos), fetches)
        flat = nest.flatten(wanted, expand_composites=True)
        _require_own([*fed, *flat], graph)
        tensors = [x for x in flat if isinstance(x, Tensor)]
        operations = [x for x in flat if isinstance(x, Operation)]
        with graph.outer_graph.as_default():
            pruned = TracedGraph(name or "pruned", input_signature)
        copies = lift_to_graph(
            [*operations, *tensors], pruned, [*fed, *graph.internal_captures], base_graph=graph
        )
        pruned.outputs = [copies[x] for x in tensors]
        pruned.control_outputs = [copies[x] for x in operations]
        pruned.inputs = [copies[x] for x in fed]
        for outer, inner in graph.captures:
            pruned.add_capture(outer, copies[inner])
        for info in infos:
            copies[graph.get_tensor_by_name(info.name)].set_shape(
                shape_from_proto(info.tensor_shape)
            )
        pruned.variables = graph.variables
        pruned.structured_outputs = nest.map_structure(
            lambda x: None if x is None else copies[x],
            _without_operations(wanted),
            expand_composites=True,
        )
        made = WrappedFunction(pruned, self._variable_holder)
        made._num_positional_args = len(fed)
        made._arg_keywords = [x.op.name for x in fed]
        return made


def _element(fetch: Any, graph: TracedGraph, infos: list[Any]) -> Any:
    """A fetch as what it means in a graph; notes TensorInfos that tell a shape."""
    if isinstance(fetch, protos.TensorInfo):
        if fetch.WhichOneof("encoding") != "name":
            return get_tensor_from_tensor_info(fetch, graph)
        found = graph.as_graph_element(fetch.name)
        if isinstance(found, Tensor):
            infos.append(fetch)
        return found
    if isinstance(fetch, (Operation, Tensor)) or nest.is_composite(fetch):
        return fetch
    return graph.as_graph_element(fetch)


def _require_own(elements: Iterable[Any], graph: TracedGraph) -> None:
    for element in elements:
        if element.graph is not graph:
            raise ValueError(
                "Can only prune function whose feeds and fetches are from this graph "
                f"({graph}). Input {element} is from graph {element.graph}"
            )


# Variables that were not made by Python


def _lift_variables(graph: TracedGraph, holder: VariableHolder) -> None:
    """Makes variables outside for those that came into a graph with an imported one."""
    known = set(graph.internal_captures)
    lifted: dict[int, Any] = {}
    for key in _COLLECTIONS:
        for variable in graph.get_collection(key):
            if not isinstance(variable, BaseResourceVariable) or id(variable) in lifted:
                continue
            if variable.handle.graph is graph and variable.handle not in known:
                lifted[id(variable)] = _lifted(variable, graph, holder, key)
    for key in _COLLECTIONS:
        members = graph.get_collection_ref(key)
        members[:] = [lifted.get(id(member), member) for member in members]
        for variable in members:
            if not is_resource_variable(variable):
                get_logger().warning(
                    "Unable to create a python object for variable %s because it is a reference "
                    "variable. It may not be visible to training APIs. If this is a problem, "
                    "consider rebuilding the SavedModel after running "
                    "tf.compat.v1.enable_resource_variables().",
                    variable,
                )
    graph.variables = [*graph.variables, *lifted.values()]


def _lifted(old: Any, graph: TracedGraph, holder: VariableHolder, key: str) -> Any:
    made = UninitializedVariable(
        shape=old.shape, dtype=old.dtype, name=old.op.name, trainable=old.trainable
    )
    made._initializer_op = old._initializer_op
    graph.add_capture(made.handle, old.handle)
    holder.variables[made.op.name] = made
    if key != GraphKeys.GLOBAL_VARIABLES:
        outer = made.handle.graph
        outer.get_collection_ref(GraphKeys.GLOBAL_VARIABLES).remove(made)
        outer.add_to_collection(key, made)
    return made


# Tracing


def _traced(
    graph: TracedGraph, fn: Callable[..., Any], signature: Sequence[Any]
) -> tuple[list[Tensor], Any]:
    """What a function returns in a graph: placeholders for its arguments, and the structure."""
    args: list[Any] = []
    made: list[Tensor] = []
    with graph.as_default(), variable_creator_scope(made_outside):
        for value in signature:
            argument, placed = placeholders(value, "Placeholder")
            args.append(argument)
            made += placed
        tf.get_variable_scope().set_use_resource(True)
        found = nest.map_structure(_result, fn(*args), expand_composites=True)
    flat = nest.flatten(found, expand_composites=True)
    graph.structured_outputs = _without_operations(found)
    graph.outputs = [x for x in flat if isinstance(x, Tensor)]
    graph.control_outputs = [x for x in flat if isinstance(x, Operation)]
    graph.inputs = [*made, *graph.internal_captures]
    graph.structured_input_signature = (tuple(signature), {})
    graph.variables = list(variables_behind(graph.external_captures))
    return made, found


def _without_operations(structure: Any) -> Any:
    return nest.map_structure(
        lambda x: None if isinstance(x, Operation) else x, structure, expand_composites=True
    )


def _result(value: Any) -> Any:
    if value is None or isinstance(value, Operation):
        return value
    return tf.get_default_graph().capture(convert_to_tensor(value))


def wrap_function(
    fn: Callable[..., Any], signature: Sequence[Any], name: str | None = None
) -> WrappedFunction:
    """What TensorFlow 1 code builds, as a function (tf.compat.v1.wrap_function).

    The Python function is called once.  Variables that it makes belong to the result; they are the
    default graph's.

    Args:
        fn: a function of tensors and other values.
        signature: its arguments by position: TensorSpecs in the places of tensors.
        name: part of the name of the function's graph.

    Returns:
        A function of tensors for the TensorSpecs, in order.  It has `graph`, `prune`, which makes
        functions of parts of the graph, and `variables`.

    Raises:
        ValueError: when called: tensors do not fit the signature.

    Example:
        >>> def scaled(x, by):
        ...     v = tf.Variable(2.0)
        ...     return tf.multiply(x * v, by, name="product")
        >>> f = tf.compat.v1.wrap_function(scaled, [tf.TensorSpec([], tf.float32), 10.0])
        >>> y = f(3.0)
        >>> with tf.Session() as session:
        ...     _ = session.run(tf.global_variables_initializer())
        ...     print(session.run(y), [v.name for v in f.graph.variables])
        60.0 ['Variable:0']
    """
    holder = VariableHolder(fn)
    graph = TracedGraph(f"wrapped_function_{name}" if name else "wrapped_function", None)
    _traced(graph, holder, signature)
    made = WrappedFunction(graph, holder, signature)
    for variable in graph.variables:
        initializer = variable._initializer_op
        if initializer is not None and initializer.graph is graph:
            variable._initializer_op = made.prune([], initializer)()
    return made


class WrappedGraph:
    """Several wrapped functions in one graph, which share variables and collections.

    Args:
        variable_holder: has the variables; one that shares those of one name by default.
        name: of the graph.
    """

    def __init__(
        self,
        variable_holder: VariableHolder | None = None,
        name: str = "wrapped_function_graph",
    ) -> None:
        self._variable_holder = variable_holder or VariableHolder(share_variables=True)
        self.graph = TracedGraph(name, None)
        self._wrapped_function = WrappedFunction(self.graph, self._variable_holder)
        self._functions: dict[str, WrappedFunction] = {}

    @property
    def functions(self) -> dict[str, WrappedFunction]:
        """The functions by their names."""
        return self._functions

    @property
    def variables(self) -> Any:
        """The variables by their names."""
        return self._variable_holder.variables

    def wrap_function(
        self, fn: Callable[..., Any], signature: Sequence[Any], name: str | None = None
    ) -> WrappedFunction:
        """A function in the graph; see `tf.compat.v1.wrap_function`.

        Operations that `fn` returns are run by each call, and None stands in their places.
        """
        graph = self.graph
        building = self._variable_holder.call_with_variable_creator_scope(fn)
        made, found = _traced(graph, building, signature)
        name = name or str(getattr(fn, "__name__", "wrapped"))
        specs = graph.structured_input_signature
        wrapped = self._wrapped_function.prune(made, found, name, specs)
        wrapped._signature = signature
        self._functions[name] = wrapped
        return wrapped


def function_from_graph_def(graph_def: Any, inputs: Any, outputs: Any) -> WrappedFunction:
    """A function of a GraphDef.

    Args:
        graph_def: the GraphDef.
        inputs: the names of the tensors that are its arguments, in any structure.
        outputs: the names of its results, in any structure.
    """

    def imported() -> None:
        tf.import_graph_def(graph_def, name="")

    wrapped = wrap_function(imported, [])
    find = wrapped.graph.as_graph_element
    return wrapped.prune(nest.map_structure(find, inputs), nest.map_structure(find, outputs))
