# SPDX-License-Identifier: Apache-2.0
"""A function that is called once for each replica of a process, in threads that take turns.

Replicas go on one after the other, in their order, up to where they merge (`merge_call`) or end: so
operations are made in the same order each time.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ...engine.types import dtypes, nest
from ...ops.public import tf
from ...ops.state import merging
from . import strategy_context as modes
from .replica_values import for_replica, regroup
from .strategy import ReplicaContext


class _Stopped(BaseException):
    """Another replica has failed: this one ends."""


class _Merge(NamedTuple):
    """What a replica asks for, and where its code stands."""

    function: Callable[..., Any]
    args: Any
    kwargs: Any
    name_scope: str
    variable_scope: Any
    control_inputs: set[Any]


class MirroredReplicaContext(ReplicaContext):
    """One of several replicas of a process."""

    def __init__(self, replica: _Replica, number: Any) -> None:
        super().__init__(replica.strategy, number)
        self._replica = replica
        self.index = replica.index

    def merge_call(
        self, merge_fn: Callable[..., Any], args: Sequence[Any] = (), kwargs: Any = None
    ) -> Any:
        """What a function gives outside of replicas, called once with what all of them gave.

        Raises:
            RuntimeError: the graph is another than where replicas began.
        """
        modes.require_replica_context(self)
        graph = self._replica.graph
        if tf.get_default_graph() is not graph:
            raise RuntimeError(
                "`merge_call` called while defining a new graph or a tf.function: replicas merge "
                "in the graph that they were called in."
            )
        scope = graph.get_name_scope()
        return self._replica.merged(
            _Merge(
                *(merge_fn, tuple(args), kwargs or {}, f"{scope}/" if scope else ""),
                tf.get_variable_scope(),
                graph._current_control_dependencies(),
            )
        )

    @property
    def devices(self) -> tuple[str, ...]:
        """The replica's device."""
        modes.require_replica_context(self)
        return (self._strategy.extended.worker_devices[self.index],)

    def all_reduce(self, reduce_op: Any, value: object) -> Any:
        """The sum or mean over replicas, which has the gradient of a sum or mean."""
        op = modes.reduce_op_of(reduce_op)

        def reduced(strategy: Any, *values: Any) -> Any:
            pairs = [(one, one) for one in values]
            return strategy.extended.batch_reduce_to(op, pairs)

        @tf.custom_gradient
        def all_reduced(*xs: Any) -> Any:
            return self.merge_call(reduced, xs), lambda *dys: self.merge_call(reduced, dys)

        flat = [tf.convert_to_tensor(x) for x in nest.flatten(value)]
        found = all_reduced(*flat)
        found = found if isinstance(found, (list, tuple)) else [found]
        return nest.pack_sequence_as(value, list(found))


class _Replica(threading.Thread):
    """A replica's part: what it is called with, where, and what it gave."""

    def __init__(self, strategy: Any, index: int, function: Callable[[], Any], store: Any) -> None:
        super().__init__(name=f"replica {index}", daemon=True)
        self.strategy, self.index, self._function = strategy, index, function
        self.graph = tf.get_default_graph()
        self._creators = [*self.graph._variable_creator_stack, sharing(store, index)]
        self._variable_scope = tf.get_variable_scope()
        scope = self.graph.get_name_scope()
        self._name_scope = f"{scope}/" if scope else ""
        if index:
            self._name_scope += f"replica_{index}/"
        self._go, self._paused = threading.Event(), threading.Event()
        self.is_done = self._is_stopped = False
        self.merge: _Merge | None = None
        self.answer: Any = None
        self.result: Any = None
        self.error: BaseException | None = None

    # In its own thread

    def run(self) -> None:
        """Calls the function, when it is its turn."""
        self._wait()
        try:
            if not self._is_stopped:
                self._call()
        except _Stopped:
            pass  # (The replica that failed tells why.)
        except BaseException as error:
            self.error = error
        self.is_done = True
        self._paused.set()

    def _call(self) -> None:
        graph = self.graph
        device = self.strategy.extended.worker_devices[self.index]
        with graph.as_default():
            graph._variable_creator_stack = self._creators
            number = tf.constant(self.index, dtypes.int32)
            context = MirroredReplicaContext(self, number)
            with (
                context,
                merging.replica(context.merge_call),
                tf.device(device),
                tf.name_scope(self._name_scope),
                tf.variable_scope(self._variable_scope, reuse=True if self.index else None),
            ):
                self.result = self._function()

    def merged(self, merge: _Merge) -> Any:
        """Waits for the others; what the merged call gave this replica."""
        self.merge = merge
        self._paused.set()
        self._wait()
        if self._is_stopped:
            raise _Stopped
        return self.answer

    def _wait(self) -> None:
        self._go.wait()
        self._go.clear()

    # In the thread that called them

    def turn(self) -> None:
        """Lets it go on, to where it merges or ends."""
        self.merge = None
        self._go.set()
        self._paused.wait()
        self._paused.clear()
        if self.error is not None:
            raise self.error

    def stop(self) -> None:
        """Ends it, wherever it stands."""
        self._is_stopped = True
        self._go.set()
        self.join()


def sharing(store: dict[str, list[Any]], index: int) -> Callable[..., Any]:
    """A creator by which other replicas get the variables that the first one made, in order."""
    taken: dict[str, int] = {}

    def create(next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        name = plain_name(kwargs.get("name"))
        if index == 0:
            made = next_creator(**kwargs)
            store.setdefault(name, []).append(made)
            return made
        number = taken.get(name, 0)
        if number >= len(store.get(name, ())):
            raise RuntimeError(
                f"Tried to create variable {kwargs.get('name')} with mismatching name on device "
                f"{index}"
            )
        taken[name] = number + 1
        return store[name][number]

    return create


def plain_name(name: str | None) -> str:
    """A name without the numbers that made it unique."""
    return "Variable" if name is None else re.sub(r"_\d+(?=/|$)", "", name)


def call_for_each(strategy: Any, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """What a function gives for each replica, as one structure.

    Args:
        strategy: the strategy.
        function: called once for each replica, with its parts of the arguments.
        args, kwargs: the arguments.

    Raises:
        RuntimeError: replicas do not merge the same number of times.
    """
    graph = tf.get_default_graph()
    graph.switch_to_thread_local()
    devices, store = strategy.extended.worker_devices, {}  # type: Any, dict[str, list[Any]]

    def part(index: int) -> Callable[[], Any]:
        own, named = for_replica(index, tuple(args)), for_replica(index, dict(kwargs or {}))
        return lambda: function(*own, **named)

    replicas = [_Replica(strategy, i, part(i), store) for i in range(len(devices))]
    for replica in replicas:
        replica.start()
    try:
        while True:
            for replica in replicas:
                replica.turn()
            if all(replica.is_done for replica in replicas):
                return regroup(devices, [replica.result for replica in replicas])
            _merge(strategy, replicas)
    finally:
        for replica in replicas:
            replica.stop()


def _merge(strategy: Any, replicas: Sequence[_Replica]) -> None:
    """Calls what the first replica asks for, with what all give; each gets its part."""
    asked = [replica.merge for replica in replicas if replica.merge is not None]
    if len(asked) < len(replicas):
        raise RuntimeError(
            "Some replicas made a different number of replica_context().merge_call() calls."
        )
    devices, first = strategy.extended.worker_devices, asked[0]
    args = regroup(devices, [one.args for one in asked])
    kwargs = regroup(devices, [one.kwargs for one in asked])
    waits = sorted({op for one in asked for op in one.control_inputs}, key=lambda op: op._id)
    with (
        tf.name_scope(first.name_scope),
        tf.control_dependencies(waits),
        tf.variable_scope(first.variable_scope),
    ):
        found = modes.called_by_strategy(strategy, first.function, args, kwargs)
    for replica in replicas:
        replica.answer = for_replica(replica.index, found)
