# SPDX-License-Identifier: Apache-2.0
"""What the reverse walk must know of control flow; the ops for loops and branches install it.

Without such ops nothing here does anything.  The names of the methods of a loop state are those
of TensorFlow's, since programs and its own control flow code use them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, Protocol

from ..graph.operation import Operation
from ..graph.tensor import Tensor
from ..types import dtypes
from .autodiff_sums import public


class LoopState(Protocol):
    """The state of all loops that one walk goes through."""

    def EnterGradWhileContext(self, op: Operation, before: bool) -> None:  # noqa: N802
        """Enters the gradient loop of the loop that an op is in."""

    def ExitGradWhileContext(self, op: Operation, before: bool) -> None:  # noqa: N802
        """Leaves it again."""

    def GetGradState(self, op: Operation, before: bool) -> Any:  # noqa: N802
        """The state of one loop: its deferred, pending and unused exits."""

    def ProcessUnusedLoopExits(  # noqa: N802
        self, pending_count: dict[Operation, int], to_ops_set: set[Operation]
    ) -> list[Tensor]:
        """The exits of loops that nothing else makes ready."""

    def ZerosLike(self, op: Operation, index: int) -> Tensor | None:  # noqa: N802
        """Zeros in place of a missing gradient."""

    def ZerosLikeForExit(self, val: Tensor) -> Tensor:  # noqa: N802
        """Zeros in place of the missing gradient of an exit."""

    def PostProcessing(self) -> None:  # noqa: N802
        """Completes the gradient loops."""


def _no_handles(x: Tensor) -> Tensor:
    raise TypeError(f"{x} is a handle of an unknown kind: there are no zeros of its shape")


# Zeros like the variable behind a handle; the ops for resource variables put it here.
zeros_behind: list[Callable[[Tensor], Tensor]] = [_no_handles]


def zeros_for(x: Tensor, **options: Any) -> Tensor:
    """Zeros of the shape of a tensor, or of the variable behind a handle."""
    if x.dtype == dtypes.resource:
        return zeros_behind[-1](x)
    return public("zeros_like")(x, **options)


class ControlFlow:
    """The questions that the walk asks; these answers are right for graphs without loops."""

    def state(
        self, between: Sequence[Operation], inside: Collection[Operation], colocate: bool
    ) -> LoopState | None:
        """A loop state when there are loops between the ys and the xs."""
        return None

    def is_loop_exit(self, op: Operation) -> bool:
        """Whether a value leaves a loop here."""
        return False

    def is_loop_switch(self, op: Operation) -> bool:
        """Whether a loop decides here to go on or to stop."""
        return False

    def zeros_outside_loop(self, op: Operation, index: int) -> Tensor:
        """Zeros in place of the missing gradient of an output that is in no loop."""
        # No constant where the shape is known: TensorFlow has a node there that takes the output.
        return zeros_for(op.outputs[index], optimize=False)

    def check(self, op: Operation, from_ops: Sequence[Operation]) -> None:
        """Raises ValueError where a walk would leave a loop through its initial values."""


_installed = ControlFlow()


def install(flow: ControlFlow) -> None:
    """Sets what answers for control flow."""
    global _installed
    _installed = flow


def control_flow() -> ControlFlow:
    """What answers for control flow."""
    return _installed
