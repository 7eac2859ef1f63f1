# SPDX-License-Identifier: Apache-2.0
"""`LocalCLIDebugWrapperSession` and its hook without a command line: filters report by themselves.

TensorFlow asks a person at a terminal before each run. Here runs go on as `run -n` lets them;
those of a program that adds filters are looked through as `run -f` does, until one passes.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .debug_dumps import DebugDumpDir, DebugTensorDatum, has_inf_or_nan
from .debug_wrappers import DebugWrapper, DumpFolder, threads_named, watched_options
from .session_run_hook import SessionRunArgs, SessionRunHook

if TYPE_CHECKING:
    from ...engine.session.session import BaseSession
    from .session_run_hook import SessionRunContext, SessionRunValues

Filter = Callable[[DebugTensorDatum, Any], Any]
_UI_TYPES = ("curses", "readline")
_SHOWN = 20  # Values of a report; what is computed of a bad one is bad, too.


def _say(text: str) -> None:
    print(f"tfdbg: {text}", file=sys.stderr, flush=True)


def _described(datum: DebugTensorDatum) -> str:
    value = np.asarray(datum.get_tensor())
    text = f"  {datum.tensor_name}  {value.dtype} {list(value.shape)}"
    if value.dtype.kind not in "fc" or not value.size:
        return text
    bad = int(np.isnan(value).sum()), int(np.isinf(value).sum())
    return f"{text}  {bad[0]} NaN and {bad[1]} infinite of {value.size}"


class _Filters:
    """The filters of a session or hook, and what has become of its runs.

    Raises:
        ValueError: ui_type is no interface of tfdbg's, or dump_root is not to be written to.
    """

    def __init__(self, ui_type: str, dump_root: str | None, threads: str | None) -> None:
        if ui_type not in _UI_TYPES:
            raise ValueError(f"Invalid ui_type: '{ui_type}'")
        self._by_name: dict[str, Filter] = {"has_inf_or_nan": has_inf_or_nan}
        self._added: set[str] = set()
        self._folder = DumpFolder(dump_root, "dump_root") if dump_root else None
        self._is_watched = threads_named(threads)
        self._runs, self._passed, self._told = 0, False, False

    def add(self, name: str, function: Filter) -> None:
        """A filter that the program adds, by its name; those of earlier ones are replaced."""
        if not isinstance(name, str):
            raise TypeError(f"Input argument filter_name is expected to be str, not {type(name)}")
        if not name:
            raise ValueError("Input argument filter_name cannot be empty.")
        if not callable(function):
            raise TypeError("Input argument tensor_filter is expected to be callable")
        self._by_name[name] = function
        self._added.add(name)

    def begin(self, fetches: Any, feed_dict: Any) -> str | None:
        """The folder that a run is to be written to, or None if it is not to be watched."""
        self._runs += 1
        self._tell()
        if not self._added or self._passed or not self._is_watched():
            return None
        folder = self._folder or DumpFolder(tempfile.mkdtemp(prefix="tfdbg_"))
        return folder.of_run(fetches, feed_dict)

    def _tell(self) -> None:
        if self._told:
            return
        self._told = True
        names = ", ".join(sorted(self._added))
        _say(
            "its command line is not in numbaflow: "
            + (f"runs go on until {names} passes" if names else "runs go on, as `run -n` lets them")
        )

    def end(self, folder: str) -> None:
        """Looks through what a run has written: reports what passes, removes the rest."""
        dump = DebugDumpDir(folder)
        for name in sorted(self._added):
            found = dump.find(self._by_name[name])
            if found:
                self._passed = True
                _say(f"run {self._runs}: {len(found)} values pass {name}, the first first")
                for datum in found[:_SHOWN]:
                    print(_described(datum), file=sys.stderr)
                _say(f"DebugDumpDir({folder!r}) has all of the run; later runs are not watched")
                return
        shutil.rmtree(folder)
        if self._folder is None:  # It was made for this run.
            os.rmdir(os.path.dirname(folder))


class LocalCLIDebugWrapperSession(DebugWrapper):
    """A session whose runs are looked through by the filters that the program adds.

    There is no command line: without filters of the program's runs go on unwatched, and with some
    until a value passes one; that is reported, and its run's values stay in a folder.

    Args:
        sess: the session; of a tf.train.MonitoredSession, LocalCLIDebugHook does the same.
        dump_root: a folder that is empty or not there yet, for the values of runs; one of the
            system's for temporary files if None.
        log_usage, config_file_path: accepted as TensorFlow's.
        ui_type: "curses" or "readline"; both are alike here.
        thread_name_filter: a pattern of threads whose runs are watched; all if None.

    Raises:
        ValueError: ui_type is another, or dump_root is a file or a folder that is not empty.
    """

    def __init__(
        self,
        sess: BaseSession,
        dump_root: str | None = None,
        log_usage: bool = True,
        ui_type: str = "curses",
        thread_name_filter: str | None = None,
        config_file_path: str | bool | None = False,
    ) -> None:
        del log_usage, config_file_path
        super().__init__(sess)
        self._filters = _Filters(ui_type, dump_root, thread_name_filter)

    def add_tensor_filter(self, filter_name: str, tensor_filter: Filter) -> None:
        """Adds a filter: a function of a DebugTensorDatum and its array, as has_inf_or_nan."""
        self._filters.add(filter_name, tensor_filter)

    def run(
        self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None
    ) -> Any:
        """Like Session.run; reports values that pass a filter."""
        folder = self._filters.begin(fetches, feed_dict)
        if folder is None:
            return self._sess.run(fetches, feed_dict, options, run_metadata)
        watched = watched_options(options, self._sess, folder)
        try:
            return self._sess.run(fetches, feed_dict, watched, run_metadata)
        finally:  # What came before an error tells most.
            self._filters.end(folder)


class LocalCLIDebugHook(SessionRunHook):
    """Looks through the runs of a monitored session, as LocalCLIDebugWrapperSession does.

    Args:
        ui_type, dump_root, thread_name_filter, config_file_path: as of that one.
    """

    def __init__(
        self,
        ui_type: str = "curses",
        dump_root: str | None = None,
        thread_name_filter: str | None = None,
        config_file_path: str | bool | None = None,
    ) -> None:
        del config_file_path
        self._filters = _Filters(ui_type, dump_root, thread_name_filter)
        self._current: str | None = None

    def add_tensor_filter(self, filter_name: str, tensor_filter: Filter) -> None:
        """Adds a filter: a function of a DebugTensorDatum and its array, as has_inf_or_nan."""
        self._filters.add(filter_name, tensor_filter)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        """Adds watches to the options of the run."""
        asked = run_context.original_args
        self._current = self._filters.begin(asked.fetches, asked.feed_dict)
        if self._current is None:
            return None
        options = watched_options(None, run_context.session, self._current)
        return SessionRunArgs(None, feed_dict=None, options=options)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Looks through what the run has written."""
        del run_context, run_values
        if self._current is not None:
            self._filters.end(self._current)
