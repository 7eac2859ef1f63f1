# SPDX-License-Identifier: Apache-2.0
"""`tf.FIFOQueue` and its relatives: the Python objects that make the nodes of a queue."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...engine.graph.constants import constant_value
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.graph import name_scope
from ...engine.graph.seed import get_seed
from ...engine.types import dtypes as types
from ...engine.types.nest import as_list
from ...engine.types.shape import Dimension, TensorShape, as_shape, unknown_shape
from ..public import raw, tf

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, TensorLike
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor
    from ...engine.types.dtypes import DType


def as_shape_list(shapes: Sequence[Any] | None, unknown_dim_allowed: bool = False) -> Any:
    """One shape or several as a list of TensorShapes of known rank; None stays None."""
    if unknown_dim_allowed:
        if not isinstance(shapes, Sequence) or not shapes or any(map(_is_size, shapes)):
            raise ValueError("When providing partial shapes, a list of shapes must be provided.")
    if shapes is None:
        return None
    if isinstance(shapes, TensorShape):
        shapes = [shapes]
    if not isinstance(shapes, (tuple, list)):
        raise TypeError("shapes must be a TensorShape or a list or tuple of TensorShapes.")
    if all(map(_is_size, shapes)):
        shapes = [shapes]
    shapes = [as_shape(shape) for shape in shapes]
    if not unknown_dim_allowed and not all(shape.is_fully_defined() for shape in shapes):
        raise ValueError(f"All shapes must be fully defined: {shapes}")
    if any(shape.ndims is None for shape in shapes):
        raise ValueError(f"All shapes must have a defined rank: {shapes}")
    return shapes


def _is_size(value: object) -> bool:
    return value is None or isinstance(value, int)


def _as_name_list(names: Any, dtypes: list[Any]) -> list[str] | None:
    if names is None:
        return None
    if not isinstance(names, (list, tuple)):
        names = [names]
    if len(names) != len(dtypes):
        raise ValueError("List of names must have the same length as the list of dtypes")
    return list(names)


def _common_shape(a: TensorShape, b: TensorShape) -> TensorShape:
    """What two shapes agree in."""
    a, b = TensorShape(a), TensorShape(b)
    if a.ndims is None or a.ndims != b.ndims:
        return unknown_shape()
    return TensorShape(
        [m if m is not None and m == n else None for m, n in zip(a.as_list(), b.as_list())]
    )


@export("QueueBase", "queue.QueueBase", "io.QueueBase")
class QueueBase:
    """What all queues share: enqueues and dequeues of tuples of tensors, which may wait.

    A run that waits ends with CancelledError when the session or the queue is closed, and with
    OutOfRangeError when a queue is closed that has too few elements left.
    """

    def __init__(
        self,
        dtypes: Sequence[DType],
        shapes: Sequence[TensorShape] | None,
        names: Sequence[str] | None,
        queue_ref: Any,
    ) -> None:
        """queue_ref: the handle; shapes and names: one per dtype, or None."""
        self._dtypes = dtypes
        if shapes is not None:
            if len(shapes) != len(dtypes):
                raise ValueError("Queue shapes must have the same length as dtypes")
            self._shapes = [TensorShape(shape) for shape in shapes]
        else:
            self._shapes = [unknown_shape() for _ in dtypes]
        if names is not None and len(names) != len(dtypes):
            raise ValueError("Queue names must have the same length as dtypes")
        self._names = names
        self._queue_ref = queue_ref
        self._name = queue_ref.op.name.split("/")[-1]

    @staticmethod
    def from_list(index: TensorLike, queues: list[QueueBase]) -> QueueBase:
        """The queue of a list that `index`, a scalar tensor, selects when it runs."""
        if not (queues and isinstance(queues, list)) or not all(
            isinstance(queue, QueueBase) for queue in queues
        ):
            raise TypeError("A list of queues expected")
        first = queues[0]
        if not all(queue.dtypes == first.dtypes for queue in queues):
            raise TypeError("Queues do not have matching component dtypes.")
        if not all(queue.names == first.names for queue in queues):
            raise TypeError("Queues do not have matching component names.")
        shapes = [
            functools.reduce(_common_shape, item) for item in zip(*(q.shapes for q in queues))
        ]
        refs = tf.stack([queue.queue_ref for queue in queues])
        return QueueBase(first.dtypes, shapes, first.names, tf.gather(refs, index))

    @property
    def queue_ref(self) -> Any:
        """The handle."""
        return self._queue_ref

    @property
    def name(self) -> str:
        """The name of the queue's operation."""
        return self._queue_ref.op.name

    @property
    def dtypes(self) -> Any:
        """The types of the components of an element."""
        return self._dtypes

    @property
    def shapes(self) -> list[TensorShape]:
        """The shapes of the components of an element."""
        return self._shapes

    @property
    def names(self) -> Any:
        """The names of the components, if they have any."""
        return self._names

    @property
    def _is_resource(self) -> bool:
        return self._queue_ref.dtype == types.resource

    def _components(self, values: object) -> list[Any]:
        """What is to be enqueued, as tensors in the order of the components."""
        if isinstance(values, dict):
            if not self._names:
                raise ValueError("Queue must have names to enqueue a dictionary")
            if sorted(self._names, key=str) != sorted(values.keys(), key=str):
                raise ValueError(
                    "Keys in dictionary to enqueue do not match names of Queue.  Dictionary: "
                    f"({sorted(values.keys())}), Queue: ({sorted(self._names)})"
                )
            values = [values[name] for name in self._names]
        elif self._names:
            raise ValueError("You must enqueue a dictionary in a Queue with names")
        elif not isinstance(values, (list, tuple)):
            values = [values]
        return [
            convert_to_tensor(value, dtype=dtype, name=f"component_{i}")
            for i, (value, dtype) in enumerate(zip(values, self._dtypes))
        ]

    def _scope(self, name: str | None, what: str, values: object) -> name_scope:
        if isinstance(values, dict):
            values = list(values.values())
        elif not isinstance(values, (list, tuple)):
            values = [values]
        return name_scope(name, f"{self._name}_{what}", values)

    def enqueue(self, vals: object, name: str | None = None) -> Operation:
        """An operation that adds one element; it waits while the queue is full."""
        with self._scope(name, "enqueue", vals) as scope:
            tensors = self._components(vals)
            for tensor, shape in zip(tensors, self._shapes):
                tensor.shape.assert_is_compatible_with(shape)
            make = raw.QueueEnqueueV2 if self._is_resource else raw.QueueEnqueue
            return make(self._queue_ref, tensors, name=scope)

    def enqueue_many(self, vals: object, name: str | None = None) -> Operation:
        """An operation that adds one element per row; it waits until all are in the queue."""
        with self._scope(name, "EnqueueMany", vals) as scope:
            tensors = self._components(vals)
            rows = Dimension(tensors[0].shape.with_rank_at_least(1)[0])
            for tensor, shape in zip(tensors, self._shapes):
                rows = rows.merge_with(Dimension(tensor.shape.with_rank_at_least(1)[0]))
                tensor.shape[1:].assert_is_compatible_with(shape)
            make = raw.QueueEnqueueManyV2 if self._is_resource else raw.QueueEnqueueMany
            return make(self._queue_ref, tensors, name=scope)

    def _taken(self, tensors: list[Any], shapes: Iterable[TensorShape]) -> Any:
        """What a dequeue returns: one tensor, a list, or a dictionary."""
        for tensor, shape in zip(tensors[0].op.outputs, shapes):
            tensor.set_shape(shape)
        if self._names:
            return dict(zip(self._names, tensors))
        return tensors[0] if len(tensors) == 1 else tensors

    def dequeue(self, name: str | None = None) -> Any:
        """The next element; waits while there is none."""
        make = raw.QueueDequeueV2 if self._is_resource else raw.QueueDequeue
        name = f"{self._name}_Dequeue" if name is None else name
        return self._taken(make(self._queue_ref, self._dtypes, name=name), self._shapes)

    def dequeue_many(self, n: TensorLike, name: str | None = None) -> Any:
        """The next n elements as one batch; waits until there are so many."""
        make = raw.QueueDequeueManyV2 if self._is_resource else raw.QueueDequeueMany
        name = f"{self._name}_DequeueMany" if name is None else name
        tensors = make(self._queue_ref, n=n, component_types=self._dtypes, name=name)
        count = constant_value(tensors[0].op.inputs[1])
        batch = TensorShape([None if count is None else int(count)])
        return self._taken(tensors, [batch.concatenate(shape) for shape in self._shapes])

    def dequeue_up_to(self, n: int, name: str | None = None) -> Any:
        """The next n elements as one batch, or what is left when the queue is closed."""
        make = raw.QueueDequeueUpToV2 if self._is_resource else raw.QueueDequeueUpTo
        name = f"{self._name}_DequeueUpTo" if name is None else name
        tensors = make(self._queue_ref, n=n, component_types=self._dtypes, name=name)
        batch = TensorShape([None])
        return self._taken(tensors, [batch.concatenate(shape) for shape in self._shapes])

    def close(self, cancel_pending_enqueues: bool = False, name: str | None = None) -> Operation:
        """An operation after which nothing more may be enqueued."""
        make = raw.QueueCloseV2 if self._is_resource else raw.QueueClose
        name = f"{self._name}_Close" if name is None else name
        return make(self._queue_ref, cancel_pending_enqueues=cancel_pending_enqueues, name=name)

    def is_closed(self, name: str | None = None) -> Tensor:
        """Whether the queue is closed, as a tensor."""
        make = raw.QueueIsClosedV2 if self._is_resource else raw.QueueIsClosed
        return make(self._queue_ref, name=f"{self._name}_Is_Closed" if name is None else name)

    def size(self, name: str | None = None) -> Tensor:
        """The number of elements, as a tensor."""
        make = raw.QueueSizeV2 if self._is_resource else raw.QueueSize
        return make(self._queue_ref, name=f"{self._name}_Size" if name is None else name)


@export("FIFOQueue", "queue.FIFOQueue")
class FIFOQueue(QueueBase):
    """A queue that gives elements in the order in which they came.

    Args:
        capacity: how many it holds; `enqueue` waits while it is full.
        dtypes: of the parts of an element: a list, or one.
        shapes: of the parts, likewise; needed for `enqueue_many` and `dequeue_many`.
        names: of the parts, likewise: elements are dicts then.
        shared_name: the name under which sessions share it.
        name: of the operation.

    Raises:
        ValueError: the lists have different lengths.

    Example:
        >>> queue = tf.FIFOQueue(10, tf.int32)
        >>> put, get, sess = queue.enqueue(7), queue.dequeue(), tf.Session()
        >>> sess.run([put])
        [None]
        >>> sess.run(get)
        np.int32(7)
    """

    def __init__(
        self,
        capacity: int,
        dtypes: DTypeLike | Sequence[DTypeLike],
        shapes: Sequence[Any] | None = None,
        names: Sequence[str] | None = None,
        shared_name: str | None = None,
        name: str | None = "fifo_queue",
    ) -> None:
        dtypes = as_list(dtypes)
        shapes = as_shape_list(shapes)
        names = _as_name_list(names, dtypes)
        ref = raw.FIFOQueueV2(
            component_types=dtypes,
            shapes=shapes,
            capacity=capacity,
            shared_name=shared_name,
            name=name,
        )
        super().__init__(dtypes, shapes, names, ref)


@export("PaddingFIFOQueue", "queue.PaddingFIFOQueue", "io.PaddingFIFOQueue")
class PaddingFIFOQueue(QueueBase):
    """A queue in order; sizes that `shapes` leaves open are padded with zeros in a batch."""

    def __init__(
        self,
        capacity: int,
        dtypes: Sequence[DType],
        shapes: Sequence[Any] | None,
        names: Sequence[str] | None = None,
        shared_name: str | None = None,
        name: str | None = "padding_fifo_queue",
    ) -> None:
        dtypes = as_list(dtypes)
        shapes = as_shape_list(shapes, unknown_dim_allowed=True)
        names = _as_name_list(names, dtypes)
        if len(dtypes) != len(shapes):
            raise ValueError(
                f"Shapes must be provided for all components, but received {len(dtypes)} dtypes "
                f"and {len(shapes)} shapes."
            )
        ref = raw.PaddingFIFOQueueV2(
            component_types=dtypes,
            shapes=shapes,
            capacity=capacity,
            shared_name=shared_name,
            name=name,
        )
        super().__init__(dtypes, shapes, names, ref)


@export("RandomShuffleQueue", "queue.RandomShuffleQueue", "io.RandomShuffleQueue")
class RandomShuffleQueue(QueueBase):
    """A queue that gives elements in random order, of at least `min_after_dequeue` + 1."""

    def __init__(
        self,
        capacity: int,
        min_after_dequeue: int,
        dtypes: DTypeLike | Sequence[DTypeLike],
        shapes: Sequence[Any] | None = None,
        names: Sequence[str] | None = None,
        seed: int | None = None,
        shared_name: str | None = None,
        name: str | None = "random_shuffle_queue",
    ) -> None:
        dtypes = as_list(dtypes)
        shapes = as_shape_list(shapes)
        names = _as_name_list(names, dtypes)
        first, second = get_seed(seed)
        if first is None and second is None:
            first, second = 0, 0
        elif seed is None and shared_name is not None:
            import hashlib

            # Workers that share the queue have made different numbers of nodes.
            digest = hashlib.md5(f"{first}{shared_name}".encode()).hexdigest()
            second = int(digest[:8], 16) & 0x7FFFFFFF
        ref = raw.RandomShuffleQueueV2(
            component_types=dtypes,
            shapes=shapes,
            capacity=capacity,
            min_after_dequeue=min_after_dequeue,
            seed=first,
            seed2=second,
            shared_name=shared_name,
            name=name,
        )
        super().__init__(dtypes, shapes, names, ref)


@export("PriorityQueue", "queue.PriorityQueue", "io.PriorityQueue")
class PriorityQueue(QueueBase):
    """A queue that gives the element with the least priority number first.

    The priority, an int64, is the first component of what is enqueued and dequeued.
    """

    def __init__(
        self,
        capacity: int,
        types: Sequence[DType],
        shapes: Sequence[Any] | None = None,
        names: Sequence[str] | None = None,
        shared_name: str | None = None,
        name: str | None = "priority_queue",
    ) -> None:
        kinds = as_list(types)
        shapes = as_shape_list(shapes)
        ref = raw.PriorityQueueV2(
            component_types=kinds,
            shapes=shapes,
            capacity=capacity,
            shared_name=shared_name,
            name=name,
        )
        shapes = [TensorShape([]), *shapes] if shapes else shapes
        super().__init__([_INT64, *kinds], shapes, names, ref)


_INT64 = types.int64
