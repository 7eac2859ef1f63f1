# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.reduce_slice_ops`: reductions over slices of a dimension, which need not be sorted.

TensorFlow 1.15 has the functions in the module `python.ops.reduce_slice_ops` alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...ops.public import raw

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.tensor import Tensor


def reduce_slice_sum(
    data: TensorLike, indices: TensorLike, axis: TensorLike, name: str | None = None
) -> Tensor:
    """Sums of slices of a dimension.

    Args:
        data: numbers, at least a vector.
        indices: integers [slices, 2], where each begins and ends; or a vector, between whose
            numbers they are.  Ends behind the last row mean that row.
        axis: the dimension.
        name: of the operation.

    Returns:
        A Tensor like `data`, as long as there are slices in that dimension; 0 for empty slices.
    """
    return raw.ReduceSliceSum(data, indices, axis, name=name)


def reduce_slice_prod(
    data: TensorLike, indices: TensorLike, axis: TensorLike, name: str | None = None
) -> Tensor:
    """Products of slices of a dimension, as `reduce_slice_sum` has sums; 1 for empty slices.

    Args:
        data: numbers, at least a vector.
        indices: as of `reduce_slice_sum`.
        axis: the dimension.
        name: of the operation.

    Returns:
        A Tensor like `data`, as long as there are slices in that dimension.
    """
    return raw.ReduceSliceProd(data, indices, axis, name=name)


def reduce_slice_max(
    data: TensorLike, indices: TensorLike, axis: TensorLike, name: str | None = None
) -> Tensor:
    """The greatest of slices of a dimension; the least number of the dtype for empty slices.

    Args:
        data: real numbers, at least a vector.
        indices: as of `reduce_slice_sum`.
        axis: the dimension.
        name: of the operation.

    Returns:
        A Tensor like `data`, as long as there are slices in that dimension.
    """
    return raw.ReduceSliceMax(data, indices, axis, name=name)


def reduce_slice_min(
    data: TensorLike, indices: TensorLike, axis: TensorLike, name: str | None = None
) -> Tensor:
    """The least of slices of a dimension; the greatest number of the dtype for empty slices.

    Args:
        data: real numbers, at least a vector.
        indices: as of `reduce_slice_sum`.
        axis: the dimension.
        name: of the operation.

    Returns:
        A Tensor like `data`, as long as there are slices in that dimension.
    """
    return raw.ReduceSliceMin(data, indices, axis, name=name)
