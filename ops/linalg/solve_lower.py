# SPDX-License-Identifier: Apache-2.0
"""Compiled forms of inverses, determinants, factors and systems of equations."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...jit.kernel import scalar as k

if TYPE_CHECKING:
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView


def _wide(b: Builder, x: Value) -> Value:
    """Half precision is computed in single."""
    return b.cast(x, "float32") if x.dtype == "float16" else x


def _is_square(b: Builder, x: Value) -> bool:
    return x.ndim >= 2 and b.equal(x.shape[-1], x.shape[-2])


def _checked(b: Builder, made: tuple[Value, Value], dtype: str, message: str) -> Value:
    """A result without failures, in the dtype of the op."""
    result, failed = made
    _require_success(b, failed, message)
    return b.cast(result, dtype)


def _require_success(b: Builder, failed: Value, message: str) -> None:
    """InvalidArgumentError where a flag says that a matrix failed."""

    def problem(failed: np.ndarray) -> BaseException:
        del failed
        return errors.invalid(message)

    b.require_not(b.reduce("any", failed, None), problem, failed)


def _require_number(b: Builder, matrix: Value, message: str) -> None:
    """The same error where a matrix begins with NaN.

    TensorFlow asks whether the smallest pivot is above 0; of all pivots that are NaN only the first
    one makes that one NaN.
    """
    if b.equal(matrix.shape[-1], 0):
        return
    corner = b.slice(matrix, [0] * matrix.ndim, (*matrix.shape[:-2], 1, 1))
    for part in _parts(b, corner) if k.is_complex(matrix.dtype) else [corner]:
        _require_success(b, b.map(k.isnan, part), message)


# Complex systems are real ones of twice the size: A + iB acts on parts as [[A, -B], [B, A]] does,
# whose transpose is that of the adjoint.


def _parts(b: Builder, x: Value) -> list[Value]:
    """The real and the imaginary part."""
    return list(b.map(lambda z: (k.real(z), k.imag(z)), x))


def _of_parts(b: Builder, x: Value) -> Value:
    """Real matrices of twice the size for complex ones."""
    re, im = _parts(b, x)
    rows = [b.concat(pair, x.ndim - 1) for pair in ([re, b.map(k.neg, im)], [im, re])]
    return b.concat(rows, x.ndim - 2)


def _checked_columns(b: Builder, made: tuple[Value, Value], width: Any, message: str) -> Value:
    """Complex columns, whose imaginary parts lie below the real ones, without failures."""
    result, failed = made
    _require_success(b, failed, message)
    *lead, twice, _ = result.shape
    half, start = twice // 2, [0] * len(lead)
    parts = (b.slice(result, [*start, row, 0], (*lead, half, width)) for row in (0, half))
    return b.map(k.complex, *parts)  # type: ignore[no-any-return]


def cholesky(message: str) -> Callable[..., Any]:
    """Of Cholesky factors; message: what a failure says."""

    def lower(b: Builder, op: OpView, x: Value) -> Any:
        from ...jit.library import dense

        wide = _wide(b, x)
        if wide.dtype not in dense.DTYPES:
            return NotImplemented
        b.require(_is_square(b, x))
        return _checked(b, dense.cholesky(b, wide), x.dtype, message)

    return lower


def inverse(message: str) -> Callable[..., Any]:
    """Of inverses."""

    def lower(b: Builder, op: OpView, x: Value) -> Any:
        from ...jit.library import dense

        if k.is_complex(x.dtype):
            b.require(_is_square(b, x))
            _require_number(b, x, message)
            made = dense.inverse(b, _of_parts(b, x), op.attr("adjoint"))
            return _checked_columns(b, made, x.shape[-1], message)
        wide = _wide(b, x)
        if wide.dtype not in dense.DTYPES:
            return NotImplemented
        b.require(_is_square(b, x))
        _require_number(b, wide, message)
        return _checked(b, dense.inverse(b, wide, op.attr("adjoint")), x.dtype, message)

    return lower


def _fits(b: Builder, matrix: Value, rhs: Value) -> bool:
    """Is there a right side for each of the square matrices?"""
    if not _is_square(b, matrix) or rhs.ndim != matrix.ndim:
        return False
    return all(map(b.equal, matrix.shape[:-1], rhs.shape[:-1]))


def system(message: str) -> Callable[..., Any]:
    """Of square systems."""

    def lower(b: Builder, op: OpView, matrix: Value, rhs: Value) -> Any:
        from ...jit.library import dense

        if k.is_complex(matrix.dtype):
            b.require(_fits(b, matrix, rhs))
            _require_number(b, matrix, message)
            column = b.concat(_parts(b, rhs), rhs.ndim - 2)
            made = dense.solved(b, _of_parts(b, matrix), column, op.attr("adjoint"))
            return _checked_columns(b, made, rhs.shape[-1], message)
        left, right = _wide(b, matrix), _wide(b, rhs)
        if left.dtype not in dense.DTYPES:
            return NotImplemented
        b.require(_fits(b, matrix, rhs))
        _require_number(b, left, message)
        return _checked(b, dense.solved(b, left, right, op.attr("adjoint")), rhs.dtype, message)

    return lower


def triangular(message: str) -> Callable[..., Any]:
    """Of triangular systems."""

    def lower(b: Builder, op: OpView, matrix: Value, rhs: Value) -> Any:
        from ...jit.library import dense

        left, right = _wide(b, matrix), _wide(b, rhs)
        if left.dtype not in dense.DTYPES:
            return NotImplemented
        b.require(_fits(b, matrix, rhs))
        _require_number(b, left, message)
        made = dense.substituted(b, left, right, op.attr("lower"), op.attr("adjoint"))
        return _checked(b, made, rhs.dtype, message)

    return lower


def determinant(b: Builder, op: OpView, x: Value) -> Any:
    """Of determinants: the product of the pivots."""
    from ...jit.library import dense

    wide = _wide(b, x)
    if wide.dtype not in dense.DTYPES:
        return NotImplemented
    b.require(_is_square(b, x))
    diagonal, sign = dense.pivots(b, wide)
    product = b.map(k.mul, b.reduce("prod", diagonal, [-1]), sign)
    return b.cast(b.map(settled, product, _logarithms(b, diagonal)), x.dtype)


def _logarithms(b: Builder, diagonal: Value) -> Value:
    return b.reduce("sum", b.map(lambda d: k.log(k.abs(d)), diagonal), [-1])


def settled(determinant: Any, log: Any) -> Any:
    """A determinant, which is 0 or no number where its logarithm is none: a scalar body."""
    beyond = k.select(k.gt(log, 0.0), k.cast(np.nan, log.dtype), k.cast(0, log.dtype))
    return k.select(_is_finite(log), determinant, beyond)


def settled_log(sign: Any, log: Any) -> tuple[Any, Any]:
    """The sign 0, and an infinity for the logarithm, where that is no number: a scalar body."""
    is_finite, inf = _is_finite(log), k.cast(np.inf, log.dtype)
    infinite = k.select(k.gt(log, 0.0), inf, k.neg(inf))
    return k.select(is_finite, sign, k.cast(0, log.dtype)), k.select(is_finite, log, infinite)


def _is_finite(x: Any) -> Any:
    return k.lt(k.abs(x), np.inf)


def log_determinant(b: Builder, op: OpView, x: Value) -> Any:
    """Of the sign and the logarithm of determinants."""
    from ...jit.library import dense

    wide = _wide(b, x)
    if wide.dtype not in dense.DTYPES:
        return NotImplemented
    b.require(_is_square(b, x))
    diagonal, sign = dense.pivots(b, wide)
    signs = b.reduce("prod", b.map(k.sign, diagonal), [-1])
    signs, logs = b.map(settled_log, b.map(k.mul, signs, sign), _logarithms(b, diagonal))
    return b.cast(signs, x.dtype), b.cast(logs, x.dtype)


def lu(message: str) -> Callable[..., Any]:
    """Of triangular factors; message: what a failure says."""

    def lower(b: Builder, op: OpView, x: Value) -> Any:
        from ...jit.library import dense

        wide = _wide(b, x)
        if wide.dtype not in dense.DTYPES:
            return NotImplemented
        b.require(_is_square(b, x))
        _require_number(b, x, message)
        factors, order, failed = dense.lu(b, wide, op.dtype(1))
        _require_success(b, failed, message)
        return b.cast(factors, x.dtype), order

    return lower


def qr(b: Builder, op: OpView, x: Value) -> Any:
    """Of orthonormal columns and triangles."""
    from ...jit.library import orthogonal

    wide = _wide(b, x)
    if wide.dtype not in orthogonal.DTYPES or x.ndim < 2:
        return NotImplemented
    q, r = orthogonal.qr(b, wide, op.attr("full_matrices"))
    return b.cast(q, x.dtype), b.cast(r, x.dtype)


def eigen(message: str) -> Callable[..., Any]:
    """Of eigenvalues and eigenvectors; message: what a failure says."""

    def lower(b: Builder, op: OpView, x: Value) -> Any:
        from ...jit.library import orthogonal

        wide = _wide(b, x)
        if wide.dtype not in orthogonal.DTYPES:
            return NotImplemented
        b.require(_is_square(b, x))
        values, vectors, failed = orthogonal.eigen(b, wide, op.attr("compute_v"))
        _require_success(b, failed, message)
        return b.cast(values, x.dtype), b.cast(vectors, x.dtype)

    return lower
