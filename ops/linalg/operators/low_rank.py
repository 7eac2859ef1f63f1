# SPDX-License-Identifier: Apache-2.0
"""Operators that differ from a simple one by a matrix of low rank: updates, reflections."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from ....engine import errors
from ....engine.api import export
from ....engine.graph.convert import convert_to_tensor
from ....engine.graph.graph import name_scope
from ....engine.graph.tensor import Tensor
from ....engine.types.shape import (
    TensorShape,
    broadcast_static,
    dimension_at_index,
    dimension_value,
)
from ...public import tf
from ..norm import norm
from ..solve import adjoint as _adjoint
from ..solve import cholesky
from . import broadcasting as util
from .diagonal import (
    LinearOperatorDiag,
    require_dimensions,
    square_of_vectors,
    square_of_vectors_tensor,
)
from .identity import LinearOperatorIdentity
from .operator import Hint, LinearOperator

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike
    from ....engine.graph.operation import Operation

_log = logging.getLogger("tensorflow")


@export("linalg.LinearOperatorLowRankUpdate")
class LinearOperatorLowRankUpdate(LinearOperator):
    """L + U D V^H, an operator that one can invert and a matrix of low rank.

    Args:
        base_operator: L.
        u: U, as many rows as L and few columns.
        diag_update: the diagonal of D; ones if None.
        v: V; as U if None.
        is_diag_update_positive: whether D is positive.
        is_non_singular: whether it has an inverse.
        is_self_adjoint: whether it equals its conjugate transpose.
        is_positive_definite: whether x^H A x has a positive real part for every x but zero.
        is_square: whether it has as many rows as columns.
        name: of the scope of its operations.

    Raises:
        ValueError: shapes do not fit, or a hint cannot be true.

    Example:
        >>> base = tf.linalg.LinearOperatorDiag([1.0, 1.0])
        >>> operator = tf.linalg.LinearOperatorLowRankUpdate(base, [[1.0], [1.0]])
        >>> tf.Session().run(operator.to_dense())
        array([[2., 1.],
               [1., 2.]], dtype=float32)
    """

    def __init__(
        self,
        base_operator: LinearOperator,
        u: TensorLike,
        diag_update: TensorLike | None = None,
        v: TensorLike | None = None,
        is_diag_update_positive: Hint = None,
        is_non_singular: Hint = None,
        is_self_adjoint: Hint = None,
        is_positive_definite: Hint = None,
        is_square: Hint = None,
        name: str = "LinearOperatorLowRankUpdate",
    ) -> None:
        is_diag_update_positive = _positive(base_operator, diag_update, is_diag_update_positive)
        is_symmetric = base_operator.is_self_adjoint and v is None
        self._use_cholesky = (
            base_operator.is_positive_definite and is_symmetric and is_diag_update_positive
        )
        if is_symmetric and not base_operator.dtype.is_complex:
            if is_self_adjoint is False:
                raise ValueError(
                    "A = L + UDU^H, with L self-adjoint and D real diagonal.  Since UDU^H is "
                    "self-adjoint, this must be a self-adjoint operator."
                )
            is_self_adjoint = True
        if self._use_cholesky:
            if False in (is_positive_definite, is_self_adjoint, is_non_singular):
                raise ValueError("Arguments imply this is self-adjoint positive-definite operator.")
            is_positive_definite = is_self_adjoint = True
        with name_scope(name, values=[*base_operator.graph_parents, u, diag_update, v]):
            self._u = util.convert_nonref_to_tensor(u, name="u")
            self._v = self._u if v is None else util.convert_nonref_to_tensor(v, name="v")
            self._diag_update = util.convert_nonref_to_tensor(diag_update, name="diag_update")
            self._base_operator = base_operator
            parts = [self._u, self._diag_update, self._v]
            parents = [*base_operator.graph_parents, *(part for part in parts if part is not None)]
            hints = (is_non_singular, is_self_adjoint, is_positive_definite, is_square)
            super().__init__(base_operator.dtype, parents, *hints, name)
            self._diag_operator = self._make_diag_operator(is_diag_update_positive)
            self._is_diag_update_positive = is_diag_update_positive
            self._check_shapes()

    def _check_shapes(self) -> None:
        shape = broadcast_static(self.u.shape, self.v.shape)
        batch = broadcast_static(self.base_operator.batch_shape, shape[:-2])
        rows = dimension_at_index(shape, -2)
        self.base_operator.domain_dimension.assert_is_compatible_with(rows)
        if self._diag_update is not None:
            rank = dimension_at_index(shape, -1)
            rank.assert_is_compatible_with(self._diag_update.shape[-1])
            broadcast_static(batch, self._diag_update.shape[:-1])

    def _make_diag_operator(self, is_positive: Hint) -> LinearOperator:
        if self._diag_update is not None:
            return LinearOperatorDiag(self._diag_update, is_positive_definite=is_positive)
        rank = dimension_value(self.u.shape[-1])
        rank = tf.shape(self.u)[-1] if rank is None else rank
        return LinearOperatorIdentity(num_rows=rank, dtype=self.dtype)

    @property
    def u(self) -> Any:
        """U of L + U D V^H."""
        return self._u

    @property
    def v(self) -> Any:
        """V of L + U D V^H."""
        return self._v

    @property
    def is_diag_update_positive(self) -> Hint:
        """Whether D is positive."""
        return self._is_diag_update_positive

    @property
    def diag_update(self) -> Any:
        """The diagonal of D; None for ones."""
        return self._diag_update

    @property
    def diag_operator(self) -> LinearOperator:
        """D of L + U D V^H."""
        return self._diag_operator

    @property
    def base_operator(self) -> LinearOperator:
        """L of L + U D V^H."""
        return self._base_operator

    def _shape(self) -> TensorShape:
        batch = broadcast_static(self.base_operator.batch_shape, self.u.shape[:-2])
        return batch.concatenate(self.base_operator.shape[-2:])

    def _shape_tensor(self) -> Tensor:
        base = self.base_operator
        batch = tf.broadcast_dynamic_shape(base.batch_shape_tensor(), tf.shape(self.u)[:-2])
        return tf.concat([batch, base.shape_tensor()[-2:]], axis=0)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        left, right = (self.v, self.u) if adjoint else (self.u, self.v)
        leading = self.base_operator.matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg)
        inner = tf.matmul(right, x, adjoint_a=True, adjoint_b=adjoint_arg)
        return leading + tf.matmul(left, self.diag_operator.matmul(inner, adjoint=adjoint))

    def _determinant(self) -> Tensor:
        if self.is_positive_definite:
            return tf.exp(self.log_abs_determinant())
        # The matrix determinant lemma.
        capacitance = tf.matrix_determinant(self._capacitance())
        return capacitance * self.diag_operator.determinant() * self.base_operator.determinant()

    def _log_abs_determinant(self) -> Tensor:
        of_diag = self.diag_operator.log_abs_determinant()
        of_base = self.base_operator.log_abs_determinant()
        if self._use_cholesky:
            diagonal = tf.matrix_diag_part(cholesky(self._capacitance()))
            found = 2 * tf.reduce_sum(tf.log(diagonal), axis=[-1])
        else:
            found = tf.log(tf.abs(tf.matrix_determinant(self._capacitance())))
            if self.dtype.is_complex:
                found = tf.cast(found, dtype=self.dtype)
        return found + of_diag + of_base

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        base = self.base_operator
        if base.is_non_singular is False:
            raise ValueError(
                "Solve not implemented unless this is a perturbation of a non-singular "
                "LinearOperator."
            )
        left, right = (self.v, self.u) if adjoint else (self.u, self.v)
        # Woodbury's identity: L^-1 - L^-1 U (D^-1 + V^H L^-1 U)^-1 V^H L^-1.
        first = base.solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)
        inner = tf.matmul(right, first, adjoint_a=True)
        if self._use_cholesky:
            inner = util.cholesky_solve_with_broadcast(cholesky(self._capacitance()), inner)
        else:
            inner = util.matrix_solve_with_broadcast(self._capacitance(), inner, adjoint=adjoint)
        return first - base.solve(tf.matmul(left, inner), adjoint=adjoint)

    def _capacitance(self) -> Tensor:
        inner = tf.matmul(self.v, self.base_operator.solve(self.u), adjoint_a=True)
        return self._diag_operator.inverse().add_to_tensor(inner)


def _positive(base: LinearOperator, diag_update: TensorLike | None, is_positive: Hint) -> Hint:
    if diag_update is not None:
        if is_positive and base.dtype.is_complex:
            _log.warning(
                "Note: setting is_diag_update_positive with a complex dtype means that diagonal is "
                "real and positive."
            )
        return is_positive
    if is_positive is False:
        raise ValueError(
            "Default diagonal is the identity, which is positive.  However, user set "
            "'is_diag_update_positive' to False."
        )
    return True


@export("linalg.LinearOperatorHouseholder")
class LinearOperatorHouseholder(LinearOperator):
    """Reflections at the planes through zero that are orthogonal to vectors.

    Args:
        reflection_axis: the vectors.
        is_non_singular: whether they have inverses, which they do.
        is_self_adjoint: True or None.
        is_positive_definite: False or None.
        is_square: True or None.
        name: of the scope of its operations.

    Raises:
        ValueError: a hint cannot be true.

    Example:
        >>> operator = tf.linalg.LinearOperatorHouseholder([0.0, 2.0])
        >>> tf.Session().run(operator.matvec([3.0, 4.0]))
        array([ 3., -4.], dtype=float32)
    """

    def __init__(
        self,
        reflection_axis: TensorLike,
        is_non_singular: Hint = None,
        is_self_adjoint: Hint = None,
        is_positive_definite: Hint = None,
        is_square: Hint = None,
        name: str = "LinearOperatorHouseholder",
    ) -> None:
        with name_scope(name, values=[reflection_axis]):
            axis = util.convert_nonref_to_tensor(reflection_axis, name="reflection_axis")
            self._reflection_axis = axis
            require_dimensions(axis, 1, "reflection_axis")
            if is_self_adjoint is False:
                raise ValueError("A Householder operator is always self adjoint.")
            if is_positive_definite is True:
                raise ValueError("A Householder operator is always non-positive definite.")
            if is_square is False:
                raise ValueError("A Householder operator is always square.")
            super().__init__(axis.dtype, [axis], is_non_singular, True, False, True, name)

    @property
    def reflection_axis(self) -> Any:
        """The vectors that become their opposites."""
        return self._reflection_axis

    def _shape(self) -> TensorShape:
        return square_of_vectors(self._reflection_axis)

    def _shape_tensor(self) -> Tensor:
        return square_of_vectors_tensor(self._reflection_axis)

    def _assert_non_singular(self) -> Operation:
        return tf.no_op("assert_non_singular")

    def _assert_positive_definite(self) -> Operation:
        raise errors.invalid("Householder operators are always non-positive definite.")

    def _assert_self_adjoint(self) -> Operation:
        return tf.no_op("assert_self_adjoint")

    def _unit(self) -> Tensor:
        axis = convert_to_tensor(self.reflection_axis)
        return axis / norm(axis, axis=-1, keepdims=True)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        x = _adjoint(x) if adjoint_arg else x
        column = self._unit()[..., None]
        # x - 2 v (v^H x): what lies along the axis changes its sign.
        return x - 2 * column * tf.matmul(column, x, adjoint_a=True)

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._matmul(rhs, adjoint, adjoint_arg)

    def _trace(self) -> Tensor:
        ones = tf.ones(shape=self.batch_shape_tensor(), dtype=self.dtype)
        return tf.cast(self.domain_dimension_tensor() - 2, self.dtype) * ones

    def _determinant(self) -> Tensor:
        return -tf.ones(shape=self.batch_shape_tensor(), dtype=self.dtype)

    def _log_abs_determinant(self) -> Tensor:
        return tf.zeros(shape=self.batch_shape_tensor(), dtype=self.dtype)

    def _to_dense(self) -> Tensor:
        column = self._unit()[..., None]
        matrix = -2 * tf.matmul(column, column, adjoint_b=True)
        return tf.matrix_set_diag(matrix, 1.0 + tf.matrix_diag_part(matrix))

    def _diag_part(self) -> Tensor:
        unit = self._unit()
        return 1.0 - 2 * unit * tf.conj(unit)
