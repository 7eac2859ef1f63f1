# SPDX-License-Identifier: Apache-2.0
"""Hooks: what takes part in every run of a monitored session."""

from __future__ import annotations

from collections import namedtuple
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ...engine.session.session import BaseSession
    from .coordinator import Coordinator


class SessionRunHook:
    """Called around the runs of a monitored session; subclasses override what they need.

    (tf.train.SessionRunHook)
    """

    def begin(self) -> None:
        """Before the session is made; the graph may still be changed."""

    def after_create_session(self, session: BaseSession, coord: Coordinator) -> None:
        """When a session was made; the graph is finished.  Again after a failure."""

    def before_run(self, run_context: SessionRunContext) -> Any:
        """Before a run: a SessionRunArgs of what to run besides, or None."""
        return None

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """After a run: `run_values.results` are those of what was asked for."""

    def end(self, session: BaseSession) -> None:
        """At the end, unless that is an exception."""


class SessionRunArgs(namedtuple("SessionRunArgs", ["fetches", "feed_dict", "options"])):
    """What a hook adds to a run: the arguments of `Session.run` (tf.train.SessionRunArgs)."""

    def __new__(
        cls, fetches: object, feed_dict: dict[Any, Any] | None = None, options: object = None
    ) -> SessionRunArgs:
        return super().__new__(cls, fetches, feed_dict, options)


class SessionRunContext:
    """What a hook may know of a run, and how it asks to stop (tf.train.SessionRunContext)."""

    def __init__(self, original_args: SessionRunArgs, session: BaseSession) -> None:
        self._original_args = original_args
        self._session = session
        self._stop_requested = False

    @property
    def original_args(self) -> SessionRunArgs:
        """What the caller of `run` gave."""
        return self._original_args

    @property
    def session(self) -> BaseSession:
        """The session of the run."""
        return self._session

    @property
    def stop_requested(self) -> bool:
        """Whether a hook asked to stop."""
        return self._stop_requested

    def request_stop(self) -> None:
        """Makes this the last run."""
        self._stop_requested = True


class SessionRunValues(namedtuple("SessionRunValues", ["results", "options", "run_metadata"])):
    """What a hook gets of a run: the values that it asked for (tf.train.SessionRunValues)."""
