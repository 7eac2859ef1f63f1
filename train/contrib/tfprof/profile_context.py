# SPDX-License-Identifier: Apache-2.0
"""Profiles of a program's runs, made while it goes on."""

from __future__ import annotations

import os
import random
import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from ....engine import errors
from ....engine.api import export
from ....engine.graph.graph import get_default_graph
from ....engine.session.session import BaseSession
from ....engine.types import nest
from ....io.files import GFile, recursive_create_dir
from .model_analyzer import Profiler

if TYPE_CHECKING:
    from ....engine.graph.graph import Graph

WARMUP_STEPS = 10
MAX_TRACED_STEPS = 100
_COMMANDS: dict[str, Callable[[Profiler, dict[str, Any]], Any]] = {
    "graph": Profiler.profile_graph,
    "scope": Profiler.profile_name_scope,
    "op": Profiler.profile_operations,
    "code": Profiler.profile_python,
}


@export("contrib.tfprof.ProfileContext", "contrib.tfprof.model_analyzer.ProfileContext")
class ProfileContext:
    """A context in which some runs of any session are traced, profiled and written.

    Args:
        profile_dir: the folder for profiles, as "profile_<step>".
        trace_steps: which runs are traced, by their number from 0; some of those behind the first
            ten if None, of each set of fetches at least one.
        dump_steps: behind which runs all that is known is written; the hundredth if None.
        enabled: False makes it do nothing.
        debug: writes the RunMetadata of each traced run, too.

    Raises:
        ValueError: there is no folder, or more than 100 runs are to be traced.

    Example:
        >>> import tempfile
        >>> y = tf.add(1.0, 2.0)
        >>> builder = tf.profiler.ProfileOptionBuilder
        >>> options = builder(builder.time_and_memory()).with_empty_output().build()
        >>> context = tf.contrib.tfprof.ProfileContext(
        ...     tempfile.mkdtemp(), trace_steps=[], dump_steps=[])
        >>> with context, tf.Session() as session:
        ...     context.add_auto_profiling("op", options, [1])
        ...     values = [session.run(y) for _ in range(3)]
        >>> list(context.get_profiles("op"))
        [1]
    """

    def __init__(
        self,
        profile_dir: str,
        trace_steps: Iterable[int] | None = None,
        dump_steps: Iterable[int] | None = None,
        enabled: bool = True,
        debug: bool = False,
    ) -> None:
        self._enabled = enabled
        if not enabled:
            return
        if not profile_dir:
            raise ValueError("Must have a directory for profile.\n")
        self._profiler_dir, self._debug = profile_dir, debug
        self._auto_tracing = trace_steps is None
        self._trace_steps = {*(trace_steps or ())}
        if len(self._trace_steps) > MAX_TRACED_STEPS:
            raise ValueError("Only support tracing up to 100 steps.\n")
        self._dump_steps = {MAX_TRACED_STEPS} if dump_steps is None else {*dump_steps}
        self._trace_next_step = self._dump_next_step = False
        self._step = self._traced_steps = 0
        self._auto_profiles: list[tuple[str, dict[str, Any], list[int]]] = []
        self._profiler: Profiler | None = None
        self._views: dict[str, dict[int, Any]] = {}
        self._fetched: set[str] = set()
        # (As in TensorFlow: the same runs in every process.)
        self._random = random.Random(111)
        self._lock = threading.Lock()
        self._run: Any = None

    def add_auto_profiling(
        self, cmd: str, options: dict[str, Any], profile_steps: Iterable[int]
    ) -> None:
        """Traces and profiles some runs.

        Args:
            cmd: "scope", "graph", "op" or "code".
            options: as of `tf.profiler.profile`.
            profile_steps: the runs' numbers.
        """
        if self._enabled:
            steps = list(profile_steps)
            self._auto_profiles.append((cmd, options, steps))
            self._trace_steps |= {*steps}

    def get_profiles(self, cmd: str) -> dict[int, Any]:
        """The profiles of a command by the runs' numbers; ValueError if there were none."""
        if cmd not in self._views:
            raise ValueError(f"No autoprofiler for command: {cmd}, was run")
        return self._views[cmd]

    @property
    def profiler(self) -> Profiler | None:
        """The profiler of all traced runs; None if the context does nothing."""
        if self._enabled and self._profiler is None:
            self._profiler = Profiler(get_default_graph())
        return self._profiler if self._enabled else None

    def trace_next_step(self) -> None:
        """Traces the next run."""
        if self._enabled:
            self._trace_next_step = True

    def dump_next_step(self) -> None:
        """Writes all that is known behind the next run."""
        if self._enabled:
            self._dump_next_step = True

    def _should_trace(self, graph: Graph, fetches: Any) -> bool:
        if self._traced_steps > MAX_TRACED_STEPS:
            return False
        if self._step in self._trace_steps or self._trace_next_step:
            return True
        if not self._auto_tracing or self._step <= WARMUP_STEPS:
            return False
        found = (graph.as_graph_element(x, allow_operation=True) for x in nest.flatten(fetches))
        names = "-".join(sorted(x.name for x in found))
        if names not in self._fetched:
            self._fetched.add(names)
            return True
        assert self.profiler is not None
        is_little = self.profiler._coverage < 0.5 and self._step < MAX_TRACED_STEPS
        return is_little and self._random.randint(0, 10) < 2

    def _traced(self, session: BaseSession, args: dict[str, Any]) -> Any:
        """A run that is traced, and what it told."""
        from ....io import protos

        assert self.profiler is not None
        self._traced_steps += 1
        if args["run_metadata"] is None:
            args["run_metadata"] = protos.RunMetadata()
        options = protos.RunOptions()
        if args["options"] is not None:
            options.CopyFrom(args["options"])
        options.trace_level = protos.RunOptions.FULL_TRACE
        results = self._run(session, **{**args, "options": options})
        if self._debug:
            self._write(f"run_meta_{self._step}", str(args["run_metadata"]))
        self.profiler._graph = session.graph
        self.profiler.add_step(self._step, args["run_metadata"])
        return results

    def _one_run(self, session: BaseSession, args: dict[str, Any]) -> Any:
        """A run of a session, which is counted."""
        if not self._lock.acquire(blocking=False):
            # Another thread's run is being traced.
            return self._run(session, **args)
        try:
            if self._should_trace(session.graph, args["fetches"]):
                results = self._traced(session, args)
            else:
                results = self._run(session, **args)
            self._behind_run()
            self._step += 1
            self._trace_next_step = self._dump_next_step = False
        finally:
            self._lock.release()
        return results

    def _behind_run(self) -> None:
        """Writes and profiles what is asked for behind this run."""
        if self._step in self._dump_steps or self._dump_next_step:
            recursive_create_dir(self._profiler_dir)
            assert self.profiler is not None
            self.profiler._write_profile(os.path.join(self._profiler_dir, f"profile_{self._step}"))
        for cmd, options, steps in self._auto_profiles:
            if self._step in steps:
                if cmd not in _COMMANDS:
                    raise ValueError(f"Unknown cmd: {cmd}\n")
                assert self.profiler is not None
                made = _COMMANDS[cmd](self.profiler, options)
                self._views.setdefault(cmd, {})[self._step] = made

    def _write(self, name: str, text: str) -> None:
        recursive_create_dir(self._profiler_dir)
        with GFile(os.path.join(self._profiler_dir, name), "w") as file:
            file.write(text)

    def __enter__(self) -> ProfileContext:
        if not self._enabled:
            return self
        if getattr(BaseSession.run, "profile_context", None) is not None:
            raise errors.internal("Already in context or context not cleaned.")
        self._run = BaseSession.run

        def run(
            session: Any,
            fetches: Any,
            feed_dict: Any = None,
            options: Any = None,
            run_metadata: Any = None,
        ) -> Any:
            rest = {"feed_dict": feed_dict, "options": options, "run_metadata": run_metadata}
            return self._one_run(session, {"fetches": fetches, **rest})

        run.profile_context = self  # type: ignore[attr-defined]
        BaseSession.run = run  # type: ignore[method-assign, assignment]
        return self

    def __exit__(self, *error: object) -> None:
        if self._enabled:
            BaseSession.run = self._run  # type: ignore[method-assign]
