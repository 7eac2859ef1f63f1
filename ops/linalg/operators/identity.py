# SPDX-License-Identifier: Apache-2.0
"""Operators of a size alone: identities, their multiples, and zeros."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ....engine import errors
from ....engine.api import export
from ....engine.graph.constants import constant_value
from ....engine.graph.convert import convert_to_tensor
from ....engine.graph.graph import name_scope
from ....engine.graph.tensor import Tensor
from ....engine.signatures import without_private_bases
from ....engine.types import dtypes
from ....engine.types.shape import TensorShape, broadcast_static, dimension_value
from ...control import with_dependencies
from ...public import tf
from ..solve import adjoint as _adjoint
from . import broadcasting as util
from .operator import Hint, LinearOperator

if TYPE_CHECKING:
    from ....engine.graph.annotations import DTypeLike, TensorLike
    from ....engine.graph.operation import Operation


class _Sized(LinearOperator):
    """An operator that is stated by its number of rows, and by a shape of its batch."""

    _num_rows: Tensor
    _batch_shape_arg: Tensor | None
    _batch_shape_static: np.ndarray | None
    _asserts: bool

    def _size(self, value: TensorLike, word: str) -> tuple[Tensor, np.ndarray | None]:
        """A number of rows or columns, as a tensor and as far as it is known."""
        util.assert_not_ref_type(value, word)
        return self._integers(value, word, f"Argument {word}", 0)

    def _integers(
        self, value: TensorLike, name: str, what: str, rank: int
    ) -> tuple[Tensor, np.ndarray | None]:
        x = util.shape_tensor(value, name=name)
        known = constant_value(x)
        ranked = f"{what} must be a {rank}-D Tensor."
        negative = f"{what} must be non-negative."
        if self._asserts:
            checks = [
                tf.assert_rank(x, rank, message=ranked),
                tf.assert_non_negative(x, message=negative),
            ]
            x = with_dependencies(checks, x)
        if not x.dtype.is_integer:
            raise TypeError(f"{what} must be integer type.  Found: {x}")
        if known is not None:
            known = np.asarray(known)
            if known.ndim != rank:
                raise ValueError(f"{ranked}  Found: {known}")
            if np.any(known < 0):
                raise ValueError(f"{negative}  Found: {known}")
        return x, known

    def _set_batch(self, batch_shape: TensorLike | None) -> None:
        self._batch_shape_arg = None
        if batch_shape is not None:
            util.assert_not_ref_type(batch_shape, "batch_shape")
            self._batch_shape_arg, self._batch_shape_static = self._integers(
                batch_shape, "batch_shape_arg", "Argument batch_shape", 1
            )

    def _with_batch(self, rows: Any, columns: Any) -> TensorShape:
        sizes = [None if size is None else int(size) for size in (rows, columns)]
        if self._batch_shape_arg is None:
            return TensorShape(sizes)
        known = self._batch_shape_static
        batch = TensorShape(None if known is None else known.tolist())
        return batch.concatenate(TensorShape(sizes))

    def _with_batch_tensor(self, rows: Tensor, columns: Tensor) -> Tensor:
        matrix = tf.stack((rows, columns), axis=0)
        if self._batch_shape_arg is None:
            return matrix
        return tf.concat((self._batch_shape_arg, matrix), 0)

    def _broadcast(self, x: Tensor) -> Tensor:
        """A tensor in the shape of the batch."""
        if self._batch_shape_arg is None:
            return x
        special = self.batch_shape.concatenate([1, 1])
        if special.is_fully_defined():
            if broadcast_static(x.shape, special) == x.shape:
                return x
            return x + tf.zeros(shape=special, dtype=self.dtype)
        dynamic = tf.concat((self.batch_shape_tensor(), [1, 1]), 0)
        return x + tf.zeros(shape=dynamic, dtype=self.dtype)

    def _checked_argument(self, x: Tensor, adjoint_arg: bool = False) -> Tensor:
        x = _adjoint(x) if adjoint_arg else x
        if self._asserts:
            x = with_dependencies([util.assert_compatible_matrix_dimensions(self, x)], x)
        return x

    def _batch_for_fill(self) -> Any:
        known = self.batch_shape
        return known if known.is_fully_defined() else self.batch_shape_tensor()

    def _shorter_side(self) -> int | None:
        sides = [dimension_value(d) for d in (self.domain_dimension, self.range_dimension)]
        return None if None in sides else min(sides)

    def _shape_of_diagonal(self) -> Any:
        if self.shape.is_fully_defined():
            return self.batch_shape.concatenate([self._shorter_side()])
        least = tf.reduce_min(self.shape_tensor()[-2:])
        return tf.concat([self.batch_shape_tensor(), [least]], axis=0)

    def _trace_of_ones(self) -> Tensor:
        """The traces of identities of this shape."""
        ones = tf.ones(shape=self._batch_for_fill(), dtype=self.dtype)
        side = self._shorter_side()
        if side is not None:
            return side * ones
        return tf.cast(tf.reduce_min(self.shape_tensor()[-2:]), self.dtype) * ones

    def _assert_self_adjoint(self) -> Operation:
        return tf.no_op("assert_self_adjoint")


def _refuse(hint: Hint, text: str) -> None:
    if hint:
        raise ValueError(text)


@export("linalg.LinearOperatorIdentity")
@without_private_bases
class LinearOperatorIdentity(_Sized):
    """Identity matrices.

    Args:
        num_rows: of each matrix.
        batch_shape: how many there are; one if None.
        dtype: of the entries; float32 if None.
        is_non_singular: True.
        is_self_adjoint: True.
        is_positive_definite: True.
        is_square: True.
        assert_proper_shapes: whether sizes are checked in the run.
        name: of the scope of its operations.

    Raises:
        ValueError: a hint is False, or a size negative or of a wrong rank.
        TypeError: a size is no integer.

    Example:
        >>> operator = tf.linalg.LinearOperatorIdentity(2)
        >>> tf.Session().run(operator.matvec([3.0, 4.0]))
        array([3., 4.], dtype=float32)
    """

    def __init__(
        self,
        num_rows: TensorLike,
        batch_shape: TensorLike | None = None,
        dtype: DTypeLike | None = None,
        is_non_singular: Hint = True,
        is_self_adjoint: Hint = True,
        is_positive_definite: Hint = True,
        is_square: Hint = True,
        assert_proper_shapes: bool = False,
        name: str = "LinearOperatorIdentity",
    ) -> None:
        self._asserts = assert_proper_shapes
        with name_scope(name):
            _refuse(not is_self_adjoint, "An identity operator is always self adjoint.")
            _refuse(not is_non_singular, "An identity operator is always non-singular.")
            _refuse(not is_positive_definite, "An identity operator is always positive-definite.")
            _refuse(not is_square, "An identity operator is always square.")
            kind = dtypes.as_dtype(dtype or dtypes.float32)
            hints = (is_non_singular, is_self_adjoint, is_positive_definite, is_square)
            LinearOperator.__init__(self, kind, None, *hints, name)
            self._num_rows, self._num_rows_static = self._size(num_rows, "num_rows")
            self._set_batch(batch_shape)

    def _shape(self) -> TensorShape:
        return self._with_batch(self._num_rows_static, self._num_rows_static)

    def _shape_tensor(self) -> Tensor:
        return self._with_batch_tensor(self._num_rows, self._num_rows)

    def _assert_non_singular(self) -> Operation:
        return tf.no_op("assert_non_singular")

    def _assert_positive_definite(self) -> Operation:
        return tf.no_op("assert_positive_definite")

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._broadcast(self._checked_argument(x, adjoint_arg))

    def _determinant(self) -> Tensor:
        return tf.ones(shape=self.batch_shape_tensor(), dtype=self.dtype)

    def _log_abs_determinant(self) -> Tensor:
        return tf.zeros(shape=self.batch_shape_tensor(), dtype=self.dtype)

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._matmul(rhs, adjoint_arg=adjoint_arg)

    def _trace(self) -> Tensor:
        return self._trace_of_ones()

    def _diag_part(self) -> Tensor:
        return tf.ones(shape=self._shape_of_diagonal(), dtype=self.dtype)

    def add_to_tensor(self, mat: TensorLike, name: str = "add_to_tensor") -> Tensor:
        """The sum of the identity and a tensor."""
        with self._name_scope(name):
            mat = convert_to_tensor(mat, name="mat")
            return tf.matrix_set_diag(mat, 1 + tf.matrix_diag_part(mat))


@export("linalg.LinearOperatorScaledIdentity")
@without_private_bases
class LinearOperatorScaledIdentity(_Sized):
    """Multiples of identity matrices.

    Args:
        num_rows: of each matrix.
        multiplier: one number for each matrix of the batch.
        is_non_singular: whether no multiplier is zero.
        is_self_adjoint: whether all are real.
        is_positive_definite: whether all have a positive real part.
        is_square: True.
        assert_proper_shapes: whether sizes are checked in the run.
        name: of the scope of its operations.

    Raises:
        ValueError: a hint cannot be true.

    Example:
        >>> operator = tf.linalg.LinearOperatorScaledIdentity(2, multiplier=3.0)
        >>> tf.Session().run(operator.determinant())
        np.float32(9.0)
    """

    def __init__(
        self,
        num_rows: TensorLike,
        multiplier: TensorLike,
        is_non_singular: Hint = None,
        is_self_adjoint: Hint = None,
        is_positive_definite: Hint = None,
        is_square: Hint = True,
        assert_proper_shapes: bool = False,
        name: str = "LinearOperatorScaledIdentity",
    ) -> None:
        self._asserts = assert_proper_shapes
        with name_scope(name, values=[multiplier, num_rows]):
            self._multiplier = util.convert_nonref_to_tensor(multiplier, name="multiplier")
            if not self._multiplier.dtype.is_complex:
                text = "A real diagonal operator is always self adjoint."
                _refuse(is_self_adjoint is False, text)
                is_self_adjoint = True
            _refuse(not is_square, "A ScaledIdentity operator is always square.")
            hints = (is_non_singular, is_self_adjoint, is_positive_definite, is_square)
            LinearOperator.__init__(self, self._multiplier.dtype.base_dtype, None, *hints, name)
            self._num_rows, self._num_rows_static = self._size(num_rows, "num_rows")
            self._rows_as_dtype = tf.cast(self._num_rows, self.dtype)
            self._rows_as_real = tf.cast(self._num_rows, self.dtype.real_dtype)

    @property
    def multiplier(self) -> Any:
        """The number that every entry of a diagonal is."""
        return self._multiplier

    def _shape(self) -> TensorShape:
        rows = None if self._num_rows_static is None else int(self._num_rows_static)
        return self.multiplier.shape.concatenate(TensorShape([rows, rows]))

    def _shape_tensor(self) -> Tensor:
        matrix = tf.stack((self._num_rows, self._num_rows), axis=0)
        return tf.concat((tf.shape(self.multiplier), matrix), 0)

    def _assert_non_singular(self) -> Operation:
        return tf.assert_positive(tf.abs(self.multiplier), message="LinearOperator was singular")

    def _assert_positive_definite(self) -> Operation:
        text = "LinearOperator was not positive definite."
        return tf.assert_positive(tf.real(self.multiplier), message=text)

    def _assert_self_adjoint(self) -> Operation:
        imaginary = tf.imag(self.multiplier)
        text = "LinearOperator was not self-adjoint"
        return tf.assert_equal(tf.zeros_like(imaginary), imaginary, message=text)

    def _as_matrix(self, conjugate: bool) -> Tensor:
        matrix = tf.expand_dims(tf.expand_dims(self.multiplier, -1), -1)
        return tf.conj(matrix) if conjugate else matrix

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._checked_argument(x, adjoint_arg) * self._as_matrix(adjoint)

    def _determinant(self) -> Tensor:
        return self.multiplier**self._rows_as_dtype

    def _log_abs_determinant(self) -> Tensor:
        return self._rows_as_real * tf.log(tf.abs(self.multiplier))

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._checked_argument(rhs, adjoint_arg) / self._as_matrix(adjoint)

    def _trace(self) -> Tensor:
        return self.multiplier * self._trace_of_ones()

    def _diag_part(self) -> Tensor:
        ones = tf.ones(shape=self._shape_of_diagonal(), dtype=self.dtype)
        return ones * self.multiplier[..., None]

    def add_to_tensor(self, mat: TensorLike, name: str = "add_to_tensor") -> Tensor:
        """The sum of the operator and a tensor."""
        with self._name_scope(name):
            vector = tf.expand_dims(self.multiplier, -1)
            mat = convert_to_tensor(mat, name="mat")
            return tf.matrix_set_diag(mat, vector + tf.matrix_diag_part(mat))


@export("linalg.LinearOperatorZeros")
@without_private_bases
class LinearOperatorZeros(_Sized):
    """Matrices of zeros.

    Args:
        num_rows: of each matrix.
        num_columns: as many as rows if None.
        batch_shape: how many there are; one if None.
        dtype: of the entries; float32 if None.
        is_non_singular: False.
        is_self_adjoint: True if they are square.
        is_positive_definite: False.
        is_square: whether there are as many rows as columns.
        assert_proper_shapes: whether sizes are checked in the run.
        name: of the scope of its operations.

    Raises:
        ValueError: a hint cannot be true, or a size is negative or of a wrong rank.
        TypeError: a size is no integer.

    Example:
        >>> operator = tf.linalg.LinearOperatorZeros(2)
        >>> tf.Session().run(operator.matvec([3.0, 4.0]))
        array([0., 0.], dtype=float32)
    """

    def __init__(
        self,
        num_rows: TensorLike,
        num_columns: TensorLike | None = None,
        batch_shape: TensorLike | None = None,
        dtype: DTypeLike | None = None,
        is_non_singular: Hint = False,
        is_self_adjoint: Hint = True,
        is_positive_definite: Hint = False,
        is_square: Hint = True,
        assert_proper_shapes: bool = False,
        name: str = "LinearOperatorZeros",
    ) -> None:
        self._asserts = assert_proper_shapes
        with name_scope(name):
            contradiction = not is_self_adjoint and is_square
            _refuse(contradiction, "A zero operator is always self adjoint.")
            _refuse(is_non_singular, "A zero operator is always singular.")
            text = "A zero operator is always not positive-definite."
            _refuse(is_positive_definite, text)
            kind = dtypes.as_dtype(dtype or dtypes.float32)
            hints = (is_non_singular, is_self_adjoint, is_positive_definite, is_square)
            LinearOperator.__init__(self, kind, None, *hints, name)
            columns = num_rows if num_columns is None else num_columns
            self._num_rows, rows_known = self._size(num_rows, "num_rows")
            self._num_columns, columns_known = self._size(columns, "num_columns")
            self._known = (rows_known, columns_known)
            if None not in self._known and is_square and rows_known != columns_known:
                raise ValueError(
                    f"LinearOperatorZeros initialized as is_square=True, but got "
                    f"num_rows({rows_known}) != num_columns({columns_known})"
                )
            self._set_batch(batch_shape)

    def _shape(self) -> TensorShape:
        return self._with_batch(*self._known)

    def _shape_tensor(self) -> Tensor:
        return self._with_batch_tensor(self._num_rows, self._num_columns)

    def _assert_non_singular(self) -> Operation:
        raise errors.invalid("Zero operators are always non-invertible.")

    def _assert_positive_definite(self) -> Operation:
        raise errors.invalid("Zero operators are always non-positive definite.")

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        if self._asserts:
            x, adjoint_arg = self._checked_argument(x, adjoint_arg), False
        shape = tf.shape(x)
        rows, columns = (shape[-1], shape[-2]) if adjoint_arg else (shape[-2], shape[-1])
        if not self.is_square:
            rows = self._num_columns if adjoint else self._num_rows
        zeros = tf.zeros(shape=tf.concat([shape[:-2], [rows, columns]], axis=0), dtype=x.dtype)
        if self.is_square and not adjoint_arg:
            zeros.set_shape(x.shape)
        return self._broadcast(zeros)

    def _determinant(self) -> Tensor:
        return tf.zeros(shape=self._batch_for_fill(), dtype=self.dtype)

    def _trace(self) -> Tensor:
        return tf.zeros(shape=self._batch_for_fill(), dtype=self.dtype)

    def _diag_part(self) -> Tensor:
        return tf.zeros(shape=self._shape_of_diagonal(), dtype=self.dtype)

    def add_to_tensor(self, mat: TensorLike, name: str = "add_to_tensor") -> Tensor:
        """The tensor itself, in the shape of the batch."""
        return self._broadcast(convert_to_tensor(mat, name="mat"))
