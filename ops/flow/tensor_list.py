# SPDX-License-Identifier: Apache-2.0
"""Functions on lists of tensors (TensorFlow's list_ops), and the gradients of the ops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...engine.graph import registry
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.tensor import Tensor
from ...engine.types import dtypes
from ...engine.types.shape import Dimension, TensorShape
from ..public import raw, tf
from . import tensor_list_changing, tensor_list_making, tensor_list_reading  # noqa: F401
from .tensor_list_rules import RESIZES

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, ShapeLike, TensorLike
    from ...engine.graph.operation import Operation


def shape_argument(shape: Any) -> Any:
    """A shape as the ops take it: -1 for what is unknown."""
    if isinstance(shape, Tensor):
        return shape
    if isinstance(shape, TensorShape):
        shape = None if shape.rank is None else shape.as_list()
    if shape is None:
        return -1
    # As a tensor with a type: an empty Python list would be one of floats.
    if not len(shape):
        return convert_to_tensor([], dtypes.int32)
    sizes = (size.value if isinstance(size, Dimension) else size for size in shape)
    return [-1 if size is None else size for size in sizes]


def empty_tensor_list(
    element_shape: ShapeLike,
    element_dtype: DTypeLike,
    max_num_elements: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:
    """A list without elements, which may be limited in length."""
    limit = -1 if max_num_elements is None else max_num_elements
    shape = shape_argument(element_shape)
    return raw.EmptyTensorList(shape, limit, element_dtype=element_dtype, name=name)


def tensor_list_reserve(
    element_shape: TensorLike | None,
    num_elements: TensorLike,
    element_dtype: DTypeLike,
    name: str | None = None,
) -> Tensor:
    """A list of elements that were not set yet."""
    shape = shape_argument(element_shape)
    return raw.TensorListReserve(shape, num_elements, element_dtype=element_dtype, name=name)


def tensor_list_from_tensor(
    tensor: Any, element_shape: ShapeLike, name: str | None = None
) -> Tensor:
    """The rows of a tensor as a list."""
    return raw.TensorListFromTensor(tensor, shape_argument(element_shape), name=name)


def tensor_list_get_item(
    input_handle: TensorLike,
    index: TensorLike,
    element_dtype: DTypeLike,
    element_shape: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:
    """An element of a list."""
    shape = shape_argument(element_shape)
    return raw.TensorListGetItem(input_handle, index, shape, element_dtype=element_dtype, name=name)


def tensor_list_pop_back(
    input_handle: TensorLike, element_dtype: DTypeLike, name: str | None = None
) -> Any:
    """The list without its last element, and that element."""
    return raw.TensorListPopBack(input_handle, -1, element_dtype=element_dtype, name=name)


def tensor_list_push_back(
    input_handle: TensorLike, tensor: TensorLike, name: str | None = None
) -> Tensor:
    """The list with one more element."""
    return raw.TensorListPushBack(input_handle, tensor, name=name)


def tensor_list_length(input_handle: TensorLike, name: str | None = None) -> Tensor:
    """How many elements a list has."""
    return raw.TensorListLength(input_handle, name=name)


def tensor_list_gather(
    input_handle: TensorLike,
    indices: Sequence[int],
    element_dtype: DTypeLike,
    element_shape: Sequence[int] | None = None,
    name: str | None = None,
) -> Tensor:
    """Some elements, stacked."""
    shape = shape_argument(element_shape)
    return raw.TensorListGather(
        input_handle, indices, shape, element_dtype=element_dtype, name=name
    )


def tensor_list_scatter(
    tensor: TensorLike,
    indices: TensorLike,
    element_shape: Sequence[int] | None = None,
    input_handle: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:
    """A list, new or like `input_handle`, with the rows of a tensor at given places."""
    if input_handle is not None:
        return raw.TensorListScatterIntoExistingList(input_handle, tensor, indices, name=name)
    return raw.TensorListScatterV2(tensor, indices, shape_argument(element_shape), -1, name=name)


def tensor_list_stack(
    input_handle: TensorLike,
    element_dtype: DTypeLike,
    num_elements: int = -1,
    element_shape: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:
    """All elements, stacked."""
    return raw.TensorListStack(
        input_handle,
        shape_argument(element_shape),
        element_dtype=element_dtype,
        num_elements=num_elements,
        name=name,
    )


def tensor_list_concat(
    input_handle: TensorLike,
    element_dtype: DTypeLike,
    element_shape: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:
    """All elements, one behind the other."""
    return raw.TensorListConcatV2(
        input_handle,
        shape_argument(element_shape),
        convert_to_tensor([], dtypes.int64),
        element_dtype=element_dtype,
        name=name,
    )[0]


def tensor_list_split(
    tensor: TensorLike,
    element_shape: TensorLike | None,
    lengths: TensorLike,
    name: str | None = None,
) -> Tensor:
    """Parts of a tensor, of given lengths, as a list."""
    return raw.TensorListSplit(tensor, shape_argument(element_shape), lengths, name=name)


def tensor_list_set_item(
    input_handle: TensorLike,
    index: int,
    item: TensorLike,
    resize_if_index_out_of_bounds: bool = False,
    name: str | None = None,
) -> Tensor:
    """The list with another element at a place, lengthened for it if asked."""
    if resize_if_index_out_of_bounds:
        size, old = raw.TensorListLength(input_handle), input_handle
        input_handle = tf.cond(
            index >= size, lambda: raw.TensorListResize(old, index + 1), lambda: old
        )
    return raw.TensorListSetItem(input_handle, index, item, name=name)


# Gradients


def _shape_of(handle: Tensor) -> Tensor:
    return raw.TensorListElementShape(handle, shape_type=dtypes.int32)


def _inner_shape(tensor: Tensor) -> Tensor:
    return tf.slice(tf.shape(tensor), [1], [-1])


# The gradient of a list is a list of the gradients of its elements. Elements of it that were never
# set stand for zeros, which is why lists of them are reserved rather than filled.
def _push_grad(op: Operation, grad: Tensor) -> Any:
    item = op.inputs[1]
    return raw.TensorListPopBack(grad, tf.shape(item), element_dtype=op.get_attr("element_dtype"))


def _pop_grad(op: Operation, list_grad: Tensor, grad: Tensor) -> Any:
    # Only the element was used: the rest of the list has gradients of nothing.
    if list_grad is None:
        list_grad = empty_tensor_list(_shape_of(op.outputs[0]), grad.dtype)
    return raw.TensorListPushBack(list_grad, grad), None


def _stack_grad(op: Operation, grad: Tensor) -> Any:
    return tensor_list_from_tensor(grad, grad.shape[1:]), None


def _concat_grad(op: Operation, grad: Tensor, _: int) -> Any:
    found = tensor_list_split(grad, _shape_of(op.inputs[0]), op.outputs[1])
    return [found, *[None] * (len(op.inputs) - 1)]


def _split_grad(op: Operation, grad: Tensor) -> Any:
    tensor, _, lengths = op.inputs
    shape = tf.concat([[-1], _inner_shape(tensor)], axis=0)
    found = raw.TensorListConcatV2(grad, shape, lengths, element_dtype=tensor.dtype)
    return found[0], None, None


def _from_tensor_grad(op: Operation, grad: Tensor) -> Any:
    tensor = op.inputs[0]
    known = tensor.shape.rank and tensor.shape[0].value
    if grad is None:
        grad = empty_tensor_list(_shape_of(op.outputs[0]), tensor.dtype)
    found = tensor_list_stack(
        grad, tensor.dtype, -1 if known is None else known, _inner_shape(tensor)
    )
    return found, None


def _get_grad(op: Operation, grad: Tensor) -> Any:
    handle, index, _ = op.inputs
    # Reading an element gives a gradient to that element alone; the sum with other reads of the
    # list is AddN's, which adds lists element by element.
    zeros = raw.TensorListReserve(
        _shape_of(handle), raw.TensorListLength(handle), element_dtype=grad.dtype
    )
    return raw.TensorListSetItem(zeros, index, grad), None, None


def _set_grad(op: Operation, grad: Tensor) -> Any:
    _, index, item = op.inputs
    # The old element was overwritten: nothing depends on it any more.
    # (Read first: then the list can change in place.)
    item_grad = tensor_list_get_item(grad, index, item.dtype, tf.shape(item))
    list_grad = raw.TensorListSetItem(grad, index, tf.zeros_like(item))
    if op._attrs.get(RESIZES):
        list_grad = raw.TensorListResize(list_grad, raw.TensorListLength(op.inputs[0]))
    return list_grad, None, item_grad


def _resize_grad(op: Operation, grad: Tensor) -> Any:
    # What was cut off gets elements that are not set, zeros; what was added is cut off.
    return raw.TensorListResize(grad, raw.TensorListLength(op.inputs[0])), None


def _gather_grad(op: Operation, grad: Tensor) -> Any:
    handle, indices, _ = op.inputs
    zeros = tensor_list_reserve(_shape_of(handle), raw.TensorListLength(handle), grad.dtype)
    return tensor_list_scatter(grad, indices, input_handle=zeros), None, None


def _picked(op: Operation, grad: Tensor, tensor: Tensor, indices: Tensor) -> Tensor:
    return raw.TensorListGather(grad, indices, _inner_shape(tensor), element_dtype=tensor.dtype)


def _scatter_grad(op: Operation, grad: Tensor) -> Any:
    found = _picked(op, grad, op.inputs[0], op.inputs[1])
    return [found, *[None] * (len(op.inputs) - 1)]


def _scatter_into_grad(op: Operation, grad: Tensor) -> Any:
    _, tensor, indices = op.inputs
    found = _picked(op, grad, tensor, indices)
    # As for TensorListSetItem: what was overwritten has a gradient of zero.
    rest = tensor_list_scatter(tf.zeros_like(tensor), indices, input_handle=grad)
    return rest, found, None


for _name, _gradient in {
    "TensorListPushBack": _push_grad,
    "TensorListPopBack": _pop_grad,
    "TensorListStack": _stack_grad,
    "TensorListConcat": _concat_grad,
    "TensorListConcatV2": _concat_grad,
    "TensorListSplit": _split_grad,
    "TensorListFromTensor": _from_tensor_grad,
    "TensorListGetItem": _get_grad,
    "TensorListSetItem": _set_grad,
    "TensorListResize": _resize_grad,
    "TensorListGather": _gather_grad,
    "TensorListScatter": _scatter_grad,
    "TensorListScatterV2": _scatter_grad,
    "TensorListScatterIntoExistingList": _scatter_into_grad,
}.items():
    registry.amend(_name, gradient=_gradient)
