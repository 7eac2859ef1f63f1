# SPDX-License-Identifier: Apache-2.0
"""What a loop gets for its gradient: counters of iterations and sums over them.

The order in which these nodes are made is TensorFlow's.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ...engine.graph.tensor import IndexedSlices, Tensor
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape
from ..array.shape import shape_internal
from ..public import raw, tf
from .context import ControlFlowContext
from .nodes import enter, exit, merge, next_iteration, switch

if TYPE_CHECKING:
    from ...engine.graph.operation import Operation


@contextmanager
def inside(context: Any) -> Iterator[None]:
    """Builds within a context, if there is one."""
    if context is not None:
        context.Enter()
    yield
    if context is not None:
        context.Exit()


def resource_safe_shape(t: Tensor) -> Any:
    """The shape of a tensor, or of the variable that it is the handle of."""
    if t.dtype == dtypes.resource:
        while t.op.inputs:
            t = t.op.inputs[0]
        return TensorShape(t.op._attrs["shape"])
    return shape_internal(t, optimize=False)


class GradientLoop(ControlFlowContext):
    """The part of a loop that serves gradients; `WhileContext` is the only kind."""

    _parallel_iterations: int
    _pivot: Any
    _pivot_for_pred: Any
    _pivot_for_body: Any
    _loop_enters: list[Tensor]
    _loop_exits: list[Tensor]

    def _enter_variable(self, x: Tensor, name: str, use_input_shape: bool = True) -> Tensor:
        return enter(
            x,
            self._name,
            parallel_iterations=self._parallel_iterations,
            use_input_shape=use_input_shape,
            name=name,
        )

    def AddForwardLoopCounter(self, outer_grad_state: Any) -> tuple[Tensor, Tensor]:
        """Counts the iterations; returns the number of all, and that of the next iteration."""
        n = tf.constant(0, name="f_count")
        if outer_grad_state is not None:
            # Pushes of one run of this loop come before those of the next.
            n.op._add_control_input(outer_grad_state.forward_index.op.inputs[0].op)
        self.Enter()
        self.AddName(n.name)
        entered = self._enter_variable(n, "f_count")
        self._loop_enters.append(entered)
        # The merge takes the entered value twice until its second input, the next iteration's, is
        # made below.
        merged = merge([entered, entered])[0]
        switched = switch(merged, self._pivot)
        index = tf.add(switched[1], 1)
        following = next_iteration(index)
        merged.op._update_input(1, following)
        total = exit(switched[0], name="f_count")
        self._loop_exits.append(total)
        self.ExitResult([total])
        self.Exit()
        return total, following

    def AddBackpropLoopCounter(self, count: Tensor, outer_grad_state: Any) -> Tensor:
        """Makes this loop run `count` times; returns the number of iterations still to run."""
        one = tf.constant(1, name="b_count")
        self.Enter()
        self.AddName(count.name)
        entered = self._enter_variable(count, "b_count")
        self._loop_enters.append(entered)
        merged = merge([entered, entered])[0]
        self._pivot_for_pred = merged
        self._pivot = raw.LoopCond(tf.greater_equal(merged, one), name="b_count")
        # The gradient loop counts down: it runs once for each iteration of the forward loop, the
        # last first.
        switched = switch(merged, self._pivot)
        index = tf.subtract(switched[1], one)
        self._pivot_for_body = index
        following = next_iteration(index)
        merged.op._update_input(1, following)
        last = exit(switched[0], name="b_count")
        self._loop_exits.append(last)
        if outer_grad_state is not None:
            # Pops of one run of this loop come before those of the next.
            outer_grad_state.grad_sync._add_control_input(last.op)
        self.ExitResult([last])
        self.Exit()
        return following

    def AddBackpropAccumulator(self, op: Operation, grad: Tensor) -> Tensor:
        """Adds up the gradients of an invariant that entered at `op`."""
        self.Exit()
        shape = grad.get_shape()
        if shape.is_fully_defined():
            with inside(self.outer_context):
                start = tf.constant(0, grad.dtype, shape=shape, name="b_acc")
        else:
            start = self._zeros_like_input(op, grad)
        self.Enter()
        self.AddName(start.name)
        entered = self._enter_variable(start, "b_acc")
        self._loop_enters.append(entered)
        merged = merge([entered, entered], name="b_acc")[0]
        stopped, going = switch(merged, self._pivot)
        following = next_iteration(tf.add(going, grad))
        merged.op._update_input(1, following)
        result = exit(stopped, name="b_acc")
        self._loop_exits.append(result)
        self.ExitResult([result])
        return result

    def _zeros_like_input(self, op: Operation, grad: Tensor) -> Tensor:
        value, outer = op.inputs[0], self.outer_context
        is_nested = outer is not None and outer.IsWhileContext() and outer.grad_state is not None
        if not is_nested:
            with inside(outer):
                return tf.zeros(shape_internal(value, optimize=False), grad.dtype)
        # The shape is one of the loop around the forward loop: its history gives it.
        state = self.grad_state
        with inside(state.forward_context.outer_context):
            shape = shape_internal(value, optimize=False)
        history = state.outer_grad_state.AddForwardAccumulator(shape)
        with inside(outer):
            real = state.outer_grad_state.AddBackpropAccumulatedValue(history, shape)
            return tf.zeros(real, grad.dtype)

    def AddBackpropIndexedSlicesAccumulator(
        self, op: Operation, grad: IndexedSlices
    ) -> IndexedSlices:
        """Collects the sparse gradients of an invariant that entered at `op`."""
        self.Exit()
        with inside(self.outer_context):
            starts = self._empty_slices(op, grad)
        self.Enter()
        for x in (starts[1], starts[0], *starts[2:]):
            self.AddName(x.name)
        entered = [self._enter_variable(x, "b_acc", use_input_shape=False) for x in starts]
        entered[0].set_shape([None])
        if starts[1].shape.dims is not None:
            entered[1].set_shape([None] + starts[1].shape.as_list()[1:])
        self._loop_enters.extend(entered)
        merged = [merge([x, x], name="b_acc")[0] for x in entered]
        switched = [switch(x, self._pivot) for x in merged]
        # The slices of all iterations are joined, not summed: whoever applies them adds up equal
        # indices.
        sums = [
            tf.concat([before[1], x], 0) for before, x in zip(switched, (grad.indices, grad.values))
        ]
        if grad.dense_shape is not None:
            sums.append(tf.maximum(grad.dense_shape, switched[2][1]))
        for m, following in zip(merged, [next_iteration(x) for x in sums]):
            m.op._update_input(1, following)
        exits = [exit(x[0], name="b_acc") for x in switched]
        self._loop_exits.extend(exits)
        self.ExitResult(exits)
        shape = exits[2] if grad.dense_shape is not None else None
        return IndexedSlices(indices=exits[0], values=exits[1], dense_shape=shape)

    def _empty_slices(self, op: Operation, grad: IndexedSlices) -> list[Tensor]:
        """Indices, values and shape that add nothing to a gradient: one row of zeros."""
        source, values, dense = op.inputs[0], grad.values, grad.dense_shape
        if values.get_shape().is_fully_defined():
            shape = TensorShape([1] + values.get_shape().as_list()[1:])
            with inside(self.outer_context):
                rows = tf.constant(0, values.dtype, shape=shape, name="b_acc")
        else:
            sizes = tf.concat([[1], resource_safe_shape(source)[1:]], 0)
            rows = tf.zeros(sizes, dtype=values.dtype)
        starts = [tf.constant([0], grad.indices.dtype), rows]
        if dense is None:
            return starts
        if dense.get_shape().is_fully_defined():
            with inside(self.outer_context):
                starts.append(tf.constant(0, dense.dtype, shape=dense.get_shape()))
        else:
            sizes = shape_internal(source, optimize=False, out_type=dense.dtype)
            starts.append(tf.zeros_like(sizes, optimize=False))
        return starts
