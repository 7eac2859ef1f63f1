# SPDX-License-Identifier: Apache-2.0
"""The public reductions (`tf.reduce_sum` …), with the deprecated argument names of 1.15."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine.api import export
from ...engine.deprecation import deprecated, deprecated_argument_lookup
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.scope_functions import name_scope
from ...engine.graph.tensor import SparseTensor, Tensor
from ...engine.types import dtypes
from ..array.constant import constant
from ..public import raw, tf
from . import reduce as ops

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, TensorLike
    from ...engine.types.dtypes import DType


def reduction_axes(x: TensorLike, axis: TensorLike | None) -> Any:
    """The axes to reduce: those given, else all, as a constant where the rank is known."""
    if axis is not None:
        return axis
    rank = x.shape.ndims if isinstance(x, Tensor) else None
    if isinstance(x, SparseTensor) and x.dense_shape.shape.is_fully_defined():
        rank = x.dense_shape.shape.as_list()[0]
    if rank is not None:
        return constant(np.arange(rank), dtype=dtypes.int32)
    return tf.range(0, tf.rank(x))


def _to_scalar(keepdims: bool, axis: TensorLike | None, output: Tensor) -> Any:
    """A full reduction is a scalar, even when the rank of its input is unknown."""
    if not output.shape.is_fully_defined() and not keepdims and axis is None:
        output.set_shape(())
    return output


def _apply(
    op: Callable[..., Any],
    x: TensorLike,
    axis: TensorLike | None,
    keepdims: bool | None,
    name: str | None,
) -> Any:
    keepdims = False if keepdims is None else keepdims
    return _to_scalar(keepdims, axis, op(x, reduction_axes(x, axis), keepdims, name=name))


def _public(reduce: Callable[..., Any], name: str, doc: str) -> Callable[..., Any]:
    """The function with 1.15's signature around reduce(x, axis, keepdims, name)."""

    def public(
        input_tensor: TensorLike,
        axis: Any = None,
        keepdims: bool | None = None,
        name: str | None = None,
        reduction_indices: Any = None,
        keep_dims: bool | None = None,
    ) -> Any:
        axis = deprecated_argument_lookup("axis", axis, "reduction_indices", reduction_indices)
        keepdims = deprecated_argument_lookup("keepdims", keepdims, "keep_dims", keep_dims)
        return reduce(input_tensor, axis, keepdims, name)

    public.__name__ = public.__qualname__ = name
    public.__doc__ = doc
    return export(f"math.{name}", name)(public)


def _simple(op: Callable[..., Any], name: str, doc: str) -> Callable[..., Any]:
    return _public(lambda x, axis, keep, label: _apply(op, x, axis, keep, label), name, doc)


reduce_sum = _simple(ops.reduce_sum, "reduce_sum", "The sum over axes.")
reduce_mean = _simple(ops.reduce_mean, "reduce_mean", "The mean over axes.")
reduce_prod = _simple(ops.reduce_prod, "reduce_prod", "The product over axes.")
reduce_max = _simple(ops.reduce_max, "reduce_max", "The maximum over axes.")
reduce_min = _simple(ops.reduce_min, "reduce_min", "The minimum over axes.")
reduce_all = _simple(ops.reduce_all, "reduce_all", "Whether all are true, over axes.")
reduce_any = _simple(ops.reduce_any, "reduce_any", "Whether any is true, over axes.")


def _logsumexp(
    x: Tensor, axis: int | Sequence[int] | None, keepdims: bool | None, name: str | None
) -> Any:
    keepdims = False if keepdims is None else keepdims
    x = convert_to_tensor(x)
    with name_scope(name, "ReduceLogSumExp", [x]) as name:
        raw_max = _apply(ops.reduce_max, x, axis, True, None)
        # An infinite maximum would make inf - inf; zero is as good a shift there.
        safe = tf.where(tf.is_finite(raw_max), raw_max, tf.zeros_like(raw_max))
        shift = tf.stop_gradient(safe)
        total = _apply(ops.reduce_sum, tf.exp(tf.subtract(x, shift)), axis, keepdims, None)
        result = tf.log(total)
        if not keepdims:
            shift = tf.reshape(shift, tf.shape(result))
        return _to_scalar(keepdims, axis, raw.Add(result, shift))


reduce_logsumexp = _public(
    _logsumexp, "reduce_logsumexp", "log(sum(exp(x))) over axes, without overflow."
)


@export("math.reduce_euclidean_norm")
def reduce_euclidean_norm(
    input_tensor: TensorLike,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
    name: str | None = None,
) -> Any:
    """The square root of the sum of squares over axes."""
    return _apply(ops.euclidean_norm, input_tensor, axis, keepdims, name)


@export("math.reduce_variance")
def reduce_variance(
    input_tensor: TensorLike,
    axis: int | None = None,
    keepdims: bool = False,
    name: str | None = None,
) -> Any:
    """The mean squared distance from the mean over axes."""
    with name_scope(name or "reduce_variance"):
        means = _apply(ops.reduce_mean, input_tensor, axis, True, None)
        squares = tf.square(input_tensor - means)
        return _apply(ops.reduce_mean, squares, axis, keepdims, None)


@export("math.reduce_std")
def reduce_std(
    input_tensor: TensorLike,
    axis: int | None = None,
    keepdims: bool = False,
    name: str | None = None,
) -> Any:
    """The square root of the variance over axes."""
    with name_scope(name or "reduce_std"):
        return tf.sqrt(reduce_variance(input_tensor, axis=axis, keepdims=keepdims))


@export("math.count_nonzero", "count_nonzero")
def count_nonzero(
    input_tensor: TensorLike | None = None,
    axis: Any = None,
    keepdims: bool | None = None,
    dtype: DTypeLike = dtypes.int64,
    name: str | None = None,
    reduction_indices: Any = None,
    keep_dims: bool | None = None,
    input: TensorLike | None = None,
) -> Any:
    """How many elements differ from zero (or the empty string), over axes."""
    keepdims = deprecated_argument_lookup("keepdims", keepdims, "keep_dims", keep_dims)
    input = deprecated_argument_lookup("input", input, "input_tensor", input_tensor)
    axis = deprecated_argument_lookup("axis", axis, "reduction_indices", reduction_indices)
    with name_scope(name, "count_nonzero", [input]):
        input = convert_to_tensor(input, name="input")
        zero = tf.zeros([], dtype=input.dtype)
        flags = tf.cast(raw.NotEqual(input, zero), dtypes.int64)
        return tf.cast(_apply(ops.reduce_sum, flags, axis, keepdims, None), dtype=dtype)


# --- positions of extremes --------------------------------------------------------------------


def _position(op: Callable[..., Any], name: str, doc: str) -> Callable[..., Any]:
    def public(
        input: Tensor,
        axis: Any = None,
        name: str | None = None,
        dimension: TensorLike | None = None,
        output_type: DType = dtypes.int64,
    ) -> Any:
        axis = deprecated_argument_lookup("axis", axis, "dimension", dimension)
        return op(input, 0 if axis is None else axis, output_type=output_type, name=name)

    public.__name__ = public.__qualname__ = name
    public.__doc__ = doc
    return export(f"math.{name}", name)(public)


argmax = _position(ops.arg_max, "argmax", "The position of the largest element along an axis.")
argmin = _position(ops.arg_min, "argmin", "The position of the smallest element along an axis.")


@export("arg_max")
@deprecated(None, "Use `tf.math.argmax` instead")
def arg_max(
    input: TensorLike,
    dimension: TensorLike | None,
    output_type: DTypeLike = dtypes.int64,
    name: str | None = None,
) -> Any:
    """The position of the largest element along a dimension."""
    return ops.arg_max(input, dimension, output_type=output_type, name=name)


@export("arg_min")
@deprecated(None, "Use `tf.math.argmin` instead")
def arg_min(
    input: TensorLike,
    dimension: TensorLike | None,
    output_type: DTypeLike = dtypes.int64,
    name: str | None = None,
) -> Any:
    """The position of the smallest element along a dimension."""
    return ops.arg_min(input, dimension, output_type=output_type, name=name)
