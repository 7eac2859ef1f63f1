# SPDX-License-Identifier: Apache-2.0
"""`SequenceQueueingStateSaver`: cuts sequences into segments, in batches, and hands states on.

A barrier holds each segment under a key. It is complete once its state is there too: the first
segment's from the start, and each other's when the one before it has been computed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.graph.convert import convert_to_tensor
from ....engine.graph.graph import control_dependencies, name_scope
from ....engine.graph.scope_functions import colocate_with
from ....engine.graph.tensor import Tensor
from ....engine.record_class import record
from ....engine.types import dtypes
from ....ops.public import tf
from ....ops.queues.barrier import Barrier
from ....ops.queues.queues import FIFOQueue
from .sequence_checks import check_dimensions, check_multiple_of, check_rank, check_shape

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike
    from ....engine.graph.operation import Operation

# The barrier's components that every segment has, with their dtypes; then come its sequences,
# context and states.
_OWN = {
    "__length": dtypes.int32,
    "__total_length": dtypes.int32,
    "__next_key": dtypes.string,
    "__sequence": dtypes.int32,
    "__sequence_count": dtypes.int32,
}
# What the queue that counts examples holds for each; nobody reads it.
_TOKEN = 21051976


class SequenceInput:
    """One example: its length, key, sequences and context, as tensors.

    Raises:
        TypeError: sequences or context are no dictionaries of names.
        ValueError: there are no sequences, or a name has a colon.
    """

    def __init__(
        self,
        length: TensorLike,
        key: TensorLike,
        sequences: Mapping[str, TensorLike],
        context: Mapping[str, TensorLike],
    ) -> None:
        self.length = convert_to_tensor(length, name="length")
        self.key = convert_to_tensor(key, name="key")
        for kind, tensors in (("sequences", sequences), ("context", context)):
            if not isinstance(tensors, dict):
                raise TypeError(f"{kind} must be a dict")
        if not sequences:
            raise ValueError("must have at least one sequence tensor")
        for kind, tensors in (("sequence", sequences), ("context", context)):
            for name in tensors:
                if not isinstance(name, str):
                    raise TypeError(f"{kind} key must be string: {name}")
                if ":" in name:
                    raise ValueError(f"{kind} key may not have a colon: '{name}'")
        self.sequences = {
            k: convert_to_tensor(v, name=f"sequence_{k}") for k, v in sequences.items()
        }
        self.context = {k: convert_to_tensor(v, name=f"context_{k}") for k, v in context.items()}

    def check(self, states: dict[str, Tensor]) -> None:
        """Raises ValueError where a shape is not known."""
        for label, tensors in (("state", states), ("context", self.context)):
            for name, tensor in tensors.items():
                if not tensor.shape.is_fully_defined():
                    raise _unknown_shape(label, name, "", tensor)
        for name, tensor in self.sequences.items():
            if not tensor.shape[1:].is_fully_defined():
                raise _unknown_shape("sequence", name, "(ignoring first dimension)", tensor)


def _unknown_shape(label: str, name: str, but: str, tensor: Tensor) -> ValueError:
    return ValueError(f"Shape for {label} {name} is not fully defined {but}: {tensor.shape}")


def _sorted(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return dict(sorted(tensors.items()))


def _check_states(states: Mapping[str, Any]) -> None:
    if not isinstance(states, dict):
        raise TypeError("initial_states must be a dictionary")
    if not states:
        raise ValueError(
            "initial_states may not be empty: at least one state variable is required to properly "
            "enqueue split sequences to run in separate iterations"
        )
    for name in states:
        if not isinstance(name, str):
            raise TypeError(f"state name must be a string: {name}")
        if ":" in name:
            raise ValueError(f"state name may not have a colon: '{name}'")


@record(frozen=True)
class _Received:
    """A batch of segments, as it comes out of the barrier; fields are those of the batch."""

    insertion_index: Tensor
    key: Tensor
    parts: dict[str, Tensor]
    batch_size: Tensor
    is_done: Tensor
    context: dict[str, Tensor]
    sequences: dict[str, Tensor]
    states: dict[str, Tensor]


@export("contrib.training.NextQueuedSequenceBatch")
class NextQueuedSequenceBatch:
    """A batch of segments: tensors, their states, and the way to save the next ones.

    It is the `next_batch` of a SequenceQueueingStateSaver, or what `batch_sequences_with_states`
    gives, and serves as the `state_saver` of tf.nn.static_state_saving_rnn.
    """

    def __init__(self, state_saver: SequenceQueueingStateSaver) -> None:
        self._state_saver = state_saver

    @property
    def _received(self) -> _Received:
        return self._state_saver.received

    @property
    def total_length(self) -> Tensor:
        """[batch_size], the lengths of the whole sequences."""
        return self._received.parts["__total_length"]

    @property
    def length(self) -> Tensor:
        """[batch_size], how many steps of each segment are no padding."""
        return self._received.parts["__length"]

    @property
    def batch_size(self) -> Tensor:
        """The number of segments in the batch."""
        return self._received.batch_size

    @property
    def insertion_index(self) -> Tensor:
        """[batch_size], int64: when each example came, counted from -2**63."""
        return self._received.insertion_index

    @property
    def key(self) -> Tensor:
        """[batch_size], "00001_of_00004:key": the segments' keys."""
        return self._received.key

    @property
    def next_key(self) -> Tensor:
        """[batch_size], the keys of the segments after these; "STOP:key" after the last."""
        return self._received.parts["__next_key"]

    @property
    def sequence(self) -> Tensor:
        """[batch_size], each segment's number in its example."""
        return self._received.parts["__sequence"]

    @property
    def sequence_count(self) -> Tensor:
        """[batch_size], the number of segments in each example."""
        return self._received.parts["__sequence_count"]

    @property
    def context(self) -> dict[str, Tensor]:
        """The context by name, [batch_size, ...]."""
        return self._received.context

    @property
    def sequences(self) -> dict[str, Tensor]:
        """The segments by name, [batch_size, num_unroll, ...]."""
        return self._received.sequences

    def state(self, state_name: str) -> Tensor:
        """[batch_size, ...], the state at the start of the segments: as saved, or the initial one.

        Raises:
            KeyError: there is no state of this name.
        """
        return self._received.states[state_name]

    def save_state(self, state_name: str, value: TensorLike, name: str | None = None) -> Operation:
        """An operation that saves the state at the end of the segments, for those after them.

        Each run that takes a batch must run it: without a state the next segments do not come.

        Args:
            state_name: which state.
            value: [batch_size, ...].
            name: the scope of the operations.

        Raises:
            KeyError: there is no state of this name.
        """
        received = self._received
        if state_name not in received.states:
            raise KeyError(f"state was not declared: {state_name}")
        saver = self._state_saver
        with (
            name_scope(name, "InputQueueingStateSaver_SaveState", values=[value]),
            colocate_with(saver.places.queue_ref),
        ):
            going_on = tf.reshape(tf.where_v2(tf.logical_not(received.is_done)), [-1])
            keys = tf.gather(received.parts["__next_key"], going_on)
            value = check_shape(
                tf.identity(value, name=f"convert_{state_name}"),
                tf.shape(received.states[state_name]),
            )
            kept = tf.gather(value, going_on)
            return saver.insert(
                f"__state__{state_name}", keys, kept, f"BarrierInsertState_{state_name}"
            )


@export("contrib.training.SequenceQueueingStateSaver")
class SequenceQueueingStateSaver:
    """Cuts examples' sequences into segments of `num_unroll` steps, and hands states on.

    `prefetch_op` brings an example; a QueueRunner runs it. `next_batch` has a batch of segments of
    different examples; each run that takes one must save the states at its end, upon which the
    examples' next segments can come.

    Args:
        batch_size: how many segments a batch has.
        num_unroll: how many steps a segment has.
        input_length: int32, the length of the example before it was padded.
        input_key: a string that no other example has.
        input_sequences: tensors by name, [steps, ...]; steps are a multiple of `num_unroll`.
        input_context: tensors by name that all segments of the example get.
        initial_states: the states at the start of an example, by name.
        capacity: how many examples are in work at once.
        allow_small_batch: whether batches become smaller at the end, when no examples come.
        name: the scope of the operations.

    Raises:
        TypeError: an argument is no dictionary of names, or has another dtype.
        ValueError: a shape is not known, or the capacity is smaller than a batch.
    """

    def __init__(
        self,
        batch_size: Any,
        num_unroll: int,
        input_length: Any,
        input_key: TensorLike,
        input_sequences: dict[str, Any],
        input_context: dict[str, Any],
        initial_states: dict[str, Any],
        capacity: Any = None,
        allow_small_batch: bool = False,
        name: str | None = None,
    ) -> None:
        input_key = _with_room(capacity, batch_size, input_key)
        # Its length is the number of examples in work.
        self.places = FIFOQueue(capacity=capacity, dtypes=[dtypes.int32], shapes=[[]])
        self._batch_size, self._num_unroll = batch_size, num_unroll
        self._allow_small_batch = allow_small_batch
        self._prefetch_op: Any = None
        self._received: _Received | None = None
        self._next_batch: NextQueuedSequenceBatch | None = None
        with colocate_with(self.places.queue_ref):
            _check_states(initial_states)
            values = [
                *(input_length, input_key),
                *(
                    tensor
                    for group in (input_sequences, input_context)
                    for tensor in group.values()
                ),
            ]
            with name_scope(name, "InputQueueingStateSaver", values) as scope:
                example = SequenceInput(input_length, input_key, input_sequences, input_context)
                self._name = self._scope = scope
                self._prepare(example, initial_states)
                self._barrier = self._made_barrier()

    def _prepare(self, example: SequenceInput, initial_states: dict[str, Any]) -> None:
        states = {k: convert_to_tensor(v, name=f"state_{k}") for k, v in initial_states.items()}
        example.check(states)
        self._sequences, self._context = _sorted(example.sequences), _sorted(example.context)
        self._states = _sorted(states)
        self._length = check_rank(example.length, 0)
        self._key = check_rank(example.key, 0)
        if self._length.dtype != dtypes.int32:
            raise TypeError(f"length dtype must be int32, but received: {self._length.dtype}")
        if self._key.dtype != dtypes.string:
            raise TypeError(f"key dtype must be string, but received: {self._key.dtype}")
        first = next(iter(self._sequences.values()))
        rows = tf.identity(tf.shape(first)[0], name="padded_length")
        self._rows = check_multiple_of(rows, self._num_unroll)
        self._sequences = {
            k: check_dimensions(v, [0], [self._rows], f"sorted_sequences_{k}")
            for k, v in self._sequences.items()
        }
        message = "Input length should be <= than length from sequences:"
        enough = tf.less_equal(self._length, self._rows)
        parts = [message, self._length, " vs. ", self._rows]
        with control_dependencies([tf.Assert(enough, parts)]):
            self._length = tf.identity(self._length)

    def _made_barrier(self) -> Barrier:
        """The barrier, whose components it notes by name."""
        kinds: dict[str, tuple[Any, list[Any]]] = {k: (dtype, []) for k, dtype in _OWN.items()}
        for k, v in self._sequences.items():
            kinds[f"__sequence__{k}"] = (v.dtype, [self._num_unroll, *v.shape.as_list()[1:]])
        for group, tensors in (("context", self._context), ("state", self._states)):
            for k, v in tensors.items():
                kinds[f"__{group}__{k}"] = (v.dtype, v.shape.as_list())
        self._number = {k: i for i, k in enumerate(kinds)}
        types, shapes = zip(*kinds.values())
        return Barrier(types=list(types), shapes=list(shapes))

    @property
    def name(self) -> str:
        """The scope of the operations."""
        return self._name

    @property
    def barrier(self) -> Barrier:
        """The barrier that holds the segments."""
        return self._barrier

    @property
    def batch_size(self) -> Any:
        """How many segments a batch has."""
        return self._batch_size

    @property
    def num_unroll(self) -> int:
        """How many steps a segment has."""
        return self._num_unroll

    @property
    def prefetch_op(self) -> Operation:
        """The operation that brings an example."""
        if self._prefetch_op is None:
            with name_scope(None), name_scope(self._scope, values=[self._barrier.barrier_ref]):
                self._prefetch_op = self._made_prefetch_op()
        return self._prefetch_op

    @property
    def next_batch(self) -> NextQueuedSequenceBatch:
        """The batch, always the same object."""
        if self._next_batch is None:
            self.prefetch_op  # noqa: B018  its operations come first in the graph
            with name_scope(None), name_scope(self._scope, values=[self._barrier.barrier_ref]):
                self._received = self._taken()
            self._next_batch = NextQueuedSequenceBatch(self)
        return self._next_batch

    @property
    def received(self) -> _Received:
        """What the batch is made of."""
        if self._received is None:
            self.next_batch  # noqa: B018
        assert self._received is not None
        return self._received

    def close(self, cancel_pending_enqueues: bool = False, name: str | None = None) -> Operation:
        """An operation after which no new examples come; begun ones are finished.

        Args:
            cancel_pending_enqueues: whether begun ones are given up, too.
            name: of the operation.
        """
        with name_scope(name, "SQSSClose", [self._prefetch_op]) as name:
            barrier = self._barrier.close(cancel_pending_enqueues, "BarrierClose")
            places = self.places.close(cancel_pending_enqueues, "FIFOClose")
            return tf.group(barrier, places, name=name)

    def insert(self, component: str, keys: Any, values: Any, name: str) -> Operation:
        """An operation that gives segments one of their components."""
        return self._barrier.insert_many(self._number[component], keys, values, name=name)

    def _segment_keys(self, numbers: Tensor, count: Tensor) -> tuple[Tensor, Tensor]:
        """The key of each segment of the example, and that of the segment behind it."""
        keys = tf.string_join(
            [
                *(tf.as_string(numbers, width=5, fill="0"), "_of_"),
                *(tf.as_string(count, width=5, fill="0"), ":", self._key),
            ],
            name="StringJoinCurrentKeys",
        )
        stop = tf.expand_dims(tf.string_join(["STOP:", self._key], name="StringJoinStop"), 0)
        return keys, tf.concat([tf.slice(keys, [1], [-1]), stop], 0, name="concat_next_keys")

    def _made_prefetch_op(self) -> Operation:
        count = tf.div(self._rows, self._num_unroll)
        ones = tf.ones(tf.expand_dims(count, 0), dtype=dtypes.int32)
        numbers = tf.range(count)
        lengths = tf.maximum(0, self._length - self._num_unroll * numbers)
        own = {
            "__length": tf.minimum(self._num_unroll, lengths),
            "__total_length": self._length * ones,
            "__sequence_count": count * ones,
        }
        keys, next_keys = self._segment_keys(numbers, count)
        segments = {k: self._segments(k, v, count) for k, v in self._sequences.items()}
        context = {k: _copies(k, v, count) for k, v in self._context.items()}
        number = self.insert("__sequence", keys, numbers, "BarrierInsertSequence")
        inserts = [
            self.insert(component, keys, value, name)
            for component, value, name in (
                ("__sequence_count", own["__sequence_count"], "BarrierInsertSequenceCount"),
                ("__next_key", next_keys, "BarrierInsertNextKey"),
                ("__length", own["__length"], "BarrierInsertLength"),
                ("__total_length", own["__total_length"], "BarrierInsertTotalLength"),
            )
        ]
        inserts += [
            self.insert(f"__context__{k}", keys, v, f"BarrierInsertContext_{k}")
            for k, v in context.items()
        ]
        inserts += [
            self.insert(f"__sequence__{k}", keys, v, f"BarrierInsertSequences_{k}")
            for k, v in segments.items()
        ]
        place = self.places.enqueue((_TOKEN,))
        with control_dependencies([number, place]):
            # Once there is room for the example, its first segment may go.
            inserts += [
                self.insert(
                    *(f"__state__{k}", tf.stack([keys[0]]), tf.stack([v])),
                    f"BarrierInitialInsertState_{k}",
                )
                for k, v in self._states.items()
            ]
        return tf.group(place, number, *inserts, name="StateSaverPrefetchGroup")

    def _segments(self, name: str, tensor: Tensor, count: Tensor) -> Tensor:
        inner = tensor.shape.as_list()[1:]
        sizes = [tf.expand_dims(count, 0), tf.expand_dims(self._num_unroll, 0), inner]
        shape = tf.concat(sizes, 0, name=f"concat_sequences_{name}")
        cut = tf.reshape(tensor, shape, name=f"reshape_sequences_{name}")
        return check_dimensions(
            *(cut, list(range(len(inner) + 2)), [count, self._num_unroll, *inner]),
            debug_prefix=f"reshaped_sequences_{name}",
        )

    def _taken(self) -> _Received:
        index, key, values = self._barrier.take_many(
            self._batch_size, self._allow_small_batch, name="BarrierTakeMany"
        )
        parts = {name: values[number] for name, number in self._number.items()}
        batch_size = tf.squeeze(tf.shape(parts["__length"]))
        is_done = parts["__sequence"] + 1 >= parts["__sequence_count"]
        finished = self.places.dequeue_many(tf.reduce_sum(tf.cast(is_done, dtypes.int32)))
        with control_dependencies([finished]):
            states = {k: tf.identity(parts[f"__state__{k}"]) for k in self._states}
        return _Received(
            *(index, key, parts, batch_size, is_done),
            context={k: parts[f"__context__{k}"] for k in self._context},
            sequences={k: parts[f"__sequence__{k}"] for k in self._sequences},
            states=states,
        )


def _with_room(capacity: Any, batch_size: Any, key: Any) -> Any:
    """The key, if there is room for a batch."""
    if capacity is None:
        return key
    if isinstance(batch_size, Tensor):
        enough = tf.assert_greater_equal(
            tf.cast(capacity, dtype=dtypes.int64),
            tf.cast(batch_size, dtype=dtypes.int64),
            message="capacity needs to be >= batch_size.",
        )
        with control_dependencies([enough]):
            return tf.identity(key)
    if capacity < batch_size:
        raise ValueError(f"capacity {capacity} needs to be >= batch_size {batch_size}")
    return key


def _copies(name: str, tensor: Tensor, count: Tensor) -> Tensor:
    """The context of each of `count` segments."""
    sizes = tensor.shape.as_list()
    times = [tf.expand_dims(count, 0), [1] * len(sizes)]
    shape = tf.concat(times, 0, name=f"concat_context_{name}")
    copies = tf.tile(tf.expand_dims(tensor, 0), shape, name=f"tile_context_{name}")
    return check_dimensions(
        *(copies, list(range(len(sizes) + 1)), [count, *sizes]),
        debug_prefix=f"expanded_context_{name}",
    )
