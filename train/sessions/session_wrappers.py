# SPDX-License-Identifier: Apache-2.0
"""The layers of a monitored session: hooks, threads that end together, recovery."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...engine import errors
from ...engine.interface import log
from ...io import protos
from .session_run_hook import SessionRunArgs, SessionRunContext, SessionRunValues

if TYPE_CHECKING:
    from ...engine.session.session import BaseSession
    from .coordinator import Coordinator

# After these a new session may succeed.
_PREEMPTION_ERRORS = (errors.AbortedError, errors.UnavailableError)


class StepContext:
    """What `run_step_fn` gives to the function that makes a step."""

    def __init__(self, session: BaseSession, run_with_hooks_fn: Callable[..., Any]) -> None:
        self._session = session
        self._run_with_hooks_fn = run_with_hooks_fn

    @property
    def session(self) -> BaseSession:
        """The plain session: its runs call no hooks."""
        return self._session

    def run_with_hooks(self, *args: Any, **kwargs: Any) -> Any:
        """A run with hooks, as of the monitored session."""
        return self._run_with_hooks_fn(*args, **kwargs)

    def request_stop(self) -> None:
        """Ends the step and all further ones."""
        raise StopIteration("step_fn has requested the iterations to stop.")


class _WrappedSession:
    """A session around a session."""

    def __init__(self, sess: Any) -> None:
        self._sess = sess
        self._wrapped_is_stoppable = isinstance(sess, _WrappedSession)

    @property
    def graph(self) -> Any:
        """The graph of the session."""
        return self._sess.graph

    @property
    def sess_str(self) -> Any:
        """The target of the session."""
        return self._sess.sess_str

    def should_stop(self) -> bool:
        """Whether no more runs should be made."""
        if self._check_stop():
            return True
        if self._sess:
            return self._wrapped_is_stoppable and self._sess.should_stop()
        return True

    def _check_stop(self) -> bool:
        """Whether this layer wants to stop."""
        return False

    def close(self) -> None:
        """Closes the session; failures of a lost one are logged."""
        if not self._sess:
            return
        try:
            self._sess.close()
        except _PREEMPTION_ERRORS as error:
            log.warning("An error occurred when attempting to close the session: %s", error)
        finally:
            self._sess = None

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """See Session.run."""
        return self._sess.run(*args, **kwargs)

    def run_step_fn(
        self, step_fn: Callable[..., Any], raw_session: BaseSession, run_with_hooks: Any
    ) -> Any:
        """Calls a function with a StepContext."""
        return step_fn(StepContext(raw_session, run_with_hooks or self.run))


class _RecoverableSession(_WrappedSession):
    """Makes a new session when one is lost, and tries again."""

    def __init__(self, sess_creator: Any) -> None:
        self._sess_creator = sess_creator
        super().__init__(self._create_session())

    def _create_session(self) -> Any:
        while True:
            try:
                return self._sess_creator.create_session()
            except _PREEMPTION_ERRORS as error:
                log.info(
                    "An error was raised while a session was being created. A new session will be "
                    "created. Error: %s",
                    error,
                )

    @staticmethod
    def _log_loss(error: BaseException) -> None:
        log.info(
            "An error was raised. The current session will be closed and a new session will be "
            "created. Error: %s",
            error,
        )

    def _check_stop(self) -> bool:
        try:
            return self._sess._check_stop() if self._sess else True
        except _PREEMPTION_ERRORS as error:
            self._log_loss(error)
            self.close()
            self._sess = self._create_session()
            # The next run will show whether that works.
            return False
        except Exception:
            # The error is raised by the next run, or by close.
            return True

    def _recovered(self, call: Callable[[Any], Any]) -> Any:
        """call(session), again in a new session when one is lost."""
        while True:
            try:
                if not self._sess:
                    self._sess = self._create_session()
                return call(self._sess)
            except _PREEMPTION_ERRORS as error:
                self._log_loss(error)
                self.close()
                self._sess = None

    def run(
        self,
        fetches: object,
        feed_dict: dict[Any, Any] | None = None,
        options: object = None,
        run_metadata: object = None,
    ) -> Any:
        given = {"feed_dict": feed_dict, "options": options, "run_metadata": run_metadata}
        return self._recovered(lambda session: session.run(fetches, **given))

    def run_step_fn(
        self, step_fn: Callable[..., Any], raw_session: object, run_with_hooks: object
    ) -> Any:
        del run_with_hooks
        return self._recovered(
            lambda session: session.run_step_fn(step_fn, raw_session, session.run)
        )


class _CoordinatedSession(_WrappedSession):
    """Stops when its coordinator says so, and ends its threads when it is closed."""

    def __init__(
        self, sess: object, coord: Coordinator, stop_grace_period_secs: float = 120
    ) -> None:
        super().__init__(sess)
        self._coord = coord
        self._stop_grace_period_secs = stop_grace_period_secs

    def _check_stop(self) -> bool:
        self._coord.raise_requested_exception()
        return self._coord.should_stop()

    def close(self) -> None:
        self._coord.request_stop()
        try:
            self._coord.join(
                stop_grace_period_secs=self._stop_grace_period_secs, ignore_live_threads=True
            )
        finally:
            try:
                super().close()
            except Exception as error:
                log.debug("Ignored exception: %s", error)

    def run(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return self._sess.run(*args, **kwargs)
        except _PREEMPTION_ERRORS:
            raise
        except Exception:
            failure = sys.exc_info()[1]
            try:
                self._coord.raise_requested_exception()
            except _PREEMPTION_ERRORS:
                # A thread lost its session: that is why the run failed.
                raise
            except Exception as error:
                log.debug("A thread failed, too: %s", error)
            assert failure is not None
            raise failure from None


class _HookedSession(_WrappedSession):
    """Calls hooks around every run."""

    def __init__(self, sess: BaseSession, hooks: Sequence[Any]) -> None:
        super().__init__(sess)
        self._hooks = hooks
        self._should_stop = False

    def _check_stop(self) -> bool:
        return self._should_stop

    def run(
        self,
        fetches: Any,
        feed_dict: Any = None,
        options: Any = None,
        run_metadata: Any = None,
    ) -> Any:
        if self.should_stop():
            raise RuntimeError("Run called even after should_stop requested.")
        wanted = {"caller": fetches}
        context = SessionRunContext(SessionRunArgs(fetches, feed_dict), self._sess)
        options = options or protos.RunOptions()
        feed_dict = self._call_hook_before_run(context, wanted, feed_dict, options)
        metadata = run_metadata or protos.RunMetadata()
        results = super().run(
            fetches=wanted, feed_dict=feed_dict, options=options, run_metadata=metadata
        )
        for hook in self._hooks:
            hook.after_run(context, SessionRunValues(results.get(hook), options, metadata))
        self._should_stop = self._should_stop or context.stop_requested
        return results["caller"]

    def _call_hook_before_run(
        self,
        context: object,
        wanted: dict[Any, Any],
        feed_dict: dict[Any, Any] | None,
        options: object,
    ) -> Any:
        """Adds what hooks want to a run; returns what is to be fed."""
        hook_feeds: dict[Any, Any] = {}
        for hook in self._hooks:
            request = hook.before_run(context)
            if request is None:
                continue
            if request.fetches is not None:
                wanted[hook] = request.fetches
            if request.feed_dict:
                _require_distinct(hook_feeds, request.feed_dict, "Same tensor is fed by two hooks.")
                hook_feeds.update(request.feed_dict)
            if request.options:
                _merge_options(options, request.options)
        if not hook_feeds:
            return feed_dict
        if not feed_dict:
            return hook_feeds
        text = "Same tensor is fed by a SessionRunHook and user."
        _require_distinct(feed_dict, hook_feeds, text)
        hook_feeds.update(feed_dict)
        return hook_feeds


def _require_distinct(feeds: dict[Any, Any], others: dict[Any, Any], text: str) -> None:
    common = set(feeds) & set(others)
    if common:
        raise RuntimeError(f"{text} Conflict(s): {list(common)}")


def _merge_options(options: Any, others: Any) -> None:
    """Makes RunOptions ask for all that others do."""
    for field in (
        "trace_level timeout_in_ms inter_op_thread_pool output_partition_graphs "
        "report_tensor_allocations_upon_oom"
    ).split():
        # The larger of two demands contains the smaller: levels, times and flags are so ordered.
        setattr(options, field, max(getattr(options, field), getattr(others, field)))
    options.debug_options.debug_tensor_watch_opts.extend(
        others.debug_options.debug_tensor_watch_opts
    )
    if others.debug_options.reset_disk_byte_usage:
        options.debug_options.reset_disk_byte_usage = True
