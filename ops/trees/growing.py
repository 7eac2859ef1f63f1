# SPDX-License-Identifier: Apache-2.0
"""The ops on ensembles of trees: made, saved, grown by a layer, centered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.interface.log import get_logger
from ...engine.types.dtypes import boxed
from ...engine.types.shape import TensorShape
from .. import shape_inference
from ..state.shared_state import kept
from .ensemble import Ensemble, Split
from .gains import Penalty, are_equal, is_larger, weights_and_gains

if TYPE_CHECKING:
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext

_STATE = NoGradient("changes trees")
# A bias that moves by less than this part of itself is centered.
_LEAST_MOVE = 0.01
_DEFAULT_KIND = "INEQUALITY_DEFAULT_LEFT"

_Arrays = Sequence[np.ndarray]


def _states(c: KernelContext, ensemble: Ensemble) -> tuple[np.ndarray, ...]:
    with ensemble.lock:
        message = ensemble.message
        count, growing = len(message.trees), message.growing_metadata
        is_whole = not count or message.tree_metadata[count - 1].is_finalized
        numbers = (count, count if is_whole else count - 1, growing.num_layers_attempted)
        # Of an empty ensemble: its first tree will have one node.
        nodes = growing.last_layer_node_start, max(1, growing.last_layer_node_end)
        stamp = np.asarray(ensemble.stamp, np.int64)
        return stamp, *(np.asarray(n, np.int32) for n in numbers), np.array(nodes, np.int32)


def _serialize(c: KernelContext, ensemble: Ensemble) -> tuple[np.ndarray, np.ndarray]:
    with ensemble.lock:
        text = ensemble.message.SerializeToString()
        return np.asarray(ensemble.stamp, np.int64), boxed(text)


def _create(c: KernelContext, ensemble: Ensemble, stamp: np.ndarray, text: np.ndarray) -> None:
    with ensemble.lock:
        ensemble.create(int(stamp), text.item())


def _deserialize(c: KernelContext, ensemble: Ensemble, stamp: np.ndarray, text: np.ndarray) -> None:
    with ensemble.lock:
        if ensemble.message is not None:
            ensemble.load(int(stamp), text.item())


def _offer(best: dict[int, Split], node: int, split: Split) -> None:
    """Takes a split if it is better than the node's; of equals that of the lesser feature."""
    now = best.get(node)
    if now is not None and are_equal(split.gain, now.gain):
        is_better = split.feature < now.feature
    else:
        is_better = now is None or is_larger(split.gain, now.gain)
    if is_better:
        best[node] = split


def _grow(
    ensemble: Ensemble,
    feature_ids: np.ndarray,
    columns: Sequence[_Arrays],
    max_depth: np.ndarray,
    rate: np.ndarray,
    pruning: int,
) -> None:
    """Grows a layer; columns are node, gain, threshold, left, right, dimension and kind."""
    best: dict[int, Split] = {}
    share = np.float32(rate)
    with ensemble.lock, np.errstate(all="ignore"):
        ensemble.stamp += 1
        for feature, *arrays in zip(feature_ids.tolist(), *columns):
            for node, gain, threshold, left, right, dimension, kind in zip(*arrays):
                split = Split(
                    *(feature, gain, int(threshold), int(dimension)),
                    *(share * left[0], share * right[0], kind),
                )
                _offer(best, int(node), split)
        if not best:
            get_logger().warning("Not growing tree ensemble as no good splits were found.")
        ensemble.grow(best, int(max_depth), pruning)


def _update(
    c: KernelContext,
    ensemble: Ensemble,
    feature_ids: np.ndarray,
    node_ids: _Arrays,
    gains: _Arrays,
    thresholds: _Arrays,
    left: _Arrays,
    right: _Arrays,
    max_depth: np.ndarray,
    learning_rate: np.ndarray,
) -> None:
    dimensions = [np.zeros(len(nodes), np.int32) for nodes in node_ids]
    kinds = [np.full(len(nodes), _DEFAULT_KIND, object) for nodes in node_ids]
    columns = (node_ids, gains, thresholds, left, right, dimensions, kinds)
    _grow(ensemble, feature_ids, columns, max_depth, learning_rate, c.attr("pruning_mode"))


def _update_v2(
    c: KernelContext,
    ensemble: Ensemble,
    feature_ids: np.ndarray,
    dimension_ids: _Arrays,
    node_ids: _Arrays,
    gains: _Arrays,
    thresholds: _Arrays,
    left: _Arrays,
    right: _Arrays,
    split_types: _Arrays,
    max_depth: np.ndarray,
    learning_rate: np.ndarray,
    pruning_mode: np.ndarray,
) -> None:
    kinds = [np.array([kind.decode() for kind in of_feature], object) for of_feature in split_types]
    columns = (node_ids, gains, thresholds, left, right, dimension_ids, kinds)
    _grow(ensemble, feature_ids, columns, max_depth, learning_rate, int(pruning_mode))


def _center_bias(
    c: KernelContext,
    ensemble: Ensemble,
    gradients: np.ndarray,
    hessians: np.ndarray,
    l1: np.ndarray,
    l2: np.ndarray,
) -> np.ndarray:
    penalty = Penalty(np.float32(l1), np.float32(l2))
    weights, _ = weights_and_gains(gradients.reshape(-1)[:1], hessians.reshape(-1)[:1], penalty)
    move, goes_on = weights[0], True
    with ensemble.lock, np.errstate(all="ignore"):
        message = ensemble.message
        ensemble.stamp += 1
        if not message.trees:
            ensemble.add_tree(move)
        else:
            leaf = ensemble.changed(0).nodes[0].leaf
            bias = np.float32(leaf.scalar)
            goes_on = bool(abs(move / bias) > _LEAST_MOVE)
            leaf.scalar = bias + move
    return np.asarray(goes_on)


def _states_shapes(c: ShapeContext) -> list[TensorShape]:
    return [*shape_inference.scalars(c)[:4], TensorShape([2])]


def _candidates_shapes(c: ShapeContext, matrices: tuple[int, int], lists: int) -> list[TensorShape]:
    """Lists of vectors, of which two are of matrices of one column; all as long as the nodes."""
    count = c.attr("num_features")
    shape_inference.merge(c.inputs[1], TensorShape([count]))
    nodes = 2 + count * (lists - 5)
    for i in range(count):
        size = c.inputs[nodes + i].with_rank(1)
        for column in range(lists):
            shape = c.inputs[2 + column * count + i]
            wanted = size.concatenate(TensorShape([1])) if column in matrices else size
            if column >= lists - 5:
                shape_inference.merge(shape, wanted)
            else:
                shape_inference.ranked(shape, 1)
    return []


def _update_shapes(c: ShapeContext) -> list[TensorShape]:
    return _candidates_shapes(c, (3, 4), 5)


def _update_v2_shapes(c: ShapeContext) -> list[TensorShape]:
    # Dimensions come before the nodes, kinds of splits behind the contributions.
    return _candidates_shapes(c, (4, 5), 6)


def _center_shape(c: ShapeContext) -> TensorShape:
    shape_inference.merge(c.inputs[1].with_rank(2), c.inputs[2].with_rank(2))
    for shape in c.inputs[3:]:
        shape_inference.ranked(shape, 0)
    return TensorShape([])


define(
    "BoostedTreesEnsembleResourceHandleOp",
    "-> resource: resource",
    "container: string = ''; shared_name: string = ''",
    shape=lambda c: TensorShape([]),
    kernel=lambda c: kept(c, "tree ensemble", Ensemble),
    gradient=_STATE,
    stateful=True,
    doc="A handle to an ensemble of trees.",
)
define(
    "IsBoostedTreesEnsembleInitialized",
    "tree_ensemble_handle: resource -> is_initialized: bool",
    shape=shape_inference.scalars,
    kernel=lambda c, ensemble: np.asarray(ensemble.is_created),
    gradient=_STATE,
    stateful=True,
    doc="Whether the ensemble was made.",
)
define(
    "BoostedTreesCreateEnsemble",
    "tree_ensemble_handle: resource, stamp_token: int64, tree_ensemble_serialized: string ->",
    shape=shape_inference.scalars,
    kernel=_create,
    gradient=_STATE,
    stateful=True,
    doc="Makes an ensemble of a serialized TreeEnsemble; does nothing if there is one.",
)
define(
    "BoostedTreesDeserializeEnsemble",
    "tree_ensemble_handle: resource, stamp_token: int64, tree_ensemble_serialized: string ->",
    shape=shape_inference.scalars,
    kernel=_deserialize,
    gradient=_STATE,
    stateful=True,
    doc="Puts a serialized TreeEnsemble in place of what an ensemble has.",
)
define(
    "BoostedTreesSerializeEnsemble",
    "tree_ensemble_handle: resource -> stamp_token: int64, tree_ensemble_serialized: string",
    shape=shape_inference.scalars,
    kernel=_serialize,
    gradient=_STATE,
    stateful=True,
    doc="The stamp of an ensemble, and the ensemble as a serialized TreeEnsemble.",
)
define(
    "BoostedTreesGetEnsembleStates",
    "tree_ensemble_handle: resource -> stamp_token: int64, num_trees: int32, "
    "num_finalized_trees: int32, num_attempted_layers: int32, last_layer_nodes_range: int32",
    shape=_states_shapes,
    kernel=_states,
    gradient=_STATE,
    stateful=True,
    doc="How far an ensemble has grown, and which nodes are to be split next.",
)
define(
    "BoostedTreesUpdateEnsemble",
    "tree_ensemble_handle: resource, feature_ids: int32, node_ids: num_features * int32, "
    "gains: num_features * float32, thresholds: num_features * int32, "
    "left_node_contribs: num_features * float32, right_node_contribs: num_features * float32, "
    "max_depth: int32, learning_rate: float32 ->",
    "pruning_mode: int >= 0; num_features: int >= 0",
    shape=_update_shapes,
    kernel=_update,
    gradient=_STATE,
    stateful=True,
    doc="Grows a layer by the best of the given splits.",
)
define(
    "BoostedTreesUpdateEnsembleV2",
    "tree_ensemble_handle: resource, feature_ids: int32, dimension_ids: num_features * int32, "
    "node_ids: num_features * int32, gains: num_features * float32, "
    "thresholds: num_features * int32, left_node_contribs: num_features * float32, "
    "right_node_contribs: num_features * float32, split_types: num_features * string, "
    "max_depth: int32, learning_rate: float32, pruning_mode: int32 ->",
    "num_features: int >= 0",
    shape=_update_v2_shapes,
    kernel=_update_v2,
    gradient=_STATE,
    stateful=True,
    doc="The same for splits of several kinds and of dimensions of features.",
)
define(
    "BoostedTreesCenterBias",
    "tree_ensemble_handle: resource, mean_gradients: float32, mean_hessians: float32, "
    "l1: float32, l2: float32 -> continue_centering: bool",
    shape=_center_shape,
    kernel=_center_bias,
    gradient=_STATE,
    stateful=True,
    doc="Moves the first leaf towards the mean of the labels; whether it moved much.",
)
