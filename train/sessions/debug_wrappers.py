# SPDX-License-Identifier: Apache-2.0
"""`DumpingDebugWrapperSession` and its hook: runs whose values are written, as tfdbg has them."""

from __future__ import annotations

import abc
import os
import re
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from ...engine import errors
from ...engine.graph import defaults
from ...io import protos
from ...io.tensor_dumps import FEED_KEYS, FETCHES, write_message
from .debug_watches import WatchOptions, watch_graph
from .session_run_hook import SessionRunArgs, SessionRunHook

if TYPE_CHECKING:
    from ...engine.graph.annotations import Feeds
    from ...engine.session.session import BaseSession
    from .session_run_hook import SessionRunContext

WatchFunction = Callable[[Any, Any], WatchOptions]


class DumpFolder:
    """A folder in which every run has one of its own.

    Args:
        root: its path; it is empty or not there yet.
        argument: the name of the argument that it was given as.

    Raises:
        ValueError: it is a file, or it is not empty.
    """

    def __init__(self, root: str, argument: str = "session_root") -> None:
        self._root = os.path.expanduser(root)
        self._count, self._lock = 0, threading.Lock()
        if os.path.isfile(self._root):
            raise ValueError(f"{argument} path points to a file: {self._root}")
        if os.path.isdir(self._root) and os.listdir(self._root):
            raise ValueError(f"{argument} path points to a non-empty directory: {self._root}")
        os.makedirs(self._root, exist_ok=True)

    def of_run(self, fetches: object, feed_dict: Any) -> str:
        """Makes the folder of a run, which says what is fetched and fed."""
        with self._lock:
            name, self._count = f"run_{int(time.time() * 1e6)}_{self._count}", self._count + 1
        folder = os.path.join(self._root, name)
        os.mkdir(folder)
        write_message(os.path.join(folder, FETCHES), repr(fetches))
        keys = feed_dict.keys() if feed_dict else feed_dict
        write_message(os.path.join(folder, FEED_KEYS), repr(keys))
        return folder


def watched_options(options: Any, session: BaseSession, folder: str, chosen: Any = None) -> Any:
    """A copy of RunOptions that has what is chosen of the session's graph written to a folder.

    Raises:
        TypeError: what is chosen is no WatchOptions, nor an older program's tuple of debug
            operations and patterns of names and of types.
    """
    chosen = chosen or WatchOptions()
    if isinstance(chosen, tuple):
        chosen = WatchOptions(*chosen)
    if not isinstance(chosen, WatchOptions):
        raise TypeError(f"watch_fn must return WatchOptions, but returned {type(chosen).__name__}")
    watched = protos.RunOptions()
    if options is not None:
        watched.CopyFrom(options)
    watch_graph(watched, session.graph, debug_urls="file://" + folder, **vars(chosen))
    return watched


def threads_named(pattern: str | None) -> Callable[[], bool]:
    """Says whether the name of the thread that asks begins as a pattern; any name if None."""
    if not pattern:
        return lambda: True
    compiled = re.compile(pattern)
    return lambda: compiled.match(threading.current_thread().name) is not None


class DebugWrapper(abc.ABC):
    """A session around another: what a kind of debugging says of its runs is done in `run`."""

    def __init__(self, sess: BaseSession) -> None:
        self._sess = sess
        self._contexts: list[Any] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sess, name)

    @property
    def session(self) -> BaseSession:
        """The wrapped session."""
        return self._sess

    @abc.abstractmethod
    def run(
        self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None
    ) -> Any:
        """Like Session.run."""

    def make_callable(self, fetches: Any, feed_list: Any = None, **unused: Any) -> Any:
        """A function of the fed values that runs the fetches, debugged as all runs are."""
        del unused
        feeds = list(feed_list or ())
        return lambda *values, **given: self.run(fetches, dict(zip(feeds, values)), **given)

    def partial_run(self, handle: Any, fetches: Any, feed_dict: Feeds | None = None) -> Any:
        """Raises UnimplementedError: runs in parts are not written."""
        raise errors.unimplemented("partial_run is not implemented for debug-wrapper sessions.")

    def as_default(self) -> Any:
        """A context in which `Tensor.eval` and `Operation.run` use this session."""
        return defaults.sessions.get_controller(self)

    def __enter__(self) -> Self:
        self._contexts = [self._sess.graph.as_default(), self.as_default()]
        for context in self._contexts:
            context.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        contexts, self._contexts = self._contexts, []
        for context in reversed(contexts):
            context.__exit__(kind, error, trace)
        self._sess.close()


class DumpingDebugWrapperSession(DebugWrapper):
    """A session whose runs write the values of their tensors to files.

    Everything else is the wrapped session's. DebugDumpDir reads what a run has written.

    Args:
        sess: the session; of a tf.train.MonitoredSession, DumpingDebugHook does the same.
        session_root: a folder that is empty or not there yet; each run writes to a folder
            "run_<time>_<number>" in it.
        watch_fn: a function of fetches and feed_dict that returns WatchOptions; all tensors are
            watched if None.
        thread_name_filter: a pattern of threads whose runs are written; all if None.
        pass_through_operrors, log_usage: accepted as TensorFlow's; errors are always passed on.

    Raises:
        ValueError: session_root is a file or a folder that is not empty.
    """

    def __init__(
        self,
        sess: BaseSession,
        session_root: str,
        watch_fn: WatchFunction | None = None,
        thread_name_filter: str | None = None,
        pass_through_operrors: bool | None = None,
        log_usage: bool = True,
    ) -> None:
        del pass_through_operrors, log_usage
        if watch_fn is not None and not callable(watch_fn):
            raise TypeError("watch_fn is not callable")
        super().__init__(sess)
        self._watch_fn, self._is_watched = watch_fn, threads_named(thread_name_filter)
        self._folder = DumpFolder(session_root)

    def run(
        self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None
    ) -> Any:
        """Like Session.run; writes the values of what is watched."""
        if not self._is_watched():
            return self._sess.run(fetches, feed_dict, options, run_metadata)
        folder = self._folder.of_run(fetches, feed_dict)
        chosen = self._watch_fn(fetches, feed_dict) if self._watch_fn else None
        watched = watched_options(options, self._sess, folder, chosen)
        return self._sess.run(fetches, feed_dict, watched, run_metadata)


class DumpingDebugHook(SessionRunHook):
    """Has the runs of a monitored session write the values of their tensors to files.

    Args:
        session_root: as for DumpingDebugWrapperSession.
        watch_fn: likewise.
        thread_name_filter: likewise.
        log_usage: accepted as TensorFlow's.
    """

    def __init__(
        self,
        session_root: str,
        watch_fn: WatchFunction | None = None,
        thread_name_filter: str | None = None,
        log_usage: bool = True,
    ) -> None:
        del log_usage
        self._root, self._watch_fn = session_root, watch_fn
        self._is_watched = threads_named(thread_name_filter)
        self._folder: DumpFolder | None = None

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        """Adds watches to the options of the run."""
        if not self._is_watched():
            return None
        if self._folder is None:
            self._folder = DumpFolder(self._root)
        asked = run_context.original_args
        folder = self._folder.of_run(asked.fetches, asked.feed_dict)
        chosen = self._watch_fn(asked.fetches, asked.feed_dict) if self._watch_fn else None
        options = watched_options(None, run_context.session, folder, chosen)
        return SessionRunArgs(None, feed_dict=None, options=options)
