# SPDX-License-Identifier: Apache-2.0
"""Clipping of values and of norms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...engine.deprecation import deprecated
from ...engine.dispatch import dispatched
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.scope_functions import colocate_with, name_scope
from ...engine.graph.tensor import IndexedSlices
from ...engine.types import dtypes
from ...jit.kernel import scalar as k
from ..array.constant import constant
from ..elementwise import elementwise
from ..public import raw, tf
from .gradient import sum_to

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor


def _values(t: TensorLike, name: str) -> Tensor:
    return convert_to_tensor(t.values if isinstance(t, IndexedSlices) else t, name=name)


def _like(t: TensorLike | None, values: Tensor | None) -> Any:
    """The clipped values in the form in which t came."""
    return (
        IndexedSlices(values, t.indices, t.dense_shape) if isinstance(t, IndexedSlices) else values
    )


@export("clip_by_value")
@dispatched
def clip_by_value(
    t: TensorLike, clip_value_min: TensorLike, clip_value_max: TensorLike, name: str | None = None
) -> Any:
    """The values, those below a minimum and above a maximum replaced by it.

    Args:
        t: a Tensor, or IndexedSlices, whose values are clipped.
        clip_value_min: a tensor of the dtype of `t`; it broadcasts against `t`.
        clip_value_max: the same.
        name: of the operation.

    Returns:
        What `t` is, of its shape and dtype.  Where the minimum is above the maximum, the minimum.

    Raises:
        TypeError: a bound is of another dtype.
        ValueError: the bounds broadcast to another shape than that of `t`.

    Example:
        >>> tf.Session().run(tf.clip_by_value([-2.0, 0.5, 7.0], 0.0, 1.0))
        array([0. , 0.5, 1. ], dtype=float32)
    """
    with name_scope(name, "clip_by_value", [t, clip_value_min, clip_value_max]) as name:
        values = _values(t, "t")
        # The maximum comes last: where the bounds cross, the lower bound wins.
        low = tf.minimum(values, clip_value_max)
        # The bounds broadcast to the values, never the other way round.
        values.shape.merge_with(low.shape)
        clipped = tf.maximum(low, clip_value_min, name=name)
        values.shape.merge_with(clipped.shape)
        return _like(t, clipped)


def _clip_gradient(op: Operation, grad: Tensor) -> tuple[Any, Any, Any]:
    x, y, z = op.inputs
    shape_x, shape_y, shape_z = tf.shape(x), tf.shape(y), tf.shape(z)
    zeros = tf.zeros(tf.shape(grad), grad.dtype)
    # A clipped element hands its gradient to the bound that replaced it.
    below, above = tf.less(x, y), tf.greater(x, z)
    _, axes_y = raw.BroadcastGradientArgs(shape_x, shape_y)
    axes_x, axes_z = raw.BroadcastGradientArgs(shape_x, shape_z)
    grad_x = tf.where(tf.logical_or(below, above), zeros, grad)
    grad_y, grad_z = tf.where(below, grad, zeros), tf.where(above, grad, zeros)
    return (
        sum_to(grad_x, axes_x, shape_x),
        sum_to(grad_y, axes_y, shape_y),
        sum_to(grad_z, axes_z, shape_z),
    )


raw_clip_by_value = elementwise(
    "ClipByValue",
    "t: T, clip_value_min: T, clip_value_max: T -> output: T",
    "T: numbertype",
    body=lambda t, low, high: k.maximum(k.minimum(t, high), low),
    broadcast=False,
    gradient=_clip_gradient,
    test={
        "shapes": [[[2, 3], [], []], [[4], [4], [4]]],
        "ranges": [(-3, 3), (-1, 0), (1, 2)],
        "broadcast": True,
    },
    doc="x, held between a least and a greatest value.",
)


@export("clip_by_norm")
def clip_by_norm(
    t: TensorLike, clip_norm: TensorLike, axes: Sequence[int] | None = None, name: str | None = None
) -> Any:
    """Values scaled so that their L2 norm is at most `clip_norm`.

    Args:
        t: a Tensor, or IndexedSlices, of floating-point numbers.
        clip_norm: a positive scalar of that dtype.
        axes: the axes of each norm, a list; by default one norm of all elements.
        name: of the operation.

    Returns:
        t * clip_norm / norm where the norm is larger, else `t`; of its shape and dtype.

    Raises:
        TypeError: the elements are no floating-point numbers.
        ValueError: `clip_norm` broadcasts to another shape than that of `t`.

    Example:
        >>> tf.Session().run(tf.clip_by_norm([3.0, 4.0], 1.0))
        array([0.6, 0.8], dtype=float32)
    """
    with name_scope(name, "clip_by_norm", [t, clip_norm]) as name:
        values = _values(t, "t")
        l2sum = tf.reduce_sum(values * values, axes, keepdims=True)
        is_positive = l2sum > 0
        # Two selects keep the gradient finite at zero.
        safe = tf.where(is_positive, l2sum, tf.ones_like(l2sum))
        l2norm = tf.where(is_positive, tf.sqrt(safe), l2sum)
        intermediate = values * clip_norm
        values.shape.merge_with(intermediate.shape)
        clipped = tf.identity(intermediate / tf.maximum(l2norm, clip_norm), name=name)
        return _like(t, clipped)


def _as_list(t_list: Sequence[Any]) -> list[Any]:
    if not isinstance(t_list, Sequence) or isinstance(t_list, str):
        raise TypeError("t_list should be a sequence")
    return list(t_list)


def _all_values(t_list: list[Any]) -> list[Any]:
    return [t if t is None else _values(t, f"t_{i}") for i, t in enumerate(t_list)]


@export("linalg.global_norm", "global_norm")
def global_norm(t_list: Sequence[Any], name: str | None = None) -> Any:
    """The root of the sum of the squares of all elements of all tensors."""
    t_list = _as_list(t_list)
    with name_scope(name, "global_norm", t_list) as name:
        half_squares = []
        for values in _all_values(t_list):
            if values is not None:
                with colocate_with(values):
                    half_squares.append(raw.L2Loss(values))
        # L2Loss is half the sum of squares.
        total = tf.reduce_sum(tf.stack(half_squares))
        return tf.sqrt(total * constant(2.0, dtype=total.dtype), name="global_norm")


@export("clip_by_global_norm")
def clip_by_global_norm(
    t_list: Sequence[Any], clip_norm: TensorLike, use_norm: Any = None, name: str | None = None
) -> tuple[list[Any], Any]:
    """All tensors scaled by one factor, so that the norm of all elements is at most `clip_norm`.

    Args:
        t_list: a list of Tensors, IndexedSlices or None.
        clip_norm: a positive scalar.
        use_norm: the global norm, where it is known; `tf.global_norm(t_list)` by default.
        name: of the operation.

    Returns:
        The list of scaled tensors, None where None was, and the global norm before, a scalar.
        All elements are not a number if that norm is infinite.

    Raises:
        TypeError: `t_list` is no list.

    Example:
        >>> scaled, norm = tf.clip_by_global_norm([tf.constant([3.0]), tf.constant([4.0])], 1.0)
        >>> tf.Session().run([scaled, norm])
        [[array([0.6], dtype=float32), array([0.8], dtype=float32)], np.float32(5.0)]
    """
    t_list = _as_list(t_list)
    if use_norm is None:
        use_norm = global_norm(t_list, name)
    with name_scope(name, "clip_by_global_norm", [*t_list, clip_norm]) as name:
        # clip_norm * min(1 / norm, 1 / clip_norm): 1 or clip_norm / norm, and finite for a norm of
        # zero.
        ratio = 1.0 / use_norm
        limit = constant(1.0, dtype=use_norm.dtype) / clip_norm
        finite_scale = clip_norm * tf.minimum(ratio, limit)
        # An infinite norm would scale everything to zero and hide that training has diverged; as in
        # TensorFlow, it makes all of the result NaN.
        is_finite = tf.is_finite(use_norm)
        not_a_number = constant(float("nan"), dtype=use_norm.dtype)
        scale = tf.where(is_finite, finite_scale, not_a_number)
        clipped: list[Any] = []
        for i, values in enumerate(_all_values(t_list)):
            if values is None:
                clipped.append(None)
                continue
            with colocate_with(values):
                clipped.append(tf.identity(values * scale, name=f"{name}_{i}"))
        return [_like(t, c) for c, t in zip(clipped, t_list, strict=True)], use_norm


@export("clip_by_average_norm")
@deprecated(
    None,
    "clip_by_average_norm is deprecated in TensorFlow 2.0. Please use clip_by_norm(t, clip_norm * "
    "tf.cast(tf.size(t), tf.float32), name) instead.",
)
def clip_by_average_norm(t: TensorLike, clip_norm: TensorLike, name: str | None = None) -> Tensor:
    """Scales values so that their average L2 norm is at most clip_norm."""
    with name_scope(name, "clip_by_average_norm", [t, clip_norm]) as name:
        t = convert_to_tensor(t, name="t")
        count = tf.cast(tf.size(t), dtypes.float32)
        inverse = tf.rsqrt(tf.reduce_sum(t * t, tf.range(tf.rank(t))))
        scaled = t * clip_norm
        factor = tf.minimum(inverse * count, constant(1.0) / clip_norm)
        return tf.identity(scaled * factor, name=name)
