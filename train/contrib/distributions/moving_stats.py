# SPDX-License-Identifier: Apache-2.0
"""Means and variances over time, kept in variables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.graph.collections import GraphKeys
from ....engine.graph.convert import convert_to_tensor
from ....engine.graph.graph import colocate_with, control_dependencies, name_scope
from ....engine.graph.tensor import Tensor
from ....ops.public import tf

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike
    from ....engine.types.dtypes import DType


def _require_floating(what: str, dtype: DType) -> None:
    if not dtype.is_floating:
        raise TypeError(f"{what}.base_dtype({dtype.name}) does not have float type `dtype`.")


@export("contrib.distributions.assign_moving_mean_variance")
def assign_moving_mean_variance(
    mean_var: Any, variance_var: Any, value: TensorLike, decay: TensorLike, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Moves a mean and a variance towards a value.

    Args:
        mean_var: the variable of the mean.
        variance_var: the variable of the variance.
        value: the new value.
        decay: how much of what there was stays.
        name: of the scope.

    Returns:
        The new mean and the new variance.

    Raises:
        TypeError: a variable is not floating, or they are of different dtypes.
    """
    given = [variance_var, mean_var, value, decay]
    with name_scope(name, "assign_moving_mean_variance", given):
        with colocate_with(variance_var), colocate_with(mean_var):
            kind, other = mean_var.dtype.base_dtype, variance_var.dtype.base_dtype
            _require_floating("mean_var", kind)
            if kind != other:
                raise TypeError(
                    f"mean_var.base_dtype({kind.name}) != variance_var.base_dtype({other.name})"
                )
            value = convert_to_tensor(value, dtype=kind, name="value")
            decay = convert_to_tensor(decay, dtype=kind, name="decay")
            # Both use the old mean.
            delta = value - mean_var
            with control_dependencies([delta]):
                mean = tf.assign_add(mean_var, (1.0 - decay) * delta)
                change = (1.0 - decay) * (variance_var - decay * tf.square(delta))
                return mean, tf.assign_sub(variance_var, change)


@export("contrib.distributions.assign_log_moving_mean_exp")
def assign_log_moving_mean_exp(
    log_mean_exp_var: Any, log_value: Any, decay: TensorLike, name: str | None = None
) -> Tensor:
    """Moves the logarithm of a mean towards a value given by its logarithm.

    Args:
        log_mean_exp_var: the variable of the logarithm.
        log_value: the logarithm of the new value.
        decay: how much of what there was stays.
        name: of the scope.

    Returns:
        The variable's new value.

    Raises:
        TypeError: the variable is not floating.
    """
    given = [log_mean_exp_var, log_value, decay]
    with name_scope(name, "assign_log_moving_mean_exp", given), colocate_with(log_mean_exp_var):
        kind = log_mean_exp_var.dtype.base_dtype
        _require_floating("log_mean_exp_var", kind)
        log_value = convert_to_tensor(log_value, dtype=kind, name="log_value")
        decay = convert_to_tensor(decay, dtype=kind, name="decay")
        delta = (log_value - log_mean_exp_var)[None, ...]
        parts = [tf.log(decay) * tf.ones_like(delta), delta + tf.log1p(-decay)]
        change = tf.reduce_logsumexp(tf.concat(parts, axis=0), axis=0)
        return log_mean_exp_var.assign_add(change)


@export("contrib.distributions.moving_mean_variance")
def moving_mean_variance(
    value: object, decay: object, collections: Sequence[str] | None = None, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Makes variables for a mean and a variance, and moves them towards a value.

    Args:
        value: the new value.
        decay: how much of what there was stays.
        collections: where the variables are put; those of global variables if None.
        name: of the variable scope.

    Returns:
        The new mean and the new variance.

    Raises:
        TypeError: the value is not floating.
    """
    collections = [GraphKeys.GLOBAL_VARIABLES] if collections is None else list(collections)
    with tf.variable_scope(name, "moving_mean_variance", [value, decay]):
        value = convert_to_tensor(value, name="value")
        _require_floating("value", value.dtype.base_dtype)
        decay = convert_to_tensor(decay, dtype=value.dtype.base_dtype, name="decay")
        variance, mean = (
            tf.get_variable(
                variable,
                shape=value.shape,
                dtype=value.dtype,
                initializer=tf.zeros_initializer(),
                trainable=False,
                collections=collections,
            )
            for variable in ("moving_variance", "moving_mean")
        )
        return assign_moving_mean_variance(mean, variance, value, decay)
