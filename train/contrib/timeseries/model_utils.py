# SPDX-License-Identifier: Apache-2.0
"""Dense layers by name, parameters that may be given, and times to predict."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ....engine.graph.convert import convert_to_tensor
from ....engine.types import dtypes
from ....ops.nn.activation import relu
from ....ops.nn.bias import xw_plus_b
from ....ops.public import tf
from ..structures import Structure
from .feature_keys import FilteringResults

if TYPE_CHECKING:
    from ....engine.graph.annotations import DTypeLike


def fully_connected(
    inp: Structure,
    inp_size: int,
    layer_size: int,
    name: str,
    activation: Callable[[Any], Any] | None = relu,
    dtype: DTypeLike = dtypes.float32,
) -> Any:
    """A dense layer, whose variables are `name`_weight and `name`_bias."""
    weight = tf.get_variable(f"{name}_weight", shape=[inp_size, layer_size], dtype=dtype)
    bias = tf.get_variable(f"{name}_bias", shape=[layer_size], initializer=tf.zeros_initializer())
    output = xw_plus_b(inp, weight, bias)
    return output if activation is None else activation(output)


def parameter_switch(parameter_overrides: Mapping[Any, Any]) -> Callable[[Any], Any]:
    """A function that gives a parameter's value: the one given for it, or its own."""

    def value_of(parameter: Structure) -> Any:
        return convert_to_tensor(parameter_overrides.get(parameter, parameter)).eval()

    return value_of


def canonicalize_times_or_steps_from_output(
    times: Structure, steps: int | None, previous_model_output: Mapping[str, Any]
) -> np.ndarray:
    """The times to predict, [batch, n]: those given, or some after an evaluation's.

    Raises:
        ValueError: not one of times and steps is given, or times are not after the evaluation's.
    """
    if steps is not None and times is not None:
        raise ValueError("Only one of `steps` and `times` may be specified.")
    if steps is None and times is None:
        raise ValueError("One of `steps` and `times` must be specified.")
    before = previous_model_output[FilteringResults.TIMES]
    if steps is not None:
        found: np.ndarray = before[:, -1:] + 1 + np.arange(steps)[None, ...]
        return found
    found = np.array(times)
    found = found if found.ndim == 2 else found[None, ...]
    if before.shape[0] != found.shape[0]:
        raise ValueError(
            "`times` must have a batch dimension matching the previous model output (got a batch "
            f"dimension of {found.shape[0]} for `times` and {before.shape[0]} for the previous "
            "model output)."
        )
    if not (before[:, -1] < found[:, 0]).all():
        raise ValueError("Prediction times must be after the corresponding previous model output.")
    return found
