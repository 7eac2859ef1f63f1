# SPDX-License-Identifier: Apache-2.0
"""Questions about operations and the control flow contexts that they are in.

The names are TensorFlow's, since programs import this module under its name there.
"""

from __future__ import annotations

from typing import Any

from ...engine.graph.graph import Graph
from ...engine.graph.operation import Operation, input_checks
from ...engine.graph.tensor import Tensor

# Whether branches and loops are nodes that call functions (`tf.enable_control_flow_v2`).  Under
# this name programs set it, too.
ENABLE_CONTROL_FLOW_V2 = False

# Ops that hand a value on unchanged, where a loop invariant is looked for.
_PASSING = ("Switch", "RefSwitch", "Identity", "RefIdentity")


def EnableControlFlowV2(graph: Graph) -> bool:
    """Whether branches and loops of a graph are nodes that call functions, as in their bodies."""
    if ENABLE_CONTROL_FLOW_V2 or not graph.building_function:
        return ENABLE_CONTROL_FLOW_V2
    from .capturing_graph import CapturingGraph

    return isinstance(graph, CapturingGraph) and graph.calls_functions


def IsSwitch(op: Operation) -> bool:
    """Whether an op chooses one of two ways."""
    return op.type in ("Switch", "RefSwitch")


def IsMerge(op: Operation) -> bool:
    """Whether an op joins ways."""
    return op.type in ("Merge", "RefMerge")


def IsLoopEnter(op: Operation) -> bool:
    """Whether a value enters a loop here."""
    return op.type in ("Enter", "RefEnter")


def IsLoopExit(op: Operation) -> bool:
    """Whether a value leaves a loop here."""
    return op.type in ("Exit", "RefExit")


def IsInWhileLoop(op: Operation) -> bool:
    """Whether an op is inside of a loop."""
    return GetContainingWhileContext(op._get_control_flow_context()) is not None


def IsInCond(op: Operation) -> bool:
    """Whether an op is inside of a conditional."""
    return GetContainingCondContext(op._get_control_flow_context()) is not None


def IsInXLAContext(op: Operation) -> bool:
    """Whether an op is to be compiled by XLA: never."""
    del op
    return False


def IsCondSwitch(op: Operation) -> bool:
    """Whether a switch is that of a conditional: all that takes its outputs is in one."""
    if not IsSwitch(op) or not op.outputs:
        return False
    for output in op.outputs:
        for consumer in output.consumers():
            context = consumer._get_control_flow_context()
            if IsLoopEnter(consumer):
                context = context.outer_context
            if context is None or not context.IsCondContext():
                return False
    return True


def IsCondMerge(op: Operation) -> bool:
    """Whether a merge is that of a conditional: all its inputs are from inside of one."""
    if not IsMerge(op) or not op.inputs:
        return False
    contexts = [GetOutputContext(x.op) for x in op.inputs]
    return all(context is not None and context.IsCondContext() for context in contexts)


def IsLoopSwitch(op: Operation) -> bool:
    """Whether a switch is that of a loop."""
    if not IsSwitch(op):
        return False
    context = op._get_control_flow_context()
    return context is not None and context.IsWhileContext() and not IsCondSwitch(op)


def IsLoopMerge(op: Operation) -> bool:
    """Whether a merge is that of a loop."""
    if not IsMerge(op):
        return False
    context = op._get_control_flow_context()
    return context is not None and context.IsWhileContext() and not IsCondMerge(op)


def IsLoopConstantEnter(op: Operation) -> bool:
    """Whether a loop invariant enters here."""
    return IsLoopEnter(op) and bool(op._attrs["is_constant"])


def GetLoopConstantEnter(value: Tensor) -> Operation | None:
    """Where a value entered the loop, if it is a loop invariant."""
    op = value.op
    while op.type in _PASSING:
        op = op.inputs[0].op
    return op if IsLoopConstantEnter(op) else None


def GetOutputContext(op: Operation) -> Any:
    """The context of an op's outputs: an exit's is outside of its loop."""
    context = op._get_control_flow_context()
    return context.outer_context if context is not None and IsLoopExit(op) else context


def GetContainingWhileContext(ctxt: Any, stop_ctxt: Any = None) -> Any:
    """The innermost loop around a context, itself included; or `stop_ctxt` where that is met."""
    while ctxt is not None:
        if ctxt.IsWhileContext() or ctxt is stop_ctxt:
            return ctxt
        ctxt = ctxt.outer_context
    return None


def GetContainingCondContext(ctxt: Any) -> Any:
    """The innermost conditional around a context, itself included."""
    while ctxt is not None:
        if ctxt.IsCondContext():
            return ctxt
        ctxt = ctxt.outer_context
    return None


def IsContainingContext(ctxt: Any, maybe_containing_ctxt: object) -> bool:
    """Whether the second context is the first or around it."""
    while ctxt is not maybe_containing_ctxt:
        if ctxt is None:
            return False
        ctxt = ctxt.outer_context
    return True


def OpInContext(op: Operation, ctxt: object) -> bool:
    """Whether an op is inside of a context."""
    return IsContainingContext(op._get_control_flow_context(), ctxt)


def TensorInContext(tensor: Tensor, ctxt: object) -> bool:
    """Whether a tensor is made inside of a context."""
    return OpInContext(tensor.op, ctxt)


def GetWhileContext(op: Operation) -> Any:
    """The loop that an op is in, or None."""
    context = op._get_control_flow_context()
    return None if context is None else context.GetWhileContext()


def _is_visible(op: Operation, loop: Any, input_loop: Any, input_ctxt: Any) -> bool:
    """Whether an op in `loop` may use a value made in `input_loop`."""
    if loop is None:
        # Enter and Switch nodes are made outside of the context that they belong to.
        return input_loop is None or IsLoopEnter(op) or IsSwitch(op)
    if IsContainingContext(loop, input_loop):
        return True
    state = loop.grad_state
    if state is not None:
        # A gradient loop takes values of the loop that it belongs to, or of one right inside.
        forward = state.forward_context
        if IsContainingContext(forward, input_loop) or forward is input_loop._outer_context:
            return True
    # The other way round: met while gradients of gradients are being made.
    state = input_loop.grad_state
    if state is None:
        return False
    if state.forward_context is loop:
        return True
    first = input_ctxt.grad_state.forward_context.grad_state
    return first is not None and first.forward_context is loop


def CheckInputFromValidContext(op: Operation, input_op: Operation) -> None:
    """Raises ValueError for an input from inside of a loop that the op is not in."""
    input_ctxt = input_op._control_flow_context
    if input_ctxt is None:
        return
    input_ctxt = GetOutputContext(input_op)
    context = op._control_flow_context
    if input_ctxt is None or context is input_ctxt:
        return
    loop, input_loop = GetContainingWhileContext(context), GetContainingWhileContext(input_ctxt)
    if _is_visible(op, loop, input_loop, input_ctxt):
        return
    start = f"Cannot use '{input_op.name}' as input to '{op.name}' because "
    if loop is not None:
        reason = "they are in different while loops."
    else:
        reason = f"'{input_op.name}' is in a while loop."
    raise ValueError(f"{start}{reason} See info log for more details.")


input_checks.append(CheckInputFromValidContext)
