# SPDX-License-Identifier: Apache-2.0
"""The ops on streams of quantiles, and buckets between their boundaries."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np

from ...engine import errors
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.types.shape import TensorShape
from .. import shape_inference
from ..state.shared_state import kept
from .quantiles import Stream, boundaries, quantiles

if TYPE_CHECKING:
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext

_DISCRETE = NoGradient("counts ranks")


class Streams:
    """One stream for each feature, and the boundaries that were found."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.lock = threading.RLock()
        self._streams: list[Stream] | None = None
        self.boundaries: list[np.ndarray] = []
        self._settings: tuple[float, int] = (1.0, 1)

    @property
    def is_created(self) -> bool:
        """Whether there are streams."""
        return self._streams is not None

    @property
    def streams(self) -> list[Stream]:
        """The streams; NotFoundError before they are there."""
        if self._streams is None:
            kind = "BoostedTreesQuantileStreamResource"
            raise errors.not_found(f"Resource localhost/{self.name}/{kind} does not exist.")
        return self._streams

    def create(self, error: float, most: int, count: int) -> None:
        """Makes the streams, unless they are there."""
        if self._streams is None:
            self._settings = error, most
            self._streams = [Stream(error, most) for _ in range(count)]
            self.boundaries = [np.zeros(0, np.float32)] * count

    def finish(self) -> list[np.ndarray]:
        """The summaries of all streams, which begin anew."""
        summaries = [stream.finish() for stream in self.streams]
        self._streams = [Stream(*self._settings) for _ in summaries]
        return summaries


def _require_count(found: int, given: int) -> None:
    if found != given:
        raise errors.invalid(f"There are {found} streams of quantiles, and {given} were asked for")


def _create(c: KernelContext, streams: Streams, epsilon: np.ndarray, count: np.ndarray) -> None:
    if not epsilon > 0:
        raise errors.invalid("An epsilon value of zero is not allowed.")
    with streams.lock:
        streams.create(float(epsilon), c.attr("max_elements"), int(count))


def _make_summaries(
    c: KernelContext, values: list[np.ndarray], weights: np.ndarray, epsilon: np.ndarray
) -> list[np.ndarray]:
    size = values[0].size if values else weights.size
    if weights.size not in (1, size):
        raise errors.invalid("Weights should be a single value or same size as features.")
    each = np.broadcast_to(weights.reshape(-1), (size,))
    found = []
    for column in values:
        stream = Stream(float(epsilon), size + 1)
        stream.push_values(column.reshape(-1), each)
        found.append(stream.finish())
    return found


def _add_summaries(c: KernelContext, streams: Streams, summaries: list[np.ndarray]) -> None:
    with streams.lock:
        _require_count(len(streams.streams), len(summaries))
        for stream, summary in zip(streams.streams, summaries):
            if summary.shape[1] != 4:
                raise errors.invalid(f"Summaries have 4 columns, got {summary.shape[1]}")
            stream.push(summary)


def _flush_summaries(c: KernelContext, streams: Streams) -> list[np.ndarray]:
    with streams.lock:
        _require_count(len(streams.streams), c.attr("num_features"))
        return streams.finish()


def _flush(c: KernelContext, streams: Streams, num_buckets: np.ndarray) -> None:
    find = quantiles if c.attr("generate_quantiles") else boundaries
    with streams.lock:
        streams.boundaries = [find(rows, int(num_buckets)) for rows in streams.finish()]


def _deserialize(c: KernelContext, streams: Streams, given: list[np.ndarray]) -> None:
    with streams.lock:
        _require_count(len(streams.streams), len(given))
        streams.boundaries = [values.reshape(-1).copy() for values in given]


def _get_boundaries(c: KernelContext, streams: Streams) -> list[np.ndarray]:
    with streams.lock:
        _require_count(len(streams.streams), c.attr("num_features"))
        return list(streams.boundaries)


def _bucketize(
    c: KernelContext, values: list[np.ndarray], limits: list[np.ndarray]
) -> list[np.ndarray]:
    if limits and limits[0].ndim != 1:
        raise errors.invalid("Buckets should be flat vectors.")
    found = []
    for column, limit in zip(values, limits):
        places = np.searchsorted(limit.reshape(-1), column.reshape(-1))
        # What is above all boundaries is in the last bucket.
        found.append(np.clip(places, 0, max(limit.size - 1, 0)).astype(np.int32))
    return found


def _summaries_shapes(c: ShapeContext) -> list[TensorShape]:
    *values, weights, epsilon = c.inputs
    for shape in (*values, weights):
        shape_inference.ranked(shape, 1)
    shape_inference.ranked(epsilon, 0)
    return [TensorShape([None, 4])] * c.attr("num_features")


def _added_shapes(c: ShapeContext) -> list[TensorShape]:
    for shape in c.inputs[1:]:
        shape_inference.ranked(shape, 2)
    return []


def _bucketized_shapes(c: ShapeContext) -> list[TensorShape]:
    values = c.inputs[: c.attr("num_features")]
    for shape in values:
        shape_inference.merge(values[0].with_rank(1), shape.with_rank(1))
    return list(values)


def _values() -> np.ndarray:
    return np.array([3.0, -1.5, 0.25, 7.0, 3.0, 2.0], np.float32)


_HANDLE = "quantile_stream_resource_handle: resource"

define(
    "BoostedTreesQuantileStreamResourceHandleOp",
    "-> resource: resource",
    "container: string = ''; shared_name: string = ''",
    shape=lambda c: TensorShape([]),
    kernel=lambda c: kept(c, "quantile streams", Streams),
    gradient=_DISCRETE,
    stateful=True,
    doc="A handle to streams of quantiles.",
)
define(
    "IsBoostedTreesQuantileStreamResourceInitialized",
    f"{_HANDLE} -> is_initialized: bool",
    shape=shape_inference.scalars,
    kernel=lambda c, streams: np.asarray(streams.is_created),
    gradient=_DISCRETE,
    stateful=True,
    doc="Whether the streams were made.",
)
define(
    "BoostedTreesCreateQuantileStreamResource",
    f"{_HANDLE}, epsilon: float32, num_streams: int64 ->",
    "max_elements: int = 1099511627776",
    shape=shape_inference.scalars,
    kernel=_create,
    gradient=_DISCRETE,
    stateful=True,
    doc="Makes the streams; does nothing if they are there.",
)
define(
    "BoostedTreesMakeQuantileSummaries",
    "float_values: num_features * float32, example_weights: float32, epsilon: float32 -> "
    "summaries: num_features * float32",
    "num_features: int >= 0",
    shape=_summaries_shapes,
    kernel=_make_summaries,
    dynamic_shape=True,
    gradient=_DISCRETE,
    doc="Summaries of values: each kept value, its weight, and its least and greatest rank.",
    test=lambda: {
        "values": [
            [
                [_values(), _values() * 2],
                np.array([1, 2, 0.5, 0, 1, 3], np.float32),
                np.float32(0.1),
            ],
            [[_values()], np.array([2.0], np.float32), np.float32(0.4)],
        ],
    },
)
define(
    "BoostedTreesQuantileStreamResourceAddSummaries",
    f"{_HANDLE}, summaries: num_features * float32 ->",
    "num_features: int >= 0",
    shape=_added_shapes,
    kernel=_add_summaries,
    gradient=_DISCRETE,
    stateful=True,
    doc="Adds the values of summaries to the streams.",
)
define(
    "BoostedTreesFlushQuantileSummaries",
    f"{_HANDLE} -> summaries: num_features * float32",
    "num_features: int >= 0",
    shape=lambda c: [TensorShape([None, 4])] * c.attr("num_features"),
    kernel=_flush_summaries,
    gradient=_DISCRETE,
    stateful=True,
    doc="The summaries of the streams, which begin anew.",
)
define(
    "BoostedTreesQuantileStreamResourceFlush",
    f"{_HANDLE}, num_buckets: int64 ->",
    "generate_quantiles: bool = false",
    shape=shape_inference.scalars,
    kernel=_flush,
    gradient=_DISCRETE,
    stateful=True,
    doc="Finds the boundaries of so many buckets; the streams begin anew.",
)
define(
    "BoostedTreesQuantileStreamResourceDeserialize",
    f"{_HANDLE}, bucket_boundaries: num_streams * float32 ->",
    "num_streams: int >= 1",
    kernel=_deserialize,
    gradient=_DISCRETE,
    stateful=True,
    doc="Puts boundaries in place of those that were found.",
)
define(
    "BoostedTreesQuantileStreamResourceGetBucketBoundaries",
    f"{_HANDLE} -> bucket_boundaries: num_features * float32",
    "num_features: int >= 0",
    shape=lambda c: [TensorShape([None])] * c.attr("num_features"),
    kernel=_get_boundaries,
    gradient=_DISCRETE,
    stateful=True,
    doc="The boundaries of the buckets of each stream.",
)
define(
    "BoostedTreesBucketize",
    "float_values: num_features * float32, bucket_boundaries: num_features * float32 -> "
    "buckets: num_features * int32",
    "num_features: int >= 0",
    shape=_bucketized_shapes,
    kernel=_bucketize,
    gradient=_DISCRETE,
    doc="The numbers of the buckets that values fall into.",
    test=lambda: {
        "values": [
            [
                [_values(), _values()[::-1].copy()],
                [np.array([0.0, 2.0, 5.0], np.float32), np.array([-2.0, 3.0], np.float32)],
            ]
        ],
    },
)
