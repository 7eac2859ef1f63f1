# SPDX-License-Identifier: Apache-2.0
"""Convolutions, pooling and the like of images in numbers of few bits: on the host, by NumPy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.graph import registry
from ...engine.graph.build import define
from ...engine.types.shape import TensorShape, shape_text
from .. import shape_inference
from ..image.resize import between, check_sizes, resized_shape
from ..nn import window as nw
from .arithmetic import KINDS, NO_GRADIENT, Ranged, with_range
from .steps import (
    cast,
    plain,
    product_range,
    scalars,
    to_float,
    to_number,
    to_steps,
    to_whole,
    wrapped,
)

if TYPE_CHECKING:
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext

_RECORDS = {"needs": "numbers that NumPy has as records"}
_f32 = np.float32


# Convolution


def _check_attrs(attr: Callable[[str], Any]) -> None:
    strides, dilations = attr("strides"), attr("dilations")
    for values, name in ((strides, "Sliding window strides"), (dilations, "Dilations")):
        if len(values) != 4:
            raise errors.invalid(f"{name} field must specify 4 dimensions")
    if strides[1] != strides[2]:
        raise errors.invalid(
            "Current implementation only supports equal length strides in the row and column "
            "dimensions."
        )
    if strides[0] != 1 or strides[3] != 1:
        raise errors.invalid(
            "Current implementation does not yet support strides in the batch and depth dimensions."
        )
    if dilations[1] != 1 or dilations[2] != 1:
        raise errors.invalid(
            "Current implementation only supports dilated rate as 1 in the row and column "
            "dimensions."
        )
    if dilations[0] != 1 or dilations[3] != 1:
        raise errors.invalid(
            "Current implementation does not yet support dilations in the batch and depth "
            "dimensions."
        )


def _starts(size: int, out: int, window: int, stride: int, padding: str) -> np.ndarray:
    """Where windows begin; what a stride leaves over is shared by both sides, even if "VALID"."""
    left = (out - 1) * stride + window - size + (padding == "VALID")
    return np.arange(out) * stride - int(left / 2)


def _taken(x: np.ndarray, axis: int, places: np.ndarray) -> np.ndarray:
    """Rows at some places, zeros outside."""
    is_inside = (places >= 0) & (places < x.shape[axis])
    found = np.take(x, np.where(is_inside, places, 0), axis)
    spread = [1] * x.ndim
    spread[axis] = len(places)
    return found * is_inside.reshape(spread)


def _convolved(x: np.ndarray, w: np.ndarray, stride: int, padding: str) -> np.ndarray:
    """Sums of products of integers, which float64 holds exactly."""
    window = nw.at_run_time(nw.window, x.shape[1:3], w.shape[:2], [stride, stride], padding)
    rows, columns = (
        _starts(x.shape[i], window.out[i - 1], w.shape[i - 1], stride, padding) for i in (1, 2)
    )
    total = np.zeros([x.shape[0], len(rows), len(columns), w.shape[3]])
    values, weights = x.astype(np.float64), w.astype(np.float64)
    for i in range(w.shape[0]):
        line = _taken(values, 1, rows + i)
        for j in range(w.shape[1]):
            total += _taken(line, 2, columns + j) @ weights[i, j]
    return total.astype(np.int64)


def _convolution(c: KernelContext, x: np.ndarray, w: np.ndarray, *ends: np.ndarray) -> Ranged:
    _check_attrs(c.attr)
    if x.ndim != 4:
        raise errors.invalid(f"input must be 4-dimensional{shape_text(x.shape)}")
    if w.ndim != 4:
        raise errors.invalid(f"filter must be 4-dimensional: {shape_text(w.shape)}")
    if x.shape[3] != w.shape[2]:
        raise errors.invalid(
            f"input and filter must have the same depth: {x.shape[3]} vs {w.shape[2]}"
        )
    low, high, low_w, high_w = scalars(*ends)
    values = plain(x).astype(np.int64) - to_whole(0.0, low, high, x.dtype)
    weights = plain(w).astype(np.int64) - to_whole(0.0, low_w, high_w, w.dtype)
    found = _convolved(values, weights, c.attr("strides")[1], c.attr("padding"))
    dtype = c.out_dtype()
    return wrapped(found, dtype), *product_range(
        (low, high, x.dtype), (low_w, high_w, w.dtype), dtype
    )


def _windows_shape(c: ShapeContext, window: Sequence[int | None], depth: int | None) -> TensorShape:
    batch, *sizes, _ = shape_inference.ranked(c.inputs[0], 4)
    strides, padding = c.attr("strides")[1:3], c.attr("padding")
    out = nw.window(sizes, window, strides, padding).out
    return TensorShape([batch, *out, depth])


def _convolution_shape(c: ShapeContext) -> TensorShape:
    depth = shape_inference.ranked(c.inputs[0], 4)[3]
    high, wide, inner, outer = shape_inference.ranked(c.inputs[1], 4)
    if depth is not None and inner is not None and depth != inner:
        raise ValueError(f"Dimensions must be equal, but are {depth} and {inner}")
    return _windows_shape(c, [high, wide], outer)


export("nn.quantized_conv2d")(
    define(
        "QuantizedConv2D",
        "input: Tinput, filter: Tfilter, min_input: float32, max_input: float32, "
        "min_filter: float32, max_filter: float32 -> "
        "output: out_type, min_output: float32, max_output: float32",
        f"Tinput: {KINDS}; Tfilter: {KINDS}; out_type: {KINDS} = qint32; strides: list(int); "
        "padding: {'SAME', 'VALID'}; dilations: list(int) = [1, 1, 1, 1]",
        shape=with_range(_convolution_shape, 2),
        kernel=_convolution,
        gradient=NO_GRADIENT,
        doc="The convolution of images and filters of numbers of few bits.",
        test=lambda: _RECORDS,
    )
)


# Pooling


def _pooled(op_type: str) -> Callable[..., Ranged]:
    pool = registry.lookup(op_type).kernel
    assert pool is not None, f"{op_type} has a reference kernel"

    def kernel(c: KernelContext, x: np.ndarray, low: np.ndarray, high: np.ndarray) -> Ranged:
        for name in ("ksize", "strides"):
            if len(c.attr(name)) != 4:
                raise errors.invalid(f"Sliding window {name} field must specify 4 dimensions")
        if op_type == "AvgPool" and c.attr("ksize")[3] != 1:
            raise errors.unimplemented("Non-spatial pooling is not yet supported.")
        # Sums of integers are exact in float64; means are cut as integers are divided.
        found = np.trunc(pool(c, plain(x).astype(np.float64))).astype(np.int64)
        return wrapped(found, x.dtype), *scalars(low, high)

    return kernel


def _pooled_shape(c: ShapeContext) -> TensorShape:
    depth = shape_inference.ranked(c.inputs[0], 4)[3]
    if len(c.attr("ksize")) != 4 or len(c.attr("strides")) != 4:
        return TensorShape([None] * 4)
    if depth is not None and c.attr("ksize")[3] != 1:
        depth //= c.attr("ksize")[3]
    return _windows_shape(c, c.attr("ksize")[1:3], depth)


for _name, _public, _what in (
    ("QuantizedAvgPool", "nn.quantized_avg_pool", "means"),
    ("QuantizedMaxPool", "nn.quantized_max_pool", "maxima"),
):
    _function = define(
        _name,
        "input: T, min_input: float32, max_input: float32 -> "
        "output: T, min_output: float32, max_output: float32",
        f"T: {KINDS}; ksize: list(int); strides: list(int); padding: {{'SAME', 'VALID'}}",
        shape=with_range(_pooled_shape, 1),
        kernel=_pooled(_name.removeprefix("Quantized")),
        gradient=NO_GRADIENT,
        doc=f"The {_what} of windows of images of numbers of few bits.",
        test=lambda: _RECORDS,
    )
    export(_public)(_function)


# Normalization


def _instance_norm(c: KernelContext, x: np.ndarray, low: np.ndarray, high: np.ndarray) -> Ranged:
    first, last = scalars(low, high)
    if not first < last:
        raise errors.invalid(f"input_min must be less than input_max : {first:g} >= {last:g}")
    given = None
    if c.attr("output_range_given"):
        given = _f32(c.attr("given_y_min")), _f32(c.attr("given_y_max"))
        if not given[0] < given[1]:
            raise errors.invalid(
                f"given_y_min must be less than given_y_max : {given[0]:g} >= {given[1]:g}"
            )
    scale = (last - first) / _f32(255)
    values = plain(x).astype(np.float32)
    centred = values - values.mean((1, 2), keepdims=True, dtype=np.float32)
    variance = np.square(scale * centred).mean((1, 2), keepdims=True, dtype=np.float32)
    epsilon = _f32(c.attr("variance_epsilon"))
    normed = scale * centred * (_f32(1) / np.sqrt(variance + epsilon))
    least, most = given or (normed.min(), normed.max())
    if most - least < _f32(c.attr("min_separation")):
        most = least + _f32(c.attr("min_separation"))
    return cast(to_steps(normed, least, most, x.dtype), x.dtype), least, most


def _batch_norm(c: KernelContext, *given: np.ndarray) -> Ranged:
    triples = [(x, *scalars(*ends)) for x, *ends in zip(*(given[i::3] for i in range(3)))]
    names = ("input", "mean", "var", "beta", "gamma")
    for name, (x, *_) in zip(names, triples, strict=True):
        rank = 4 if name == "input" else 1
        if x.ndim != rank:
            raise errors.invalid(f"{name} must be {rank}-dimensional{shape_text(x.shape)}")
    mean, variance, beta, gamma = (
        to_float(plain(x), low, high, x.dtype) for x, low, high in triples[1:]
    )
    dtype = c.out_dtype()
    # The range of all results, so that sums and products of integers have room.
    low, high = _f32(-(1 << 20)), _f32(1 << 20)
    scale = _f32(1) / np.sqrt(variance + _f32(c.attr("variance_epsilon")))
    if c.attr("scale_after_normalization"):
        scale = scale * gamma
    x, *ends = triples[0]
    values, scales, offsets, one = (
        to_number(v, low, high, dtype).astype(np.int32)
        for v in (to_float(plain(x), ends[0], ends[1], x.dtype), scale, beta - mean * scale, 1.0)
    )
    with np.errstate(over="ignore"):
        products = (values * scales).astype(np.int64)
    quotients = np.sign(products) * (np.abs(products) // int(one))
    return wrapped(quotients + offsets, dtype), low, high


def _batch_norm_shape(c: ShapeContext) -> list[TensorShape]:
    *sizes, depth = shape_inference.ranked(c.inputs[0], 4)
    for shape in c.inputs[3::3]:
        depth = shape_inference.merge_dim(depth, shape_inference.ranked(shape, 1)[0])
    return [TensorShape([*sizes, depth]), TensorShape([]), TensorShape([])]


define(
    "QuantizedInstanceNorm",
    "x: T, x_min: float32, x_max: float32 -> y: T, y_min: float32, y_max: float32",
    f"T: {KINDS}; output_range_given: bool = false; given_y_min: float = 0; "
    "given_y_max: float = 0; variance_epsilon: float = 1e-05; min_separation: float = 0.001",
    shape=with_range(lambda c: TensorShape(shape_inference.ranked(c.inputs[0], 4)), 1),
    kernel=_instance_norm,
    gradient=NO_GRADIENT,
    doc="Images of numbers of few bits, each channel with the mean 0 and the variance 1.",
    test=lambda: _RECORDS,
)
define(
    "QuantizedBatchNormWithGlobalNormalization",
    "t: Tinput, t_min: float32, t_max: float32, m: Tinput, m_min: float32, m_max: float32, "
    "v: Tinput, v_min: float32, v_max: float32, beta: Tinput, beta_min: float32, "
    "beta_max: float32, gamma: Tinput, gamma_min: float32, gamma_max: float32 -> "
    "result: out_type, result_min: float32, result_max: float32",
    f"Tinput: {KINDS}; out_type: {KINDS}; variance_epsilon: float; scale_after_normalization: bool",
    shape=_batch_norm_shape,
    kernel=_batch_norm,
    gradient=NO_GRADIENT,
    doc="Images of numbers of few bits, normalised by given means and variances.",
    test=lambda: _RECORDS,
)


# Other sizes

# How many bits of weights are behind the point.
_RESOLUTIONS = {1: 7, 4: 30}


def _resized(
    c: KernelContext, x: np.ndarray, size: np.ndarray, low: np.ndarray, high: np.ndarray
) -> Ranged:
    rows, columns = check_sizes(x.shape, size, c.attr)
    ends = scalars(low, high)
    if (rows, columns) == x.shape[1:3]:
        return x.copy(), *ends
    top, bottom, down = between(x.shape[1], rows, c.attr)
    left, right, across = between(x.shape[2], columns, c.attr)
    down, across = down[:, None, None], across[:, None]
    values = plain(x)
    corners = [values[:, a][:, :, b] for a in (top, bottom) for b in (left, right)]
    if x.dtype == np.float32:
        upper, lower = (p + (q - p) * across for p, q in (corners[:2], corners[2:]))
        return np.asarray(upper + (lower - upper) * down, np.float32), *ends
    bits = _RESOLUTIONS[values.dtype.itemsize]
    one = 1 << bits
    across, down = ((weights * _f32(one)).astype(np.int64) for weights in (across, down))
    wide = [corner.astype(np.int64) for corner in corners]
    upper, lower = (p * one + (q - p) * across for p, q in (wide[:2], wide[2:]))
    found = _divided(upper + _divided(lower - upper, one) * down + one // 2, one)
    return wrapped(found, x.dtype), *ends


def _divided(x: np.ndarray, by: int) -> np.ndarray:
    """Quotients cut towards 0, as C divides integers."""
    return np.sign(x) * (np.abs(x) // by)


define(
    "QuantizedResizeBilinear",
    "images: T, size: int32, min: float32, max: float32 -> "
    "resized_images: T, out_min: float32, out_max: float32",
    "T: {quint8, qint32, float32}; align_corners: bool = false; half_pixel_centers: bool = false",
    shape=with_range(resized_shape, 2),
    kernel=_resized,
    gradient=NO_GRADIENT,
    doc="Images of numbers of few bits in another size, by bilinear interpolation.",
    test=lambda: _RECORDS,
)
