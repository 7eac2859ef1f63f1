# SPDX-License-Identifier: Apache-2.0
"""Python functions as functions of a graph's library: TensorFlow 1.15's `function.Defun`.

A call is one node; what it stands for is the body that the Python function built once.
"""

from __future__ import annotations

import inspect
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.graph import Graph, get_default_graph
from ...engine.graph.operation import Operation
from ...engine.graph.tensor import Tensor
from ...engine.types import dtypes
from .function_graph import FuncGraph, func_graph_from_py_func

if TYPE_CHECKING:
    from ...engine.graph.registry import OpDef

# How the types of an overload become part of its name.
_TYPE_NAMES = {
    dtypes.float16: "f16",
    dtypes.float32: "f32",
    dtypes.float64: "f64",
    dtypes.bfloat16: "b16",
    dtypes.bool: "b",
    dtypes.complex64: "c64",
    dtypes.complex128: "c128",
    dtypes.int8: "i8",
    dtypes.int16: "i16",
    dtypes.int32: "i32",
    dtypes.int64: "i64",
    dtypes.qint8: "qi8",
    dtypes.qint16: "qi16",
    dtypes.qint32: "qi32",
    dtypes.quint8: "qu8",
    dtypes.quint16: "qu16",
    dtypes.string: "s",
    dtypes.uint8: "i8",
    dtypes.uint16: "u16",
    dtypes.uint32: "u32",
    dtypes.uint64: "u64",
}


class Defun:
    """A decorator that makes a graph function of a Python function.

        @Defun(tf.float32, tf.float32)
        def difference(x, y):
            return x - y

    Args:
      *input_types: The dtypes of the parameters; without them each combination of dtypes that
        the function is called with makes a function of its own.
      **kwargs: `func_name`, the name in the graph; `grad_func`, the graph function that is its
        gradient; `python_grad_func(op, *grads)`, or a Python function; `out_names`, names of the
        results; `shape_func(op)`, the shapes of a call's outputs; `capture_by_value`, whether
        what it uses of the graph outside is copied; attributes such as `noinline`.
    """

    def __init__(self, *input_types: Any, **kwargs: Any) -> None:
        self._input_types = input_types
        self._options = kwargs

    def __call__(self, func: Callable[..., Any]) -> Any:
        if not callable(func):
            raise ValueError(f"function {func} must be callable")
        spec = inspect.getfullargspec(func)
        if spec.varkw or spec.defaults:
            raise ValueError(
                "function with argument defaults or keywords arguments are not supported. "
                f"{func} has defaults {spec.defaults} and keywords {spec.varkw}."
            )
        names = spec.args[1:] if inspect.ismethod(func) else spec.args
        if self._input_types:
            count = len(self._input_types)
            if count < len(names) or (count > len(names) and not spec.varargs):
                raise ValueError(
                    "The function has fewer arguments than the number of specified input types."
                )
            return DefinedFunction(func, names, self._input_types, **self._options)
        if not names and not spec.varargs:
            return DefinedFunction(func, [], [], **self._options)
        return OverloadedFunction(func, names, **self._options)


class DefinedFunction:
    """A graph function; calling it adds a node that calls it."""

    def __init__(
        self,
        func: Callable[..., Any] | None,
        argnames: Sequence[str],
        input_types: Sequence[Any],
        func_name: str | None = None,
        grad_func: Any = None,
        python_grad_func: Callable[..., Any] | None = None,
        out_names: Sequence[str] | None = None,
        shape_func: Callable[[Operation], Any] | None = None,
        capture_by_value: bool = False,
        whitelisted_stateful_ops: set[Any] | None = None,
        capture_resource_var_by_value: bool = True,
        **kwargs: Any,
    ) -> None:
        self._func = func
        self._name = func_name
        self._grad_func = grad_func
        self._python_grad_func = python_grad_func
        self._out_names = out_names
        self._shape_func = shape_func
        self._graph_options: dict[str, Any] = {
            "capture_by_value": capture_by_value,
            "whitelisted_stateful_ops": whitelisted_stateful_ops,
            "capture_resource_var_by_value": capture_resource_var_by_value,
        }
        self._attributes = kwargs
        self._input_types = input_types
        self._arg_names = [
            argnames[i] if i < len(argnames) else f"arg{i}" for i in range(len(input_types))
        ]
        devices = get_default_graph()._device_functions_outer_to_inner
        self._caller_device = devices[-1] if devices else None
        # Made on first use: the graph function (io/function_def.py), what it takes from outside,
        # the functions that it calls, its stateful operations.
        self._core: Any = None
        self._extra_inputs: list[Tensor] = []
        self._sub_functions: dict[str, Any] = {}
        self._stateful_ops: list[tuple[str, str]] = []

    @property
    def core(self) -> Any:
        """The graph function; the Python function builds it now if it was not used before."""
        if self._core is None:
            self._build()
        return self._core

    def _build(self) -> None:
        from ...io.function_def import Function
        from ...io.function_hash import named_by_content
        from ...io.function_writing import graph_to_function_def

        assert self._func is not None
        graph = func_graph_from_py_func(
            self._func,
            self._arg_names,
            [dtypes.as_dtype(kind) for kind in self._input_types],
            self._name,
            device_function=self._caller_device,
            **self._graph_options,
        )
        base = self._name or _name_of(self._func)
        if not self._name and self._grad_func is not None:
            base += f"_{self._grad_func.name}"
        operations = graph.get_operations()
        definition = graph_to_function_def(
            graph, operations, graph.inputs, graph.outputs, self._out_names, base
        )
        definition.signature.description = self._func.__doc__ or ""
        if not self._name:
            definition.signature.ClearField("name")
            definition.signature.name = named_by_content(base, definition)
        for key, value in _attributes(base, **self._attributes).items():
            definition.attr[key].CopyFrom(value)
        self._extra_inputs = graph.extra_inputs
        self._sub_functions = dict(graph._functions)
        self._stateful_ops = [(op.name, op.type) for op in operations if op._is_stateful]
        self._core = Function(
            definition, self._sub_functions, python_grad_func=self._python_grad_func
        )

    @property
    def name(self) -> str:
        """The name in the graph."""
        return self.core.name

    @property
    def definition(self) -> Any:
        """The FunctionDef message."""
        return self.core.definition

    @property
    def signature(self) -> Any:
        """The OpDef message."""
        return self.core.signature

    _signature = signature

    @property
    def op_definition(self) -> Any:
        """What makes the function's name an op type."""
        return self.core.op_definition

    @property
    def size(self) -> int:
        """See Function.size."""
        return self.core.size

    @property
    def body(self) -> Any:
        """See Function.body."""
        return self.core.body

    @property
    def made_of_body(self) -> Any:
        """See Function.made_of_body."""
        return self.core.made_of_body

    @property
    def gradient_body(self) -> Any:
        """See Function.gradient_body."""
        return self.core.gradient_body

    @property
    def calls(self) -> list[list[str]]:
        """See Function.calls."""
        return self.core.calls  # type: ignore[no-any-return]

    def set_grad_func(self, grad_func: DefinedFunction) -> None:
        """States the graph function that is the gradient."""
        assert self._grad_func is None
        assert isinstance(grad_func, DefinedFunction)
        self._grad_func = grad_func

    @property
    def grad_func_name(self) -> str | None:
        """The name of the graph function that is the gradient, or None."""
        return self._grad_func.name if self._grad_func is not None else None

    @property
    def python_grad_func(self) -> Callable[..., Any] | None:
        """The Python function that is the gradient, or None."""
        return self._python_grad_func

    @property
    def declared_input_types(self) -> Sequence[Any]:
        """The dtypes of the parameters, without those for captured tensors."""
        return self._input_types

    @property
    def captured_inputs(self) -> list[Tensor]:
        """The tensors of the graph outside that the function uses."""
        return self.core and self._extra_inputs

    @property
    def stateful_ops(self) -> list[tuple[str, str]]:
        """(name, type) of the stateful operations in the body."""
        return self.core and self._stateful_ops

    def add_to_graph(self, g: Graph) -> None:
        """Adds the function, those that it calls and its gradient to a graph's library."""
        pending: list[Any] = [self]
        while pending:
            function = pending.pop()
            if isinstance(function, DefinedFunction):
                pending += function._add_alone(g)
            else:
                g._add_function(function)

    def _add_alone(self, g: Graph) -> list[Any]:
        """Adds the function itself; what has to be added with it, nothing if it was there."""
        if self._grad_func is not None and self._python_grad_func is not None:
            raise ValueError(f"Gradient defined twice for function {self.name}")
        if g._get_function(self.name) is self:
            return []
        g._add_function(self)
        gradient = [] if self._grad_func is None else [self._grad_func]
        return [*gradient, *reversed(self._sub_functions.values())]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.add_to_graph(get_default_graph())
        inputs = [convert_to_tensor(value) for value in args] + self._extra_inputs
        result, op = _call(self.op_definition, *inputs, **kwargs)
        # Equal functions may have other gradients.
        op._called_function = self
        if self._shape_func is not None:
            shapes = self._shape_func(op)
            if len(shapes) != len(op.outputs):
                raise ValueError(
                    f"shape_func produced {len(shapes)} shapes for {len(op.outputs)} outputs"
                )
            for tensor, shape in zip(op.outputs, shapes):
                tensor.set_shape(shape)
        return result


class OverloadedFunction:
    """A Python function that becomes a graph function for each combination of dtypes."""

    def __init__(
        self,
        func: Callable[..., Any],
        argnames: Sequence[str],
        func_name: str | None = None,
        grad_func: Any = None,
        **options: Any,
    ) -> None:
        assert grad_func is None or isinstance(grad_func, OverloadedFunction)
        self._func = func
        self._argnames = argnames
        self._name = func_name
        self._grad_func = grad_func
        self._options = options
        self._overloads: dict[str, DefinedFunction] = {}

    def instantiate(self, input_types: Sequence[Any]) -> DefinedFunction:
        """The graph function for these dtypes."""
        unknown = [kind for kind in input_types if kind not in _TYPE_NAMES]
        if unknown:
            raise ValueError(f"Unsupported dtypes: {unknown}")
        key = "".join(_TYPE_NAMES[kind] for kind in input_types)
        if key not in self._overloads:
            name = None if self._name is None else f"{self._name}_{key}"
            made = DefinedFunction(self._func, self._argnames, input_types, name, **self._options)
            results = [dtypes.as_dtype(arg.type) for arg in made.signature.output_arg]
            if self._grad_func is not None:
                made._grad_func = self._grad_func.instantiate([*input_types, *results])
            self._overloads[key] = made
        return self._overloads[key]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        tensors = [convert_to_tensor(value) for value in args]
        kinds = [tensor.dtype.base_dtype for tensor in tensors]
        return self.instantiate(kinds)(*tensors, **kwargs)


class Declare:
    """A function that is known by its signature and defined later.

    Args:
      func_name: The name in the graph.
      inputs: (name, dtype) of each parameter.
      outputs: (name, dtype) of each result.
    """

    def __init__(self, func_name: str, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
        from ...io import protos
        from ...io.function_def import op_definition_of

        signature = protos.OpDef(name=func_name)
        for field, pairs in ((signature.input_arg, inputs), (signature.output_arg, outputs)):
            names = [name for name, _ in pairs]
            if len(set(names)) < len(names):
                raise ValueError(f"Expected names to all be unique: {names}")
            for name, kind in pairs:
                field.add(name=name, type=dtypes.as_dtype(kind).as_datatype_enum)
        self._definition = op_definition_of(signature)

    def __call__(self, *inputs: Any, **kwargs: Any) -> Any:
        return _call(self._definition, *map(convert_to_tensor, inputs), **kwargs)[0]


def _name_of(func: Callable[..., Any]) -> str:
    if inspect.ismethod(func):
        return f"{type(func.__self__).__name__}.{func.__func__.__name__}"
    # A lambda's name is none for a node.
    return (getattr(func, "__name__", None) or type(func).__name__).strip("<>")


def _call(definition: OpDef, *inputs: Tensor, **kwargs: Any) -> tuple[Any, Operation]:
    """Adds a node that calls a function; its result(s), and the node."""
    if len(inputs) != len(definition.inputs):
        raise ValueError(
            f"Expected number of arguments: {len(definition.inputs)}, received: {len(inputs)}"
        )
    name = kwargs.pop("name", None) or definition.name
    attrs = _attributes(definition.name, **kwargs)
    graph = get_default_graph()
    types = [arg.dtype for arg in definition.inputs]
    op = graph._create(definition, name, inputs, attrs, types)
    if not op.outputs:
        return op, op
    return (op.outputs[0] if len(op.outputs) == 1 else tuple(op.outputs)), op


def _attributes(
    name: str,
    noinline: bool | None = None,
    compiled: bool | None = None,
    separate_compiled_gradients: bool | None = None,
    **others: Any,
) -> dict[str, Any]:
    """The attributes of a call or function, as AttrValues."""
    from ...io.attributes import to_proto

    attrs: dict[str, Any] = {"_disable_call_shape_inference": True}
    if noinline is not None:
        attrs["_noinline"] = bool(noinline)
    if compiled is not None:
        scope = get_default_graph()._attr_scope_map.get("_XlaScope", f"function_{name}")
        attrs["_XlaCompile"] = bool(compiled)
        attrs["_XlaSeparateCompiledGradients"] = bool(separate_compiled_gradients)
        attrs["_XlaScope"] = scope
    for key in [k for k in others if k.startswith("experimental_")]:
        attrs[key] = _plain(key, others.pop(key), (bool, int, float, str))
    for key in [k for k in others if k in ("_implements", "_reference")]:
        attrs[key] = _plain(key, others.pop(key), (str,))
    if others:
        raise ValueError(f"Unknown keyword arguments: {others.keys()}")
    return {key: to_proto(value) for key, value in attrs.items()}


def _plain(key: str, value: Sequence[Any], kinds: tuple[type, ...]) -> Any:
    if not isinstance(value, kinds):
        raise ValueError(f"Unsupported attribute type for {key} with type {type(value)}")
    return value


def from_library(lib: Any) -> list[DefinedFunction]:
    """The functions of a FunctionDefLibrary, with their gradients.

    Raises:
      ValueError: A gradient names a function that is missing, or gradients form a circle.
    """
    found = {definition.signature.name: definition for definition in lib.function}
    gradient_of: dict[str, str] = {}
    used_by: dict[str, list[str]] = defaultdict(list)
    for entry in lib.gradient:
        for name in (entry.function_name, entry.gradient_func):
            if name not in found:
                raise ValueError(f"FunctionDefLibrary missing '{name}' FunctionDef\n{lib}")
        gradient_of[entry.function_name] = entry.gradient_func
        used_by[entry.gradient_func].append(entry.function_name)
    ready = [name for name in found if name not in gradient_of]
    if found and not ready:
        raise ValueError(f"FunctionDefLibrary contains cyclic gradient functions!\n{lib}")
    made: dict[str, DefinedFunction] = {}
    while ready:
        name = ready.pop()
        made[name] = from_definition(found[name], made.get(gradient_of.get(name, "")), made)
        ready.extend(used_by[name])
    return list(made.values())


def from_definition(
    definition: Any,
    grad_func: DefinedFunction | None = None,
    library: dict[str, DefinedFunction] | None = None,
) -> DefinedFunction:
    """The function of a FunctionDef; `library` holds those that it calls."""
    from ...io.function_def import Function

    signature = definition.signature
    made = DefinedFunction(
        None,
        [arg.name for arg in signature.input_arg],
        tuple(dtypes.as_dtype(arg.type) for arg in signature.input_arg),
        signature.name,
        grad_func,
        out_names=[arg.name for arg in signature.output_arg],
    )
    made._core = Function(definition, {} if library is None else library)
    return made


def from_graph(graph: FuncGraph, name: str) -> DefinedFunction:
    """The function, of that name, whose body a graph is."""
    from ...io.function_def import Function
    from ...io.function_writing import graph_to_function_def

    operations = graph.get_operations()
    definition = graph_to_function_def(graph, operations, graph.inputs, graph.outputs, None, name)
    made = DefinedFunction(
        None, [tensor.op.name for tensor in graph.inputs], [t.dtype for t in graph.inputs], name
    )
    made._extra_inputs, made._sub_functions = graph.extra_inputs, dict(graph._functions)
    made._stateful_ops = [(op.name, op.type) for op in operations if op._is_stateful]
    made._core = Function(definition, made._sub_functions, stated=list(graph._stated))
    return made


def get_extra_vars() -> list[Any]:
    """The variables that the function being built has asked for."""
    graph = get_default_graph()
    return graph.extra_vars if isinstance(graph, FuncGraph) else []


def get_extra_inputs() -> list[Tensor]:
    """The tensors outside that the function being built uses."""
    graph = get_default_graph()
    return graph.extra_inputs if isinstance(graph, FuncGraph) else []


def get_extra_args() -> list[Tensor]:
    """The parameters that stand for `get_extra_inputs`."""
    graph = get_default_graph()
    return graph.extra_args if isinstance(graph, FuncGraph) else []
