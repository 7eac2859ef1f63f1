# SPDX-License-Identifier: Apache-2.0
"""A bijector that skews and changes the weight of tails."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .....engine.api import export
from .....engine.graph.convert import convert_to_tensor
from .....engine.graph.graph import name_scope
from .....engine.graph.tensor import Tensor
from .....engine.signatures import without_private_bases
from .....ops.public import tf
from .elementwise import _Elementwise

if TYPE_CHECKING:
    from .....engine.graph.annotations import TensorLike


def _root_of_square_plus_one(x: Tensor) -> Tensor:
    """sqrt(x^2 + 1), without overflow of the square."""
    is_small = tf.abs(x) * np.sqrt(np.finfo(x.dtype.as_numpy_dtype).eps) <= 1.0
    return tf.where_v2(is_small, tf.sqrt(x**2.0 + 1.0), tf.abs(x))


@export("contrib.distributions.bijectors.SinhArcsinh")
@without_private_bases
class SinhArcsinh(_Elementwise):
    """y = sinh((arcsinh(x) + skewness) tailweight)."""

    def __init__(
        self,
        skewness: TensorLike | None = None,
        tailweight: TensorLike | None = None,
        validate_args: bool = False,
        name: str = "SinhArcsinh",
    ) -> None:
        with name_scope(name), name_scope("init", values=[skewness, tailweight]):
            given = 0.0 if skewness is None else skewness
            self._skewness = convert_to_tensor(given, name="skewness")
            given = 1.0 if tailweight is None else tailweight
            weight = convert_to_tensor(given, name="tailweight", dtype=self._skewness.dtype)
            tf.assert_same_float_dtype([self._skewness, weight])
            self._tailweight = self._positive(weight, "tailweight", validate_args)
        self._set(validate_args, name)

    @property
    def skewness(self) -> Tensor:
        """Which side is longer."""
        return self._skewness

    @property
    def tailweight(self) -> Tensor:
        """How heavy the tails are."""
        return self._tailweight

    def _forward(self, x: Tensor) -> Tensor:
        return tf.sinh((tf.asinh(x) + self.skewness) * self.tailweight)

    def _inverse(self, y: Tensor) -> Tensor:
        return tf.sinh(tf.asinh(y) / self.tailweight - self.skewness)

    def _inverse_log_det_jacobian(self, y: Tensor) -> Tensor:
        slope = tf.cosh(tf.asinh(y) / self.tailweight - self.skewness)
        return tf.log(slope / _root_of_square_plus_one(y)) - tf.log(self.tailweight)

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        slope = tf.cosh((tf.asinh(x) + self.skewness) * self.tailweight)
        return tf.log(slope / _root_of_square_plus_one(x)) + tf.log(self.tailweight)
