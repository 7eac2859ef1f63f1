# SPDX-License-Identifier: Apache-2.0
"""The ops of weighted alternating least squares, for matrices of which few elements are known."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ...engine import errors
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.types.indices import first_outside
from ...engine.types.shape import shape_text, unknown_shape

if TYPE_CHECKING:
    from ...engine.graph.kernel_context import KernelContext

_NO_GRADIENT = NoGradient("TensorFlow has no gradient of it")
_RANKS = ("should be a scalar.", "should be a vector.", "should be a matrix.")


def _require_ranks(**arrays: tuple[np.ndarray, int]) -> None:
    for name, (array, rank) in arrays.items():
        if array.ndim != rank:
            raise errors.invalid(f"Input {name} {_RANKS[rank]}")


def _require_within(name: str, indices: np.ndarray, size: int) -> None:
    bad = first_outside(indices, size)
    if bad is not None:
        raise errors.invalid(f"{name} {indices[bad]} is not in [0, {size})")


def _require_weights(
    factors: np.ndarray,
    factor_weights: np.ndarray,
    input_weights: np.ndarray,
    indices: np.ndarray,
    entry_weights: np.ndarray,
) -> None:
    """Either each known element has a weight of its own, or rows and columns have."""
    by_axes = len(input_weights) and len(factor_weights) == len(factors) and not len(entry_weights)
    by_entries = not len(input_weights) and not len(factor_weights)
    if not by_axes and not (by_entries and len(entry_weights) == len(indices)):
        raise errors.invalid(
            "To specify the weights for observed entries, either (1) entry_weights must be set or "
            "(2) input_weights and factor_weights must be set, but not both."
        )


def _runs(values: np.ndarray) -> Iterator[tuple[int, int]]:
    """Where runs of equal values begin and end."""
    edges = np.flatnonzero(np.diff(values)) + 1
    yield from zip([0, *edges.tolist()], [*edges.tolist(), len(values)])


def _normal_equations(
    c: KernelContext,
    factors: np.ndarray,
    factor_weights: np.ndarray,
    unobserved_weights: np.ndarray,
    input_weights: np.ndarray,
    input_indices: np.ndarray,
    input_values: np.ndarray,
    entry_weights: np.ndarray,
    input_block_size: np.ndarray,
    input_is_transpose: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    _require_ranks(
        factors=(factors, 2),
        factor_weights=(factor_weights, 1),
        unobserved_weights=(unobserved_weights, 0),
        input_weights=(input_weights, 1),
        input_indices=(input_indices, 2),
        input_values=(input_values, 1),
        entry_weights=(entry_weights, 1),
        input_block_size=(input_block_size, 0),
        input_is_transpose=(input_is_transpose, 0),
    )
    if input_indices.shape[1] != 2:
        raise errors.invalid("Input input_indices should have shape (?, 2).")
    if len(input_indices) != len(input_values):
        raise errors.invalid(
            "Input input_values' length should match the first dimension of Input input_indices "
        )
    _require_weights(factors, factor_weights, input_weights, input_indices, entry_weights)
    size, width = int(input_block_size), factors.shape[1]
    if size < 0:
        raise errors.invalid(f"Dimension {size} must be >= 0")
    left, right = np.zeros((size, width, width), np.float32), np.zeros((size, width), np.float32)
    rows, columns = input_indices.T[:: -1 if input_is_transpose else 1]
    _require_within("Input index", rows, size)
    _require_within("Factor index", columns, len(factors))
    weights = entry_weights
    if not len(entry_weights):
        _require_within("Input index", rows, len(input_weights))
        weights = input_weights[rows] * factor_weights[columns]
    if (weights < 0).any():
        raise errors.invalid(f"Weight {weights[weights < 0][0]} is negative")
    # A row at a time, whose known elements are one product.
    order = np.argsort(rows, kind="stable")
    rows, columns, weights = rows[order], columns[order], weights[order]
    scaled = input_values[order] * (np.float32(unobserved_weights) + weights)
    roots = np.sqrt(weights)
    for start, end in _runs(rows) if len(rows) else ():
        known = factors[columns[start:end]]
        batch = known * roots[start:end, None]
        left[rows[start]] = batch.T @ batch
        right[rows[start]] = scaled[start:end] @ known
    return left, right


def _factors() -> np.ndarray:
    return np.array([[1, 2], [0.5, -1], [0, 3]], np.float32)


def _places() -> np.ndarray:
    return np.array([[1, 0], [0, 2], [1, 1], [0, 0]], np.int64)


def _known() -> np.ndarray:
    return np.array([1, -2, 0.5, 3], np.float32)


def _none() -> np.ndarray:
    return np.zeros(0, np.float32)


define(
    "WALSComputePartialLhsAndRhs",
    "factors: float32, factor_weights: float32, unobserved_weights: float32, "
    "input_weights: float32, input_indices: int64, input_values: float32, "
    "entry_weights: float32, input_block_size: int64, input_is_transpose: bool -> "
    "partial_lhs: float32, partial_rhs: float32",
    shape=lambda c: [unknown_shape(), unknown_shape()],
    kernel=_normal_equations,
    dynamic_shape=True,
    gradient=_NO_GRADIENT,
    doc="""What known elements of a sparse matrix add to the equations for factors of its rows.

    Args:
        factors: [m, k], of the columns.
        factor_weights: [m], how much columns count; empty with `entry_weights`.
        unobserved_weights: a scalar, how much elements count that are not known.
        input_weights: [n], how much rows count; empty with `entry_weights`.
        input_indices: [e, 2], row and column of each element.
        input_values: [e], the elements.
        entry_weights: [e], how much elements count; or empty.
        input_block_size: a scalar, n.
        input_is_transpose: whether `input_indices` are column and row.

    Returns:
        Sums of weighted products of factors, [n, k, k], and of these with elements, [n, k].
    """,
    test=lambda: {
        "values": [
            [
                *(_factors(), np.array([1, 0.5, 2], np.float32), np.float32(0.25)),
                *(np.array([0.5, 2], np.float32), _places(), _known(), _none()),
                *(np.int64(2), np.bool_(False)),
            ],
            [
                *(
                    _factors(),
                    _none(),
                    np.float32(0.1),
                    _none(),
                    _places()[:, ::-1].copy(),
                    _known(),
                ),
                *(np.array([1, 2, 3, 4], np.float32), np.int64(2), np.bool_(True)),
            ],
        ]
    },
)


def _masked_matmul(
    c: KernelContext,
    a: np.ndarray,
    b: np.ndarray,
    mask_indices: np.ndarray,
    transpose_a: np.ndarray,
    transpose_b: np.ndarray,
) -> np.ndarray:
    _require_ranks(
        a=(a, 2),
        b=(b, 2),
        mask_indices=(mask_indices, 2),
        transpose_a=(transpose_a, 0),
        transpose_b=(transpose_b, 0),
    )
    rows, columns = a.T if transpose_a else a, b if transpose_b else b.T
    if rows.shape[1] != columns.shape[1]:
        raise errors.invalid(
            f"Matrix shapes are incompatible: a has shape {shape_text(a.shape)}, while b has shape "
            f"{shape_text(b.shape)}."
        )
    if mask_indices.shape[1] != 2:
        raise errors.invalid(
            "mask_indices should be a matrix of shape [nnz 2], where nnz is the number of non-zero "
            "elements."
        )
    i, j = mask_indices.T
    _require_within("In mask_indices, the row index", i, len(rows))
    _require_within("In mask_indices, the column index", j, len(columns))
    return np.einsum("ij,ij->i", rows[i], columns[j]).astype(np.float32)


define(
    "MaskedMatmul",
    "a: float32, b: float32, mask_indices: int64, transpose_a: bool, transpose_b: bool -> "
    "prod_values: float32",
    shape=lambda c: unknown_shape(),
    kernel=_masked_matmul,
    dynamic_shape=True,
    gradient=_NO_GRADIENT,
    doc="""Some elements of the product of two matrices.

    Args:
        a, b: matrices.
        mask_indices: [n, 2], row and column of each element.
        transpose_a, transpose_b: scalars, whether the matrices are transposed first.
    """,
    test=lambda: {
        "values": [
            [_factors(), _factors(), _places(), np.bool_(False), np.bool_(True)],
            [_factors(), _factors(), _places()[:1], np.bool_(True), np.bool_(False)],
        ]
    },
)
