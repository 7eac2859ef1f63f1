# SPDX-License-Identifier: Apache-2.0
"""`slim.prefetch_queue`: a queue that threads fill with tensors computed before they are wanted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .....engine.api import export
from .....engine.graph.graph import name_scope
from .....engine.graph.tensor import Tensor
from .....engine.types import dtypes
from .....ops.public import tf
from .....ops.queues.queues import FIFOQueue, PaddingFIFOQueue, QueueBase
from .....ops.summaries.api import scalar
from ....inputs.queue_runner_impl import QueueRunner, add_queue_runner


@export("contrib.slim.prefetch_queue.prefetch_queue")
def prefetch_queue(
    tensors: Sequence[Tensor] | dict[str, Tensor],
    capacity: int = 8,
    num_threads: int = 1,
    dynamic_pad: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> QueueBase:
    """A queue of what `tensors` were, with a runner in the collection QUEUE_RUNNERS.

    Args:
        tensors: a list or dict of tensors; elements are dequeued in the same form.
        capacity: how many elements wait at most.
        num_threads: how many threads compute them.
        dynamic_pad: whether dimensions may be unknown.
        shared_name: the name under which sessions share the queue.
        name: the scope of the operations.

    Returns:
        The queue.
    """
    names = sorted(tensors) if isinstance(tensors, dict) else None
    listed: list[Any] = (
        [tensors[n] for n in sorted(tensors)] if isinstance(tensors, dict) else list(tensors)
    )
    with name_scope(name, "prefetch_queue", listed):
        queue = (PaddingFIFOQueue if dynamic_pad else FIFOQueue)(
            capacity=capacity,
            dtypes=[tensor.dtype for tensor in listed],
            shapes=[tensor.get_shape() for tensor in listed],
            names=names,
            shared_name=shared_name,
        )
        enqueue = queue.enqueue(tensors)
        add_queue_runner(QueueRunner(queue, [enqueue] * num_threads))
        share = tf.cast(queue.size(), dtypes.float32) * (1.0 / capacity)
        scalar(f"fraction_of_{capacity}_full", share)
    return queue
