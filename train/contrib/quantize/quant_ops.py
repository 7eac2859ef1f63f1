# SPDX-License-Identifier: Apache-2.0
"""Tensors quantised in ranges that are fixed, that of the last step, or moving averages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....engine.graph.collections import GraphKeys
from ....engine.graph.scope_functions import name_scope
from ....engine.graph.tensor import Tensor
from ....ops.public import tf
from ....ops.quantization import fake_quant as _fake_quant  # noqa: F401  states the ops
from ....ops.state.variable_modes import VariableAggregation
from ...variables.moving_averages import assign_moving_average


def FixedQuantize(
    inputs: Any, init_min: float = -6.0, init_max: float = 6.0, scope: str | None = None
) -> Tensor:
    """A tensor quantised in a range that stays.

    Args:
        inputs: floats.
        init_min: the lower end.
        init_max: the upper end.
        scope: of the op.
    """
    with name_scope(scope, "FixedQuantize", values=[inputs]):
        return tf.fake_quant_with_min_max_args(inputs, min=init_min, max=init_max)


def _variable(name: str, shape: Any, value: float, collection: Any) -> Any:
    return tf.get_variable(
        name,
        shape=shape,
        initializer=tf.constant_initializer(value),
        collections=[*([collection] if collection else []), GraphKeys.GLOBAL_VARIABLES],
        trainable=False,
        aggregation=VariableAggregation.MEAN,
    )


def _batch_range(inputs: Any, per_channel: bool) -> tuple[Any, Any]:
    """The least and the largest number of a batch, of all or of each channel."""
    if not per_channel:
        return tf.reduce_min(inputs, name="BatchMin"), tf.reduce_max(inputs, name="BatchMax")
    rank = len(inputs.shape)
    if rank < 2:
        return inputs, inputs
    axes = list(range(rank - 1))
    low = tf.reduce_min(inputs, axis=axes, name="BatchMin")
    return low, tf.reduce_max(inputs, axis=axes, name="BatchMax")


def _with_zero(
    low: Any, high: Any, bits: int, narrow_range: bool, symmetric: bool
) -> tuple[Tensor, Tensor]:
    """The range that has 0 in it; if symmetric, in its middle."""
    if not symmetric:
        return tf.minimum(low, 0.0), tf.maximum(high, 0.0)
    # Two's complement has one negative number more.
    ratio = -1 if narrow_range else -((1 << bits) - 2) / (1 << bits)
    return tf.minimum(low, high / ratio), tf.maximum(high, low * ratio)


def _quantize(
    inputs: Any,
    assign: Callable[[Any, Any, str], Any],
    per_channel: bool,
    ends: tuple[float, float],
    vars_collection: Any,
    name_prefix: str,
    reuse: Any,
    is_training: bool,
    num_bits: int,
    narrow_range: bool,
    symmetric: bool,
) -> Tensor:
    with tf.variable_scope(None, default_name=name_prefix, values=[inputs], reuse=reuse) as scope:
        scope.set_partitioner(None)
        shape = inputs.shape
        if per_channel:
            assert len(shape) in (1, 2, 4), (
                f"Expected 1D, 2D or 4D input, was: {shape} in  scope: {name_prefix}"
            )
        of_range = [shape[-1]] if per_channel else []
        low = _variable("min", of_range, ends[0], vars_collection)
        high = _variable("max", of_range, ends[1], vars_collection)
        if is_training:
            batch = _batch_range(inputs, per_channel)
            wanted = _with_zero(*batch, num_bits, narrow_range, symmetric)
            low, high = assign(low, wanted[0], "Min"), assign(high, wanted[1], "Max")
        if per_channel:
            quantize = tf.fake_quant_with_min_max_vars_per_channel
        else:
            quantize = tf.fake_quant_with_min_max_vars
        return quantize(inputs, low, high, num_bits=num_bits, narrow_range=narrow_range)


def LastValueQuantize(
    inputs: object,
    per_channel: bool = False,
    init_min: float = -6.0,
    init_max: float = 6.0,
    vars_collection: object = None,
    name_prefix: str = "LastValueQuant",
    reuse: object = None,
    is_training: bool = True,
    num_bits: int = 8,
    narrow_range: bool = False,
    symmetric: bool = False,
) -> Tensor:
    """A tensor quantised in the range that it has, which the variables "min" and "max" keep.

    Args:
        inputs: floats.
        per_channel: whether each channel has its range.
        init_min: the lower end at first.
        init_max: the upper end at first.
        vars_collection: that the variables go to, besides the global ones.
        name_prefix: of their scope.
        reuse: whether they are there already.
        is_training: whether they follow the tensor.
        num_bits: of a number.
        narrow_range: whether the least number is left out.
        symmetric: whether 0 is in the middle.
    """

    def assign(variable: object, value: object, end: str) -> Any:
        return tf.assign(variable, value, name=f"Assign{end}Last")

    return _quantize(
        *(inputs, assign, per_channel, (init_min, init_max), vars_collection, name_prefix, reuse),
        *(is_training, num_bits, narrow_range, symmetric),
    )


def MovingAvgQuantize(
    inputs: object,
    per_channel: bool = False,
    init_min: float = -6.0,
    init_max: float = 6.0,
    ema_decay: float = 0.999,
    vars_collection: object = GraphKeys.MOVING_AVERAGE_VARIABLES,
    name_prefix: str = "MovingAvgQuantize",
    reuse: object = None,
    is_training: bool = True,
    num_bits: int = 8,
    narrow_range: bool = False,
    symmetric: bool = False,
) -> Tensor:
    """A tensor quantised in the moving average of its range, which "min" and "max" keep.

    Args:
        inputs: floats.
        per_channel: whether each channel has its range.
        init_min: the lower end at first.
        init_max: the upper end at first.
        ema_decay: how much of the average stays in a step.
        vars_collection: that the variables go to, besides the global ones.
        name_prefix: of their scope.
        reuse: whether they are there already.
        is_training: whether they follow the tensor.
        num_bits: of a number.
        narrow_range: whether the least number is left out.
        symmetric: whether 0 is in the middle.
    """

    def assign(variable: object, value: object, end: str) -> Any:
        return assign_moving_average(variable, value, ema_decay, name=f"Assign{end}Ema")

    return _quantize(
        *(inputs, assign, per_channel, (init_min, init_max), vars_collection, name_prefix, reuse),
        *(is_training, num_bits, narrow_range, symmetric),
    )
