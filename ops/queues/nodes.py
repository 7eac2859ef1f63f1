# SPDX-License-Identifier: Apache-2.0
"""The ops on queues, with handles of both kinds: resources (V2) and references to strings."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.types.shape import TensorShape, as_shape
from .. import shape_inference
from ..state.shared_state import kept
from .queue_types import FifoQueue, PaddingQueue, PriorityQueue, ShuffleQueue
from .store import Queue, types_text

if TYPE_CHECKING:
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.session.futures import Future

_STATE = NoGradient("moves values between runs")
_SHARING = "container: string = ''; shared_name: string = ''"
_TYPES = "component_types: list(type) >= 1"
_WAITS = "timeout_ms: int = -1"


def _shapes(c: KernelContext) -> list[TensorShape]:
    return [as_shape(shape) for shape in c.attr("shapes")]


def _common(c: KernelContext) -> tuple[Any, ...]:
    return c.attr("capacity"), c.op._attrs["component_types"], _shapes(c)


def _shuffled(c: KernelContext, name: str) -> ShuffleQueue:
    seeds = c.attr("seed"), c.attr("seed2")
    capacity, types, shapes = _common(c)
    return ShuffleQueue(name, capacity, types, shapes, c.attr("min_after_dequeue"), seeds)


# Kind -> what makes a queue for a node and a name, the attributes, the documentation.
_KINDS: dict[tuple[str, str], tuple[Callable[[Any, str], Queue], str, str]] = {
    ("FIFOQueue", "FIFOQueueV2"): (
        lambda c, name: FifoQueue(name, *_common(c)),
        f"{_TYPES}; shapes: list(shape) >= 0 = []; capacity: int = -1",
        "A queue that gives elements in the order in which they came.",
    ),
    ("PaddingFIFOQueue", "PaddingFIFOQueueV2"): (
        lambda c, name: PaddingQueue(name, *_common(c)),
        f"{_TYPES}; shapes: list(shape) >= 0 = []; capacity: int = -1",
        "A queue in order that pads the elements of a batch to one shape.",
    ),
    ("RandomShuffleQueue", "RandomShuffleQueueV2"): (
        _shuffled,
        f"{_TYPES}; shapes: list(shape) >= 0 = []; capacity: int = -1; min_after_dequeue: int = 0; "
        "seed: int = 0; seed2: int = 0",
        "A queue that gives elements in random order.",
    ),
    ("PriorityQueue", "PriorityQueueV2"): (
        lambda c, name: PriorityQueue(name, *_common(c)),
        "component_types: list(type) >= 0 = []; shapes: list(shape) >= 0; capacity: int = -1",
        "A queue that gives the element with the least number first.",
    ),
}


def _maker(make: Callable[[Any, str], Queue]) -> Callable[[Any], Queue]:
    def kernel(c: KernelContext) -> Queue:
        def verify(found: Queue) -> None:
            found.require_same(make(c, found.name))

        return kept(c, "queue", lambda name: make(c, name), verify)

    return kernel


def _require(c: KernelContext, queue: Queue, gives: bool) -> None:
    """InvalidArgumentError unless a node's components have the queue's types."""
    if c.op in queue.checked:
        return
    ends = c.op.outputs if gives else c.op._inputs_val[1:]
    given = [tensor.dtype.base_dtype for tensor in ends]
    if given == queue.dtypes:
        queue.checked.add(c.op)
        return
    handle = "resource" if c.type.endswith("V2") else "string_ref"
    before = [handle, "int32"][: len(c.op._inputs_val)] if gives else [handle]
    have, expected = (
        ", ".join(before) + ("->" if gives else ", ") + types_text(types) + ("" if gives else "->")
        for types in (given, queue.dtypes)
    )
    raise errors.invalid(f"Signature mismatch, have: {have} expected: {expected}")


def _enqueue(c: KernelContext, queue: Queue, components: list[np.ndarray]) -> Future:
    _require(c, queue, gives=False)
    return queue.enqueue(components)


def _enqueue_many(c: KernelContext, queue: Queue, components: list[np.ndarray]) -> Future:
    _require(c, queue, gives=False)
    return queue.enqueue_many(components)


def _dequeue(c: KernelContext, queue: Queue) -> Future:
    _require(c, queue, gives=True)
    return queue.dequeue()


def _dequeue_batch(allow_small: bool) -> Callable[..., Any]:
    def kernel(c: KernelContext, queue: Queue, n: np.ndarray) -> Future:
        count = int(n.flat[0])
        if count < 0:
            # Both ops report themselves by the name of the first.
            raise errors.invalid(f"DequeueManyOp requested {count} < 0 elements")
        _require(c, queue, gives=True)
        return queue.dequeue_many(count, allow_small)

    return kernel


def _close(c: KernelContext, queue: Queue) -> Future:
    return queue.close(c.attr("cancel_pending_enqueues"))


def _scalar(value: Any, dtype: Any) -> np.ndarray:
    return np.asarray(value, dtype)


def _batch_shape(c: ShapeContext) -> list[TensorShape]:
    count = c.value(1)
    if count is not None and count < 0:
        raise ValueError(f"Input 'n' must be >= 0, but is {int(count)}")
    return shape_inference.all_unknown(c)


for _names, (_make, _attrs, _doc) in _KINDS.items():
    for _name, _handle, _shape in zip(_names, ("Ref(string)", "resource"), ([2], []), strict=True):
        define(
            _name,
            f"-> handle: {_handle}",
            f"{_attrs}; {_SHARING}",
            shape=lambda c, shape=_shape: TensorShape(shape),
            kernel=_maker(_make),
            gradient=_STATE,
            stateful=True,
            doc=_doc,
        )

define(
    "FakeQueue",
    "resource: resource -> handle: Ref(string)",
    shape=lambda c: TensorShape([2]),
    kernel=lambda c, resource: resource,
    gradient=_STATE,
    stateful=True,
    doc="A queue's resource as a reference.",
)

for _is_resource, _handle in ((False, "Ref(string)"), (True, "resource")):
    for _names, _kernel, _what in (
        (
            *(("QueueEnqueue", "QueueEnqueueV2"), _enqueue),
            "Adds one element, once there is room.",
        ),
        (
            *(("QueueEnqueueMany", "QueueEnqueueManyV2"), _enqueue_many),
            "Adds the rows of a batch, as there is room.",
        ),
    ):
        define(
            _names[_is_resource],
            f"handle: {_handle}, components: Tcomponents ->",
            f"Tcomponents: list(type) >= 1; {_WAITS}",
            kernel=_kernel,
            gradient=_STATE if _is_resource else _STATE.silently,
            control_flow_role="wait",
            doc=_what,
        )
    define(
        ("QueueDequeue", "QueueDequeueV2")[_is_resource],
        f"handle: {_handle} -> components: component_types",
        f"{_TYPES}; {_WAITS}",
        shape=shape_inference.all_unknown,
        kernel=_dequeue,
        gradient=_STATE if _is_resource else _STATE.silently,
        control_flow_role="wait",
        doc="Takes one element, once there is one.",
    )
    for _names, _small, _rule, _what in (
        (
            *(("QueueDequeueMany", "QueueDequeueManyV2"), False, _batch_shape),
            "Takes n elements as one batch.",
        ),
        (
            *(("QueueDequeueUpTo", "QueueDequeueUpToV2"), True, shape_inference.all_unknown),
            "Takes n elements; fewer from a closed queue.",
        ),
    ):
        define(
            _names[_is_resource],
            f"handle: {_handle}, n: int32 -> components: component_types",
            f"{_TYPES}; {_WAITS}",
            shape=_rule,
            kernel=_dequeue_batch(_small),
            gradient=_STATE if _is_resource else _STATE.silently,
            control_flow_role="wait",
            doc=_what,
        )
    define(
        ("QueueClose", "QueueCloseV2")[_is_resource],
        f"handle: {_handle} ->",
        "cancel_pending_enqueues: bool = false",
        kernel=_close,
        gradient=_STATE if _is_resource else _STATE.silently,
        control_flow_role="wait",
        doc="Closes a queue behind the enqueues that wait, or cancels those.",
    )
    define(
        ("QueueIsClosed", "QueueIsClosedV2")[_is_resource],
        f"handle: {_handle} -> is_closed: bool",
        shape=lambda c: TensorShape([]),
        kernel=lambda c, queue: _scalar(queue.is_closed, np.bool_),
        gradient=_STATE,
        doc="Whether a queue is closed.",
    )
    define(
        ("QueueSize", "QueueSizeV2")[_is_resource],
        f"handle: {_handle} -> size: int32",
        shape=lambda c: TensorShape([]),
        kernel=lambda c, queue: _scalar(queue.size(), np.int32),
        gradient=_STATE if _is_resource else _STATE.silently,
        doc="The number of elements in a queue.",
    )
