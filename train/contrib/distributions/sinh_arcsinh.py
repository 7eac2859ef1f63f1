# SPDX-License-Identifier: Apache-2.0
"""Skewed distributions of numbers and vectors, with tails of any weight."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.graph.convert import convert_to_tensor
from ....engine.graph.graph import name_scope
from ....engine.graph.tensor import Tensor
from ....engine.signatures import without_private_bases
from ....ops.control import with_dependencies
from ....ops.distributions.distribution import Distribution
from ....ops.distributions.location_scale import Normal
from ....ops.distributions.transformed_distribution import TransformedDistribution
from ....ops.public import tf
from .bijectors.affine import Affine, AffineScalar
from .bijectors.composed import Chain
from .bijectors.sinh_arcsinh import SinhArcsinh as SinhArcsinhBijector
from .distribution_util import (
    get_broadcast_shape,
    make_diag_scale,
    maybe_check_scalar_distribution,
    optional_tensor,
    shapes_from_loc_and_scale,
)

if TYPE_CHECKING:
    from ....engine.graph.annotations import DTypeLike, TensorLike


class _SinhArcsinh(TransformedDistribution):
    """loc + scale F(x) 2 / F(2) for F(x) = sinh((arcsinh(x) + skewness) tailweight)."""

    _loc: Any
    _scale: Any
    _tailweight: Tensor
    _skewness: Tensor

    @property
    def loc(self) -> Any:
        """The place."""
        return self._loc

    @property
    def scale(self) -> Any:
        """The width."""
        return self._scale

    @property
    def tailweight(self) -> Tensor:
        """How heavy the tails are."""
        return self._tailweight

    @property
    def skewness(self) -> Tensor:
        """Which side is longer."""
        return self._skewness

    def _base(
        self,
        distribution: Any,
        dtype: DTypeLike,
        validate_args: bool,
        allow_nan_stats: bool,
        x: Any,
    ) -> tuple[Any, Any]:
        """The distribution that is transformed, and a tensor that waits for its checks."""
        if distribution is None:
            zero, one = tf.zeros([], dtype=dtype), tf.ones([], dtype=dtype)
            return Normal(loc=zero, scale=one, allow_nan_stats=allow_nan_stats), x
        checks = maybe_check_scalar_distribution(distribution, dtype, validate_args)
        return distribution, with_dependencies(checks, x) if checks else x

    def _bent(self, scale: Any, has_skewness: bool) -> tuple[SinhArcsinhBijector, Tensor]:
        """F, and the scale divided by F(2) / 2 of no skewness, which keeps the width."""
        dtype = self._skewness.dtype
        bent = straight = SinhArcsinhBijector(self._skewness, self._tailweight)
        if has_skewness:
            none = dtype.as_numpy_dtype(0.0)
            straight = SinhArcsinhBijector(none, self._tailweight)
        return bent, 2 * scale / straight.forward(convert_to_tensor(2, dtype=dtype))

    def _set_shape(self, skewness: object, tailweight: object, dtype: object) -> None:
        weight = 1.0 if tailweight is None else tailweight
        self._tailweight = convert_to_tensor(weight, name="tailweight", dtype=dtype)
        skew = 0.0 if skewness is None else skewness
        self._skewness = convert_to_tensor(skew, name="skewness", dtype=dtype)


@export("contrib.distributions.SinhArcsinh")
@without_private_bases
class SinhArcsinh(_SinhArcsinh):
    """Numbers of a normal distribution, or of another one, skewed and with other tails."""

    def __init__(
        self,
        loc: TensorLike,
        scale: TensorLike,
        skewness: TensorLike | None = None,
        tailweight: TensorLike | None = None,
        distribution: Distribution | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "SinhArcsinh",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[loc, scale, skewness, tailweight]) as name:
            place = convert_to_tensor(loc, name="loc")
            width = convert_to_tensor(scale, name="scale", dtype=place.dtype)
            self._set_shape(skewness, tailweight, place.dtype)
            batch_shape = get_broadcast_shape(place, width, self._tailweight, self._skewness)
            base, place = self._base(
                distribution, place.dtype, validate_args, allow_nan_stats, place
            )
            bent, factor = self._bent(width, skewness is not None)
            affine = AffineScalar(shift=place, scale=factor, validate_args=validate_args)
            TransformedDistribution.__init__(
                self,
                distribution=base,
                bijector=Chain([affine, bent]),
                batch_shape=batch_shape,
                validate_args=validate_args,
                name=name,
            )
        self._parameters = parameters
        self._loc, self._scale = place, width


@export("contrib.distributions.VectorSinhArcsinhDiag")
@without_private_bases
class VectorSinhArcsinhDiag(_SinhArcsinh):
    """Vectors of such numbers, with widths along a diagonal."""

    def __init__(
        self,
        loc: TensorLike | None = None,
        scale_diag: TensorLike | None = None,
        scale_identity_multiplier: TensorLike | None = None,
        skewness: TensorLike | None = None,
        tailweight: TensorLike | None = None,
        distribution: Distribution | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalLinearOperator",
    ) -> None:
        parameters = dict(locals())
        given = [loc, scale_diag, scale_identity_multiplier, skewness, tailweight]
        with name_scope(name, values=given) as name:
            place = optional_tensor(loc, "loc")
            scale = make_diag_scale(place, scale_diag, scale_identity_multiplier)
            batch_shape, event_shape = shapes_from_loc_and_scale(place, scale)
            widths = scale.diag_part()
            base, widths = self._base(
                distribution, widths.dtype, validate_args, allow_nan_stats, widths
            )
            self._set_shape(skewness, tailweight, widths.dtype)
            bent, factor = self._bent(widths, skewness is not None)
            affine = Affine(shift=place, scale_diag=factor, validate_args=validate_args)
            TransformedDistribution.__init__(
                self,
                distribution=base,
                bijector=Chain([affine, bent]),
                batch_shape=batch_shape,
                event_shape=event_shape,
                validate_args=validate_args,
                name=name,
            )
        self._parameters = parameters
        self._loc, self._scale = place, scale
