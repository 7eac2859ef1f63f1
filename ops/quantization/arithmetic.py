# SPDX-License-Identifier: Apache-2.0
"""Sums and products of numbers of few bits, and other ranges for them: on the host, by NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.graph import registry
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.types.shape import TensorShape, shape_text
from .. import shape_inference
from ..elementwise import require_broadcast, static_broadcast
from .steps import (
    cast,
    from_steps,
    limits,
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

KINDS = "{qint8, quint8, qint32, qint16, quint16}"
NO_GRADIENT = NoGradient("TensorFlow has no gradient of it")
_RECORDS = {"needs": "numbers that NumPy has as records"}
_f32 = np.float32
_SCALAR = TensorShape([])
Ranged = tuple[np.ndarray, np.float32, np.float32]


def with_range(first: Callable[[Any], TensorShape], scalars_from: int) -> Callable[[Any], Any]:
    """A shape function: a result and its range; the inputs from some number on are scalars."""

    def shape(c: ShapeContext) -> list[TensorShape]:
        found = first(c)
        for end in c.inputs[scalars_from:]:
            shape_inference.ranked(end, 0)
        return [found, _SCALAR, _SCALAR]

    return shape


def same_shape(c: ShapeContext) -> TensorShape:
    """Of the first input."""
    return c.inputs[0]


# Other ranges


def _to_few(x: np.ndarray, given: tuple[Any, Any], wanted: tuple[Any, Any]) -> np.ndarray:
    """qint32 as quint8 of another range: integers all the way, with 16 bits behind the point."""
    (low, high), (least, most) = given, wanted
    width, new = high - low, most - least
    if new == 0:
        scale = offset = start = 0
    else:
        scale = int(255.0 * 65536 * float(width) / float(new))
        middle = _f32((float(low + high)) / 2.0)
        offset = int(middle * _f32(255.0 / float(new)) * _f32(65536))
        start = int(65536 * (float(least) * 255.0) / float(new))
    fixed = ((x.astype(np.int64) * scale) >> 32) + (offset - start + (1 << 15))
    return np.clip(fixed >> 16, 0, 255)


def requantized(
    x: np.ndarray, given: tuple[Any, Any], wanted: tuple[Any, Any], dtype: np.dtype[Any]
) -> np.ndarray:
    """An array of a quantised dtype in another one, in which it stands for a wanted range."""
    if limits(dtype) == (0, 255) and limits(x.dtype)[0] == -(2**31):
        return wrapped(_to_few(plain(x), given, wanted), dtype)
    with np.errstate(all="ignore"):
        return cast(to_steps(from_steps(x, *given), *wanted, dtype), dtype)


def _used_range(x: np.ndarray, low: np.float32, high: np.float32) -> tuple[Any, Any]:
    """What the smallest and the largest number of an array stand for; 0 lies between."""
    least, most = limits(x.dtype)
    whole = plain(x)
    ends = (whole.min(), whole.max()) if x.size else (most, least)
    first, last = to_float(np.array(ends), low, high, x.dtype)
    return min(_f32(0), first), last


def _shrunk(c: KernelContext, x: np.ndarray, low: np.ndarray, high: np.ndarray) -> Ranged:
    given = scalars(low, high)
    used = _used_range(x, *given)
    return requantized(x, given, used, c.out_dtype()), *used


def _requantize(c: KernelContext, x: np.ndarray, *ends: np.ndarray) -> Ranged:
    low, high, least, most = scalars(*ends)
    if least > 0:
        raise errors.invalid(f"requested_output_min must be <= 0, but got {least:g}")
    if most < least:
        raise errors.invalid(
            f"requested_output_max must be >= requested_output_min, but got {most:g} and {least:g}"
        )
    return requantized(x, (low, high), (least, most), c.out_dtype()), least, most


define(
    "QuantizeDownAndShrinkRange",
    "input: Tinput, input_min: float32, input_max: float32 -> "
    "output: out_type, output_min: float32, output_max: float32",
    f"Tinput: {KINDS}; out_type: {KINDS}",
    shape=with_range(same_shape, 1),
    kernel=_shrunk,
    gradient=NO_GRADIENT,
    doc="Numbers in fewer bits, which stand for the range that is used.",
    test=lambda: _RECORDS,
)
define(
    "Requantize",
    "input: Tinput, input_min: float32, input_max: float32, requested_output_min: float32, "
    "requested_output_max: float32 -> output: out_type, output_min: float32, output_max: float32",
    f"Tinput: {KINDS}; out_type: {KINDS}",
    shape=with_range(same_shape, 1),
    kernel=_requantize,
    gradient=NO_GRADIENT,
    doc="Numbers in fewer bits, which stand for a given range.",
    test=lambda: _RECORDS,
)
define(
    "RequantizationRange",
    "input: Tinput, input_min: float32, input_max: float32 -> "
    "output_min: float32, output_max: float32",
    f"Tinput: {KINDS}",
    shape=lambda c: with_range(same_shape, 1)(c)[1:],
    kernel=lambda c, x, low, high: _used_range(x, *scalars(low, high)),
    gradient=NO_GRADIENT,
    doc="The range of what numbers stand for.",
    test=lambda: _RECORDS,
)


# One number at a time


def _relu(most: float | None) -> Callable[..., Ranged]:
    def kernel(c: KernelContext, x: np.ndarray, *ends: np.ndarray) -> Ranged:
        top: float | None = most
        if c.type == "QuantizedReluX":
            (top,), ends = scalars(ends[0]), ends[1:]
        low, high = scalars(*ends)
        found = np.maximum(plain(x), to_number(0.0, low, high, x.dtype))
        if top is not None:
            found = np.minimum(found, to_number(top, low, high, x.dtype))
        return wrapped(found, c.out_dtype()), low, high

    return kernel


for _name, _more, _most in (
    ("QuantizedRelu", "", None),
    ("QuantizedRelu6", "", 6.0),
    ("QuantizedReluX", "max_value: float32, ", None),
):
    _function = define(
        _name,
        f"features: Tinput, {_more}min_features: float32, max_features: float32 -> "
        "activations: out_type, min_activations: float32, max_activations: float32",
        f"Tinput: {KINDS}; out_type: {KINDS} = quint8",
        shape=with_range(same_shape, 1),
        kernel=_relu(_most),
        gradient=NO_GRADIENT,
        doc="The numbers, or what stands for 0 where they are less"
        + (", and for an upper bound where they are more." if _name[-1] in "6X" else "."),
        test=lambda: _RECORDS,
    )
    if _more:
        export("nn.quantized_relu_x")(_function)


_reshape = registry.lookup("Reshape")


def _reshaped(c: KernelContext, x: np.ndarray, sizes: np.ndarray, *ends: np.ndarray) -> Ranged:
    assert _reshape.kernel is not None, "Reshape has a reference kernel"
    found = _reshape.kernel(c, plain(x), sizes)
    low, high = scalars(*ends)
    return np.ascontiguousarray(found).view(x.dtype).reshape(found.shape), low, high


def _reshaped_shape(c: ShapeContext) -> TensorShape:
    assert _reshape.shape is not None, "Reshape has a shape function"
    found: TensorShape = _reshape.shape(c)
    return found


define(
    "QuantizedReshape",
    "tensor: T, shape: Tshape, input_min: float32, input_max: float32 -> "
    "output: T, output_min: float32, output_max: float32",
    "T: type; Tshape: {int32, int64} = int32",
    shape=with_range(_reshaped_shape, 2),
    kernel=_reshaped,
    gradient=NO_GRADIENT,
    doc="Numbers of few bits in another shape.",
    test=lambda: _RECORDS,
)


# Sums and products


def _biased(c: KernelContext, x: np.ndarray, bias: np.ndarray, *ends: np.ndarray) -> Ranged:
    if x.ndim < 2:
        raise errors.invalid(f"Input tensor must be at least 2D: {shape_text(x.shape)}")
    if bias.ndim != 1:
        raise errors.invalid(f"Biases must be 1D: {shape_text(bias.shape)}")
    if bias.shape[0] != x.shape[-1]:
        raise errors.invalid(
            "Must provide as many biases as the last dimension of the input tensor: "
            f"{shape_text(bias.shape)} vs. {shape_text(x.shape)}"
        )
    low, high, bias_low, bias_high = scalars(*ends)
    dtype = c.out_dtype()
    most = _f32(max(high, -low, bias_high, -bias_low) * _f32(1 << 17))
    zero = to_number(0.0, -most, most, dtype)
    parts = [
        plain(cast(to_steps(from_steps(part, *given), -most, most, dtype), dtype)).astype(np.int64)
        for part, given in ((x, (low, high)), (bias, (bias_low, bias_high)))
    ]
    return wrapped(parts[0] + (parts[1] + zero), dtype), -most, most


def _codes(
    x: np.ndarray, low: np.float32, high: np.float32, most: np.float32, dtype: np.dtype[Any]
) -> np.ndarray:
    """Numbers in the range of a sum: of many by the steps of the first two, of one directly."""
    whole = plain(x).astype(np.int64)
    if x.size == 1:
        return to_number(to_float(whole, low, high, x.dtype), -most, most, dtype)
    first, second = to_whole(to_float(np.arange(2), low, high, x.dtype), -most, most, dtype)
    return np.clip(first + whole * (second - first), *limits(dtype))


def _check_pair(x: np.ndarray, y: np.ndarray, *ends: np.ndarray) -> tuple[np.float32, ...]:
    require_broadcast([x, y])
    low_x, high_x, low_y, high_y = scalars(*ends)
    for name, low, high in (("x", low_x, high_x), ("y", low_y, high_y)):
        if not high > low:
            raise errors.invalid(f"max_{name} must be larger than min_{name}.")
    return low_x, high_x, low_y, high_y


def _sum(c: KernelContext, x: np.ndarray, y: np.ndarray, *ends: np.ndarray) -> Ranged:
    low_x, high_x, low_y, high_y = _check_pair(x, y, *ends)
    dtype = c.out_dtype()
    most = _f32(max(abs(min(low_x, low_y)), abs(max(high_x, high_y))) * _f32(1 << 14))
    found = [
        _codes(v, low, high, most, dtype)
        for v, low, high in ((x, low_x, high_x), (y, low_y, high_y))
    ]
    return wrapped(found[0] + found[1], dtype), -most, most


def _centred(x: np.ndarray, low: np.float32, high: np.float32) -> np.ndarray:
    """Numbers as distances from what stands for 0."""
    return plain(x).astype(np.int64) - to_whole(0.0, low, high, x.dtype)


def _product(c: KernelContext, x: np.ndarray, y: np.ndarray, *ends: np.ndarray) -> Ranged:
    low_x, high_x, low_y, high_y = _check_pair(x, y, *ends)
    found = _centred(x, low_x, high_x) * _centred(y, low_y, high_y)
    dtype = c.out_dtype()
    ranges = (low_x, high_x, x.dtype), (low_y, high_y, y.dtype)
    return wrapped(found, dtype), *product_range(*ranges, dtype)


def _matrix_product(c: KernelContext, a: np.ndarray, b: np.ndarray, *ends: np.ndarray) -> Ranged:
    low_a, high_a, low_b, high_b = scalars(*ends)
    for name, low, high in (("a", low_a, high_a), ("b", low_b, high_b)):
        if not high > low:
            raise errors.invalid(f"max_{name} must be larger than min_{name}.")
    for i, x in enumerate((a, b)):
        if x.ndim != 2:
            raise errors.invalid(f"In[{i}] is not a matrix")
    left = a.T if c.attr("transpose_a") else a
    right = b.T if c.attr("transpose_b") else b
    if left.shape[1] != right.shape[0]:
        raise errors.invalid(
            f"Matrix size-incompatible: In[0]: {shape_text(a.shape)}, In[1]: {shape_text(b.shape)}"
        )
    found = _centred(left, low_a, high_a) @ _centred(right, low_b, high_b)
    dtype = c.out_dtype()
    ranges = (low_a, high_a, a.dtype), (low_b, high_b, b.dtype)
    return wrapped(found, dtype), *product_range(*ranges, dtype)


def _bias_shape(c: ShapeContext) -> TensorShape:
    sizes = shape_inference.ranked_at_least(c.inputs[0], 2)
    (count,) = shape_inference.ranked(c.inputs[1], 1)
    if sizes is None:
        return c.inputs[0]
    return TensorShape([*sizes[:-1], shape_inference.merge_dim(sizes[-1], count)])


def _matrix_shape(c: ShapeContext) -> TensorShape:
    a, b = (shape_inference.ranked(shape, 2) for shape in c.inputs[:2])
    a, b = (a[::-1] if c.attr("transpose_a") else a), (b[::-1] if c.attr("transpose_b") else b)
    shape_inference.merge_dim(a[1], b[0])
    return TensorShape([a[0], b[1]])


define(
    "QuantizedBiasAdd",
    "input: T1, bias: T2, min_input: float32, max_input: float32, min_bias: float32, "
    "max_bias: float32 -> output: out_type, min_out: float32, max_out: float32",
    f"T1: {KINDS}; T2: {KINDS}; out_type: {KINDS}",
    shape=with_range(_bias_shape, 2),
    kernel=_biased,
    gradient=NO_GRADIENT,
    doc="Numbers of few bits and biases, added along the last dimension.",
    test=lambda: _RECORDS,
)
for _name, _kernel, _what in (
    ("QuantizedAdd", _sum, "sum"),
    ("QuantizedMul", _product, "product"),
):
    define(
        _name,
        "x: T1, y: T2, min_x: float32, max_x: float32, min_y: float32, max_y: float32 -> "
        "z: Toutput, min_z: float32, max_z: float32",
        f"T1: {KINDS}; T2: {KINDS}; Toutput: {KINDS} = qint32",
        shape=with_range(lambda c: static_broadcast(*c.inputs[:2]), 2),
        kernel=_kernel,
        gradient=NO_GRADIENT,
        doc=f"The {_what} of numbers of few bits.",
        test=lambda: _RECORDS,
    )
define(
    "QuantizedMatMul",
    "a: T1, b: T2, min_a: float32, max_a: float32, min_b: float32, max_b: float32 -> "
    "out: Toutput, min_out: float32, max_out: float32",
    f"T1: {KINDS}; T2: {KINDS}; Toutput: {KINDS} = qint32; transpose_a: bool = false; "
    f"transpose_b: bool = false; Tactivation: {KINDS} = quint8",
    shape=with_range(_matrix_shape, 2),
    kernel=_matrix_product,
    gradient=NO_GRADIENT,
    doc="The product of matrices of numbers of few bits.",
    test=lambda: _RECORDS,
)
