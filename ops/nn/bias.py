# SPDX-License-Identifier: Apache-2.0
"""Adding a bias to the channels of a tensor."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.graph.build import define
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.graph import name_scope
from ...engine.types.shape import TensorShape, shape_text
from ..elementwise import is_lowerable
from ..public import raw, tf
from ..ranks import Rank, ranked

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor
    from ...jit.kernel.sizes import AnySize
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView

_FORMATS = "data_format: {'NHWC', 'NCHW'} = 'NHWC'"


def _channel(attr: Callable[..., Any], ndim: int) -> int:
    return 1 if attr("data_format") == "NCHW" else ndim - 1


def _bias_shape(c: ShapeContext) -> TensorShape:
    value, bias = c.inputs
    if bias.ndims not in (None, 1):
        raise ValueError(f"Shape must be rank 1 but is rank {bias.ndims}")
    if value.ndims is None:
        return value
    if value.ndims < 2:
        raise ValueError(f"Shape must be at least rank 2 but is rank {value.ndims}")
    dims = value.as_list()
    at = 1 if c.op_type == "BiasAdd" and c.attr("data_format") == "NCHW" else value.ndims - 1
    size = None if bias.ndims is None else bias.as_list()[0]
    if dims[at] is not None and size is not None and dims[at] != size:
        raise ValueError(f"Dimensions must be equal, but are {dims[at]} and {size}")
    dims[at] = size if dims[at] is None else dims[at]
    return TensorShape(dims)


def _aligned(size: AnySize, ndim: int, at: int) -> list[Any]:
    return [size if i == at else 1 for i in range(ndim)]


def _bias_kernel(c: KernelContext, value: np.ndarray, bias: np.ndarray) -> np.ndarray:
    at = _channel(c.attr, value.ndim) if c.op.type == "BiasAdd" else value.ndim - 1
    if value.ndim < 2:
        raise errors.invalid(f"Input tensor must be at least 2D: {shape_text(value.shape)}")
    if bias.ndim != 1:
        raise errors.invalid(f"Biases must be 1D: {shape_text(bias.shape)}")
    if value.shape[at] != bias.shape[0]:
        raise errors.invalid(
            f"Must provide as many biases as the last dimension of the input tensor: "
            f"{shape_text(bias.shape)} vs. {shape_text(value.shape)}"
        )
    return value + bias.reshape(_aligned(-1, value.ndim, at))


def _lower_bias(b: Builder, op: OpView, value: Value, bias: Value) -> Any:
    from ...jit.kernel import scalar as k

    if not is_lowerable(value.dtype):
        return NotImplemented
    at = _channel(op.attr, value.ndim) if op.type == "BiasAdd" else value.ndim - 1
    if value.ndim < 2 or not b.equal(value.shape[at], bias.shape[0]):
        return NotImplemented
    return b.map(k.add, value, b.reshape(bias, _aligned(bias.shape[0], value.ndim, at)))


def _bias_gradient(op: Operation, grad: Tensor) -> tuple[Any, Any]:
    # A bias is added once at every position of its channel, so its gradient is the sum over these.
    return grad, raw.BiasAddGrad(grad, data_format=op.attr("data_format"))


define(
    "BiasAdd",
    "value: T, bias: T -> output: T",
    f"T: numbertype; {_FORMATS}",
    shape=_bias_shape,
    kernel=_bias_kernel,
    lower=_lower_bias,
    gradient=_bias_gradient,
    doc="Adds a vector to the channels of a tensor.",
    test={
        "shapes": [[[2, 3], [3]], [[2, 3, 4, 5], [5]]],
        "dtypes": ["float32", "float64"],
        "gradient": True,
    },
)


def _bias_v1_gradient(op: Operation, grad: Tensor) -> tuple[Any, Any]:
    axes = tf.range(tf.rank(grad) - 1)
    return grad, tf.reduce_sum(grad, axes)


define(
    "BiasAddV1",
    "value: T, bias: T -> output: T",
    "T: numbertype",
    shape=_bias_shape,
    kernel=_bias_kernel,
    lower=_lower_bias,
    gradient=_bias_v1_gradient,
    doc="Adds a vector to the last axis of a tensor.",
    test={"shapes": [[[2, 3], [3]]], "dtypes": ["float32"], "gradient": True},
)


def _other_axes(attr: Callable[..., Any], ndim: int) -> tuple[int, ...]:
    at = _channel(attr, ndim)
    return tuple(i for i in range(ndim) if i != at)


def _grad_shape(c: ShapeContext) -> TensorShape:
    value = c.inputs[0]
    if value.ndims is None:
        return TensorShape([None])
    if value.ndims < 2:
        raise ValueError(f"Shape must be at least rank 2 but is rank {value.ndims}")
    return TensorShape([value.as_list()[_channel(c.attr, value.ndims)]])


def _grad_gradient(op: Operation, grad: Tensor) -> Tensor:
    # The gradient of a sum: the same number for every element that went into it.
    shape, bias_shape = tf.shape(op.inputs[0]), tf.shape(grad)
    if op.attr("data_format") == "NCHW":
        head, tail = tf.ones_like(shape[:1]), tf.ones_like(shape[2:])
        expanded_shape = tf.concat([head, bias_shape, tail], 0)
        multiples = tf.concat([shape[:1], [1], shape[2:]], 0)
    else:
        expanded_shape = tf.concat([tf.ones_like(shape[:-1]), bias_shape], 0)
        multiples = tf.concat([shape[:-1], [1]], 0)
    return tf.tile(tf.reshape(grad, expanded_shape), multiples)


def _lower_grad(b: Builder, op: OpView, value: Value) -> Any:
    if not is_lowerable(value.dtype):
        return NotImplemented
    return b.reduce("sum", value, _other_axes(op.attr, value.ndim))


define(
    "BiasAddGrad",
    "out_backprop: T -> output: T",
    f"T: numbertype; {_FORMATS}",
    shape=_grad_shape,
    kernel=ranked(
        lambda c, x: np.add.reduce(x, axis=_other_axes(c.attr, x.ndim), dtype=x.dtype),
        Rank(0, (2, 3, 4, 5), "Input tensor must be at least 2D: {shape}"),
    ),
    lower=_lower_grad,
    gradient=_grad_gradient,
    doc="The gradient of a bias: the sum over all but the channels.",
    test={"shapes": [[[2, 3]], [[2, 3, 4, 5]]], "dtypes": ["float32", "float64"], "gradient": True},
)


@export("nn.bias_add")
def bias_add(
    value: TensorLike, bias: Any, data_format: str | None = None, name: str | None = None
) -> Tensor:
    """Adds a vector to the channels of a tensor.

    Args:
        value: a tensor of numbers, of two dimensions or more.
        bias: the same dtype [channels].
        data_format: "N...C", the default, for channels at the end, or "NC...", in second place.
        name: of the operation.

    Returns:
        A Tensor of the dtype and shape of `value`.

    Raises:
        ValueError: the sizes do not fit, or there is no such format.

    Example:
        >>> tf.Session().run(tf.nn.bias_add([[1, 2], [3, 4]], [10, 20]))
        array([[11, 22],
               [13, 24]], dtype=int32)
    """
    with name_scope(name, "BiasAdd", [value, bias]) as name:
        if data_format is not None:
            if data_format.startswith("NC"):
                data_format = "NCHW"
            elif data_format.startswith("N") and data_format.endswith("C"):
                data_format = "NHWC"
            else:
                raise ValueError("data_format must be of the form `N...C` or `NC...`")
        value = convert_to_tensor(value, name="input")
        bias = convert_to_tensor(bias, dtype=value.dtype, name="bias")
        return raw.BiasAdd(value, bias, data_format=data_format or "NHWC", name=name)


def bias_add_v1(value: TensorLike, bias: TensorLike, name: str | None = None) -> Tensor:
    """The old op: the bias goes to the last axis."""
    with name_scope(name, "BiasAddV1", [value, bias]) as name:
        value = convert_to_tensor(value, name="input")
        bias = convert_to_tensor(bias, dtype=value.dtype, name="bias")
        return raw.BiasAddV1(value, bias, name=name)


@export("nn.xw_plus_b")
def xw_plus_b(
    x: TensorLike, weights: TensorLike, biases: TensorLike, name: str | None = None
) -> Tensor:
    """matmul(x, weights) + biases.

    Args:
        x: a tensor of numbers [batch, inputs].
        weights: the same dtype [inputs, outputs].
        biases: the same dtype [outputs].
        name: of the operation.

    Returns:
        A Tensor [batch, outputs] of that dtype.

    Raises:
        TypeError: the dtypes differ.
        ValueError: the sizes do not fit.

    Example:
        >>> tf.Session().run(tf.nn.xw_plus_b([[1.0, 2.0]], [[1.0], [10.0]], [0.5]))
        array([[21.5]], dtype=float32)
    """
    with name_scope(name, "xw_plus_b", [x, weights, biases]) as name:
        x = convert_to_tensor(x, name="x")
        weights = convert_to_tensor(weights, name="weights")
        biases = convert_to_tensor(biases, name="biases")
        return bias_add(tf.matmul(x, weights), biases, name=name)
