# SPDX-License-Identifier: Apache-2.0
"""Bijectors of single numbers: powers, exponentials, sigmoids, and distributions' integrals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .....engine.api import export
from .....engine.graph.constants import constant_value
from .....engine.graph.convert import convert_to_tensor
from .....engine.graph.graph import name_scope
from .....engine.graph.tensor import Tensor
from .....engine.signatures import without_private_bases
from .....ops.control import with_dependencies
from .....ops.distributions.bijector import Bijector
from .....ops.distributions.util import softplus_inverse
from .....ops.nn.activation import softplus
from .....ops.public import tf

if TYPE_CHECKING:
    from .....engine.graph.annotations import TensorLike


class _Elementwise(Bijector):
    """A bijector of single numbers."""

    def _set(self, validate_args: bool, name: str, is_constant_jacobian: bool = False) -> None:
        Bijector.__init__(
            self,
            forward_min_event_ndims=0,
            is_constant_jacobian=is_constant_jacobian,
            validate_args=validate_args,
            name=name,
        )

    def _positive(self, x: Tensor, word: str, validate_args: bool) -> Tensor:
        """A parameter, checked in the run to be positive."""
        if not validate_args:
            return x
        text = f"Argument {word} was not positive"
        return with_dependencies([tf.assert_positive(x, message=text)], x)

    def _in_unit_interval(self, y: Tensor) -> Tensor:
        """What the integral of a distribution gives, checked in the run."""
        if not self.validate_args:
            return y
        start = "Inverse transformation input must be "
        one = tf.constant(1.0, y.dtype)
        checks = [
            tf.assert_non_negative(y, message=start + "greater than 0."),
            tf.assert_less_equal(y, one, message=start + "less than or equal to 1."),
        ]
        return with_dependencies(checks, y)


@export("contrib.distributions.bijectors.AbsoluteValue")
@without_private_bases
class AbsoluteValue(_Elementwise):
    """y = |x|, which comes from both -y and y."""

    def __init__(self, validate_args: bool = False, name: str = "absolute_value") -> None:
        self._set(validate_args, name, is_constant_jacobian=True)

    @property
    def _is_injective(self) -> bool:
        return False

    def _checked(self, x: Tensor, y: Tensor) -> Tensor:
        if not self.validate_args:
            return x
        check = tf.assert_non_negative(y, message="Argument y was negative")
        return with_dependencies([check], x)

    def _forward(self, x: Tensor) -> Tensor:
        return tf.abs(x)

    def _inverse(self, y: Tensor) -> tuple[Tensor, Tensor]:
        y = self._checked(y, y)
        return -y, y

    def _inverse_log_det_jacobian(self, y: Tensor) -> tuple[Tensor, Tensor]:
        zeros = self._checked(tf.constant(0.0, dtype=y.dtype), y)
        return zeros, zeros


@export("contrib.distributions.bijectors.PowerTransform")
@without_private_bases
class PowerTransform(_Elementwise):
    """y = (1 + c x)^(1 / c) for a power c, and exp(x) for c = 0."""

    def __init__(
        self, power: float = 0.0, validate_args: bool = False, name: str = "power_transform"
    ) -> None:
        with name_scope(name), name_scope("init", values=[power]):
            known = constant_value(convert_to_tensor(power, name="power"))
        if known is None or known < 0:
            raise ValueError("`power` must be a non-negative TF constant.")
        self._power: Any = known
        self._set(validate_args, name)

    @property
    def power(self) -> Any:
        """c of (1 + c x)^(1 / c)."""
        return self._power

    def _checked_x(self, x: Tensor) -> Tensor:
        if not self.validate_args or self.power == 0.0:
            return x
        text = f"Forward transformation input must be at least {-1.0 / self.power}."
        return with_dependencies([tf.assert_non_negative(1.0 + self.power * x, message=text)], x)

    def _checked_y(self, y: Tensor) -> Tensor:
        if not self.validate_args:
            return y
        text = "Inverse transformation input must be greater than 0."
        return with_dependencies([tf.assert_positive(y, message=text)], y)

    def _forward(self, x: Tensor) -> Tensor:
        x = self._checked_x(x)
        if self.power == 0.0:
            return tf.exp(x)
        return tf.exp(tf.log1p(x * self.power) / self.power)

    def _inverse(self, y: Tensor) -> Tensor:
        y = self._checked_y(y)
        if self.power == 0.0:
            return tf.log(y)
        return tf.expm1(tf.log(y) * self.power) / self.power

    def _inverse_log_det_jacobian(self, y: Tensor) -> Tensor:
        return (self.power - 1.0) * tf.log(self._checked_y(y))

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        x = self._checked_x(x)
        if self.power == 0.0:
            return x
        return (1.0 / self.power - 1.0) * tf.log1p(x * self.power)


@export("contrib.distributions.bijectors.Exp")
class Exp(PowerTransform):
    """y = exp(x)."""

    def __init__(self, validate_args: bool = False, name: str = "exp") -> None:
        super().__init__(validate_args=validate_args, name=name)


@export("contrib.distributions.bijectors.Sigmoid")
@without_private_bases
class Sigmoid(_Elementwise):
    """y = 1 / (1 + exp(-x))."""

    def __init__(self, validate_args: bool = False, name: str = "sigmoid") -> None:
        self._set(validate_args, name)

    def _forward(self, x: Tensor) -> Tensor:
        return tf.sigmoid(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return tf.log(y) - tf.log1p(-y)

    def _inverse_log_det_jacobian(self, y: Tensor) -> Tensor:
        return -tf.log(y) - tf.log1p(-y)

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        return -softplus(-x) - softplus(x)


@export("contrib.distributions.bijectors.Softplus")
@without_private_bases
class Softplus(_Elementwise):
    """y = c log(1 + exp(x / c)); `hinge_softness` is c, 1 if None."""

    def __init__(
        self,
        hinge_softness: TensorLike | None = None,
        validate_args: bool = False,
        name: str = "softplus",
    ) -> None:
        with name_scope(name, values=[hinge_softness]):
            softness: Any = hinge_softness
            if softness is not None:
                softness = convert_to_tensor(softness, name="hinge_softness")
                if validate_args:
                    zero = convert_to_tensor(0, dtype=softness.dtype)
                    text = "hinge_softness must be non-zero"
                    check = tf.assert_none_equal(zero, softness, message=text)
                    softness = with_dependencies([check], softness)
            self._hinge_softness = softness
        self._set(validate_args, name)

    @property
    def hinge_softness(self) -> Any:
        """How soft the bend at zero is."""
        return self._hinge_softness

    def _softness(self, x: Tensor) -> Tensor:
        return tf.cast(self.hinge_softness, x.dtype)

    def _forward(self, x: Tensor) -> Tensor:
        if self.hinge_softness is None:
            return softplus(x)
        softness = self._softness(x)
        return softness * softplus(x / softness)

    def _inverse(self, y: Tensor) -> Tensor:
        if self.hinge_softness is None:
            return softplus_inverse(y)
        softness = self._softness(y)
        return softness * softplus_inverse(y / softness)

    def _inverse_log_det_jacobian(self, y: Tensor) -> Tensor:
        y = y if self.hinge_softness is None else y / self._softness(y)
        return -tf.log(-tf.expm1(-y))

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        x = x if self.hinge_softness is None else x / self._softness(x)
        return -softplus(-x)


@export("contrib.distributions.bijectors.Softsign")
@without_private_bases
class Softsign(_Elementwise):
    """y = x / (1 + |x|)."""

    def __init__(self, validate_args: bool = False, name: str = "softsign") -> None:
        self._set(validate_args, name)

    def _checked_y(self, y: Tensor) -> Tensor:
        if not self.validate_args:
            return y
        start = "Inverse transformation input must be "
        bounds = [tf.cast(bound, dtype=y.dtype.base_dtype) for bound in (-1.0, 1.0)]
        checks = [
            tf.assert_greater(y, bounds[0], message=start + "greater than -1."),
            tf.assert_less(y, bounds[1], message=start + "less than 1."),
        ]
        return with_dependencies(checks, y)

    def _forward(self, x: Tensor) -> Tensor:
        return x / (1.0 + tf.abs(x))

    def _inverse(self, y: Tensor) -> Tensor:
        y = self._checked_y(y)
        return y / (1.0 - tf.abs(y))

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        return -2.0 * tf.log1p(tf.abs(x))

    def _inverse_log_det_jacobian(self, y: Tensor) -> Tensor:
        return -2.0 * tf.log1p(-tf.abs(self._checked_y(y)))


@export("contrib.distributions.bijectors.Square")
@without_private_bases
class Square(_Elementwise):
    """y = x^2, for x that are not negative."""

    def __init__(self, validate_args: bool = False, name: str = "square") -> None:
        self._set(validate_args, name)

    def _checked(self, t: Tensor) -> Tensor:
        if not self.validate_args:
            return t
        check = tf.assert_non_negative(t, message="All elements must be non-negative.")
        return with_dependencies([check], t)

    def _forward(self, x: Tensor) -> Tensor:
        return tf.square(self._checked(x))

    def _inverse(self, y: Tensor) -> Tensor:
        return tf.sqrt(self._checked(y))

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        return np.log(2.0) + tf.log(self._checked(x))


class _WithTwoParameters(_Elementwise):
    """A bijector with two parameters of one type."""

    def _set_parameters(
        self, given: dict[str, Any], positive: Sequence[str], validate_args: bool, name: str
    ) -> None:
        with name_scope(name), name_scope("init", values=list(given.values())):
            values: dict[str, Tensor] = {}
            for key, value in given.items():
                values[key] = convert_to_tensor(value, name=key)
            tf.assert_same_float_dtype(list(values.values()))
            for key in positive:
                values[key] = self._positive(values[key], key, validate_args)
            for key, tensor in values.items():
                setattr(self, f"_{key}", tensor)
        self._set(validate_args, name)


@export("contrib.distributions.bijectors.Gumbel")
@without_private_bases
class Gumbel(_WithTwoParameters):
    """y = exp(-exp(-(x - loc) / scale)), the integral of Gumbel's distribution."""

    _loc: Tensor
    _scale: Tensor

    def __init__(
        self,
        loc: TensorLike = 0.0,
        scale: TensorLike = 1.0,
        validate_args: bool = False,
        name: str = "gumbel",
    ) -> None:
        self._set_parameters({"loc": loc, "scale": scale}, ["scale"], validate_args, name)

    @property
    def loc(self) -> Tensor:
        """The place."""
        return self._loc

    @property
    def scale(self) -> Tensor:
        """The width."""
        return self._scale

    def _forward(self, x: Tensor) -> Tensor:
        return tf.exp(-tf.exp(-((x - self.loc) / self.scale)))

    def _inverse(self, y: Tensor) -> Tensor:
        return self.loc - self.scale * tf.log(-tf.log(self._in_unit_interval(y)))

    def _inverse_log_det_jacobian(self, y: Tensor) -> Tensor:
        y = self._in_unit_interval(y)
        return tf.log(self.scale / (-tf.log(y) * y))

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        z = (x - self.loc) / self.scale
        return -z - tf.exp(-z) - tf.log(self.scale)


@export("contrib.distributions.bijectors.Kumaraswamy")
@without_private_bases
class Kumaraswamy(_Elementwise):
    """y = (1 - (1 - x)^(1 / b))^(1 / a): what makes uniform numbers Kumaraswamy's."""

    def __init__(
        self,
        concentration1: TensorLike | None = None,
        concentration0: TensorLike | None = None,
        validate_args: bool = False,
        name: str = "kumaraswamy",
    ) -> None:
        given = {"concentration1": concentration1, "concentration0": concentration0}
        text = "Concentration parameter must be positive."
        with name_scope(name), name_scope("init", values=list(given.values())):
            found = [convert_to_tensor(value, name=key) for key, value in given.items()]
            if validate_args:
                found = [with_dependencies([tf.assert_positive(x, message=text)], x) for x in found]
            self._concentration1, self._concentration0 = found
        self._set(validate_args, name)

    @property
    def concentration1(self) -> Tensor:
        """a of (1 - (1 - x)^(1 / b))^(1 / a)."""
        return self._concentration1

    @property
    def concentration0(self) -> Tensor:
        """b of (1 - (1 - x)^(1 / b))^(1 / a)."""
        return self._concentration0

    def _checked(self, x: Tensor) -> Tensor:
        if not self.validate_args:
            return x
        one = tf.ones([], self.concentration0.dtype)
        checks = [
            tf.assert_non_negative(x, message="sample must be non-negative"),
            tf.assert_less_equal(x, one, message="sample must be no larger than `1`."),
        ]
        return with_dependencies(checks, x)

    def _forward(self, x: Tensor) -> Tensor:
        inner = tf.exp(tf.log1p(-self._checked(x)) / self.concentration0)
        return tf.exp(tf.log1p(-inner) / self.concentration1)

    def _inverse(self, y: Tensor) -> Tensor:
        y = self._checked(y)
        return tf.exp(tf.log1p(-((1 - y**self.concentration1) ** self.concentration0)))

    def _inverse_log_det_jacobian(self, y: Tensor) -> Tensor:
        y = self._checked(y)
        return (
            tf.log(self.concentration1)
            + tf.log(self.concentration0)
            + (self.concentration1 - 1) * tf.log(y)
            + (self.concentration0 - 1) * tf.log1p(-(y**self.concentration1))
        )
