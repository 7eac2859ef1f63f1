# SPDX-License-Identifier: Apache-2.0
"""Sums of gradients and hessians by node, feature and bucket."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...engine import errors
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.types.shape import TensorShape, shape_text
from .. import shape_inference

if TYPE_CHECKING:
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext

_DISCRETE = NoGradient("counts by bucket")


def _added(places: np.ndarray, values: np.ndarray, count: int) -> np.ndarray:
    """Sums of the rows of [rows, stats] by place: float64 [count, stats]."""
    columns = [np.bincount(places, column, count) for column in values.T.astype(np.float64)]
    return np.stack(columns, axis=-1)


def _require_below(what: str, values: np.ndarray, limit: int) -> None:
    # TensorFlow 1.15 writes past the end of its memory then.
    if values.size and not (values.min() >= 0 and values.max() < limit):
        raise errors.invalid(
            f"{what} must be in [0, {limit}), got values from {values.min()} to {values.max()}"
        )


def _make_summary(
    c: KernelContext,
    node_ids: np.ndarray,
    gradients: np.ndarray,
    hessians: np.ndarray,
    features: list[np.ndarray],
) -> np.ndarray:
    splits, buckets = c.attr("max_splits"), c.attr("num_buckets")
    stats = np.concatenate([gradients[:, :1], hessians[:, :1]], axis=1)
    _require_below("node_ids", node_ids, splits)
    result = np.empty((len(features), splits, buckets, 2), np.float32)
    for i, feature in enumerate(features):
        _require_below("bucketized_features", feature, buckets)
        places = node_ids.astype(np.int64) * buckets + feature
        result[i] = _added(places, stats, splits * buckets).reshape(splits, buckets, 2)
    return result


def _aggregate(
    c: KernelContext,
    node_ids: np.ndarray,
    gradients: np.ndarray,
    hessians: np.ndarray,
    feature: np.ndarray,
) -> np.ndarray:
    # The last bucket is of missing values.
    splits, buckets = c.attr("max_splits"), c.attr("num_buckets") + 1
    stats, dimensions = np.concatenate([gradients, hessians], axis=1), feature.shape[1]
    bucket = np.where(feature == -1, buckets - 1, feature)
    _require_below("node_ids", node_ids, splits)
    _require_below("feature", bucket, buckets)
    rows = node_ids.astype(np.int64)[:, None] * dimensions + np.arange(dimensions)
    places = (rows * buckets + bucket).reshape(-1)
    found = _added(places, np.repeat(stats, dimensions, axis=0), splits * dimensions * buckets)
    return found.reshape(splits, dimensions, buckets, -1).astype(np.float32)


def _aggregate_sparse(
    c: KernelContext,
    node_ids: np.ndarray,
    gradients: np.ndarray,
    hessians: np.ndarray,
    indices: np.ndarray,
    values: np.ndarray,
    shape: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    if shape.ndim != 1:
        text = shape_text(shape.shape)
        raise errors.invalid(f"Input shapes should be a vector but received shapes {text}")
    splits, buckets = c.attr("max_splits"), c.attr("num_buckets") + 1
    stats, dimensions = np.concatenate([gradients, hessians], axis=1), int(shape[1])
    examples, width = stats.shape
    bucket = np.full((examples, dimensions), buckets - 1, np.int64)
    _require_below("feature_indices", indices[:, 0], examples)
    _require_below("feature_indices", indices[:, 1], dimensions)
    _require_below("feature_values", values, buckets)
    _require_below("node_ids", node_ids, splits)
    bucket[indices[:, 0], indices[:, 1]] = values
    # In the order of keys (node, dimension, bucket); those that have no example are left out.
    rows = node_ids.astype(np.int64)[:, None] * dimensions + np.arange(dimensions)
    keys, places = np.unique((rows * buckets + bucket).reshape(-1), return_inverse=True)
    sums = np.zeros((len(keys), width), np.float32)
    # (In float32, one after another, as TensorFlow adds.)
    np.add.at(sums, places, np.repeat(stats, dimensions, axis=0))
    node, feature, place = np.unravel_index(keys, (splits, max(dimensions, 1), buckets))
    where = np.stack([node, feature, place], axis=1).repeat(width, axis=0)
    which = np.tile(np.arange(width), len(keys))[:, None]
    full = np.array([splits, dimensions, buckets, width], np.int32)
    return np.concatenate([where, which], axis=1).astype(np.int32), sums.reshape(-1), full


def _same_batch(c: ShapeContext, *places: int) -> None:
    for i in places:
        shape_inference.merge(TensorShape([c.inputs[0].with_rank(1)[0]]), c.inputs[i][:1])


def _summary_shape(c: ShapeContext) -> TensorShape:
    count = c.attr("num_features")
    shape_inference.ranked(c.inputs[0], 1)
    shape_inference.merge(c.inputs[1].with_rank(2), c.inputs[2].with_rank(2))
    for shape in c.inputs[3:]:
        shape_inference.ranked(shape, 1)
    _same_batch(c, *range(1, 3 + count))
    return TensorShape([count, c.attr("max_splits"), c.attr("num_buckets"), 2])


def _require_ranks(c: ShapeContext, ranks: tuple[int, ...]) -> None:
    for shape, rank in zip(c.inputs, ranks):
        shape_inference.ranked(shape, rank)


def _aggregate_shape(c: ShapeContext) -> TensorShape:
    _require_ranks(c, (1, 2, 2, 2))
    _same_batch(c, 1, 2, 3)
    gradient, hessian, feature = (c.inputs[i].with_rank(2).as_list()[1] for i in (1, 2, 3))
    width = None if gradient is None or hessian is None else gradient + hessian
    buckets = c.attr("num_buckets") + 1
    return TensorShape([c.attr("max_splits"), feature, buckets, width])


def _sparse_shapes(c: ShapeContext) -> list[TensorShape]:
    _require_ranks(c, (1, 2, 2, 2, 1, 1))
    _same_batch(c, 1, 2)
    shape_inference.merge(c.inputs[3].with_rank(2)[:1], c.inputs[4])
    shape_inference.merge(c.inputs[5], TensorShape([2]))
    return [TensorShape([None, 4]), TensorShape([None]), TensorShape([4])]


def _nodes() -> np.ndarray:
    return np.array([0, 1, 1, 0, 2], np.int32)


def _gradients() -> np.ndarray:
    return np.array([[0.1], [0.33], [-0.2], [0.7], [0.05]], np.float32)


def _hessians() -> np.ndarray:
    return np.array([[0.2], [0.1], [0.4], [0.03], [0.5]], np.float32)


def _buckets() -> np.ndarray:
    return np.array([0, 3, 1, 0, 2], np.int32)


_ATTRS = "max_splits: int >= 1; num_buckets: int >= 1"

define(
    "BoostedTreesMakeStatsSummary",
    "node_ids: int32, gradients: float32, hessians: float32, "
    "bucketized_features_list: num_features * int32 -> stats_summary: float32",
    f"{_ATTRS}; num_features: int >= 1",
    shape=_summary_shape,
    kernel=_make_summary,
    gradient=_DISCRETE,
    doc="Sums of gradients and hessians by feature, node and bucket.",
    test=lambda: {
        "values": [[_nodes(), _gradients(), _hessians(), [_buckets(), _buckets()[::-1].copy()]]],
        "attrs": [{"max_splits": 3, "num_buckets": 4}],
    },
)
define(
    "BoostedTreesAggregateStats",
    "node_ids: int32, gradients: float32, hessians: float32, feature: int32 -> "
    "stats_summary: float32",
    _ATTRS,
    shape=_aggregate_shape,
    kernel=_aggregate,
    gradient=_DISCRETE,
    doc="Sums by node, dimension of a feature and bucket; the last bucket is of missing values.",
    test=lambda: {
        "values": [
            [
                *(_nodes(), np.tile(_gradients(), 2), np.tile(_hessians(), 2)),
                np.stack([_buckets(), _buckets()[::-1] - 1], axis=1).astype(np.int32),
            ]
        ],
        "attrs": [{"max_splits": 3, "num_buckets": 4}],
    },
)
define(
    "BoostedTreesSparseAggregateStats",
    "node_ids: int32, gradients: float32, hessians: float32, feature_indices: int32, "
    "feature_values: int32, feature_shape: int32 -> stats_summary_indices: int32, "
    "stats_summary_values: float32, stats_summary_shape: int32",
    _ATTRS,
    shape=_sparse_shapes,
    kernel=_aggregate_sparse,
    dynamic_shape=True,
    gradient=_DISCRETE,
    doc="The same of a sparse feature, as a sparse tensor.",
    test=lambda: {
        "values": [
            [
                *(_nodes(), _gradients(), _hessians()),
                np.array([[0, 1], [1, 0], [3, 0], [3, 1]], np.int32),
                np.array([3, 1, 2, 0], np.int32),
                np.array([5, 2], np.int32),
            ]
        ],
        "attrs": [{"max_splits": 3, "num_buckets": 4}],
    },
)
