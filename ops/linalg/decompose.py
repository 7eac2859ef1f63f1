# SPDX-License-Identifier: Apache-2.0
"""Decompositions of stacks of matrices: QR, singular values, eigenvalues; rank, inverse."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine.api import export
from ...engine.graph.build import define
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.registry import NoGradient
from ...engine.graph.scope_functions import control_dependencies, name_scope
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape
from ..public import raw, tf
from ..shape_inference import ranked_at_least
from . import solve_lower
from .eigen_reference import eigenvectors
from .solve import (
    TYPES,
    adjoint,
    batch_of,
    check_square,
    lapack,
    matrix_triangular_solve,
    square,
    wide,
)

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor

_NONE = NoGradient("TensorFlow registers none", silent=False)


def _tall() -> dict[Any, Any]:
    return {"values": [[np.array([[2.0, 0.5], [0.25, 1.5], [1.0, -1.0]])]], "rtol": 1e-3}


def stacked(shape: TensorShape, *tail: int | None) -> TensorShape:
    """The shape of a stack of what `tail` says, as deep as the stack of `shape`."""
    batch = batch_of(shape)
    return TensorShape(None if batch.ndims is None else [*batch.as_list(), *tail])


def _sizes(shape: TensorShape) -> tuple[int | None, int | None, int | None]:
    """Rows, columns and the smaller of the two."""
    dims = ranked_at_least(shape, 2) or [None, None]
    rows, columns = dims[-2:]
    if 0 in (rows, columns):
        return rows, columns, 0
    return rows, columns, None if rows is None or columns is None else min(rows, columns)


# QR


def _qr_shape(c: ShapeContext) -> list[TensorShape]:
    x = c.inputs[0]
    rows, columns, small = _sizes(x)
    inner = rows if c.attr("full_matrices") else small
    return [stacked(x, rows, inner), stacked(x, inner, columns)]


def _qr_kernel(c: KernelContext, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    q, r = np.linalg.qr(wide(x), mode="complete" if c.attr("full_matrices") else "reduced")
    return q.astype(x.dtype), r.astype(x.dtype)


def _qr_gradient(op: Operation, grad_q: Tensor, grad_r: Tensor) -> Any:
    q, r = op.outputs
    if q.dtype.is_complex:
        raise NotImplementedError(f"QrGrad not implemented for dtype: {q.dtype}")
    if r.shape.ndims is None or None in r.shape.as_list()[-2:]:
        raise NotImplementedError("QrGrad not implemented with dynamic shapes.")
    if r.shape.as_list()[-2] != r.shape.as_list()[-1]:
        raise NotImplementedError(
            "QrGrad not implemented when ncols > nrows or full_matrices is true and ncols != nrows."
        )

    def solve(x: Tensor, r: Tensor) -> Tensor:
        return adjoint(matrix_triangular_solve(r, adjoint(x), lower=False, adjoint=False))

    qdq = tf.matmul(q, grad_q, adjoint_a=True)
    # Orthonormal columns leave only skew parts of Q^T dQ free, and what multiplies R on the right
    # is undone by a triangular solve.
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
    lower=solve_lower.qr,
    gradient=_qr_gradient,
    test=lambda: _tall(),
    doc="The factors of a QR decomposition: orthonormal columns and an upper triangle.",
)
export("linalg.qr", "qr")(qr)


# Singular values


def _svd_shape(c: ShapeContext) -> list[TensorShape]:
    x = c.inputs[0]
    rows, columns, small = _sizes(x)
    if not c.attr("compute_uv"):
        return [stacked(x, small), TensorShape([0]), TensorShape([0])]
    full = c.attr("full_matrices")
    u = stacked(x, rows, rows if full else small)
    return [stacked(x, small), u, stacked(x, columns, columns if full else small)]


def _svd_kernel(c: KernelContext, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    if not c.attr("compute_uv"):
        nothing = np.zeros(0, x.dtype)
        return np.linalg.svd(wide(x), compute_uv=False).astype(x.dtype), nothing, nothing
    u, s, v = np.linalg.svd(wide(x), full_matrices=c.attr("full_matrices"))
    return s.astype(x.dtype), u.astype(x.dtype), np.conj(np.swapaxes(v, -1, -2)).astype(x.dtype)


def _svd_gradient(op: Operation, grad_s: Tensor, grad_u: Tensor, grad_v: Tensor) -> Any:
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
        grads = (diagonal, grad_s, grad_u, grad_v)
        result = _wide_svd_gradient(op, (s, u, v), grads, (rows, columns))
    else:
        with control_dependencies([grad_s, grad_u, grad_v]):
            # The transpose of a tall matrix is wide, with u and v exchanged.
            grads = (diagonal, grad_s, grad_v, grad_u)
            result = _wide_svd_gradient(op, (s, v, u), grads, (columns, rows))
            result = tf.matrix_transpose(result)
    result.set_shape(a.get_shape())
    return result


def _wide_svd_gradient(
    op: Operation, outputs: Sequence[Tensor], grads: Sequence[Tensor], sizes: tuple[int, int]
) -> Any:
    """For matrices with no more rows than columns."""
    (s, u, v), (diagonal, grad_s, grad_u, grad_v), (m, n) = outputs, grads, sizes
    full = op.get_attr("full_matrices")
    if full and abs(m - n) > 1:
        raise NotImplementedError(
            "svd gradient is not implemented for abs(m - n) > 1 when full_matrices is True"
        )
    with control_dependencies([grad_s, grad_u, grad_v]):
        s_matrix, squares, shape = tf.matrix_diag(s), tf.square(s), tf.shape(s)
        identity = tf.eye(shape[-1], batch_shape=shape[:-1], dtype=s.dtype)
        # f_ij = 1 / (s_j^2 - s_i^2), zero on the diagonal, where the identity keeps the reciprocal
        # finite.  M. Giles, "An extended collection of matrix derivative results" (2008); for thin
        # factors J. Townsend, "Differentiating the singular value decomposition" (2016).
        gaps = tf.expand_dims(squares, -2) - tf.expand_dims(squares, -1) + identity
        f = tf.matrix_set_diag(tf.reciprocal(gaps), tf.zeros_like(s))
        inverse = tf.matrix_diag(tf.reciprocal(s))
        v1, grad_v1 = v[..., :, :m], grad_v[..., :, :m]
        from_u = tf.matmul(u, grad_u, adjoint_a=True)
        from_v = tf.matmul(v1, grad_v1, adjoint_a=True)
        f_u, f_v = f * from_u, f * from_v
        inner = (
            diagonal
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
    test=lambda: _tall(),
    doc="Singular values, largest first, with the vectors of both sides on demand.",
)


@export("linalg.svd", "svd")
def svd(
    tensor: TensorLike,
    full_matrices: bool = False,
    compute_uv: bool = True,
    name: str | None = None,
) -> Any:
    """Singular values s and vectors u, v: tensor = u diag(s) v^H; s alone without compute_uv."""
    s, u, v = raw_svd(tensor, compute_uv=compute_uv, full_matrices=full_matrices, name=name)
    return (tf.real(s), u, v) if compute_uv else tf.real(s)


# Eigenvalues

_NO_VALUES = "Self-adjoint eigen decomposition was not successful. The input might not be valid."


def _eigen_shape(c: ShapeContext) -> list[TensorShape]:
    x = square(c.inputs[0])
    values = stacked(x, None if x.ndims is None else x.as_list()[-1])
    return [values, x if c.attr("compute_v") else TensorShape([0])]


def _eigen_kernel(c: KernelContext, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    check_square(x)
    values, vectors = lapack(_NO_VALUES, eigenvectors, wide(x))
    if not c.attr("compute_v"):
        vectors = np.zeros(0)
    return values.astype(x.dtype), vectors.astype(x.dtype)


def _eigen_gradient(op: Operation, grad_e: Tensor, grad_v: Tensor) -> Tensor:
    e = op.outputs[0]
    with control_dependencies([grad_e, grad_v]):
        if op.get_attr("compute_v"):
            v = op.outputs[1]
            # f_ij = 1 / (e_j - e_i): infinite where eigenvalues are equal, whose vectors are not
            # determined.
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
    lower=solve_lower.eigen(_NO_VALUES),
    gradient=_eigen_gradient,
    test=lambda: {"values": [[np.array([[2.0, 0.5], [0.5, 1.0]])]], "rtol": 1e-3},
    doc="Eigenvalues of self-adjoint matrices, smallest first, with vectors on demand.",
)


@export("linalg.eigh", "self_adjoint_eig")
def self_adjoint_eig(tensor: TensorLike, name: str | None = None) -> tuple[Any, Any]:
    """Eigenvalues, ascending, and eigenvectors of self-adjoint matrices."""
    e, v = raw_self_adjoint_eig(tensor, compute_v=True, name=name)
    return e, v


@export("linalg.eigvalsh", "self_adjoint_eigvals")
def self_adjoint_eigvals(tensor: TensorLike, name: str | None = None) -> Any:
    """Eigenvalues of self-adjoint matrices, ascending."""
    return raw_self_adjoint_eig(tensor, compute_v=False, name=name)[0]


# Rank and pseudo-inverse


def _matrices(a: Tensor, validate_args: bool) -> Tensor:
    """The tensor, checked to be floating and of rank two at least."""
    if not a.dtype.is_floating:
        raise TypeError(f"Input `a` must have `float`-like `dtype` (saw {a.dtype.name}).")
    if a.shape.ndims is None:
        if not validate_args:
            return a
        text = "Input `a` must have at least 2 dimensions."
        with control_dependencies([tf.assert_rank_at_least(a, rank=2, message=text)]):
            return tf.identity(a)
    if a.shape.ndims < 2:
        raise ValueError(f"Input `a` must have at least 2 dimensions (saw: {a.shape.ndims}).")
    return a


@export("linalg.matrix_rank")
def matrix_rank(
    a: Any, tol: Any = None, validate_args: bool = False, name: str | None = None
) -> Any:
    """The number of singular values above a tolerance."""
    with name_scope(name or "matrix_rank"):
        a = _matrices(convert_to_tensor(a, dtype_hint=dtypes.float32, name="a"), validate_args)
        s = svd(a, compute_uv=False)
        if tol is None:
            if a.shape[-2:].is_fully_defined():
                longest = np.max(a.shape[-2:].as_list())
            else:
                longest = tf.reduce_max(tf.shape(a)[-2:])
            eps = np.finfo(a.dtype.as_numpy_dtype).eps
            # As NumPy's matrix_rank.
            tol = eps * tf.cast(longest, a.dtype) * tf.reduce_max(s, axis=-1, keepdims=True)
        return tf.reduce_sum(tf.cast(s > tol, dtypes.int32), axis=-1)


def _default_rcond(a: Tensor, dtype: Any) -> Any:
    sizes: list[Any] = [
        tf.shape(a)[i] if a.shape[i].value is None else a.shape[i].value for i in (-2, -1)
    ]
    if all(isinstance(size, int) for size in sizes):
        longest: Any = float(max(sizes))
    else:
        rows, columns = sizes
        longest = tf.cast(tf.maximum(rows, columns), dtype)
    return 10.0 * longest * np.finfo(dtype).eps


@export("linalg.pinv")
def pinv(
    a: Any,
    rcond: Any = None,
    validate_args: bool = False,
    name: str | None = None,
) -> Any:
    """The Moore-Penrose inverse; singular values below rcond times the largest count as zero."""
    with name_scope(name or "pinv"):
        a = _matrices(convert_to_tensor(a, name="a"), validate_args)
        dtype = a.dtype.as_numpy_dtype
        rcond = _default_rcond(a, dtype) if rcond is None else rcond
        rcond = convert_to_tensor(rcond, dtype=dtype, name="rcond")
        s, u, v = svd(a, full_matrices=False, compute_uv=True)
        cutoff = rcond * tf.reduce_max(s, axis=-1)
        # Division by infinity makes the inverse zero there.
        s = raw.SelectV2(s > tf.expand_dims(cutoff, -1), s, np.array(np.inf, dtype))
        inverse = tf.matmul(v / tf.expand_dims(s, -2), u, adjoint_b=True)
        if a.shape.ndims is not None:
            inverse.set_shape(a.shape[:-2].concatenate([a.shape[-1], a.shape[-2]]))
        return inverse
