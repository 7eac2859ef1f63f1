# SPDX-License-Identifier: Apache-2.0
"""Runs single operations of a session by their reference kernels, between and within plans.

Imports the engine, and jit's trace for the views that lowerings have of operations.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...engine import errors, stopping
from ...engine.graph import trust
from ...engine.graph.kernel_context import KernelContext
from ...engine.graph.operation import group
from ...engine.session import interpreter
from ..trace.tracer import OpView
from .host_time import Meter

if TYPE_CHECKING:
    from ...engine.graph.operation import Operation
    from ...engine.session.session import BaseSession


class Evaluator:
    """Runs operations of a session by reference kernels; errors name the node and its line."""

    def __init__(self, session: BaseSession) -> None:
        self.session = session
        config = session.config
        self.threads: int | None = config.intra_op_parallelism_threads or None if config else None
        self.meter = Meter(session)
        self._contexts: dict[Any, KernelContext] = {}

    def context(self, op: Any) -> KernelContext:
        """The kernel context of an operation, or of a lowering's view of one."""
        op = op.node if isinstance(op, OpView) else op
        found = self._contexts.get(op)
        if found is None:
            found = KernelContext(
                op, self.session.resources, self.session.kernel_states, session=self.session
            )
            self._contexts[op] = found
        return found

    def __call__(self, op: Any, inputs: Sequence[Any]) -> Sequence[Any]:
        return self.spread(op, self.begin(op, inputs))

    @staticmethod
    def spread(op: Operation, result: object) -> Sequence[Any]:
        """What a kernel returned as one flat list."""
        return _spread(result, len(op.outputs))

    def begin(self, op: Operation, inputs: Sequence[Any]) -> Any:
        """What the kernel returns: results, or what they have to be waited for with."""
        definition = op.definition
        kernel = trust.kernel_of(op)
        if kernel is None:
            raise errors.UnimplementedError(
                None, op, f"There is no kernel for op type '{op.type}' (node '{op.name}')"
            )
        handles = interpreter.handle_inputs(op)
        if handles:
            inputs = interpreter.with_handles(handles, inputs)
        arguments = group(definition.inputs, op._attrs, inputs)
        try:
            with stopping.within(self.session):
                return kernel(self.context(op), *arguments)
        except Exception as error:
            raise interpreter.located(error, op) from error


def _spread(result: object, count: int) -> Sequence[Any]:
    """A kernel's results as one flat list."""
    if count == 0:
        return ()
    if not isinstance(result, (tuple, list)):
        return (result,)
    if len(result) == count:
        return result
    # An output that is a list of tensors counts as several.
    return [x for item in result for x in (item if isinstance(item, (list, tuple)) else (item,))]
