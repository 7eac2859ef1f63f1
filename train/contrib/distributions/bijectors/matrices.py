# SPDX-License-Identifier: Apache-2.0
"""Bijectors of matrices: triangles, their diagonals, inverses and squares."""

from __future__ import annotations

from typing import Any

import numpy as np

from .....engine.api import export
from .....engine.graph.graph import control_dependencies, name_scope
from .....engine.graph.operation import Operation
from .....engine.graph.tensor import Tensor
from .....engine.types import dtypes
from .....engine.types.shape import TensorShape, dimension_value
from .....ops.control import with_dependencies
from .....ops.distributions.bijector import Bijector
from .....ops.distributions.util import fill_triangular, fill_triangular_inverse, pick_vector
from .....ops.public import tf
from .affine import AffineScalar
from .composed import Chain
from .elementwise import Softplus


@export("contrib.distributions.bijectors.FillTriangular")
class FillTriangular(Bijector):
    """Vectors as triangular matrices, lower or `upper` ones."""

    def __init__(
        self, upper: bool = False, validate_args: bool = False, name: str = "fill_triangular"
    ) -> None:
        self._upper = upper
        super().__init__(
            forward_min_event_ndims=1,
            inverse_min_event_ndims=2,
            validate_args=validate_args,
            name=name,
        )

    def _forward(self, x: Tensor) -> Tensor:
        return fill_triangular(x, upper=self._upper)

    def _inverse(self, y: Tensor) -> Tensor:
        return fill_triangular_inverse(y, upper=self._upper)

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        return tf.zeros_like(x[..., 0])

    def _inverse_log_det_jacobian(self, y: Tensor) -> Tensor:
        return tf.zeros_like(y[..., 0, 0])

    def _forward_event_shape(self, input_shape: TensorShape) -> TensorShape:
        size = dimension_value(input_shape[-1])
        rows = None if size is None else _rows_of_triangle(size, self.validate_args)
        return input_shape[:-1].concatenate([rows, rows])

    def _inverse_event_shape(self, output_shape: TensorShape) -> TensorShape:
        rows, columns = (dimension_value(output_shape[axis]) for axis in (-2, -1))
        size = None
        if rows is not None and columns is not None:
            if rows != columns:
                raise ValueError(f"Matrix must be square. (saw [{rows}, {columns}])")
            size = rows * (rows + 1) // 2
        return output_shape[:-2].concatenate([size])

    def _forward_event_shape_tensor(self, input_shape: Tensor) -> Tensor:
        rows = _rows_of_triangle(input_shape[-1], self.validate_args)
        return tf.concat([input_shape[:-1], [rows, rows]], axis=0)

    def _inverse_event_shape_tensor(self, output_shape: Tensor) -> Tensor:
        rows = output_shape[-1]
        if self.validate_args:
            text = "Matrix must be square."
            with control_dependencies([tf.assert_equal(rows, output_shape[-2], message=text)]):
                rows = tf.identity(rows)
        size = tf.cast(rows * (rows + 1) / 2, output_shape.dtype)
        return tf.concat([output_shape[:-2], [size]], axis=0)


def _rows_of_triangle(size: Any, validate_args: bool) -> Any:
    """The number of rows of a triangle of so many numbers."""
    text = "Vector length is not a triangular number"
    if not isinstance(size, Tensor):
        rows = (-1 + np.sqrt(1 + 8 * size)) / 2.0
        if float(int(rows)) != rows:
            raise ValueError(f"{text}.")
        return int(rows)
    with name_scope(None, "vector_size_to_square_matrix_size", [size]):
        rows = (-1.0 + tf.sqrt(1 + 8.0 * tf.cast(size, dtypes.float32))) / 2.0
        if validate_args:
            whole = tf.cast(tf.cast(rows, dtypes.int32), dtypes.float32)
            with control_dependencies([tf.assert_equal(whole, rows, message=text)]):
                rows = tf.identity(rows)
        return tf.cast(rows, size.dtype)


@export("contrib.distributions.bijectors.TransformDiagonal")
class TransformDiagonal(Bijector):
    """Matrices whose diagonals another bijector transforms."""

    def __init__(
        self,
        diag_bijector: Bijector,
        validate_args: bool = False,
        name: str = "transform_diagonal",
    ) -> None:
        self._diag_bijector = diag_bijector
        super().__init__(
            forward_min_event_ndims=2,
            inverse_min_event_ndims=2,
            validate_args=validate_args,
            name=name,
        )

    def _forward(self, x: Tensor) -> Tensor:
        return tf.matrix_set_diag(x, self._diag_bijector.forward(tf.matrix_diag_part(x)))

    def _inverse(self, y: Tensor) -> Tensor:
        return tf.matrix_set_diag(y, self._diag_bijector.inverse(tf.matrix_diag_part(y)))

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        diagonal = tf.matrix_diag_part(x)
        return self._diag_bijector.forward_log_det_jacobian(diagonal, event_ndims=1)

    def _inverse_log_det_jacobian(self, y: Tensor) -> Tensor:
        diagonal = tf.matrix_diag_part(y)
        return self._diag_bijector.inverse_log_det_jacobian(diagonal, event_ndims=1)


@export("contrib.distributions.bijectors.ScaleTriL")
class ScaleTriL(Chain):
    """Vectors as lower triangular matrices with positive diagonals."""

    def __init__(
        self,
        diag_bijector: Bijector | None = None,
        diag_shift: Any = 1e-5,
        validate_args: bool = False,
        name: str = "scale_tril",
    ) -> None:
        if diag_bijector is None:
            diag_bijector = Softplus(validate_args=validate_args)
        if diag_shift is not None:
            diag_bijector = Chain([AffineScalar(shift=diag_shift), diag_bijector])
        parts = [TransformDiagonal(diag_bijector=diag_bijector), FillTriangular()]
        super().__init__(parts, validate_args=validate_args, name=name)


@export("contrib.distributions.bijectors.CholeskyOuterProduct")
class CholeskyOuterProduct(Bijector):
    """Y = X X^T of lower triangular X."""

    def __init__(self, validate_args: bool = False, name: str = "cholesky_outer_product") -> None:
        super().__init__(forward_min_event_ndims=2, validate_args=validate_args, name=name)

    def _forward(self, x: Tensor) -> Tensor:
        if self.validate_args:
            shape = tf.shape(x)
            checks = [tf.assert_rank_at_least(x, 2), tf.assert_equal(shape[-2], shape[-1])]
            x = with_dependencies(checks, x)
        x = tf.matrix_band_part(x, -1, 0)
        return tf.matmul(x, x, adjoint_b=True)

    def _inverse(self, y: Tensor) -> Tensor:
        return tf.cholesky(y)

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        diagonal = self._make_columnar(tf.matrix_diag_part(x))
        if self.validate_args:
            shape, start = tf.shape(x), "Input must be "
            matrix, square = "a (batch of) matrix.", "a (batch of) square matrix."
            checks = [
                tf.assert_rank_at_least(x, 2, message=start + matrix),
                tf.assert_equal(shape[-2], shape[-1], message=start + square),
                tf.assert_positive(diagonal, message=start + "positive definite."),
            ]
            x = with_dependencies(checks, x)
        size: Any = None if x.shape.ndims is None else dimension_value(x.shape[-1])
        if size is None:
            size = tf.shape(x)[-1]
            as_float = tf.cast(size, dtype=x.dtype)
        else:
            as_float = np.array(size, dtype=x.dtype.as_numpy_dtype)
        # 2^p prod_i x_ii^(p - i), for i from 0.
        exponents = tf.linspace(as_float, tf.constant(1.0, x.dtype), size)
        weighted = tf.matmul(tf.log(diagonal), exponents[..., None])
        found = as_float * np.log(2.0) + tf.squeeze(weighted, axis=-1)
        if x.shape.ndims is not None:
            return tf.squeeze(found, axis=-1) if x.shape.ndims == 2 else found
        shape = tf.shape(found)
        is_matrix = tf.equal(tf.rank(x), 2)
        last = pick_vector(is_matrix, np.array([], dtype=np.int32), shape[-1:])
        return tf.reshape(found, tf.concat([shape[:-1], last], 0))

    def _make_columnar(self, x: Tensor) -> Tensor:
        """A vector as a matrix of one row."""
        if x.shape.ndims is not None:
            return x[None, :] if x.shape.ndims == 1 else x
        shape = tf.shape(x)
        row = pick_vector(tf.equal(tf.rank(x), 1), [1], np.array([], dtype=np.int32))
        return tf.reshape(x, tf.concat([shape[:-1], row, shape[-1:]], 0))


@export("contrib.distributions.bijectors.MatrixInverseTriL")
class MatrixInverseTriL(Bijector):
    """Y = X^-1 of lower triangular X."""

    def __init__(self, validate_args: bool = False, name: str = "matrix_inverse_tril") -> None:
        super().__init__(forward_min_event_ndims=2, validate_args=validate_args, name=name)

    def _forward(self, x: Tensor) -> Tensor:
        with control_dependencies(self._checks(x)):
            shape = tf.shape(x)
            eye = tf.eye(shape[-1], batch_shape=shape[:-2], dtype=x.dtype.base_dtype)
            return tf.matrix_triangular_solve(x, eye, lower=True)

    def _inverse(self, y: Tensor) -> Tensor:
        return self._forward(y)

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        with control_dependencies(self._checks(x)):
            size = tf.cast(tf.shape(x)[-1], x.dtype.base_dtype)
            logs = tf.log(tf.abs(tf.matrix_diag_part(x)))
            # Every entry of the inverse is as many times smaller as two columns are long.
            return -2.0 * size * tf.reduce_sum(logs, axis=-1)

    def _checks(self, x: Tensor) -> list[Operation]:
        if not self.validate_args:
            return []
        shape, start = tf.shape(x), "Input must "
        is_matrix = tf.assert_rank_at_least(x, 2, message=start + "have rank at least 2.")
        is_square = tf.assert_equal(shape[-2], shape[-1], message=start + "be a square matrix.")
        without = tf.matrix_set_diag(x, tf.zeros(shape[:-1], dtype=x.dtype.base_dtype))
        above, diagonal = tf.matrix_band_part(without, 0, -1), tf.matrix_diag_part(x)
        lower, nonzero = "be lower triangular.", "have all diagonal entries nonzero."
        return [
            is_matrix,
            is_square,
            tf.assert_equal(above, tf.zeros_like(above), message=start + lower),
            tf.assert_none_equal(diagonal, tf.zeros_like(diagonal), message=start + nonzero),
        ]
