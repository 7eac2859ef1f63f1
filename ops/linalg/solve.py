# SPDX-License-Identifier: Apache-2.0
"""Square systems: inverse, determinants, solving, Cholesky factors.

All work on stacks of matrices.  Reference kernels call LAPACK through NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.dispatch import dispatched
from ...engine.graph.build import define
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.scope_functions import name_scope
from ...engine.graph.tensor import Tensor
from ...engine.types.shape import TensorShape
from ..public import tf
from ..shape_inference import merge, merge_dim, ranked_at_least
from . import solve_lower

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation

TYPES = "T: {float64, float32, half, complex64, complex128}"
# LAPACK's letter for a dtype.
PREFIX = {"f": "s", "d": "d", "F": "c", "D": "z"}
_NO_INVERSE = "Input is not invertible."
_NO_SOLUTION = "Input matrix is not invertible."
_NO_FACTOR = "Cholesky decomposition was not successful. The input might not be valid."


def _square() -> np.ndarray:
    return np.array([[[2.0, 0.5], [0.25, 1.5]]])


def _symmetric() -> np.ndarray:
    return np.array([[[2.0, 0.5], [0.5, 1.5]]])


def wide(x: np.ndarray) -> np.ndarray:
    """LAPACK has no half precision."""
    return x.astype(np.float32) if x.dtype == np.float16 else x


def square(shape: TensorShape) -> TensorShape:
    """The shape of a stack of square matrices, after checking that it is one."""
    dims = ranked_at_least(shape, 2)
    if dims is None:
        return TensorShape(None)
    size = merge_dim(dims[-2], dims[-1])
    return TensorShape([*dims[:-2], size, size])


def batch_of(shape: TensorShape) -> TensorShape:
    """The shape without its last two dimensions."""
    return TensorShape(None if shape.ndims is None else shape.as_list()[:-2])


def _square_shape(c: ShapeContext) -> TensorShape:
    return square(c.inputs[0])


def check_square(x: np.ndarray, what: str = "Input") -> None:
    """Raises TensorFlow's error unless x is a stack of square matrices."""
    if x.ndim < 2:
        text = f"{what} tensor must have rank >= 2, got {x.ndim}"
        raise errors.invalid(text)
    if x.shape[-1] != x.shape[-2]:
        raise errors.invalid(f"Input matrix must be square, got: {x.shape[-2]} vs. {x.shape[-1]}")


def check_stacks(matrix: np.ndarray, rhs: np.ndarray) -> None:
    """Raises TensorFlow's error unless there is a right-hand side for each matrix."""
    if matrix.ndim != rhs.ndim:
        raise errors.invalid("All input tensors must have the same rank.")
    if matrix.shape[:-2] != rhs.shape[:-2]:
        raise errors.invalid("All input tensors must have the same outer dimensions.")


def lapack(message: str, function: Callable[..., Any], *args: Any) -> Any:
    """The function's result; its failure is InvalidArgumentError with this message."""
    try:
        with np.errstate(all="ignore"):
            return function(*args)
    except np.linalg.LinAlgError:
        raise errors.invalid(message) from None


def _require_number(matrix: np.ndarray, message: str) -> None:
    """Raises InvalidArgumentError for a matrix that begins with NaN: it has no smallest pivot."""
    if matrix.size and np.isnan(matrix[..., 0, 0]).any():
        raise errors.invalid(message)


def _eliminated(matrix: np.ndarray, rhs: np.ndarray) -> np.ndarray:
    """The solutions of one system, by elimination that takes NaN for no pivot but the first one."""
    rows, found = np.array(matrix), np.array(rhs)
    for j in range(len(rows)):
        sizes = np.abs(rows[j:, j])
        best = j + int(np.argmax(np.where(np.isnan(sizes), -1.0, sizes)))
        best = j if np.isnan(sizes[0]) else best
        if rows[best, j] == 0:
            raise np.linalg.LinAlgError
        for array in (rows, found):
            array[[j, best]] = array[[best, j]]
        factors = rows[j + 1 :, j : j + 1] / rows[j, j]
        found[j + 1 :] -= factors * found[j]
        rows[j + 1 :, j:] -= factors * rows[j, j:]
    for j in reversed(range(len(rows))):
        found[j] = (found[j] - rows[j, j + 1 :] @ found[j + 1 :]) / rows[j, j]
    return found


def _solved(matrix: np.ndarray, rhs: np.ndarray) -> np.ndarray:
    """The solutions of systems; LAPACK's with NaN among them depend on who built it."""
    if np.isfinite(matrix).all():
        return np.linalg.solve(matrix, rhs)
    found = np.empty_like(rhs)
    for place in np.ndindex(matrix.shape[:-2]):
        found[place] = _eliminated(matrix[place], rhs[place])
    return found


def _inverted(matrix: np.ndarray) -> np.ndarray:
    """The inverses of matrices, of those that are not finite as solutions."""
    if np.isfinite(matrix).all():
        return np.linalg.inv(matrix)
    ones = np.broadcast_to(np.eye(matrix.shape[-1], dtype=matrix.dtype), matrix.shape)
    return _solved(matrix, np.array(ones))


def adjoint_array(x: np.ndarray) -> np.ndarray:
    """The conjugate transpose of each matrix."""
    return np.conj(np.swapaxes(x, -1, -2))


# Inverse and determinants


def _inverse_kernel(c: KernelContext, x: np.ndarray) -> np.ndarray:
    check_square(x)
    _require_number(x, _NO_INVERSE)
    inverse = lapack(_NO_INVERSE, _inverted, wide(x))
    return (adjoint_array(inverse) if c.attr("adjoint") else inverse).astype(x.dtype)


def _inverse_gradient(op: Operation, grad: Tensor) -> Any:
    inverse = op.outputs[0]
    if op.attr("adjoint"):
        # Of A^-H =: B, dA = -B G^H B; TensorFlow's is that of A^-1, which makes the second
        # derivatives of a determinant wrong.
        return -tf.matmul(inverse, tf.matmul(grad, inverse, adjoint_a=True))
    # d(A^-1) = -A^-1 dA A^-1, so dA = -A^-H G A^-H.
    inner = tf.matmul(grad, inverse, adjoint_b=True)
    return -tf.matmul(inverse, inner, adjoint_a=True)


matrix_inverse = define(
    "MatrixInverse",
    "input: T -> output: T",
    f"adjoint: bool = False; {TYPES}",
    shape=_square_shape,
    kernel=_inverse_kernel,
    lower=solve_lower.inverse(_NO_INVERSE),
    gradient=_inverse_gradient,
    test=lambda: {"values": [[_square()]]},
    doc="""The inverses of square matrices, or of their adjoints.

    Args:
        input: [..., n, n]
        adjoint: whether the inverse of the conjugated and transposed matrix is computed

    Returns:
        It has the shape of the input.

    Raises:
        ValueError: sizes known in the graph are not square.
        InvalidArgumentError: a matrix of a run is not square or cannot be inverted.

    Example:
        >>> tf.Session().run(tf.matrix_inverse([[2.0, 0.0], [0.0, 4.0]]))
        array([[0.5 , 0.  ],
               [0.  , 0.25]], dtype=float32)
    """,
)
export("linalg.inv", "matrix_inverse")(matrix_inverse)


def _per_matrix(factors: Tensor, shape_of: Tensor) -> Tensor:
    """One number for each matrix, shaped to multiply the matrices."""
    return tf.reshape(factors, tf.concat([tf.shape(shape_of), [1, 1]], 0))


def _determinant_kernel(c: KernelContext, x: np.ndarray) -> np.ndarray:
    check_square(x)
    _, log = np.linalg.slogdet(wide(x))
    beyond = np.where(log > 0, np.nan, 0.0)
    return np.asarray(np.where(np.isfinite(log), np.linalg.det(wide(x)), beyond)).astype(x.dtype)


def _determinant_gradient(op: Operation, grad: Tensor) -> Any:
    a, c = op.inputs[0], op.outputs[0]
    # Jacobi's formula: the slope of det(A) is det(A) A^-H.
    inverse = matrix_inverse(a, adjoint=True)
    return _per_matrix(grad * c, c) * inverse


matrix_determinant = define(
    "MatrixDeterminant",
    "input: T -> output: T",
    TYPES,
    shape=lambda c: batch_of(square(c.inputs[0])),
    kernel=_determinant_kernel,
    lower=solve_lower.determinant,
    gradient=_determinant_gradient,
    test=lambda: {"values": [[_square()]]},
    doc="The determinants of square matrices.",
)
export("linalg.det", "matrix_determinant")(matrix_determinant)


def _log_determinant_kernel(c: KernelContext, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    check_square(x)
    sign, log = np.linalg.slogdet(wide(x))
    # No matter what the sign is: of a determinant that is no finite number it is 0.
    is_finite = np.isfinite(log)
    log = np.where(is_finite, log, np.where(log > 0, np.inf, -np.inf))
    return np.where(is_finite, sign, 0).astype(x.dtype), log.astype(x.dtype)


def _log_determinant_gradient(op: Operation, grad_sign: Tensor, grad_log: Tensor) -> Any:
    a, c = op.inputs[0], op.outputs[1]
    # The slope of log|det(A)| is A^-H; the sign is constant.
    inverse = matrix_inverse(a, adjoint=True)
    return _per_matrix(grad_log, c) * inverse


log_matrix_determinant = define(
    "LogMatrixDeterminant",
    "input: T -> sign: T, log_abs_determinant: T",
    TYPES,
    shape=lambda c: [batch_of(square(c.inputs[0]))] * 2,
    kernel=_log_determinant_kernel,
    lower=solve_lower.log_determinant,
    gradient=_log_determinant_gradient,
    test=lambda: {"values": [[_square()]]},
    doc="The sign, and the logarithm of the modulus, of determinants.",
)
export("linalg.slogdet")(log_matrix_determinant)


# Cholesky


def _cholesky_kernel(c: KernelContext, x: np.ndarray) -> np.ndarray:
    check_square(x)
    return lapack(_NO_FACTOR, np.linalg.cholesky, wide(x)).astype(x.dtype)


def _cholesky_gradient(op: Operation, grad: Tensor) -> Any:
    factor = op.outputs[0]
    rows = tf.shape(factor)[-1]
    batch = tf.shape(factor)[:-2]
    identity = tf.eye(rows, batch_shape=batch, dtype=factor.dtype)
    inverse = matrix_triangular_solve(factor, identity)
    # dA = L^-H phi(L^H G) L^-1 made symmetric, where phi takes the lower triangle with half of the
    # diagonal (I. Murray, arXiv 1602.07527).
    middle = tf.matmul(factor, grad, adjoint_a=True)
    middle = tf.matrix_set_diag(middle, 0.5 * tf.matrix_diag_part(middle))
    middle = tf.matrix_band_part(middle, -1, 0)
    grad_a = tf.matmul(tf.matmul(inverse, middle, adjoint_a=True), inverse)
    grad_a += adjoint(grad_a)
    return grad_a * 0.5


cholesky = define(
    "Cholesky",
    "input: T -> output: T",
    TYPES,
    shape=_square_shape,
    kernel=_cholesky_kernel,
    lower=solve_lower.cholesky(_NO_FACTOR),
    gradient=_cholesky_gradient,
    # The gradient is that of a symmetric input: one entry alone cannot vary.
    test=lambda: {"values": [[_symmetric()]], "gradient": False},
    doc="The lower triangles L with L times its adjoint equal to the input.",
)
export("linalg.cholesky", "cholesky")(cholesky)


@export("linalg.cholesky_solve", "cholesky_solve")
def cholesky_solve(chol: TensorLike, rhs: TensorLike, name: str | None = None) -> Any:
    """Solves A x = rhs by the Cholesky factor of A."""
    with name_scope(name, "cholesky_solve", [chol, rhs]):
        y = matrix_triangular_solve(chol, rhs, adjoint=False, lower=True)
        return matrix_triangular_solve(chol, y, adjoint=True, lower=True)


# Systems


def solution_shape(matrix: TensorShape, rhs: TensorShape) -> TensorShape:
    """The shape of what stacks of matrices [m, n] and right-hand sides [m, k] give: [n, k].

    The rank of either says that of the other.
    """
    lhs, right = ranked_at_least(matrix, 2), ranked_at_least(rhs, 2)
    rows, size = (None, None) if lhs is None else lhs[-2:]
    right_rows, columns = (None, None) if right is None else right[-2:]
    merge_dim(rows, right_rows)
    batch = merge(batch_of(matrix), batch_of(rhs))
    if batch.ndims is None:
        return TensorShape(None)
    return TensorShape([*batch.as_list(), size, columns])


def _system_shape(c: ShapeContext) -> TensorShape:
    matrix, rhs = square(c.inputs[0]), c.inputs[1]
    found = solution_shape(matrix, rhs)
    if found.ndims is None or rhs.ndims is None:
        return found
    *batch, size, columns = found.as_list()
    return TensorShape([*batch, merge_dim(size, rhs.as_list()[-2]), columns])


def _solve_kernel(c: KernelContext, matrix: np.ndarray, rhs: np.ndarray) -> np.ndarray:
    check_square(matrix)
    check_stacks(matrix, rhs)
    _require_number(matrix, _NO_SOLUTION)
    a = adjoint_array(matrix) if c.attr("adjoint") else matrix
    return lapack(_NO_SOLUTION, _solved, wide(a), wide(rhs)).astype(rhs.dtype)


def _triangular_kernel(c: KernelContext, matrix: np.ndarray, rhs: np.ndarray) -> np.ndarray:
    check_square(matrix)
    check_stacks(matrix, rhs)
    _require_number(matrix, _NO_SOLUTION)
    flags = (c.attr("lower"), 2 if c.attr("adjoint") else 0)
    return lapack(_NO_SOLUTION, _substitute, wide(matrix), wide(rhs), *flags).astype(rhs.dtype)


def _substitute(matrix: np.ndarray, rhs: np.ndarray, lower: bool, trans: int) -> np.ndarray:
    from scipy.linalg import lapack as routines

    solve = getattr(routines, PREFIX[matrix.dtype.char] + "trtrs")
    out = np.empty_like(rhs)
    for place in np.ndindex(matrix.shape[:-2]) if out.size else ():
        out[place], failure = solve(matrix[place], rhs[place], lower=lower, trans=trans)
        if failure:
            raise np.linalg.LinAlgError
    return out


def _solve_gradient(op: Operation, grad: Tensor) -> tuple[Any, Any]:
    a, c, adjoint_a = op.inputs[0], op.outputs[0], op.get_attr("adjoint")
    if op.type == "MatrixSolve":
        grad_b = matrix_solve(a, grad, adjoint=not adjoint_a)
    else:
        lower = op.get_attr("lower")
        grad_b = matrix_triangular_solve(a, grad, lower=lower, adjoint=not adjoint_a)
    # X = A^-1 B: dB = A^-H G and dA = -dB X^H; with the adjoint the product is the adjoint of this
    # one.
    left, right = (c, grad_b) if adjoint_a else (grad_b, c)
    grad_a = -tf.matmul(left, right, adjoint_b=True)
    if op.type == "MatrixTriangularSolve":
        # The other triangle is never read.
        band = (-1, 0) if op.get_attr("lower") else (0, -1)
        grad_a = tf.matrix_band_part(grad_a, *band)
    return grad_a, grad_b


def _system() -> dict[Any, Any]:
    return {"values": [[_square(), np.array([[[1.0], [2.0]]])]]}


matrix_solve = define(
    "MatrixSolve",
    "matrix: T, rhs: T -> output: T",
    f"adjoint: bool = False; {TYPES}",
    shape=_system_shape,
    kernel=_solve_kernel,
    lower=solve_lower.system(_NO_SOLUTION),
    gradient=_solve_gradient,
    test=lambda: {**_system(), "attrs": [{"adjoint": False}, {"adjoint": True}]},
    doc="The solutions of square systems of linear equations.",
)
export("linalg.solve", "matrix_solve")(matrix_solve)
matrix_triangular_solve = define(
    "MatrixTriangularSolve",
    "matrix: T, rhs: T -> output: T",
    f"lower: bool = True; adjoint: bool = False; {TYPES}",
    shape=_system_shape,
    kernel=_triangular_kernel,
    lower=solve_lower.triangular(_NO_SOLUTION),
    gradient=_solve_gradient,
    test=lambda: {**_system(), "attrs": [{"lower": True}, {"lower": False, "adjoint": True}]},
    doc="The solutions of triangular systems, by substitution.",
)
export("linalg.triangular_solve", "matrix_triangular_solve")(matrix_triangular_solve)


@export("linalg.adjoint")
@dispatched
def adjoint(matrix: TensorLike, name: str | None = None) -> Tensor:
    """The conjugate transpose of each matrix."""
    with name_scope(name, "adjoint", [matrix]):
        matrix = convert_to_tensor(matrix, name="matrix")
        return tf.matrix_transpose(matrix, conjugate=True)


@export("linalg.logdet")
@dispatched
def logdet(matrix: TensorLike, name: str | None = None) -> Any:
    """The logarithm of the determinant of positive definite matrices."""
    with name_scope(name, "logdet", [matrix]):
        diagonal = tf.matrix_diag_part(cholesky(matrix))
        # det(A) = det(L)^2, the square of the product of the diagonal.
        return 2.0 * tf.reduce_sum(tf.log(tf.real(diagonal)), axis=[-1])
