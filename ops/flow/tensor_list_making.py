# SPDX-License-Identifier: Apache-2.0
"""The ops that make lists of tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.types.shape import TensorShape, shape_text
from ..array.tensor_list_store import TensorList, shape_of
from . import tensor_list_rules as rules
from .tensor_list_rules import LATER, NONE, SHAPED, define_list_op, kind

if TYPE_CHECKING:
    from ...engine.graph.kernel_context import KernelContext


def _empty(c: KernelContext, shape: np.ndarray, limit: np.ndarray) -> np.ndarray:
    if limit.ndim:
        raise errors.invalid(
            f"max_num_elements expected to be a scalar but got shape: {shape_text(limit.shape)}"
        )
    return TensorList([], kind(c.op), shape_of(shape), int(limit)).boxed()


def _reserve(c: KernelContext, shape: np.ndarray, count: np.ndarray) -> np.ndarray:
    if count < 0:
        raise errors.invalid(
            f"The num_elements to reserve must be a non negative number, but got {int(count)}"
        )
    return TensorList([None] * int(count), kind(c.op), shape_of(shape)).boxed()


def rows_of(tensor: np.ndarray, shape: TensorShape) -> list[np.ndarray]:
    if tensor.ndim == 0:
        raise errors.invalid("Tensor must be at least a vector, but saw shape: []")
    if not shape.is_compatible_with(tensor.shape[1:]):
        raise errors.invalid(
            f"Specified a list with shape {shape_text(shape)} from a tensor with shape "
            f"{shape_text(tensor.shape[1:])}"
        )
    return [
        # Copies, for two reasons: a row as a view would keep the whole tensor alive, and the tensor
        # may be a variable, which changes in place.
        row.copy() if isinstance(row, np.ndarray) else np.asarray(row, tensor.dtype)
        for row in tensor
    ]


def _from_tensor(c: KernelContext, tensor: np.ndarray, shape: np.ndarray) -> np.ndarray:
    fits = shape_of(shape)
    return TensorList(rows_of(tensor, fits), kind(c.op), fits).boxed()


def _split(
    c: KernelContext, tensor: np.ndarray, shape: np.ndarray, lengths: np.ndarray
) -> np.ndarray:
    fits = shape_of(shape)
    if fits.rank == 0:
        raise errors.invalid(
            "TensorListSplit requires element_shape to be at least of rank 1, but saw: []"
        )
    if tensor.ndim == 0:
        raise errors.invalid("Tensor must be at least a vector, but saw shape: []")
    if fits.rank is not None and not fits[1:].is_compatible_with(tensor.shape[1:]):
        raise errors.invalid(
            f"tensor shape {shape_text(tensor.shape)} is not compatible with element_shape "
            f"{shape_text(fits)}"
        )
    if lengths.ndim != 1:
        raise errors.invalid(
            f"Expected lengths to be a vector, received shape: {shape_text(lengths.shape)}"
        )
    items, end = [], 0
    for length in lengths.tolist():
        if length < 0:
            raise errors.invalid(f"Invalid value in lengths: {length}")
        start, end = end, end + length
        if end > len(tensor):
            raise errors.invalid(
                f"Attempting to slice [{start}, {end}] from tensor with length {len(tensor)}"
            )
        items.append(tensor[start:end].copy())
    if end != len(tensor):
        raise errors.invalid(
            f"Unused values in tensor. Length of tensor: {len(tensor)} Values used: {end}"
        )
    return TensorList(items, kind(c.op), fits).boxed()


def _scatter(
    c: KernelContext,
    tensor: np.ndarray,
    indices: np.ndarray,
    shape: np.ndarray,
    count: Any = -1,
) -> np.ndarray:
    fits, size = shape_of(shape), int(count)
    if size < -1:
        raise errors.invalid(f"TensorListScatter expects num_elements >= -1, found: {size}")
    rows = rows_of(tensor, fits)
    if indices.size != len(rows):
        raise errors.invalid(
            f"Invalid number of rows in input tensor. Expected: {indices.size} Actual: {len(rows)}"
        )
    for i in indices.reshape(-1).tolist():
        if i < 0:
            raise errors.invalid("Indices in TensorListScatter must all be non-negative.")
        if size != -1 and i >= size:
            raise errors.invalid(
                f"TensorListScatter: Trying to scatter at index {i} in list with size {size}"
            )
    items: list[Any] = [None] * max(size, int(indices.max(initial=-1)) + 1)
    for i, row in zip(indices.reshape(-1).tolist(), rows):
        items[i] = row
    return TensorList(items, kind(c.op), fits).boxed()


_LIST = "output_handle: variant"


def _define(
    name: str,
    arguments: str,
    kernel: Callable[..., Any],
    doc: str,
    shape: Callable[..., Any] = rules.scalar,
) -> None:
    # TensorFlow names the output so for these two ops (core/ops/list_ops.cc).
    output = "handle: variant" if kernel in (_empty, _reserve) else _LIST
    gradient = NONE if kernel in (_empty, _reserve) else LATER
    signature, is_compiled = f"{arguments} -> {output}", kernel is not _split
    define_list_op(name, signature, SHAPED, shape, kernel, doc, gradient, is_compiled=is_compiled)


_define(
    "EmptyTensorList",
    "element_shape: shape_type, max_num_elements: int32",
    _empty,
    "A list without elements.",
)
_define(
    "TensorListReserve",
    "element_shape: shape_type, num_elements: int32",
    _reserve,
    "A list of elements that were not set yet.",
)
_define(
    "TensorListFromTensor",
    "tensor: element_dtype, element_shape: shape_type",
    _from_tensor,
    "The rows of a tensor as a list.",
)
_define(
    "TensorListSplit",
    "tensor: element_dtype, element_shape: shape_type, lengths: int64",
    _split,
    "Parts of a tensor, of given lengths, as a list.",
    rules.split_shape,
)
_define(
    "TensorListScatter",
    "tensor: element_dtype, indices: int32, element_shape: shape_type",
    _scatter,
    "A list with the rows of a tensor at given places.",
)
_define(
    "TensorListScatterV2",
    "tensor: element_dtype, indices: int32, element_shape: shape_type, num_elements: int32",
    _scatter,
    "TensorListScatter to a list of a given length.",
)
