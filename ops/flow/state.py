# SPDX-License-Identifier: Apache-2.0
"""The state of one loop while its gradient loop is built: the history of its values.

What the gradient needs of an iteration is pushed on a stack in the forward loop and popped in the
gradient loop, which runs backwards.
"""

from __future__ import annotations

from typing import Any

from ...engine.graph.constants import constant_value
from ...engine.graph.graph import colocate_with, control_dependencies, get_default_graph
from ...engine.graph.tensor import Tensor
from ..array.constant import is_constant
from ..public import raw, tf
from . import util
from .accumulate import inside
from .nodes import switch_ref_or_tensor
from .while_context import WhileContext


class GradLoopState:
    """A loop, its gradient loop, and what was saved of the one for the other."""

    def __init__(self, forward_ctxt: Any, outer_grad_state: Any) -> None:
        self.outer_grad_state: GradLoopState | None = outer_grad_state
        # By name of a forward tensor: what stands for it in the gradient loop.
        self.history_map: dict[str, Tensor] = {}
        # By switch of the forward loop: the merge of its gradient.
        self.switch_map: dict[Any, Tensor] = {}
        self.unused_exits: list[Tensor] = []
        self.deferred_exits: list[Tensor] = []
        self.forward_loop_exits = list(forward_ctxt.loop_exits)
        self.pending_exits_count = len(forward_ctxt.loop_exits)
        self._forward_sync: Any = None
        self._grad_sync: Any = None
        self.forward_context: Any = None
        if outer_grad_state is not None:
            outer = outer_grad_state.forward_context
        else:
            outer = forward_ctxt.outer_context
        # What waits here may wait for the loop, which must not wait for itself then.
        graph = forward_ctxt._graph
        with graph.as_default(), graph.control_dependencies(None), inside(outer):
            count, self.forward_index = forward_ctxt.AddForwardLoopCounter(outer_grad_state)
        # What takes the count need not be told to wait, as if it was made here.
        for controller in graph._control_dependencies_stack:
            controller.add_op(count.op)
        self.forward_context = forward_ctxt
        if outer_grad_state is None:
            with inside(outer):
                self.grad_context = self._gradient_context()
                self.grad_index = self.grad_context.AddBackpropLoopCounter(count, None)
            return
        # The loop ran once in each iteration of the one around: all those counts are kept.
        outer.AddName(count.name)
        history = outer_grad_state.AddForwardAccumulator(count)
        with inside(outer_grad_state.grad_context):
            self.grad_context = self._gradient_context()
            real = outer_grad_state.AddBackpropAccumulatedValue(history, count)
            self.grad_index = self.grad_context.AddBackpropLoopCounter(real, outer_grad_state)

    def _gradient_context(self) -> WhileContext:
        forward = self.forward_context
        return WhileContext(
            maximum_iterations=forward.maximum_iterations,
            parallel_iterations=forward.parallel_iterations,
            back_prop=forward.back_prop,
            swap_memory=forward.swap_memory,
            name=forward.name,
            grad_state=self,
        )

    @property
    def forward_sync(self) -> Any:
        """What all pushes of an iteration come before."""
        if self._forward_sync is None:
            with control_dependencies(None):
                self._forward_sync = raw.ControlTrigger(name="f_sync")
            self._forward_sync._set_control_flow_context(self.forward_context)
            self.forward_index.op._add_control_input(self._forward_sync)
        return self._forward_sync

    @property
    def grad_sync(self) -> Any:
        """What all pops of an iteration come before."""
        if self._grad_sync is None:
            with control_dependencies(None):
                self._grad_sync = raw.ControlTrigger(name="b_sync")
            self._grad_sync._set_control_flow_context(self.grad_context)
            self.grad_index.op._add_control_input(self._grad_sync)
            if self.grad_context.outer_context is not None:
                self.grad_context.outer_context.AddInnerOp(self._grad_sync)
        return self._grad_sync

    def AddForwardAccumulator(self, value: Tensor, dead_branch: bool = False) -> Tensor:
        """A stack that gets the value in every iteration of the forward loop."""
        with self.forward_index.graph.as_default():
            context = self._outside_of_conditions(get_default_graph()._get_control_flow_context())
            with control_dependencies(None):
                with inside(context), colocate_with(value):
                    size = tf.constant(-1, tf.int32)
                    kind = value.dtype.base_dtype
                    stack = raw.StackV2(max_size=size, elem_type=kind, name="f_acc")
                entered = self.forward_context.AddValue(stack)
                push = self._push(entered, value, dead_branch)
                # In iteration order: after the counter has counted, before the next iteration.
                push._add_control_input(self.forward_index.op.inputs[0].op)
                return stack

    def _outside_of_conditions(self, context: Any) -> Any:
        """Where a stack is made for a gradient that a context asks for.

        The loop runs whether or not a branch takes its gradient, so what enters it is there, too.
        """
        while (
            context is not None
            and context.IsCondContext()
            and not util.IsContainingContext(self.forward_context, context)
        ):
            context = context.outer_context
        return context

    def _push(self, stack: Tensor, value: Tensor, dead_branch: bool) -> Any:
        swap = self.forward_context.swap_memory
        context = util.GetOutputContext(value.op)
        if context is self.forward_context:
            with inside(self.forward_context):
                push = raw.StackPushV2(stack, value, swap_memory=swap).op
            self.forward_index.op._add_control_input(push)
            return push
        if context is None or not context.IsCondContext():
            raise TypeError(f"value_ctxt is not a CondContext: {context}")
        # Zeros for the branch that was not taken are pushed from outside of it.
        with inside(context.outer_context if dead_branch else context):
            push = raw.StackPushV2(stack, value, swap_memory=swap).op
        if dead_branch:
            push._set_control_flow_context(context)
        self.forward_sync._add_control_input(push)
        return push

    def AddBackpropAccumulatedValue(
        self, history_value: Tensor, value: Tensor, dead_branch: bool = False
    ) -> Tensor:
        """What was pushed last and not popped: the value in the iteration gone through now."""
        cond = _cond_between(value, history_value.op._get_control_flow_context())
        with control_dependencies(None):
            self.grad_context.Enter()
            if cond is not None:
                # What was pushed in a branch only is popped in that branch only.
                branch = 1 - cond.branch if dead_branch else cond.branch
                history_value = switch_ref_or_tensor(history_value, self._pred_of(cond))[branch]
            pop = raw.StackPopV2(history_value, value.dtype.base_dtype)
            pop.set_shape(value.get_shape())
            self.grad_context.Exit()
        if self.grad_context.parallel_iterations > 1:
            self.grad_sync._add_control_input(pop.op)
        return pop

    def _pred_of(self, cond: Any) -> Tensor:
        state: GradLoopState | None = self
        while state is not None:
            pred = state.history_map.get(cond.pred.name)
            if pred is not None:
                return pred
            state = state.outer_grad_state
        return cond.pred

    def GetRealValue(self, value: Tensor) -> Tensor:
        """What stands in the gradient loop for a value of the forward loop."""
        real = self.history_map.get(value.name)
        if real is None:
            real = self._real_value(value)
            self.history_map[value.name] = real
        return real

    def _real_value(self, value: Tensor) -> Tensor:
        current, state = value, self
        while True:
            entered = util.GetLoopConstantEnter(current)
            if entered is None:
                break
            # An invariant has no history: what it is outside of the loop will do.
            current = entered.inputs[0]
            if state.outer_grad_state is None:
                return self.grad_context.AddValue(current)
            state = state.outer_grad_state
        if is_constant(current):
            return tf.constant(constant_value(current), dtype=current.dtype)
        self.grad_context.Exit()
        history = state.AddForwardAccumulator(current)
        self.grad_context.Enter()
        real = state.AddBackpropAccumulatedValue(history, current)
        return real if state is self else self.grad_context.AddValue(real)


def _cond_between(value: Tensor, outside: object) -> Any:
    """The innermost conditional that the value is in and the stack is not."""
    context = value.op._get_control_flow_context()
    while context is not None and context is not outside:
        if context.IsCondContext():
            return context
        context = context.outer_context
    return None
