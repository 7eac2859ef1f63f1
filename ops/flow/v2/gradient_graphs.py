# SPDX-License-Identifier: Apache-2.0
"""The bodies of gradients of branches, loops and calls that are functions.

What such a gradient needs of the values within the forward body, the forward node gives as further
outputs: it gets these when they are first needed, and its functions are replaced by ones that
return them.  So nothing is computed twice, and random numbers are the ones that were drawn.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ....engine.gradients.autodiff import gradients, is_trainable
from ....engine.gradients.autodiff_flow import zeros_for
from ....engine.graph.constants import constant_value
from ....engine.graph.convert import convert_to_tensor
from ....engine.graph.defaults import get_default_graph
from ....engine.graph.operation import Operation
from ....engine.graph.tensor import IndexedSlices, Tensor, uid
from ....engine.types import dtypes
from ....engine.types.shape import unknown_shape
from ...public import raw, tf
from ..tensor_list import empty_tensor_list, tensor_list_pop_back, tensor_list_push_back
from .graphs import BodyGraph, as_function, is_resource, origin


class GradientGraph(BodyGraph):
    """The body of a gradient, which may use the tensors of the forward body."""

    def __init__(self, name: str, forward: BodyGraph, op: Operation) -> None:
        super().__init__(name, get_default_graph())
        self.forward = forward
        self.op = op
        # Tensors of the forward body -> what stands for them here.
        self._found: dict[Tensor, Tensor] = {}

    def capture(self, tensor: Tensor, name: str | None = None) -> Tensor:
        if tensor.graph is not self.forward:
            return super().capture(tensor, name)
        while tensor.op.type == "Identity":
            tensor = tensor.op.inputs[0]
        if tensor not in self._found:
            self._found[tensor] = self._of_forward(tensor)
        return self._found[tensor]

    def _of_forward(self, tensor: Tensor) -> Tensor:
        if tensor.op.type == "Const" and tensor not in self.forward.inputs:
            with self.as_default():
                return tf.constant(constant_value(tensor), dtype=tensor.dtype)
        if is_resource(tensor):
            tensor = self.forward.inputs[origin(tensor, self.forward.inputs)]
            return super().capture(self._given(self.forward.inputs.index(tensor)))
        return self._value(tensor)

    @abstractmethod
    def _given(self, number: int) -> Tensor:
        """What the forward node is given for a parameter."""

    @abstractmethod
    def _value(self, tensor: Tensor) -> Tensor:
        """What stands here for a tensor of the forward body that is no constant and no handle."""

    def _outside(self, tensor: Tensor) -> Tensor:
        """The parameter for a tensor of the forward node's graph."""
        return BodyGraph.capture(self, tensor)

    def _index(self, tensors: Sequence[Tensor], tensor: Tensor) -> int | None:
        return next((i for i, x in enumerate(tensors) if x is tensor), None)


class CallGradient(GradientGraph):
    """Of a call: values within are given on as they are."""

    # Inputs of the node before those of the function.
    leading = 0

    def _given(self, number: int) -> Tensor:
        return self.op.inputs[self.leading + number]

    def _value(self, tensor: Tensor) -> Tensor:
        number = self._index(self.forward.inputs, tensor)
        if number is not None:
            return self._outside(self._given(number))
        return self._kept(tensor)

    def _kept(self, tensor: Tensor) -> Tensor:
        number = self._index(self.forward.outputs, tensor)
        if number is None:
            number = len(self.forward.outputs)
            self.forward.outputs.append(tensor)
            self.op._add_outputs([tensor.dtype.base_dtype], [tensor.shape])
        return self._outside(self.op.outputs[number])


class BranchGradient(CallGradient):
    """Of one branch: values within are given on as optionals, which other branches leave empty."""

    leading = 1

    def _kept(self, tensor: Tensor) -> Tensor:
        number = self._index(self.forward.outputs, tensor)
        if number is not None:
            return self._outside(self.op.outputs[number])
        number = self._optional(tensor)
        kept = self._outside(self.op.outputs[number])
        types, shapes = [tensor.dtype.base_dtype], [tensor.shape]
        with self.as_default():
            found = raw.OptionalGetValue(kept, output_types=types, output_shapes=shapes)
        return found[0] if isinstance(found, (list, tuple)) else found

    def _optional(self, tensor: Tensor) -> int:
        """Which of the node's outputs is an optional of a tensor of the branch."""
        for consumer in tensor.consumers():
            if consumer.type == "OptionalFromValue":
                number = self._index(self.forward.outputs, consumer.outputs[0])
                if number is not None:
                    return number
        with self.forward.as_default():
            self.forward.outputs.append(raw.OptionalFromValue([tensor]))
        number = len(self.forward.outputs) - 1
        if number == len(self.op.outputs):
            self.op._add_outputs([dtypes.variant], [unknown_shape(0)])
        return number


class LoopGradient(GradientGraph):
    """Of a turn: values within are kept in lists, one element a turn, and taken from the end."""

    def __init__(
        self, name: str, cond: BodyGraph, body: BodyGraph, op: Operation, limit: Tensor | int
    ) -> None:
        super().__init__(name, body, op)
        self.cond, self.limit = cond, limit
        # Parameters that stand for lists -> these without the elements of this turn.
        self.popped: dict[Tensor, Tensor] = {}

    def _given(self, number: int) -> Tensor:
        body = self.forward
        if body.inputs[number] is not body.outputs[number]:
            raise ValueError(f"Resource tensors must be loop invariants: {self.op.inputs[number]}")
        return self.op.inputs[number]

    def _value(self, tensor: Tensor) -> Tensor:
        body = self.forward
        number = self._index(body.inputs, tensor)
        if number is not None and body.outputs[number] is tensor:
            return self._outside(self.op.outputs[number])
        number = self._accumulator(tensor)
        kept = self._outside(self.op.outputs[number])
        with self.as_default():
            self.popped[kept], value = tensor_list_pop_back(kept, tensor.dtype.base_dtype)
            value.set_shape(tensor.shape)
        return value

    def _accumulator(self, tensor: Tensor) -> int:
        """Which of the loop's variables is a list of a tensor's values."""
        body = self.forward
        for consumer in tensor.consumers():
            if consumer.type == "TensorListPushBack":
                number = self._index(body.outputs, consumer.outputs[0])
                if number is not None and consumer.inputs[0] is body.inputs[number]:
                    return number
        with beside(self.op):
            name = f"{tensor.name}/accumulator".replace(":", "_")
            empty = empty_tensor_list(tensor.shape, tensor.dtype.base_dtype, self.limit, name)
        with body.as_default():
            body.outputs.append(tensor_list_push_back(body.capture(empty), tensor))
        self.cond.capture(empty)
        self.op._add_while_inputs([empty])
        self.op._add_outputs([dtypes.variant], [unknown_shape(0)])
        return len(body.outputs) - 1


@contextmanager
def beside(op: Operation) -> Iterator[None]:
    """New nodes wait for nothing, and are of the branch or loop of TensorFlow 1 that `op` is of."""
    graph = op.graph
    with graph.as_default(), graph.control_dependencies(None):
        graph._set_control_flow_context(op._get_control_flow_context())
        yield


@contextmanager
def kept_on_failure(op: Operation) -> Iterator[None]:
    """An operation that is as it was where a gradient could not be built."""
    inputs, outputs = len(op._inputs_val), len(op._outputs)
    try:
        yield
    except BaseException:
        for tensor in op._inputs_val[inputs:]:
            tensor._consumers.remove(op)
        op._inputs_val, op._input_types_val = op._inputs_val[:inputs], op._input_types_val[:inputs]
        del op._outputs[outputs:]
        op._graph.note_mutation()
        raise


def rewritten(graph: BodyGraph) -> Any:
    """A forward body with further results, as a function of its own."""
    graph.name = f"{graph.name}_rewritten"
    if graph.outer_graph._is_function(graph.name):
        graph.name = f"{graph.name}_{uid()}"
    return as_function(graph)


def set_attrs(op: Operation, **attrs: Any) -> None:
    """Attributes of an operation, as Python values."""
    op._attrs.update(attrs)
    op._graph.note_mutation()


def gradients_of(
    graph: BodyGraph, ys: Sequence[Tensor], xs: Sequence[Tensor], grads: Sequence[Any]
) -> list[Any]:
    """The gradients of a forward body by its parameters, zeros where there is no influence.

    Args:
        graph: the forward body; the default graph is the gradient's.
        ys: some of its results.
        xs: some of its parameters.
        grads: the gradients of the results.
    """
    pairs = [(y, g) for y, g in zip(ys, grads, strict=True) if is_trainable(y) and g is not None]
    found: list[Any] = [None] * len(xs)
    if pairs and xs:
        wanted, given = zip(*pairs)
        found = gradients(list(wanted), list(xs), grad_ys=list(given))
    return [zeros_for(x) if grad is None else grad for x, grad in zip(xs, found)]


def whole(grad: Any) -> Tensor:
    """A gradient as a tensor."""
    return convert_to_tensor(grad)


def without_shapeless(grad: Any) -> Any:
    """IndexedSlices with a dense shape, for they leave functions as three tensors."""
    is_shapeless = isinstance(grad, IndexedSlices) and grad.dense_shape is None
    return whole(grad) if is_shapeless else grad
