# SPDX-License-Identifier: Apache-2.0
"""What operations gave in a run that has to begin anew: they do not run again.

Their effects stay.  The run up to there is the same again (variables are put back, random numbers
are taken again), so that each of them would be given the same.  Knows runs
(jit/runtime/execution.py) by what they offer.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ...engine.graph.operation import Operation
    from .execution import Run


class Misguessed(Exception):
    """Results of an operation on the host (the argument) have other sizes than the last time."""


class Done(threading.local):
    """Results of operations, in the order in which each gave them; of the run of this thread."""

    def __init__(self) -> None:
        self.results: dict[Operation, deque[Sequence[Any]]] = {}

    def note(self, results: Iterable[tuple[Operation, Sequence[Any]]]) -> None:
        """Keeps what operations gave, to be taken before what is kept already."""
        for op, given in reversed(list(results)):
            self.results.setdefault(op, deque()).appendleft(given)

    def take(self, op: Operation) -> Sequence[Any] | None:
        """What an operation gave the next time; None where it has to run."""
        kept = self.results.get(op)
        if kept is None:
            return None
        given = kept.popleft()
        if not kept:
            del self.results[op]
        return given


def undo(run: Run) -> None:
    """Undoes what a run did that has to begin anew; what cannot be undone is not done again."""
    run.put_back()
    # Random numbers are taken again.
    for reserve, words in run.taken.values():
        reserve.give_back(run.evaluate.context(reserve.op), words)
    run.evaluate.done.note(run.done)
