# SPDX-License-Identifier: Apache-2.0
"""Distributions whose positive parameters are softplus of what is given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...engine.graph.graph import name_scope
from ..nn.activation import softplus
from ..public import tf
from .location_scale import Laplace, StudentT
from .positive_support import Beta, Exponential, Gamma

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike


class LaplaceWithSoftplusScale(Laplace):
    """Laplace's distribution with width softplus(`scale`)."""

    def __init__(
        self,
        loc: TensorLike,
        scale: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "LaplaceWithSoftplusScale",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[loc, scale]) as name:
            width = softplus(scale, name="softplus_scale")
            super().__init__(loc, width, validate_args, allow_nan_stats, name)
        self._parameters = parameters


class StudentTWithAbsDfSoftplusScale(StudentT):
    """Student's t distribution of floor(|`df`|) degrees of freedom, scaled by softplus(`scale`)."""

    def __init__(
        self,
        df: TensorLike,
        loc: TensorLike,
        scale: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "StudentTWithAbsDfSoftplusScale",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[df, scale]) as name:
            whole = tf.floor(tf.abs(df))
            width = softplus(scale, name="softplus_scale")
            super().__init__(whole, loc, width, validate_args, allow_nan_stats, name)
        self._parameters = parameters


class GammaWithSoftplusConcentrationRate(Gamma):
    """The gamma distribution with softplus of `concentration` and `rate`."""

    def __init__(
        self,
        concentration: TensorLike,
        rate: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "GammaWithSoftplusConcentrationRate",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[concentration, rate]) as name:
            shape = softplus(concentration, name="softplus_concentration")
            inverse = softplus(rate, name="softplus_rate")
            super().__init__(shape, inverse, validate_args, allow_nan_stats, name)
        self._parameters = parameters


class ExponentialWithSoftplusRate(Exponential):
    """The exponential distribution with rate softplus(`rate`)."""

    def __init__(
        self,
        rate: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "ExponentialWithSoftplusRate",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[rate]) as name:
            positive = softplus(rate, name="softplus_rate")
            super().__init__(positive, validate_args, allow_nan_stats, name)
        self._parameters = parameters


class BetaWithSoftplusConcentration(Beta):
    """The beta distribution with softplus of both concentrations."""

    def __init__(
        self,
        concentration1: TensorLike,
        concentration0: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "BetaWithSoftplusConcentration",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[concentration1, concentration0]) as name:
            first = softplus(concentration1, name="softplus_concentration1")
            second = softplus(concentration0, name="softplus_concentration0")
            super().__init__(first, second, validate_args, allow_nan_stats, name)
        self._parameters = parameters
