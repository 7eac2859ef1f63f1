# SPDX-License-Identifier: Apache-2.0
"""Least squares by the normal equations, or (fast=False) by orthogonal factors, of any rank.

The function is made of products and Cholesky factors where that is fast, as TensorFlow's is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.graph.build import define
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.scope_functions import name_scope
from ...engine.graph.tensor import Tensor
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape, shape_text
from ..public import tf
from ..shape_inference import ranked
from .solve import (
    PREFIX,
    TYPES,
    adjoint,
    adjoint_array,
    check_stacks,
    cholesky,
    cholesky_solve,
    lapack,
    solution_shape,
    wide,
)

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation

_RANK = (
    "Input matrix was rank deficient or ill-conditioned. Try setting fast=False or provide {} "
    "l2_regularizer > 0."
)


def _shape(c: ShapeContext) -> TensorShape:
    ranked(c.inputs[2], 0)
    return solution_shape(c.inputs[0], c.inputs[1])


def _kernel(c: KernelContext, matrix: np.ndarray, rhs: np.ndarray, l2: np.ndarray) -> np.ndarray:
    if l2.ndim:
        raise errors.invalid(f"l2_regularizer must be scalar, got shape {shape_text(l2.shape)}")
    if l2 < 0:
        raise errors.invalid("l2_regularizer must be >= 0.")
    check_stacks(matrix, rhs)
    a, b = wide(matrix), wide(rhs)
    if not a.size or not b.size:
        return np.zeros((*a.shape[:-2], a.shape[-1], b.shape[-1]), rhs.dtype)
    found = _normal(a, b, float(l2)) if c.attr("fast") else _by_orthogonal_factors(a, b)
    return found.astype(rhs.dtype)


def _normal(a: np.ndarray, b: np.ndarray, l2: float) -> np.ndarray:
    """The solution of the normal equations, of whose Gramians the smaller is factored."""
    is_tall, other = a.shape[-2] >= a.shape[-1], adjoint_array(a)
    gramian = np.matmul(other, a) if is_tall else np.matmul(a, other)
    gramian += np.eye(gramian.shape[-1], dtype=a.dtype) * a.dtype.type(l2)
    message = _RANK.format("a larger" if is_tall else "an")
    # (That there is a factor is what is asked for; NumPy solves by others, stacks at once.)
    lapack(message, np.linalg.cholesky, gramian)
    if is_tall:
        return np.asarray(lapack(message, np.linalg.solve, gramian, np.matmul(other, b)))
    return np.matmul(other, lapack(message, np.linalg.solve, gramian, b))


def _by_orthogonal_factors(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The shortest solution, whatever the rank.

    It is zeros where an element of the matrix is not finite: no pivot is large beside such a one.
    """
    from scipy.linalg import lapack as routines

    rows, columns = a.shape[-2:]
    prefix = PREFIX[a.dtype.char]
    solve, ask = (getattr(routines, f"{prefix}gelsy{end}") for end in ("", "_lwork"))
    # Below this share of the largest pivot, one counts as zero; Eigen's share.
    small = np.finfo(a.dtype).eps * min(rows, columns)
    room = int(ask(rows, columns, b.shape[-1], small)[0].real)
    found = np.zeros((*a.shape[:-2], columns, b.shape[-1]), a.dtype)
    padded = np.zeros((max(rows, columns), b.shape[-1]), a.dtype)
    for place in np.ndindex(a.shape[:-2]):
        if np.isfinite(a[place]).all():
            padded[:rows] = b[place]
            free = np.zeros((columns, 1), np.int32)
            found[place] = solve(a[place], padded, free, small, room)[1][:columns]
    return found


# The normal equations: x = (A^H A + l2)^-1 A^H b, or A^H (A A^H + l2)^-1 b for a wide matrix, of
# whose solutions that is the shortest.  The smaller Gramian is factored.
def _gramian_cholesky(matrix: Tensor, l2: Any, first_kind: bool) -> Any:
    gramian = tf.matmul(matrix, matrix, adjoint_a=first_kind, adjoint_b=not first_kind)
    if isinstance(l2, Tensor) or l2 != 0:
        place = -1 if first_kind else -2
        shape = tf.shape(matrix)
        batch, size = shape[:-2], shape[place]
        identity = tf.eye(size, batch_shape=batch, dtype=matrix.dtype)
        static = matrix.shape[place]
        identity.set_shape(matrix.shape[:-2].concatenate([static, static]))
        gramian += l2 * identity
    return cholesky(gramian)


def _by_cholesky(matrix: Tensor, rhs: TensorLike, l2: float, is_tall: bool) -> Any:
    factor = _gramian_cholesky(matrix, l2, first_kind=is_tall)
    if is_tall:
        return cholesky_solve(factor, tf.matmul(matrix, rhs, adjoint_a=True))
    return tf.matmul(matrix, cholesky_solve(factor, rhs), adjoint_a=True)


def _for_sizes(matrix: Tensor, tall: Any, wide: Any) -> Any:
    """What one of two functions gives, by whether matrices have no fewer rows than columns."""
    sizes = matrix.shape[-2:]
    if sizes.is_fully_defined():
        rows, columns = sizes.as_list()
        return tall() if rows >= columns else wide()
    shape = tf.shape(matrix)[-2:]
    return tf.cond(shape[-2] >= shape[-1], tall, wide)


def _gradient(op: Operation, grad: Tensor) -> Any:
    if not op.get_attr("fast"):
        raise ValueError(
            f"Gradient not defined for fast=False: operation {op.name!r}. fast=True has one"
        )
    a, b, l2 = op.inputs
    regularizer, x = tf.cast(l2, a.dtype), op.outputs[0]

    def symmetric(product: Any) -> Any:
        return product + adjoint(product)

    def of_l2(one: Any, other: Any) -> Any:
        product = tf.reduce_sum(tf.conj(one) * other)
        return -tf.cast(tf.real(product) if product.dtype.is_complex else product, tf.float64)

    # With z = (A^H A + l2)^-1 G: dB = A z, dA = B z^H - A (x z^H + z x^H), and dl2 = -<x, z>.
    def tall() -> tuple[Any, Any, Any]:
        z = cholesky_solve(_gramian_cholesky(a, regularizer, first_kind=True), grad)
        bent = symmetric(tf.matmul(x, z, adjoint_b=True))
        grad_a = tf.matmul(b, z, adjoint_b=True) - tf.matmul(a, bent)
        return grad_a, tf.matmul(a, z), of_l2(x, z)

    # With S = A A^H + l2 and z = S^-1 B: dB = S^-1 A G, dA = z G^H - (dB z^H + z dB^H) A, and
    # dl2 = -<z, dB>.
    def wide() -> tuple[Any, Any, Any]:
        factor = _gramian_cholesky(a, regularizer, first_kind=False)
        grad_b, z = cholesky_solve(factor, tf.matmul(a, grad)), cholesky_solve(factor, b)
        bent = symmetric(tf.matmul(grad_b, z, adjoint_b=True))
        grad_a = tf.matmul(z, grad, adjoint_b=True) - tf.matmul(bent, a)
        return grad_a, grad_b, of_l2(z, grad_b)

    return _for_sizes(a, tall, wide)


def _example() -> dict[str, Any]:
    tall, rhs = (
        np.array([[[2.0, 0.5], [0.25, 1.5], [1.0, -1.0]]]),
        np.array([[[1.0], [2.0], [0.5]]]),
    )
    turned = tall.swapaxes(1, 2)
    return {"values": [[tall, rhs, np.float64(0.25)], [turned, rhs[:, :2], np.float64(0.5)]]}


raw_matrix_solve_ls = define(
    "MatrixSolveLs",
    "matrix: T, rhs: T, l2_regularizer: float64 -> output: T",
    f"{TYPES}; fast: bool = True",
    shape=_shape,
    kernel=_kernel,
    gradient=_gradient,
    test=_example,
    doc="The solutions of least-squares problems; an l2 term counts where `fast`.",
)


@export("linalg.lstsq", "matrix_solve_ls")
def matrix_solve_ls(
    matrix: TensorLike,
    rhs: TensorLike,
    l2_regularizer: float = 0.0,
    fast: bool = True,
    name: str | None = None,
) -> Any:
    """The x that minimises |matrix x - rhs|^2 + l2_regularizer |x|^2.

    With `fast=False` it is the shortest x that minimises |matrix x - rhs|^2, whatever the rank; the
    regularizer does not count then.
    """
    matrix = convert_to_tensor(matrix, name="matrix")
    if matrix.dtype == dtypes.complex128 and l2_regularizer != 0:
        raise NotImplementedError(
            "matrix_solve_ls is currently disabled for complex128 and l2_regularizer != 0 due to "
            "poor accuracy."
        )
    if not fast or (matrix.shape.is_fully_defined() and _is_slow(matrix)):
        return raw_matrix_solve_ls(matrix, rhs, l2_regularizer, fast=fast, name=name)
    with name_scope(name, "matrix_solve_ls", [matrix, rhs, l2_regularizer]):
        return _for_sizes(
            matrix,
            lambda: _by_cholesky(matrix, rhs, l2_regularizer, True),
            lambda: _by_cholesky(matrix, rhs, l2_regularizer, False),
        )


def _is_slow(matrix: Any) -> bool:
    """TensorFlow's guess when many small matrices are better left to one op."""
    *batch, rows, columns = matrix.shape.as_list()
    # 256000 bytes: TensorFlow's guess of a level 2 cache.
    in_cache = matrix.shape.num_elements() * matrix.dtype.size <= 256000
    return not in_cache and int(np.prod(batch)) > min(rows, columns)
