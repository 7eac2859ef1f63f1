# SPDX-License-Identifier: Apache-2.0
"""A softplus whose smoothness is an argument, with a gradient by its result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.graph.convert import convert_to_tensor
from ....engine.graph.graph import control_dependencies, name_scope
from ....ops.flow.function_library import Defun
from ....ops.public import raw, tf

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike
    from ....engine.graph.operation import Operation
    from ....engine.graph.tensor import Tensor

# What keeps the logarithm finite where the slope is 0.
_SMALL = 1e-8


def _reduce_and_reshape_grad(g: Tensor, t: Tensor) -> Tensor:
    """A gradient summed over what `t` was broadcast along."""
    shape = tf.shape(t)
    axes, _ = raw.BroadcastGradientArgs(shape, tf.shape(g))
    return tf.reshape(tf.reduce_sum(g, axes), shape)


def _gradient(op: Operation, g: Tensor) -> list[Any]:
    y, x, alpha, *clips = op.inputs
    with control_dependencies([g]):
        y = tf.identity(y)
    clip_gradients = []
    for clip in clips:
        below = tf.cast(y < clip, g.dtype)
        clip_gradients.append(_reduce_and_reshape_grad(g * (1.0 - below), clip))
        g = g * below
    y = y / alpha
    decay = tf.exp(-y)
    slope = 1.0 - decay
    by_alpha = y * decay - slope * tf.log(slope + _SMALL)
    return [
        None,
        _reduce_and_reshape_grad(g * slope, x),
        _reduce_and_reshape_grad(g * by_alpha, alpha),
        *clip_gradients,
    ]


@export("contrib.nn.scaled_softplus")
def scaled_softplus(
    x: TensorLike, alpha: TensorLike, clip: TensorLike | None = None, name: str | None = None
) -> Tensor:
    """alpha * log(1 + exp(x / alpha)), at most `clip`.

    Args:
        x: the values.
        alpha: how smooth it is, above 0; near 0 it is relu.
        clip: an upper bound.
        name: the scope of the operations.

    Returns:
        A tensor of the shape to which the inputs are broadcast.

    Example:
        >>> y = tf.contrib.nn.scaled_softplus([-3.0, 0.0, 3.0], 0.1, clip=2.0)
        >>> tf.Session().run(y).round(3)
        array([0.   , 0.069, 2.   ], dtype=float32)
    """
    values = [x, alpha] if clip is None else [x, alpha, clip]
    with name_scope(name, "scaled_softplus", values):
        x = convert_to_tensor(x, name="x")
        alpha = convert_to_tensor(alpha, dtype=x.dtype, name="alpha")
        y = alpha * getattr(tf, "nn.softplus")(x / alpha)
        given = [x, alpha]
        kind = f"ScaledSoftplusHelper_{x.dtype.name}"
        if clip is not None:
            given.append(convert_to_tensor(clip, dtype=x.dtype, name="clip"))
            y = tf.minimum(y, given[-1])
            kind = f"ScaledSoftplusHelper_clip_{x.dtype.name}"

        # A function whose gradient is ours: of its arguments it gives the first.
        @Defun(
            *[x.dtype] * (len(given) + 1),
            func_name=kind,
            shape_func=lambda op: [op.inputs[0].shape],
            python_grad_func=_gradient,
        )
        def helper(y: Tensor, *others: Tensor) -> Tensor:
            del others
            return y

        return helper(y, *given)
