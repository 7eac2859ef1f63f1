# SPDX-License-Identifier: Apache-2.0
"""Static shapes of new nodes: runs the op's shape function, words its errors as TensorFlow does."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from ..types.dtypes import DType
from ..types.shape import TensorShape, as_shape, shape_text, unknown_shape
from .constants import evaluate, evaluate_shape
from .operation import Operation
from .tensor import Tensor


class ShapeContext:
    """What a shape function sees of a node that is being made."""

    __slots__ = ("_op", "inputs", "values_asked", "shapes_asked")

    def __init__(self, op: Operation) -> None:
        self._op = op
        self.inputs = [tensor.shape for tensor in op._inputs_val]
        self.values_asked: set[int] = set()
        self.shapes_asked: set[int] = set()

    @property
    def op_type(self) -> str:
        """The type of the node."""
        return self._op.type

    @property
    def name(self) -> str:
        """The name of the node."""
        return self._op.name

    @property
    def op(self) -> Operation:
        """The node itself."""
        return self._op

    def attr(self, name: str) -> Any:
        """An attribute as a plain Python value, text rather than bytes."""
        return self._op.attr(name)

    def dtype(self, index: int) -> DType:
        """The type of an input."""
        return self._op._inputs_val[index].dtype.base_dtype

    def out_dtype(self, index: int = 0) -> DType:
        """The type of an output."""
        return self._op.outputs[index].dtype.base_dtype

    def tensor(self, index: int) -> Tensor:
        """An input itself."""
        return self._op._inputs_val[index]

    def value(self, index: int) -> np.ndarray | None:
        """The value of an input if it is known when the graph is built."""
        self.values_asked.add(index)
        return evaluate(self._op._inputs_val[index])

    def value_as_shape(self, index: int) -> TensorShape:
        """The shape that an input spells, as far as it is known."""
        self.shapes_asked.add(index)
        return evaluate_shape(self._op._inputs_val[index])


class _ShapesAlone(ShapeContext):
    """What an operation's shape function sees as long as no input has been computed for it."""

    __slots__ = ()

    def value(self, index: int) -> None:
        del index

    def value_as_shape(self, index: int) -> TensorShape:
        del index
        return unknown_shape()


def _fails_without_values(op: Operation, reason: str) -> bool:
    """Whether it takes no input's value to see what is wrong: then errors tell of none."""
    try:
        op.definition.shape(_ShapesAlone(op))  # type: ignore[misc]
    except ValueError as error:
        return str(error) == reason
    return False


def infer_shapes(op: Operation) -> None:
    """Sets the static shapes of the outputs of a new node."""
    function = op.definition.shape
    if function is None:
        return
    context = ShapeContext(op)
    try:
        shapes = function(context)
    except ValueError as error:
        if _fails_without_values(op, str(error)):
            context = ShapeContext(op)
        raise ValueError(_shape_error(op, context, str(error))) from None
    if shapes is None or not op.outputs:
        return
    for output, shape in zip(op.outputs, shape_list(shapes, len(op.outputs)), strict=True):
        output._shape_val = shape


# Tensors that are looked at for one; beyond that it is taken to lead to a shape.
_MOST_REACHED = 64


def spells_shape(tensor: Tensor) -> bool:
    """Does an operation that takes a tensor have results of the shape that it spells?"""
    for op in tensor.consumers():
        function = op.definition.shape
        if function is None:
            continue
        context = ShapeContext(op)
        function(context)
        if any(op._inputs_val[i] is tensor for i in context.shapes_asked):
            return True
    return False


def leads_to_shape(tensor: Tensor, among: Collection[Operation] | None = None) -> bool:
    """Are shapes of results computed with what an integer tensor holds?

    It is followed through the operations that shapes are computed with, up to one whose shape
    function asks for what it takes.  Labels and counters are integers too, and lead to none.
    among: if given, only these operations count, and that one branches or loops counts as well.
    """
    reached, ahead = {tensor}, [tensor]
    while ahead and len(reached) < _MOST_REACHED:
        current = ahead.pop()
        for op in current.consumers():
            if among is not None:
                if op not in among:
                    continue
                if op.definition.control_flow_role:
                    return True
            if _asks_for(op, current):
                return True
            if op.definition.sizes:
                found = {out for out in op.outputs if out.dtype.is_integer} - reached
                reached |= found
                ahead += found
    return bool(ahead)


def _asks_for(op: Operation, tensor: Tensor) -> bool:
    if op.definition.shape is None:
        return False
    context = ShapeContext(op)
    op.definition.shape(context)
    return any(op._inputs_val[i] is tensor for i in (*context.shapes_asked, *context.values_asked))


def shape_list(returned: Any, count: int) -> list[TensorShape]:
    """What a shape function returned for `count` outputs, as one shape for each."""
    if isinstance(returned, TensorShape) or not isinstance(returned, (list, tuple)):
        returned = [returned]
    elif count == 1 and not (len(returned) == 1 and _is_shape(returned[0])):
        returned = [TensorShape(returned)]
    return [unknown_shape() if shape is None else as_shape(shape) for shape in returned]


def _is_shape(value: TensorShape) -> bool:
    return value is None or isinstance(value, (TensorShape, list, tuple))


def _shape_error(op: Operation, context: ShapeContext, reason: str) -> str:
    shapes = ", ".join(
        "?" if shape.sizes is None else shape_text(shape) for shape in context.inputs
    )
    text = f"{reason} for '{op.name}' (op: '{op.type}') with input shapes: {shapes}"
    partial, computed = [], []
    for i in range(len(context.inputs)):
        if i in context.shapes_asked:
            shape = context.value_as_shape(i)
            if shape.rank is not None:
                partial.append(f"input[{i}] = {shape_text(shape)}")
        elif i in context.values_asked:
            value = context.value(i)
            if value is not None:
                computed.append(f"input[{i}] = <{' '.join(str(x) for x in value.ravel()[:3])}>")
    if computed:
        text += " and with computed input tensors: " + ", ".join(computed)
    if partial:
        text += " and with input tensors computed as partial shapes: " + ",".join(partial)
    return text + "."
