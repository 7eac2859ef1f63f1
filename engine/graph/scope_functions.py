# SPDX-License-Identifier: Apache-2.0
"""`tf.name_scope`, `tf.device` and the other scopes, on the default graph."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

from ..api import export
from ..hints import hinted
from . import defaults
from .defaults import get_default_graph, reset_default_graph
from .operation import Operation
from .tensor import IndexedSlices, SparseTensor, Tensor

if TYPE_CHECKING:
    from .graph import Graph

__all__ = [
    "colocate_with",
    "container",
    "control_dependencies",
    "device",
    "get_default_graph",
    "get_graph_from_inputs",
    "get_name_scope",
    "init_scope",
    "name_scope",
    "op_scope",
    "reset_default_graph",
]

_ELEMENTS = (Tensor, Operation, IndexedSlices, SparseTensor)


@export("name_scope")
class name_scope:  # noqa: N801 - TensorFlow's name
    """A context that prefixes the names of operations made in it.

    Args:
        name: the prefix, made unique; one that ends in "/" is used as it is; None for default_name.
        default_name: the prefix if `name` is None.
        values: tensors, whose graph becomes the default one.

    Returns:
        A context manager that gives the prefix, with "/" at its end.

    Raises:
        TypeError: `default_name` is no string.
        ValueError: there is no name though there are values, or the name has forbidden characters.

    Example:
        >>> with tf.name_scope("layer") as scope:
        ...     print(scope, tf.constant(1, name="c").name)
        layer/ layer/c:0
    """

    __slots__ = ("_name", "_default_name", "_values", "_graph_context", "_scope")

    def __init__(
        self,
        name: str | Sequence[Tensor] | None,
        default_name: str | None = None,
        values: str | Sequence[Any] | None = None,
    ) -> None:
        if not (default_name is None or isinstance(default_name, str)):
            raise TypeError(
                f"`default_name` type ({type(default_name)}) is not a string type. You likely "
                "meant to pass this into the `values` kwarg."
            )
        self._name = default_name if name is None else name
        self._default_name = default_name
        self._values = values
        self._graph_context: AbstractContextManager[Any] | None = None
        self._scope: AbstractContextManager[str] | None = None

    @property
    def name(self) -> Any:
        """The name asked for."""
        return self._name

    def __enter__(self) -> str:
        if self._name is None and self._values is not None:
            raise ValueError(
                f"At least one of name ({self._name}) and default_name ({self._default_name}) must "
                "be provided."
            )
        graph = get_default_graph()
        self._graph_context = None
        if self._values and not graph.building_function:
            found = get_graph_from_inputs(self._values)
            if found is not graph:
                graph = found
                self._graph_context = graph.as_default()
                self._graph_context.__enter__()
        try:
            self._scope = graph.name_scope(self._name)
            return self._scope.__enter__()
        except BaseException:
            if self._graph_context is not None:
                self._graph_context.__exit__(None, None, None)
            raise

    def __exit__(self, *error: Any) -> None:
        assert self._scope is not None
        self._scope.__exit__(*error)
        if self._graph_context is not None:
            self._graph_context.__exit__(*error)


def get_graph_from_inputs(op_input_list: Iterable[Any], graph: Graph | None = None) -> Any:
    """The graph that the symbolic values among the inputs are from, or the default graph."""
    from .graph import Graph

    current = get_default_graph()
    if current.building_function:
        return current
    if graph and not isinstance(graph, Graph):
        raise TypeError(f"Input graph needs to be a Graph: {graph}")
    first = None
    for value in tuple(op_input_list):
        element = value if isinstance(value, _ELEMENTS) else _graph_element_of(value)
        if element is None:
            continue
        if graph is None:
            first, graph = element, element.graph
        elif element.graph is not graph:
            if first is None:
                raise hinted(ValueError, f"{element} is not from the passed-in graph.")
            raise hinted(ValueError, f"{element} must be from the same graph as {first}.")
    return graph or current


def _graph_element_of(value: object) -> Any:
    convert = getattr(value, "_as_graph_element", None)
    return convert() if callable(convert) else None


@export("device")
def device(
    device_name_or_function: object,
) -> AbstractContextManager[None, None]:
    """A context that sets the device of operations made in it.

    Args:
        device_name_or_function: a name such as "/cpu:0", of which parts may be missing; a function
            of an Operation that returns one; or None, which forgets what contexts around say.

    Returns:
        A context manager.

    Raises:
        ValueError: the name of a device cannot be read.

    Example:
        >>> with tf.device("/job:worker"), tf.device("/cpu:0"):
        ...     print(tf.constant(1).device)
        /job:worker/device:CPU:0
    """
    return get_default_graph().device(device_name_or_function)


@export("container")
def container(container_name: str) -> AbstractContextManager[str, None]:
    """`Graph.container` of the default graph."""
    return get_default_graph().container(container_name)


@export("colocate_with")
def colocate_with(op: object, ignore_existing: bool = False) -> AbstractContextManager[None, None]:
    """`Graph.colocate_with` of the default graph."""
    return get_default_graph().colocate_with(op, ignore_existing)


@export("control_dependencies")
def control_dependencies(
    control_inputs: Sequence[Any] | None,
) -> AbstractContextManager[None, None]:
    """A context whose operations run after others, in every run that needs them.

    Operations that were made before, such as the one that reads a variable, are not delayed.

    Args:
        control_inputs: Operations, Tensors or Variables; None forgets contexts around this one.

    Returns:
        A context manager.

    Raises:
        TypeError: something else is among them.
        ValueError: something is of another graph.

    Example:
        >>> v = tf.Variable(1)
        >>> with tf.control_dependencies([v.assign(5)]):
        ...     doubled = v.read_value() * 2
        >>> tf.Session().run(doubled)
        np.int32(10)
    """
    return get_default_graph().control_dependencies(control_inputs)


def _outer_graph(current: Graph) -> tuple[Any, Any]:
    """The innermost graph that is not a function's body, and the innermost device scopes if any."""
    devices = current._device_function_stack
    if not defaults.graphs.stack:
        if current.building_function:
            raise RuntimeError("The global graph is building a function.")
        return current, devices
    graphs = defaults.graphs
    for graph, outer in zip(reversed(graphs.stack), reversed(graphs.devices)):
        # Colocation has put the scopes aside; what is made here is in those around it again.
        if not devices.entries:
            devices = outer
        if not graph.building_function:
            return graph, devices
    return defaults.global_graph(), devices


@export("init_scope")
@contextmanager
def init_scope() -> Iterator[None]:
    """A context outside of functions, control dependencies and control flow; names stay."""
    current = get_default_graph()
    scope = current.get_name_scope()
    graph, devices = _outer_graph(current)
    with (
        graph.as_default(),
        graph.name_scope(scope + "/" if scope else scope),
        graph.control_dependencies(None),
    ):
        old, first = graph._device_function_stack, graph._last_id
        graph._device_function_stack = devices
        try:
            yield
        finally:
            graph._device_function_stack = old
            if first != graph._last_id:
                graph._lifted.append((first, graph._last_id))


@export("op_scope")
@contextmanager
def op_scope(
    values: str | Sequence[Tensor],
    name: str | Sequence[Tensor] | None,
    default_name: str | None = None,
) -> Iterator[str]:
    """The old form of `name_scope`."""
    with name_scope(name, default_name=default_name, values=values) as scope:
        yield scope


def get_name_scope() -> str:
    """The current name scope of the default graph."""
    return get_default_graph().get_name_scope()


def strip_name_scope(name: str, export_scope: str | None) -> str:
    """A node's name without a scope in front."""
    if not export_scope:
        return name
    scope = export_scope.removesuffix("/")
    return re.sub(rf"([\^]|loc:@|^){scope}[\/]+(.*)", r"\1\2", name, count=1)


def prepend_name_scope(name: str, import_scope: str | None) -> str:
    """A node's name with a scope put in front."""
    if not import_scope:
        return name
    scope = import_scope.removesuffix("/")
    return re.sub(r"([\^]|loc:@|^)(.*)", rf"\1{scope}/\2", name, count=1)
