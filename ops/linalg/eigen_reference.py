# SPDX-License-Identifier: Apache-2.0
"""Eigenvalues and eigenvectors of self-adjoint matrices, step by step.

LAPACK's routines give vectors of other signs than TensorFlow's, which reflects a matrix until it is
tridiagonal and turns that by the implicit QR algorithm; so does this for real numbers (Golub and
Van Loan, "Matrix Computations", 8.3).  jit/library/orthogonal_kernels.py has the same for machines.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

# Turns for each eigenvalue before it counts as not to be found.
_MOST_TURNS = 30


def eigenvectors(stack: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues, ascending, and eigenvectors, in columns; LinAlgError where there are none.

    stack: (..., n, n) of floats or complex numbers, of which the lower triangles are read.
    """
    if stack.dtype.kind == "c":
        values, vectors = np.linalg.eigh(stack)
        return np.asarray(values), np.asarray(vectors)
    values, vectors = np.empty(stack.shape[:-1], stack.dtype), np.empty_like(stack)
    for place in np.ndindex(stack.shape[:-2]):
        values[place], vectors[place] = _of_matrix(stack[place])
    return values, vectors


def _of_matrix(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    lower = np.tril(x)
    scale = np.abs(lower).max(initial=0)
    if not np.isfinite(scale):
        raise np.linalg.LinAlgError("it has numbers that are not finite")
    a = (lower + np.tril(x, -1).T) / (scale or x.dtype.type(1))
    along, beside, rows = _tridiagonal(a)
    _make_diagonal(along, beside, rows)
    # As often as a least one is found it changes places with what is there.
    for i in range(len(along)):
        least = i + int(np.argmin(along[i:]))
        along[[i, least]], rows[[i, least]] = along[[least, i]], rows[[least, i]]
    return along * (scale or 1), rows.T


def _reflector(x: np.ndarray) -> tuple[np.ndarray, Any, Any]:
    """v with v[0] = 1, t so that (I - t v v') x is zero behind its first element, and that."""
    square = x[1:] @ x[1:]
    if square <= np.finfo(x.dtype).tiny:
        return np.eye(1, len(x), dtype=x.dtype)[0], x.dtype.type(0), x[0]
    length = np.sqrt(x[0] * x[0] + square)
    made = length if x[0] < 0 else -length
    v = x / (x[0] - made)
    v[0] = 1
    return v, (made - x[0]) / made, made


def _tridiagonal(a: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The diagonal, what is beside it, and the transpose of what reflects a matrix to them."""
    n = len(a)
    beside, reflections = np.zeros(max(n - 1, 0), a.dtype), []
    for i in range(n - 1):
        v, factor, beside[i] = _reflector(a[i, i + 1 :])
        reflections.append((v, factor))
        rest = a[i + 1 :, i + 1 :]
        p = factor * (rest @ v)
        p -= factor * (p @ v) / 2 * v
        rest -= np.outer(v, p) + np.outer(p, v)
    q = np.eye(n, dtype=a.dtype)
    for i in reversed(range(n - 1)):
        v, factor = reflections[i]
        block = q[i + 1 :, i + 1 :]
        block -= np.outer(factor * v, v @ block)
    return np.diagonal(a).copy(), beside, q.T.copy()


def _make_diagonal(d: np.ndarray, e: np.ndarray, rows: np.ndarray) -> None:
    """Turns a tridiagonal matrix, and rows with it, until nothing is left beside the diagonal."""
    facts, end, turns = np.finfo(d.dtype), len(d) - 1, 0
    start = 0
    while end > 0:
        near = 2 * facts.eps * (np.abs(d[start:end]) + np.abs(d[start + 1 : end + 1]))
        beyond = np.abs(e[start:end])
        e[start:end][(beyond <= near) | (beyond <= facts.tiny)] = 0
        while end > 0 and e[end - 1] == 0:
            end -= 1
        if end > 0:
            turns += 1
            if turns > _MOST_TURNS * len(d):
                raise np.linalg.LinAlgError("eigenvalues did not converge")
            start = end - 1
            while start > 0 and e[start - 1] != 0:
                start -= 1
            _turn(d, e, start, end, rows)


def _turn(d: np.ndarray, e: np.ndarray, start: int, end: int, rows: np.ndarray) -> None:
    """One implicit step between two diagonal elements."""
    x, z = d[start] - _shift(d[end - 1], d[end], e[end - 1]), e[start]
    for k in range(start, end):
        if z == 0:
            continue
        c, s = _rotation(x, z)
        turn = np.array([[c, -s], [s, c]], d.dtype)
        block = np.array([[d[k], e[k]], [e[k], d[k + 1]]])
        (d[k], _), (e[k], d[k + 1]) = turn @ block @ turn.T
        if k > start:
            e[k - 1] = c * e[k - 1] - s * z
        x, z = e[k], d.dtype.type(0)
        if k < end - 1:
            z, e[k + 1] = -s * e[k + 1], c * e[k + 1]
        rows[k : k + 2] = turn @ rows[k : k + 2]


def _shift(above: Any, last: Any, e: Any) -> Any:
    """The eigenvalue of the last two rows that is nearer to the last diagonal element."""
    half = (above - last) / 2
    if half == 0:
        return last - abs(e)
    bottom = half + math.copysign(np.hypot(half, e), half)
    return last - (e / (bottom / e) if e * e == 0 else e * e / bottom)


def _rotation(x: Any, z: Any) -> tuple[Any, Any]:
    """Cosine and sine of the turn that makes z zero."""
    if x == 0:
        return x, 1 if z < 0 else -1
    if abs(x) > abs(z):
        c = 1 / np.copysign(np.sqrt(1 + (z / x) ** 2), x)
        return c, -z / x * c
    s = -1 / np.copysign(np.sqrt(1 + (x / z) ** 2), z)
    return -x / z * s, s
