# SPDX-License-Identifier: Apache-2.0
"""What kernels ask of the parts of sparse tensors, whose shapes a graph may not know.

The conditions and their order are those of TensorFlow 1.15 (core/util/sparse/sparse_tensor.h and
the kernels that make sparse tensors of their inputs).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine import errors
from ..engine.types.shape import shape_text
from .ranks import Rank, ranked, vector

if TYPE_CHECKING:
    from ..engine.graph.kernel_context import KernelContext


def matrix(index: int, text: str) -> Rank:
    """An input that must be a matrix."""
    return Rank(index, (2,), text)


def with_parts(kernel: Callable[..., Any], first: int = 0) -> Callable[..., Any]:
    """The kernel, which first asks indices, values and shape to have the ranks of these."""
    return ranked(
        kernel,
        matrix(first, "Input indices should be a matrix but received shape {shape}"),
        vector(first + 1, "Input values should be a vector but received shape {shape}"),
        vector(first + 2, "Input shape should be a vector but received shape {shape}"),
    )


def as_one(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel, whose first three inputs must fit together as a sparse tensor."""

    def checked(
        c: KernelContext, indices: np.ndarray, values: np.ndarray, shape: np.ndarray, *rest: Any
    ) -> Any:
        require_sparse(indices, values, shape)
        return kernel(c, indices, values, shape, *rest)

    return checked


def require_sparse(indices: np.ndarray, values: np.ndarray, shape: np.ndarray) -> None:
    """Raises InvalidArgumentError unless there is a value for each index, of the shape's rank."""
    if values.ndim != 1:
        raise errors.invalid(f"vals must be a vec, but got: {shape_text(values.shape)}")
    if indices.ndim not in (1, 2):
        raise errors.invalid(f"indices must be a vector or a matrix: {shape_text(indices.shape)}")
    if len(indices) != len(values):
        raise errors.invalid(
            "indices and values rows (indexing dimension) must match. "
            f"(indices = {len(indices)}, values = {len(values)})"
        )
    # Indices of one dimension may be a vector; everything here takes a matrix.
    rank = indices.shape[1] if indices.ndim == 2 else 1
    if rank != shape.size:
        raise errors.invalid("Order length must be SparseTensor rank.")
    if indices.ndim == 1:
        raise errors.invalid(
            f"Input indices should be a matrix but received shape {shape_text(indices.shape)}"
        )


def require_matrices(what: str, joined: str, *given: np.ndarray) -> None:
    """Raises InvalidArgumentError unless all indices are matrices."""
    if any(indices.ndim != 2 for indices in given):
        shapes = joined.join(shape_text(indices.shape) for indices in given)
        raise errors.invalid(f"{what} should be matrices but received shapes: {shapes}")


def require_vectors(what: str, *given: np.ndarray) -> None:
    """Raises InvalidArgumentError unless all inputs are vectors."""
    if any(values.ndim != 1 for values in given):
        shapes = " and ".join(shape_text(values.shape) for values in given)
        raise errors.invalid(f"{what} {shapes}")


def require_pair(a: Any, b: Any, what: tuple[str, str, str]) -> None:
    """Raises InvalidArgumentError unless two sparse tensors have values for all their indices.

    `what` begins the sentences about indices, values and shapes.
    """
    (a_indices, a_values, a_shape), (b_indices, b_values, b_shape) = a, b
    require_matrices(what[0], " and " if what[0] == "Input indices" else ", ", a_indices, b_indices)
    require_vectors(what[1], a_values, b_values)
    if (len(a_values), len(b_values)) != (len(a_indices), len(b_indices)):
        raise errors.invalid(
            f"Expected {len(a_indices)} and {len(b_indices)} non-empty input values, got "
            f"{len(a_values)} and {len(b_values)}"
        )
    require_vectors(what[2], a_shape, b_shape)
