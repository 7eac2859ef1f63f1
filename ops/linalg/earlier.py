# SPDX-License-Identifier: Apache-2.0
"""Ops by the names that graphs of TensorFlow's first versions have: stacks had ops of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...engine.graph import registry
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.types.shape import TensorShape
from ..array import matrix_diag  # noqa: F401  defines what has earlier names here
from ..math import fourier  # noqa: F401
from . import decompose, least_squares  # noqa: F401
from .solve import batch_of, check_square, square

if TYPE_CHECKING:
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext

_OLD = NoGradient("an op of old graphs, which TensorFlow has no gradient of")
_SOLVERS = "T: {float64, float32}"
_SQUARE = np.array([[[2.0, 0.5], [0.5, 1.5]], [[1.0, 0.25], [0.25, 3.0]]])
_RHS = np.array([[[1.0], [2.0]], [[0.5], [-1.0]]])
_COMPLEX = (_SQUARE + 1j).astype(np.complex64)

for _then, _signature, _attrs, _values in (
    ("BatchCholesky", "input: T -> output: T", _SOLVERS, [_SQUARE]),
    (
        "BatchMatrixDeterminant",
        "input: T -> output: T",
        "T: {float32, float64, complex64, complex128}",
        [_SQUARE],
    ),
    (
        "BatchMatrixInverse",
        "input: T -> output: T",
        f"adjoint: bool = false; {_SOLVERS}",
        [_SQUARE],
    ),
    (
        "BatchMatrixSolve",
        "matrix: T, rhs: T -> output: T",
        f"adjoint: bool = false; {_SOLVERS}",
        [_SQUARE, _RHS],
    ),
    (
        "BatchMatrixSolveLs",
        "matrix: T, rhs: T, l2_regularizer: float64 -> output: T",
        f"{_SOLVERS}; fast: bool = true",
        [_SQUARE, _RHS, np.float64(0.1)],
    ),
    (
        "BatchMatrixTriangularSolve",
        "matrix: T, rhs: T -> output: T",
        f"lower: bool = true; adjoint: bool = false; {_SOLVERS}",
        [_SQUARE, _RHS],
    ),
    (
        "BatchSelfAdjointEigV2",
        "input: T -> e: T, v: T",
        f"compute_v: bool = true; {_SOLVERS}",
        [_SQUARE],
    ),
    (
        "BatchSvd",
        "input: T -> s: T, u: T, v: T",
        "compute_uv: bool = true; full_matrices: bool = false; "
        "T: {float64, float32, complex64, complex128}",
        [_SQUARE],
    ),
    (
        "BatchMatrixBandPart",
        "input: T, num_lower: int64, num_upper: int64 -> band: T",
        "",
        [_SQUARE, np.int64(0), np.int64(-1)],
    ),
    ("BatchMatrixDiag", "diagonal: T -> output: T", "", [_RHS[..., 0]]),
    ("BatchMatrixDiagPart", "input: T -> diagonal: T", "", [_SQUARE]),
    ("BatchMatrixSetDiag", "input: T, diagonal: T -> output: T", "", [_SQUARE, _RHS[..., 0]]),
    ("BatchFFT", "input: complex64 -> output: complex64", "", [_COMPLEX]),
    ("BatchFFT2D", "input: complex64 -> output: complex64", "", [_COMPLEX]),
    ("BatchFFT3D", "input: complex64 -> output: complex64", "", [_COMPLEX]),
    ("BatchIFFT", "input: complex64 -> output: complex64", "", [_COMPLEX]),
    ("BatchIFFT2D", "input: complex64 -> output: complex64", "", [_COMPLEX]),
    ("BatchIFFT3D", "input: complex64 -> output: complex64", "", [_COMPLEX]),
):
    _now = _then.removeprefix("Batch")
    _definition = registry.lookup(_now)
    define(
        _then,
        _signature,
        _attrs,
        shape=_definition.shape,
        kernel=_definition.kernel,
        gradient=_OLD,
        doc=f"{_now} by an earlier name.",
        test=lambda _values=_values: {"values": [_values], "rtol": 1e-3},
    )


def _eigen_shape(c: ShapeContext) -> TensorShape:
    """Eigenvalues lie in a row above the vectors."""
    x = square(c.inputs[0])
    if x.ndims is None:
        return TensorShape(None)
    size = x.as_list()[-1]
    return TensorShape([*batch_of(x).as_list(), None if size is None else size + 1, size])


def _eigen(c: KernelContext, x: np.ndarray) -> np.ndarray:
    check_square(x)
    values, vectors = np.linalg.eigh(x.astype(np.float64))
    return np.concatenate([values[..., None, :], vectors], -2).astype(x.dtype)


def _cholesky_gradient(c: KernelContext, lower: np.ndarray, grad: np.ndarray) -> np.ndarray:
    """The gradient by the input of what its Cholesky factor has the gradient `grad` of."""
    factor = np.tril(lower.astype(np.float64))
    turned = np.swapaxes(factor, -1, -2)
    middle = np.tril(turned @ np.tril(grad.astype(np.float64)))
    middle -= 0.5 * np.eye(factor.shape[-1]) * middle
    inner = np.linalg.solve(turned, middle)
    whole = np.swapaxes(np.linalg.solve(turned, np.swapaxes(inner, -1, -2)), -1, -2)
    return (0.5 * (whole + np.swapaxes(whole, -1, -2))).astype(lower.dtype)


def _factor() -> np.ndarray:
    return np.linalg.cholesky(_SQUARE)


for _name, _types in (
    ("SelfAdjointEig", "T: {float64, float32, half}"),
    ("BatchSelfAdjointEig", _SOLVERS),
):
    define(
        _name,
        "input: T -> output: T",
        _types,
        shape=_eigen_shape,
        kernel=_eigen,
        gradient=_OLD,
        doc="The eigenvalues of symmetric matrices, and below them the vectors.",
        test={"needs": "vectors of free signs"},
    )
for _name, _types in (
    ("CholeskyGrad", "T: {half, float32, float64}"),
    ("BatchCholeskyGrad", "T: {float32, float64}"),
):
    define(
        _name,
        "l: T, grad: T -> output: T",
        _types,
        shape=lambda c: c.inputs[0],
        kernel=_cholesky_gradient,
        gradient=_OLD,
        doc="The gradient of Cholesky as one op.",
        test=lambda: {"values": [[_factor(), _factor() + 0.5]], "rtol": 1e-3},
    )
