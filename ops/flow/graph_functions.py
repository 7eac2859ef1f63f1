# SPDX-License-Identifier: Apache-2.0
"""`tf.function` as it is in graphs: what a Python function builds, with its effects in order.

TensorFlow 1.15 keeps the nodes of each signature as a function in the library, and a call is
one node.  Here a call builds the nodes where it stands: values and effects are the same, the Python
function, its `if` and `while` rewritten for tensors (autograph/rewriting.py), runs at every call.
"""

from __future__ import annotations

import functools
import inspect
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from ...engine.api import export
from ...engine.graph.collections import GraphKeys
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.defaults import get_default_graph
from ...engine.graph.graph import Graph
from ...engine.graph.operation import Operation
from ...engine.graph.scope_functions import control_dependencies, name_scope
from ...engine.graph.tensor import Tensor
from ...engine.types import dtypes, nest
from .. import runtime_settings
from ..public import tf
from .autograph.api import options_of
from .autograph.conversion import Options, converted
from .effects import ordered


class _Arguments:
    """How the arguments of calls become what the Python function gets."""

    def __init__(self, function: Callable[..., Any], signature: Any) -> None:
        self.signature = None if signature is None else tuple(signature)
        self._parameters = inspect.signature(function, follow_wrapped=False)

    def bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """The arguments with arrays, and what a signature names, as tensors."""
        if self.signature is None:
            return nest.map_structure(_tensor_of_array, (args, kwargs))
        given = self._parameters.bind(*args, **kwargs).args
        if len(given) != len(self.signature):
            raise ValueError(
                f"Structure of Python function inputs does not match input_signature. Inputs "
                f"({given}), input_signature({self.signature})."
            )
        return tuple(map(self._fitted, given, self.signature)), {}

    def _fitted(self, given: Any, wanted: Any) -> Any:
        specs = nest.flatten(wanted)
        values = nest.flatten(given) if nest.is_sequence(wanted) else [given]
        if len(specs) != len(values):
            raise ValueError(
                "Structure of Python function inputs does not match input_signature. Inputs "
                f"({given}), input_signature({wanted})."
            )
        found = []
        for value, spec in zip(values, specs, strict=True):
            tensor = convert_to_tensor(value, dtype_hint=spec.dtype)
            if tensor.dtype != spec.dtype or not spec.shape.is_compatible_with(tensor.shape):
                raise ValueError(
                    f"Python inputs incompatible with input_signature: inputs ({given}), "
                    f"input_signature ({self.signature})"
                )
            found.append(tensor)
        return nest.pack_sequence_as(wanted, found) if nest.is_sequence(wanted) else found[0]


def _tensor_of_array(value: Any) -> Any:
    return convert_to_tensor(value) if isinstance(value, (np.ndarray, np.generic)) else value


class Function:
    """What tf.function makes of a Python function."""

    def __init__(
        self,
        python_function: Callable[..., Any],
        name: str,
        input_signature: Any = None,
        options: Options | None = Options(),
    ) -> None:
        self._python_function = python_function
        self._building = python_function
        if options is not None:
            self._building = converted(python_function, options)
        self._name = name
        self._arguments = _Arguments(python_function, input_signature)
        # Graphs in which the function was called, so that it may not make variables again.
        self._called: weakref.WeakSet[Graph] = weakref.WeakSet()
        self._bound: weakref.WeakKeyDictionary[Any, Function] = weakref.WeakKeyDictionary()
        functools.update_wrapper(self, python_function)

    @property
    def python_function(self) -> Callable[..., Any]:
        """The Python function itself."""
        return self._python_function

    @property
    def input_signature(self) -> Any:
        """The TensorSpecs of the arguments, or None."""
        return self._arguments.signature

    def __get__(self, instance: Any, owner: Any) -> Any:
        """The function as a method: each object has its own."""
        if instance is None:
            return self
        if instance not in self._bound:
            method = functools.partial(self._building, instance)
            functools.update_wrapper(method, self._python_function)
            self._bound[instance] = Function(method, self._name, self.input_signature)
        return self._bound[instance]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the function returns, there once all its effects are; of None an operation."""
        if runtime_settings.runs_functions_eagerly():
            return self._python_function(*args, **kwargs)
        graph = get_default_graph()
        args, kwargs = self._arguments.bound(args, kwargs)
        with name_scope(self._name):
            with ordered() as inner:
                found = self._traced(graph, args, kwargs)
                effects = inner.settle()
            if found is None:
                # As TensorFlow returns the call itself, for sessions to run.
                return tf.group(*effects)
            with control_dependencies(effects):
                result = nest.map_structure(_identity, found)
        return result

    def _traced(self, graph: Graph, args: Any, kwargs: Any) -> Any:
        """Calls the Python function, whose variables are resource variables."""
        known = len(graph.get_collection(GraphKeys.GLOBAL_VARIABLES))
        scope = tf.get_variable_scope()
        with tf.variable_scope(scope, use_resource=True, auxiliary_name_scope=False):
            found = self._building(*args, **kwargs)
        made = len(graph.get_collection(GraphKeys.GLOBAL_VARIABLES)) - known
        if made and graph in self._called:
            raise ValueError(
                "tf.function-decorated function tried to create variables on non-first call."
            )
        self._called.add(graph)
        return found

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """The function for arguments of one kind: tensors, or TensorSpecs, which stand for them."""
        signature = self.input_signature
        if signature is not None and not args and not kwargs:
            args = signature
        return ConcreteFunction(self, args, kwargs)


class ConcreteFunction:
    """A function for arguments of one kind, and the graph that it builds of these."""

    def __init__(self, function: Function, args: Any, kwargs: Any) -> None:
        self._function = function
        self.graph = Graph()
        self.inputs: list[Tensor] = []
        with self.graph.as_default():
            given, named = nest.map_structure(self._placed, (args, kwargs))
            self.structured_outputs = function._building(*given, **named)
        flat = nest.flatten(self.structured_outputs)
        self.outputs = [value for value in flat if isinstance(value, Tensor)]
        self.structured_input_signature = (args, kwargs)

    def _placed(self, spec: Any) -> Any:
        """A placeholder for a tensor, or for what a TensorSpec says."""
        if not (hasattr(spec, "dtype") and hasattr(spec, "shape")):
            return spec
        placed = tf.placeholder(dtypes.as_dtype(spec.dtype), spec.shape)
        self.inputs.append(placed)
        return placed

    @property
    def name(self) -> str:
        """The name of the function."""
        return self._function._name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the function returns of tensors of this kind; ValueError for other ones."""
        given = [convert_to_tensor(x) for x in nest.flatten((args, kwargs)) if _is_array(x)]
        for value, placed in zip(given, self.inputs, strict=False):
            if value.dtype != placed.dtype or not placed.shape.is_compatible_with(value.shape):
                raise ValueError(
                    f"{value} does not fit {self.name}, which takes {placed.dtype.name} of the "
                    f"shape {placed.shape}"
                )
        return self._function(*args, **kwargs)


def _is_array(value: Any) -> bool:
    return hasattr(value, "dtype")


def _identity(value: Any) -> Any:
    """The same value as a tensor, behind the effects; operations are handed on."""
    if value is None or isinstance(value, Operation):
        return value
    return tf.identity(convert_to_tensor(value))


def _scope_of(inner: Callable[..., Any]) -> str:
    """The scope of a function's operations: its name, as far as scopes may have such a name."""
    name = getattr(inner, "__name__", "")
    if not (name.isidentifier() and name.isascii()):
        return "function"
    return name.lstrip("_") or "function"


@export("function")
def function(
    func: Any = None,
    input_signature: Any = None,
    autograph: bool = True,
    experimental_autograph_options: Any = None,
    experimental_relax_shapes: bool = False,
    experimental_compile: Any = None,
) -> Any:
    """A Python function whose effects happen in order (tf.function).

    In a graph a call builds what the Python function does.  What it changes is changed in the order
    of its statements, before its results are there, without control dependencies of one's own;
    its variables are resource variables, made at the first call.

    Args:
        func: the function; without it a decorator is returned.
        input_signature: TensorSpecs, one for each argument, which arguments are held to.
        autograph: whether Python's `if`, `while` and `for` may be on tensors.
        experimental_autograph_options: what to rewrite besides, of
            `tf.autograph.experimental.Feature`.
        experimental_relax_shapes: no difference.
        experimental_compile: no difference: everything is compiled.

    Returns:
        A function with `get_concrete_function` and `python_function`.

    Raises:
        ValueError: when called: arguments do not fit the signature, or variables are made at
            another than the first call.

    Example:
        >>> v = tf.Variable(1.0, use_resource=True)
        >>> @tf.function
        ... def twice(x):
        ...     v.assign_add(x)
        ...     v.assign_add(x)
        ...     return v.read_value()
        >>> y = twice(2.0)
        >>> with tf.Session() as session:
        ...     _ = session.run(v.initializer)
        ...     print(session.run(y))
        5.0
    """
    del experimental_relax_shapes, experimental_compile
    options = options_of(experimental_autograph_options) if autograph else None

    def decorated(inner: Callable[..., Any]) -> Function:
        return Function(inner, _scope_of(inner), input_signature, options)

    return decorated if func is None else decorated(func)
