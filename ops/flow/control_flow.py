# SPDX-License-Identifier: Apache-2.0
"""All of control flow under the names of TensorFlow's module, for programs that import that."""

from __future__ import annotations

from ..array.shape import shape_internal
from ..control import with_dependencies
from ..public import raw
from . import grad as _gradients  # noqa: F401 - states the gradients
from .backprop import ControlFlowState, zeros_outside_loop
from .cond import case, cond, smart_cond, smart_constant_value, switch_case
from .context import (
    CondContext,
    ControlFlowContext,
    XLAControlFlowContext,
    from_control_flow_context_def,
)
from .loop import while_loop
from .nodes import enter, exit, identity_like, merge, next_iteration, switch, switch_ref_or_tensor
from .shapes import back_edge, is_within
from .while_context import WhileContext

_Enter, _Exit, _Identity, _NextIteration = enter, exit, identity_like, next_iteration
_SwitchRefOrTensor = switch_ref_or_tensor
_AddNextAndBackEdge, _ShapeLessThanOrEqual = back_edge, is_within
ref_switch, loop_cond, control_trigger = raw.RefSwitch, raw.LoopCond, raw.ControlTrigger
ref_select, ref_next_iteration = raw.RefSelect, raw.RefNextIteration
ZerosLikeOutsideLoop, _ControlFlowState = zeros_outside_loop, ControlFlowState

__all__ = [
    "CondContext",
    "ControlFlowContext",
    "ControlFlowState",
    "WhileContext",
    "XLAControlFlowContext",
    "case",
    "cond",
    "exit",
    "from_control_flow_context_def",
    "merge",
    "shape_internal",
    "smart_cond",
    "smart_constant_value",
    "switch",
    "switch_case",
    "while_loop",
    "with_dependencies",
]
