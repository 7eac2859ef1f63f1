# SPDX-License-Identifier: Apache-2.0
"""`tf.function` as it is in graphs: what a Python function builds, with its effects in order.

TensorFlow 1.15 keeps the nodes of each signature as a function in the library, and a call is
one node.  Here a call builds the nodes where it stands: values and effects are the same, the Python
function, its `if` and `while` rewritten for tensors (autograph/rewriting.py), runs at every call.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import Any

from ...engine.api import export
from ...engine.graph.collections import GraphKeys
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.defaults import get_default_graph
from ...engine.graph.graph import Graph
from ...engine.graph.operation import Operation
from ...engine.graph.scope_functions import control_dependencies, init_scope, name_scope
from ...engine.graph.tensor import Tensor
from ...engine.interface.specs import TypeSpec
from ...engine.types import nest
from .. import runtime_settings
from ..public import tf
from ..state.variable_scope import variable_creator_scope
from .autograph.api import options_of
from .autograph.conversion import Options, converted
from .concrete_functions import ConcreteFunction, TracedFunction
from .effects import ordered
from .function_spec import FunctionSpec, is_same, specs_of


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
        self.function_spec = FunctionSpec.of(python_function, input_signature)
        # The kinds of arguments of calls, and the functions for some kind with the graph outside.
        self._kinds: list[Any] = []
        self._concrete: list[tuple[Any, Any, TracedFunction]] = []
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
        return self.function_spec.input_signature

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
        args, kwargs = self.function_spec.canonical(args, kwargs)
        self._note_kind(args, kwargs)
        return self._built(args, kwargs)

    def _note_kind(self, args: Any, kwargs: Any) -> None:
        """Remembers the kind of the arguments, unless no SavedModel can hold it."""
        kind = specs_of((args, kwargs))
        if kind is not None and not any(is_same(kind, known) for known in self._kinds):
            self._kinds.append(kind)

    def _built(self, args: Any, kwargs: Any) -> Any:
        """What the function returns, built in the default graph."""
        graph = get_default_graph()
        with name_scope(self._name) as scope:
            with ordered() as inner, variable_creator_scope(_named_without(scope)):
                found = self._traced(graph, args, kwargs)
                effects = inner.settle()
            if found is None:
                # As TensorFlow returns the call itself, for sessions to run.
                return tf.group(*effects)
            with control_dependencies(effects):
                result = nest.map_structure(_identity, found, expand_composites=True)
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
        """The function for arguments of one kind: tensors, or TensorSpecs, which stand for them.

        Raises:
            ValueError: they are not of the kinds that the signature says.
        """
        if self.input_signature is not None:
            self._require_signature(args, kwargs)
            given: Any = (self.input_signature, {})
        else:
            given = self.function_spec.canonical(args, kwargs)
        kind = specs_of(given)
        if kind is None:
            return self._concrete_of(given)
        with init_scope():
            outside = get_default_graph()
        for graph, known, made in self._concrete:
            if graph() is outside and is_same(known, kind):
                return made
        made = self._concrete_of(kind)
        self._concrete.append((weakref.ref(outside), kind, made))
        return made

    def _concrete_of(self, kind: Any) -> TracedFunction:
        return TracedFunction(self._building, self._built, self._name, self.function_spec, kind)

    def _require_signature(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if kwargs:
            raise ValueError(
                "Cannot define a TensorFlow function from a Python function with keyword arguments "
                "when input_signature is provided."
            )
        if not args:
            return
        signature: Any = self.input_signature
        try:
            nest.assert_same_structure(signature, args)
        except (TypeError, ValueError):
            raise ValueError(
                "Structure of Python function inputs does not match input_signature."
            ) from None
        for spec, given in zip(nest.flatten(signature), nest.flatten(args)):
            if not isinstance(given, (Tensor, TypeSpec)):
                raise ValueError(
                    "When input_signature is provided, all inputs to the Python function must be "
                    "Tensors or tf.TensorSpec objects."
                )
            if not spec.is_compatible_with(given):
                raise ValueError(
                    f"Python inputs incompatible with input_signature: inputs ({args}), "
                    f"input_signature ({signature})"
                )

    def _list_all_concrete_functions_for_serialization(self) -> list[ConcreteFunction]:
        """A function for each kind of arguments that is known: of the signature, or of calls."""
        if self.input_signature is not None:
            return [self.get_concrete_function()]
        kinds = [*self._kinds, *(kind for _, kind, _ in self._concrete)]
        found: list[ConcreteFunction] = []
        for args, kwargs in kinds:
            made = self.get_concrete_function(*args, **kwargs)
            if made not in found:
                found.append(made)
        return found


def _named_without(scope: str) -> Callable[..., Any]:
    """A creator of variables whose names begin within a function's scope, as in TensorFlow."""

    def made(next_creator: Callable[..., Any], **given: Any) -> Any:
        current = f"{get_default_graph().get_name_scope()}/"
        if not current.startswith(scope):
            return next_creator(**given)
        with name_scope(current.removeprefix(scope) or None):
            return next_creator(**given)

    return made


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
