# SPDX-License-Identifier: Apache-2.0
"""The ops that give a list of tensors like another one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.types.shape import shape_text, unknown_shape
from ..array.tensor_list_store import list_in, merged, shape_of
from ..shape_inference import known_sizes
from . import tensor_list_rules as rules
from .tensor_list_making import rows_of
from .tensor_list_rules import NONE, RESIZES, SET, TYPE, define_list_op, kind

if TYPE_CHECKING:
    from ...engine.graph.kernel_context import KernelContext


# Lists are values: each op makes a list of its own, which shares the elements with the old one. An
# old list, which a gradient may read later, stays as it was.
def _push(c: KernelContext, handle: np.ndarray, item: np.ndarray, place: str = "") -> np.ndarray:
    found = list_in(handle)
    if not found.shape.is_compatible_with(item.shape):
        raise errors.invalid(
            f"Tried to append a tensor with incompatible shape to a list{place}. "
            f"Op element shape: {shape_text(item.shape)} list shape: {shape_text(found.shape)}"
        )
    found.require(kind(c.op))
    if found.limit != -1 and len(found.items) >= found.limit:
        raise errors.invalid(
            f"Tried to push item into a full list list size: {len(found.items)} "
            f"max_num_elements: {found.limit}"
        )
    return found.with_items((*found.items, item)).boxed()


def _push_batch(c: KernelContext, handles: np.ndarray, tensor: np.ndarray) -> np.ndarray:
    if tensor.ndim == 0:
        raise errors.invalid(
            f"Expected tensor to be at least a vector, but saw shape: {shape_text(tensor.shape)}"
        )
    if handles.ndim != 1:
        raise errors.invalid(
            f"Expected input_handles to be a vector, but saw shape: {shape_text(handles.shape)}"
        )
    if len(tensor) != len(handles):
        raise errors.invalid(
            "Expected tensor.shape[0] == input_handles.size, but saw "
            f"{len(tensor)} vs. {len(handles)}"
        )
    result = np.empty(handles.shape, object)
    for i, handle in enumerate(handles):
        result[i] = _push(c, handle, np.asarray(tensor[i]), f" at index {i}")[()]
    return result


def _pop(c: KernelContext, handle: Any, shape: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    found = list_in(handle)
    found.require(kind(c.op))
    if not found.items:
        raise errors.invalid("Trying to pop from an empty list.")
    item = found.items[-1]
    # An element that was never set is zeros of a shape that op and list must agree on.
    if item is None:
        wanted = merged(shape_of(shape), found.shape)
        if not wanted.is_fully_defined():
            raise errors.invalid(
                "Trying to read an uninitialized tensor but element_shape is not fully defined."
                f"{shape_text(wanted)}"
            )
        item = found.zeros(tuple(known_sizes(wanted)))
    return found.with_items(found.items[:-1]).boxed(), item


def _set(c: KernelContext, handle: np.ndarray, index: np.ndarray, item: np.ndarray) -> np.ndarray:
    found, place = list_in(handle), int(index)
    found.require(kind(c.op))
    if place >= len(found.items) and c.op._attrs.get(RESIZES):
        found = found.with_items((*found.items, *(None,) * (place + 1 - len(found.items))))
    if not 0 <= place < len(found.items):
        raise SET(index, np.array(len(found.items)))
    if not found.shape.is_compatible_with(item.shape):
        raise errors.invalid(
            "Tried to set a tensor with incompatible shape at a list index. Item element shape: "
            f"{shape_text(item.shape)} list shape: {shape_text(found.shape)}"
        )
    return found.with_items((*found.items[:place], item, *found.items[place + 1 :])).boxed()


def _resize(c: KernelContext, handle: np.ndarray, size: np.ndarray) -> np.ndarray:
    found, count = list_in(handle), int(size)
    if count < 0:
        raise errors.invalid(f"TensorListSlice expects size to be non-negative. Got: {count}")
    missing = (None,) * (count - len(found.items))
    return found.with_items(found.items[:count] + missing).boxed()


def _scatter_into(
    c: KernelContext, handle: np.ndarray, tensor: np.ndarray, indices: np.ndarray
) -> np.ndarray:
    found = list_in(handle)
    if kind(c.op) != found.dtype:
        raise errors.invalid(
            f"Invalid data types; input tensor type: {kind(c.op).name} list element_type: "
            f"{found.dtype.name}"
        )
    rows = rows_of(tensor, unknown_shape())
    if indices.ndim != 1:
        raise errors.invalid(
            f"Expected indices to be a vector, but received shape: {shape_text(indices.shape)}"
        )
    if len(indices) != len(rows):
        raise errors.invalid(
            f"Expected len(indices) == tensor.shape[0], but saw: {len(indices)} vs. {len(rows)}"
        )
    items = list(found.items)
    items += [None] * (int(indices.max(initial=-1)) + 1 - len(items))
    for i, row in zip(indices.tolist(), rows):
        items[i] = row
    return found.with_items(items).boxed()


def _concat_lists(c: KernelContext, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    pairs = np.broadcast(a, b)
    result = np.empty(pairs.shape, object)
    for place, (x, y) in zip(np.ndindex(pairs.shape), pairs):
        first, second = list_in(x), list_in(y)
        for found in (first, second):
            found.require(kind(c.op))
        if not first.shape.is_compatible_with(second.shape):
            raise errors.invalid("input_a and input_b TensorList element shapes are not identical")
        result[place] = first.with_items(first.items + second.items)
    return result


_HANDLE = "-> output_handle: variant"
define_list_op(
    "TensorListPushBack",
    f"input_handle: variant, tensor: element_dtype {_HANDLE}",
    TYPE,
    rules.push_shape,
    _push,
    "The list with one more element at its end.",
)
define_list_op(
    "TensorListPushBackBatch",
    "input_handles: variant, tensor: element_dtype -> output_handles: variant",
    TYPE,
    rules.push_shape,
    _push_batch,
    "TensorListPushBack for each list of a vector.",
    NONE.silently,
    is_compiled=False,
)
define_list_op(
    "TensorListPopBack",
    "input_handle: variant, element_shape: int32 -> output_handle: variant, tensor: element_dtype",
    TYPE,
    rules.pop_shape,
    _pop,
    "The list without its last element, and that element.",
    is_compiled=False,
)
define_list_op(
    "TensorListSetItem",
    f"input_handle: variant, index: int32, item: element_dtype {_HANDLE}",
    TYPE,
    rules.push_shape,
    _set,
    "The list with another element at a place.",
)
define_list_op(
    "TensorListResize",
    f"input_handle: variant, size: int32 {_HANDLE}",
    "",
    rules.scalar,
    _resize,
    "The list cut, or lengthened by elements that were not set.",
    stateful=True,
)
define_list_op(
    "TensorListScatterIntoExistingList",
    f"input_handle: variant, tensor: element_dtype, indices: int32 {_HANDLE}",
    TYPE,
    rules.scalar,
    _scatter_into,
    "The list with the rows of a tensor at given places.",
)
define_list_op(
    "TensorListConcatLists",
    "input_a: variant, input_b: variant -> output: variant",
    TYPE,
    rules.concat_lists_shape,
    _concat_lists,
    "The elements of two lists in one.",
    NONE.silently,
    is_compiled=False,
)
