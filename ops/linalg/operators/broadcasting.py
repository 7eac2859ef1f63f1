# SPDX-License-Identifier: Apache-2.0
"""Solutions of systems whose batches broadcast, and small checks that several operators use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ....engine.graph.convert import convert_to_tensor
from ....engine.graph.graph import name_scope
from ....engine.graph.tensor import Tensor
from ....engine.types import dtypes
from ....engine.types.shape import TensorShape, broadcast_static
from ...public import tf
from ..solve import adjoint as _adjoint

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike
    from ....engine.graph.operation import Operation


def is_ref(x: object) -> bool:
    """Whether something may change between runs: a variable."""
    return isinstance(x, tf.Variable)


def convert_nonref_to_tensor(
    value: Any, dtype: Any = None, dtype_hint: Any = None, name: str | None = None
) -> Any:
    """A tensor of a value; variables stay what they are, so that they are read when needed."""
    if value is None:
        return None
    if not is_ref(value):
        return convert_to_tensor(value, dtype=dtype, preferred_dtype=dtype_hint, name=name)
    if dtype is not None and dtypes.as_dtype(dtype).base_dtype != value.dtype.base_dtype:
        wanted = dtypes.as_dtype(dtype).base_dtype.name
        found = value.dtype.base_dtype.name
        raise TypeError(f'Mutable type must be of dtype "{wanted}" but is "{found}".')
    return value


def assert_not_ref_type(x: object, arg_name: str) -> None:
    """TypeError for a variable."""
    if is_ref(x):
        raise TypeError(f"Argument {arg_name} cannot be reference type. Found: {type(x)}")


def assert_no_entries_with_modulus_zero(
    x: TensorLike, message: str | None = None, name: str = "assert_no_entries_with_modulus_zero"
) -> Operation:
    """An operation that fails if there is a zero."""
    with name_scope(name, values=[x]):
        x = convert_to_tensor(x, name="x")
        modulus = tf.abs(x)
        zero = convert_to_tensor(0, dtype=x.dtype.base_dtype.real_dtype)
        return tf.assert_less(zero, modulus, message=message)


def assert_zero_imag_part(
    x: TensorLike, message: str | None = None, name: str = "assert_zero_imag_part"
) -> Operation:
    """An operation that fails if a number is not real."""
    with name_scope(name, values=[x]):
        x = convert_to_tensor(x, name="x")
        if x.dtype.base_dtype.is_floating:
            return tf.no_op()
        zero = convert_to_tensor(0, dtype=x.dtype.base_dtype.real_dtype)
        return tf.assert_equal(zero, tf.imag(x), message=message)


def assert_compatible_matrix_dimensions(operator: Any, x: Tensor) -> Operation:
    """An operation that fails unless an operator can be multiplied with matrices."""
    text = "Dimensions are not compatible.  shape[-2] of argument to be the same as this operator"
    return tf.assert_equal(tf.shape(x)[-2], operator.domain_dimension_tensor(), message=text)


def shape_tensor(shape: TensorLike, name: str | None = None) -> Tensor:
    """A shape as a tensor of integers, also the empty one."""
    is_empty = isinstance(shape, (tuple, list)) and not shape
    return convert_to_tensor(shape, dtype=dtypes.int32 if is_empty else None, name=name)


def broadcast_shape(x: Any, y: Any) -> TensorShape:
    """The shape that two shapes broadcast to."""
    return broadcast_static(x, y)


def broadcast_matrix_batch_dims(
    batch_matrices: Sequence[TensorLike], name: str | None = None
) -> list[Tensor]:
    """Matrices with one shape of batch, to which theirs broadcast."""
    with name_scope(name or "broadcast_matrix_batch_dims", values=list(batch_matrices)):
        tf.assert_proper_iterable(batch_matrices)
        matrices = [convert_to_tensor(matrix) for matrix in batch_matrices]
        for matrix in matrices:
            if matrix.shape.ndims is not None and matrix.shape.ndims < 2:
                raise ValueError(
                    f"Expected [batch] matrix to have at least two dimensions.  Found: {matrix}"
                )
        if len(matrices) < 2:
            return matrices
        known = matrices[0].shape[:-2]
        for matrix in matrices[1:]:
            known = broadcast_static(known, matrix.shape[:-2])
        if known.is_fully_defined():
            return [
                matrix if matrix.shape[:-2] == known else _with_batch(matrix, known.as_list())
                for matrix in matrices
            ]
        batch = tf.shape(matrices[0])[:-2]
        for matrix in matrices[1:]:
            batch = tf.broadcast_dynamic_shape(batch, tf.shape(matrix)[:-2])
        return [_with_batch(matrix, batch) for matrix in matrices]


def _with_batch(matrix: Tensor, batch: TensorLike) -> Tensor:
    return tf.broadcast_to(matrix, tf.concat([batch, tf.shape(matrix)[-2:]], axis=0))


def cholesky_solve_with_broadcast(
    chol: TensorLike, rhs: TensorLike, name: str | None = None
) -> Tensor:
    """Solutions by Cholesky factors; batches broadcast."""
    with name_scope(name, "CholeskySolveWithBroadcast", [chol, rhs]):
        chol, rhs = broadcast_matrix_batch_dims([chol, rhs])
        return tf.cholesky_solve(chol, rhs)


def matrix_solve_with_broadcast(
    matrix: TensorLike, rhs: TensorLike, adjoint: bool = False, name: str | None = None
) -> Tensor:
    """Solutions of systems; batches broadcast."""
    with name_scope(name, "MatrixSolveWithBroadcast", [matrix, rhs]):
        matrix, rhs, restore, is_turned = _as_columns(matrix, rhs, adjoint)
        matrix, rhs = broadcast_matrix_batch_dims([matrix, rhs])
        return restore(tf.matrix_solve(matrix, rhs, adjoint=adjoint and not is_turned))


def matrix_triangular_solve_with_broadcast(
    matrix: TensorLike,
    rhs: TensorLike,
    lower: bool = True,
    adjoint: bool = False,
    name: str | None = None,
) -> Tensor:
    """Solutions of triangular systems; batches broadcast."""
    with name_scope(name, "MatrixTriangularSolve", [matrix, rhs]):
        matrix, rhs, restore, is_turned = _as_columns(matrix, rhs, adjoint)
        matrix, rhs = broadcast_matrix_batch_dims([matrix, rhs])
        solution = tf.matrix_triangular_solve(
            matrix,
            rhs,
            lower=lower != (adjoint and is_turned),
            adjoint=adjoint and not is_turned,
        )
        return restore(solution)


def _as_columns(
    matrix: TensorLike, rhs: TensorLike, adjoint: bool
) -> tuple[Tensor, Tensor, Callable[[Tensor], Tensor], bool]:
    """Right sides with dimensions that the matrices lack become more columns, where that is less.

    Returns matrices, right sides, what brings solutions into shape, and whether the matrices are
    their adjoints already.
    """
    a = convert_to_tensor(matrix, name="matrix")
    b = convert_to_tensor(rhs, name="rhs", dtype=a.dtype)
    if a.shape.ndims is None or b.shape.ndims is None or a.shape.ndims >= b.shape.ndims:
        return a, b, lambda x: x, False
    extra = b.shape.ndims - a.shape.ndims
    size: Any = a.shape.as_list()[-2 if adjoint else -1]
    columns: Any = b.shape.as_list()[-1]
    count: Any = b.shape[:extra].num_elements()
    if None not in (size, columns, count) and (count < 2 or size <= columns):
        return a, b, lambda x: x, False
    a = _adjoint(a) if adjoint else a
    extra_shape, main_shape = tf.shape(b)[:extra], tf.shape(b)[extra:]
    perm = np.roll(np.arange(b.shape.ndims), -extra)
    columns_last = tf.transpose(b, perm=perm)
    flat = tf.reshape(columns_last, tf.concat((main_shape[:-1], [-1]), 0))

    def restore(y: Tensor) -> Tensor:
        shape = tf.concat((tf.shape(y)[:-1], [main_shape[-1]], extra_shape), 0)
        return tf.transpose(tf.reshape(y, shape), perm=np.argsort(perm))

    return a, flat, restore, True


def use_operator_or_provided_hint_unless_contradicting(
    operator: Any, hint_attr_name: str, provided_hint_value: bool | None, message: str
) -> bool | None:
    """What an operator or the caller knows of it; ValueError if they contradict each other."""
    known = getattr(operator, hint_attr_name)
    if None not in (known, provided_hint_value) and bool(known) != bool(provided_hint_value):
        raise ValueError(message)
    return provided_hint_value if known is None else known
