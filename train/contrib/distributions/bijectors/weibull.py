# SPDX-License-Identifier: Apache-2.0
"""Weibull's integral; TensorFlow 1.15 has it in this module alone, not in the namespace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .....engine.graph.tensor import Tensor
from .....engine.signatures import without_private_bases
from .....ops.control import with_dependencies
from .....ops.public import tf
from .elementwise import _WithTwoParameters

if TYPE_CHECKING:
    from .....engine.graph.annotations import TensorLike


@without_private_bases
class Weibull(_WithTwoParameters):
    """y = 1 - exp(-(x / scale)^concentration), the integral of Weibull's distribution."""

    _scale: Tensor
    _concentration: Tensor

    def __init__(
        self,
        scale: TensorLike = 1.0,
        concentration: TensorLike = 1.0,
        validate_args: bool = False,
        name: str = "weibull",
    ) -> None:
        given = {"scale": scale, "concentration": concentration}
        self._set_parameters(given, list(given), validate_args, name)

    @property
    def scale(self) -> Tensor:
        """The width."""
        return self._scale

    @property
    def concentration(self) -> Tensor:
        """The shape."""
        return self._concentration

    def _checked_x(self, x: Tensor) -> Tensor:
        if not self.validate_args:
            return x
        text = "Forward transformation input must be at least 0."
        return with_dependencies([tf.assert_non_negative(x, message=text)], x)

    def _forward(self, x: Tensor) -> Tensor:
        return -tf.expm1(-((self._checked_x(x) / self.scale) ** self.concentration))

    def _inverse(self, y: Tensor) -> Tensor:
        y = self._in_unit_interval(y)
        return self.scale * (-tf.log1p(-y)) ** (1 / self.concentration)

    def _inverse_log_det_jacobian(self, y: Tensor) -> Tensor:
        hazard = -tf.log1p(-self._in_unit_interval(y))
        return (
            hazard
            + (1 / self.concentration - 1) * tf.log(hazard)
            + tf.log(self.scale / self.concentration)
        )

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        x = self._checked_x(x)
        return (
            -((x / self.scale) ** self.concentration)
            + (self.concentration - 1) * tf.log(x)
            + tf.log(self.concentration)
            - self.concentration * tf.log(self.scale)
        )
