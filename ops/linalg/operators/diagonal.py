# SPDX-License-Identifier: Apache-2.0
"""Operators that are stated by entries: diagonal, lower triangular and dense ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.graph.graph import name_scope
from ....engine.graph.tensor import Tensor
from ....engine.types import dtypes
from ....engine.types.shape import TensorShape
from ...public import tf
from ..solve import adjoint as _adjoint
from . import broadcasting as util
from .operator import Hint, LinearOperator

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike
    from ....engine.graph.operation import Operation

_MATRIX_TYPES = [
    dtypes.float16,
    dtypes.float32,
    dtypes.float64,
    dtypes.complex64,
    dtypes.complex128,
]


def require_dimensions(x: Any, count: int, argument: str) -> None:
    """ValueError for a tensor that is known to have fewer dimensions."""
    if x.shape.ndims is not None and x.shape.ndims < count:
        plural = "" if count == 1 else "s"
        raise ValueError(
            f"Argument {argument} must have at least {count} dimension{plural}.  Found: {x}"
        )


def square_of_vectors(x: Any) -> TensorShape:
    """The shape of matrices whose rows are as long as the vectors `x`."""
    return x.shape.concatenate(x.shape[-1:])


def square_of_vectors_tensor(x: Any) -> Tensor:
    """The same as a tensor."""
    shape = tf.shape(x)
    return tf.concat((shape, [shape[-1]]), 0)


@export("linalg.LinearOperatorDiag")
class LinearOperatorDiag(LinearOperator):
    """Diagonal matrices.

    Args:
        diag: their diagonals.
        is_non_singular: whether no entry is zero.
        is_self_adjoint: whether all entries are real.
        is_positive_definite: whether all entries have a positive real part.
        is_square: True or None.
        name: of the scope of its operations.

    Raises:
        ValueError: a hint cannot be true.

    Example:
        >>> operator = tf.linalg.LinearOperatorDiag([2.0, 3.0])
        >>> tf.Session().run(operator.determinant())
        np.float32(6.0)
    """

    def __init__(
        self,
        diag: TensorLike,
        is_non_singular: Hint = None,
        is_self_adjoint: Hint = None,
        is_positive_definite: Hint = None,
        is_square: Hint = None,
        name: str = "LinearOperatorDiag",
    ) -> None:
        with name_scope(name, values=[diag]):
            self._diag = util.convert_nonref_to_tensor(diag, name="diag")
            require_dimensions(self._diag, 1, "diag")
            if not self._diag.dtype.is_complex:
                if is_self_adjoint is False:
                    raise ValueError("A real diagonal operator is always self adjoint.")
                is_self_adjoint = True
            if is_square is False:
                raise ValueError("Only square diagonal operators currently supported.")
            hints = (is_non_singular, is_self_adjoint, is_positive_definite, True)
            super().__init__(self._diag.dtype, [self._diag], *hints, name)

    @property
    def diag(self) -> Any:
        """The diagonals."""
        return self._diag

    def _shape(self) -> TensorShape:
        return square_of_vectors(self._diag)

    def _shape_tensor(self) -> Tensor:
        return square_of_vectors_tensor(self._diag)

    def _assert_non_singular(self) -> Operation:
        text = "Singular operator:  Diagonal contained zero values."
        return util.assert_no_entries_with_modulus_zero(self._diag, message=text)

    def _assert_positive_definite(self) -> Operation:
        text = "Real diagonal operator had non-positive diagonal entries"
        if self.dtype.is_complex:
            text = "Diagonal operator had diagonal entries with non-positive real part"
        text += ", thus was not positive definite."
        return tf.assert_positive(tf.real(self._diag), message=text)

    def _assert_self_adjoint(self) -> Operation:
        text = (
            "This diagonal operator contained non-zero imaginary values.   Thus it was not "
            "self-adjoint."
        )
        return util.assert_zero_imag_part(self._diag, message=text)

    def _turned(self, adjoint: bool) -> Any:
        return tf.conj(self._diag) if adjoint else self._diag

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        diagonal = self._turned(adjoint)
        x = _adjoint(x) if adjoint_arg else x
        return tf.expand_dims(diagonal, -1) * x

    def _matvec(self, x: Tensor, adjoint: bool = False) -> Tensor:
        return self._turned(adjoint) * x

    def _determinant(self) -> Tensor:
        return tf.reduce_prod(self._diag, axis=[-1])

    def _log_abs_determinant(self) -> Tensor:
        found = tf.reduce_sum(tf.log(tf.abs(self._diag)), axis=[-1])
        return tf.cast(found, dtype=self.dtype) if self.dtype.is_complex else found

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        diagonal = self._turned(adjoint)
        rhs = _adjoint(rhs) if adjoint_arg else rhs
        return rhs * tf.expand_dims(1.0 / diagonal, -1)

    def _to_dense(self) -> Tensor:
        return tf.matrix_diag(self._diag)

    def _diag_part(self) -> Tensor:
        return self.diag

    def _add_to_tensor(self, x: Tensor) -> Tensor:
        return tf.matrix_set_diag(x, self._diag + tf.matrix_diag_part(x))


@export("linalg.LinearOperatorLowerTriangular")
class LinearOperatorLowerTriangular(LinearOperator):
    """Lower triangular matrices.

    Args:
        tril: the matrices; what is above the diagonal is taken for zero.
        is_non_singular: whether no entry of the diagonal is zero.
        is_self_adjoint: whether they are diagonal and real.
        is_positive_definite: whether x^H A x has a positive real part for every x but zero.
        is_square: True or None.
        name: of the scope of its operations.

    Raises:
        ValueError: `tril` has less than two dimensions, or `is_square` is False.

    Example:
        >>> operator = tf.linalg.LinearOperatorLowerTriangular([[1.0, 9.0], [2.0, 3.0]])
        >>> tf.Session().run(operator.to_dense())
        array([[1., 0.],
               [2., 3.]], dtype=float32)
    """

    def __init__(
        self,
        tril: TensorLike,
        is_non_singular: Hint = None,
        is_self_adjoint: Hint = None,
        is_positive_definite: Hint = None,
        is_square: Hint = None,
        name: str = "LinearOperatorLowerTriangular",
    ) -> None:
        if is_square is False:
            raise ValueError("Only square lower triangular operators supported at this time.")
        with name_scope(name, values=[tril]):
            self._tril = util.convert_nonref_to_tensor(tril, name="tril")
            require_dimensions(self._tril, 2, "tril")
            hints = (is_non_singular, is_self_adjoint, is_positive_definite, True)
            super().__init__(self._tril.dtype, [self._tril], *hints, name)

    def _shape(self) -> TensorShape:
        return self._tril.shape

    def _shape_tensor(self) -> Tensor:
        return tf.shape(self._tril)

    def _to_dense(self) -> Tensor:
        return tf.matrix_band_part(self._tril, -1, 0)

    def _diagonal(self) -> Tensor:
        return tf.matrix_diag_part(self._tril)

    def _assert_non_singular(self) -> Operation:
        text = "Singular operator:  Diagonal contained zero values."
        return util.assert_no_entries_with_modulus_zero(self._diagonal(), message=text)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return tf.matmul(self._to_dense(), x, adjoint_a=adjoint, adjoint_b=adjoint_arg)

    def _determinant(self) -> Tensor:
        return tf.reduce_prod(self._diagonal(), axis=[-1])

    def _log_abs_determinant(self) -> Tensor:
        return tf.reduce_sum(tf.log(tf.abs(self._diagonal())), axis=[-1])

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        rhs = _adjoint(rhs) if adjoint_arg else rhs
        return util.matrix_triangular_solve_with_broadcast(
            self._to_dense(), rhs, lower=True, adjoint=adjoint
        )


@export("linalg.LinearOperatorFullMatrix")
class LinearOperatorFullMatrix(LinearOperator):
    """Matrices without structure.

    Args:
        matrix: the matrices.
        is_non_singular: whether they have inverses.
        is_self_adjoint: whether they equal their conjugate transposes.
        is_positive_definite: whether x^H A x has a positive real part for every x but zero.
        is_square: whether they have as many rows as columns.
        name: of the scope of its operations.

    Raises:
        TypeError: the dtype is neither floating nor complex.
        ValueError: `matrix` has less than two dimensions, or hints contradict each other.

    Example:
        >>> operator = tf.linalg.LinearOperatorFullMatrix([[1.0, 2.0], [3.0, 4.0]])
        >>> tf.Session().run(operator.trace())
        np.float32(5.0)
    """

    def __init__(
        self,
        matrix: TensorLike,
        is_non_singular: Hint = None,
        is_self_adjoint: Hint = None,
        is_positive_definite: Hint = None,
        is_square: Hint = None,
        name: str = "LinearOperatorFullMatrix",
    ) -> None:
        with name_scope(name, values=[matrix]):
            self._matrix = util.convert_nonref_to_tensor(matrix, name="matrix")
            if self._matrix.dtype.base_dtype not in _MATRIX_TYPES:
                raise TypeError(
                    f"Argument matrix must have dtype in {_MATRIX_TYPES}.  Found: "
                    f"{self._matrix.dtype}"
                )
            require_dimensions(self._matrix, 2, "matrix")
            hints = (is_non_singular, is_self_adjoint, is_positive_definite, is_square)
            super().__init__(self._matrix.dtype, [self._matrix], *hints, name)

    def _shape(self) -> TensorShape:
        return self._matrix.shape

    def _shape_tensor(self) -> Tensor:
        return tf.shape(self._matrix)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return tf.matmul(self._matrix, x, adjoint_a=adjoint, adjoint_b=adjoint_arg)

    def _to_dense(self) -> Tensor:
        return self._matrix
