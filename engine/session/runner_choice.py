# SPDX-License-Identifier: Apache-2.0
"""What runs a part of a graph, or the body of a function: a plan, or the interpreter."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .. import gc_pause, settings
from ..graph.graph import Graph
from ..graph.operation import Operation
from ..graph.tensor import Tensor
from ..types import dtypes
from . import host_calls, interpreter, run_order
from .function_inlining import without_calls

if TYPE_CHECKING:
    from .session import BaseSession

Runner = Callable[[Sequence[Any]], list[Any]]


def runner_of(
    session: BaseSession,
    graph: Graph,
    fetches: Sequence[Tensor],
    targets: Sequence[Operation],
    feeds: Sequence[Tensor],
    handles: Mapping[Tensor, Any] | None = None,
    is_called_often: bool = False,
    varies: bool = False,
    others: int = host_calls.MOST_OTHERS,
) -> Runner:
    """What runs a part of the graph: a compiled plan, or the interpreter.

    handles: resources that tensors stand for, the same in all runs.
    is_called_often: values are so small that what is around a run counts.  varies: their
    sizes are others in each run.  others: so many operations may run on the host that need not.
    """
    if not (fetches or targets):
        return lambda values: []
    known = handles or {}
    fetches, targets, fed = without_calls(graph, fetches, targets, [*feeds, *known])
    feeds = fed[: len(feeds)]
    cells = dict(zip(fed[len(feeds) :], known.values()))
    if graph.mutation:
        interpreter.check_types(run_order.needed_operations(fetches, targets, fed))
    if is_called_often:
        operations = run_order.needed_operations(fetches, targets, fed)
        if host_calls.runs_on_host(operations, fed, cells, varies, others):
            return host_calls.HostCalls(session, operations, fetches, feeds, cells)
    # Handles exist in the interpreter only.
    has_handles = any(tensor.dtype == dtypes.resource for tensor in fetches)
    make = None if has_handles else _compiler(session)
    if make is not None:
        return make(session, graph, fetches, targets, feeds, cells, is_called_often)
    run = interpreter.make_runner(session, graph, fetches, targets, fed)
    return (lambda values: run([*values, *cells.values()])) if cells else run


def _compiler(session: BaseSession) -> Any:
    """The compiler's `make_runner`, unless switched off, not installed or not enough."""
    if not session.is_compiled:
        return None
    try:
        with gc_pause.held_up():
            from ...jit.runtime import runner
    except ImportError:
        return None
    return None if settings.mode(session.config) == "never" else runner.make_runner
