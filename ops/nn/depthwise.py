# SPDX-License-Identifier: Apache-2.0
"""Depthwise convolution: every channel has filters of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.deprecation import deprecated_argument_lookup
from ...engine.graph.build import define
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.graph import name_scope
from ...engine.types.shape import TensorShape
from ..public import raw, tf
from . import window as nw
from .conv import _attrs_of, _ramp, _sum_type, geometry
from .views import widened

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView

_ATTRS = (
    "T: {half, bfloat16, float32, float64}; strides: list(int); padding: {'SAME', 'VALID'}; "
    "data_format: {'NHWC', 'NCHW'} = 'NHWC'; dilations: list(int) = [1, 1, 1, 1]"
)
_NAMES = ("strides", "padding", "data_format", "dilations")


def _shape(c: ShapeContext) -> TensorShape:
    form = c.attr("data_format")
    x, w = nw.known_dims(c.inputs[0], 4), nw.known_dims(c.inputs[1], 4)
    deep = nw.channels(x, form)
    if deep is not None and w[2] is not None and deep != w[2]:
        raise ValueError(f"Dimensions must be equal, but are {deep} and {w[2]}")
    deep = w[2] if deep is None else deep
    depth = None if deep is None or w[3] is None else deep * w[3]
    out = geometry(c.attr, nw.spatial(x, form), w[:2]).out
    return TensorShape(nw.arranged(x[0], out, depth, form))


@np.errstate(all="ignore")
def _forward(c: KernelContext, x: np.ndarray, w: np.ndarray) -> np.ndarray:
    form, kind = c.attr("data_format"), _sum_type(x.dtype)
    last = nw.channels_last(x, form).astype(kind, copy=False)
    if last.shape[-1] != w.shape[2]:
        raise errors.invalid(
            f"input and filter must have the same depth: {last.shape[-1]} vs {w.shape[2]}"
        )
    window = nw.at_run_time(geometry, c.attr, last.shape[1:-1], w.shape[:2])
    padded = window.pad(last)
    result = np.zeros([x.shape[0], *window.out, *w.shape[2:]], kind)
    # One product for each place in the window, over all outputs at once: few large steps of NumPy.
    for offset, where in window.offsets():
        result += padded[where][..., None] * w[offset]
    flat = result.reshape(*result.shape[:-2], result.shape[-2] * result.shape[-1])
    return nw.channels_back(flat.astype(x.dtype, copy=False), form)


def _split(dy: np.ndarray, w_shape: Sequence[int]) -> np.ndarray:
    """The output's channels as input channel and multiplier."""
    return dy.reshape(*dy.shape[:-1], w_shape[2], w_shape[3])


@np.errstate(all="ignore")
def _input_gradient(
    c: KernelContext, sizes: np.ndarray, w: np.ndarray, dy: np.ndarray
) -> np.ndarray:
    form, kind = c.attr("data_format"), _sum_type(dy.dtype)
    shape = [int(n) for n in sizes]
    inner = nw.spatial(shape, form)
    window = nw.at_run_time(geometry, c.attr, inner, w.shape[:2])
    grad = _split(nw.channels_last(dy, form).astype(kind, copy=False), w.shape)
    padded = window.padded_zeros(shape[0], w.shape[2], kind)
    for offset, where in window.offsets():
        padded[where] += (grad * w[offset]).sum(axis=-1)
    result = window.unpad(padded).astype(dy.dtype, copy=False)
    return nw.channels_back(result, form)


@np.errstate(all="ignore")
def _filter_gradient(
    c: KernelContext, x: np.ndarray, sizes: np.ndarray, dy: np.ndarray
) -> np.ndarray:
    form, kind = c.attr("data_format"), _sum_type(dy.dtype)
    shape = [int(n) for n in sizes]
    last = nw.channels_last(x, form).astype(kind, copy=False)
    window = nw.at_run_time(geometry, c.attr, last.shape[1:-1], shape[:2])
    grad = _split(nw.channels_last(dy, form).astype(kind, copy=False), shape)
    padded = window.pad(last)
    result = np.zeros(shape, kind)
    for offset, where in window.offsets():
        result[offset] = (padded[where][..., None] * grad).sum(axis=(0, 1, 2))
    return result.astype(dy.dtype, copy=False)


def _arguments(op: OpView) -> tuple[Any, ...]:
    """Strides, padding and dilations, of height and width."""
    form = op.attr("data_format")
    strides, dilations = (nw.spatial(op.attr(name), form) for name in ("strides", "dilations"))
    return strides, op.attr("padding"), dilations


def _is_turned(op: OpView) -> bool:
    return nw.is_channels_first(op.attr("data_format"))


def _to_last(b: Builder, op: OpView, value: Any) -> Any:
    return b.transpose(value, (0, 2, 3, 1)) if _is_turned(op) else value


def _from_last(b: Builder, op: OpView, value: Any) -> Any:
    if value is NotImplemented or not _is_turned(op):
        return value
    return b.transpose(value, (0, 3, 1, 2))


def _rounded(b: Builder, op: OpView, value: Any, dtype: str) -> Any:
    """What was made of wider values, channels where the operation has them."""
    return value if value is NotImplemented else _from_last(b, op, b.cast(value, dtype))


def _lower_forward(b: Builder, op: OpView, x: Value, w: Value) -> Any:
    from ...jit import library

    images, filters = _to_last(b, op, widened(b, x)), widened(b, w)
    return _rounded(b, op, library.depthwise(b, images, filters, *_arguments(op)), x.dtype)


def _lower_input_gradient(b: Builder, op: OpView, sizes: Value, w: Value, dy: Value) -> Any:
    from ...jit import library

    known = b.known(sizes)
    if known is None or len(known) != 4:
        return NotImplemented
    n = known.tolist()
    shape = [n[0], n[2], n[3], n[1]] if _is_turned(op) else n
    scores, filters = _to_last(b, op, widened(b, dy)), widened(b, w)
    made = library.depthwise_input_gradient(b, shape, filters, scores, *_arguments(op))
    return _rounded(b, op, made, dy.dtype)


def _lower_filter_gradient(b: Builder, op: OpView, x: Value, sizes: Value, dy: Value) -> Any:
    from ...jit import library

    known = b.known(sizes)
    if known is None or len(known) != 4:
        return NotImplemented
    images, scores = (_to_last(b, op, widened(b, value)) for value in (x, dy))
    made = library.depthwise_filter_gradient(b, images, known.tolist(), scores, *_arguments(op))
    return made if made is NotImplemented else b.cast(made, x.dtype)


def _gradient(op: Operation, grad: Tensor) -> list[Any]:
    x, w = op.inputs
    attrs = _attrs_of(op, *_NAMES)
    return [
        raw.DepthwiseConv2dNativeBackpropInput(tf.shape(x), w, grad, **attrs),
        raw.DepthwiseConv2dNativeBackpropFilter(x, tf.shape(w), grad, **attrs),
    ]


def _input_second(op: Operation, grad: Tensor) -> list[Any]:
    # dx is linear in w and in dy. With g, the gradient of dx, in the place of x,
    # sum(g * dx) = sum(dy * conv(g, w)), whose gradients are the two ops below.
    _, w, dy = op.inputs
    attrs = _attrs_of(op, *_NAMES)
    return [
        None,
        raw.DepthwiseConv2dNativeBackpropFilter(grad, tf.shape(w), dy, **attrs),
        raw.DepthwiseConv2dNative(grad, w, **attrs),
    ]


def _filter_second(op: Operation, grad: Tensor) -> list[Any]:
    # Likewise with g, the gradient of dw, in the place of the filter:
    # sum(g * dw) = sum(dy * conv(x, g)).
    x, _, dy = op.inputs
    attrs = _attrs_of(op, *_NAMES)
    return [
        raw.DepthwiseConv2dNativeBackpropInput(tf.shape(x), grad, dy, **attrs),
        None,
        raw.DepthwiseConv2dNative(x, grad, **attrs),
    ]


depthwise_conv2d_native = define(
    "DepthwiseConv2dNative",
    "input: T, filter: T -> output: T",
    _ATTRS,
    shape=_shape,
    kernel=_forward,
    lower=_lower_forward,
    gradient=_gradient,
    doc="Convolves every channel with its own filters.",
    test={
        "shapes": [[[2, 5, 5, 3], [2, 2, 3, 2]]],
        "attrs": [
            {"strides": [1, 1, 1, 1], "padding": "SAME"},
            {"strides": [1, 2, 2, 1], "padding": "VALID"},
        ],
        "dtypes": ["float32", "float64"],
        "gradient": True,
    },
)
export("nn.depthwise_conv2d_native")(depthwise_conv2d_native)
depthwise_conv2d_native_backprop_input = define(
    "DepthwiseConv2dNativeBackpropInput",
    "input_sizes: int32, filter: T, out_backprop: T -> output: T",
    _ATTRS,
    shape=lambda c: c.value_as_shape(0).with_rank(4),
    kernel=_input_gradient,
    lower=_lower_input_gradient,
    gradient=_input_second,
    doc="The gradient of DepthwiseConv2dNative with respect to its input.",
    test=lambda: {
        "values": [[np.array([2, 4, 4, 3], np.int32), _ramp(2, 2, 3, 2), _ramp(2, 4, 4, 6)]],
        "attrs": [{"strides": [1, 1, 1, 1], "padding": "SAME"}],
    },
)
export("nn.depthwise_conv2d_native_backprop_input", "nn.depthwise_conv2d_backprop_input")(
    depthwise_conv2d_native_backprop_input
)
depthwise_conv2d_native_backprop_filter = define(
    "DepthwiseConv2dNativeBackpropFilter",
    "input: T, filter_sizes: int32, out_backprop: T -> output: T",
    _ATTRS,
    shape=lambda c: c.value_as_shape(1).with_rank(4),
    kernel=_filter_gradient,
    lower=_lower_filter_gradient,
    gradient=_filter_second,
    doc="The gradient of DepthwiseConv2dNative with respect to its filter.",
    test=lambda: {
        "values": [[_ramp(2, 4, 4, 3), np.array([2, 2, 3, 2], np.int32), _ramp(2, 4, 4, 6)]],
        "attrs": [{"strides": [1, 1, 1, 1], "padding": "SAME"}],
    },
)
export("nn.depthwise_conv2d_native_backprop_filter", "nn.depthwise_conv2d_backprop_filter")(
    depthwise_conv2d_native_backprop_filter
)


@export("nn.depthwise_conv2d")
def depthwise_conv2d(
    input: TensorLike,
    filter: TensorLike,
    strides: Sequence[int],
    padding: str,
    rate: Sequence[int] | None = None,
    name: str | None = None,
    data_format: str | None = None,
    dilations: Sequence[int] | None = None,
) -> Any:
    """Convolves every channel with its own filters, which may be dilated by `rate`."""
    from .atrous import with_space_to_batch

    rate = deprecated_argument_lookup("dilations", dilations, "rate", rate)
    with name_scope(name, "depthwise", [input, filter]) as name:
        input = convert_to_tensor(input, name="tensor_in")
        filter = convert_to_tensor(filter, name="filter_in")

        def op(converted: TensorLike, _: int, padding: str) -> Any:
            return depthwise_conv2d_native(
                input=converted,
                filter=filter,
                strides=strides,
                padding=padding,
                data_format=data_format or "NHWC",
                name=name,
            )

        return with_space_to_batch(
            input=input,
            filter_shape=tf.shape(filter),
            dilation_rate=[1, 1] if rate is None else rate,
            padding=padding,
            data_format=data_format,
            op=op,
        )


@export("nn.separable_conv2d")
def separable_conv2d(
    input: Any,
    depthwise_filter: Any,
    pointwise_filter: Any,
    strides: Any,
    padding: str,
    rate: Any = None,
    name: str | None = None,
    data_format: str | None = None,
    dilations: Any = None,
) -> Any:
    """A depthwise convolution followed by one of single pixels."""
    from .atrous import with_space_to_batch

    rate = deprecated_argument_lookup("dilations", dilations, "rate", rate)
    values = [input, depthwise_filter, pointwise_filter]
    with name_scope(name, "separable_conv2d", values) as name:
        input = convert_to_tensor(input, name="tensor_in")
        depthwise_filter = convert_to_tensor(depthwise_filter, name="depthwise_filter")
        pointwise_filter = convert_to_tensor(pointwise_filter, name="pointwise_filter")
        shape = pointwise_filter.get_shape().with_rank(4)
        shape.dims[0].assert_is_compatible_with(1)
        shape.dims[1].assert_is_compatible_with(1)

        def op(converted: TensorLike, _: int, padding: str) -> Any:
            return depthwise_conv2d_native(
                input=converted,
                filter=depthwise_filter,
                strides=strides,
                padding=padding,
                data_format=data_format or "NHWC",
                name="depthwise",
            )

        depthwise = with_space_to_batch(
            input=input,
            filter_shape=tf.shape(depthwise_filter),
            dilation_rate=[1, 1] if rate is None else rate,
            padding=padding,
            data_format=data_format,
            op=op,
        )
        return tf_conv2d(depthwise, pointwise_filter, data_format, name)


def tf_conv2d(x: TensorLike, w: TensorLike, data_format: str | None, name: str | None) -> Tensor:
    """The convolution of single pixels."""
    from .conv_public import conv2d

    return conv2d(x, w, [1, 1, 1, 1], padding="VALID", data_format=data_format, name=name)
