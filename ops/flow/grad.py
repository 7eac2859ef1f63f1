# SPDX-License-Identifier: Apache-2.0
"""Gradients of the ops of branches and loops: each is the op that goes the other way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...engine.graph import registry
from ...engine.graph.graph import get_default_graph
from ...engine.graph.tensor import IndexedSlices, SparseTensor, Tensor
from ...engine.hints import hinted
from ..public import tf
from . import util
from .nodes import enter, exit, merge, switch, switch_ref_or_tensor
from .shapes import back_edge

if TYPE_CHECKING:
    from ...engine.graph.annotations import Gradient
    from ...engine.graph.operation import Operation


def _current() -> Any:
    return get_default_graph()._get_control_flow_context()


def _switch_gradient(op: Operation, *grads: Any) -> Any:
    context = op._get_control_flow_context()
    if context is not None and context.IsWhileContext():
        return _loop_switch_gradient(op, grads)
    if context is None or not context.IsCondContext():
        # A switch of no context is one of an imported graph: the gradient comes by the output that
        # was alive.
        false = switch(grads[0], op.inputs[1])[0]
        true = switch(grads[1], op.inputs[1])[1]
        return merge([false, true])[0], None
    # The walk has put zeros, on the other branch, for a gradient that there is not.
    if grads[1 - context.branch] is not None:
        return merge(grads, name="cond_grad")[0], None
    if op.inputs[0].dtype == tf.resource:
        return merge([grads[context.branch]] * 2, name="cond_resource_grad")[0], None
    return None, None


def _loop_switch_gradient(op: Operation, grads: Sequence[Any]) -> Any:
    """A loop's switch is visited twice: from the exit, and later from the body."""
    state = _current().grad_state
    merged = state.switch_map.get(op)
    if merged is not None:
        if grads[1] is not None:
            back_edge(merged, grads[1], enforce_shape_invariant=False)
        return None, None
    if grads[0] is None:
        return None, None
    # The second input stands in for what comes with the second visit.
    merged = merge([grads[0], grads[0]], name="b_switch")[0]
    state.switch_map[op] = merged
    return merged, None


def _merge_gradient(op: Operation, grad: Tensor, _: int) -> Any:
    context = util.GetOutputContext(op.inputs[0].op)
    current = _current()
    if context is not None and context.IsWhileContext():
        return switch_ref_or_tensor(grad, current.pivot)
    if context is not None and context.IsCondContext():
        pred = context.pred
        if current is not None and current.grad_state is not None:
            pred = _pred_of_iteration(pred, current.grad_state)
        return switch_ref_or_tensor(grad, pred, name="cond_grad")
    # Merge's second output tells which of its inputs was alive.
    chosen = [tf.equal(op.outputs[1], i) for i in range(len(op.inputs))]
    return [switch_ref_or_tensor(grad, pred)[1] for pred in chosen]


def _pred_of_iteration(pred: Tensor, state: Any) -> Tensor:
    """The condition of a conditional within a loop, as it was in each iteration."""
    real = state.history_map.get(pred.name)
    if real is None:
        state.grad_context.Exit()
        history = state.AddForwardAccumulator(pred)
        state.grad_context.Enter()
        real = state.AddBackpropAccumulatedValue(history, pred)
        state.history_map[pred.name] = real
    return real


def _exit_gradient(op: Operation, grad: Tensor) -> Any:
    context = _current()
    if not context.back_prop:
        return None
    # The loop is a gradient loop itself, whose histories are popped already.
    if op._get_control_flow_context().grad_state is not None:
        raise hinted(TypeError, "Second-order gradient for while loops not supported.")
    if isinstance(grad, Tensor):
        context.AddName(grad.name)
    elif isinstance(grad, (IndexedSlices, SparseTensor)):
        for part in (grad.values, grad.indices, grad.dense_shape):
            if part is not None:
                context.AddName(part.name)
    else:
        raise TypeError(f"Type {type(grad)} not supported")
    context.Enter()
    count = context.parallel_iterations
    # A gradient that comes out of a loop goes into the loop's gradient loop.
    result = enter(grad, context.name, parallel_iterations=count, name="b_exit")
    context.loop_enters.append(result)
    context.Exit()
    return result


def _enter_gradient(op: Operation, grad: Gradient) -> Any:
    context = _current()
    if not context.back_prop or context.grad_state is None:
        return grad
    if not op._attrs["is_constant"]:
        result = exit(grad)
        context.loop_exits.append(result)
        context.ExitResult([result])
        return result
    if isinstance(grad, Tensor):
        return context.AddBackpropAccumulator(op, grad)
    if isinstance(grad, IndexedSlices):
        return context.AddBackpropIndexedSlicesAccumulator(op, grad)
    raise TypeError(f"Type {type(grad)} not supported")


for _prefix in ("", "Ref"):
    registry.amend(f"{_prefix}Switch", gradient=_switch_gradient)
    registry.amend(f"{_prefix}Merge", gradient=_merge_gradient)
    registry.amend(f"{_prefix}Exit", gradient=_exit_gradient)
    registry.amend(f"{_prefix}Enter", gradient=_enter_gradient)
    # The gradient of the switch sends it on.
    registry.amend(f"{_prefix}NextIteration", gradient=lambda op, grad: grad)
registry.amend("LoopCond", gradient=lambda op, grad: None)
