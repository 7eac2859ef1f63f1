# SPDX-License-Identifier: Apache-2.0
"""`Session`: runs parts of a graph and keeps the state of its variables.

A call to `run` looks up what was prepared for the same fetches and feed keys; only the first call
walks structures and graph.  The work itself is the compiled plan's or the interpreter's.
"""

from __future__ import annotations

import itertools
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import errors, stopping
from ..api import export
from ..compat import as_text
from ..graph import defaults
from ..graph.devices import _DeviceAttributes
from ..graph.graph import Graph
from ..graph.tensor import Tensor
from ..tracebacks import shorten
from . import graph_growth_warning, session_target
from .device_placement import Elsewhere, Placement, gpu_backend, kind_and_memory
from .fetch_results import result_builder, with_handles, without_records
from .fetches import (
    HANDLES,
    FeedSlot,
    Fetches,
    expanded,
    expanded_values,
    feed_tensor,
    freeze,
)
from .fetches import stands_for_itself as is_plain_feed
from .futures import SessionFutures
from .partial_run import PartialRun, setup
from .runner_choice import runner_of

if TYPE_CHECKING:
    from ..graph.annotations import Feeds
    from ..graph.operation import Operation
    from .state import Resources

Runner = Callable[[Sequence[Any]], list[Any]]

_REMOTE_REASON = "Step was cancelled by an explicit call to `Session::Close()`."

_incarnations = itertools.count(1)
# The open sessions that run in this process, for `Session.reset`.
_local_sessions: weakref.WeakSet[BaseSession] = weakref.WeakSet()


class PreparedRun:
    """One combination of fetches and feed keys, ready to run."""

    __slots__ = (
        *("changes", "mutation", "slots", "run"),
        *("build", "single", "expanded", "fed_positions"),
    )

    def __init__(self, session: BaseSession, structure: object, feeds: list[Tensor]) -> None:
        graph = session.graph
        self.mutation, self.changes = graph.mutation, graph.changes
        self.slots = [FeedSlot(tensor) for tensor in feeds]
        wanted = Fetches(graph, structure)
        fed = {id(tensor): i for i, tensor in enumerate(feeds)}
        computed = [t for t in wanted.tensors if id(t) not in fed]
        self.run = session.runner(computed, wanted.targets, feeds)
        self.build = result_builder(wanted, computed, fed)
        handles = [i for i, tensor in enumerate(computed) if tensor.op.type in HANDLES]
        if handles:
            self.run = with_handles(session, self.run, computed, handles)
        records = [i for i, tensor in enumerate(computed) if tensor.dtype.is_quantized]
        if records:
            self.run = without_records(self.run, records)
        # The commonest case, one tensor, needs no structure at all.
        self.single = isinstance(structure, Tensor) and len(computed) == 1
        # Keys that stand for several tensors are taken apart on every run.
        self.expanded = False


class _Times(threading.local):
    """When the run of a thread must end."""

    deadline: float | None = None


class BaseSession:
    """What `Session` and `InteractiveSession` share."""

    # What carries tensors between the tasks of a cluster, for the runs of one.
    transfers: Any = None
    # What runs branches and loops by reference kernels, where FlowProgram is not enough, and
    # whether anything else may run them.
    flow_class: Any = None
    is_compiled = True

    def __init__(self, target: str = "", graph: Graph | None = None, config: Any = None) -> None:
        if graph is not None and not isinstance(graph, Graph):
            raise TypeError(f"graph must be a tf.Graph, but got {type(graph)}")
        self._closed = False
        self._graph: Graph = defaults.get_default_graph() if graph is None else graph
        self._target = session_target.target_bytes(target)
        if config is not None and type(config).__name__ != "ConfigProto":
            raise TypeError(f"config must be a tf.ConfigProto, but got {type(config)}")
        self._config = config
        # `remote` speaks to a server elsewhere; None: runs are this process's own.
        self.resources, self.remote = self._runtime()
        where = Elsewhere if self.remote else Placement
        self.placement = where(self._graph, self.resources.task, config)
        self.kernel_states: dict[Any, Any] = {}
        # What runs plans on the session's GPU, if it has one (jit/cuda/gpu.py).
        self.gpu: Any = gpu_backend(self.placement.gpus, config)
        # Memory that no run of a compiled plan uses at the moment.
        self.arenas: list[Any] = []
        self._prepared: dict[Any, PreparedRun] = {}
        self._partial_runs: dict[str, PartialRun] = {}
        self.partial_programs: dict[Any, Any] = {}
        # Set when the session closes, for all that waits, loops or works for long to look at.
        self.is_ending = False
        self.waits, self._times = SessionFutures(), _Times()
        # Seconds that every run may take, and how many runs are limited at the moment.
        given = getattr(config, "operation_timeout_in_ms", 0) / 1000.0
        self._timeout = given or self.resources.timeout
        self._limits, self._limits_lock = 0, threading.Lock()
        # Whether a run has to look at anything of this at all.
        self._is_special = self._timeout > 0
        # Whether its server knows it no more.
        self.is_forgotten = False
        if self.remote is None:
            _local_sessions.add(self)

    @property
    def graph(self) -> Graph:
        """The graph that this session runs."""
        return self._graph

    @property
    def graph_def(self) -> Any:
        """The graph as a GraphDef."""
        infer = self._config is not None and self._config.graph_options.infer_shapes
        return self._graph.as_graph_def(add_shapes=infer)

    @property
    def sess_str(self) -> bytes | None:
        """The target."""
        return self._target

    @property
    def config(self) -> Any:
        """The ConfigProto given, or None."""
        return self._config

    @property
    def _session(self) -> Any:
        return None if self._closed else self

    def as_default(self) -> Any:
        """A context in which `Tensor.eval` and `Operation.run` use this session."""
        return defaults.default_session(self)

    def close(self) -> None:
        """Ends the session: operations that wait are cancelled, its state is dropped."""
        if self._closed:
            return
        self._closed = self._is_special = True
        self.cancel()
        if self.remote is not None:
            self.remote.close()
        self._prepared.clear()
        self.partial_programs.clear()

    def cancel(self) -> None:
        """Cancels all runs, in all threads; no run may begin any more.

        Operations that wait end now, others and plans when the piece at hand is done.
        """
        self.is_ending = self._is_special = True
        # A server says who cancelled; operations of this process's own runtime say what it was.
        self.waits.cancel(_REMOTE_REASON if self._target else "")

    def cancelled_error(self) -> errors.CancelledError:
        """What a run that is under way fails with when the session is closed."""
        reason = _REMOTE_REASON if self._target else "Run call was cancelled"
        return stopping.of_run(errors.CancelledError, reason)

    def list_devices(self) -> list[_DeviceAttributes]:
        """The devices of the runtime."""
        self._require_open()
        if self.remote is not None:
            return self.remote.list_devices()
        return [
            _DeviceAttributes(name, *kind_and_memory(name), next(_incarnations))
            for name in self.placement.devices
        ]

    def _require_open(self) -> None:
        if self._closed:
            raise errors.cancelled("Session has been closed.")

    def _runtime(self) -> tuple[Resources, session_target.Remote | None]:
        return session_target.runtime_of(self._target, self._graph, self._config)

    # Running

    def runner(
        self, fetches: Sequence[Tensor], targets: Sequence[Operation], feeds: Sequence[Tensor]
    ) -> Runner:
        """What runs a part of the graph: a plan, the interpreter, or a server elsewhere."""
        if self.remote is not None:
            return self.remote.runner(self, fetches, targets, feeds)
        return runner_of(self, self._graph, fetches, targets, feeds)

    def run(
        self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None
    ) -> Any:
        """Computes tensors and runs operations, with whatever they need.

        Args:
            fetches: a Tensor, an Operation, a name of one, or lists, tuples and dicts of such.
            feed_dict: the values of tensors in this run: numbers, lists or NumPy arrays, by Tensor.
            options, run_metadata: a tf.RunOptions; a tf.RunMetadata, which is filled in.

        Returns:
            NumPy values, None for operations, in the structure of `fetches`.

        Raises:
            RuntimeError: the session is closed, or the graph empty.
            ValueError: a fetch is not of the session's graph.
            TypeError: a fetch or a feed is no tensor of it.
        """
        try:
            if options is not None or run_metadata is not None:
                return self._run_observed(fetches, feed_dict, options, run_metadata)
            if self._is_special:
                self._check_open()
                if self._timeout and self._times.deadline is None:
                    with self._limited(self._timeout):
                        return self.run(fetches, feed_dict)
            prepared = self._find(fetches, feed_dict)
            if prepared is None or prepared.changes != self._graph.changes:
                prepared = self._current(prepared, fetches, feed_dict)
            if prepared.expanded:
                values = expanded_values(feed_dict, prepared.slots)
            elif feed_dict:
                try:
                    fed = feed_dict.values()
                except AttributeError:
                    _require_mapping(feed_dict)
                    raise
                values = [slot.convert(value) for slot, value in zip(prepared.slots, fed)]
            else:
                values = []
            results = prepared.run(values)
            if self.is_ending:
                raise self.cancelled_error()
            if prepared.single:
                value = results[0]
                return value[()] if type(value) is np.ndarray and value.ndim == 0 else value
            plain = [v[()] if type(v) is np.ndarray and v.ndim == 0 else v for v in results]
            return prepared.build(plain, values)
        except Exception as error:
            shorten(error)
            raise

    def explain(self, fetches: Any, feed_dict: Feeds | None = None) -> Any:
        """What `run` with these arguments is compiled to; print it.

        Returns a report (jit/report/plan_report.py: PlanReport) of the kernels, what each fuses,
        the bytes it moves and its measured time, the memory of the plan and what came from the
        cache.  Nothing is changed by it.  ValueError where the graph is not compiled (jit mode
        never).
        """
        prepared = self._find(fetches, feed_dict) or self._prepare(fetches, feed_dict)
        report = getattr(prepared.run, "explain", None)
        if report is None:
            raise ValueError("The session does not compile its graph (NUMBAFLOW_JIT=never).")
        return report(self._fed(prepared, feed_dict))

    def prepared_plan(self, fetches: object, feed_dict: Feeds | None = None) -> tuple[Any, Any]:
        """The (first) compiled plan that `run` with these arguments uses, and its sizes.

        Nothing is run.  ValueError where the session does not compile its graph at once.
        """
        return self._of_runner("prepare", fetches, feed_dict)

    def prepared_program(self, fetches: object, feed_dict: Feeds | None = None) -> Any:
        """The (first) program that `run` with these arguments would compile, not yet a plan.

        ValueError where the session does not compile its graph at once.
        """
        return self._of_runner("trace", fetches, feed_dict)

    def _of_runner(self, what: str, fetches: object, feed_dict: Feeds | None) -> Any:
        prepared = self._prepare(fetches, feed_dict)
        found = getattr(prepared.run, what, None)
        if found is None:
            raise ValueError("The fetches are not compiled.")
        return found(self._fed(prepared, feed_dict))

    def _fed(self, prepared: PreparedRun, feed_dict: Feeds | None) -> list[Any]:
        """The arrays of a run's feeds, in order."""
        if prepared.expanded:
            return expanded_values(feed_dict or {}, prepared.slots)
        return [s.convert(v) for s, v in zip(prepared.slots, (feed_dict or {}).values())]

    def _check_open(self) -> None:
        if self._closed:
            raise RuntimeError("Attempted to use a closed Session.")
        if self.is_forgotten:
            raise errors.aborted(f"Session {id(self):016x} is not found.")
        if self.is_ending:
            raise errors.cancelled("Session has been closed.")

    def _find(self, fetches: Any, feed_dict: Feeds | None) -> PreparedRun | None:
        kind = type(fetches)
        try:
            # The type as well: lists and tuples of the same tensors give different results.
            key = (kind, *fetches) if kind is list or kind is tuple else fetches
            return self._prepared.get((key, *feed_dict) if feed_dict else key)
        except TypeError:
            # Nested lists and dictionaries are not hashable as they are.
            key = freeze(fetches)
        try:
            return self._prepared.get((key, *feed_dict) if feed_dict else key)
        except TypeError:
            return None

    def _current(
        self, prepared: PreparedRun | None, fetches: object, feed_dict: Feeds | None
    ) -> PreparedRun:
        """What is prepared, made anew if the graph has been changed; new operations are noted."""
        if prepared is None or prepared.mutation != self._graph.mutation:
            with stopping.within(self):
                return self._prepare(fetches, feed_dict)
        self.placement.check()
        graph_growth_warning.note(self._graph)
        prepared.changes = self._graph.changes
        return prepared

    def _prepare(self, fetches: Any, feed_dict: Any) -> PreparedRun:
        if self._graph.version == 0:
            raise RuntimeError(
                "The Session graph is empty.  Add operations to the graph before calling run()."
            )
        if feed_dict:
            _require_mapping(feed_dict)
        pairs = expanded(feed_dict or {})
        tensors = [feed_tensor(self._graph, key) for key, _ in pairs]
        for tensor, (_, value) in zip(tensors, pairs):
            # Wrong values are reported before wrong fetches, as in TensorFlow.
            FeedSlot(tensor).convert(value)
        self.placement.check()
        graph_growth_warning.note(self._graph)
        prepared = PreparedRun(self, fetches, tensors)
        prepared.expanded = any(
            isinstance(key, tuple) or not is_plain_feed(key) for key in feed_dict or ()
        )
        self._remember(fetches, feed_dict, prepared)
        return prepared

    def _remember(self, fetches: Any, feed_dict: Feeds | None, prepared: PreparedRun) -> None:
        kind = type(fetches)
        for key in ((kind, *fetches) if kind in (list, tuple) else fetches, freeze(fetches)):
            try:
                self._prepared[(key, *feed_dict) if feed_dict else key] = prepared
                return
            except TypeError:
                continue

    def _run_observed(self, fetches: Any, feed_dict: Any, options: Any, metadata: Any) -> Any:
        """A run with RunOptions or for a RunMetadata."""
        from .run_metadata import traced, without_timeout

        if options is not None and type(options).__name__ != "RunOptions":
            raise TypeError(f"options must be a tf.RunOptions, but got {type(options)}")
        if metadata is not None and type(metadata).__name__ != "RunMetadata":
            raise TypeError(f"run_metadata must be a tf.RunMetadata, but got {type(metadata)}")
        wanted = getattr(options, "trace_level", 0) or getattr(
            options, "output_partition_graphs", False
        )
        timeout = getattr(options, "timeout_in_ms", 0) / 1000.0
        if not timeout and self._times.deadline is None:
            timeout = self._timeout
        if timeout:
            with self._limited(timeout):
                return self._run_observed(fetches, feed_dict, without_timeout(options), metadata)
        if self.remote is not None and not self._closed:
            with self.remote.observed(options, metadata):
                return self.run(fetches, feed_dict)
        watched = options is not None and options.debug_options.debug_tensor_watch_opts
        if self._closed or not (watched or (metadata is not None and wanted)):
            if metadata is not None:
                metadata.Clear()
            return self.run(fetches, feed_dict)
        return traced(self, fetches, feed_dict, options, metadata)

    @property
    def deadline(self) -> float | None:
        """When this thread's run must end, by `time.monotonic`; None: never."""
        return self._times.deadline

    @property
    def has_limits(self) -> bool:
        """Whether any thread's run must end at a certain time."""
        return self._limits > 0

    @contextmanager
    def _limited(self, seconds: float) -> Iterator[None]:
        """A run that fails when it takes longer, be it that only its last piece did."""
        before = self._times.deadline
        deadline = self._times.deadline = time.monotonic() + seconds
        self._count_limit(1)
        try:
            yield
            if time.monotonic() > deadline:
                raise stopping.deadline_error()
        finally:
            self._count_limit(-1)
            self._times.deadline = before

    def _count_limit(self, change: int) -> None:
        with self._limits_lock:
            self._limits += change

    # Callables and partial runs

    def make_callable(
        self, fetches: object, feed_list: Sequence[Any] | None = None, accept_options: bool = False
    ) -> Callable[..., Any]:
        """A function of the values of `feed_list` that runs `fetches`."""
        if feed_list is not None and not isinstance(feed_list, (list, tuple)):
            raise TypeError("`feed_list` must be a list or tuple.")
        feeds = list(feed_list or ())

        def call(*values: Any, **options: Any) -> Any:
            return self.run(fetches, feed_dict=dict(zip(feeds, values)) or None, **options)

        if feed_list is None:
            self._require_open()
            wanted = Fetches(self._graph, fetches)
            if not (wanted.tensors or wanted.targets):
                return _nothing_to_run
        if feed_list is None and not accept_options:
            return lambda: self.run(fetches)
        return call

    def _make_callable_from_options(self, callable_options: Any) -> Callable[..., list[Any]]:
        """A function of feed arrays that gives the fetches a CallableOptions message names."""
        from .message_callable import message_callable

        return message_callable(self, callable_options)

    def partial_run_setup(self, fetches: Any, feeds: Any = None) -> str:
        """Prepares a run in several parts; returns the handle for `partial_run`."""
        if self._closed:
            raise RuntimeError("Attempted to use a closed Session.")
        if self._graph.version == 0:
            raise RuntimeError(
                "The Session graph is empty.  Add operations to the graph before calling run()."
            )
        make = setup if self.remote is None else self.remote.setup
        handle, run = make(self, fetches, feeds)
        self._partial_runs[handle] = run
        return handle

    def partial_run(self, handle: object, fetches: object, feed_dict: Feeds | None = None) -> Any:
        """Continues a run in parts: feeds some more tensors, fetches what they allow."""
        if self._closed:
            raise RuntimeError("Attempted to use a closed Session.")
        if not isinstance(handle, str):
            raise TypeError(f"handle must be a string of partial_run_setup, but got {handle!r}")
        run = self._partial_runs.get(handle)
        if run is None:
            raise errors.invalid("Must run 'setup' before performing partial runs!")
        with self._limited(self._timeout) if self._timeout else nullcontext():
            result = run.advance(fetches, feed_dict or {})
        if run.finished:
            self._partial_runs.pop(handle, None)
        return result

    def _extend_graph(self) -> None:
        """Kept for programs that call it: the session always sees the whole graph."""


def _require_mapping(feed_dict: Feeds | None) -> None:
    if not isinstance(feed_dict, Mapping):
        raise TypeError("input must be a dictionary")


def _nothing_to_run(*values: Any, **options: Any) -> Any:
    del values, options
    raise errors.invalid("Must specify at least one target to fetch or execute.")


@export("Session")
class Session(BaseSession):
    """Runs parts of a graph and keeps the values of its variables; a context that closes it.

    Args:
        target: the address of a tf.train.Server; "" for this process.
        graph: what it runs; the default graph if None.
        config: a tf.ConfigProto.

    Raises:
        TypeError: graph or config is something else.

    Example:
        >>> x = tf.placeholder(tf.float32)
        >>> with tf.Session() as sess:
        ...     sess.run({"double": x * 2}, feed_dict={x: [1, 2]})
        {'double': array([2., 4.], dtype=float32)}
    """

    def __init__(self, target: str = "", graph: Graph | None = None, config: object = None) -> None:
        super().__init__(target, graph, config)
        self._contexts: list[Any] = []

    def __enter__(self) -> Session:
        if self._contexts:
            raise RuntimeError(
                "Session context managers are not re-entrant. Use `Session.as_default()` if you "
                "want to enter a session multiple times."
            )
        self._contexts = [self._graph.as_default(), self.as_default()]
        for context in self._contexts:
            context.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        contexts, self._contexts = self._contexts, []
        for context in reversed(contexts):
            try:
                context.__exit__(*error)
            except RuntimeError as raised:
                if raised is not error[1]:
                    raise
        self.close()

    @staticmethod
    def reset(target: Any, containers: Sequence[str] | None = None, config: Any = None) -> None:
        """Clears containers of a target and closes its local sessions, as TensorFlow does."""
        names = None if not containers else [as_text(name) for name in containers]
        target = session_target.target_bytes(target)
        session_target.reset(target, names, config, _local_sessions)


@export("InteractiveSession")
class InteractiveSession(BaseSession):
    """A session that is the default one from the start until it is closed; for interactive use.

    Args:
        target, graph, config: as of tf.Session.

    Example:
        >>> sess = tf.InteractiveSession()
        >>> tf.constant(3).eval()
        np.int32(3)
        >>> sess.close()
    """

    _count_lock = threading.Lock()
    _active_session_count = 0

    def __init__(self, target: Any = "", graph: Graph | None = None, config: Any = None) -> None:
        super().__init__(target, graph, config)
        with InteractiveSession._count_lock:
            if InteractiveSession._active_session_count > 0:
                warnings.warn(
                    "An interactive session is already active. This can cause out-of-memory "
                    "errors in some cases. You must explicitly call `InteractiveSession.close()` "
                    "to release resources held by the other session(s).",
                    stacklevel=2,
                )
            InteractiveSession._active_session_count += 1
        self._explicitly_closed = False
        self._contexts = [defaults.Entered(defaults.sessions, self)]
        if graph is not None:
            self._contexts.append(defaults.Entered(defaults.graphs, graph))

    def close(self) -> None:
        """Ends the session and gives back what it made the default."""
        super().close()
        with InteractiveSession._count_lock:
            if self._explicitly_closed:
                return
            InteractiveSession._active_session_count -= 1
            self._explicitly_closed = True
        for context in reversed(self._contexts):
            context.leave()
