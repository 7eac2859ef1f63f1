# SPDX-License-Identifier: Apache-2.0
"""Functions applied along the first axis of labeled tensors, and batches of such tensors."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.graph.graph import name_scope
from ....engine.graph.tensor import Tensor
from ....engine.types import dtypes
from ....ops.public import tf
from ...inputs import input as inputs
from . import _typecheck as tc
from .core import Axes, LabeledTensor, LabeledTensorLike, convert_to_labeled_tensor
from .ops import pack, unpack

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike

    Labeled = LabeledTensor | TensorLike


@export("contrib.labeled_tensor.map_fn")
@tc.returns(LabeledTensor)
@tc.accepts(Callable, LabeledTensorLike, tc.Optional(str))
def map_fn(
    fn: Callable[[LabeledTensor], LabeledTensor], labeled_tensor: Labeled, name: str | None = None
) -> LabeledTensor:
    """A function of the tensors along the first axis.

    Args:
        fn: is given a LabeledTensor, and returns one.
        labeled_tensor: the tensor.
        name: of the operations.

    Returns:
        A LabeledTensor of the results along the first axis.
    """
    with name_scope(name, "lt_map_fn", [labeled_tensor]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        parts = unpack(labeled_tensor)
        along, *inner = labeled_tensor.axes.values()
        if labeled_tensor.dtype == dtypes.string:
            return pack([fn(part) for part in parts], along, name=scope)
        # The first part's result says which axes all have.
        first = fn(parts[0])

        def of_tensor(part: Tensor) -> Tensor:
            return fn(LabeledTensor(part, inner)).tensor

        mapped = tf.map_fn(of_tensor, labeled_tensor.tensor, dtype=first.dtype)
        axes = [along, *first.axes.values()]
        return LabeledTensor(tf.identity(mapped, name=scope), axes)


@export("contrib.labeled_tensor.foldl")
@tc.returns(LabeledTensor)
@tc.accepts(Callable, LabeledTensorLike, LabeledTensorLike, tc.Optional(str))
def foldl(
    fn: Callable[[LabeledTensor, LabeledTensor], LabeledTensor],
    labeled_tensor: Labeled,
    initial_value: Labeled,
    name: str | None = None,
) -> LabeledTensor:
    """What a function makes of a value and the tensors along the first axis, one after another.

    Args:
        fn: is given the value so far and a tensor, and returns the next value.
        labeled_tensor: the tensor.
        initial_value: the first value.
        name: of the operations.

    Returns:
        The last value, a LabeledTensor.
    """
    with name_scope(name, "lt_foldl", [labeled_tensor, initial_value]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        start = convert_to_labeled_tensor(initial_value)
        inner = list(labeled_tensor.axes.values())[1:]

        def of_tensors(value: Tensor, part: Tensor) -> Tensor:
            return fn(LabeledTensor(value, start.axes), LabeledTensor(part, inner)).tensor

        folded = tf.foldl(of_tensors, labeled_tensor.tensor, initializer=start.tensor)
        return LabeledTensor(tf.identity(folded, name=scope), start.axes)


def _batched_axes(axes: Axes, size: int | None, enqueue_many: bool) -> Axes:
    others = axes
    if enqueue_many:
        if next(iter(axes), None) != "batch":
            raise ValueError(
                'When enqueue_many is True, input tensors must have an axis called "batch" as '
                f"their first dimension, but axes were {axes}"
            )
        others = axes.remove("batch")
    return Axes([("batch", size), *others.values()])


def _batch(
    default_name: str,
    batches_of: Callable[..., Any],
    labeled_tensors: Collection[Labeled],
    batch_size: int,
    name: str | None,
    **settings: Any,
) -> list[LabeledTensor]:
    """Batches by one of `tf.train`'s functions, with their axes."""
    with name_scope(name, default_name, list(labeled_tensors)) as scope:
        tensors = [convert_to_labeled_tensor(tensor) for tensor in labeled_tensors]
        plain = [labeled.tensor for labeled in tensors]
        made = batches_of(plain, batch_size=batch_size, name=scope, **settings)
        batches = made if isinstance(made, list) else [made]
        size = None if settings["allow_smaller_final_batch"] else batch_size
        return [
            LabeledTensor(batch, _batched_axes(labeled.axes, size, settings["enqueue_many"]))
            for batch, labeled in zip(batches, tensors)
        ]


@export("contrib.labeled_tensor.batch")
@tc.returns(tc.List(LabeledTensor))
@tc.accepts(tc.Collection(LabeledTensorLike), int, int, int, bool, bool, tc.Optional(str))
def batch(
    labeled_tensors: Collection[Labeled],
    batch_size: int,
    num_threads: int = 1,
    capacity: int = 32,
    enqueue_many: bool = False,
    allow_smaller_final_batch: bool = False,
    name: str | None = None,
) -> list[LabeledTensor]:
    """Batches of tensors by way of a queue, as of `tf.train.batch`.

    Args:
        labeled_tensors: the tensors.
        batch_size: how many make a batch.
        num_threads: how many fill the queue.
        capacity: of the queue.
        enqueue_many: whether the tensors are batches already: their first axis is "batch" then.
        allow_smaller_final_batch: whether the last batch may be smaller; the sizes of batches are
            not known then.
        name: of the operations.

    Returns:
        A list of LabeledTensors whose first axis is "batch".

    Raises:
        ValueError: `enqueue_many`, and a tensor's first axis is not "batch".
    """
    return _batch(
        "lt_batch",
        inputs.batch,
        labeled_tensors,
        batch_size,
        name,
        num_threads=num_threads,
        capacity=capacity,
        enqueue_many=enqueue_many,
        allow_smaller_final_batch=allow_smaller_final_batch,
    )


@export("contrib.labeled_tensor.shuffle_batch")
@tc.returns(tc.List(LabeledTensor))
@tc.accepts(
    tc.Collection(LabeledTensorLike),
    *(int, int, int, bool, int, tc.Optional(int), bool, tc.Optional(str)),
)
def shuffle_batch(
    labeled_tensors: Collection[Labeled],
    batch_size: int,
    num_threads: int = 1,
    capacity: int = 32,
    enqueue_many: bool = False,
    min_after_dequeue: int = 0,
    seed: int | None = None,
    allow_smaller_final_batch: bool = False,
    name: str | None = None,
) -> list[LabeledTensor]:
    """Batches of tensors in random order, as of `tf.train.shuffle_batch`.

    Args:
        labeled_tensors: the tensors.
        batch_size: how many make a batch.
        num_threads: how many fill the queue.
        capacity: of the queue.
        enqueue_many: whether the tensors are batches already: their first axis is "batch" then.
        min_after_dequeue: how many stay in the queue, to be mixed.
        seed: an integer, for the order.
        allow_smaller_final_batch: whether the last batch may be smaller; the sizes of batches are
            not known then.
        name: of the operations.

    Returns:
        A list of LabeledTensors whose first axis is "batch".

    Raises:
        ValueError: `enqueue_many`, and a tensor's first axis is not "batch".
    """
    return _batch(
        "lt_shuffle_batch",
        inputs.shuffle_batch,
        labeled_tensors,
        batch_size,
        name,
        num_threads=num_threads,
        capacity=capacity,
        enqueue_many=enqueue_many,
        min_after_dequeue=min_after_dequeue,
        seed=seed,
        allow_smaller_final_batch=allow_smaller_final_batch,
    )
