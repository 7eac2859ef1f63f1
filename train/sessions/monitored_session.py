# SPDX-License-Identifier: Apache-2.0
"""`MonitoredSession` and its relatives: sessions that begin, recover and end by themselves."""

from __future__ import annotations

import abc
import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ...engine import errors
from ...engine.graph.collections import GraphKeys, get_collection
from ...engine.graph.defaults import get_default_graph
from ...engine.signatures import without_private_bases
from ...engine.tracebacks import shorten
from ..inputs.queue_runner_impl import start_queue_runners
from ..variables.replicas import spread
from .basic_session_run_hooks import CheckpointSaverHook, StepCounterHook, SummarySaverHook
from .coordinator import Coordinator
from .scaffold import Scaffold
from .session_manager import SessionManager
from .session_wrappers import (
    StepContext,
    _CoordinatedSession,
    _HookedSession,
    _RecoverableSession,
    _WrappedSession,
)

if TYPE_CHECKING:
    from ...engine.session.session import Session

__all__ = [
    "ChiefSessionCreator",
    "MonitoredSession",
    "MonitoredTrainingSession",
    "Scaffold",
    "SessionCreator",
    "SingularMonitoredSession",
    "WorkerSessionCreator",
    "_CoordinatedSession",
    "_HookedSession",
    "_RecoverableSession",
    "_WrappedSession",
]

# Stands for the default of arguments whose defaults depend on each other.
USE_DEFAULT = object()


class SessionCreator(metaclass=abc.ABCMeta):
    """Makes sessions; a monitored session may need several (tf.train.SessionCreator)."""

    @abc.abstractmethod
    def create_session(self) -> Any:
        """A new session."""
        raise NotImplementedError(f"create_session is not implemented for {self}.")


class _ScaffoldCreator(SessionCreator):
    """Makes sessions with the operations of a scaffold."""

    def __init__(self, scaffold: Scaffold | None, master: str, config: object) -> None:
        self._scaffold = scaffold or Scaffold()
        self._session_manager: SessionManager | None = None
        self._master = master
        self._config = config

    def _get_session_manager(self) -> SessionManager:
        if self._session_manager is None:
            self._session_manager = SessionManager(
                local_init_op=self._scaffold.local_init_op,
                ready_op=self._scaffold.ready_op,
                ready_for_local_init_op=self._scaffold.ready_for_local_init_op,
                graph=get_default_graph(),
            )
        return self._session_manager


@without_private_bases
class ChiefSessionCreator(_ScaffoldCreator):
    """Makes sessions that initialize or restore the model (tf.train.ChiefSessionCreator)."""

    def __init__(
        self,
        scaffold: Scaffold | None = None,
        master: str = "",
        config: object = None,
        checkpoint_dir: str | None = None,
        checkpoint_filename_with_path: str | None = None,
    ) -> None:
        _ScaffoldCreator.__init__(self, scaffold, master, config)
        self._checkpoint_dir = checkpoint_dir
        self._checkpoint_filename_with_path = checkpoint_filename_with_path

    def create_session(self) -> Any:
        self._scaffold.finalize()
        return self._get_session_manager().prepare_session(
            self._master,
            saver=self._scaffold.saver,
            checkpoint_dir=self._checkpoint_dir,
            checkpoint_filename_with_path=self._checkpoint_filename_with_path,
            config=self._config,
            init_op=self._scaffold.init_op,
            init_feed_dict=self._scaffold.init_feed_dict,
            init_fn=self._scaffold.init_fn,
        )


@without_private_bases
class WorkerSessionCreator(_ScaffoldCreator):
    """Makes sessions that wait until the chief's model is ready (tf.train...)."""

    def __init__(
        self,
        scaffold: Scaffold | None = None,
        master: str = "",
        config: object = None,
        max_wait_secs: float = 30 * 60,
    ) -> None:
        _ScaffoldCreator.__init__(self, scaffold, master, config)
        self._max_wait_secs = max_wait_secs

    def create_session(self) -> Session:
        self._scaffold.finalize()
        return self._get_session_manager().wait_for_session(
            self._master, config=self._config, max_wait_secs=self._max_wait_secs
        )


class _CoordinatedSessionCreator(SessionCreator):
    """Makes sessions with hooks, and with threads for the graph's queue runners."""

    def __init__(
        self, session_creator: SessionCreator, hooks: Sequence[Any], stop_grace_period_secs: float
    ) -> None:
        self._session_creator = session_creator
        self._hooks = hooks
        self._stop_grace_period_secs = stop_grace_period_secs
        self.coord: Coordinator | None = None
        self.tf_sess: Any = None

    def create_session(self) -> Any:
        self.tf_sess = self._session_creator.create_session()
        # The end of the input is for the caller to see.
        self.coord = Coordinator(clean_stop_exception_types=[])
        if get_collection(GraphKeys.QUEUE_RUNNERS):
            start_queue_runners(sess=self.tf_sess, coord=self.coord)
        for hook in self._hooks:
            hook.after_create_session(self.tf_sess, self.coord)
        hooked = _HookedSession(self.tf_sess, self._hooks)
        return _CoordinatedSession(hooked, self.coord, self._stop_grace_period_secs)


class _MonitoredSession:
    """What both monitored sessions share; a context that closes at the end."""

    StepContext = StepContext

    def __init__(
        self,
        session_creator: Any,
        hooks: Sequence[Any] | None,
        should_recover: bool,
        stop_grace_period_secs: float = 120,
    ) -> None:
        # The session finishes the graph; closing opens it again, unless the caller had finished it.
        self._graph_was_finalized = get_default_graph().finalized
        self._hooks = hooks or []
        for hook in self._hooks:
            hook.begin()
        self._coordinated_creator = _CoordinatedSessionCreator(
            session_creator or ChiefSessionCreator(), self._hooks, stop_grace_period_secs
        )
        self._sess: Any
        if should_recover:
            self._sess = _RecoverableSession(self._coordinated_creator)
        else:
            self._sess = self._coordinated_creator.create_session()

    @property
    def graph(self) -> Any:
        """The graph; None once closed."""
        session = self._tf_sess()
        return None if session is None else session.graph

    def run(
        self,
        fetches: object,
        feed_dict: dict[Any, Any] | None = None,
        options: object = None,
        run_metadata: object = None,
    ) -> Any:
        """See Session.run; hooks are called around it."""
        try:
            return self._sess.run(
                fetches, feed_dict=feed_dict, options=options, run_metadata=run_metadata
            )
        except Exception as error:
            shorten(error)
            raise

    def run_step_fn(self, step_fn: Callable[..., Any]) -> Any:
        """Calls `step_fn(step_context)`, which makes runs with and without hooks."""
        names = tuple(inspect.signature(step_fn).parameters)
        if names not in (("step_context",), ("self", "step_context")):
            raise ValueError(
                "`step_fn` may either have one `step_context` argument, or `self` and "
                "`step_context` arguments if it's an instance method. Got "
                f"{names} instead."
            )
        return self._sess.run_step_fn(step_fn, self._tf_sess(), run_with_hooks=None)

    def should_stop(self) -> bool:
        """Whether no more runs should be made."""
        return self._sess is None or self._sess.should_stop()

    def close(self) -> None:
        """Lets hooks end, ends threads and closes the session."""
        self._close_internal()

    def __enter__(self) -> _MonitoredSession:
        return self

    def __exit__(
        self, exception_type: Callable[..., Any] | None, exception_value: object, traceback: object
    ) -> bool:
        if exception_type in (errors.OutOfRangeError, StopIteration):
            exception_type = None
        self._close_internal(exception_type)
        # The end of the input is a good end.
        return exception_type is None

    def _close_internal(self, exception_type: Callable[..., Any] | None = None) -> None:
        try:
            # Hooks end only after success: what they would save at the end is not to be trusted
            # otherwise.
            if not exception_type:
                for hook in self._hooks:
                    hook.end(self._coordinated_creator.tf_sess)
        finally:
            try:
                if self._sess is None:
                    raise RuntimeError("Session is already closed.")
                self._sess.close()
            finally:
                self._sess = None
                self._coordinated_creator.tf_sess = None
                self._coordinated_creator.coord = None
                if not self._graph_was_finalized:
                    get_default_graph()._unsafe_unfinalize()

    def _is_closed(self) -> bool:
        return self._coordinated_creator.tf_sess is None

    def _tf_sess(self) -> Any:
        return self._coordinated_creator.tf_sess


class MonitoredSession(_MonitoredSession):
    """A session that initializes, recovers from lost sessions, and calls hooks.

    (tf.train.MonitoredSession)
    """

    def __init__(
        self,
        session_creator: SessionCreator | None = None,
        hooks: Sequence[Any] | None = None,
        stop_grace_period_secs: float = 120,
    ) -> None:
        super().__init__(
            session_creator,
            hooks,
            should_recover=True,
            stop_grace_period_secs=stop_grace_period_secs,
        )


class SingularMonitoredSession(_MonitoredSession):
    """The same without recovery; its plain session may be used (tf.train...)."""

    def __init__(
        self,
        hooks: Sequence[Any] | None = None,
        scaffold: Scaffold | None = None,
        master: str = "",
        config: object = None,
        checkpoint_dir: str | None = None,
        stop_grace_period_secs: float = 120,
        checkpoint_filename_with_path: str | None = None,
    ) -> None:
        creator = ChiefSessionCreator(
            scaffold, master, config, checkpoint_dir, checkpoint_filename_with_path
        )
        super().__init__(
            creator, hooks, should_recover=False, stop_grace_period_secs=stop_grace_period_secs
        )

    def raw_session(self) -> Any:
        """The plain session."""
        return self._tf_sess()


def _or_default(first: object, second: object, defaults: tuple[Any, Any]) -> tuple[Any, Any]:
    """Two ways to say the same: where neither is given, their defaults; else None for the other."""
    if first is USE_DEFAULT and second is USE_DEFAULT:
        return defaults
    return (None if first is USE_DEFAULT else first), (None if second is USE_DEFAULT else second)


def _is_on(first: Any, second: Any) -> bool:
    return bool((first and first > 0) or (second and second > 0))


def MonitoredTrainingSession(  # noqa: N802 - TensorFlow's name
    master: str = "",
    is_chief: bool = True,
    checkpoint_dir: str | None = None,
    scaffold: Scaffold | None = None,
    hooks: Sequence[Any] | None = None,
    chief_only_hooks: Any = None,
    save_checkpoint_secs: object = USE_DEFAULT,
    save_summaries_steps: object = USE_DEFAULT,
    save_summaries_secs: object = USE_DEFAULT,
    config: object = None,
    stop_grace_period_secs: float = 120,
    log_step_count_steps: int | None = 100,
    max_wait_secs: float = 7200,
    save_checkpoint_steps: object = USE_DEFAULT,
    summary_dir: Any = None,
) -> MonitoredSession:
    """A session that initializes, saves and recovers by itself (tf.train.MonitoredTrainingSession).

    It begins with the last checkpoint in `checkpoint_dir`, if there is one; the graph is finalized.

    Args:
        master: the address of a server; "" for this process.
        is_chief: whether it initializes and saves; others wait for the chief.
        checkpoint_dir: the folder of checkpoints and summaries; None for none.
        scaffold: a tf.train.Scaffold with operations to use in place of the usual ones.
        hooks: a list of tf.train.SessionRunHook.
        chief_only_hooks: hooks that only the chief has.
        save_checkpoint_secs, save_checkpoint_steps: how often it saves, one of both or None: every
            600 seconds by default.
        save_summaries_secs, save_summaries_steps: likewise summaries: every 100 steps by default.
        config: a tf.ConfigProto.
        stop_grace_period_secs: how long threads may take to stop.
        log_step_count_steps: how often steps per second are logged.
        max_wait_secs: how long others wait for the chief.
        summary_dir: the folder of summaries, if it is another one.

    Returns:
        A MonitoredSession: a context with `run` and `should_stop`.

    Example:
        >>> step = tf.train.get_or_create_global_step()
        >>> train = tf.assign_add(step, 1)
        >>> hooks = [tf.train.StopAtStepHook(last_step=3)]
        >>> with tf.train.MonitoredTrainingSession(hooks=hooks) as sess:
        ...     while not sess.should_stop():
        ...         last = sess.run(train)
        >>> last
        np.int64(3)
    """
    summaries = _or_default(save_summaries_steps, save_summaries_secs, (100, None))
    checkpoints = _or_default(save_checkpoint_steps, save_checkpoint_secs, (None, 600))
    scaffold = scaffold or Scaffold()
    extended = spread()
    if extended is not None:
        # Workers that keep the same variables: each initializes its own, and one of them saves.
        master = master or extended.target()
        config = extended.configured(config)
        if not extended.should_checkpoint:
            mirrored = ChiefSessionCreator(scaffold, master, config, checkpoint_dir)
            return MonitoredSession(mirrored, hooks or [], stop_grace_period_secs)
        is_chief = True
    if not is_chief:
        worker = WorkerSessionCreator(scaffold, master, config, max_wait_secs)
        return MonitoredSession(worker, hooks or [], stop_grace_period_secs)
    creator = ChiefSessionCreator(scaffold, master, config, checkpoint_dir)
    folder = summary_dir or checkpoint_dir
    usual = [
        *(_summary_hooks(scaffold, folder, log_step_count_steps, summaries) if folder else ()),
        *(_checkpoint_hooks(scaffold, checkpoint_dir, checkpoints) if checkpoint_dir else ()),
    ]
    all_hooks = [*(chief_only_hooks or ()), *usual, *(hooks or ())]
    return MonitoredSession(creator, all_hooks, stop_grace_period_secs)


def _summary_hooks(
    scaffold: Scaffold, folder: str, log_steps: int | None, often: tuple[Any, Any]
) -> Iterator[Any]:
    """What writes into a folder: how fast steps are, and summaries from time to time."""
    if log_steps and log_steps > 0:
        yield StepCounterHook(output_dir=folder, every_n_steps=log_steps)
    if _is_on(*often):
        steps, seconds = often
        yield SummarySaverHook(
            scaffold=scaffold, save_steps=steps, save_secs=seconds, output_dir=folder
        )


def _checkpoint_hooks(scaffold: Scaffold, folder: str, often: tuple[Any, Any]) -> Iterator[Any]:
    """What saves into a folder."""
    if _is_on(*often):
        steps, seconds = often
        yield CheckpointSaverHook(folder, save_steps=steps, save_secs=seconds, scaffold=scaffold)
