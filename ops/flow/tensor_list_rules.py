# SPDX-License-Identifier: Apache-2.0
"""What a graph tells of a list of tensors: the type of its elements and the shape they fit."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...engine import errors
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape, unknown_shape
from .. import shape_inference
from ..array.tensor_list_store import shape_of

if TYPE_CHECKING:
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.operation import Operation
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView

LATER = NoGradient("stated in ops/flow/tensor_list.py, which needs these functions")
NONE = NoGradient("tells about a list, or rearranges several")
TYPE = "element_dtype: type"
SHAPED = f"{TYPE}; shape_type: {{int32, int64}}"

_PASSING = frozenset(
    "Identity Enter Switch Exit NextIteration Pack Unpack TensorListPushBack "
    "TensorListPushBackBatch TensorListPopBack TensorListSetItem TensorListResize "
    "TensorListScatterIntoExistingList TensorListConcatLists ZerosLike While StatelessWhile".split()
)
_LOOPS = ("While", "StatelessWhile")
# Op type -> which input states the shape of the elements of the list that it makes.
_MAKERS = {
    "EmptyTensorList": 0,
    "TensorListReserve": 0,
    "TensorListFromTensor": 1,
    "TensorListSplit": 1,
    "TensorListScatter": 2,
    "TensorListScatterV2": 2,
}


# TensorFlow 2's attribute of TensorListSetItem that says whether the list grows, as it is here.
RESIZES = "_resize_if_index_out_of_bounds"


def outside(text: str) -> Callable[[np.ndarray, np.ndarray], BaseException]:
    """The error for an index that a list does not have; text: with places for it and the length."""

    def error(index: np.ndarray, count: np.ndarray) -> BaseException:
        wrong = index[(index < 0) | (index >= count)]
        return errors.invalid(text.format(int(wrong.ravel()[0]), int(count)))

    return error


GET = outside("Trying to access element {} in a list with {} elements.")
SET = outside("Trying to modify element {} in a list with {} elements.")
GATHER = outside("Index {} out o range; list only has {} elements.")


class Elements(NamedTuple):
    """What is known of a list's elements; the dtype is None when its maker was not found."""

    dtype: dtypes.DType | None
    shape: TensorShape


def elements(tensor: Any) -> Elements:
    """What the op that made a list tells of its elements."""
    seen = set()
    while tensor.op not in seen:
        op = tensor.op
        seen.add(op)
        if op.type in _MAKERS:
            return Elements(kind(op), _shape_argument(op, _MAKERS[op.type]))
        if op._given is not None:
            tensor = op._given
            continue
        # The second output of a pop is an element, no list.
        if op.type not in _PASSING or (op.type == "TensorListPopBack" and tensor.value_index):
            break
        tensor = op.inputs[tensor.value_index if op.type in _LOOPS else 0]
    return Elements(None, unknown_shape())


def kind(op: Operation) -> dtypes.DType:
    """The dtype of the elements that an op works on."""
    return dtypes.as_dtype(op._attrs["element_dtype"])


def _shape_argument(op: Operation, index: int) -> TensorShape:
    from ...engine.graph.constants import constant_value, constant_value_as_shape

    sizes = op.inputs[index]
    if sizes.shape.rank == 0 or sizes.shape.rank is None:
        return unknown_shape()
    known = constant_value(sizes)
    return constant_value_as_shape(sizes) if known is None else shape_of(np.asarray(known))


# Shape functions


def scalar(c: ShapeContext) -> TensorShape:
    """The shape of a list."""
    return TensorShape([])


def _checked(c: ShapeContext, list_index: int = 0) -> TensorShape:
    """The shape of the elements of a list, whose dtype must be the op's."""
    found, wanted = elements(c.tensor(list_index)), kind(c.op)
    if found.dtype is not None and found.dtype != wanted:
        raise ValueError(
            f"Trying to read from list with wrong element dtype. List has type {found.dtype.name} "
            f"but expected type {wanted.name}"
        )
    return found.shape


def _argument(c: ShapeContext, index: int) -> TensorShape:
    """The shape in an input, as far as it is known."""
    if index >= len(c.inputs) or c.inputs[index].rank == 0:
        return unknown_shape()
    value = c.value(index)
    return c.value_as_shape(index) if value is None else shape_of(np.asarray(value))


def split_shape(c: ShapeContext) -> TensorShape:
    """TensorListSplit: the parts of a tensor have the shape that is stated."""
    shape_inference.ranked_at_least(c.inputs[0], 1)
    shape_inference.ranked(c.inputs[2], 1)
    inner = c.inputs[0]
    rows = unknown_shape() if inner.rank is None else TensorShape([None]).concatenate(inner[1:])
    shape_inference.merge(rows, _argument(c, 1))
    return TensorShape([])


def push_shape(c: ShapeContext) -> TensorShape:
    """The ops that put an element (their last input) into a list."""
    found, wanted = elements(c.tensor(0)), kind(c.op)
    if found.dtype is not None and found.dtype != wanted:
        raise ValueError(
            "Trying to push to list with wrong element dtype. List has type "
            f"{found.dtype.name} but trying to push element with type {wanted.name}"
        )
    item = c.inputs[-1]
    if c.op.type == "TensorListPushBackBatch":
        shape_inference.ranked(c.inputs[0], 1)
        shape_inference.ranked_at_least(item, 1)
        if item.rank is not None and c.inputs[0].rank is not None:
            shape_inference.merge(item[:1], c.inputs[0])
        return c.inputs[0]
    shape_inference.merge(item, found.shape)
    return TensorShape([])


def pop_shape(c: ShapeContext) -> list[TensorShape]:
    """TensorListPopBack: the list and an element."""
    return [TensorShape([]), _checked(c)]


def get_shape(c: ShapeContext) -> TensorShape:
    """TensorListGetItem."""
    return shape_inference.merge(_checked(c), _argument(c, 2))


def stack_shape(c: ShapeContext) -> TensorShape:
    """TensorListStack."""
    count = c.attr("num_elements")
    rows = TensorShape([None if count == -1 else count])
    return rows.concatenate(shape_inference.merge(_checked(c), _argument(c, 1)))


def gather_shape(c: ShapeContext) -> TensorShape:
    """TensorListGather."""
    return TensorShape(c.inputs[1]).concatenate(get_shape(c))


def concat_shape(c: ShapeContext) -> list[TensorShape]:
    """TensorListConcat and TensorListConcatV2."""
    if c.op.type == "TensorListConcat":
        given = TensorShape(c.attr("element_shape"))
    else:
        given = _argument(c, 1)
    shape, rows = shape_inference.merge(given, _checked(c)), TensorShape([None])
    if not shape.rank:
        return [unknown_shape(), rows]
    return [rows.concatenate(shape[1:]), rows]


def concat_lists_shape(c: ShapeContext) -> TensorShape:
    """TensorListConcatLists: lists of the same kind."""
    shape = shape_inference.merge(c.inputs[0], c.inputs[1])
    wanted = kind(c.op)
    both = [elements(c.tensor(i)) for i in (0, 1)]
    for name, found in zip(("input_a", "input_b"), both):
        if found.dtype is not None and found.dtype != wanted:
            raise ValueError(f"{name}.type != element_dtype: {found.dtype.name} vs. {wanted.name}")
    shape_inference.merge(both[0].shape, both[1].shape)
    return shape


def element_shape_shape(c: ShapeContext) -> TensorShape:
    """TensorListElementShape: a vector when the rank of the elements is known."""
    rank = elements(c.tensor(0)).shape.rank
    return unknown_shape() if rank is None else TensorShape([rank])


def _lowered(b: Builder, op: OpView, *values: Any) -> Any:
    # (Imported late: most programs have no lists.)
    from .tensor_list_lower import LOWER

    return LOWER[op.type](b, op, *values)


def define_list_op(
    name: str,
    signature: str,
    attrs: str,
    shape: Callable[..., Any],
    kernel: Callable[..., Any],
    doc: str,
    gradient: object = LATER,
    stateful: bool = False,
    is_compiled: bool = True,
) -> None:
    """Defines an op on lists; is_compiled: it is one of tensor_list_lower.LOWER."""
    define(
        name,
        signature,
        attrs,
        shape=shape,
        kernel=kernel,
        gradient=gradient,
        stateful=stateful,
        lower=_lowered if is_compiled else None,
        control_flow_role="step",
        test={"needs": "a list"},
        doc=doc,
    )
