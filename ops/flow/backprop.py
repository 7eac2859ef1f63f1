# SPDX-License-Identifier: Apache-2.0
"""What the reverse walk (engine/gradients/autodiff.py) asks about loops and conditionals."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Sequence
from typing import Any

from ...engine.gradients.autodiff_flow import ControlFlow, install
from ...engine.graph.graph import colocate_with, control_dependencies, get_default_graph
from ...engine.graph.operation import Operation
from ...engine.graph.tensor import Tensor
from ...engine.types import dtypes
from ..array.shape import shape_internal
from ..public import tf
from ..state.resource import variable_behind, zeros_like_variable
from . import util
from .accumulate import inside
from .nodes import next_iteration, switch, switch_ref_or_tensor
from .state import GradLoopState


class ControlFlowState:
    """The states of all loops that one call of `gradients` goes through."""

    def __init__(self) -> None:
        self._map: dict[Any, GradLoopState] = {}

    def GetGradState(self, op: Operation, before: bool) -> GradLoopState | None:
        """The state of the loop that an op is in; of an exit before its gradient, around it."""
        if before and util.IsLoopExit(op):
            forward = _loop_around(op._get_control_flow_context())
        else:
            forward = util.GetWhileContext(op)
        return None if forward is None else self._map.get(forward)

    def _outer_state(self, forward: object) -> GradLoopState | None:
        outer = _loop_around(forward)
        return None if outer is None else self._map.get(outer)

    def ProcessUnusedLoopExits(
        self, pending_count: dict[Operation, int], to_ops_set: Collection[Operation]
    ) -> list[Tensor]:
        """The exits that nothing depends on, of loops that nothing else makes ready."""
        result: list[Tensor] = []
        for state in self._map.values():
            for y in state.forward_loop_exits:
                if pending_count[y.op]:
                    continue
                state.pending_exits_count -= 1
                if y.op not in to_ops_set:
                    state.unused_exits.append(y)
                if state.pending_exits_count == 0:
                    result.extend(state.unused_exits)
            # For gradients of gradients the enters are gone through too.
            for y in state.forward_context.loop_enters:
                if pending_count[y.op] == 0:
                    pending_count[y.op] = 1
        return result

    def EnterGradWhileContext(self, op: Operation, before: bool) -> None:
        """Enters the gradient loop of the loop that an op is in."""
        state = self.GetGradState(op, before)
        if state is not None:
            state.grad_context.Enter()

    def ExitGradWhileContext(self, op: Operation, before: bool) -> None:
        """Leaves it again."""
        state = self.GetGradState(op, before)
        if state is not None:
            state.grad_context.Exit()

    def AddWhileContext(
        self, op: Operation, between: list[Operation], inside_ops: set[Operation]
    ) -> None:
        """Makes the state of the loop that an exit belongs to; its other exits count as between."""
        forward = util.GetWhileContext(op)
        if forward in self._map:
            return
        state = self._map[forward] = GradLoopState(forward, self._outer_state(forward))
        for loop_exit in state.forward_loop_exits:
            if loop_exit.op not in inside_ops:
                inside_ops.add(loop_exit.op)
                between.append(loop_exit.op)

    def ZerosLikeForExit(self, val: Tensor) -> Tensor:
        """Zeros for the gradient of an exit that has none, though others of the loop have."""
        shape = val.get_shape()
        forward = val.op._get_control_flow_context()
        state = self._outer_state(forward)
        if state is None:
            if shape.is_fully_defined():
                return tf.zeros(shape.dims, val.dtype)
            return tf.zeros_like(val, optimize=False)
        if shape.is_fully_defined():
            with inside(state.grad_context):
                return tf.zeros(shape.dims, val.dtype)
        with inside(forward.outer_context):
            sizes = shape_internal(val, optimize=False)
        history = state.AddForwardAccumulator(sizes)
        with inside(state.grad_context):
            return tf.zeros(state.AddBackpropAccumulatedValue(history, sizes), val.dtype)

    def ZerosLike(self, op: Operation, index: int) -> Tensor | None:
        """Zeros for the missing gradient of an output, in the gradient loop of its loop."""
        if util.IsLoopSwitch(op):
            return None
        forward = util.GetWhileContext(op)
        state = None if forward is None else self._map.get(forward)
        if state is None:
            return zeros_outside_loop(op, index)
        # The output of a conditional's switch is dead in iterations that took the other branch.
        is_dead = util.IsSwitch(op)
        context = op._get_control_flow_context()
        val = op.outputs[index]
        shape = val.get_shape()
        if not shape.is_fully_defined():
            return self._zeros_by_history(op, val, state)
        variable = variable_behind(val) if val.dtype == dtypes.resource else None
        if variable is not None:
            # (The handle outside of the loop, which is not dead.)
            result = zeros_like_variable(variable.outputs[0])
        else:
            result = tf.constant(0, shape=shape.as_list(), dtype=val.dtype)
        if is_dead:
            # The switch of a conditional: the zeros belong to the branch not taken.
            pred = state.history_map.get(context.pred.name)
            result = switch_ref_or_tensor(result, pred)[1 - context.branch]
        return result

    def _zeros_by_history(self, op: Operation, val: Tensor, state: GradLoopState) -> Tensor:
        context, is_dead = op._get_control_flow_context(), util.IsSwitch(op)
        if is_dead:
            with inside(context.outer_context):
                val = switch_ref_or_tensor(op.inputs[0], context.pred)[1 - context.branch]
                sizes = shape_internal(val, optimize=False)
            val.op._set_control_flow_context(context)
            sizes.op._set_control_flow_context(context)
        else:
            with inside(context):
                sizes = shape_internal(val, optimize=False)
        state.grad_context.Exit()
        history = state.AddForwardAccumulator(sizes, dead_branch=is_dead)
        state.grad_context.Enter()
        real = state.AddBackpropAccumulatedValue(history, sizes, is_dead)
        return tf.zeros(real, val.dtype)

    def PostProcessing(self) -> None:
        """A loop variable that does not depend on itself has no gradient from later iterations."""
        for state in self._map.values():
            for merged in state.switch_map.values():
                first, second = merged.op.inputs
                if first is second:
                    merged.op._update_input(1, self._no_more(state, first))

    @staticmethod
    def _no_more(state: GradLoopState, first: Tensor) -> Tensor:
        shape = first.get_shape()
        if shape.is_fully_defined():
            with inside(state.grad_context):
                return next_iteration(tf.constant(0, dtype=first.dtype, shape=shape))
        with inside(state.grad_context.outer_context):
            zeros = tf.zeros(shape_internal(first.op.inputs[0], optimize=False), first.dtype)
        with inside(state.grad_context):
            return next_iteration(zeros)


def _loop_around(context: Any) -> Any:
    outer = None if context is None else context.outer_context
    return None if outer is None else outer.GetWhileContext()


def zeros_outside_loop(op: Operation, index: int) -> Tensor:
    """Zeros for the missing gradient of an output that is in no loop gone through."""
    val = op.outputs[index]
    context = op._get_control_flow_context()
    if not util.IsSwitch(op) or context is None or not context.IsCondContext():
        if val.dtype == dtypes.resource:
            return zeros_like_variable(val, optimize=False)
        return tf.zeros_like(val, optimize=False)
    # Zeros on the branch not taken, made only there.
    other = switch(op.inputs[0], context.pred)[1 - context.branch]
    pivot = tf.identity(other)
    if val.dtype == dtypes.resource:
        with control_dependencies([pivot]):
            return zeros_like_variable(other, optimize=False)
    if val.dtype == dtypes.variant:
        with control_dependencies([pivot]):
            return tf.zeros_like(other, optimize=False)
    sizes = shape_internal(other, optimize=False)
    with control_dependencies([pivot]):
        return tf.zeros(sizes, dtype=val.dtype)


class _Flow(ControlFlow):
    """Control flow as the ops of this package state it."""

    def state(
        self, between: Sequence[Operation], inside: Collection[Operation], colocate: bool
    ) -> ControlFlowState | None:
        result = None
        # The list grows: the exits of the loops found are appended.
        for op in between:
            if not util.IsLoopExit(op):
                continue
            if util.GetWhileContext(op) is None:
                raise ValueError(
                    "Failed to call gradients on a while loop without properly serializing graph "
                    "via MetaGraphDef"
                )
            if result is None:
                result = ControlFlowState()
            if colocate:
                with colocate_with(op):
                    result.AddWhileContext(op, between, inside)  # type: ignore[arg-type]
            else:
                result.AddWhileContext(op, between, inside)  # type: ignore[arg-type]
        return result

    def is_loop_exit(self, op: Operation) -> bool:
        return util.IsLoopExit(op)

    def is_loop_switch(self, op: Operation) -> bool:
        return util.IsLoopSwitch(op)

    def zeros_outside_loop(self, op: Operation, index: int) -> Tensor:
        return zeros_outside_loop(op, index)

    def check(self, op: Operation, from_ops: Sequence[Operation]) -> None:
        """Raises ValueError where the walk comes to a loop's initial values from inside of it."""
        context = op._control_flow_context
        if context is None or not util.IsSwitch(op) or not context.IsWhileContext():
            return
        if context is get_default_graph()._get_control_flow_context():
            _refuse_initial_values(op, from_ops)


def _refuse_initial_values(op: Operation, from_ops: Sequence[Operation]) -> None:
    queue, seen = deque([op]), {op}
    while queue:
        current = queue.popleft()
        if current in from_ops:
            break
        fresh = [t.op for t in current.inputs if t.op not in seen]
        seen.update(fresh)
        queue.extend(fresh)
    raise ValueError(
        "Cannot compute gradient inside while loop with respect to op "
        f"'{current.name}'. We do not support taking the gradient wrt or through the initial value "
        "of a loop variable. Gradients can be computed through loop invariants or wrt the input "
        "parameters to the loop body."
    )


install(_Flow())
