# SPDX-License-Identifier: Apache-2.0
"""Vectors of normal, exponential and Laplace numbers, moved and scaled by linear operators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ....engine.api import export
from ....engine.graph.convert import convert_to_tensor
from ....engine.graph.graph import name_scope
from ....engine.graph.tensor import Tensor
from ....engine.signatures import without_private_bases
from ....engine.types.shape import broadcast_static
from ....ops.control import with_dependencies
from ....ops.distributions.divergence import RegisterKL
from ....ops.distributions.location_scale import Laplace, Normal
from ....ops.distributions.positive_support import Exponential
from ....ops.distributions.transformed_distribution import TransformedDistribution
from ....ops.linalg.operators.diagonal import LinearOperatorLowerTriangular
from ....ops.linalg.operators.identity import LinearOperatorIdentity
from ....ops.linalg.operators.low_rank import LinearOperatorLowRankUpdate
from ....ops.linalg.operators.operator import LinearOperator
from ....ops.nn.activation import softplus
from ....ops.public import tf
from .bijectors.affine import AffineLinearOperator
from .distribution_util import (
    dimension_size,
    is_diagonal_scale,
    make_diag_scale,
    optional_tensor,
    shapes_from_loc_and_scale,
)

if TYPE_CHECKING:
    from ....engine.graph.annotations import DTypeLike, TensorLike


class _OfLinearOperator(TransformedDistribution):
    """loc + scale x, for vectors x of independent numbers of one distribution."""

    # How large the variance of such a number is.
    _factor = 1.0

    def _set(
        self,
        loc: Any,
        scale: LinearOperator | None,
        validate_args: bool,
        name: str,
        make: Any,
    ) -> None:
        if scale is None:
            raise ValueError("Missing required `scale` parameter.")
        if not scale.dtype.is_floating:
            raise TypeError("`scale` parameter must have floating-point dtype.")
        with name_scope(name, values=[loc, *scale.graph_parents]) as name:
            loc = optional_tensor(loc, "loc")
            batch_shape, event_shape = shapes_from_loc_and_scale(loc, scale)
        TransformedDistribution.__init__(
            self,
            distribution=make(scale.dtype),
            bijector=AffineLinearOperator(shift=loc, scale=scale, validate_args=validate_args),
            batch_shape=batch_shape,
            event_shape=event_shape,
            validate_args=validate_args,
            name=name,
        )

    @property
    def loc(self) -> Any:
        """What is added; None for nothing."""
        return self.bijector.shift

    @property
    def scale(self) -> Any:
        """The linear operator."""
        return self.bijector.scale

    def _shape_of_draw(self) -> Any:
        shape = self.batch_shape.concatenate(self.event_shape)
        if shape.is_fully_defined():
            return shape
        return tf.concat([self.batch_shape_tensor(), self.event_shape_tensor()], 0)

    def _mean(self) -> Tensor:
        shape = self._shape_of_draw()
        if self.loc is None:
            return tf.zeros(shape, self.dtype)
        if not isinstance(shape, Tensor) and shape == self.loc.shape:
            return tf.identity(self.loc)
        return tf.identity(self.loc) + tf.zeros(shape, self.dtype)

    def _mode(self) -> Tensor:
        return self._mean()

    def _scaled(self, x: Tensor, root: bool = False) -> Tensor:
        if self._factor == 1.0:
            return x
        return (np.sqrt(self._factor) if root else self._factor) * x

    def _square(self) -> Tensor:
        """scale scale^T."""
        scale = self.scale
        is_symmetric = isinstance(scale, LinearOperatorLowRankUpdate) and scale.is_self_adjoint
        return scale.matmul(scale.to_dense(), adjoint_arg=not is_symmetric)

    def _covariance(self) -> Tensor:
        if is_diagonal_scale(self.scale):
            return self._scaled(tf.matrix_diag(tf.square(self.scale.diag_part())))
        return self._scaled(self.scale.matmul(self.scale.to_dense(), adjoint_arg=True))

    def _variance(self) -> Tensor:
        if is_diagonal_scale(self.scale):
            return self._scaled(tf.square(self.scale.diag_part()))
        return self._scaled(tf.matrix_diag_part(self._square()))

    def _stddev(self) -> Tensor:
        if is_diagonal_scale(self.scale):
            return self._scaled(tf.abs(self.scale.diag_part()), root=True)
        return self._scaled(tf.sqrt(tf.matrix_diag_part(self._square())), root=True)


def _standard_normal(dtype: DTypeLike) -> Normal:
    return Normal(loc=tf.zeros([], dtype=dtype), scale=tf.ones([], dtype=dtype))


@without_private_bases
class MultivariateNormalLinearOperator(_OfLinearOperator):
    """The normal distribution of loc + scale x, `scale` being a tf.linalg.LinearOperator."""

    def __init__(
        self,
        loc: TensorLike | None = None,
        scale: LinearOperator | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalLinearOperator",
    ) -> None:
        parameters = dict(locals())
        self._set(loc, scale, validate_args, name, _standard_normal)
        self._parameters = parameters


@RegisterKL(MultivariateNormalLinearOperator, MultivariateNormalLinearOperator)
def _kl_brute_force(
    a: MultivariateNormalLinearOperator,
    b: MultivariateNormalLinearOperator,
    name: str | None = None,
) -> Tensor:
    def squares(x: Tensor) -> Tensor:
        return tf.reduce_sum(tf.square(x), axis=[-2, -1])

    parents = [a.loc, b.loc, *a.scale.graph_parents, *b.scale.graph_parents]
    with name_scope(name, "kl_mvn", values=parents):
        if is_diagonal_scale(a.scale) and is_diagonal_scale(b.scale):
            ratio = (a.stddev() / b.stddev())[..., None]
        else:
            ratio = b.scale.solve(a.scale.to_dense())
        # (|B^-1 A|^2 + |B^-1 (mu_b - mu_a)|^2 - k) / 2 + log(det B / det A).
        found = (
            b.scale.log_abs_determinant()
            - a.scale.log_abs_determinant()
            + 0.5
            * (
                -tf.cast(a.scale.domain_dimension_tensor(), a.dtype)
                + squares(ratio)
                + squares(b.scale.solve((b.mean() - a.mean())[..., None]))
            )
        )
        found.set_shape(broadcast_static(a.batch_shape, b.batch_shape))
        return found


def _diag_scale(
    name: str, loc: Any, scale_diag: Any, multiplier: Any
) -> tuple[str, LinearOperator]:
    """The scope of a distribution, and its scale, made in it."""
    with name_scope(name) as scope, name_scope("init", values=[loc, scale_diag, multiplier]):
        return scope, make_diag_scale(
            loc=loc,
            scale_diag=scale_diag,
            scale_identity_multiplier=multiplier,
            validate_args=False,
            assert_positive=False,
        )


@export("contrib.distributions.MultivariateNormalDiag")
class MultivariateNormalDiag(MultivariateNormalLinearOperator):
    """Normal vectors with independent entries of the standard deviations `scale_diag`."""

    def __init__(
        self,
        loc: TensorLike | None = None,
        scale_diag: TensorLike | None = None,
        scale_identity_multiplier: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalDiag",
    ) -> None:
        parameters = dict(locals())
        name, scale = _diag_scale(name, loc, scale_diag, scale_identity_multiplier)
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)
        self._parameters = parameters


@export("contrib.distributions.MultivariateNormalDiagWithSoftplusScale")
class MultivariateNormalDiagWithSoftplusScale(MultivariateNormalDiag):
    """Normal vectors with independent entries of the standard deviations softplus(`scale_diag`)."""

    def __init__(
        self,
        loc: TensorLike,
        scale_diag: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalDiagWithSoftplusScale",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[scale_diag]) as name:
            super().__init__(
                loc=loc,
                scale_diag=softplus(scale_diag),
                validate_args=validate_args,
                allow_nan_stats=allow_nan_stats,
                name=name,
            )
        self._parameters = parameters


@export("contrib.distributions.MultivariateNormalTriL")
class MultivariateNormalTriL(MultivariateNormalLinearOperator):
    """Normal vectors with the covariance `scale_tril` `scale_tril`^T."""

    def __init__(
        self,
        loc: TensorLike | None = None,
        scale_tril: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalTriL",
    ) -> None:
        parameters = dict(locals())
        if loc is None and scale_tril is None:
            raise ValueError("Must specify one or both of `loc`, `scale_tril`.")
        with name_scope(name) as name, name_scope("init", values=[loc, scale_tril]):
            place, triangle = optional_tensor(loc, "loc"), optional_tensor(scale_tril, "scale_tril")
            scale: LinearOperator
            if triangle is None:
                scale = LinearOperatorIdentity(
                    num_rows=dimension_size(place, -1),
                    dtype=place.dtype,
                    is_self_adjoint=True,
                    is_positive_definite=True,
                    assert_proper_shapes=validate_args,
                )
            else:
                scale = LinearOperatorLowerTriangular(
                    triangle,
                    is_non_singular=True,
                    is_self_adjoint=False,
                    is_positive_definite=False,
                )
        super().__init__(place, scale, validate_args, allow_nan_stats, name)
        self._parameters = parameters


@export("contrib.distributions.MultivariateNormalFullCovariance")
class MultivariateNormalFullCovariance(MultivariateNormalTriL):
    """Normal vectors with a covariance matrix."""

    def __init__(
        self,
        loc: TensorLike | None = None,
        covariance_matrix: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalFullCovariance",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name) as name, name_scope("init", values=[loc, covariance_matrix]):
            triangle = None
            if covariance_matrix is not None:
                matrix = convert_to_tensor(covariance_matrix, name="covariance_matrix")
                if validate_args:
                    text = "Matrix was not symmetric"
                    check = tf.assert_near(matrix, tf.matrix_transpose(matrix), message=text)
                    matrix = with_dependencies([check], matrix)
                triangle = tf.cholesky(matrix)
            super().__init__(loc, triangle, validate_args, allow_nan_stats, name)
        self._parameters = parameters


@export("contrib.distributions.MultivariateNormalDiagPlusLowRank")
class MultivariateNormalDiagPlusLowRank(MultivariateNormalLinearOperator):
    """Normal vectors with a diagonal scale and a product of low rank added to it."""

    def __init__(
        self,
        loc: TensorLike | None = None,
        scale_diag: TensorLike | None = None,
        scale_identity_multiplier: TensorLike | None = None,
        scale_perturb_factor: TensorLike | None = None,
        scale_perturb_diag: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalDiagPlusLowRank",
    ) -> None:
        parameters = dict(locals())
        given = [
            *(loc, scale_diag, scale_identity_multiplier),
            *(scale_perturb_factor, scale_perturb_diag),
        ]
        with name_scope(name) as name, name_scope("init", values=given):
            has_low_rank = scale_perturb_factor is not None or scale_perturb_diag is not None
            scale = make_diag_scale(
                loc=loc,
                scale_diag=scale_diag,
                scale_identity_multiplier=scale_identity_multiplier,
                validate_args=validate_args,
                assert_positive=has_low_rank,
            )
            factor = optional_tensor(scale_perturb_factor, "scale_perturb_factor")
            diagonal = optional_tensor(scale_perturb_diag, "scale_perturb_diag")
            if has_low_rank:
                scale = LinearOperatorLowRankUpdate(
                    scale,
                    u=factor,
                    diag_update=diagonal,
                    is_diag_update_positive=diagonal is None,
                    is_non_singular=True,
                    is_self_adjoint=True,
                    is_positive_definite=True,
                    is_square=True,
                )
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)
        self._parameters = parameters


@without_private_bases
class VectorExponentialLinearOperator(_OfLinearOperator):
    """loc + scale x, for vectors x of exponential numbers."""

    def __init__(
        self,
        loc: TensorLike | None = None,
        scale: LinearOperator | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "VectorExponentialLinearOperator",
    ) -> None:
        parameters = dict(locals())

        def make(dtype: DTypeLike) -> Exponential:
            return Exponential(rate=tf.ones([], dtype=dtype), allow_nan_stats=allow_nan_stats)

        self._set(loc, scale, validate_args, name, make)
        self._parameters = parameters

    def _at(self, x: Tensor) -> Tensor:
        moved = self.scale.matvec(x)
        return moved if self.loc is None else tf.identity(self.loc) + moved

    def _mean(self) -> Tensor:
        return self._at(tf.ones(self._shape_of_draw(), self.dtype))

    def _mode(self) -> Tensor:
        return self._at(tf.zeros(self._shape_of_draw(), self.dtype))


@export("contrib.distributions.VectorExponentialDiag")
class VectorExponentialDiag(VectorExponentialLinearOperator):
    """Vectors of independent exponential numbers of the scales `scale_diag`, moved by `loc`."""

    def __init__(
        self,
        loc: TensorLike | None = None,
        scale_diag: TensorLike | None = None,
        scale_identity_multiplier: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "VectorExponentialDiag",
    ) -> None:
        parameters = dict(locals())
        name, scale = _diag_scale(name, loc, scale_diag, scale_identity_multiplier)
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)
        self._parameters = parameters


@without_private_bases
class VectorLaplaceLinearOperator(_OfLinearOperator):
    """loc + scale x, for vectors x of Laplace's numbers."""

    _factor = 2.0

    def __init__(
        self,
        loc: TensorLike | None = None,
        scale: LinearOperator | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "VectorLaplaceLinearOperator",
    ) -> None:
        parameters = dict(locals())

        def make(dtype: DTypeLike) -> Laplace:
            return Laplace(loc=tf.zeros([], dtype=dtype), scale=tf.ones([], dtype=dtype))

        self._set(loc, scale, validate_args, name, make)
        self._parameters = parameters


@export("contrib.distributions.VectorLaplaceDiag")
class VectorLaplaceDiag(VectorLaplaceLinearOperator):
    """Vectors of independent Laplace's numbers of the widths `scale_diag`, moved by `loc`."""

    def __init__(
        self,
        loc: TensorLike | None = None,
        scale_diag: TensorLike | None = None,
        scale_identity_multiplier: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "VectorLaplaceDiag",
    ) -> None:
        parameters = dict(locals())
        name, scale = _diag_scale(name, loc, scale_diag, scale_identity_multiplier)
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)
        self._parameters = parameters
