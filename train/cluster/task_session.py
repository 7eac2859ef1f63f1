# SPDX-License-Identifier: Apache-2.0
"""`TaskSession`: runs graphs within a task of a cluster, on state that the task's sessions share.

It is an ordinary session of the engine, but that several runs of several callers are under way at
a time, each of which may be cancelled by itself.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from ...engine import errors
from ...engine.session.futures import FutureSet, SessionFutures
from ...engine.session.session import BaseSession
from ...engine.session.state import Resources
from .part_program import PartProgram

if TYPE_CHECKING:
    from ...engine.graph.graph import Graph


class _Current(threading.local):
    """The run that this thread is in."""

    run: Any = None
    # Where the tensors of its step meet who waits for them.
    rendezvous: Any = None
    # What graphs with the same collectives have in common.
    graph_key: int = 0


class RunFutures(SessionFutures):
    """What the runs of a session wait for, by run."""

    def __init__(self, current: _Current) -> None:
        super().__init__()
        self._current = current
        self._of_run: dict[Any, set[FutureSet]] = {}
        self._cancelled: set[Any] = set()
        self._guard = threading.Lock()

    def add(self, waits: FutureSet) -> None:
        """Notes what the run of this thread waits for."""
        super().add(waits)
        run = self._current.run
        with self._guard:
            self._of_run.setdefault(run, set()).add(waits)
            is_over = run in self._cancelled
        if is_over:
            waits.cancel()

    def discard(self, waits: FutureSet) -> None:
        """Forgets it."""
        super().discard(waits)
        with self._guard:
            self._of_run.get(self._current.run, set()).discard(waits)

    def cancel_run(self, run: Any) -> None:
        """Cancels what one run waits for, now and from now on."""
        with self._guard:
            self._cancelled.add(run)
            waits = list(self._of_run.get(run, ()))
        for item in waits:
            item.cancel()

    def forget(self, run: Any) -> None:
        """Ends a run."""
        with self._guard:
            self._of_run.pop(run, None)
            self._cancelled.discard(run)


class TaskSession(BaseSession):
    """A session of a task: its graph, the state that it is given, and runs by several callers."""

    flow_class = PartProgram

    def __init__(
        self, graph: Graph, task: str, resources: Resources, states: dict[Any, Any], config: Any
    ) -> None:
        """states: what kernels keep, shared by all graphs of one client's session."""
        self._given = resources
        super().__init__(task, graph, config)
        self.kernel_states = states
        self.current = _Current()
        self.waits = self.run_futures = RunFutures(self.current)

    def _runtime(self) -> tuple[Resources, Any]:
        return self._given, None

    @contextmanager
    def running(
        self, run: Any, seconds: float | None, rendezvous: Any = None, graph_key: int = 0
    ) -> Iterator[None]:
        """A context of one run: by what it may be cancelled, and how long it may take.

        graph_key: of the collectives in it, if any.
        """
        before, self.current.run = self.current.run, run
        self.current.rendezvous, self.current.graph_key = rendezvous, graph_key
        failure: errors.OpError | None = None
        try:
            with self._limited(seconds) if seconds else nullcontext():
                yield
        except errors.OpError as error:
            failure = error
            raise
        finally:
            self.current.run = before
            self.run_futures.forget(run)
            if graph_key:
                self.transfers.shared.end(run, failure)
