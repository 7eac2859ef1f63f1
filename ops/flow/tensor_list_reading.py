# SPDX-License-Identifier: Apache-2.0
"""The ops that read lists of tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.types.shape import TensorShape, shape_text, unknown_shape
from ..array.tensor_list_store import list_in, merged, shape_of
from ..shape_inference import known_sizes
from . import tensor_list_rules as rules
from .tensor_list_rules import GATHER, GET, NONE, SHAPED, TYPE, define_list_op, kind

if TYPE_CHECKING:
    from ...engine.graph.kernel_context import KernelContext


def _get(c: KernelContext, handle: Any, index: np.ndarray, shape: np.ndarray) -> np.ndarray:
    found, place = list_in(handle), int(index)
    found.require(kind(c.op))
    if not 0 <= place < len(found.items):
        raise GET(index, np.array(len(found.items)))
    item = found.items[place]
    if item is not None:
        return item
    wanted = merged(shape_of(shape), found.shape)
    if not wanted.is_fully_defined():
        wanted = found.agreed(wanted, found.items)
    if not wanted.is_fully_defined():
        raise errors.invalid(
            "Trying to read an uninitialized tensor but element_shape is not fully defined: "
            f"{shape_text(wanted)} and no list element is set."
        )
    return found.zeros(tuple(known_sizes(wanted)))


def _stack(c: KernelContext, handle: np.ndarray, shape: np.ndarray) -> np.ndarray:
    found, count = list_in(handle), c.attr("num_elements")
    found.require(kind(c.op))
    if count not in (-1, len(found.items)):
        raise errors.invalid(
            f"Operation expected a list with {count} elements but got a list with "
            f"{len(found.items)} elements."
        )
    wanted = merged(shape_of(shape), found.shape)
    if not wanted.is_fully_defined() and not found.items:
        raise errors.invalid(
            f"Tried to stack elements of an empty list with non-fully-defined element_shape: "
            f"{shape_text(wanted)}"
        )
    wanted = found.agreed(wanted, found.items)
    if not wanted.is_fully_defined():
        raise errors.invalid(
            "Tried to stack list which only contains uninitialized tensors and has a "
            f"non-fully-defined element_shape: {shape_text(wanted)}"
        )
    return found.rows(found.items, wanted)


def _gather(
    c: KernelContext, handle: np.ndarray, indices: np.ndarray, shape: np.ndarray
) -> np.ndarray:
    found = list_in(handle)
    found.require(kind(c.op))
    wanted = merged(shape_of(shape), found.shape)
    if not wanted.is_fully_defined() and not indices.size:
        raise errors.invalid(
            "Tried to gather 0-elements from a list with non-fully-defined shape: "
            f"{shape_text(wanted)}"
        )
    items = []
    for i in indices.reshape(-1).tolist():
        if not 0 <= i < len(found.items):
            raise GATHER(indices, np.array(len(found.items)))
        items.append(found.items[i])
    wanted = found.agreed(wanted, items)
    if not wanted.is_fully_defined():
        raise errors.invalid(
            "Tried to gather uninitialized tensors from a list with non-fully-defined "
            f"element_shape: {shape_text(wanted)}"
        )
    return found.rows(items, wanted)


def _concat(
    c: KernelContext,
    handle: np.ndarray,
    shape: np.ndarray | None = None,
    leading: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    found = list_in(handle)
    found.require(kind(c.op))
    given = TensorShape(c.attr("element_shape")) if shape is None else shape_of(shape)
    whole = merged(given, found.shape)
    if whole.rank == 0:
        raise errors.invalid(
            "Concat requires elements to be at least vectors, found scalars instead."
        )
    first = None if whole.rank is None else whole[0].value
    rest = unknown_shape() if whole.rank is None else whole[1:]
    if not found.items and not rest.is_fully_defined():
        raise errors.invalid(
            "All except the first dimension must be fully defined when concating an empty tensor "
            f"list. element_shape: {shape_text(rest)}"
        )
    for i, item in enumerate(found.items):
        if item is None:
            continue
        if item.ndim == 0:
            raise errors.invalid(
                f"Concat saw a scalar shape at index {i} but requires at least vectors."
            )
        rest = merged(rest, item.shape[1:])
        if first is not None and first != len(item):
            raise errors.invalid(
                "First entry of element_shape input does not match the first dim of list element "
                f"at index: {i} Expected: {first} Actual: {len(item)}"
            )
    if not rest.is_fully_defined():
        raise errors.invalid(
            "Trying to concat list with only uninitialized tensors but "
            f"element_shape_except_first_dim_ is not fully defined: {shape_text(rest)}"
        )
    sizes = {len(item) for item in found.items if item is not None}
    if first is None and len(sizes) == 1:
        first = sizes.pop()
    lengths = [_length(i, item, first, leading) for i, item in enumerate(found.items)]
    parts = [
        found.zeros((length, *rest.as_list())) if item is None else item
        for item, length in zip(found.items, lengths)
    ]
    joined = np.concatenate(parts) if parts else found.zeros((0, *rest.as_list()))
    return joined, np.array(lengths, np.int64)


def _length(i: int, item: Any, first: int | None, leading: np.ndarray | None) -> int:
    """How many rows an element has, one that was not set too."""
    if item is not None:
        return len(item)
    if leading is not None and i < leading.size:
        return int(leading[i])
    if first is not None:
        return first
    if leading is None:
        raise errors.invalid(
            "Concating lists with uninitialized tensors is not supported in this version of "
            "TensorListConcat. Consider updating your GraphDef to run the newer version."
        )
    raise errors.invalid(
        f"List contains uninitialized tensor at index {i} but leading_dims has only "
        f"{leading.size} elements."
    )


def _shape_kernel(c: KernelContext, handle: np.ndarray) -> np.ndarray:
    shape = list_in(handle).shape
    kind = c.out_dtype()
    if shape.rank is None:
        return np.array(-1, kind)
    return np.array([-1 if size is None else size for size in shape.as_list()], kind)


define_list_op(
    "TensorListLength",
    "input_handle: variant -> length: int32",
    "",
    rules.scalar,
    lambda c, handle: np.array(len(list_in(handle).items), np.int32),
    "How many elements a list has.",
    NONE.silently,
)
define_list_op(
    "TensorListElementShape",
    "input_handle: variant -> element_shape: shape_type",
    "shape_type: {int32, int64}",
    rules.element_shape_shape,
    _shape_kernel,
    "The shape that all elements fit, as a tensor.",
    NONE.silently,
)
define_list_op(
    "TensorListGetItem",
    "input_handle: variant, index: int32, element_shape: int32 -> item: element_dtype",
    TYPE,
    rules.get_shape,
    _get,
    "An element of a list.",
)
define_list_op(
    "TensorListStack",
    "input_handle: variant, element_shape: int32 -> tensor: element_dtype",
    f"{TYPE}; num_elements: int = -1",
    rules.stack_shape,
    _stack,
    "All elements, stacked.",
)
define_list_op(
    "TensorListGather",
    "input_handle: variant, indices: int32, element_shape: int32 -> values: element_dtype",
    TYPE,
    rules.gather_shape,
    _gather,
    "Some elements, stacked.",
)
define_list_op(
    "TensorListConcat",
    "input_handle: variant -> tensor: element_dtype, lengths: int64",
    f"{TYPE}; element_shape: shape = None",
    rules.concat_shape,
    _concat,
    "All elements, one behind the other, and their lengths.",
)
define_list_op(
    "TensorListConcatV2",
    "input_handle: variant, element_shape: shape_type, leading_dims: int64 -> "
    "tensor: element_dtype, lengths: int64",
    SHAPED,
    rules.concat_shape,
    _concat,
    "TensorListConcat with the lengths of elements that were not set.",
)
