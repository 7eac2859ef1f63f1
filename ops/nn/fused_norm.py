# SPDX-License-Identifier: Apache-2.0
"""Batch normalization as one op, in its three versions, and its gradient ops."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.compat import as_text
from ...engine.graph.build import define
from ...engine.graph.convert import convert_to_tensor
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape, shape_text
from ...jit.kernel import scalar as k
from ..elementwise import is_lowerable
from ..public import raw, tf
from . import window as nw

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView

# What cuDNN allows; TensorFlow raises smaller values to it.
_LEAST_EPSILON = 1.001e-5
_FORM_4 = "data_format: {'NHWC', 'NCHW'} = 'NHWC'"
_FORM_5 = "data_format: {'NHWC', 'NCHW', 'NDHWC', 'NCDHW'} = 'NHWC'"
_TYPES = (
    "T: {float32}",
    "T: {half, bfloat16, float32}; U: {float32}",
    "T: {half, bfloat16, float32}; U: {float32}",
)
_FORWARD = ("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
_BACKWARD = ("FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3")


def _axes(form: str, ndim: int) -> tuple[int, ...]:
    channel = 1 if nw.is_channels_first(form) else ndim - 1
    return tuple(i for i in range(ndim) if i != channel)


def _aligned(vector: np.ndarray, form: str, ndim: int) -> np.ndarray:
    at = 1 if nw.is_channels_first(form) else ndim - 1
    return vector.reshape([-1 if i == at else 1 for i in range(ndim)])


def _require_images(form: str, *arrays: np.ndarray) -> None:
    rank = 5 if "D" in form else 4
    for x in arrays:
        if x.ndim != rank:
            raise errors.invalid(f"input must be {rank}-dimensional{shape_text(x.shape)}")
        if x.shape != arrays[-1].shape:
            shapes = " and ".join(shape_text(array.shape) for array in arrays)
            raise errors.invalid(f"x and y_backprop must have same shape, but instead got {shapes}")


def _require_vectors(
    form: str, x: np.ndarray, stated: dict[str, np.ndarray], used: tuple[str, ...]
) -> None:
    """One number for every channel, in those that are used."""
    channels = x.shape[1 if nw.is_channels_first(form) else -1]
    for name, value in stated.items():
        if value.ndim != 1:
            raise errors.invalid(f"{name} must be 1-dimensional{shape_text(value.shape)}")
        if name in used and len(value) != channels:
            raise errors.invalid(
                f"{name} must have the same number of elements as the channels of x, got "
                f"{len(value)} and {channels}"
            )


# Bessel's correction, for the moving average of variances; y itself is made with the biased one.
def _unbiased(count: int) -> float:
    return count / max(count - 1, 1)


def _forward_kernel(version: int) -> Callable[..., Any]:
    @np.errstate(all="ignore")
    def kernel(
        c: KernelContext,
        x: np.ndarray,
        scale: np.ndarray,
        offset: np.ndarray,
        mean: np.ndarray,
        variance: np.ndarray,
    ) -> tuple[np.ndarray, ...]:
        form, epsilon = c.attr("data_format"), np.float32(c.attr("epsilon"))
        _require_images(form, x)
        stated = {"scale": scale, "offset": offset, "estimated_mean": mean}
        used = ("scale", "offset") if c.attr("is_training") else (*stated, "estimated_variance")
        _require_vectors(form, x, {**stated, "estimated_variance": variance}, used)
        wide, axes = x.astype(np.float32, copy=False), _axes(form, x.ndim)
        if c.attr("is_training"):
            # The mean of nothing is not a number, without a warning.
            rows = np.float32(np.prod([x.shape[i] for i in axes]))
            mean = wide.sum(axis=axes, dtype=np.float32) / rows
            centred = wide - _aligned(mean, form, x.ndim)
            variance = np.square(centred).sum(axis=axes, dtype=np.float32) / rows
            count = x.size // max(x.shape[1 if nw.is_channels_first(form) else -1], 1)
            out_variance = variance * np.float32(_unbiased(count))
        else:
            centred, out_variance = wide - _aligned(mean, form, x.ndim), variance
        factor = scale / np.sqrt(variance + epsilon)
        y = centred * _aligned(factor, form, x.ndim) + _aligned(offset, form, x.ndim)
        extra = (np.float32(0),) if version == 2 else ()
        return y.astype(x.dtype), mean, out_variance, mean, variance, *extra

    return kernel


def _along(b: Builder, axis: int, ndim: int, v: Value) -> Value:
    """A vector along one axis of `ndim`, to be broadcast."""
    return b.reshape(v, [v.shape[0] if i == axis else 1 for i in range(ndim)])


def _lower_forward(version: int) -> Callable[..., Any]:
    def lower(
        b: Builder, op: OpView, x: Value, scale: Value, offset: Value, mean: Value, variance: Any
    ) -> Any:
        if x.dtype != "float32":
            return NotImplemented
        form, epsilon = op.attr("data_format"), op.attr("epsilon")
        axes = _axes(form, x.ndim)
        at = next(i for i in range(x.ndim) if i not in axes)
        used = (scale, offset) if op.attr("is_training") else (scale, offset, mean, variance)
        b.require(x.ndim == (5 if "D" in form else 4) and mean.ndim == variance.ndim == 1)
        for value in used:
            b.require_shape(value, (x.shape[at],))

        spread = partial(_along, b, at, x.ndim)
        out_variance = variance
        if op.attr("is_training"):
            count = b.size_scalar(x, axes, x.dtype)
            mean = b.map(k.div, b.reduce("sum", x, axes), count)
            squares = b.map(lambda v, m: k.square(k.sub(v, m)), x, spread(mean))
            total = b.reduce("sum", squares, axes)
            variance = b.map(k.div, total, count)
            one = k.const_like
            out_variance = b.map(
                lambda v, n: k.mul(v, k.div(n, k.maximum(k.sub(n, one(1, n)), one(1, n)))),
                variance,
                count,
            )
        factor = b.map(
            lambda s, v: k.div(s, k.sqrt(k.add(v, k.const_like(epsilon, v)))), scale, variance
        )
        y = b.map(
            lambda v, m, f, o: k.add(k.mul(k.sub(v, m), f), o),
            x,
            spread(mean),
            spread(factor),
            spread(offset),
        )
        extra = (b.constant(np.float32(0)),) if version == 2 else ()
        return y, mean, out_variance, mean, variance, *extra

    return lower


def _forward_shape(version: int) -> Callable[[Any], list[TensorShape]]:
    def shape(c: ShapeContext) -> list[TensorShape]:
        x, form = c.inputs[0], c.attr("data_format")
        if x.ndims not in (None, 4, 5):
            raise ValueError(f"Shape must be rank 4 but is rank {x.ndims}")
        size = None if x.ndims is None else nw.channels(x.as_list(), form)
        per_channel = TensorShape([size])
        for other in c.inputs[1 : 3 if c.attr("is_training") else 5]:
            per_channel = per_channel.merge_with(other)
        if x.ndims is not None:
            dims = x.as_list()
            dims[1 if nw.is_channels_first(form) else -1] = per_channel.as_list()[0]
            x = TensorShape(dims)
        return [x, *[per_channel] * 4, *([TensorShape(None)] if version == 2 else [])]

    return shape


def _gradient(version: int) -> Callable[..., Any]:
    def gradient(op: Operation, grad: Tensor, *unused: Any) -> Any:
        x, scale, _, mean, variance = op.inputs
        form = op.attr("data_format")
        training = op.get_attr("is_training")
        function = getattr(raw, _BACKWARD[version])
        extra = [op.outputs[5]] if version == 2 else []
        attrs = {"epsilon": op.get_attr("epsilon"), "is_training": training}
        if training:
            saved = [op.outputs[3], op.outputs[4], *extra]
            return list(function(grad, x, scale, *saved, data_format=form, **attrs))[:5]
        rank = 5 if "D" in form else 4
        first = nw.is_channels_first(form)
        if first:
            # 1.15's gradient for inference knows channels last only and transposes to them.
            order = [0, *range(2, rank), 1]
            x, grad = tf.transpose(x, order), tf.transpose(grad, order)
        target = "NHWC" if rank == 4 else "NDHWC"
        made = function(grad, x, scale, mean, variance, *extra, data_format=target, **attrs)
        dx, dscale, doffset = list(made)[:3]
        if first:
            dx = tf.transpose(dx, [0, rank - 1, *range(1, rank - 1)])
        return dx, dscale, doffset, None, None

    return gradient


@np.errstate(all="ignore")
def _backward_kernel(
    c: KernelContext,
    dy: np.ndarray,
    x: np.ndarray,
    scale: np.ndarray,
    mean: np.ndarray,
    variance: np.ndarray,
    *extra: Any,
) -> tuple[np.ndarray, ...]:
    form, epsilon = c.attr("data_format"), np.float32(c.attr("epsilon"))
    _require_images(form, dy, x)
    stated = {"scale": scale, "saved mean": mean, "saved variance": variance}
    _require_vectors(form, x, stated, tuple(stated))
    axes, ndim = _axes(form, x.ndim), x.ndim
    grad, wide = dy.astype(np.float32, copy=False), x.astype(np.float32, copy=False)
    inverse = 1 / np.sqrt(variance + epsilon)
    centred = wide - _aligned(mean, form, ndim)
    dscale = (grad * centred).sum(axis=axes, dtype=np.float32) * inverse
    doffset = grad.sum(axis=axes, dtype=np.float32)
    factor = _aligned(scale * inverse, form, ndim)
    if not x.size:
        dscale = np.zeros_like(dscale)
        dx = grad
    elif c.attr("is_training"):
        count = np.float32(x.size // max(len(doffset), 1))
        # With xhat = (x - mean) * inverse: dx = scale * inverse * (dy - mean(dy) - xhat *
        # mean(dy * xhat)), where the last two come through the mean and the variance of the
        # batch.
        slope = _aligned(dscale * inverse / count, form, ndim)
        dx = factor * (grad - _aligned(doffset / count, form, ndim) - centred * slope)
    else:
        dx = factor * grad
    empty = np.empty(0, np.float32)
    return dx.astype(x.dtype), dscale, doffset, empty, empty


def _lower_backward(
    b: Builder,
    op: OpView,
    dy: Value,
    x: Value,
    scale: Value,
    mean: Value,
    variance: Value,
    *extra: Any,
) -> Any:
    if not is_lowerable(x.dtype) or x.dtype != "float32":
        return NotImplemented
    form, epsilon = op.attr("data_format"), op.attr("epsilon")
    axes = _axes(form, x.ndim)
    at = next(i for i in range(x.ndim) if i not in axes)
    b.require(x.ndim == (5 if "D" in form else 4))
    b.require_shape(dy, x.shape)
    for value in (scale, mean, variance):
        b.require_shape(value, (x.shape[at],))

    spread = partial(_along, b, at, x.ndim)
    inverse = b.map(lambda v: k.rsqrt(k.add(v, k.const_like(epsilon, v))), variance)
    products = b.map(lambda g, v, m: k.mul(g, k.sub(v, m)), dy, x, spread(mean))
    dscale = b.map(k.mul, b.reduce("sum", products, axes), inverse)
    doffset = b.reduce("sum", dy, axes)
    factor = b.map(k.mul, scale, inverse)
    if op.attr("is_training"):
        count = b.size_scalar(x, axes, x.dtype)
        # The moments of an empty batch are no numbers; its gradients are zeros.
        dscale = b.map(
            lambda d, n: k.select(k.eq(n, k.const_like(0, n)), k.const_like(0, d), d), dscale, count
        )
        slope = b.map(lambda s, i, n: k.div(k.mul(s, i), n), dscale, inverse, count)
        shift = b.map(k.div, doffset, count)
        dx = b.map(
            lambda g, v, m, f, s, o: k.mul(f, k.sub(k.sub(g, o), k.mul(k.sub(v, m), s))),
            dy,
            x,
            spread(mean),
            spread(factor),
            spread(slope),
            spread(shift),
        )
    else:
        dx = b.map(k.mul, dy, spread(factor))
    empty = b.constant(np.empty(0, np.float32))
    return dx, dscale, doffset, empty, empty


def _backward_shape(c: ShapeContext) -> list[TensorShape]:
    size = TensorShape([None]).merge_with(c.inputs[2])
    return [c.inputs[1], size, size, TensorShape([0]), TensorShape([0])]


def composed_gradient(
    grad_y: Tensor,
    x: Any,
    scale: Tensor,
    pop_mean: Tensor,
    pop_var: Tensor,
    epsilon: float,
    data_format: bytes | str,
    is_training: bool = True,
) -> tuple[Any, Any, Any]:
    """The gradients of images, scale and offset by smaller ops, which have gradients of their own.

    Those of images of sixteen bits are computed in single precision.
    """
    form, dtype = as_text(data_format), x.dtype.base_dtype
    if dtype == dtypes.float16:
        x, grad_y = tf.cast(x, dtypes.float32), tf.cast(grad_y, dtypes.float32)
    axes = list(_axes(form, x.shape.ndims))
    first = nw.is_channels_first(form)
    if first:
        shape = [1, tf.size(scale), *[1] * (x.shape.ndims - 2)]
        scale = tf.reshape(scale, shape)
    if not is_training:
        if first:
            pop_mean, pop_var = tf.reshape(pop_mean, shape), tf.reshape(pop_var, shape)
        doffset = tf.reduce_sum(grad_y, axis=axes)
        inverse = tf.rsqrt(pop_var + epsilon)
        dscale = tf.reduce_sum(grad_y * (x - pop_mean) * inverse, axis=axes)
        return tf.cast(grad_y * scale * inverse, dtype), dscale, doffset
    mean_dy = tf.reduce_mean(grad_y, axes, keepdims=first)
    mean_x = tf.reduce_mean(x, axes, keepdims=first)
    deviation = tf.squared_difference(x, tf.stop_gradient(mean_x))
    variance = tf.reduce_mean(deviation, axes, keepdims=first)
    dy_offset, x_offset = grad_y - mean_dy, x - mean_x
    mean = tf.reduce_mean(grad_y * x_offset, axis=axes, keepdims=first)
    dx = (
        scale
        * tf.rsqrt(variance + epsilon)
        * (dy_offset - tf.reciprocal(variance + epsilon) * mean * x_offset)
    )
    total = tf.reduce_sum(grad_y * x_offset, axis=axes, keepdims=first)
    dscale = tf.rsqrt(variance + epsilon) * total
    if first:
        dscale = tf.squeeze(dscale)
    return tf.cast(dx, dtype), dscale, tf.reduce_sum(grad_y, axis=axes)


def _second(version: int) -> Callable[..., Any]:
    def gradient(op: Operation, *grads: Any) -> tuple[Any, ...]:
        # The inputs may depend on each other: only what was made here counts.
        sources = [tf.identity(x) for x in op.inputs[:3]]
        facts = [op.get_attr(name) for name in ("epsilon", "data_format", "is_training")]
        given: list[Any] = [*sources, *op.inputs[3:5], *facts]
        made = composed_gradient(*given)
        results = tf.gradients(list(made), sources, list(grads[:3]))
        return *results, None, None, *([None] if version == 2 else [])

    return gradient


def _define_all(version: int) -> None:
    types = _TYPES[version]
    u = "T" if version == 0 else "U"
    form = _FORM_5 if version == 2 else _FORM_4
    attrs = f"{types}; epsilon: float = 0.0001; {form}; is_training: bool = true"
    inputs = f"x: T, scale: {u}, offset: {u}, mean: {u}, variance: {u}"
    extra = f", reserve_space_3: {u}" if version == 2 else ""
    define(
        _FORWARD[version],
        f"{inputs} -> y: T, batch_mean: {u}, batch_variance: {u}, reserve_space_1: {u}, "
        f"reserve_space_2: {u}{extra}",
        attrs,
        shape=_forward_shape(version),
        kernel=_forward_kernel(version),
        lower=_lower_forward(version),
        gradient=_gradient(version),
        doc="Batch normalization: y, mean, unbiased variance and what the gradient needs.",
        test={
            "shapes": [[[2, 3, 3, 4], [4], [4], [0], [0]]],
            "attrs": [{"epsilon": 0.01}],
            "gradient": False,
            "dtypes": ["float32"],
            "rtol": 1e-4,
        },
    )
    kind = "T" if version == 0 else "float32"
    given = f"y_backprop: T, x: T, scale: {kind}, reserve_space_1: {u}, reserve_space_2: {u}{extra}"
    first = 4 if version == 2 else 3
    define(
        _BACKWARD[version],
        f"{given} -> x_backprop: T, scale_backprop: {u}, offset_backprop: {u}, "
        f"reserve_space_{first}: {u}, reserve_space_{first + 1}: {u}",
        attrs.replace(_FORM_4, _FORM_5) if version == 0 else attrs,
        shape=_backward_shape,
        kernel=_backward_kernel,
        lower=_lower_backward,
        gradient=_second(version),
        doc="The gradient of batch normalization.",
        test={
            "shapes": [[[2, 3, 3, 4], [2, 3, 3, 4], [4], [4], [4], [0]]],
            "ranges": [(-2, 2), (-2, 2), (0.5, 1), (-1, 1), (0.5, 2), (0, 1)],
            "attrs": [{"epsilon": 0.01}],
            "gradient": False,
            "dtypes": ["float32"],
            "rtol": 1e-4,
        },
    )


for _version in (0, 1, 2):
    _define_all(_version)


@export("nn.fused_batch_norm")
def fused_batch_norm(
    x: TensorLike,
    scale: TensorLike,
    offset: TensorLike,
    mean: TensorLike | None = None,
    variance: TensorLike | None = None,
    epsilon: float = 0.001,
    data_format: str = "NHWC",
    is_training: bool = True,
    name: str | None = None,
) -> tuple[Any, Any, Any]:
    """Batch normalization; returns y, mean and variance of the batch."""
    x = convert_to_tensor(x, name="input")
    scale = convert_to_tensor(scale, name="scale")
    offset = convert_to_tensor(offset, name="offset")
    if is_training and (mean is not None or variance is not None):
        raise ValueError("Both 'mean' and 'variance' must be None if is_training is True.")
    mean = tf.constant([]) if mean is None else mean
    variance = tf.constant([]) if variance is None else variance
    made = raw.FusedBatchNormV3(
        x,
        scale,
        offset,
        mean,
        variance,
        epsilon=max(epsilon, _LEAST_EPSILON),
        data_format=data_format,
        is_training=is_training,
        name=name,
    )
    return made[0], made[1], made[2]
