# SPDX-License-Identifier: Apache-2.0
"""The ops of `tf.contrib.reduce_slice_ops`: reductions over slices of a dimension."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...engine import errors
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.types.shape import TensorShape
from .limits import highest, lowest

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext

_DTYPES = {
    "number": "T: numbertype; Tindices: {int32, int64}",
    "real": "T: realnumbertype; Tindices: {int32, int64}",
}


def _count(indices: TensorShape) -> int | None:
    """How many slices there are: a row each, or what lies between the numbers of a vector."""
    if indices.ndims is None:
        return None
    if indices.ndims == 0:
        raise ValueError("Shape must be at least rank 1 but is rank 0")
    if indices.ndims > 2:
        raise ValueError(f"Shape must be at most rank 2 but is rank {indices.ndims}")
    rows = indices.as_list()[0]
    if indices.ndims == 2:
        columns = indices.as_list()[1]
        if columns not in (None, 2):
            raise ValueError(f"Dimensions must be equal, but are {columns} and 2")
        return rows
    return None if rows is None else max(rows, 1) - 1


def _shape(c: ShapeContext) -> TensorShape:
    data, indices, axis_shape = c.inputs
    if axis_shape.ndims not in (None, 0):
        raise ValueError(f"Shape must be rank 0 but is rank {axis_shape.ndims}")
    if data.ndims == 0:
        raise ValueError("Shape must be at least rank 1 but is rank 0")
    count, axis = _count(indices), c.value(2)
    if data.ndims is None or axis is None:
        return TensorShape(None if data.ndims is None else [None] * data.ndims)
    # (TensorFlow puts the size into the shape of the indices, which need not be the result's.)
    if not -data.ndims <= int(axis) < data.ndims:
        raise ValueError(
            f"Out of range dim_index {int(axis)} for shape with {data.ndims} dimensions"
        )
    sizes = data.as_list()
    sizes[int(axis)] = count
    return TensorShape(sizes)


def _kernel(
    reduction: np.ufunc, start: Callable[[np.dtype], object]
) -> Callable[[KernelContext, np.ndarray, np.ndarray, np.ndarray], np.ndarray]:
    # (A partial function would be of `functools`, and plans keep what this package declares.)
    def reduced(
        c: KernelContext, data: np.ndarray, indices: np.ndarray, axis: np.ndarray
    ) -> np.ndarray:
        return _reduced(data, indices, axis, reduction, start)

    return reduced


def _reduced(
    data: np.ndarray,
    indices: np.ndarray,
    axis: np.ndarray,
    reduction: np.ufunc,
    start: Callable[[np.dtype], object],
) -> np.ndarray:
    if not -data.ndim <= int(axis) < data.ndim:
        raise errors.invalid(
            f"axis must be in [{-data.ndim}, {data.ndim}) of data of rank {data.ndim}, not {axis}"
        )
    rows = np.moveaxis(data, int(axis), 0)
    slices = indices
    if indices.ndim == 1 or indices.shape[1] == 1:
        edges = indices.reshape(-1)
        slices = np.stack([edges[:-1], edges[1:]], axis=1)
    if slices.size and slices[:, 0].min() < 0:
        # (TensorFlow reads what lies before the tensor.)
        raise errors.invalid(f"indices must not be negative, not {slices[:, 0].min()}")
    result = np.full((len(slices), *rows.shape[1:]), start(data.dtype), data.dtype)
    for i, (begin, end) in enumerate(slices):
        if begin < min(end, len(rows)):
            out = result[i : i + 1]
            reduction.reduce(rows[begin:end], axis=0, dtype=data.dtype, keepdims=True, out=out)
    return np.moveaxis(result, 0, int(axis))


def _least(dtype: np.dtype) -> object:
    return lowest(dtype) if dtype.kind in "iu" else -np.inf


def _greatest(dtype: np.dtype) -> object:
    return highest(dtype) if dtype.kind in "iu" else np.inf


def _numbers() -> np.ndarray:
    return np.array([[1, 2], [3, 4], [5, 6]], np.float32)


for _name, _reduction, _start, _kinds, _doc in (
    (
        "ReduceSliceSum",
        np.add,
        lambda dtype: 0,
        "number",
        "Sums of slices of a dimension; 0 of none.",
    ),
    (
        "ReduceSliceProd",
        np.multiply,
        lambda dtype: 1,
        "number",
        "Products of slices of a dimension.",
    ),
    ("ReduceSliceMax", np.maximum, _least, "real", "The greatest of slices of a dimension."),
    ("ReduceSliceMin", np.minimum, _greatest, "real", "The least of slices of a dimension."),
):
    define(
        _name,
        "data: T, indices: Tindices, axis: int64 -> output: T",
        # TensorFlow's op takes complex numbers for all; its kernels order none.
        _DTYPES[_kinds],
        shape=_shape,
        kernel=_kernel(_reduction, _start),
        gradient=NoGradient("TensorFlow has no gradient of it"),
        doc=_doc,
        test=lambda: {
            "values": [
                [_numbers(), np.array([[0, 2], [1, 1], [1, 9]], np.int32), np.int64(0)],
                [_numbers(), np.array([0, 0, 1, 2], np.int64), np.int64(1)],
            ]
        },
    )
