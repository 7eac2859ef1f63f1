# SPDX-License-Identifier: Apache-2.0
"""The public reductions (`tf.reduce_sum` …), with the deprecated argument names of 1.15."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine.api import export
from ...engine.deprecation import deprecated, deprecated_argument_lookup
from ...engine.dispatch import dispatched
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


def _to_scalar(keepdims: bool, axis: TensorLike | None, output: Tensor) -> Tensor:
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
) -> Tensor:
    keepdims = False if keepdims is None else keepdims
    return _to_scalar(keepdims, axis, op(x, reduction_axes(x, axis), keepdims, name=name))


_REDUCTION = """{what} over axes.

    Args:
        input_tensor: a Tensor of {kind}.
        axis: the axes that go: an integer or several, negative ones from the end; all if None.
        keepdims: whether they stay, with size 1; they do not by default.
        name: of the operation.
        reduction_indices: the old name of `axis`.
        keep_dims: the old name of `keepdims`.

    Returns:
        A tensor of the same dtype.  {empty}

    Raises:
        TypeError: the elements are no {kind}.
        ValueError: an axis is outside of [-rank, rank), or is given by both of its names.

    Example:
        >>> x = tf.constant({x})
        >>> tf.Session().run([tf.{name}(x), tf.{name}(x, axis=0)])
        {result}
    """


def _public(reduce: Callable[..., Any], name: str, **doc: str) -> Callable[..., Any]:
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
    public.__doc__ = _REDUCTION.format(name=name, **doc)
    return export(f"math.{name}", name)(dispatched(public))


def _simple(op: Callable[..., Any], name: str, **doc: str) -> Callable[..., Any]:
    return _public(lambda x, axis, keep, label: _apply(op, x, axis, keep, label), name, **doc)


reduce_sum = _simple(
    ops.reduce_sum,
    "reduce_sum",
    what="The sum",
    kind="numbers",
    empty="The sum of nothing is 0.",
    x="[[1, 2], [3, 4]]",
    result="[np.int32(10), array([4, 6], dtype=int32)]",
)
reduce_mean = _simple(
    ops.reduce_mean,
    "reduce_mean",
    what="The mean",
    kind="numbers",
    empty="So the mean of integers is one, rounded towards zero.",
    x="[[1.0, 2.0], [3.0, 4.0]]",
    result="[np.float32(2.5), array([2., 3.], dtype=float32)]",
)
reduce_prod = _simple(
    ops.reduce_prod,
    "reduce_prod",
    what="The product",
    kind="numbers",
    empty="The product of nothing is 1.",
    x="[[1, 2], [3, 4]]",
    result="[np.int32(24), array([3, 8], dtype=int32)]",
)
reduce_max = _simple(
    ops.reduce_max,
    "reduce_max",
    what="The greatest element",
    kind="numbers",
    empty="That of nothing is -inf, or the least integer.",
    x="[[1, 7], [3, 4]]",
    result="[np.int32(7), array([3, 7], dtype=int32)]",
)
reduce_min = _simple(
    ops.reduce_min,
    "reduce_min",
    what="The least element",
    kind="numbers",
    empty="That of nothing is inf, or the greatest integer.",
    x="[[1, 7], [3, 4]]",
    result="[np.int32(1), array([1, 4], dtype=int32)]",
)
reduce_all = _simple(
    ops.reduce_all,
    "reduce_all",
    what="Whether all elements are true,",
    kind="bools",
    empty="All of nothing are true.",
    x="[[True, True], [False, True]]",
    result="[np.False_, array([False,  True])]",
)
reduce_any = _simple(
    ops.reduce_any,
    "reduce_any",
    what="Whether any element is true,",
    kind="bools",
    empty="None of nothing is true.",
    x="[[True, False], [False, False]]",
    result="[np.True_, array([ True, False])]",
)


def _logsumexp(
    x: Tensor, axis: int | Sequence[int] | None, keepdims: bool | None, name: str | None
) -> Tensor:
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
    _logsumexp,
    "reduce_logsumexp",
    what="log(sum(exp(x))), computed without overflow,",
    kind="floating-point numbers",
    empty="That of nothing is -inf.",
    x="[[0.0, 1000.0], [0.0, 1000.0]]",
    result="[np.float32(1000.6931), array([6.931472e-01, 1.000693e+03], dtype=float32)]",
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


# Positions of extremes


_POSITION = """The position of the {which} element along an axis; of the first, if several are.

    Args:
        input: a Tensor of numbers.
        axis: which one, an integer in [-rank, rank); 0 if None.
        name: of the operation.
        dimension: the old name of `axis`.
        output_type: tf.int64, or tf.int32.

    Returns:
        A tensor of that type and of the shape of `input` without the axis.

    Raises:
        ValueError: the axis is outside of [-rank, rank), or is given by both of its names.
        TypeError: the elements are no numbers, or there is no such output type.
        InvalidArgumentError: the axis has no elements.

    Example:
        >>> tf.Session().run(tf.{name}([[1.0, 7.0, 7.0], [5.0, 2.0, 2.0]], axis=1))
        {result}
    """


def _position(op: Callable[..., Any], name: str, **doc: str) -> Callable[..., Any]:
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
    public.__doc__ = _POSITION.format(name=name, **doc)
    return export(f"math.{name}", name)(public)


argmax = _position(ops.arg_max, "argmax", which="greatest", result="array([1, 0])")
argmin = _position(ops.arg_min, "argmin", which="least", result="array([0, 1])")


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
