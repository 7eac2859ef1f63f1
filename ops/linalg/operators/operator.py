# SPDX-License-Identifier: Apache-2.0
"""What every linear operator can do, by its dense matrix unless its class knows better."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from ....engine.api import export
from ....engine.graph.convert import convert_to_tensor
from ....engine.graph.graph import name_scope
from ....engine.graph.tensor import Tensor
from ....engine.types import dtypes
from ....engine.types.shape import Dimension, TensorShape, dimension_at_index, dimension_value
from ...holder import Holder
from ...public import tf
from ..solve import adjoint, cholesky, log_matrix_determinant
from .broadcasting import (
    cholesky_solve_with_broadcast,
    is_ref,
    matrix_solve_with_broadcast,
    shape_tensor,
)
from .dispatch import define_dispatch

if TYPE_CHECKING:
    from ....engine.graph.annotations import DTypeLike, TensorLike
    from ....engine.graph.operation import Operation

_log = logging.getLogger("tensorflow")
# What is known of an operator: true, false, or nothing.
Hint = bool | None
# Non-singular, self-adjoint, positive definite, square.
Hints = tuple[Hint, Hint, Hint, Hint]


def _warn_dense(what: str) -> None:
    _log.warning(
        "Using (possibly slow) default implementation of %s.  Requires conversion to a dense "
        "matrix and O(N^3) operations.",
        what,
    )


@export("linalg.LinearOperator")
class LinearOperator(Holder):
    """A batch of matrices, known by what they do.

    Subclasses state `_shape`, `_shape_tensor` and `_matmul`, and what they can do better than by a
    dense matrix.  Hints that contradict each other are a ValueError.

    Args:
        dtype: of the matrix.
        graph_parents: the tensors that it is made of.
        is_non_singular: whether it has an inverse.
        is_self_adjoint: whether it equals its conjugate transpose.
        is_positive_definite: whether x^H A x has a positive real part for every x but zero.
        is_square: whether it has as many rows as columns.
        name: of the scope of its operations.

    Raises:
        ValueError: hints contradict each other, or a graph parent is no tensor.

    Example:
        >>> operator = tf.linalg.LinearOperatorDiag([2.0, 4.0])
        >>> tf.Session().run(operator.solvevec([1.0, 1.0]))
        array([0.5 , 0.25], dtype=float32)
    """

    def __init__(
        self,
        dtype: DTypeLike,
        graph_parents: Sequence[Any] | None = None,
        is_non_singular: Hint = None,
        is_self_adjoint: Hint = None,
        is_positive_definite: Hint = None,
        is_square: Hint = None,
        name: str | None = None,
    ) -> None:
        if is_positive_definite:
            if is_non_singular is False:
                raise ValueError("A positive definite matrix is always non-singular.")
            is_non_singular = True
        for is_so, what in ((is_non_singular, "non-singular"), (is_self_adjoint, "self-adjoint")):
            if is_so:
                if is_square is False:
                    raise ValueError(f"A {what} matrix is always square.")
                is_square = True
        parents = list(graph_parents or ())
        for i, parent in enumerate(parents):
            if parent is None or not (isinstance(parent, Tensor) or is_ref(parent)):
                raise ValueError(f"Graph parent item {i} is not a Tensor; {parent}.")
        self._is_square_hint = is_square
        self._dtype = dtypes.as_dtype(dtype).base_dtype if dtype else dtype
        self._graph_parents = parents
        self._is_non_singular = is_non_singular
        self._is_self_adjoint = is_self_adjoint
        self._is_positive_definite = is_positive_definite
        self._name = name or type(self).__name__

    @contextmanager
    def _name_scope(self, name: str | None = None) -> Iterator[str]:
        with name_scope(self.name if name is None else f"{self.name}/{name}") as scope:
            yield scope

    # What it is

    @property
    def dtype(self) -> Any:
        """The type of the entries."""
        return self._dtype

    @property
    def name(self) -> str:
        """The scope of the operator's operations."""
        return self._name

    @property
    def name_scope(self) -> Any:
        """The name scope of the operator, to be entered."""
        return name_scope(self.name)

    @property
    def graph_parents(self) -> list[Any]:
        """The tensors that the operator is made of."""
        return self._graph_parents

    @property
    def is_non_singular(self) -> Hint:
        """Whether there is an inverse, if that is known."""
        return self._is_non_singular

    @property
    def is_self_adjoint(self) -> Hint:
        """Whether the matrix is its own conjugate transpose, if that is known."""
        return self._is_self_adjoint

    @property
    def is_positive_definite(self) -> Hint:
        """Whether x^H A x is positive for every x but zero, if that is known."""
        return self._is_positive_definite

    @property
    def is_square(self) -> Hint:
        """Whether there are as many rows as columns, if that is known."""
        found = self.domain_dimension == self.range_dimension
        if self._is_square_hint is False and found:
            raise ValueError("User set is_square hint to False, but the operator was square.")
        return found if self._is_square_hint is None else self._is_square_hint

    # Shapes

    def _shape(self) -> TensorShape:
        raise NotImplementedError("_shape is not implemented.")

    def _shape_tensor(self) -> Tensor:
        raise NotImplementedError("_shape_tensor is not implemented.")

    @property
    def shape(self) -> TensorShape:
        """The shape of the matrices, batch first."""
        return self._shape()

    def shape_tensor(self, name: str = "shape_tensor") -> Tensor:
        """The shape as a tensor."""
        with self._name_scope(name):
            if self.shape.is_fully_defined():
                return shape_tensor(self.shape.as_list())
            return self._shape_tensor()

    @property
    def batch_shape(self) -> TensorShape:
        """The shape without the matrices' own."""
        return self.shape[:-2]

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> Tensor:
        """The shape of the batch as a tensor."""
        with self._name_scope(name):
            if self.batch_shape.is_fully_defined():
                return shape_tensor(self.batch_shape.as_list(), name="batch_shape")
            return self.shape_tensor()[:-2]

    @property
    def tensor_rank(self) -> int | None:
        """The number of dimensions, batch and matrix."""
        with self._name_scope("tensor_rank"):
            return self.shape.ndims

    def tensor_rank_tensor(self, name: str = "tensor_rank_tensor") -> Tensor:
        """The number of dimensions as a tensor."""
        with self._name_scope(name):
            if self.tensor_rank is not None:
                return convert_to_tensor(self.tensor_rank)
            return tf.size(self.shape_tensor())

    @property
    def domain_dimension(self) -> Dimension:
        """The number of columns."""
        dims = self.shape.dims
        return Dimension(None) if dims is None else dims[-1]

    @property
    def range_dimension(self) -> Dimension:
        """The number of rows."""
        dims = self.shape.dims
        return dims[-2] if dims else Dimension(None)

    def _dimension_tensor(self, known: Dimension, axis: int) -> Tensor:
        value = dimension_value(known)
        return self.shape_tensor()[axis] if value is None else convert_to_tensor(value)

    def domain_dimension_tensor(self, name: str = "domain_dimension_tensor") -> Tensor:
        """The number of columns as a tensor."""
        with self._name_scope(name):
            return self._dimension_tensor(self.domain_dimension, -1)

    def range_dimension_tensor(self, name: str = "range_dimension_tensor") -> Tensor:
        """The number of rows as a tensor."""
        with self._name_scope(name):
            return self._dimension_tensor(self.range_dimension, -2)

    # Checks in the run

    def _assert_non_singular(self) -> Operation:
        _warn_dense("assert_non_singular")
        if self._can_use_cholesky():
            return self.assert_positive_definite()
        singular = tf.svd(self.to_dense(), compute_uv=False)
        condition = tf.reduce_max(singular, axis=-1) / tf.reduce_min(singular, axis=-1)
        with name_scope("max_nonsingular_condition_number"):
            sizes = (self.range_dimension_tensor(), self.domain_dimension_tensor())
            largest = tf.reduce_max([100.0, *(tf.cast(size, self.dtype) for size in sizes)])
            epsilon = np.finfo(self.dtype.as_numpy_dtype).eps
            limit = 1.0 / (tf.cast(largest, self.dtype) * epsilon)
        return tf.assert_less(condition, limit, message="Singular matrix up to precision epsilon.")

    def assert_non_singular(self, name: str = "assert_non_singular") -> Operation:
        """An operation that fails unless there is an inverse."""
        with self._name_scope(name):
            return self._assert_non_singular()

    def _assert_positive_definite(self) -> Operation:
        _warn_dense("assert_positive_definite")
        if not self.is_self_adjoint:
            raise NotImplementedError("assert_positive_definite is not implemented.")
        diagonal = tf.matrix_diag_part(cholesky(self.to_dense()))
        return tf.assert_positive(diagonal, message="Matrix was not positive definite.")

    def assert_positive_definite(self, name: str = "assert_positive_definite") -> Operation:
        """An operation that fails unless the matrix is positive definite."""
        with self._name_scope(name):
            return self._assert_positive_definite()

    def _assert_self_adjoint(self) -> Operation:
        dense = self.to_dense()
        _warn_dense("assert_self_adjoint")
        text = "Matrix was not equal to its adjoint."
        return tf.assert_equal(dense, adjoint(dense), message=text)

    def assert_self_adjoint(self, name: str = "assert_self_adjoint") -> Operation:
        """An operation that fails unless the matrix is its own conjugate transpose."""
        with self._name_scope(name):
            return self._assert_self_adjoint()

    # Products

    def _argument(self, x: TensorLike, name: str, own_axis: int, its_axis: int) -> Tensor:
        """A tensor that the operator or its inverse is to be multiplied with."""
        x = convert_to_tensor(x, name=name)
        self._check_input_dtype(x)
        own = dimension_at_index(self.shape, own_axis)
        own.assert_is_compatible_with(x.shape[its_axis])
        return x

    def _check_input_dtype(self, x: Tensor) -> None:
        if x.dtype.base_dtype != self.dtype:
            raise TypeError(
                f"Expected argument to have dtype {self.dtype}.  Found: {x.dtype} in tensor {x}"
            )

    def _pair(
        self, other: LinearOperator, flip: bool, flip_other: bool, word: str
    ) -> tuple[LinearOperator, LinearOperator]:
        """This operator and another one, if their sizes fit."""
        left = self.adjoint() if flip else self
        right = other.adjoint() if flip_other else other
        if (
            right.range_dimension is not None
            and left.domain_dimension is not None
            and right.range_dimension != left.domain_dimension
        ):
            raise ValueError(
                f"Operators are incompatible. Expected `{word}` to have dimension "
                f"{left.domain_dimension} but got {right.range_dimension}."
            )
        return left, right

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        raise NotImplementedError("_matmul is not implemented.")

    def matmul(
        self, x: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "matmul"
    ) -> Any:
        """The product with matrices, or with another operator, which gives an operator."""
        from . import algebra

        if isinstance(x, LinearOperator):
            left, right = self._pair(x, adjoint, adjoint_arg, "x")
            with self._name_scope(name):
                return algebra.matmul(left, right)
        with self._name_scope(name):
            x = self._argument(x, "x", -2 if adjoint else -1, -1 if adjoint_arg else -2)
            return self._matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _matvec(self, x: Tensor, adjoint: bool = False) -> Tensor:
        return tf.squeeze(self.matmul(tf.expand_dims(x, axis=-1), adjoint=adjoint), axis=-1)

    def matvec(self, x: TensorLike, adjoint: bool = False, name: str = "matvec") -> Tensor:
        """The product with vectors."""
        with self._name_scope(name):
            x = self._argument(x, "x", -2 if adjoint else -1, -1)
            return self._matvec(x, adjoint=adjoint)

    # Solutions

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        if self.is_square is False:
            raise NotImplementedError("Solve is not yet implemented for non-square operators.")
        _warn_dense("solve")
        rhs = _adjoint(rhs) if adjoint_arg else rhs
        if self._can_use_cholesky():
            return cholesky_solve_with_broadcast(cholesky(self.to_dense()), rhs)
        return matrix_solve_with_broadcast(self.to_dense(), rhs, adjoint=adjoint)

    def solve(
        self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "solve"
    ) -> Any:
        """X such that A X = rhs: a tensor, or an operator if `rhs` is one."""
        from . import algebra

        for is_so, what in (
            (self.is_non_singular, "be singular"),
            (self.is_square, "not be square"),
        ):
            if is_so is False:
                raise NotImplementedError(
                    f"Exact solve not implemented for an operator that is expected to {what}."
                )
        if isinstance(rhs, LinearOperator):
            left, right = self._pair(rhs, adjoint, adjoint_arg, "rhs")
            with self._name_scope(name):
                return algebra.solve(left, right)
        with self._name_scope(name):
            rhs = self._argument(rhs, "rhs", -1 if adjoint else -2, -1 if adjoint_arg else -2)
            return self._solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _solvevec(self, rhs: Tensor, adjoint: bool = False) -> Tensor:
        return tf.squeeze(self.solve(tf.expand_dims(rhs, axis=-1), adjoint=adjoint), axis=-1)

    def solvevec(self, rhs: TensorLike, adjoint: bool = False, name: str = "solve") -> Tensor:
        """x such that A x = rhs, for vectors."""
        with self._name_scope(name):
            rhs = self._argument(rhs, "rhs", -1 if adjoint else -2, -1)
            return self._solvevec(rhs, adjoint=adjoint)

    # Determinants

    def _check_has_determinant(self) -> None:
        if self.is_square is False:
            raise NotImplementedError(
                "Determinant not implemented for an operator that is expected to not be square."
            )

    def _determinant(self) -> Tensor:
        _warn_dense("determinant")
        if self._can_use_cholesky():
            return tf.exp(self.log_abs_determinant())
        return tf.matrix_determinant(self.to_dense())

    def determinant(self, name: str = "det") -> Tensor:
        """The determinant of every matrix."""
        self._check_has_determinant()
        with self._name_scope(name):
            return self._determinant()

    def _log_abs_determinant(self) -> Tensor:
        _warn_dense("determinant")
        if self._can_use_cholesky():
            diagonal = tf.matrix_diag_part(cholesky(self.to_dense()))
            return 2 * tf.reduce_sum(tf.log(diagonal), axis=[-1])
        return log_matrix_determinant(self.to_dense())[1]

    def log_abs_determinant(self, name: str = "log_abs_det") -> Tensor:
        """The logarithm of the determinants' moduli."""
        self._check_has_determinant()
        with self._name_scope(name):
            return self._log_abs_determinant()

    # Other operators

    def adjoint(self, name: str | None = "adjoint") -> LinearOperator:
        """The conjugate transpose as an operator."""
        from . import algebra

        if self.is_self_adjoint is True:
            return self
        with self._name_scope(name):
            return algebra.adjoint(self)

    H = property(adjoint, None)

    def inverse(self, name: str | None = "inverse") -> LinearOperator:
        """The inverse as an operator; ValueError if it is known that there is none."""
        from . import algebra

        for is_so, what in ((self.is_square, "non square"), (self.is_non_singular, "singular")):
            if is_so is False:
                raise ValueError(
                    f"Cannot take the Inverse: This operator represents a {what} matrix."
                )
        with self._name_scope(name):
            return algebra.inverse(self)

    def cholesky(self, name: str | None = "cholesky") -> LinearOperator:
        """The Cholesky factor as an operator; ValueError unless it is known that there is one."""
        from . import algebra

        if not self._can_use_cholesky():
            raise ValueError(
                "Cannot take the Cholesky decomposition: Not a positive definite self adjoint "
                "matrix."
            )
        with self._name_scope(name):
            return algebra.cholesky(self)

    # Tensors

    def _to_dense(self) -> Tensor:
        batch: Any = self.batch_shape
        if not batch.is_fully_defined():
            batch = self.batch_shape_tensor()
        columns = dimension_value(self.domain_dimension)
        if columns is None:
            columns = self.domain_dimension_tensor()
        return self.matmul(tf.eye(num_rows=columns, batch_shape=batch, dtype=self.dtype))

    def to_dense(self, name: str = "to_dense") -> Tensor:
        """The matrices as a tensor."""
        with self._name_scope(name):
            return self._to_dense()

    def _diag_part(self) -> Tensor:
        return tf.matrix_diag_part(self.to_dense())

    def diag_part(self, name: str = "diag_part") -> Tensor:
        """The diagonals."""
        with self._name_scope(name):
            return self._diag_part()

    def _trace(self) -> Tensor:
        return tf.reduce_sum(self.diag_part(), axis=-1)

    def trace(self, name: str = "trace") -> Tensor:
        """The sums of the diagonals."""
        with self._name_scope(name):
            return self._trace()

    def _add_to_tensor(self, x: Tensor) -> Tensor:
        return self.to_dense() + x

    def add_to_tensor(self, x: TensorLike, name: str = "add_to_tensor") -> Tensor:
        """The sum of the matrices and a tensor."""
        with self._name_scope(name):
            x = convert_to_tensor(x, name="x")
            self._check_input_dtype(x)
            return self._add_to_tensor(x)

    def _can_use_cholesky(self) -> Hint:
        return self.is_self_adjoint and self.is_positive_definite


_adjoint = adjoint
define_dispatch()
