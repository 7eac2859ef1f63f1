# SPDX-License-Identifier: Apache-2.0
"""What an ensemble predicts: all trees at once, level by level."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...engine import errors
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.types.shape import TensorShape
from .. import shape_inference

if TYPE_CHECKING:
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from .ensemble import Ensemble, TreeArrays

_DISCRETE = NoGradient("trees are steps")
# Examples times trees that walk at once.
_AT_ONCE = 1 << 20


class _Forest(NamedTuple):
    """The nodes of several trees in one table; children are numbered in that."""

    is_leaf: np.ndarray
    is_equality: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    right: np.ndarray
    value: np.ndarray
    roots: np.ndarray
    weights: np.ndarray


def _forest(ensemble: Ensemble, first: int) -> _Forest:
    trees: list[TreeArrays] = [ensemble.arrays(i) for i in range(first, ensemble.last + 1)]
    sizes = [len(tree.is_leaf) for tree in trees]
    roots = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    offsets = np.repeat(roots, sizes)
    weights = np.array(ensemble.message.tree_weights[first:], np.float32)
    leaf, equality, feature, threshold, left, right, value = (
        np.concatenate([tree[i] for tree in trees]) for i in range(7)
    )
    left, right = left + offsets, right + offsets
    return _Forest(leaf, equality, feature, threshold, left, right, value, roots, weights)


def _next(forest: _Forest, nodes: np.ndarray, features: np.ndarray) -> np.ndarray:
    """The children that examples go to; leaves stay. `features` are [examples, features]."""
    flat = nodes.reshape(len(features), -1)
    found = np.take_along_axis(features, forest.feature[flat], axis=1)
    limit = forest.threshold[flat]
    goes_left = np.where(forest.is_equality[flat], found == limit, found <= limit)
    children = np.where(goes_left, forest.left[flat], forest.right[flat])
    return np.where(forest.is_leaf[flat], flat, children).reshape(nodes.shape)


def _leaves(forest: _Forest, nodes: np.ndarray, features: np.ndarray) -> np.ndarray:
    """The leaves that examples come to from nodes [examples, trees]."""
    while not forest.is_leaf[nodes].all():
        nodes = _next(forest, nodes, features)
    return nodes


def _summed(values: np.ndarray) -> np.ndarray:
    """Sums over the second axis, one tree after another as TensorFlow adds."""
    return np.add.accumulate(values, axis=1, dtype=np.float32)[:, -1]


def _batch(bucketized: list[np.ndarray]) -> np.ndarray:
    return np.stack(bucketized, axis=1).astype(np.int64)


def _predict(c: KernelContext, ensemble: Ensemble, bucketized: list[np.ndarray]) -> np.ndarray:
    features, logits = _batch(bucketized), c.attr("logits_dimension")
    result = np.zeros((len(features), logits), np.float32)
    with ensemble.lock:
        if ensemble.last < 0:
            return result
        forest = _forest(ensemble, 0)
    step = max(1, _AT_ONCE // len(forest.roots))
    for begin in range(0, len(features), step):
        part = features[begin : begin + step]
        nodes = _leaves(forest, np.tile(forest.roots, (len(part), 1)), part)
        result[begin : begin + step] = _summed(_worth(forest, nodes, logits))
    return result


def _worth(forest: _Forest, nodes: np.ndarray, logits: int) -> np.ndarray:
    value = forest.value[nodes]
    if value.shape[-1] != logits:
        raise errors.invalid(
            f"Leaves have {value.shape[-1]} values and logits_dimension is {logits}"
        )
    return forest.weights[:, None] * value


def _corrections(tree: TreeArrays, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where nodes of an earlier step are now, and what their cached values have too little."""
    change = np.zeros((len(nodes), tree.value.shape[1]), np.float32)
    if tree.moved_to is not None and tree.changes is not None:
        nodes, change = tree.moved_to[nodes], tree.changes[nodes]
    return nodes, change - tree.value[nodes]


def _training_predict(
    c: KernelContext,
    ensemble: Ensemble,
    tree_ids: np.ndarray,
    node_ids: np.ndarray,
    bucketized: list[np.ndarray],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    features, logits = _batch(bucketized), c.attr("logits_dimension")
    result = np.zeros((len(features), logits), np.float32)
    last_nodes = np.zeros(len(features), np.int32)
    with ensemble.lock:
        last = ensemble.last
        if last < 0:
            return result, tree_ids.copy(), last_nodes
        for first in np.unique(tree_ids).tolist():
            rows = np.flatnonzero(tree_ids == first)
            forest = _forest(ensemble, first)
            begin = node_ids[rows].astype(np.int64)
            added = np.zeros((len(rows), logits), np.float32)
            known = begin >= 0
            if known.any():
                begin[known], added[known] = _corrections(ensemble.arrays(first), begin[known])
            nodes = np.tile(forest.roots, (len(rows), 1))
            nodes[:, 0] = np.maximum(begin, 0)
            nodes = _leaves(forest, nodes, features[rows])
            worth = _worth(forest, nodes, logits)
            worth[:, 0] = forest.weights[0] * (added + forest.value[nodes[:, 0]])
            result[rows] = _summed(worth)
            last_nodes[rows] = nodes[:, -1] - forest.roots[-1]
    return result, np.full(len(features), last, np.int32), last_nodes


def _debug_outputs(
    c: KernelContext, ensemble: Ensemble, bucketized: list[np.ndarray]
) -> np.ndarray:
    from ...io.protos import DebugOutput

    if c.attr("logits_dimension") != 1:
        raise errors.invalid("Currently only one dimensional outputs are supported.")
    features = _batch(bucketized)
    with ensemble.lock:
        if ensemble.last < 0:
            raise errors.invalid("The ensemble has no trees: train it, with a centered bias.")
        forest = _forest(ensemble, 0)
    result = np.empty(len(features), object)
    for i in range(len(features)):
        ways, path = _way(forest, features[i : i + 1])
        result[i] = DebugOutput(feature_ids=ways, logits_path=path).SerializeToString()
    return result


def _way(forest: _Forest, example: np.ndarray) -> tuple[list[int], list[np.float32]]:
    """The features that an example is split by, and its logits before and after each split."""
    logit = forest.weights[0] * forest.value[0, 0]
    ways: list[int] = []
    path, past = [logit], np.float32(0)
    for tree, root in enumerate(forest.roots.tolist()):
        node = root
        while not forest.is_leaf[node]:
            ways.append(int(forest.feature[node]))
            node = int(_next(forest, np.array([[node]]), example)[0, 0])
            logit = forest.weights[tree] * forest.value[node, 0]
            path.append(logit + past)
        # A root that is a leaf adds nothing, but for the bias.
        if tree == 0 or node > root:
            past = past + logit
    return ways, path


def _batch_size(c: ShapeContext, first: int) -> int | None:
    shape = c.inputs[first].with_rank(1)
    for other in c.inputs[1:]:
        shape = shape_inference.merge(shape, other)
    return shape.as_list()[0]


def _logits_shape(c: ShapeContext) -> TensorShape:
    return TensorShape([_batch_size(c, 1), c.attr("logits_dimension")])


def _training_shapes(c: ShapeContext) -> list[TensorShape]:
    size = _batch_size(c, 3)
    return [TensorShape([size, c.attr("logits_dimension")]), *[TensorShape([size])] * 2]


_FEATURES = "bucketized_features: num_bucketized_features * int32"
_ATTRS = "num_bucketized_features: int >= 1; logits_dimension: int"

define(
    "BoostedTreesPredict",
    f"tree_ensemble_handle: resource, {_FEATURES} -> logits: float32",
    _ATTRS,
    shape=_logits_shape,
    kernel=_predict,
    gradient=_DISCRETE,
    doc="The sums of the leaves that examples come to.",
)
define(
    "BoostedTreesTrainingPredict",
    f"tree_ensemble_handle: resource, cached_tree_ids: int32, cached_node_ids: int32, {_FEATURES} "
    "-> partial_logits: float32, tree_ids: int32, node_ids: int32",
    _ATTRS,
    shape=_training_shapes,
    kernel=_training_predict,
    gradient=_DISCRETE,
    doc="What was added to predictions since examples came to nodes, and where they are now.",
)
define(
    "BoostedTreesExampleDebugOutputs",
    f"tree_ensemble_handle: resource, {_FEATURES} -> examples_debug_outputs_serialized: string",
    _ATTRS,
    shape=lambda c: TensorShape([_batch_size(c, 1)]),
    kernel=_debug_outputs,
    gradient=_DISCRETE,
    doc="The ways of examples through the trees, as serialized DebugOutputs.",
)
