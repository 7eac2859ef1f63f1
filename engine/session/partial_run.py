# SPDX-License-Identifier: Apache-2.0
"""Runs in several parts: `partial_run_setup` and `partial_run`."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .. import errors
from ..graph.operation import Operation
from ..graph.tensor import Tensor
from ..stopping import check_session
from .fetches import FeedSlot, Fetches, expanded, feed_elements, feed_tensor
from .interpreter import Step, fetched, prepared
from .run_order import needed_operations

if TYPE_CHECKING:
    from ..graph.annotations import Feeds
    from .session import BaseSession

_numbers = itertools.count()


def setup(
    session: BaseSession, fetches: Sequence[Any], feeds: Sequence[Any]
) -> tuple[str, PartialRun]:
    """The handle and state of a new run in parts."""
    if feeds is None:
        feeds = []
    if not isinstance(feeds, (list, tuple)):
        feeds = [feeds]
    tensors = [tensor for feed in feeds for tensor in feed_elements(session.graph, feed)]
    run = PartialRun(session, fetches, tensors)
    if not (run.wanted.tensors or run.wanted.targets):
        raise errors.invalid("Must specify at least one target to fetch or execute.")
    names = ",".join(tensor.name for tensor in tensors)
    outputs = ",".join(tensor.name for tensor in run.wanted.tensors)
    targets = ",".join(op.name for op in run.wanted.targets)
    return f"{names}->{outputs}/{targets}/{next(_numbers)}", run


class _Parts:
    """What all runs in parts of the same fetches and feeds share."""

    def __init__(self, session: BaseSession, wanted: Fetches, feeds: list[Tensor]) -> None:
        session.placement.check()
        # What a part computed stays: a later one may need it.
        program = prepared(session, wanted.tensors, wanted.targets, feeds, release=False)
        if any(step.op.definition.control_flow_role for step in program.steps):
            raise errors.unimplemented(
                "partial_run does not run graphs with branches, loops or TensorArrays"
            )
        self.program, self.feeds = program, feeds
        self.steps: dict[Any, Step] = {step.op: step for step in program.steps}
        self.slot_of = dict(zip(feeds, program.feed_slots))
        self.fetch_slot = dict(zip(wanted.tensors, program.fetch_slots))
        self._parts: dict[tuple[Tensor, ...], tuple[list[Operation], list[Tensor]]] = {}

    def part(self, tensors: list[Tensor]) -> tuple[list[Operation], list[Tensor]]:
        """The operations that tensors need, in order, and the feeds among what they read."""
        key = tuple(tensors)
        if key not in self._parts:
            operations = needed_operations(tensors, [], self.feeds)
            read = (*tensors, *(t for op in operations for t in op._inputs_val))
            self._parts[key] = operations, [t for t in dict.fromkeys(read) if t in self.slot_of]
        return self._parts[key]


def _prepared(session: BaseSession, wanted: Fetches, feeds: list[Tensor]) -> _Parts:
    """Prepared before, unless the graph has changed since."""
    key = (session.graph.changes, *wanted.tensors, None, *wanted.targets, None, *feeds)
    known = session.partial_programs
    if key not in known:
        known[key] = _Parts(session, wanted, feeds)
    return known[key]  # type: ignore[no-any-return]


class PartialRun:
    """The values computed so far and what may still be fed and fetched."""

    def __init__(self, session: BaseSession, fetches: Sequence[Any], feeds: list[Tensor]) -> None:
        self._session, self._graph = session, session.graph
        self.wanted = Fetches(session.graph, fetches)
        self._feeds = feeds
        self._prepared = _prepared(session, self.wanted, feeds)
        self._values = self._prepared.program.start([None] * len(feeds))
        self._steps = self._prepared.steps
        self._done: set[Any] = set()
        self._fed: set[Tensor] = set()
        self._left = {id(tensor) for tensor in self.wanted.tensors}
        self._slot_of = self._prepared.slot_of
        self._fetch_slot = self._prepared.fetch_slot

    @property
    def finished(self) -> bool:
        """Whether everything was fed and fetched."""
        return not self._left and len(self._fed) == len(self._feeds)

    def advance(self, fetches: object, feed_dict: Feeds | None) -> Any:
        """Takes more feeds and gives the values asked for."""
        self._feed(feed_dict)
        part = Fetches(self._graph, fetches)
        if part.targets:
            raise RuntimeError("partial_run() requires empty target_list.")
        for tensor in part.tensors:
            if id(tensor) not in self._left:
                known = tensor in self._fetch_slot
                problem = (
                    "has already been fetched"
                    if known
                    else "was not specified in partial_run_setup"
                )
                raise errors.invalid(f"The fetch {tensor.name} {problem}.")
        operations, fed = self._prepared.part(part.tensors)
        self._require_fed(fed)
        for op in operations:
            if op not in self._done:
                check_session(self._session)
                self._done.add(op)
                self._steps[op].run(self._values)
        self._left -= {id(tensor) for tensor in part.tensors}
        values = [
            fetched(self._values[self._fetch_slot[tensor]], tensor) for tensor in part.tensors
        ]
        if not self._left:
            self._finish()
        return part.build([value[()] for value in values])

    def _feed(self, feed_dict: Feeds | None) -> None:
        for key, value in expanded(feed_dict or {}):
            tensor = feed_tensor(self._graph, key)
            array = FeedSlot(tensor).convert(value)
            if tensor not in self._slot_of:
                raise errors.invalid(
                    f"The feed {tensor.name} was not specified in partial_run_setup."
                )
            if tensor in self._fed:
                raise errors.invalid(f"The feed {tensor.name} has already been fed.")
            self._fed.add(tensor)
            self._values[self._slot_of[tensor]] = array

    def _require_fed(self, tensors: list[Tensor]) -> None:
        for tensor in tensors:
            if tensor not in self._fed:
                raise errors.invalid(
                    f"Fetch {tensor.name} can't be computed from the feeds that have been fed so "
                    "far."
                )

    def _finish(self) -> None:
        """Runs the operations that nothing fetched waits for, once all is fed."""
        if len(self._fed) < len(self._feeds):
            return
        for op, step in self._steps.items():
            if op not in self._done:
                check_session(self._session)
                self._done.add(op)
                step.run(self._values)
