# SPDX-License-Identifier: Apache-2.0
"""Real NVP: the last numbers are moved and scaled by what the first ones say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .....engine.api import export
from .....engine.graph.graph import name_scope
from .....engine.graph.tensor import Tensor
from .....engine.types.shape import dimension_value
from .....ops.distributions.bijector import Bijector
from .....ops.nn.activation import relu
from .....ops.public import tf
from ....layers.core import dense

if TYPE_CHECKING:
    from .....ops.state.template import Template

_ShiftAndScale = Callable[[Tensor, int], tuple[Any, Any]]


@export("contrib.distributions.bijectors.RealNVP")
class RealNVP(Bijector):
    """y = [x0, x1 exp(log_scale(x0)) + shift(x0)], x0 being the first `num_masked` numbers.

    shift_and_log_scale_fn: gives shift and log_scale of x0 and of the number of the others; either
    may be None.  is_constant_jacobian: whether log_scale is None.
    """

    def __init__(
        self,
        num_masked: int,
        shift_and_log_scale_fn: _ShiftAndScale,
        is_constant_jacobian: bool = False,
        validate_args: bool = False,
        name: str | None = None,
    ) -> None:
        if num_masked <= 0:
            raise ValueError("num_masked must be a positive integer.")
        self._num_masked = num_masked
        self._input_depth: int | None = None
        self._shift_and_log_scale_fn = shift_and_log_scale_fn
        super().__init__(
            forward_min_event_ndims=1,
            is_constant_jacobian=is_constant_jacobian,
            validate_args=validate_args,
            name=name or "real_nvp",
        )

    def _find_depth(self, x: Tensor) -> None:
        """How many numbers there are, of the first tensor that is seen."""
        if self._input_depth is not None:
            return
        self._input_depth = dimension_value(x.shape.with_rank_at_least(1)[-1])
        if self._input_depth is None:
            raise NotImplementedError("Rightmost dimension must be known prior to graph execution.")
        if self._num_masked >= self._input_depth:
            raise ValueError("Number of masked units must be smaller than the event size.")

    def _of_first(self, first: Tensor) -> tuple[Any, Any]:
        """Shift and log_scale of the first numbers."""
        assert self._input_depth is not None, "_find_depth comes first"
        return self._shift_and_log_scale_fn(first, self._input_depth - self._num_masked)

    def _forward(self, x: Tensor) -> Tensor:
        self._find_depth(x)
        first, rest = x[:, : self._num_masked], x[:, self._num_masked :]
        shift, log_scale = self._of_first(first)
        rest = rest if log_scale is None else rest * tf.exp(log_scale)
        rest = rest if shift is None else rest + shift
        return tf.concat([first, rest], axis=-1)

    def _inverse(self, y: Tensor) -> Tensor:
        self._find_depth(y)
        first, rest = y[:, : self._num_masked], y[:, self._num_masked :]
        shift, log_scale = self._of_first(first)
        rest = rest if shift is None else rest - shift
        rest = rest if log_scale is None else rest * tf.exp(-log_scale)
        return tf.concat([first, rest], axis=-1)

    def _inverse_log_det_jacobian(self, y: Tensor) -> Tensor:
        self._find_depth(y)
        _, log_scale = self._of_first(y[:, : self._num_masked])
        if log_scale is None:
            return tf.constant(0.0, dtype=y.dtype, name="ildj")
        return -tf.reduce_sum(log_scale, axis=-1)

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        self._find_depth(x)
        _, log_scale = self._of_first(x[:, : self._num_masked])
        if log_scale is None:
            return tf.constant(0.0, dtype=x.dtype, name="fldj")
        return tf.reduce_sum(log_scale, axis=-1)


@export("contrib.distributions.bijectors.real_nvp_default_template")
def real_nvp_default_template(
    hidden_layers: Sequence[int],
    shift_only: bool = False,
    activation: object = relu,
    name: str | None = None,
    *args: Any,
    **kwargs: Any,
) -> Template:
    """A function for RealNVP: dense layers that share their variables.

    Args:
        hidden_layers: the number of units of each.
        shift_only: whether there is no log_scale.
        activation: of the hidden layers.
        name: of the scope.
        args: further arguments of tf.layers.dense, by position.
        kwargs: further arguments of tf.layers.dense, by name.

    Returns:
        A function of a tensor and of a number of outputs that gives shift and log_scale.
    """
    with name_scope(name, "real_nvp_default_template"):

        def shift_and_log_scale(x: Tensor, output_units: int) -> tuple[Any, Any]:
            for units in hidden_layers:
                x = dense(x, units, activation, *args, **kwargs)
            units = (1 if shift_only else 2) * output_units
            x = dense(x, units, None, *args, **kwargs)
            if shift_only:
                return x, None
            shift, log_scale = tf.split(x, 2, axis=-1)
            return shift, log_scale

        return tf.make_template("real_nvp_default_template", shift_and_log_scale)
