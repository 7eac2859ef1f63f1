# SPDX-License-Identifier: Apache-2.0
"""`py_function`: Python functions of tensors that have values, with gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine.api import export
from ...engine.graph.build import define
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.graph import control_dependencies, get_default_graph
from ...engine.session.eager_graph import ImmediateGraph
from ..public import raw, tf
from ..state.variables import Variable
from .script import (
    PYTHON,
    _kinds_of,
    _py_funcs,
    _shapes,
    check_results,
    require_callable,
    runtime_error,
)

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, TensorLike
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...engine.types.dtypes import DType


class EagerFunction:
    """A function whose arguments have values; keeps its last call for the gradient."""

    def __init__(
        self, function: Callable[..., Any], kinds: list[Any], is_gradient: bool = False
    ) -> None:
        self._function = function
        self._kinds = kinds
        self._is_gradient = is_gradient
        self.last_call: Any = None

    def __call__(self, arrays: list[np.ndarray]) -> list[np.ndarray]:
        graph = ImmediateGraph()
        with graph.as_default():
            arguments = [tf.constant(array) for array in arrays]
            result = self._function(*arguments)
            items = list(result) if isinstance(result, (tuple, list)) else [result]
            items = [] if result is None else items
            outputs = [self._converted(x, k) for x, k in zip(items, self._kinds, strict=False)]
        self.last_call = graph, arguments, outputs
        # What is too many or too few is for the caller to report.
        surplus = items[len(outputs) :]
        return [tensor.array() for tensor in outputs] + surplus

    def _converted(self, value: TensorLike, kind: DType) -> Any:
        if isinstance(value, Variable):
            raise RuntimeError(
                "Attempting to return a variable from an eagerly executed py_func. Only numeric "
                "data structures like Tensors or NumPy arrays should be returned; to return the "
                "value of a variable, make sure to obtain the Tensor backing it by calling "
                f"`.read_value()` on the variable in question: {value}"
            )
        if value is None and self._is_gradient:
            return tf.constant(0, dtype=kind)
        return convert_to_tensor(value, dtype=kind)

    def gradient(self, *grads: Any) -> list[Any]:
        """The gradients of the last call."""
        graph, arguments, outputs = self.last_call
        with graph.as_default():
            given = [tf.constant(grad.numpy()) for grad in grads]
            return tf.gradients(outputs, arguments, given)


def _call(c: KernelContext, inputs: list[np.ndarray]) -> Any:
    token = c.attr("token")
    function = _py_funcs.find(token)
    try:
        arrays = function(inputs)
    except Exception as error:
        raise runtime_error(error) from error
    check_results(token, arrays, c.attr("Tout"))
    return tuple(arrays)


def _gradient(op: Operation, *grads: Any) -> Any:
    forward: Any = _py_funcs.find(op.attr("token"))
    with control_dependencies(op.outputs):
        kinds = [tensor.dtype for tensor in op.inputs]
        return _eager_op(EagerFunction(forward.gradient, kinds, True), grads, kinds)


define(
    "EagerPyFunc",
    "input: Tin -> output: Tout",
    "token: string; is_async: bool = false; Tin: list(type) >= 0; Tout: list(type) >= 0",
    shape=_shapes,
    kernel=_call,
    gradient=_gradient,
    stateful=True,
    touches=PYTHON,
    dynamic_shape=True,
    doc="Calls a Python function with tensors that have values.",
    test={"needs": "a Python function"},
)


def _eager_op(
    function: EagerFunction, inputs: Sequence[Any], kinds: Sequence[DType], name: str | None = None
) -> Any:
    token = _py_funcs.insert(function, get_default_graph())
    return raw.EagerPyFunc(list(inputs), token=token, Tout=kinds, name=name)


@export("py_function")
def eager_py_func(
    func: Callable[..., Any],
    inp: Sequence[Any],
    Tout: DTypeLike,  # noqa: N803 - TensorFlow's name
    name: str | None = None,
) -> Any:
    """Calls func(*tensors) when the operation runs; operations made inside run at once.

    The tensors have values: `x.numpy()`, `if x > 0`.  The function can be differentiated once.
    """
    require_callable(func)
    is_list, kinds = _kinds_of(Tout)
    result = _eager_op(EagerFunction(func, kinds), inp, kinds, name)
    return result if is_list else result[0]
