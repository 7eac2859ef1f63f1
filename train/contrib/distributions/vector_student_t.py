# SPDX-License-Identifier: Apache-2.0
"""Vectors of Student's t numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....engine.graph.graph import name_scope
from ....engine.graph.tensor import Tensor
from ....engine.types import dtypes
from ....ops.distributions.location_scale import StudentT
from ....ops.distributions.transformed_distribution import TransformedDistribution
from ....ops.public import tf
from .bijectors.affine import Affine
from .distribution_util import pick_vector, shapes_from_loc_and_scale

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike


class _VectorStudentT(TransformedDistribution):
    """Vectors of independent Student's t numbers, moved and scaled as by bijectors.Affine."""

    def __init__(
        self,
        df: TensorLike,
        loc: TensorLike | None = None,
        scale_identity_multiplier: TensorLike | None = None,
        scale_diag: TensorLike | None = None,
        scale_tril: TensorLike | None = None,
        scale_perturb_factor: TensorLike | None = None,
        scale_perturb_diag: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "VectorStudentT",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name) as name, name_scope("init", values=[df, loc]):
            affine = Affine(
                shift=loc,
                scale_identity_multiplier=scale_identity_multiplier,
                scale_diag=scale_diag,
                scale_tril=scale_tril,
                scale_perturb_factor=scale_perturb_factor,
                scale_perturb_diag=scale_perturb_diag,
                validate_args=validate_args,
            )
            zero, one = tf.zeros([], dtype=affine.dtype), tf.ones([], dtype=affine.dtype)
            base = StudentT(df=df, loc=zero, scale=one)
            batch_shape, event_shape = shapes_from_loc_and_scale(affine.shift, affine.scale)
            none = tf.constant([], dtype=dtypes.int32)
            super().__init__(
                distribution=base,
                bijector=affine,
                batch_shape=pick_vector(base.is_scalar_batch(), batch_shape, none),
                event_shape=event_shape,
                validate_args=validate_args,
                name=name,
            )
        self._parameters = parameters

    @property
    def df(self) -> Tensor:
        """The degrees of freedom."""
        return self.distribution.df

    @property
    def loc(self) -> Any:
        """What is added."""
        return self.bijector.shift

    @property
    def scale(self) -> Any:
        """The linear operator."""
        return self.bijector.scale
