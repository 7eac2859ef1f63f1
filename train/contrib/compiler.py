# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.compiler`: scopes and functions for TensorFlow's compiler, XLA.

Everything is compiled here anyway; graphs get the attributes that XLA would read.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ...engine.api import export
from ...engine.graph.collections import add_to_collection, get_collection
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.graph import control_dependencies, get_default_graph
from ...engine.graph.operation import Operation
from ...engine.types import nest
from ...ops.public import tf

_SCOPES = ("__xla_scope",)


class _Scopes:
    """How many scopes a graph has had, and how many are open."""

    def __init__(self) -> None:
        self.count = self.depth = 0


def _bool_attr(value: object) -> Any:
    from ...io import protos

    return protos.AttrValue(b=bool(value))


@export("contrib.compiler.jit.experimental_jit_scope", "xla.experimental.jit_scope")
@contextmanager
def experimental_jit_scope(
    compile_ops: bool | Callable[[Any], bool] = True, separate_compiled_gradients: bool = False
) -> Iterator[None]:
    """A scope whose operations are marked for XLA; they run as any others.

    Args:
        compile_ops: the mark, or a function from a NodeDef to it.
        separate_compiled_gradients: whether gradients would be compiled apart.

    Example:
        >>> with tf.contrib.compiler.jit.experimental_jit_scope():
        ...     y = tf.constant(1.0) + 2.0
        >>> y.op.get_attr("_XlaCompile"), y.op.get_attr("_XlaScope")
        (True, b'jit_scope_0')
    """
    from ...io import protos

    given = compile_ops
    mark = (lambda node: _bool_attr(given(node))) if callable(given) else _bool_attr(given)
    attrs = {
        "_XlaCompile": mark,
        "_XlaSeparateCompiledGradients": _bool_attr(separate_compiled_gradients),
    }
    known = get_collection(_SCOPES)  # type: ignore[arg-type]
    scopes = known[0] if known else _Scopes()
    if not known:
        add_to_collection(_SCOPES, scopes)  # type: ignore[arg-type]
    if scopes.depth == 0:
        attrs["_XlaScope"] = protos.AttrValue(s=f"jit_scope_{scopes.count}".encode())
        scopes.count += 1
    scopes.depth += 1
    try:
        with get_default_graph()._attr_scope(attrs):
            yield
    finally:
        scopes.depth -= 1


@export("contrib.compiler.xla.compile", "xla.experimental.compile")
def compile(computation: Callable[..., Any], inputs: Sequence[Any] | None = None) -> Any:
    """Calls a function, whose variables are resource variables, as XLA would compile it.

    Args:
        computation: a function from tensors to tensors, with operations to run behind them.
        inputs: its arguments, tensors or structures of them.

    Returns:
        The tensors, as a list if they are no deeper structure; an operation if there are none.

    Raises:
        TypeError: `inputs` is no list.
        ValueError: the function gives something else.

    Example:
        >>> (y,) = tf.contrib.compiler.xla.compile(lambda x: x + 1.0, [tf.constant(2.0)])
        >>> tf.Session().run(y)
        np.float32(3.0)
    """
    inputs = [] if inputs is None else inputs
    if not isinstance(inputs, Sequence):
        raise TypeError("inputs must be a list")
    flat = [convert_to_tensor(value) for value in nest.flatten(inputs)]
    flat = [tf.identity(value, name=f"input_{i}") for i, value in enumerate(flat)]
    scope = tf.get_variable_scope()
    before = scope.use_resource
    scope.set_use_resource(True)
    try:
        outputs = computation(*nest.pack_sequence_as(inputs, flat))
    finally:
        scope.set_use_resource(before)
    is_flat = not isinstance(outputs, dict) and not any(
        isinstance(part, (Sequence, dict))
        for part in (outputs if isinstance(outputs, Sequence) else ())
    )
    tensors, operations = _parts(outputs, is_flat)
    with control_dependencies(operations):
        if not tensors:
            return tf.group(*operations, name="output_0")
        results = [tf.identity(value, name=f"output_{i}") for i, value in enumerate(tensors)]
    return results if is_flat else nest.pack_sequence_as(outputs, results)


def _parts(outputs: object, is_flat: bool) -> tuple[list[Any], list[Operation]]:
    """The tensors that a function gives, and the operations behind them."""
    if outputs is None:
        return [], []
    parts = nest.flatten(outputs)
    operations = [part for part in parts if isinstance(part, Operation)]
    if operations and not is_flat:
        raise ValueError(
            "XLA computation does not support Operation as return value, when it is in a structure"
        )
    tensors = parts[: len(parts) - len(operations)]
    if any(isinstance(part, Operation) for part in tensors):
        raise ValueError(
            "XLA computation function must return zero or more Tensor values followed by zero or "
            "more Operations."
        )
    try:
        return [convert_to_tensor(part) for part in tensors], operations
    except (TypeError, ValueError) as error:
        raise ValueError(
            "XLA computation function return values must all either be Operations or convertible "
            f'to Tensors. Got error: "{error}"'
        ) from None


@export("contrib.compiler.xla.check_function_argument_count")
def check_function_argument_count(
    func: Callable[..., Any], input_arity: int, infeed_queue: Any
) -> str | None:
    """What is wrong with how many arguments a function is given; None if nothing is.

    Args:
        func: the function.
        input_arity: how many it is given.
        infeed_queue: a queue that gives `number_of_tuple_elements` more, or None.
    """
    supplied = input_arity
    if infeed_queue is not None:
        supplied += infeed_queue.number_of_tuple_elements
    spec = inspect.getfullargspec(func)
    most, defaults = len(spec.args), len(spec.defaults or ())
    if supplied < most - defaults:
        bound = "at least" if defaults or spec.varargs else "exactly"
        wanted = most - defaults
    elif spec.varargs is None and supplied > most:
        bound, wanted = ("at most" if defaults else "exactly"), most
    else:
        return None
    return f"{bound} {wanted} argument{'' if wanted == 1 else 's'}"


@export("contrib.compiler.xla.estimator_model_fn")
def estimator_model_fn(target_model_fn: Callable[..., Any] | None = None) -> Any:
    """A decorator of model functions, which are compiled here anyway: gives them as they are."""
    if target_model_fn is None:
        return lambda function: function
    return target_model_fn
