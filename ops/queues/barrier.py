# SPDX-License-Identifier: Apache-2.0
"""`Barrier`: tuples put together from components that arrive one by one, under string keys."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.graph.build import define
from ...engine.graph.constants import constant_value
from ...engine.graph.registry import NoGradient
from ...engine.session.futures import Future
from ...engine.types import dtypes
from ...engine.types.dtypes import boxed
from ...engine.types.nest import as_list
from ...engine.types.shape import TensorShape, as_shape, shape_text, unknown_shape
from .. import shape_inference
from ..public import raw
from ..state.shared_state import kept
from .queue_types import PriorityQueue
from .queues import as_shape_list
from .requests import settled
from .store import shapes_text, types_text

if TYPE_CHECKING:
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor
    from ...engine.types.dtypes import DType

_STATE = NoGradient("moves values between runs")
# TensorFlow numbers insertions from the least int64 on, and shows the numbers to users (`take_many`
# returns them).
_FIRST = np.iinfo(np.int64).min


class Store:
    """Incomplete elements by key; complete ones in a queue, oldest first."""

    def __init__(
        self, name: str, types: Sequence[dtypes.DType], shapes: Sequence[TensorShape]
    ) -> None:
        if len(shapes) != len(types):
            raise errors.invalid("All of the component shapes must be specified")
        self.name, self.types, self.shapes = name, list(types), list(shapes)
        self._lock = threading.RLock()
        # Key -> number of the insertion, and the components so far.
        self._incomplete: dict[bytes, list[Any]] = {}
        self._next = _FIRST
        self._is_closed = self._cancels = False
        # Its numbers are those of insertions, so an element that was begun earlier comes first,
        # whenever it was completed.
        self._queue = PriorityQueue(
            f"{name}_queue", -1, [dtypes.string, *types], [TensorShape([]), *shapes]
        )

    def require_same(self, types: Any, shapes: Any) -> None:
        """InvalidArgumentError where a node of the same name asks for something else."""
        for what, mine, asked in (
            ("types", types_text(self.types), types_text(types)),
            ("shapes", shapes_text(self.shapes), shapes_text(shapes)),
        ):
            if mine != asked:
                raise errors.invalid(
                    f"Shared barrier '{self.name}' has component {what} {mine} but requested "
                    f"component {what} were {asked}"
                )

    def ready_size(self) -> int:
        """How many elements are complete."""
        return self._queue.size()

    def incomplete_size(self) -> int:
        """How many elements lack a component."""
        return len(self._incomplete)

    def insert_many(self, keys: np.ndarray, component: int, values: np.ndarray) -> Future:
        """Gives elements one of their components."""
        if keys.size and not values.size:
            raise errors.invalid(
                f"Tensors with no elements are not supported {self.name}: received shape "
                f"{shape_text(values.shape)}"
            )
        with self._lock:
            self._require_open(keys.size)
            ready: list[tuple[Any, ...]] = []
            is_new = False
            for i, key in enumerate(keys.reshape(-1).tolist()):
                # Before an error, the pairs that come first have gone in already, as in TensorFlow;
                # elements that they completed are lost, since nothing reaches the queue.
                is_new |= self._insert(key, i, component, values[i, ...].copy(), ready)
            # One number for all keys that a node brings.
            self._next += is_new
        if not ready:
            return settled()
        columns = [np.stack([element[i] for element in ready]) for i in range(len(ready[0]))]
        return self._queue.enqueue_many(columns)

    def _require_open(self, count: int) -> None:
        if self._is_closed and (self._cancels or (count and not self._incomplete)):
            raise errors.cancelled(
                f"Barrier {self.name} is closed.  Pending enqueues cancelled: "
                f"{int(self._cancels)}.  Number of new insertions: {count}.  Number of incomplete "
                f"keys: {len(self._incomplete)}."
            )

    def _insert(
        self, key: bytes, place: int, component: int, value: np.ndarray, ready: list[Any]
    ) -> bool:
        """Adds one component; whether the key is new."""
        element = self._incomplete.get(key)
        is_new = element is None
        if element is None:
            if self._is_closed:
                raise errors.cancelled(
                    f"Barrier {self.name} is closed, but attempted to insert a brand new key: "
                    f"{key.decode(errors='replace')}.  Pending enqueues cancelled: "
                    f"{int(self._cancels)}.  Insertion index: {place}.  Number of incomplete keys: "
                    f"{len(self._incomplete)}."
                )
            element = self._incomplete[key] = [self._next, *[None] * len(self.types)]
        if element[1 + component] is not None:
            raise errors.invalid(
                f"Key {key.decode(errors='replace')} already has a value for component {component} "
                f"in barrier {self.name}"
            )
        element[1 + component] = value
        if all(part is not None for part in element[1:]):
            del self._incomplete[key]
            whole = (np.asarray(element[0], np.int64), boxed(key), *element[1:])
            self._queue._require_element(whole)
            ready.append(whole)
        return is_new

    def take_many(self, count: int, allow_small: bool) -> Future:
        """Takes complete elements, in the order in which their keys were first seen."""
        with self._lock:
            if self._is_closed:
                there = self.ready_size()
                # A small batch takes what is complete now; a full one may wait, as incomplete
                # elements can still be completed.
                if allow_small:
                    count = min(count, there)
                else:
                    there += len(self._incomplete)
                if there < max(count, 1):
                    raise errors.out_of_range(
                        f"Barrier '{self.name}' is closed and has insufficient elements (requested "
                        f"{count}, total size {there})"
                    )
        return self._queue.dequeue_many(count, allow_small)

    def close(self, cancels: bool) -> Future:
        """Accepts no new keys any more; with `cancels` nothing at all."""
        with self._lock:
            if self._is_closed and (self._cancels or not cancels):
                raise errors.cancelled(f"Barrier '{self.name}' is already closed.")
            self._cancels, self._is_closed = cancels, True
            # The queue stays open for the elements that can still be completed. Nothing closes it
            # later, in TensorFlow neither: `TryInsertMany` only closes a queue that is closed
            # (barrier_ops.cc). `take_many` checks first for that reason.
            if not cancels and self._incomplete:
                return settled()
            self._incomplete.clear()
            return settled() if self._queue.is_closed else self._queue.close(cancels)


def _shapes(c: KernelContext) -> list[TensorShape]:
    return [as_shape(shape) for shape in c.attr("shapes")]


def _make(c: KernelContext) -> Store:
    if c.attr("capacity") != -1:
        raise errors.invalid(
            "Barrier only accepts capacity=-1.  Feed the inputs to your Barrier through a queue to "
            "enforce a limited capacity."
        )
    types, shapes = c.op._attrs["component_types"], _shapes(c)
    return kept(
        c,
        "barrier",
        lambda name: Store(name, types, shapes),
        lambda found: found.require_same(types, shapes),
    )


def _insert_many(c: KernelContext, store: Store, keys: np.ndarray, values: np.ndarray) -> Future:
    component = c.attr("component_index")
    count = len(store.types)
    if component >= count:
        raise errors.invalid(
            f"The component ID is out of range {component} > num_components (= {count})"
        )
    asked, mine = c.op._attrs["T"], store.types[component]
    if asked != mine:
        have, expected = (f"string_ref, string, {types_text([kind])}->" for kind in (asked, mine))
        raise errors.invalid(f"Signature mismatch, have: {have} expected: {expected}")
    return store.insert_many(keys, component, values)


def _take_many(c: KernelContext, store: Store, count: np.ndarray) -> Future:
    if count.ndim:
        raise errors.invalid("num_elements must be a scalar.")
    if c.attr("timeout_ms") != -1:
        raise errors.invalid("Timeout not supported yet.")
    asked = c.op._attrs["component_types"]
    if asked != store.types:
        have, expected = (
            f"string_ref, int32->int64, string, {types_text(kinds)}"
            for kinds in (asked, store.types)
        )
        raise errors.invalid(f"Signature mismatch, have: {have} expected: {expected}")
    return store.take_many(int(count), c.attr("allow_small_batch"))


def _pairs(c: ShapeContext) -> list[TensorShape]:
    shape_inference.ranked(c.inputs[1], 1)
    shape_inference.ranked_at_least(c.inputs[2], 1)
    if c.inputs[2].ndims is not None:
        shape_inference.merge(c.inputs[1], TensorShape([c.inputs[2][0]]))
    return []


define(
    "Barrier",
    "-> handle: Ref(string)",
    "component_types: list(type) >= 1; shapes: list(shape) >= 0 = []; capacity: int = -1; "
    "container: string = ''; shared_name: string = ''",
    shape=lambda c: TensorShape([2]),
    kernel=_make,
    gradient=_STATE,
    stateful=True,
    doc="A barrier: tuples put together from components.",
)
define(
    "BarrierInsertMany",
    "handle: Ref(string), keys: string, values: T ->",
    "T: type; component_index: int",
    shape=_pairs,
    kernel=_insert_many,
    gradient=_STATE,
    control_flow_role="wait",
    doc="Gives elements one of their components.",
)
define(
    "BarrierTakeMany",
    "handle: Ref(string), num_elements: int32 -> indices: int64, keys: string, "
    "values: component_types",
    "component_types: list(type) >= 1; allow_small_batch: bool = false; "
    "wait_for_incomplete: bool = false; timeout_ms: int = -1",
    shape=shape_inference.all_unknown,
    kernel=_take_many,
    gradient=_STATE,
    control_flow_role="wait",
    doc="Takes complete elements.",
)
define(
    "BarrierClose",
    "handle: Ref(string) ->",
    "cancel_pending_enqueues: bool = false",
    kernel=lambda c, store: store.close(c.attr("cancel_pending_enqueues")),
    gradient=_STATE,
    control_flow_role="wait",
    doc="Closes a barrier for new keys.",
)
for _name, _size, _what in (
    ("BarrierReadySize", Store.ready_size, "complete"),
    ("BarrierIncompleteSize", Store.incomplete_size, "incomplete"),
):
    define(
        _name,
        "handle: Ref(string) -> size: int32",
        shape=lambda c: TensorShape([]),
        kernel=lambda c, store, size=_size: np.asarray(size(store), np.int32),
        gradient=_STATE,
        doc=f"The number of {_what} elements.",
    )


class Barrier:
    """Collects the components of elements by key; complete elements can be taken in batches."""

    def __init__(
        self,
        types: Sequence[DType],
        shapes: Sequence[Any] | None = None,
        shared_name: str | None = None,
        name: str = "barrier",
    ) -> None:
        """types, shapes: of the components; no shape may be without elements."""
        self._types = as_list(types)
        if shapes is None:
            self._shapes = [unknown_shape() for _ in self._types]
        else:
            self._shapes = [TensorShape(shape) for shape in as_shape_list(shapes)]
            for i, shape in enumerate(self._shapes):
                if shape.num_elements() == 0:
                    raise ValueError(
                        f"Empty tensors are not supported, but received shape '{shape}' at index "
                        f"{i}"
                    )
        self._barrier_ref = raw.Barrier(
            component_types=self._types, shapes=self._shapes, shared_name=shared_name, name=name
        )
        self._name = self._barrier_ref.op.name.split("/")[-1]

    @property
    def barrier_ref(self) -> Tensor:
        """The handle."""
        return self._barrier_ref

    @property
    def name(self) -> str:
        """The name of the barrier's operation."""
        return self._barrier_ref.op.name

    def _called(self, what: str, name: str | None) -> str:
        return f"{self._name}_Barrier{what}" if name is None else name

    def insert_many(
        self,
        component_index: int,
        keys: Sequence[str],
        values: Sequence[Any],
        name: str | None = None,
    ) -> Operation:
        """An operation that gives the elements called `keys` one of their components."""
        name = self._called("InsertMany", name)
        return raw.BarrierInsertMany(self._barrier_ref, keys, values, component_index, name=name)

    def take_many(
        self,
        num_elements: int,
        allow_small_batch: bool = False,
        timeout: int | None = None,
        name: str | None = None,
    ) -> Any:
        """Numbers of insertion, keys and components of complete elements; waits for them.

        allow_small_batch: fewer, if the barrier is closed.
        """
        name = self._called("TakeMany", name)
        settings: dict[str, Any] = {} if timeout is None else {"timeout_ms": timeout}
        result = raw.BarrierTakeMany(
            self._barrier_ref,
            num_elements,
            component_types=self._types,
            allow_small_batch=allow_small_batch,
            name=name,
            **settings,
        )
        op = result[0].op
        count = None if allow_small_batch else constant_value(op.inputs[1])
        batch = TensorShape([None if count is None else int(count)])
        for output, shape in zip(op.outputs, [TensorShape([])] * 2 + self._shapes):
            output.set_shape(batch.concatenate(shape))
        return result

    def close(self, cancel_pending_enqueues: bool = False, name: str | None = None) -> Operation:
        """An operation after which no new keys are accepted."""
        name = self._called("Close", name)
        return raw.BarrierClose(
            self._barrier_ref, cancel_pending_enqueues=cancel_pending_enqueues, name=name
        )

    def ready_size(self, name: str | None = None) -> Tensor:
        """The number of complete elements, a tensor."""
        return raw.BarrierReadySize(self._barrier_ref, name=self._called("ReadySize", name))

    def incomplete_size(self, name: str | None = None) -> Tensor:
        """The number of incomplete elements, a tensor."""
        name = self._called("IncompleteSize", name)
        return raw.BarrierIncompleteSize(self._barrier_ref, name=name)
