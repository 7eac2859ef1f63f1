# SPDX-License-Identifier: Apache-2.0
"""y = scale x + shift, for numbers, and for vectors with scales that are linear operators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .....engine.api import export
from .....engine.graph.convert import convert_to_tensor
from .....engine.graph.graph import control_dependencies, name_scope
from .....engine.graph.tensor import Tensor
from .....engine.signatures import without_private_bases
from .....engine.types import dtypes
from .....ops.control import with_dependencies
from .....ops.distributions.bijector import Bijector
from .....ops.linalg.operators.low_rank import LinearOperatorLowRankUpdate
from .....ops.linalg.operators.operator import LinearOperator
from .....ops.public import tf
from ..distribution_util import dimension_size, make_tril_scale, optional_tensor
from ..shape import _DistributionShape

if TYPE_CHECKING:
    from .....engine.graph.annotations import TensorLike
    from .....engine.graph.operation import Operation


class _Affine(Bijector):
    """y = scale x + shift."""

    _shift: Any
    _scale: Any

    @property
    def shift(self) -> Any:
        """What is added; None for nothing."""
        return self._shift

    @property
    def scale(self) -> Any:
        """What is multiplied with; None for one."""
        return self._scale


@export("contrib.distributions.bijectors.AffineScalar")
@without_private_bases
class AffineScalar(_Affine):
    """y = scale x + shift, for numbers."""

    def __init__(
        self,
        shift: TensorLike | None = None,
        scale: TensorLike | None = None,
        validate_args: bool = False,
        name: str = "affine_scalar",
    ) -> None:
        with name_scope(name), name_scope("init", values=[scale, shift]):
            self._shift = optional_tensor(shift, "shift")
            self._scale = optional_tensor(scale, "scale")
            if self._scale is not None and validate_args:
                zero = tf.zeros([], dtype=self._scale.dtype)
                check = tf.assert_none_equal(self._scale, zero)
                self._scale = with_dependencies([check], self._scale)
            Bijector.__init__(
                self,
                forward_min_event_ndims=0,
                is_constant_jacobian=True,
                validate_args=validate_args,
                name=name,
            )

    def _forward(self, x: Tensor) -> Tensor:
        y = tf.identity(x)
        y = y if self.scale is None else y * self.scale
        return y if self.shift is None else y + self.shift

    def _inverse(self, y: Tensor) -> Tensor:
        x = tf.identity(y)
        x = x if self.shift is None else x - self.shift
        return x if self.scale is None else x / self.scale

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        if self.scale is None:
            return tf.constant(0.0, dtype=x.dtype.base_dtype)
        return tf.log(tf.abs(self.scale))


class _AffineOfVectors(_Affine):
    """y = scale x + shift, for vectors and a scale that is a linear operator."""

    def _set_shaper(self, validate_args: bool) -> list[Tensor]:
        """What knows the dimensions of the batch, and a tensor that says how many they are."""
        batch_ndims: Any = 0
        parents = []
        if isinstance(self._scale, LinearOperator):
            rank = self._scale.tensor_rank
            if rank is None:
                batch_ndims = self._scale.tensor_rank_tensor() - 2
                parents = [batch_ndims]
            else:
                batch_ndims = rank - 2
        self._shaper = _DistributionShape(batch_ndims, 1, validate_args)
        return parents

    def _checks(self) -> list[Operation]:
        if not self.validate_args:
            return []
        try:
            return [self.scale.assert_non_singular()]
        except NotImplementedError:
            return []

    def _scaled(self, x: Tensor) -> Tensor:
        columns, shape = self._shaper.make_batch_of_event_sample_matrices(x, expand_batch_dim=False)
        with control_dependencies(self._checks()):
            columns = self.scale.matmul(columns)
        return self._shaper.undo_make_batch_of_event_sample_matrices(
            columns, shape, expand_batch_dim=False
        )

    def _unscaled(self, y: Tensor) -> Tensor:
        columns, shape = self._shaper.make_batch_of_event_sample_matrices(y, expand_batch_dim=False)
        return self._shaper.undo_make_batch_of_event_sample_matrices(
            self.scale.solve(columns), shape, expand_batch_dim=False
        )


def _require_same_type(shift: Any, scale: Any) -> None:
    if shift is not None and shift.dtype.base_dtype != scale.dtype.base_dtype:
        raise TypeError(
            f"shift.dtype({shift.dtype}) is incompatible with scale.dtype({scale.dtype})."
        )


@export("contrib.distributions.bijectors.AffineLinearOperator")
@without_private_bases
class AffineLinearOperator(_AffineOfVectors):
    """y = scale x + shift, for vectors; `scale` is a tf.linalg.LinearOperator."""

    def __init__(
        self,
        shift: TensorLike | None = None,
        scale: LinearOperator | None = None,
        validate_args: bool = False,
        name: str = "affine_linear_operator",
    ) -> None:
        with name_scope(name), name_scope("init", values=[shift]):
            dtype = dtypes.float32
            parents: list[Any] = []
            self._shift = optional_tensor(shift, "shift")
            if self._shift is not None:
                parents.append(self._shift)
                dtype = self._shift.dtype.base_dtype
            if scale is not None:
                _require_same_type(self._shift, scale)
                if not isinstance(scale, LinearOperator):
                    raise TypeError("scale is not an instance of tf.LinearOperator")
                if validate_args and not scale.is_non_singular:
                    raise ValueError("Scale matrix must be non-singular.")
                parents += scale.graph_parents
                dtype = scale.dtype.base_dtype
            self._scale = scale
            parents += self._set_shaper(validate_args)
            Bijector.__init__(
                self,
                forward_min_event_ndims=1,
                graph_parents=[x for x in parents if isinstance(x, Tensor)],
                is_constant_jacobian=True,
                dtype=dtype,
                validate_args=validate_args,
                name=name,
            )

    def _forward(self, x: Tensor) -> Tensor:
        y = x if self.scale is None else self._scaled(x)
        return y if self.shift is None else y + self.shift

    def _inverse(self, y: Tensor) -> Tensor:
        x = y if self.shift is None else y - self.shift
        return x if self.scale is None else self._unscaled(x)

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        if self.scale is None:
            return tf.constant(0.0, dtype=x.dtype.base_dtype)
        with control_dependencies(self._checks()):
            return self.scale.log_abs_determinant()


@export("contrib.distributions.bijectors.Affine")
@without_private_bases
class Affine(_AffineOfVectors):
    """y = scale x + shift, for vectors.

    The scale is the sum of a multiple of the identity, a diagonal, a triangle and a product of low
    rank, `scale_perturb_factor` diag(`scale_perturb_diag`) `scale_perturb_factor`^T.
    """

    def __init__(
        self,
        shift: TensorLike | None = None,
        scale_identity_multiplier: TensorLike | None = None,
        scale_diag: TensorLike | None = None,
        scale_tril: TensorLike | None = None,
        scale_perturb_factor: TensorLike | None = None,
        scale_perturb_diag: TensorLike | None = None,
        validate_args: bool = False,
        name: str = "affine",
    ) -> None:
        if scale_perturb_diag is not None and scale_perturb_factor is None:
            raise ValueError(
                "When scale_perturb_diag is specified, scale_perturb_factor must be specified."
            )
        given = {
            "identity_multiplier": scale_identity_multiplier,
            "diag": scale_diag,
            "tril": scale_tril,
            "perturb_diag": scale_perturb_diag,
            "perturb_factor": scale_perturb_factor,
        }
        self._is_only_identity_multiplier = (
            scale_tril is None and scale_diag is None and scale_perturb_factor is None
        )
        with name_scope(name), name_scope("init", values=[shift, *given.values()]):
            self._shift = optional_tensor(shift, "shift")
            dtype = dtypes.float32 if shift is None else self._shift.dtype.base_dtype
            if self._is_only_identity_multiplier and scale_identity_multiplier is None:
                given["identity_multiplier"] = convert_to_tensor(1.0, dtype=dtype)
            self._scale = self._make_scale(given, validate_args)
            if not self._is_only_identity_multiplier:
                _require_same_type(self._shift, self._scale)
            self._set_shaper(validate_args)
            own = [self._scale]
            if isinstance(self._scale, LinearOperator):
                own = self._scale.graph_parents + ([] if shift is None else [self._shift])
            Bijector.__init__(
                self,
                forward_min_event_ndims=1,
                graph_parents=[x for x in own if isinstance(x, Tensor)],
                is_constant_jacobian=True,
                dtype=self._scale.dtype.base_dtype,
                validate_args=validate_args,
                name=name,
            )

    def _make_scale(self, given: dict[str, Any], validate_args: bool) -> Any:
        parts = {key: optional_tensor(value, key) for key, value in given.items()}
        multiplier, factor = parts["identity_multiplier"], parts["perturb_factor"]
        if self._is_only_identity_multiplier:
            if not validate_args:
                return multiplier
            text = "identity_multiplier should be non-zero."
            check = tf.assert_none_equal(multiplier, tf.zeros([], multiplier.dtype), [text])
            return with_dependencies([check], multiplier)
        scale = make_tril_scale(
            loc=self._shift,
            scale_tril=parts["tril"],
            scale_diag=parts["diag"],
            scale_identity_multiplier=multiplier,
            validate_args=validate_args,
            assert_positive=False,
            shape_hint=None if factor is None else dimension_size(factor, axis=-2),
        )
        if factor is None:
            return scale
        return LinearOperatorLowRankUpdate(
            scale,
            u=factor,
            diag_update=parts["perturb_diag"],
            is_diag_update_positive=parts["perturb_diag"] is None,
            is_non_singular=True,
            is_self_adjoint=True,
            is_positive_definite=True,
            is_square=True,
        )

    def _forward(self, x: Tensor) -> Tensor:
        y = x * self._scale if self._is_only_identity_multiplier else self._scaled(x)
        return y if self.shift is None else y + self.shift

    def _inverse(self, y: Tensor) -> Tensor:
        x = y if self.shift is None else y - self.shift
        return x / self._scale if self._is_only_identity_multiplier else self._unscaled(x)

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        if not self._is_only_identity_multiplier:
            return self.scale.log_abs_determinant()
        size = tf.cast(tf.shape(x)[-1], dtype=self._scale.dtype)
        return tf.log(tf.abs(self._scale)) * size
