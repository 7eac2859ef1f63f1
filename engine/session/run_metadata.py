# SPDX-License-Identifier: Apache-2.0
"""Runs with a trace: one timed event per operation, for `tf.RunMetadata`."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..graph.tensor import Tensor
from ..types import dtypes
from . import interpreter
from .fetches import FeedSlot, Fetches, expanded, feed_tensor
from .function_inlining import without_calls
from .state import VariableStorage, handle_bytes

if TYPE_CHECKING:
    from .session import BaseSession


def without_timeout(options: Any) -> Any:
    """A copy of a RunOptions that sets no time limit."""
    if options is None:
        return None
    copy = type(options)()
    copy.CopyFrom(options)
    copy.timeout_in_ms = 0
    return copy


def traced(
    session: BaseSession,
    fetches: object,
    feed_dict: dict[Any, Any] | None,
    options: Any,
    metadata: Any,
) -> Any:
    """Like `session.run`, through the interpreter; fills `metadata` with what ran and when.

    What the options watch is written to files.  `metadata` may be None then.
    """
    from ...io.step_stats import Event

    graph = session.graph
    pairs = expanded(feed_dict or {})
    feeds = [feed_tensor(graph, key) for key, _ in pairs]
    given = [FeedSlot(tensor).convert(value) for tensor, (_, value) in zip(feeds, pairs)]
    wanted = Fetches(graph, fetches)
    running = without_calls(graph, wanted.tensors, wanted.targets, feeds)
    # Values stay until the end: events tell the shapes of outputs.
    program = interpreter.prepared(session, *running, release=False)
    values = program.start(given)
    events = []
    dump = _dumper(options)

    def note(step: interpreter.Step, start: int, end: int) -> None:
        events.append(_event(Event, step, values, start, end))
        dump(step, values)

    program.execute(values, note)
    if metadata is not None:
        operations = [step.op for step in program.steps]
        _fill(metadata, options, events, (operations, running[2]))
    results = iter(program.results(values))
    found = [next(results) if isinstance(e, Tensor) else None for e in wanted.elements]
    return wanted.build([x[()] if type(x) is np.ndarray else x for x in found])


def _fill(metadata: Any, options: Any, events: list[Any], ran: tuple[Any, Any]) -> None:
    from ...io.step_stats import partition_graph, step_stats

    metadata.Clear()
    if options.trace_level:
        metadata.step_stats.CopyFrom(step_stats(events))
    if options.output_partition_graphs:
        metadata.partition_graphs.add().CopyFrom(partition_graph(*ran))


def _dumper(options: Any) -> Callable[[interpreter.Step, list[Any]], None]:
    """What writes the outputs of a step that the options watch."""
    watches = options.debug_options.debug_tensor_watch_opts
    if not watches:
        return lambda step, values: None
    from ...io.tensor_dumps import Dumps

    dumps = Dumps(watches)

    def dump(step: interpreter.Step, values: list[Any]) -> None:
        for i, tensor in enumerate(step.op.outputs):
            value = values[step.first + i]
            is_handle = tensor.dtype == dtypes.resource and value is not None
            dumps.note(step.op, i, handle_bytes(value) if is_handle else _array(value))

    return dump


def _array(value: object) -> object:
    return value.value if isinstance(value, VariableStorage) else value


def _event(
    kind: Callable[..., Any], step: interpreter.Step, values: list[Any], start: int, end: int
) -> Any:
    outputs = []
    for i, tensor in enumerate(step.op.outputs):
        value = _array(values[step.first + i])
        if type(value) is np.ndarray:
            outputs.append((tensor.dtype, value.shape))
    return kind(
        step.op.name,
        step.op.type,
        tuple(tensor.name.removesuffix(":0") for tensor in step.op.inputs),
        start,
        end,
        tuple(outputs),
        device=step.op.device,
        thread=threading.get_ident() & 0xFFFFFFFF,
    )
