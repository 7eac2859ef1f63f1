# SPDX-License-Identifier: Apache-2.0
"""Runs single operations of a session by their reference kernels, between and within plans.

Imports the engine, and jit's trace for the views that lowerings have of operations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...engine import errors, stopping
from ...engine.graph import trust
from ...engine.graph.kernel_context import KernelContext
from ...engine.graph.operation import arg_length, group
from ...engine.session import interpreter
from ...engine.session.live_memory import detached
from ..trace.tracer import OpView
from .constant_parts import ConstantParts
from .done import Done
from .host_time import Meter

if TYPE_CHECKING:
    from ...engine.graph.operation import Operation
    from ...engine.graph.registry import Arg, OpDef
    from ...engine.session.session import BaseSession
    from ..trace.segment import Segment


class _Prepared(NamedTuple):
    """What running an operation needs besides its inputs: looked up once, as loops run it often."""

    definition: OpDef
    kernel: Callable[..., Any]
    context: KernelContext
    handles: list[tuple[int, bool]]
    # None where each argument is one tensor.
    args: Sequence[Arg] | None


class Evaluator:
    """Runs operations of a session by reference kernels; errors name the node and its line."""

    def __init__(self, session: BaseSession, has_parts: bool = True) -> None:
        """has_parts: it computes what follows from constants (jit/runtime/constant_parts.py)."""
        self.session = session
        self._parts = ConstantParts(Evaluator(session, has_parts=False)) if has_parts else None
        config = session.config
        self.threads: int | None = config.intra_op_parallelism_threads or None if config else None
        self.meter = Meter(session)
        self.done = Done()
        # Shapes of results that plans take for granted, as they last were; None: never seen.
        self.shapes: dict[Any, list[tuple[int, ...]] | None] = {}
        self._contexts: dict[Any, KernelContext] = {}
        self._prepared: dict[Any, _Prepared] = {}

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
        results = self.spread(op, self.begin(op, inputs))
        if op in self.shapes and self.shapes[op] is None:
            self.shapes[op] = [np.shape(result) for result in results]
        return results

    def rounds(self, op: Operation, known: Sequence[np.ndarray]) -> bool:
        """May kernels give other bits of these inputs than the reference kernel?"""
        from ..trace.folding import rounds

        return rounds(op, known, self)

    def computed(
        self, op: Operation, segment: Segment, fed: frozenset[Any]
    ) -> Sequence[np.ndarray] | None:
        """What kernels give of an operation that follows from constants alone; else None."""
        return None if self._parts is None else self._parts.values(op, segment, fed)

    @staticmethod
    def spread(op: Operation, result: object) -> Sequence[Any]:
        """What a kernel returned as one flat list."""
        return _spread(result, len(op.outputs))

    def begin(self, op: Operation, inputs: Sequence[Any]) -> Any:
        """What the kernel returns: results, or what they have to be waited for with."""
        prepared = self._prepared.get(op)
        if prepared is None or prepared.definition is not op.definition:
            prepared = self._prepare(op)
        given = self.done.take(op) if self.done.results else None
        if given is not None:
            return given
        if prepared.handles:
            inputs = interpreter.with_handles(prepared.handles, inputs)
        if prepared.args is not None:
            inputs = group(prepared.args, op._attrs, inputs)
        try:
            with stopping.within(self.session):
                return prepared.kernel(prepared.context, *inputs)
        except Exception as error:
            raise interpreter.located(error, op) from error

    def bound(self, op: Operation) -> Callable[[Sequence[Any]], Any]:
        """What `begin` does for one operation, for callers that have named their session."""
        prepared = self._prepare(op)

        def begin(inputs: Sequence[Any]) -> Any:
            if prepared.definition is not op.definition:
                return self.begin(op, inputs)
            if prepared.handles:
                inputs = interpreter.with_handles(prepared.handles, inputs)
            if prepared.args is not None:
                inputs = group(prepared.args, op._attrs, inputs)
            try:
                return prepared.kernel(prepared.context, *inputs)
            except Exception as error:
                raise interpreter.located(error, op) from error

        return begin

    def _prepare(self, op: Operation) -> _Prepared:
        kernel, args = trust.kernel_of(op), op.definition.inputs
        if kernel is None:
            raise errors.UnimplementedError(
                None, op, f"There is no kernel for op type '{op.type}' (node '{op.name}')"
            )
        is_plain = all(arg_length(arg, op._attrs) is None for arg in args)
        handles = interpreter.handle_inputs(op)
        about = handles, None if is_plain else args
        found = _Prepared(op.definition, detached(op, kernel), self.context(op), *about)
        self._prepared[op] = found
        return found


def _spread(result: object, count: int) -> Sequence[Any]:
    """A kernel's results as one flat list."""
    if count == 0:
        return ()
    if not isinstance(result, (tuple, list)):
        return (_held(result) if isinstance(result, bytes) else result,)
    if len(result) != count:
        # An output that is a list of tensors counts as several.
        parts = (item if isinstance(item, (list, tuple)) else (item,) for item in result)
        result = [x for part in parts for x in part]
    if any(isinstance(item, bytes) for item in result):
        return [_held(item) if isinstance(item, bytes) else item for item in result]
    return result


def _held(text: bytes) -> np.ndarray:
    """A text as an array that holds it: one of NumPy's own texts would lose zeros at its end."""
    array = np.empty((), object)
    array[()] = text
    return array
