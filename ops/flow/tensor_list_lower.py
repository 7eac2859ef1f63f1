# SPDX-License-Identifier: Apache-2.0
"""How compiled plans keep lists of tensors: as arrays, see jit/library/lists.py.

Lists of texts or of lists, and elements of several shapes, are left to the reference kernels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.types import dtypes
from ...engine.types.shape import as_shape, shape_text
from .tensor_list_rules import GATHER, GET, RESIZES, SET, outside

if TYPE_CHECKING:
    from ...jit.library.lists import Elements, Stated
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView


def _dtype(op: OpView) -> str:
    name = dtypes.as_dtype(op.node._attrs["element_dtype"]).name
    return "float16" if name == "half" else name


def _stated(b: Builder, shape: Value) -> Stated:
    """The shape that a tensor states: -1 for what is open, and alone for all of it."""
    known = b.known(shape)
    if known is None:
        from ...jit.trace.measuring import measured

        # (Sizes that a run computes are none that are open.)
        known = b.known(measured(b, shape))
    if known is None:
        raise b.host("the shape of a list's elements depends on the data")
    if not known.ndim:
        return None
    return tuple(None if _is_open(size) else size for size in known.tolist())


def _is_open(size: Any) -> bool:
    return isinstance(size, int) and size < 0


def _elements(b: Builder, op: OpView, size: Any, shape: Value) -> Elements:
    from ...jit.library.lists import Elements

    return Elements(op.name, _dtype(op), size, _stated(b, shape))


def _count(b: Builder, size: Value) -> Any:
    known = b.known(size)
    if known is None:
        from ...jit.trace.measuring import measured

        known = b.known(measured(b, size))
    if known is None or known.ndim:
        raise b.host("how long a list is depends on the data")
    count = known.item()
    b.require(not count < 0)
    return count


def _scattered(index: np.ndarray, count: np.ndarray) -> BaseException:
    if (index < 0).any():
        return errors.invalid("Indices in TensorListScatter must all be non-negative.")
    text = "TensorListScatter: Trying to scatter at index {} in list with size {}"
    return outside(text)(index, count)


def _unset(text: str, empty: str = "") -> Callable[[Stated], Callable[..., BaseException]]:
    """What makes the error for a list of which nobody knows the shape of its elements.

    empty: the text for a list without any.
    """

    def of(stated: Stated) -> Callable[..., BaseException]:
        shape = shape_text(None if stated is None else [_number(size) for size in stated])
        return lambda count: errors.invalid((text if count else empty or text).format(shape))

    return of


def _number(size: Any) -> int | None:
    from ...jit.kernel import sizes

    return None if size is None else int(sizes.hint(size))


_GET_UNSET = _unset(
    "Trying to read an uninitialized tensor but element_shape is not fully defined: {} and no list "
    "element is set."
)
_STACK_UNSET = _unset(
    "Tried to stack list which only contains uninitialized tensors and has a non-fully-defined "
    "element_shape: {}",
    "Tried to stack elements of an empty list with non-fully-defined element_shape: {}",
)
_GATHER_UNSET = _unset(
    "Tried to gather uninitialized tensors from a list with non-fully-defined element_shape: {}"
)
_CONCAT_UNSET = _unset(
    "Trying to concat list with only uninitialized tensors but element_shape_except_first_dim_ is "
    "not fully defined: {}"
)


# Making lists.


def _empty(b: Builder, op: OpView, shape: Value, limit: Value) -> Any:
    from ...jit.library import lists

    known = b.known(limit)
    if known is None or known.ndim or known.item() != -1:
        raise b.host("a list of limited length")
    return lists.new(b, _elements(b, op, 0, shape))


def _reserve(b: Builder, op: OpView, shape: Value, count: Value) -> Any:
    from ...jit.library import lists

    return lists.new(b, _elements(b, op, _count(b, count), shape))


def _from_tensor(b: Builder, op: OpView, tensor: Value, shape: Value) -> Any:
    from ...jit.library import lists

    return lists.of_rows(b, op.name, _stated(b, shape), tensor)


def _scatter(
    b: Builder, op: OpView, tensor: Value, indices: Value, shape: Value, count: Value | None = None
) -> Any:
    from ...jit.library import lists

    size, places = -1, b.known(indices)
    if count is not None:
        known = b.known(count)
        size = -1 if known is None else known.item()
    if _is_open(size):
        if places is None or places.dtype == object:
            raise b.host("how long a list is depends on the data")
        size = int(places.max(initial=-1)) + 1
    return lists.scattered(b, _elements(b, op, size, shape), indices, tensor, _scattered)


# Changing lists.


def _set(b: Builder, op: OpView, handle: Value, index: Value, item: Value) -> Any:
    from ...jit.library import lists

    if op.node._attrs.get(RESIZES):
        raise b.host("a list grows as it is set")
    return lists.put(b, handle, index, item, SET)


def _push(b: Builder, op: OpView, handle: Value, item: Value) -> Any:
    from ...jit.library import lists

    return lists.pushed(b, handle, item)


def _resize(b: Builder, op: OpView, handle: Value, count: Value) -> Any:
    from ...jit.library import lists

    return lists.resized(b, handle, count)


def _scatter_into(b: Builder, op: OpView, handle: Value, tensor: Value, indices: Value) -> Any:
    from ...jit.library import lists

    return lists.scattered_into(b, handle, indices, tensor)


# Reading lists.


def _length(b: Builder, op: OpView, handle: Value) -> Any:
    from ...jit.library import lists

    return lists.length(b, handle)


def _element_shape(b: Builder, op: OpView, handle: Value) -> Any:
    from ...jit.library import lists

    stated = lists.given(b, handle).elements.stated
    if stated is None:
        return b.constant(-1, op.dtype())
    sizes = np.array([-1 if size is None else size for size in stated], object)
    return b.known_as(sizes, op.dtype())


def _get(b: Builder, op: OpView, handle: Value, index: Value, shape: Value) -> Any:
    from ...jit.library import lists

    stated = _stated(b, shape)
    return lists.read(b, handle, index, op.dtype(), stated, GET, _GET_UNSET(stated))


def _stack(b: Builder, op: OpView, handle: Value, shape: Value) -> Any:
    from ...jit.library import lists

    stated, count = _stated(b, shape), op.attr("num_elements")
    found = lists.stacked(b, handle, op.dtype(), stated, _STACK_UNSET(stated))
    b.require(count == -1 or b.equal(found.shape[0], count))
    return found


def _gather(b: Builder, op: OpView, handle: Value, indices: Value, shape: Value) -> Any:
    from ...jit.library import lists

    stated = _stated(b, shape)
    unset = _GATHER_UNSET(stated)
    return lists.gathered(b, handle, indices, op.dtype(), stated, GATHER, unset)


def _concat(
    b: Builder, op: OpView, handle: Value, shape: Value | None = None, leading: Value | None = None
) -> Any:
    from ...jit.library import lists

    if leading is not None and not b.equal(leading.shape[0], 0):
        raise b.host("how long elements are is stated")
    stated = as_shape(op.attr("element_shape")).sizes if shape is None else _stated(b, shape)
    rows = lists.stacked(b, handle, op.dtype(), stated, _CONCAT_UNSET(stated))
    if rows.ndim < 2:
        raise b.host("elements that are scalars are put behind one another")
    count, length, *rest = rows.shape
    joined = b.reshape(rows, (count * length, *rest))
    return joined, b.full((count,), b.known_as(np.array(length, object), "int64"), "int64")


LOWER: dict[str, Callable[..., Any]] = {
    "EmptyTensorList": _empty,
    "TensorListReserve": _reserve,
    "TensorListFromTensor": _from_tensor,
    "TensorListScatter": _scatter,
    "TensorListScatterV2": _scatter,
    "TensorListSetItem": _set,
    "TensorListPushBack": _push,
    "TensorListResize": _resize,
    "TensorListScatterIntoExistingList": _scatter_into,
    "TensorListLength": _length,
    "TensorListElementShape": _element_shape,
    "TensorListGetItem": _get,
    "TensorListStack": _stack,
    "TensorListGather": _gather,
    "TensorListConcat": _concat,
    "TensorListConcatV2": _concat,
}
