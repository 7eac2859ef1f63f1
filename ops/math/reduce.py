# SPDX-License-Identifier: Apache-2.0
"""Reductions over axes: the ops Sum, Mean, Prod, Max, Min, All, Any, EuclideanNorm, ArgMax, ArgMin.

The public functions are in `reduce_public`, the gradients in `reduce_gradient`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.graph.build import OpFunction, define
from ...engine.graph.registry import NoGradient
from ...engine.types.shape import TensorShape, shape_text
from ...jit.kernel import scalar as k
from ...jit.kernel.sizes import is_measured
from .. import shape_inference
from ..array.row_shapes import reduction_rows
from ..elementwise import is_complex, is_integer, is_lowerable
from ..ranks import ranked, scalar
from . import limits
from . import reduce_gradient as gradients

if TYPE_CHECKING:
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...jit.kernel.sizes import AnySize
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView

_HALF = ("float16", "bfloat16")
# Of a single element they are, in TensorFlow, the element itself, be it NaN or negative.
_AS_IT_IS = ("max", "min", "euclidean")


def _axes(x: Any, axes: np.ndarray) -> tuple[int, ...]:
    """The axes as distinct numbers from zero up, or TensorFlow's error."""
    result: set[int] = set()
    for axis in axes.ravel().tolist():
        if not -x.ndim <= axis < x.ndim:
            text = f"Invalid reduction dimension ({axis} for input with {x.ndim} dimension(s)"
            raise errors.invalid(text)
        # A set: an axis that is named twice is reduced once.
        result.add(axis % x.ndim)
    return tuple(sorted(result))


def _wide(x: np.ndarray) -> np.ndarray:
    return x.astype(np.float32) if x.dtype.name in _HALF else x


def _sum(x: np.ndarray, **where: Any) -> np.ndarray:
    return np.sum(x, dtype=x.dtype, **where)


def _prod(x: np.ndarray, **where: Any) -> np.ndarray:
    return np.prod(x, dtype=x.dtype, **where)


def _mean(x: np.ndarray, axis: tuple[int, ...], keepdims: bool) -> np.ndarray:
    total = np.sum(x, dtype=x.dtype, axis=axis, keepdims=keepdims)
    count = int(np.prod([x.shape[i] for i in axis], dtype=np.int64))
    if is_integer(x):
        return k.truncatediv(total, np.asarray(max(count, 1), x.dtype))
    return total / np.asarray(count, x.dtype)


def _euclidean(x: np.ndarray, **where: Any) -> np.ndarray:
    squares = x * np.conj(x) if is_complex(x) else x * x
    return np.sqrt(np.sum(squares, dtype=squares.dtype, **where))


def _extreme(function: Any, float_start: float, integer_start: str) -> Callable[..., np.ndarray]:
    """fmax or fmin, with TensorFlow's value for nothing at all: a NaN is as good as nothing."""

    def reduce(x: np.ndarray, **where: Any) -> np.ndarray:
        if x.dtype == object:
            return function.reduce(x, **where)
        start = getattr(np.iinfo(x.dtype), integer_start) if is_integer(x) else float_start
        return function.reduce(x, initial=np.asarray(start, x.dtype)[()], **where)

    return reduce


def _lower_by(fn: str) -> Callable[..., Any]:
    def lower(b: Builder, op: OpView, x: Value, axes: Value) -> Any:
        known = b.known(axes)
        if known is None or not is_lowerable(x.dtype):
            return NotImplemented
        where = (_axes(x, known), op.attr("keep_dims"))
        if x.dtype not in _HALF or fn in ("max", "min"):
            return _reduce(b, fn, x, *where)
        return b.cast(_reduce(b, fn, b.cast(x, "float32"), *where), x.dtype)

    return lower


def _is_one(b: Builder, size: AnySize) -> bool:
    """Is there one element?  Of what a run learns on its way that is not asked: it need not be."""
    return b.equal(size, 1) if not is_measured(size) else False


def _reduce(b: Builder, fn: str, x: Value, axes: tuple[int, ...], keep: bool) -> Any:
    if not axes:
        return x
    if fn in _AS_IT_IS and not is_integer(x) and all(_is_one(b, x.shape[i]) for i in axes):
        return x if keep else b.reshape(x, [n for i, n in enumerate(x.shape) if i not in axes])
    if fn == "euclidean":
        if is_integer(x):
            return NotImplemented
        squares = b.map(lambda v: k.mul(v, k.conj(v)), x)
        return b.map(k.sqrt, b.reduce("sum", squares, axes, keep))
    if fn != "mean":
        return b.reduce(fn, x, axes, keep)
    if is_integer(x):
        return NotImplemented
    return b.map(k.div, b.reduce("sum", x, axes, keep), b.size_scalar(x, axes, x.dtype))


def _samples(dtype: str) -> list[list[np.ndarray]]:
    x: Any = np.array([[0.5, -1.5, 2.0], [1.0, 3.0, -0.25]], np.float32)
    x = x > 0 if dtype == "bool" else x
    return [[x, np.array(axes, np.int32)] for axes in ([1], [0, 1], [-2])]


def _reduction(
    name: str,
    fn: str,
    compute: Callable[..., np.ndarray],
    gradient: object,
    dtype: str = "T",
    **facts: Any,
) -> OpFunction:
    def kernel(c: KernelContext, x: np.ndarray, axes: np.ndarray) -> np.ndarray:
        where: dict[str, Any] = {"axis": _axes(x, axes), "keepdims": bool(c.attr("keep_dims"))}
        if not where["axis"]:
            return x
        if fn in _AS_IT_IS and all(x.shape[i] == 1 for i in where["axis"]):
            return x if where["keepdims"] else np.squeeze(x, where["axis"])
        with np.errstate(all="ignore"):
            result = compute(_wide(x), **where)
        return np.asarray(result, dtype=object if x.dtype == object else c.out_dtype())

    attrs = "keep_dims: bool = False; Tidx: {int32, int64} = int32"
    if dtype == "T":
        attrs = "keep_dims: bool = False; T: numbertype; Tidx: {int32, int64} = int32"
    return define(
        name,
        f"input: {dtype}, reduction_indices: Tidx -> output: {dtype}",
        attrs,
        shape=shape_inference.reduction,
        kernel=kernel,
        lower=_lower_by(fn),
        gradient=gradient,
        sizes=dtype == "T",
        rows=reduction_rows,
        test=lambda: {"values": _samples(dtype), "attrs": [{}, {"keep_dims": True}]},
        **facts,
    )


_max = _extreme(np.fmax, -np.inf, "min")
_min = _extreme(np.fmin, np.inf, "max")

reduce_sum = _reduction("Sum", "sum", _sum, gradients.sum_gradient, doc="The sum over some axes.")
reduce_mean = _reduction(
    "Mean", "mean", _mean, gradients.mean_gradient, doc="The mean over some axes."
)
reduce_prod = _reduction(
    "Prod", "prod", _prod, gradients.prod_gradient, doc="The product over some axes."
)
reduce_max = _reduction(
    "Max", "max", _max, gradients.extreme_gradient, doc="The greatest element over some axes."
)
reduce_min = _reduction(
    "Min", "min", _min, gradients.extreme_gradient, doc="The least element over some axes."
)
euclidean_norm = _reduction(
    "EuclideanNorm",
    "euclidean",
    _euclidean,
    NoGradient("TensorFlow declares it without one", silent=True),
    doc="The root of the sum of squares over some axes.",
)
_NONE = NoGradient("the result is boolean")
reduce_all = _reduction(
    "All", "all", np.all, _NONE, dtype="bool", doc="Whether all elements over some axes are true."
)
reduce_any = _reduction(
    "Any", "any", np.any, _NONE, dtype="bool", doc="Whether any element over some axes is true."
)


# Positions of extremes


def _position_shape(c: ShapeContext) -> TensorShape:
    if c.inputs[1].ndims not in (0, None):
        raise ValueError(f"Shape must be rank 0 but is rank {c.inputs[1].ndims}")
    rank = c.inputs[0].ndims
    if rank is None:
        return TensorShape(None)
    if rank <= 1:
        return TensorShape([])
    axis = c.value(1)
    if axis is None:
        return TensorShape([None] * (rank - 1))
    if not -rank <= axis < rank:
        raise ValueError(
            f"Dimension ({axis}) must be in the range [{-rank}, {rank}), where {rank} is the "
            "number of dimensions in the input."
        )
    dims = c.inputs[0].as_list()
    del dims[int(axis)]
    return TensorShape(dims)


def _position(
    name: str,
    fn: str,
    find: Callable[..., Any],
    better: np.ufunc,
    worst: Callable[[np.dtype], Any],
    doc: str,
) -> OpFunction:
    def kernel(c: KernelContext, x: np.ndarray, axis: np.ndarray) -> np.ndarray:
        if not -x.ndim <= axis < x.ndim:
            text = f"Expected dimension in the range [{-x.ndim}, {x.ndim}), but got {axis}"
            raise errors.invalid(text)
        if x.shape[int(axis)] == 0:
            text = f"Reduction axis {int(axis) % x.ndim} is empty in shape {shape_text(x.shape)}"
            raise errors.invalid(text)
        if not is_integer(x):
            # The search begins with the worst finite number, and a comparison with NaN is false.
            x = better(_wide(x), np.asarray(worst(x.dtype), _wide(x).dtype))
        return np.asarray(find(x, axis=int(axis)), dtype=c.out_dtype())

    def lower(b: Builder, op: OpView, x: Value, axis: Value) -> Any:
        known = b.known(axis)
        if known is None or not is_lowerable(x.dtype) or x.shape[int(known)] == 0:
            return NotImplemented
        return b.reduce(fn, x, [int(known)], dtype=op.dtype(0))

    return define(
        name,
        "input: T, dimension: Tidx -> output: output_type",
        "T: numbertype; Tidx: {int32, int64} = int32; output_type: {int32, int64} = int64",
        shape=_position_shape,
        kernel=ranked(
            kernel, scalar(1, "dim must be a scalar, but received tensor of shape: {shape}")
        ),
        lower=lower,
        gradient=gradients.position_gradient,
        doc=doc,
        test=lambda: {"values": [[np.array([[1, 5, 2], [7, 0, 7]], np.float32), np.int32(1)]]},
    )


arg_max = _position(
    "ArgMax",
    "argmax",
    np.argmax,
    np.fmax,
    limits.lowest,
    doc="The index of the first greatest element along an axis.",
)
arg_min = _position(
    "ArgMin",
    "argmin",
    np.argmin,
    np.fmin,
    limits.highest,
    doc="The index of the first least element along an axis.",
)
