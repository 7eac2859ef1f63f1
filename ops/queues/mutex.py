# SPDX-License-Identifier: Apache-2.0
"""Mutexes of graphs, and `tf.CriticalSection`: parts of runs that exclude each other."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from ...engine.api import export
from ...engine.graph.build import define
from ...engine.graph.collections import get_collection
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.defaults import get_default_graph
from ...engine.graph.operation import Operation
from ...engine.graph.registry import NoGradient
from ...engine.graph.scope_functions import (
    colocate_with,
    control_dependencies,
    init_scope,
    name_scope,
)
from ...engine.graph.tensor import Tensor
from ...engine.session.futures import Future, RunHeld
from ...engine.types import dtypes
from ...engine.types.dtypes import boxed
from ...engine.types.nest import flatten, map_structure, pack_sequence_as
from ...engine.types.shape import TensorShape
from ..public import raw, tf
from ..state.shared_state import kept

_LOCK = NoGradient("a lock has no derivative")
CRITICAL_SECTIONS, CRITICAL_SECTION_EXECUTIONS = (
    "critical_sections",
    "critical_section_executions",
)


class Hold(RunHeld):
    """What a run has while it holds a mutex; without references to it the mutex is free again."""

    def __init__(self, mutex: Mutex) -> None:
        self._mutex: Mutex | None = mutex

    def release(self) -> None:
        """Frees the mutex, once."""
        mutex, self._mutex = self._mutex, None
        if mutex is not None:
            mutex.pass_on()

    def __del__(self) -> None:
        self.release()


class Mutex:
    """Held by one at a time; others wait in line."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_held = False
        self._line: deque[Future] = deque()

    def acquire(self) -> Any:
        """What the run holds, or a Future of it."""
        with self._lock:
            if self._is_held:
                waiting = Future()
                self._line.append(waiting)
                return waiting
            self._is_held = True
        return boxed(Hold(self))

    def pass_on(self) -> None:
        """Gives the mutex to the next in line that still waits."""
        while True:
            with self._lock:
                if not self._line:
                    self._is_held = False
                    return
                following = self._line.popleft()
            hold = Hold(self)
            if following.settle(boxed(hold)):
                return
            # Nobody waits there any more: the mutex goes on without this hold.
            hold._mutex = None


define(
    "MutexV2",
    "-> resource: resource",
    "container: string = ''; shared_name: string = ''",
    shape=lambda c: TensorShape([]),
    kernel=lambda c: kept(c, "mutex", lambda name: Mutex()),
    gradient=_LOCK,
    stateful=True,
    doc="A mutex.",
    test={"session_only": True},
)
define(
    "MutexLock",
    "mutex: resource -> mutex_lock: variant",
    shape=lambda c: TensorShape([]),
    kernel=lambda c, mutex: mutex.acquire(),
    gradient=_LOCK,
    control_flow_role="wait",
    stateful=True,
    doc="Waits until nobody holds a mutex, and holds it as long as its result is there.",
    test={"session_only": True},
)
define(
    "ConsumeMutexLock",
    "mutex_lock: variant ->",
    kernel=lambda c, hold: hold.item().release(),
    gradient=_LOCK,
    stateful=True,
    doc="Frees a mutex.",
    test={"session_only": True},
)


class _Execution(NamedTuple):
    """What one call of `execute` has of its graph."""

    op: Operation
    handle: Tensor
    resources: list[Tensor]
    exclusive_resource_access: bool


def _identity(value: Any) -> Any:
    """A copy of a tensor or of what is like one; of an operation, one behind it."""
    if isinstance(value, tf.TensorArray):
        return value.identity()
    return tf.group(value) if isinstance(value, Operation) else tf.identity(value)


@export("CriticalSection")
class CriticalSection:
    """Functions whose parts of runs exclude each other (tf.CriticalSection).

    What two such functions read and change of variables happens as if one had run after the other.

    Args:
        name: of the mutex.
        shared_name: sections of one such name exclude each other; the node's name, if not given.
        critical_section_def: refused: TensorFlow has no such message yet.
        import_scope: goes with it.

    Raises:
        ValueError: both a name and a message are given.
        NotImplementedError: a message is given.

    Example:
        >>> v = tf.get_variable("v", initializer=0.0, use_resource=True)
        >>> section = tf.CriticalSection()
        >>> calls = [section.execute(lambda: v.assign_add(1.0)) for _ in range(2)]
        >>> with tf.Session() as session:
        ...     _ = session.run(v.initializer)
        ...     print(sorted(map(float, session.run(calls))), session.run(v))
        [1.0, 2.0] 2.0
    """

    def __init__(
        self,
        name: str | None = None,
        shared_name: str | None = None,
        critical_section_def: Any = None,
        import_scope: str | None = None,
    ) -> None:
        if critical_section_def and name is not None:
            raise ValueError("critical_section_def and shared_name are mutually exclusive.")
        if critical_section_def:
            raise NotImplementedError("Not yet implemented")
        with name_scope(name, "CriticalSection", []) as name, init_scope():
            container = get_default_graph()._container or ""
            self._handle = raw.MutexV2(
                shared_name=name if shared_name is None else shared_name,
                container=container,
                name=name,
            )
        get_default_graph().add_to_collections(CRITICAL_SECTIONS, self)

    @property
    def name(self) -> str:
        """The name of the mutex."""
        return str(self._handle.op.name)

    def execute(
        self,
        fn: Callable[[], Any],
        exclusive_resource_access: bool = True,
        name: str | None = None,
    ) -> Any:
        """Runs what a function makes while nothing else of this section runs.

        Args:
            fn: without arguments; returns a structure of at least one tensor.
            exclusive_resource_access: whether no other section may use the same resources.
            name: of the operations.

        Returns:
            the same structure, of tensors that are there when the section is left.

        Raises:
            ValueError: the function enters this section itself, or uses resources of another.
        """
        graph = get_default_graph()
        with name_scope(name, "critical_section_execute", []):
            lock = raw.MutexLock(self._handle)
            before = len(graph.get_operations())
            with control_dependencies([lock]):
                found = fn()
            made = graph.get_operations()[before:]
            _wait_for_arguments(made, lock.op)
            resources = _resources_of(made)
            if any(self._is_own(resource) for resource in resources):
                raise ValueError(
                    "The function fn attempts to directly access the CriticalSection in which it "
                    "would be running.  This is illegal and would cause deadlocks."
                )
            self._require_apart(resources, exclusive_resource_access)
            flat = [_identity(_as_tensor(value)) for value in flatten(found)]
            with control_dependencies(flat), colocate_with(self._handle):
                released = raw.ConsumeMutexLock(lock)
            # Whoever reads one of the results gets all of them.
            together = pack_sequence_as(found, tf.tuple(flatten(found)))
            with control_dependencies([released]):
                outputs = map_structure(_identity, together)
            execution = _Execution(
                lock.op, self._handle, list(resources), exclusive_resource_access
            )
            graph.add_to_collections(CRITICAL_SECTION_EXECUTIONS, execution)
            return outputs

    def _is_own(self, tensor: Tensor) -> bool:
        """Whether a tensor is this section's mutex."""
        own = self._handle.op
        return bool(
            tensor.op.type == "MutexV2"
            and tensor.op.get_attr("shared_name")
            and tensor.op.get_attr("shared_name") == own.get_attr("shared_name")
            and tensor.op.device == own.device
        )

    def _require_apart(self, resources: Iterable[Tensor], exclusive: bool) -> None:
        wanted = list(resources)
        for other in get_collection(CRITICAL_SECTION_EXECUTIONS):
            if self._is_own(other.handle):
                continue
            if not (exclusive or other.exclusive_resource_access):
                continue
            both = [r for r in wanted if any(r is theirs for theirs in other.resources)]
            if both:
                raise ValueError(
                    f"This execution would access resources: {both}.  Either this lock "
                    f"(CriticalSection: {self._handle}) or lock '{other}' "
                    f"(CriticalSection: {other.handle}) requested exclusive resource access of "
                    "this resource.  Did you mean to call execute with keyword argument "
                    "exclusive_resource_access=False?"
                )


def _as_tensor(value: Any) -> Any:
    return value if isinstance(value, (Operation, tf.TensorArray)) else convert_to_tensor(value)


def _resources_of(made: list[Operation]) -> list[Tensor]:
    """The resources that new operations use, each once."""
    found: dict[Tensor, None] = {}
    for op in made:
        found.update((t, None) for t in op._inputs_val if t.dtype == dtypes.resource)
    return list(found)


def _wait_for_arguments(made: list[Operation], lock: Operation) -> None:
    """What the new operations take is there before the mutex is locked: nobody waits inside."""
    inside = {*made, lock, *lock.control_inputs, *(t.op for t in lock._inputs_val)}
    outside: dict[Operation, None] = {}
    for op in made:
        outside.update((t.op, None) for t in op._inputs_val if t.op not in inside)
        outside.update((other, None) for other in op.control_inputs if other not in inside)
    if outside:
        lock._add_control_input(tf.group(*outside))
