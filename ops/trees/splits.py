# SPDX-License-Identifier: Apache-2.0
"""The best splits of nodes, from sums of gradients and hessians by feature and bucket."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.types.shape import TensorShape
from .. import shape_inference
from .gains import Penalty, best, weights_and_gains

if TYPE_CHECKING:
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext

_DISCRETE = NoGradient("chooses splits")
_LEFT, _RIGHT, _EQUAL = (
    *("INEQUALITY_DEFAULT_LEFT", "INEQUALITY_DEFAULT_RIGHT", "EQUALITY_DEFAULT_RIGHT"),
)


class _Sides(NamedTuple):
    """Candidates, in TensorFlow's order: sums of both sides, and where and how it is split."""

    left: np.ndarray  # [candidates, statistics]
    right: np.ndarray
    feature: np.ndarray
    bucket: np.ndarray
    kinds: tuple[str, ...]  # by turns


class _Found(NamedTuple):
    """The best split of a node."""

    node: int
    gain: np.float32
    feature: int
    bucket: int
    left: np.ndarray
    right: np.ndarray
    kind: str


def _best_of(
    node: int, sides: _Sides, logits: int, penalty: Penalty, parent: np.float32
) -> _Found | None:
    """The best of candidates for a node that has a gain as it is."""
    if not len(sides.left):
        return None
    (left, left_gains), (right, right_gains) = (
        weights_and_gains(side[:, :logits], side[:, logits:], penalty)
        for side in (sides.left, sides.right)
    )
    gains = left_gains + right_gains
    place = best(gains)
    if place is None:
        return None
    kind = sides.kinds[place % len(sides.kinds)]
    found = int(sides.feature[place]), int(sides.bucket[place])
    return _Found(node, gains[place] - parent, *found, left[place], right[place], kind)


def _sums(rows: np.ndarray) -> np.ndarray:
    """Sums so far, added one after another."""
    return np.add.accumulate(rows, axis=0, dtype=np.float32)


def _gain(total: np.ndarray, logits: int, penalty: Penalty) -> np.float32:
    return np.float32(weights_and_gains(total[:logits], total[logits:], penalty)[1])


def _gains_per_feature(
    c: KernelContext,
    node_id_range: np.ndarray,
    stats: list[np.ndarray],
    l1: np.ndarray,
    l2: np.ndarray,
    tree_complexity: np.ndarray,
    min_node_weight: np.ndarray,
) -> list[np.ndarray]:
    penalty = Penalty(np.float32(l1), np.float32(l2))
    columns: list[list[np.ndarray]] = [[], [], [], [], []]
    with np.errstate(all="ignore"):
        for summary in stats:
            found = []
            for node in range(*node_id_range.tolist()):
                so_far = _sums(summary[node])
                total = so_far[-1]
                if total[1] < min_node_weight:
                    continue
                buckets = np.arange(len(so_far))
                sides = _Sides(so_far, total - so_far, 0 * buckets, buckets, (_LEFT,))
                parent = _gain(total, 1, penalty)
                one = _best_of(node, sides, 1, penalty, parent)
                found.append(one or _nothing(node, parent))
            for column, values in zip(
                columns, _columns(found, tree_complexity, 1, (0, 1, 3, 4, 5))
            ):
                column.append(values)
    return list(itertools.chain(*columns))


def _nothing(node: int, parent: np.float32) -> _Found:
    """A node without any gain that is a number, as the first version of the op gives it."""
    nothing = np.zeros(1, np.float32)
    return _Found(node, np.finfo(np.float32).min - parent, 0, 0, nothing, nothing, _LEFT)


def _columns(
    found: list[_Found], tree_complexity: np.ndarray, logits: int, wanted: tuple[int, ...]
) -> Iterator[np.ndarray]:
    """The fields of the splits as arrays; each split costs as much as a tree is complex."""
    for i in wanted:
        values = [split[i] for split in found]
        if i == 1:
            yield np.array(values, np.float32) - np.float32(tree_complexity)
        elif i in (4, 5):
            yield np.array(values, np.float32).reshape(-1, logits)
        elif i == 6:
            yield np.array([str(value).encode() for value in values], object)
        else:
            yield np.array(values, np.int32)


def _inequalities(stats: np.ndarray) -> _Sides:
    """Candidates: each bucket of each dimension twice, as missing values go left or right."""
    dimensions, buckets = stats.shape[0], stats.shape[1] - 1
    left, right = [], []
    for dimension in stats:
        so_far = _sums(dimension)
        known, total = so_far[:-1], so_far[-1]
        both = np.stack([known + dimension[-1], known], axis=1).reshape(2 * buckets, -1)
        left.append(both)
        right.append(total - both)
    features = np.repeat(np.arange(dimensions), 2 * buckets)
    bucket = np.tile(np.repeat(np.arange(buckets), 2), dimensions)
    return _Sides(np.concatenate(left), np.concatenate(right), features, bucket, (_LEFT, _RIGHT))


def _equalities(stats: np.ndarray, total: np.ndarray) -> _Sides:
    dimensions, buckets = stats.shape[0], stats.shape[1] - 1
    flat = stats[:, :-1].reshape(dimensions * buckets, -1)
    features = np.repeat(np.arange(dimensions), buckets)
    bucket = np.tile(np.arange(buckets), dimensions)
    return _Sides(flat, total - flat, features, bucket, (_EQUAL,))


def _feature_split(
    c: KernelContext,
    node_id_range: np.ndarray,
    stats: np.ndarray,
    l1: np.ndarray,
    l2: np.ndarray,
    tree_complexity: np.ndarray,
    min_node_weight: np.ndarray,
) -> tuple[np.ndarray, ...]:
    penalty, logits = Penalty(np.float32(l1), np.float32(l2)), c.attr("logits_dimension")
    found = []
    with np.errstate(all="ignore"):
        for node in range(*node_id_range.tolist()):
            # Any dimension's buckets are all of a node's examples: the first one's.
            total = stats[node, 0].sum(axis=0, dtype=np.float32)
            if np.linalg.norm(total[logits:]) < min_node_weight:
                continue
            if c.attr("split_type") == "inequality":
                sides = _inequalities(stats[node])
            else:
                sides = _equalities(stats[node], total)
            one = _best_of(node, sides, logits, penalty, _gain(total, logits, penalty))
            if one is not None:
                found.append(one)
    return tuple(_columns(found, tree_complexity, logits, (0, 1, 2, 3, 4, 5, 6)))


def _sparse_feature_split(
    c: KernelContext,
    node_id_range: np.ndarray,
    indices: np.ndarray,
    values: np.ndarray,
    shape: np.ndarray,
    l1: np.ndarray,
    l2: np.ndarray,
    tree_complexity: np.ndarray,
    min_node_weight: np.ndarray,
) -> tuple[np.ndarray, ...]:
    penalty, missing = Penalty(np.float32(l1), np.float32(l2)), int(shape[2]) - 1
    found: list[_Found] = []
    starts: list[int] = np.flatnonzero(np.diff(indices[:, 0], prepend=-1)).tolist()
    with np.errstate(all="ignore"):
        for begin, end in zip(starts, [*starts[1:], len(indices)]):
            node = int(indices[begin, 0])
            rows = _by_bucket(indices[begin:end], values[begin:end], int(shape[3]))
            one = _best_sparse(node, rows, missing, penalty, np.float32(min_node_weight))
            if one is not None:
                found.append(one)
    return tuple(_columns(found, tree_complexity, 1, (0, 1, 2, 3, 4, 5, 6)))


_Rows = dict[int, dict[int, np.ndarray]]


def _by_bucket(indices: np.ndarray, values: np.ndarray, width: int) -> _Rows:
    """A node's sums by dimension and bucket, both in their order."""
    rows: _Rows = {}
    for (_, feature, bucket, place), value in zip(indices.tolist(), values):
        of_feature = rows.setdefault(feature, {})
        of_feature.setdefault(bucket, np.zeros(width, np.float32))[place] = value
    return {key: dict(sorted(of_key.items())) for key, of_key in sorted(rows.items())}


def _best_sparse(
    node: int, rows: _Rows, missing: int, penalty: Penalty, least: np.float32
) -> _Found | None:
    # All examples are in the buckets of each dimension; TensorFlow takes the first one's.
    total = _sums(np.stack(list(next(iter(rows.values())).values())))[-1]
    if total[1] < least:
        return None
    left, right, features, buckets = [], [], [], []
    for feature, by_bucket in rows.items():
        default = by_bucket.get(missing, np.zeros_like(total))
        known = [bucket for bucket in by_bucket if bucket != missing]
        if not known:
            continue
        so_far = _sums(np.stack([by_bucket[bucket] for bucket in known]))
        left.append(np.stack([so_far, so_far + default], axis=1).reshape(-1, total.size))
        rest = np.stack([total - so_far, total - default - so_far], axis=1)
        right.append(rest.reshape(-1, total.size))
        features += [feature] * 2 * len(known)
        buckets += np.repeat(known, 2).tolist()
    if not left:
        return None
    places = np.array(features), np.array(buckets)
    sides = _Sides(np.concatenate(left), np.concatenate(right), *places, (_RIGHT, _LEFT))
    return _best_of(node, sides, 1, penalty, _gain(total, 1, penalty))


def _require_scalars(c: ShapeContext, first: int) -> None:
    for shape in c.inputs[first:]:
        shape_inference.ranked(shape, 0)


def _per_feature_shapes(c: ShapeContext) -> list[TensorShape]:
    count = c.attr("num_features")
    shape_inference.merge(c.inputs[0], TensorShape([2]))
    base = c.inputs[1].with_rank(3)
    shape_inference.merge(base, TensorShape([c.attr("max_splits"), None, 2]))
    for shape in c.inputs[2 : 1 + count]:
        shape_inference.merge(base, shape)
    _require_scalars(c, 1 + count)
    return [TensorShape([None])] * (3 * count) + [TensorShape([None, 1])] * (2 * count)


def _split_shapes(c: ShapeContext) -> list[TensorShape]:
    shape_inference.merge(c.inputs[0], TensorShape([2]))
    if c.op.type == "BoostedTreesCalculateBestFeatureSplit":
        shape_inference.ranked(c.inputs[1], 4)
        _require_scalars(c, 2)
    else:
        for shape, rank in zip(c.inputs[1:4], (2, 1, 1)):
            shape_inference.ranked(shape, rank)
        _require_scalars(c, 4)
    # (Of contributions TensorFlow states vectors, though a run gives matrices.)
    contributions = TensorShape([None, c.attr("logits_dimension")])
    found = TensorShape([None])
    return [*[found] * 4, contributions, contributions, found]


def _range() -> np.ndarray:
    return np.array([0, 2], np.int32)


def _stats() -> np.ndarray:
    return np.array(
        [
            [[0.0, 0.0], [0.08, 0.09], [0.0, 0.0], [0.0, 0.0]],
            [[0.0, 0.0], [-0.15, 0.36], [0.06, 0.07], [0.1, 0.2]],
            [[-0.33, 0.58], [0.0, 0.0], [0.3, 0.4], [0.0, 0.0]],
        ],
        np.float32,
    )


_SCALARS: list[Any] = [np.float32(0.1), np.float32(0.2), np.float32(0.01), np.float32(0.05)]

define(
    "BoostedTreesCalculateBestGainsPerFeature",
    "node_id_range: int32, stats_summary_list: num_features * float32, l1: float32, l2: float32, "
    "tree_complexity: float32, min_node_weight: float32 -> node_ids_list: num_features * int32, "
    "gains_list: num_features * float32, thresholds_list: num_features * int32, "
    "left_node_contribs_list: num_features * float32, "
    "right_node_contribs_list: num_features * float32",
    "max_splits: int >= 1; num_features: int >= 1",
    shape=_per_feature_shapes,
    kernel=_gains_per_feature,
    dynamic_shape=True,
    gradient=_DISCRETE,
    doc="The best split of each node by each feature.",
    test=lambda: {
        "values": [[_range(), [_stats(), _stats()[::-1].copy()], *_SCALARS]],
        "attrs": [{"max_splits": 3}],
    },
)
define(
    "BoostedTreesCalculateBestFeatureSplit",
    "node_id_range: int32, stats_summary: float32, l1: float32, l2: float32, "
    "tree_complexity: float32, min_node_weight: float32 -> node_ids: int32, gains: float32, "
    "feature_dimensions: int32, thresholds: int32, left_node_contribs: float32, "
    "right_node_contribs: float32, split_with_default_directions: string",
    "logits_dimension: int >= 1; split_type: {'inequality', 'equality'} = 'inequality'",
    shape=_split_shapes,
    kernel=_feature_split,
    dynamic_shape=True,
    gradient=_DISCRETE,
    doc="The best split of each node by the dimensions of one feature.",
    test=lambda: {
        "values": [[_range(), np.stack([_stats(), _stats()[:, ::-1]], axis=1).copy(), *_SCALARS]],
        "attrs": [
            {"logits_dimension": 1, "split_type": kind} for kind in ("inequality", "equality")
        ],
    },
)
define(
    "BoostedTreesSparseCalculateBestFeatureSplit",
    "node_id_range: int32, stats_summary_indices: int32, stats_summary_values: float32, "
    "stats_summary_shape: int32, l1: float32, l2: float32, tree_complexity: float32, "
    "min_node_weight: float32 -> node_ids: int32, gains: float32, feature_dimensions: int32, "
    "thresholds: int32, left_node_contribs: float32, right_node_contribs: float32, "
    "split_with_default_directions: string",
    "logits_dimension: int >= 1; split_type: {'inequality'} = 'inequality'",
    shape=_split_shapes,
    kernel=_sparse_feature_split,
    dynamic_shape=True,
    gradient=_DISCRETE,
    doc="The same from sums of which most are none.",
    test=lambda: {
        "values": [
            [
                _range(),
                np.array(
                    [[0, 0, b, s] for b in (1, 3) for s in (0, 1)]
                    + [[1, 1, b, s] for b in (0, 2) for s in (0, 1)],
                    np.int32,
                ),
                np.array([0.08, 0.09, -0.15, 0.36, 0.06, 0.07, 0.1, 0.2], np.float32),
                np.array([3, 2, 4, 2], np.int32),
                *_SCALARS,
            ]
        ],
        "attrs": [{"logits_dimension": 1}],
    },
)
