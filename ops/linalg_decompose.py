# SPDX-License-Identifier: Apache-2.0
"""Decompositions of stacks of matrices: QR, SVD, eigenvalues, LU, roots and logarithms; norms."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine import dtypes, errors
from ..engine.api import export
from ..engine.build import define
from ..engine.convert import convert_to_tensor
from ..engine.deprecation import deprecated_argument_lookup
from ..engine.registry import NoGradient
from ..engine.scope_functions import control_dependencies, name_scope
from ..engine.shape import TensorShape
from ..engine.tensor import Tensor
from .array_rules import ranked_at_least
from .linalg_solve import (
    TYPES,
    adjoint,
    batch_of,
    check_square,
    lapack,
    matrix_triangular_solve,
    square,
    wide,
)
from .public import tf

_NONE = NoGradient("TensorFlow registers none", silent=False)
_TALL = {"values": [[np.array([[2.0, 0.5], [0.25, 1.5], [1.0, -1.0]])]], "rtol": 1e-3}


def _stacked(shape: TensorShape, *tail: int | None) -> TensorShape:
    batch = batch_of(shape)
    return TensorShape(None if batch.ndims is None else [*batch.as_list(), *tail])


def _sizes(shape: TensorShape) -> tuple[int | None, int | None, int | None]:
    """Rows, columns and the smaller of the two."""
    dims = ranked_at_least(shape, 2) or [None, None]
    rows, columns = dims[-2:]
    if 0 in (rows, columns):
        return rows, columns, 0
    return rows, columns, None if rows is None or columns is None else min(rows, columns)


# --- QR ---------------------------------------------------------------------------------------


def _qr_shape(c: Any) -> list[TensorShape]:
    x = c.inputs[0]
    rows, columns, small = _sizes(x)
    inner = rows if c.attr("full_matrices") else small
    return [_stacked(x, rows, inner), _stacked(x, inner, columns)]


def _qr_kernel(c: Any, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    q, r = np.linalg.qr(wide(x), mode="complete" if c.attr("full_matrices") else "reduced")
    return q.astype(x.dtype), r.astype(x.dtype)


def _qr_gradient(op: Any, grad_q: Any, grad_r: Any) -> Any:
    q, r = op.outputs
    if q.dtype.is_complex:
        raise NotImplementedError(f"QrGrad not implemented for dtype: {q.dtype}")
    if r.shape.ndims is None or None in r.shape.as_list()[-2:]:
        raise NotImplementedError("QrGrad not implemented with dynamic shapes.")
    if r.shape.as_list()[-2] != r.shape.as_list()[-1]:
        raise NotImplementedError(
            "QrGrad not implemented when ncols > nrows or full_matrices is true and ncols != nrows."
        )

    def solve(x: Any, r: Any) -> Any:
        return adjoint(matrix_triangular_solve(r, adjoint(x), lower=False, adjoint=False))

    qdq = tf.matmul(q, grad_q, adjoint_a=True)
    skew_q = qdq - adjoint(qdq)
    rdr = tf.matmul(r, grad_r, adjoint_b=True)
    skew_r = rdr - adjoint(rdr)
    lower = tf.matrix_band_part(skew_q + skew_r, -1, 0)
    grad_a = tf.matmul(q, grad_r + solve(lower, r))
    return grad_a + solve(grad_q - tf.matmul(q, qdq), r)


qr = define(
    "Qr",
    "input: T -> q: T, r: T",
    f"full_matrices: bool = False; {TYPES}",
    shape=_qr_shape,
    kernel=_qr_kernel,
    gradient=_qr_gradient,
    test=_TALL,
)
export("linalg.qr", "qr")(qr)


# --- singular values --------------------------------------------------------------------------


def _svd_shape(c: Any) -> list[TensorShape]:
    x = c.inputs[0]
    rows, columns, small = _sizes(x)
    if not c.attr("compute_uv"):
        return [_stacked(x, small), TensorShape([0]), TensorShape([0])]
    full = c.attr("full_matrices")
    u = _stacked(x, rows, rows if full else small)
    return [_stacked(x, small), u, _stacked(x, columns, columns if full else small)]


def _svd_kernel(c: Any, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    if not c.attr("compute_uv"):
        nothing = np.zeros(0, x.dtype)
        return np.linalg.svd(wide(x), compute_uv=False).astype(x.dtype), nothing, nothing
    u, s, v = np.linalg.svd(wide(x), full_matrices=c.attr("full_matrices"))
    return s.astype(x.dtype), u.astype(x.dtype), np.conj(np.swapaxes(v, -1, -2)).astype(x.dtype)


def _svd_gradient(op: Any, grad_s: Any, grad_u: Any, grad_v: Any) -> Any:
    a = op.inputs[0]
    diagonal = tf.matrix_diag(grad_s)
    if not op.get_attr("compute_uv"):
        _, u, v = svd(a, compute_uv=True)
        grad_a = tf.matmul(u, tf.matmul(diagonal, v, adjoint_b=True))
        grad_a.set_shape(a.get_shape())
        return grad_a
    if a.dtype.is_complex:
        raise NotImplementedError(
            "SVD gradient is not implemented for complex types and compute_uv=True."
        )
    rows, columns, _ = _sizes(a.get_shape())
    if rows is None or columns is None:
        raise NotImplementedError(
            "SVD gradient has not been implemented for input with unknown inner matrix shape."
        )
    s, u, v = op.outputs
    if rows <= columns:
        result = _wide_svd_gradient(op, (s, u, v), (grad_s, grad_u, grad_v), (rows, columns))
    else:
        with control_dependencies([grad_s, grad_u, grad_v]):
            grads = (grad_s, grad_v, grad_u)
            result = _wide_svd_gradient(op, (s, v, u), grads, (columns, rows))
            result = tf.matrix_transpose(result)
    result.set_shape(a.get_shape())
    return result


def _wide_svd_gradient(op: Any, outputs: Any, grads: Any, sizes: tuple[int, int]) -> Any:
    """For matrices with no more rows than columns."""
    (s, u, v), (grad_s, grad_u, grad_v), (m, n) = outputs, grads, sizes
    full = op.get_attr("full_matrices")
    if full and abs(m - n) > 1:
        raise NotImplementedError(
            "svd gradient is not implemented for abs(m - n) > 1 when full_matrices is True"
        )
    with control_dependencies(list(grads)):
        s_matrix, squares, shape = tf.matrix_diag(s), tf.square(s), tf.shape(s)
        identity = tf.eye(shape[-1], batch_shape=shape[:-1], dtype=s.dtype)
        gaps = tf.expand_dims(squares, -2) - tf.expand_dims(squares, -1) + identity
        f = tf.matrix_set_diag(tf.reciprocal(gaps), tf.zeros_like(s))
        inverse = tf.matrix_diag(tf.reciprocal(s))
        v1, grad_v1 = v[..., :, :m], grad_v[..., :, :m]
        f_u = f * tf.matmul(u, grad_u, adjoint_a=True)
        f_v = f * tf.matmul(v1, grad_v1, adjoint_a=True)
        inner = (
            tf.matrix_diag(grad_s)
            + tf.matmul(f_u + adjoint(f_u), s_matrix)
            + tf.matmul(s_matrix, f_v + adjoint(f_v))
        )
        term = tf.matmul(u, tf.matmul(inner, v1, adjoint_b=True))
        if m == n:
            return term
        grad_v1_t = tf.matrix_transpose(grad_v1)
        rest = grad_v1_t - tf.matmul(tf.matmul(grad_v1_t, v1), v1, adjoint_b=True)
        if full:
            v2, grad_v2 = v[..., :, m:n], grad_v[..., :, m:n]
            rest -= tf.matmul(tf.matmul(v1, grad_v2, adjoint_a=True), v2, adjoint_b=True)
        return term + tf.matmul(tf.matmul(u, inverse), rest)


raw_svd = define(
    "Svd",
    "input: T -> s: T, u: T, v: T",
    f"compute_uv: bool = True; full_matrices: bool = False; {TYPES}",
    shape=_svd_shape,
    kernel=_svd_kernel,
    gradient=_svd_gradient,
    test=_TALL,
)


@export("linalg.svd", "svd")
def svd(
    tensor: Any, full_matrices: bool = False, compute_uv: bool = True, name: str | None = None
) -> Any:
    """Singular values s and vectors u, v with tensor = u diag(s) v^H; s alone without compute_uv."""
    s, u, v = raw_svd(tensor, compute_uv=compute_uv, full_matrices=full_matrices, name=name)
    return (tf.real(s), u, v) if compute_uv else tf.real(s)


# --- eigenvalues ------------------------------------------------------------------------------


def _eigen_shape(c: Any) -> list[TensorShape]:
    x = square(c.inputs[0])
    values = _stacked(x, None if x.ndims is None else x.as_list()[-1])
    return [values, x if c.attr("compute_v") else TensorShape([0])]


def _eigen_kernel(c: Any, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    check_square(x)
    text = "Self-adjoint eigen decomposition was not successful. The input might not be valid."
    if not c.attr("compute_v"):
        values = lapack(text, np.linalg.eigvalsh, wide(x))
        return values.astype(x.dtype), np.zeros(0, x.dtype)
    values, vectors = lapack(text, np.linalg.eigh, wide(x))
    return values.astype(x.dtype), vectors.astype(x.dtype)


def _eigen_gradient(op: Any, grad_e: Any, grad_v: Any) -> Any:
    e = op.outputs[0]
    with control_dependencies([grad_e, grad_v]):
        if op.get_attr("compute_v"):
            v = op.outputs[1]
            gaps = tf.expand_dims(e, -2) - tf.expand_dims(e, -1)
            f = tf.matrix_set_diag(tf.reciprocal(gaps), tf.zeros_like(e))
            inner = tf.matrix_diag(grad_e) + f * tf.matmul(v, grad_v, adjoint_a=True)
        else:
            _, v = self_adjoint_eig(op.inputs[0])
            inner = tf.matrix_diag(grad_e)
        grad_a = tf.matmul(v, tf.matmul(inner, v, adjoint_b=True))
        # Only the lower triangle of the input is read.
        grad_a = tf.matrix_band_part(grad_a + adjoint(grad_a), -1, 0)
        return tf.matrix_set_diag(grad_a, 0.5 * tf.matrix_diag_part(grad_a))


raw_self_adjoint_eig = define(
    "SelfAdjointEigV2",
    "input: T -> e: T, v: T",
    f"compute_v: bool = True; {TYPES}",
    shape=_eigen_shape,
    kernel=_eigen_kernel,
    gradient=_eigen_gradient,
    test={"values": [[np.array([[2.0, 0.5], [0.5, 1.0]])]], "rtol": 1e-3},
)


@export("linalg.eigh", "self_adjoint_eig")
def self_adjoint_eig(tensor: Any, name: str | None = None) -> tuple[Any, Any]:
    """Eigenvalues, ascending, and eigenvectors of self-adjoint matrices."""
    e, v = raw_self_adjoint_eig(tensor, compute_v=True, name=name)
    return e, v


@export("linalg.eigvalsh", "self_adjoint_eigvals")
def self_adjoint_eigvals(tensor: Any, name: str | None = None) -> Any:
    """Eigenvalues of self-adjoint matrices, ascending."""
    return raw_self_adjoint_eig(tensor, compute_v=False, name=name)[0]


# --- LU, roots, logarithms --------------------------------------------------------------------


def _lu_shape(c: Any) -> list[TensorShape]:
    x = square(c.inputs[0])
    return [x, _stacked(x, None if x.ndims is None else x.as_list()[-1])]


def _each(function: Any, x: np.ndarray) -> list[Any]:
    return [function(matrix) for matrix in wide(x).reshape(-1, *x.shape[-2:])]


def _lu_kernel(c: Any, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    from scipy.linalg import lu

    check_square(x)
    factors, orders = np.empty(x.shape, x.dtype), np.empty(x.shape[:-1], c.out_dtype(1))
    rows = orders.reshape(-1, x.shape[-1])
    target = factors.reshape(-1, *x.shape[-2:])
    for i, (p, low, up) in enumerate(_each(lambda a: lu(a, p_indices=True), x)):
        if not np.all(np.diagonal(up)):
            raise errors.InvalidArgumentError(None, None, "Input is not invertible.")
        target[i], rows[i] = np.tril(low, -1) + up, np.argsort(p)
    return factors, orders


lu = define(
    "Lu",
    "input: T -> lu: T, p: output_idx_type",
    f"{TYPES}; output_idx_type: {{int32, int64}} = int32",
    shape=_lu_shape,
    kernel=_lu_kernel,
    gradient=_NONE,
    test={"values": [[np.array([[2.0, 0.5], [0.25, 1.5]])]]},
)
export("linalg.lu")(lu)


def _matrix_function(op_type: str, scipy_name: str, types: str, *public: str) -> Any:
    def kernel(c: Any, x: np.ndarray) -> np.ndarray:
        import scipy.linalg

        check_square(x)
        if not x.size:
            return x
        results = _each(getattr(scipy.linalg, scipy_name), x)
        return np.stack(results).reshape(x.shape).astype(x.dtype)

    op = define(
        op_type,
        "input: T -> output: T",
        types,
        shape=lambda c: square(c.inputs[0]),
        kernel=kernel,
        gradient=_NONE,
        test={"values": [[np.array([[2.0, 0.5], [0.5, 1.0]], np.complex64)]]},
    )
    return export(*public)(op)


matrix_square_root = _matrix_function(
    "MatrixSquareRoot", "sqrtm", TYPES, "linalg.sqrtm", "matrix_square_root"
)
matrix_logarithm = _matrix_function(
    "MatrixLogarithm", "logm", "T: {complex64, complex128}", "linalg.logm"
)


# --- identity and norms -----------------------------------------------------------------------


@export("eye", "linalg.eye")
def eye(
    num_rows: Any,
    num_columns: Any = None,
    batch_shape: Any = None,
    dtype: Any = dtypes.float32,
    name: str | None = None,
) -> Any:
    """Identity matrices."""
    with name_scope(name, default_name="eye", values=[num_rows, num_columns, batch_shape]):
        is_square = num_columns is None
        batch_shape = [] if batch_shape is None else batch_shape
        num_columns = num_rows if num_columns is None else num_columns
        if isinstance(num_rows, Tensor) or isinstance(num_columns, Tensor):
            size = tf.minimum(num_rows, num_columns)
        else:
            if not all(isinstance(n, (int, np.integer)) for n in (num_rows, num_columns)):
                raise TypeError("num_rows and num_columns must be positive integer values.")
            is_square = num_rows == num_columns
            size = min(num_rows, num_columns)
        if isinstance(batch_shape, Tensor) or isinstance(size, Tensor):
            batch_shape = convert_to_tensor(batch_shape, name="shape", dtype=dtypes.int32)
            diagonal_shape = tf.concat((batch_shape, [size]), axis=0)
            if not is_square:
                shape = tf.concat((batch_shape, [num_rows, num_columns]), axis=0)
        else:
            diagonal_shape = [*batch_shape, size]
            shape = [*batch_shape, num_rows, num_columns]
        ones = tf.ones(diagonal_shape, dtype=dtype)
        if is_square:
            return tf.matrix_diag(ones)
        return tf.matrix_set_diag(tf.zeros(shape, dtype=dtype), ones)


def _check_norm(ord: Any, axis: Any, is_matrix: bool) -> None:
    if is_matrix:
        if not all(isinstance(a, int) for a in axis) or axis[0] == axis[1]:
            raise ValueError("'axis' must be None, an integer, or a tuple of 2 unique integers")
        supported = ["euclidean", "fro", 1, 2, np.inf]
        if ord not in supported:
            raise ValueError(f"'ord' must be a supported matrix norm in {supported}, got {ord}")
        return
    if not (isinstance(axis, int) or axis is None):
        raise ValueError("'axis' must be None, an integer, or a tuple of 2 unique integers")
    if ord not in ("euclidean", 1, 2, np.inf) and (not np.isreal(ord) or ord <= 0):
        raise ValueError(f"'ord' must be a supported vector norm, got {ord}")


def _spectral_norm(tensor: Any, axis: tuple[int, int]) -> Any:
    """The largest singular value over two axes, which stay as ones."""
    rank = tensor.shape.ndims
    if rank is None:
        raise ValueError("the spectral norm needs a tensor of known rank")
    chosen = [a % rank for a in axis]
    perm = [i for i in range(rank) if i not in chosen] + chosen
    values = tf.abs(raw_svd(tf.transpose(tensor, perm=perm), compute_uv=False)[0])
    largest = tf.expand_dims(tf.reduce_max(values, axis=-1, keepdims=True), axis=-1)
    return tf.transpose(largest, perm=[perm.index(i) for i in range(rank)])


def _abs_norm(tensor: Any, ord: Any, axis: Any, is_matrix: bool) -> Any:
    result = tf.abs(tensor)
    first = None if axis is None else axis[0]
    if ord == 1:
        result = tf.reduce_sum(result, first, keepdims=True)
        return tf.reduce_max(result, axis[-1], keepdims=True) if is_matrix else result
    if ord == np.inf:
        if is_matrix:
            result = tf.reduce_sum(result, axis[1], keepdims=True)
        return tf.reduce_max(result, first, keepdims=True)
    total = tf.reduce_sum(tf.pow(result, ord), axis, keepdims=True)
    return tf.pow(total, 1.0 / ord)


@export("norm", "linalg.norm")
def norm(
    tensor: Any,
    ord: Any = "euclidean",
    axis: Any = None,
    keepdims: Any = None,
    name: str | None = None,
    keep_dims: Any = None,
) -> Any:
    """The norm of vectors (axis an integer), matrices (two integers) or all elements (None)."""
    keepdims = deprecated_argument_lookup("keepdims", keepdims, "keep_dims", keep_dims)
    is_matrix = isinstance(axis, (tuple, list)) and len(axis) == 2
    axis = tuple(axis) if is_matrix else axis
    _check_norm(ord, axis, is_matrix)
    axis = (axis,) if not is_matrix and axis is not None else axis
    with name_scope(name, "norm", [tensor]):
        tensor = convert_to_tensor(tensor)
        if is_matrix and ord == 2:
            result = _spectral_norm(tensor, axis)
        elif ord in ("fro", "euclidean", 2):
            result = tf.sqrt(tf.reduce_sum(tensor * tf.conj(tensor), axis, keepdims=True))
        else:
            result = _abs_norm(tensor, ord, axis, is_matrix)
        return result if keepdims else tf.squeeze(result, axis)
