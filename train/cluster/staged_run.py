# SPDX-License-Identifier: Apache-2.0
"""`StagedRun`: one run on several tasks, stage by stage; the master carries the tensors."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...engine import errors
from .link_client import Pending, Told
from .parted_run import Feeds, Registered, Step, failure_of, run_request, values_of
from .rendezvous import Rendezvous, of_task

if TYPE_CHECKING:
    from .partition import Part
    from .worker import Worker


class _Progress:
    """What of a run is under way, for who cancels it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._current: list[Callable[[], Any]] = []
        self.is_cancelled = False

    def enter(self, cancels: list[Callable[[], Any]]) -> None:
        """Begins something, which is cancelled by calling these."""
        with self._lock:
            self._current = cancels
            is_over = self.is_cancelled
        if is_over:
            self.cancel()

    def cancel(self) -> None:
        """Ends what is under way, and what would come."""
        with self._lock:
            self.is_cancelled = True
            current = list(self._current)
        for cancel in current:
            cancel()


class StagedRun:
    """The parts of a run by stage, registered with the workers of their tasks."""

    def __init__(
        self,
        worker: Worker,
        peers: Callable[[str], Any],
        handle: str,
        stages: Sequence[Registered],
        fetches: Sequence[str],
    ) -> None:
        self._worker, self._peers, self._handle = worker, peers, handle
        self._stages, self._fetches = list(stages), list(fetches)

    def __call__(self, feeds: Feeds, step: Step) -> list[Any]:
        progress = _Progress()
        step.on_cancel(progress.cancel)
        limit = None if step.seconds is None else time.monotonic() + step.seconds
        values = dict(feeds)
        for stage in self._stages:
            left = None if limit is None else max(limit - time.monotonic(), 1e-3)
            values.update(self._stage(stage, values, step, left, progress))
        return [values[name] for name in self._fetches]

    def _stage(
        self,
        stage: Registered,
        values: Mapping[str, Any],
        step: Step,
        seconds: float | None,
        progress: _Progress,
    ) -> dict[str, Any]:
        """What the tasks give in a stage."""
        if progress.is_cancelled:
            raise errors.cancelled("The run was cancelled.")
        number = random.getrandbits(56) | 1 << 56
        if stage.own is None and len(stage.others) == 1 and not stage.others[0][0].may_wait:
            return self._single(stage, number, values, step, seconds)
        calls = []
        for (part, registered), told in zip(stage.others, stage.told):
            call = self._begin(part, registered, told, number, values, step, seconds)
            calls.append((part, call))
        cancels = [call.cancel for _, call in calls]
        found: dict[str, Any] = {}
        failures: list[errors.OpError] = []
        if stage.own is not None:
            part, graph = stage.own
            cancels.append(lambda: graph.session.run_futures.cancel_run(number))
            progress.enter(cancels)
            given = {key: values[name] for name, key in part.feeds.items()}
            trace, wanted = step.trace(), list(part.fetches.values())
            try:
                results = graph(number, Rendezvous(), given, wanted, seconds, trace)
                step.note(trace)
                found.update((name, results[key]) for name, key in part.fetches.items())
            except errors.OpError as error:
                failures.append(of_task(error, part.task))
                for _, call in calls:
                    call.cancel()
        else:
            progress.enter(cancels)
        for part, call in calls:
            try:
                found.update(self._outcome(part, call, step))
            except errors.OpError as error:
                failures.append(of_task(error, part.task))
        for part, _ in stage.others:
            if not self._worker.is_kin(part.task):
                stage.cleanup(self._peers(part.task), number)
        if failures:
            raise failure_of(failures)
        return found

    def _single(
        self,
        stage: Registered,
        number: int,
        values: Mapping[str, Any],
        step: Step,
        seconds: float | None,
    ) -> dict[str, Any]:
        """A stage of one other task: a call that nobody has to cancel is a simpler one."""
        [(part, registered)] = stage.others
        peer = self._peers(part.task)
        try:
            if peer.link is not None and not step.is_traced:
                call = self._begin(part, registered, stage.told[0], number, values, step, seconds)
                return self._outcome(part, call, step)
            request = run_request(self._handle, part, registered, number, values, step)
            return values_of(peer.call("RunGraph", request, seconds, waits=False), part, step)
        except errors.OpError as error:
            raise of_task(error, part.task) from None
        finally:
            if not self._worker.is_kin(part.task):
                stage.cleanup(peer, number)

    def _begin(
        self,
        part: Part,
        registered: str,
        told: Told,
        number: int,
        values: Mapping[str, Any],
        step: Step,
        seconds: float | None,
    ) -> Any:
        """Begins another task's part: by a link, where there is one, else by a call."""
        peer = self._peers(part.task)
        link = None if step.is_traced else peer.link
        if link is not None:
            given = [values[name] for name in part.feeds]
            begun = link.begin(told, given, seconds, number)
            if begun is not None:
                return begun
            peer.unlink()
        request = run_request(self._handle, part, registered, number, values, step)
        return peer.begin("RunGraph", request, seconds, waits=False)

    def _outcome(self, part: Part, call: Any, step: Step) -> dict[str, Any]:
        if isinstance(call, Pending):
            return dict(zip(part.fetches, call.outcome()))
        return values_of(self._peers(part.task).outcome(call), part, step)
