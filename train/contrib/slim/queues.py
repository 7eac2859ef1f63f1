# SPDX-License-Identifier: Apache-2.0
"""`slim.queues`: a context in which the queues of a graph are filled."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ....engine.api import export
from ....engine.graph.collections import GraphKeys
from ....ops.public import tf
from ...sessions.coordinator import Coordinator

if TYPE_CHECKING:
    from ....engine.session.session import BaseSession

_LOCK = threading.Lock()
# Seconds that threads are given to end.
_GRACE = 120


@export("contrib.slim.queues.NestedQueueRunnerError")
class NestedQueueRunnerError(Exception):
    """A context of running queues within another."""


@export("contrib.slim.queues.QueueRunners")
@contextmanager
def QueueRunners(session: BaseSession) -> Iterator[None]:  # noqa: N802 - TensorFlow's name
    """A context in which the queue runners of the graph run.

    Args:
        session: the session that they run in; it is closed if their threads do not end.

    Raises:
        NestedQueueRunnerError: within another such context.
    """
    if not _LOCK.acquire(blocking=False):
        raise NestedQueueRunnerError("QueueRunners cannot be nested")
    try:
        coordinator, threads = Coordinator(), []
        for runner in tf.get_collection(GraphKeys.QUEUE_RUNNERS):
            threads += runner.create_threads(session, coord=coordinator, daemon=True, start=True)
        try:
            yield
        finally:
            coordinator.request_stop()
            try:
                coordinator.join(threads, stop_grace_period_secs=_GRACE)
            except RuntimeError:
                session.close()
    finally:
        _LOCK.release()
