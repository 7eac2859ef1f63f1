# SPDX-License-Identifier: Apache-2.0
"""Masked autoregressive flows: every number is moved and scaled by what comes before it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .....engine.api import export
from .....engine.graph.graph import name_scope
from .....engine.graph.tensor import Tensor
from .....engine.types import dtypes
from .....engine.types.shape import dimension_value
from .....ops.distributions.bijector import Bijector
from .....ops.nn.activation import relu
from .....ops.public import tf
from ....layers.core import Dense

if TYPE_CHECKING:
    from .....engine.graph.annotations import TensorLike
    from .....engine.types.dtypes import DType
    from .....ops.state.template import Template

MASK_INCLUSIVE = "inclusive"
MASK_EXCLUSIVE = "exclusive"
_ShiftAndScale = Callable[[Tensor], tuple[Any, Any]]


@export("contrib.distributions.bijectors.MaskedAutoregressiveFlow")
class MaskedAutoregressiveFlow(Bijector):
    """y = x exp(log_scale(y)) + shift(y), both functions of the entries before.

    shift_and_log_scale_fn: gives shift and log_scale of y, either of which may be None.
    is_constant_jacobian: whether log_scale is None.  unroll_loop: whether `forward`, which needs as
    many steps as there are entries, is written out.
    """

    def __init__(
        self,
        shift_and_log_scale_fn: _ShiftAndScale,
        is_constant_jacobian: bool = False,
        validate_args: bool = False,
        unroll_loop: bool = False,
        name: str | None = None,
    ) -> None:
        self._shift_and_log_scale_fn = shift_and_log_scale_fn
        self._unroll_loop = unroll_loop
        super().__init__(
            forward_min_event_ndims=1,
            is_constant_jacobian=is_constant_jacobian,
            validate_args=validate_args,
            name=name or "masked_autoregressive_flow",
        )

    def _step(self, x: Tensor, y: Tensor) -> Tensor:
        """What x becomes if y is what it has become so far."""
        shift, log_scale = self._shift_and_log_scale_fn(y)
        following = x if log_scale is None else x * tf.exp(log_scale)
        return following if shift is None else following + shift

    def _forward(self, x: Tensor) -> Tensor:
        size = dimension_value(x.shape.with_rank_at_least(1)[-1])
        if self._unroll_loop:
            if size is None:
                raise ValueError(
                    "The final dimension of `x` must be known at graph construction time if "
                    f"`unroll_loop=True`. `x.shape: {x.shape!r}`"
                )
            y = tf.zeros_like(x, name="y0")
            for _ in range(size):
                y = self._step(x, y)
            return y
        count = tf.shape(x)[-1]
        first = tf.zeros_like(x, name="y0")
        # Variables are made here, not in the loop.
        self._shift_and_log_scale_fn(first)

        def body(index: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
            with tf.variable_scope(tf.get_variable_scope()):
                return index + 1, self._step(x, y)

        _, y = tf.while_loop(
            cond=lambda index, _: index < count,
            body=body,
            loop_vars=(0, first),
            maximum_iterations=size,
        )
        return y

    def _inverse(self, y: Tensor) -> Tensor:
        shift, log_scale = self._shift_and_log_scale_fn(y)
        x = y if shift is None else y - shift
        return x if log_scale is None else x * tf.exp(-log_scale)

    def _inverse_log_det_jacobian(self, y: Tensor) -> Tensor:
        _, log_scale = self._shift_and_log_scale_fn(y)
        if log_scale is None:
            return tf.constant(0.0, dtype=y.dtype, name="ildj")
        return -tf.reduce_sum(log_scale, axis=-1)


def _gen_slices(
    num_blocks: int, n_in: int, n_out: int, mask_type: str = MASK_EXCLUSIVE
) -> list[list[slice]]:
    """Of every block the rows and columns of a weight matrix that are no zeros."""
    wide, high = n_in // num_blocks, n_out // num_blocks
    first = high if mask_type == MASK_EXCLUSIVE else 0
    return [
        [slice(first + i * high, None), slice(i * wide, (i + 1) * wide)] for i in range(num_blocks)
    ]


def _gen_mask(
    num_blocks: int,
    n_in: int,
    n_out: int,
    mask_type: str = MASK_EXCLUSIVE,
    dtype: DType = dtypes.float32,
) -> np.ndarray:
    """Ones where outputs of a block depend on inputs of blocks before it (or of its own)."""
    mask = np.zeros([n_out, n_in], dtype=dtype.as_numpy_dtype())
    for rows, columns in _gen_slices(num_blocks, n_in, n_out, mask_type=mask_type):
        mask[rows, columns] = 1
    return mask


@export("contrib.distributions.bijectors.masked_dense")
def masked_dense(
    inputs: Tensor,
    units: int,
    num_blocks: int | None = None,
    exclusive: bool = False,
    kernel_initializer: Any = None,
    reuse: bool | None = None,
    name: str | None = None,
    *args: Any,
    **kwargs: Any,
) -> Tensor:
    """A dense layer whose outputs of a block depend on inputs of blocks up to it.

    Args:
        inputs: a tensor whose last size is known.
        units: the number of outputs.
        num_blocks: how many blocks inputs and outputs are cut into.
        exclusive: whether the block itself is left out.
        kernel_initializer: of the weights; Glorot's normal one if None.
        reuse: whether variables are those of a layer before.
        name: of the layer.
        args: further arguments of tf.layers.Dense, by position.
        kwargs: further arguments of tf.layers.Dense, by name.

    Returns:
        A Tensor with `units` numbers in its last dimension.

    Raises:
        NotImplementedError: the last size is not known.
    """
    depth = _depth(inputs)
    kind = MASK_EXCLUSIVE if exclusive else MASK_INCLUSIVE
    mask = _gen_mask(num_blocks or 1, depth, units, kind).T
    initializer = kernel_initializer or tf.glorot_normal_initializer()

    def masked_initializer(shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        return mask * initializer(shape, dtype, partition_info)

    with name_scope(name, "masked_dense", [inputs, units, num_blocks]):
        given: dict[str, Any] = {
            "kernel_initializer": masked_initializer,
            "kernel_constraint": lambda x: mask * x,
            "name": name,
            "dtype": inputs.dtype.base_dtype,
            "_scope": name,
            "_reuse": reuse,
        }
        return Dense(units, *args, **{**given, **kwargs}).apply(inputs)


def _depth(x: Tensor) -> int:
    depth = dimension_value(x.shape.with_rank_at_least(1)[-1])
    if depth is None:
        raise NotImplementedError("Rightmost dimension must be known prior to graph execution.")
    return depth


@export("contrib.distributions.bijectors.masked_autoregressive_default_template")
def masked_autoregressive_default_template(
    hidden_layers: Sequence[int],
    shift_only: bool = False,
    activation: Any = relu,
    log_scale_min_clip: Any = -5.0,
    log_scale_max_clip: Any = 3.0,
    log_scale_clip_gradient: bool = False,
    name: str | None = None,
    *args: Any,
    **kwargs: Any,
) -> Template:
    """A function for MaskedAutoregressiveFlow: masked dense layers that share their variables.

    Args:
        hidden_layers: the number of units of each.
        shift_only: whether there is no log_scale.
        activation: of the hidden layers.
        log_scale_min_clip: the least log_scale.
        log_scale_max_clip: the greatest log_scale.
        log_scale_clip_gradient: whether no gradient flows where it is clipped.
        name: of the template.
        args: further arguments of masked_dense, by position.
        kwargs: further arguments of masked_dense, by name.

    Returns:
        A function of a tensor that gives shift and log_scale.
    """
    name = name or "masked_autoregressive_default_template"
    with name_scope(name, values=[log_scale_min_clip, log_scale_max_clip]):

        def shift_and_log_scale(x: Tensor) -> tuple[Any, Any]:
            depth = _depth(x)
            known = x.shape.is_fully_defined()
            sizes: Any = x.shape.as_list() if known else None
            shape: Any = np.int32(sizes) if known else tf.shape(x)
            for i, units in enumerate(hidden_layers):
                x = masked_dense(
                    x,
                    units,
                    depth,
                    i == 0,
                    *args,
                    activation=activation,
                    **kwargs,
                )
            units = (1 if shift_only else 2) * depth
            x = masked_dense(x, units, depth, False, *args, activation=None, **kwargs)
            if shift_only:
                return tf.reshape(x, shape=shape), None
            x = tf.reshape(x, shape=tf.concat([shape, [2]], axis=0))
            shift, log_scale = tf.unstack(x, num=2, axis=-1)
            clip = tf.clip_by_value if log_scale_clip_gradient else _clip_by_value_preserve_grad
            return shift, clip(log_scale, log_scale_min_clip, log_scale_max_clip)

        return tf.make_template(name, shift_and_log_scale)


def _clip_by_value_preserve_grad(
    x: Tensor, clip_value_min: TensorLike, clip_value_max: TensorLike, name: str | None = None
) -> Tensor:
    """Clipped numbers, with the gradient of those that are not."""
    with name_scope(name, "clip_by_value_preserve_grad", [x, clip_value_min, clip_value_max]):
        clipped = tf.clip_by_value(x, clip_value_min, clip_value_max)
        return x + tf.stop_gradient(clipped - x)
