# SPDX-License-Identifier: Apache-2.0
"""Stacks: what loops keep for their gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.types.shape import TensorShape, unknown_shape
from .tensor_array_store import Stack

if TYPE_CHECKING:
    from ...engine.graph.kernel_context import KernelContext
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView

_STATE = NoGradient("keeps values as they are")


def _make(c: KernelContext, max_size: np.ndarray | None = None) -> Stack:
    limit = -1
    if max_size is not None:
        if max_size.ndim:
            text = f"Stack size must be a scalar, but had shape: {list(max_size.shape)}"
            raise errors.invalid(text)
        limit = int(max_size)
    return Stack(c.attr("stack_name"), limit)


def _push(c: KernelContext, stack: Stack, value: np.ndarray) -> Any:
    # A variable may change in place after the push.
    stack.push(value.copy() if type(value) is np.ndarray and not value.flags.owndata else value)
    return value


def _close(c: KernelContext, stack: Stack) -> None:
    stack.close()


def _lower_make(b: Builder, op: OpView, max_size: Value) -> Any:
    from ...jit.library import stacks

    return stacks.make_stack(b, op.name)


def _lower_push(b: Builder, op: OpView, stack: Value, value: Value) -> Any:
    from ...jit.library import stacks

    return stacks.push(b, stack, value)


def _lower_pop(b: Builder, op: OpView, stack: Value) -> Any:
    from ...jit.library import stacks

    return stacks.pop(b, stack)


for _is_resource, _handle, _size in (
    (True, "resource", "max_size: int32 "),
    (False, "Ref(string)", ""),
):
    define(
        ("Stack", "StackV2")[_is_resource],
        f"{_size}-> handle: {_handle}",
        "elem_type: type; stack_name: string = ''",
        shape=lambda c: TensorShape([2]),
        kernel=_make,
        lower=_lower_make if _is_resource else None,
        gradient=_STATE if _is_resource else _STATE.silently,
        stateful=True,
        control_flow_role="step",
        doc="A stack of at most max_size values; any number when that is negative.",
    )
    define(
        ("StackPush", "StackPushV2")[_is_resource],
        f"handle: {_handle}, elem: T -> output: T",
        "T: type; swap_memory: bool = false",
        shape=lambda c: c.inputs[1],
        kernel=_push,
        lower=_lower_push if _is_resource else None,
        gradient=_STATE if _is_resource else _STATE.silently,
        control_flow_role="step",
        doc="Puts a value on a stack; also gives it.",
    )
    define(
        ("StackPop", "StackPopV2")[_is_resource],
        f"handle: {_handle} -> elem: elem_type",
        "elem_type: type",
        shape=lambda c: unknown_shape(),
        kernel=lambda c, stack: stack.pop(),
        lower=_lower_pop if _is_resource else None,
        gradient=_STATE if _is_resource else _STATE.silently,
        control_flow_role="step",
        doc="Takes the last value from a stack.",
    )
    define(
        ("StackClose", "StackCloseV2")[_is_resource],
        f"handle: {_handle} ->",
        kernel=_close,
        lower=(lambda b, op, stack: ()) if _is_resource else None,
        gradient=_STATE if _is_resource else _STATE.silently,
        control_flow_role="step",
        doc="Drops the values of a stack.",
    )
