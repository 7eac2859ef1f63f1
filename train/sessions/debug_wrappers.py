# SPDX-License-Identifier: Apache-2.0
"""`DumpingDebugWrapperSession` and its hook: runs whose values are written, as tfdbg has them."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ...engine import errors
from ...engine.graph import defaults
from ...io import protos
from ...io.tensor_dumps import FEED_KEYS, FETCHES, write_message
from .debug_watches import WatchOptions, watch_graph
from .session_run_hook import SessionRunArgs, SessionRunHook

if TYPE_CHECKING:
    from ...engine.session.session import BaseSession
    from .session_run_hook import SessionRunContext

WatchFunction = Callable[[Any, Any], WatchOptions]


class _DumpFolder:
    """A folder in which every run has one of its own."""

    def __init__(self, root: str) -> None:
        self._root = os.path.expanduser(root)
        self._count, self._lock = 0, threading.Lock()
        if os.path.isfile(self._root):
            raise ValueError(f"session_root path points to a file: {self._root}")
        if os.path.isdir(self._root) and os.listdir(self._root):
            raise ValueError(f"session_root path points to a non-empty directory: {self._root}")
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


def _watch(options: Any, session: Any, folder: str, chosen: Any) -> Any:
    """RunOptions that have what is chosen of the session's graph written to a folder."""
    chosen = chosen or WatchOptions()
    if not isinstance(chosen, WatchOptions):
        raise TypeError(f"watch_fn must return WatchOptions, but returned {type(chosen).__name__}")
    watch_graph(options, session.graph, debug_urls="file://" + folder, **vars(chosen))
    return options


class DumpingDebugWrapperSession:
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
        self._sess, self._watch_fn = sess, watch_fn
        self._threads = re.compile(thread_name_filter) if thread_name_filter else None
        self._folder = _DumpFolder(session_root)
        self._contexts: list[Any] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sess, name)

    @property
    def session(self) -> BaseSession:
        """The wrapped session."""
        return self._sess

    def run(
        self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None
    ) -> Any:
        """Like Session.run; writes the values of what is watched."""
        if self._threads and not self._threads.match(threading.current_thread().name):
            return self._sess.run(fetches, feed_dict, options, run_metadata)
        folder = self._folder.of_run(fetches, feed_dict)
        chosen = self._watch_fn(fetches, feed_dict) if self._watch_fn else None
        asked = protos.RunOptions()
        if options is not None:
            asked.CopyFrom(options)
        watched = _watch(asked, self._sess, folder, chosen)
        return self._sess.run(fetches, feed_dict, watched, run_metadata)

    def make_callable(self, fetches: Any, feed_list: Any = None, **unused: Any) -> Any:
        """A function of the fed values that runs the fetches, written as all runs are."""
        del unused
        feeds = list(feed_list or ())
        return lambda *values, **given: self.run(fetches, dict(zip(feeds, values)), **given)

    def partial_run(self, handle: Any, fetches: Any, feed_dict: Any = None) -> Any:
        """Raises UnimplementedError: runs in parts are not written."""
        raise errors.unimplemented("partial_run is not implemented for debug-wrapper sessions.")

    def as_default(self) -> Any:
        """A context in which `Tensor.eval` and `Operation.run` use this session."""
        return defaults.sessions.get_controller(self)

    def __enter__(self) -> DumpingDebugWrapperSession:
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
        self._threads = re.compile(thread_name_filter) if thread_name_filter else None
        self._folder: _DumpFolder | None = None

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        """Adds watches to the options of the run."""
        if self._threads and not self._threads.match(threading.current_thread().name):
            return None
        if self._folder is None:
            self._folder = _DumpFolder(self._root)
        asked = run_context.original_args
        folder = self._folder.of_run(asked.fetches, asked.feed_dict)
        chosen = self._watch_fn(asked.fetches, asked.feed_dict) if self._watch_fn else None
        options = _watch(protos.RunOptions(), run_context.session, folder, chosen)
        return SessionRunArgs(None, feed_dict=None, options=options)
