# SPDX-License-Identifier: Apache-2.0
"""Square roots and logarithms of stacks of matrices, by way of their triangular (Schur) forms.

LAPACK makes each triangle; what follows is done for all of a stack at once (N. Higham, "Functions
of matrices", 2008: algorithms 6.3 and 11.9).  Imports SciPy inside functions only.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

# So near to one a logarithm is its approximation to the last bit of float64.
_NEAR = 0.25
_TERMS = 8
# No number takes more roots to come near to one; zero never does.
_MOST_ROOTS = 64


def square_root(x: np.ndarray) -> np.ndarray:
    """The principal square roots of square matrices [..., n, n], complex128."""
    return _of_triangles(_root, x)


def logarithm(x: np.ndarray) -> np.ndarray:
    """The principal logarithms of square matrices [..., n, n], complex128."""
    return _of_triangles(_logarithm, x)


def _of_triangles(function: Callable[[np.ndarray], np.ndarray], x: np.ndarray) -> np.ndarray:
    """A function of matrices, given what it makes of triangles."""
    from scipy.linalg.lapack import zgees

    stack = x.astype(np.complex128).reshape(-1, *x.shape[-2:])
    triangles, vectors = np.empty_like(stack), np.empty_like(stack)
    for place, matrix in enumerate(stack):
        triangles[place], _, _, vectors[place], _, info = zgees(lambda _: None, matrix)
        if info:
            triangles[place] = np.nan
    with np.errstate(all="ignore"):
        found = function(triangles)
        whole = vectors @ found @ np.conj(np.swapaxes(vectors, -1, -2))
    return whole.reshape(x.shape)


def _diagonal(stack: np.ndarray) -> np.ndarray:
    """The diagonals of matrices, to be read and written."""
    return np.einsum("...ii->...i", stack)


def _root(triangles: np.ndarray) -> np.ndarray:
    """Square roots R of upper triangles T: R R = T, one diagonal after the other."""
    size, roots = triangles.shape[-1], np.zeros_like(triangles)
    diagonal = _diagonal(roots)
    diagonal[...] = np.sqrt(_diagonal(triangles))
    for beyond in range(1, size):
        i = np.arange(size - beyond)
        j, k = i + beyond, i[:, None] + np.arange(1, beyond)
        between = (roots[:, i[:, None], k] * roots[:, k, j[:, None]]).sum(-1)
        rest, below = triangles[:, i, j] - between, diagonal[:, i] + diagonal[:, j]
        roots[:, i, j] = np.where(rest == 0, 0, rest / below)
    return roots


def _logarithm(triangles: np.ndarray) -> np.ndarray:
    """Logarithms of upper triangles: of so many square roots, doubled as often."""
    near, roots = triangles.copy(), np.zeros(len(triangles), np.int64)
    one = np.eye(triangles.shape[-1])
    for _ in range(_MOST_ROOTS):
        (far,) = np.nonzero(np.abs(near - one).sum(-2).max(-1, initial=0) > _NEAR)
        if not far.size:
            break
        near[far] = _root(near[far])
        roots[far] += 1
    logs = np.log(_diagonal(triangles))
    beside = near - one
    # (What is left of numbers near to one after a subtraction is computed instead.)
    _diagonal(beside)[...] = np.expm1(logs * np.exp2(-roots.astype(np.float64))[:, None])
    # log(1 + x) is an integral of x / (1 + tx), and that a sum.
    places, weights = np.polynomial.legendre.leggauss(_TERMS)
    terms = _solved(one + (places + 1)[:, None, None, None] / 2 * beside, beside)
    found = np.einsum("t,tbij->bij", weights / 2, terms)
    found *= np.exp2(roots.astype(np.float64))[:, None, None]
    _diagonal(found)[...] = logs
    return found


def _solved(matrices: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solutions of systems of upper triangles, nothing being refused."""
    result = np.broadcast_to(right, matrices.shape).copy()
    for i in reversed(range(matrices.shape[-1])):
        known = matrices[..., i, None, i + 1 :] @ result[..., i + 1 :, :]
        result[..., i, :] -= known[..., 0, :]
        result[..., i, :] /= matrices[..., i, i, None]
    return result
