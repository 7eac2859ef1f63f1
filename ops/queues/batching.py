# SPDX-License-Identifier: Apache-2.0
"""Batches put together from runs at the same time, and results given back to each (`Batch`).

Runs that meet in a `Batch` wait until enough of them have come, or one has waited long enough.  The
last of them goes on with the rows of all and the others with none, up to `Unbatch`, where each
gets its own rows of what came of them.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...engine import errors
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.session.function_inlining import Inliner
from ...engine.session.futures import Future
from ...engine.types.shape import TensorShape, unknown_shape
from ..public import raw
from ..state.shared_state import kept

if TYPE_CHECKING:
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor
    from ...engine.trampoline import Steps


# An hour: a batch that is computed at all comes back by then.
_MOST_MICROS = 3_600_000_000


class _Part(NamedTuple):
    """What one run gives to a batch."""

    key: int
    inputs: Sequence[np.ndarray]
    waiting: Future

    @property
    def rows(self) -> int:
        return len(self.inputs[0])


class Batcher:
    """Collects what runs give until a batch is full or its time has come."""

    def __init__(self, most: int, seconds: float, allowed: Sequence[int]) -> None:
        """most: rows of a batch; seconds: that its first part waits; allowed: sizes to pad to."""
        if allowed and (list(allowed) != sorted(set(allowed)) or allowed[-1] != most):
            raise errors.invalid(
                "allowed_batch_sizes entries must be monotonically increasing, and the last one "
                f"must be max_batch_size; got {list(allowed)} and {most}"
            )
        self._most, self._seconds, self._allowed = most, seconds, allowed
        self._lock = threading.Lock()
        self._parts: list[_Part] = []

    def add(self, inputs: Sequence[np.ndarray]) -> Future:
        """A Future of the batch, of its parts and of the key of this one."""
        if any(array.ndim == 0 for array in inputs):
            raise errors.invalid("Batching input tensors must have at least one dimension")
        if len({len(array) for array in inputs}) != 1:
            raise errors.invalid(
                "Batching input tensors supplied in a given op invocation must have equal "
                "0th-dimension size"
            )
        # (Not of a random stream that programs seed.)
        part = _Part(random.SystemRandom().getrandbits(63), inputs, Future())
        if part.rows > self._most:
            raise errors.invalid(
                f"Task size {part.rows} is larger than maximum batch size {self._most}"
            )
        full = []
        with self._lock:
            if sum(other.rows for other in self._parts) + part.rows > self._most:
                full.append(self._taken())
            self._parts.append(part)
            if sum(other.rows for other in self._parts) == self._most:
                full.append(self._taken())
            elif len(self._parts) == 1:
                timer = threading.Timer(self._seconds, self._expire, (part,))
                timer.daemon = True
                timer.start()
        for parts in full:
            self._give(parts)
        return part.waiting

    def _taken(self) -> list[_Part]:
        parts, self._parts = self._parts, []
        return parts

    def _expire(self, first: _Part) -> None:
        with self._lock:
            parts = self._taken() if self._parts and self._parts[0] is first else []
        self._give(parts)

    def _give(self, parts: list[_Part]) -> None:
        # Whoever has given up waiting leaves the batch.
        parts = [part for part in parts if not part.waiting.is_done]
        if not parts:
            return
        *others, last = parts
        try:
            batched = [self._joined(arrays) for arrays in zip(*(part.inputs for part in parts))]
        except ValueError as error:
            problem = errors.invalid(f"Dimensions of inputs should match: {error}")
            for part in parts:
                part.waiting.settle(error=problem)
            return
        for part in others:
            empty = [array[:0] for array in part.inputs]
            part.waiting.settle([*empty, np.zeros((0, 3), np.int64), np.int64(part.key)])
        ends = np.cumsum([part.rows for part in parts])
        index = np.stack([[p.key for p in parts], [0, *ends[:-1]], ends], axis=1).astype(np.int64)
        last.waiting.settle([*batched, index, np.int64(last.key)])

    def _joined(self, arrays: Sequence[np.ndarray]) -> np.ndarray:
        rows = sum(map(len, arrays))
        wanted = next((size for size in self._allowed if size >= rows), rows)
        return np.concatenate([*arrays, *[arrays[0][:1]] * (wanted - rows)])


class Unbatcher:
    """Hands rows of batches to the runs that they belong to, whoever comes first."""

    def __init__(self, seconds: float | None) -> None:
        """seconds: that a run waits for its rows; None for however long it takes."""
        self._seconds = seconds
        self._lock = threading.Lock()
        self._there: dict[int, np.ndarray] = {}
        self._waiting: dict[int, Future] = {}

    def take(self, key: int, rows: dict[int, np.ndarray]) -> Future:
        """A Future of the rows of a key; `rows` are those that this run has, of any keys."""
        mine, settled = Future(), []
        with self._lock:
            if key in self._waiting and not self._waiting[key].is_done:
                raise errors.already_exists("Multiple session runs with the same batch key.")
            self._there.update(rows)
            self._waiting[key] = mine
            for other in (key, *rows):
                if other in self._there and other in self._waiting:
                    settled.append((self._waiting.pop(other), self._there.pop(other)))
        for waiting, found in settled:
            waiting.settle(found)
        if not mine.is_done and self._seconds is not None:
            timer = threading.Timer(self._seconds, self._expire, (key, mine))
            timer.daemon = True
            timer.start()
        return mine

    def _expire(self, key: int, waiting: Future) -> None:
        with self._lock:
            if self._waiting.get(key) is waiting:
                del self._waiting[key]
        waiting.settle(
            error=errors.deadline_exceeded("Batched data did not arrive within timeout window.")
        )


class GradientCollector:
    """Brings the gradients of all parts of a batch to the run that computed the batch."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._there: dict[int, np.ndarray] = {}
        self._waiting: list[tuple[list[int], int, Future]] = []

    def add(self, key: int, grad: np.ndarray, keys: list[int], rows: int) -> Future | np.ndarray:
        """Nothing for a run without a batch; else a Future of the gradient of the batch's `rows`.

        keys: of the parts of the batch, in order.
        """
        waiting = Future()
        with self._lock:
            if key in self._there:
                raise errors.already_exists("Multiple session runs with the same batch key.")
            self._there[key] = grad
            if keys:
                self._waiting.append((keys, rows, waiting))
            done = [each for each in self._waiting if all(k in self._there for k in each[0])]
            parts = [[self._there.pop(k) for k in each[0]] for each in done]
            self._waiting = [each for each in self._waiting if each not in done]
        for (_, count, other), found in zip(done, parts):
            whole = np.concatenate(found)
            # What was only there to fill the batch up has no part in any result.
            rest = np.zeros((count - len(whole), *whole.shape[1:]), whole.dtype)
            other.settle(np.concatenate([whole, rest]))
        return waiting if keys else grad[:0]


def _batch(c: KernelContext, inputs: Sequence[np.ndarray]) -> Future:
    def make(name: str) -> Batcher:
        del name
        seconds = c.attr("batch_timeout_micros") * 1e-6
        return Batcher(c.attr("max_batch_size"), seconds, c.attr("allowed_batch_sizes"))

    return kept(c, f"batch/{c.attr('batching_queue')}", make, shares_node_name=True).add(inputs)


def _batch_shapes(c: ShapeContext) -> list[TensorShape]:
    batched = [TensorShape([None]).concatenate(shape[1:]) for shape in c.inputs]
    return [*batched, TensorShape([None, 3]), TensorShape([])]


def _require_index(index: np.ndarray) -> None:
    if index.ndim != 2 or index.shape[1] != 3:
        size = index.shape[1] if index.ndim == 2 else 0
        raise errors.invalid(
            f"Wrong shape for index tensor. Expected 1st dimension size to be 3 ; Got: {size}."
        )


def _unbatch(c: KernelContext, batched: np.ndarray, index: np.ndarray, key: np.ndarray) -> Future:
    _require_index(index)
    if len(index) and (index[:, 1:].min() < 0 or index[:, 2].max() > len(batched)):
        raise errors.invalid(
            "Wrong shape for index tensor. Expected 0th dimension size to be no greater than "
            f"{len(batched)}; Got: {len(index)}."
        )
    rows = {int(k): batched[first:end] for k, first, end in index.tolist()}
    seconds = c.attr("timeout_micros") * 1e-6
    found = kept(c, "unbatch", lambda name: Unbatcher(seconds), shares_node_name=True)
    return found.take(int(key), rows)


def _unbatch_grad(
    c: KernelContext, original: np.ndarray, index: np.ndarray, grad: np.ndarray, key: np.ndarray
) -> Future | np.ndarray:
    _require_index(index)
    found = kept(c, "unbatch_grad", lambda name: GradientCollector(), shares_node_name=True)
    return found.add(int(key), grad, index[:, 0].tolist(), len(original))


def _batch_gradient(op: Operation, *grads: Tensor) -> list[Tensor]:
    *_, index, key = op.outputs
    return [
        raw.Unbatch(
            grad,
            index,
            key,
            timeout_micros=op.get_attr("grad_timeout_micros"),
            shared_name=f"batch_gradient_{op.name}_{i}",
        )
        for i, grad in enumerate(grads[:-2])
    ]


def _batch_function(x: Inliner, op: Operation, inputs: list[Tensor]) -> Steps:
    """A batch, the function of it, and to each run its rows of the results."""
    count = len(op.attr("Tin"))
    name = op.attr("shared_name") or op.name
    settings = {
        key: op.attr(key)
        for key in (
            "num_batch_threads max_batch_size max_enqueued_batches batch_timeout_micros "
            "allowed_batch_sizes container batching_queue"
        ).split()
    }
    batched, index, key = raw.Batch(
        inputs[:count], **settings, grad_timeout_micros=_MOST_MICROS, shared_name=name
    )
    found = yield x.call(op, op.attr("f"), [*batched, *inputs[count:]])
    results = [
        raw.Unbatch(
            result,
            index,
            key,
            timeout_micros=_MOST_MICROS,
            container=op.attr("container"),
            shared_name=f"{name}/{i}",
        )
        for i, result in enumerate(found.outputs)
    ]
    return found._replace(outputs=results)


define(
    "Batch",
    "in_tensors: T -> batched_tensors: T, batch_index: int64, id: int64",
    "num_batch_threads: int; max_batch_size: int; max_enqueued_batches: int = 10; "
    "batch_timeout_micros: int; allowed_batch_sizes: list(int) = []; grad_timeout_micros: int; "
    "container: string = ''; shared_name: string = ''; batching_queue: string = ''; "
    "T: list(type) >= 1",
    shape=_batch_shapes,
    kernel=_batch,
    gradient=_batch_gradient,
    control_flow_role="wait",
    doc="The rows of several runs, given to one of them; which rows are whose, and a key.",
    test={"session_only": True},
)
define(
    "Unbatch",
    "batched_tensor: T, batch_index: int64, id: int64 -> unbatched_tensor: T",
    "timeout_micros: int; container: string = ''; shared_name: string = ''; T: type",
    shape=lambda c: TensorShape([None]).concatenate(c.inputs[0][1:]),
    kernel=_unbatch,
    gradient=lambda op, grad: [
        raw.UnbatchGrad(
            *(op.inputs[0], op.inputs[1], grad, op.inputs[2]),
            shared_name=f"unbatch_gradient_{op.name}",
        ),
        None,
        None,
    ],
    control_flow_role="wait",
    doc="The rows of a batch that belong to this run, which another one may have computed.",
    test={"session_only": True},
)
define(
    "UnbatchGrad",
    "original_input: T, batch_index: int64, grad: T, id: int64 -> batched_grad: T",
    "container: string = ''; shared_name: string = ''; T: type",
    shape=lambda c: unknown_shape(rank=c.inputs[2].ndims),
    kernel=_unbatch_grad,
    gradient=NoGradient("a gradient of Unbatch has none itself"),
    control_flow_role="wait",
    doc="The gradient of a batch, from those of the runs that got its rows.",
    test={"session_only": True},
)
define(
    "BatchFunction",
    "in_tensors: Tin, captured_tensors: Tcaptured -> out_tensors: Tout",
    "f: func; num_batch_threads: int; max_batch_size: int; batch_timeout_micros: int; "
    "max_enqueued_batches: int = 10; allowed_batch_sizes: list(int) = []; "
    "container: string = ''; shared_name: string = ''; batching_queue: string = ''; "
    "Tin: list(type) >= 1; Tcaptured: list(type) >= 0; Tout: list(type) >= 1",
    shape=lambda c: [unknown_shape() for _ in c.attr("Tout")],
    expand=_batch_function,
    gradient=NoGradient("a function of batches is not differentiable"),
    stateful=True,
    doc="The results of a function, computed for the rows of several runs at once.",
    test=lambda: {"needs": "a function"},
)
