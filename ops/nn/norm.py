# SPDX-License-Identifier: Apache-2.0
"""Moments and normalization, built of smaller ops with TensorFlow 1.15's nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...engine.deprecation import deprecated_argument_lookup
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.graph import name_scope
from ...engine.types import dtypes
from ..public import tf

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike


def _keep(keep_dims: bool | None, keepdims: bool | None) -> bool:
    return bool(deprecated_argument_lookup("keepdims", keepdims, "keep_dims", keep_dims))


@export("nn.sufficient_statistics")
def sufficient_statistics(
    x: TensorLike,
    axes: Sequence[int],
    shift: TensorLike | None = None,
    keep_dims: bool | None = None,
    name: str | None = None,
    keepdims: bool | None = None,
) -> tuple[Any, Any, Any, Any]:
    """Count, sum and sum of squares along axes, all of x - shift; and the shift."""
    axes = list(set(axes))
    keep = _keep(keep_dims, keepdims)
    with name_scope(name, "sufficient_statistics", [x, shift]):
        x = convert_to_tensor(x, name="x")
        shape = x.get_shape()
        if shape.ndims is not None and all(shape.as_list()[d] is not None for d in axes):
            counts: Any = 1
            for d in axes:
                counts *= shape.as_list()[d]
            counts = tf.constant(counts, dtype=x.dtype)
        else:
            sizes = tf.gather(tf.cast(tf.shape(x), x.dtype), axes)
            counts = tf.reduce_prod(sizes, name="count")
        if shift is None:
            values, squares = x, tf.square(x)
        else:
            shift = convert_to_tensor(shift, name="shift")
            values, squares = tf.subtract(x, shift), tf.squared_difference(x, shift)
        values = tf.reduce_sum(values, axes, keepdims=keep, name="mean_ss")
        squares = tf.reduce_sum(squares, axes, keepdims=keep, name="var_ss")
    return counts, values, squares, shift


@export("nn.normalize_moments")
def normalize_moments(
    counts: TensorLike,
    mean_ss: TensorLike,
    variance_ss: TensorLike,
    shift: TensorLike,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Mean and variance from sufficient statistics."""
    with name_scope(name, "normalize", [counts, mean_ss, variance_ss, shift]):
        divisor = tf.reciprocal(counts, name="divisor")
        if shift is not None:
            shifted = tf.multiply(mean_ss, divisor, name="shifted_mean")
            mean = tf.add(shifted, shift, name="mean")
        else:
            shifted = mean = tf.multiply(mean_ss, divisor, name="mean")
        # E[(x - s)**2] - (E[x] - s)**2: the shift s keeps the two terms small, so that little
        # cancels.
        variance = tf.subtract(
            tf.multiply(variance_ss, divisor), tf.square(shifted), name="variance"
        )
    return mean, variance


@export("nn.moments")
def moments(
    x: Any,
    axes: TensorLike,
    shift: float | None = None,
    name: str | None = None,
    keep_dims: bool | None = None,
    keepdims: bool | None = None,
) -> tuple[Any, Any]:
    """Mean and variance along axes.

    Args:
        x: a tensor of numbers.
        axes: a list of integers; all but the last for what batches of images need per channel.
        shift: not used.
        name: the scope of the operations.
        keep_dims: the old name of `keepdims`.
        keepdims: whether the axes stay, with size 1; they do not by default.

    Returns:
        Two Tensors of the dtype of `x`: the mean, and the mean squared distance from it.

    Raises:
        ValueError: an axis is out of range, or both names are used.

    Example:
        >>> mean, variance = tf.nn.moments(tf.constant([[1.0, 2.0], [3.0, 6.0]]), axes=[0])
        >>> tf.Session().run([mean, variance])
        [array([2., 4.], dtype=float32), array([1., 4.], dtype=float32)]
    """
    keep = _keep(keep_dims, keepdims)
    with name_scope(name, "moments", [x, axes]):
        is_half = x.dtype == dtypes.float16
        y = tf.cast(x, dtypes.float32) if is_half else x
        mean = tf.reduce_mean(y, axes, keepdims=True, name="mean")
        # The mean is where the squared deviations are least, so their sum has no slope by it:
        # stopping the gradient there leaves out terms that are zero.
        deviation = tf.squared_difference(y, tf.stop_gradient(mean))
        variance = tf.reduce_mean(deviation, axes, keepdims=True, name="variance")
        if not keep:
            mean, variance = tf.squeeze(mean, axes), tf.squeeze(variance, axes)
        if is_half:
            return tf.cast(mean, dtypes.float16), tf.cast(variance, dtypes.float16)
        return mean, variance


@export("nn.weighted_moments")
def weighted_moments(
    x: Any,
    axes: TensorLike,
    frequency_weights: TensorLike,
    name: str | None = None,
    keep_dims: bool | None = None,
    keepdims: bool | None = None,
) -> tuple[Any, Any]:
    """Mean and variance along axes, where elements count by their weights."""
    keep = _keep(keep_dims, keepdims)
    with name_scope(name, "weighted_moments", [x, frequency_weights, axes]):
        x = convert_to_tensor(x, name="x")
        weights = convert_to_tensor(frequency_weights, name="frequency_weights")
        is_half = x.dtype == dtypes.float16
        if is_half:
            x = tf.cast(x, dtypes.float32)
        if weights.dtype != x.dtype:
            weights = tf.cast(weights, x.dtype)
        total = tf.reduce_sum(weights * x, axes, name="weighted_input_sum", keepdims=True)
        # Weights that broadcast count once for each element that they weigh.
        spread = weights + tf.zeros_like(x)
        weight = tf.reduce_sum(spread, axes, name="sum_of_weights", keepdims=True)
        divisor = tf.reciprocal(weight, name="inv_weight_sum")
        mean = tf.multiply(total, divisor)
        squares = tf.reduce_sum(
            weights * tf.squared_difference(x, mean), axes, name="weighted_distsq", keepdims=True
        )
        variance = tf.multiply(squares, divisor)
        if not keep:
            mean, variance = tf.squeeze(mean, axis=axes), tf.squeeze(variance, axis=axes)
        if is_half:
            return tf.cast(mean, dtypes.float16), tf.cast(variance, dtypes.float16)
        return mean, variance


@export("nn.batch_normalization")
def batch_normalization(
    x: Any,
    mean: Any,
    variance: TensorLike,
    offset: Any,
    scale: Any,
    variance_epsilon: Any,
    name: str | None = None,
) -> Any:
    """(x - mean) / sqrt(variance + variance_epsilon) * scale + offset.

    Args:
        x: a tensor of floating-point numbers.
        mean, variance: tensors that broadcast against it, as of tf.nn.moments.
        offset: the same, or None for none.
        scale: the same, or None for none.
        variance_epsilon: a small number, against a division by zero.
        name: the scope of the operations.

    Returns:
        A Tensor of the shape and dtype of `x`.

    Raises:
        TypeError: the dtypes differ.
        ValueError: the shapes known in the graph do not broadcast.

    Example:
        >>> x = tf.constant([[1.0], [3.0]])
        >>> mean, variance = tf.nn.moments(x, [0])
        >>> tf.Session().run(tf.nn.batch_normalization(x, mean, variance, 10.0, None, 1e-9))
        array([[ 9.],
               [11.]], dtype=float32)
    """
    with name_scope(name, "batchnorm", [x, mean, variance, scale, offset]):
        inverse = tf.rsqrt(variance + variance_epsilon)
        if scale is not None:
            inverse *= scale
        # The order of the nodes is that of TensorFlow: the product first, then the rest.
        product = x * tf.cast(inverse, x.dtype)
        rest = offset - mean * inverse if offset is not None else -mean * inverse
        return product + tf.cast(rest, x.dtype)


@export("nn.batch_norm_with_global_normalization")
def batch_norm_with_global_normalization(
    t: Any = None,
    m: Any = None,
    v: Any = None,
    beta: Any = None,
    gamma: object = None,
    variance_epsilon: Any = None,
    scale_after_normalization: object = None,
    name: str | None = None,
    input: TensorLike | None = None,
    mean: Any = None,
    variance: Any = None,
) -> Any:
    """The old name and arguments of batch_normalization."""
    t = deprecated_argument_lookup("input", input, "t", t)
    m = deprecated_argument_lookup("mean", mean, "m", m)
    v = deprecated_argument_lookup("variance", variance, "v", v)
    scale = gamma if scale_after_normalization else None
    return batch_normalization(t, m, v, beta, scale, variance_epsilon, name)


@export("math.l2_normalize", "linalg.l2_normalize", "nn.l2_normalize")
def l2_normalize(
    x: TensorLike,
    axis: int | None = None,
    epsilon: float = 1e-12,
    name: str | None = None,
    dim: int | None = None,
) -> Any:
    """x / sqrt(max(sum(x * x), epsilon)): vectors of length 1.

    Args:
        x: a tensor of floating-point numbers.
        axis: along which axis or axes a vector is; all elements are one if None.
        epsilon: the least square of a length.
        name: of the operation.
        dim: the old name of `axis`.

    Returns:
        A Tensor of the shape and dtype of `x`.

    Raises:
        TypeError: the dtype is another.
        ValueError: an axis is out of range, or both names are used.

    Example:
        >>> tf.Session().run(tf.nn.l2_normalize([[3.0, 4.0], [0.0, 2.0]], axis=1))
        array([[0.6, 0.8],
               [0. , 1. ]], dtype=float32)
    """
    axis = deprecated_argument_lookup("axis", axis, "dim", dim)
    with name_scope(name, "l2_normalize", [x]) as name:
        x = convert_to_tensor(x, name="x")
        squares = tf.reduce_sum(tf.square(x), axis, keepdims=True)
        inverse = tf.rsqrt(tf.maximum(squares, epsilon))
        return tf.multiply(x, inverse, name=name)
