# SPDX-License-Identifier: Apache-2.0
"""An ensemble of trees: TensorFlow's message, and arrays of it that examples walk through."""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

import numpy as np

from ...engine import errors

# Layer by layer the learning rate is in the leaves, so every tree weighs the same.
_TREE_WEIGHT = 1.0
_NO_STAMP = -1


class Split(NamedTuple):
    """The best found split of a node."""

    feature: int
    gain: np.float32
    threshold: int
    dimension: int
    left: np.float32
    right: np.float32
    kind: str


class TreeArrays(NamedTuple):
    """The nodes of a tree; where it was pruned, also what became of those before."""

    is_leaf: np.ndarray
    is_equality: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    right: np.ndarray
    # [nodes, dimensions]: of leaves, and what nodes were worth before they were split.
    value: np.ndarray
    moved_to: np.ndarray | None
    changes: np.ndarray | None


def _leaf_values(leaf: Any) -> list[float]:
    return list(leaf.vector.value) if leaf.HasField("vector") else [leaf.scalar]


def node_values(node: Any) -> list[float]:
    """What a leaf is worth, or what a node was before its split; nothing of a first one."""
    if node.WhichOneof("node") == "leaf":
        return _leaf_values(node.leaf)
    if node.metadata.HasField("original_leaf"):
        return _leaf_values(node.metadata.original_leaf)
    return []


def _arrays(tree: Any, metadata: Any) -> TreeArrays:
    count = len(tree.nodes)
    leaf, equality = np.zeros(count, bool), np.zeros(count, bool)
    feature, threshold, left, right = (np.zeros(count, np.int64) for _ in range(4))
    values = [node_values(node) for node in tree.nodes]
    value = np.zeros((count, max(map(len, values), default=1) or 1), np.float32)
    for i, node in enumerate(tree.nodes):
        value[i, : len(values[i])] = values[i]
        kind = node.WhichOneof("node")
        if kind == "leaf":
            leaf[i] = True
            continue
        if kind not in ("bucketized_split", "categorical_split"):
            raise errors.internal(f"Node type {kind} not supported.")
        split = getattr(node, kind)
        equality[i] = kind == "categorical_split"
        threshold[i] = split.value if equality[i] else split.threshold
        feature[i], left[i], right[i] = split.feature_id, split.left_id, split.right_id
    moved, changes = None, None
    if metadata is not None and metadata.is_finalized and metadata.post_pruned_nodes_meta:
        updates = metadata.post_pruned_nodes_meta
        moved = np.array([update.new_node_id for update in updates], np.int64)
        changes = np.array([list(update.logit_change) for update in updates], np.float32)
    return TreeArrays(leaf, equality, feature, threshold, left, right, value, moved, changes)


class Ensemble:
    """The trees, and a stamp that every change counts up."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.lock = threading.RLock()
        self.is_created = False
        self.stamp = _NO_STAMP
        self._message: Any = None
        # By tree; None where the message changed since.
        self._arrays: list[TreeArrays | None] = []

    @property
    def message(self) -> Any:
        """The TreeEnsemble; NotFoundError before it is there."""
        if not self.is_created:
            raise errors.not_found(
                f"Resource localhost/{self.name}/BoostedTreesEnsembleResource does not exist."
            )
        return self._message

    def load(self, stamp: int, serialized: bytes) -> None:
        """Puts what a message holds in place of everything."""
        from google.protobuf.message import DecodeError

        from ...io.protos import TreeEnsemble

        try:
            self._message = TreeEnsemble.FromString(serialized)
        except DecodeError:
            raise errors.invalid("Unable to parse tree ensemble proto.") from None
        self.is_created, self.stamp = True, stamp
        self._arrays = [None] * len(self._message.trees)

    def create(self, stamp: int, serialized: bytes) -> None:
        """The same, unless something is there."""
        if not self.is_created:
            self.load(stamp, serialized)

    def arrays(self, tree: int) -> TreeArrays:
        """The arrays of a tree."""
        found = self._arrays[tree]
        if found is None:
            message = self.message
            # (What somebody else made may say nothing of its trees.)
            metadata = message.tree_metadata[tree] if tree < len(message.tree_metadata) else None
            found = self._arrays[tree] = _arrays(message.trees[tree], metadata)
        return found

    @property
    def last(self) -> int:
        """The number of the latest tree; -1 if there is none."""
        return len(self.message.trees) - 1

    def changed(self, tree: int) -> Any:
        """A tree whose arrays are to be made again."""
        self._arrays[tree] = None
        return self.message.trees[tree]

    def add_tree(self, value: float = 0.0) -> int:
        """One more tree, of one leaf; its number."""
        message = self.message
        message.trees.add().nodes.add().leaf.scalar = value
        message.tree_weights.append(_TREE_WEIGHT)
        message.tree_metadata.add()
        self._arrays.append(None)
        return self.last

    def begin_layer(self) -> int:
        """Counts an attempt to grow a layer; the tree that it is of."""
        message = self.message
        growing, count = message.growing_metadata, len(message.trees)
        growing.num_layers_attempted += 1
        is_first = count == 1 or (count > 1 and message.tree_metadata[count - 2].is_finalized)
        if not count or (is_first and len(message.trees[-1].nodes) == 1):
            growing.num_trees_attempted += 1
        return self.last if count else self.add_tree()

    def split(self, tree: int, node_id: int, split: Split) -> None:
        """Makes a leaf an inner node with two leaves."""
        nodes = self.changed(tree).nodes
        node, left = nodes[node_id], len(nodes)
        before = np.float32(node.leaf.scalar)
        if node_id or before:
            node.metadata.original_leaf.CopyFrom(node.leaf)
            node.metadata.original_leaf.SetInParent()
        node.metadata.gain = split.gain
        for contribution in (split.left, split.right):
            nodes.add().leaf.scalar = before + contribution
        if split.kind == "EQUALITY_DEFAULT_RIGHT":
            made = node.categorical_split
            made.value = split.threshold
        else:
            made = node.bucketized_split
            made.threshold = split.threshold
            made.default_direction = int(split.kind == "INEQUALITY_DEFAULT_RIGHT")
        made.feature_id, made.dimension_id = split.feature, split.dimension
        made.left_id, made.right_id = left, left + 1

    def grow(self, splits: dict[int, Split], max_depth: int, pruning: int) -> None:
        """Adds a layer of splits by node; a whole tree is followed by an empty one.

        Args:
            splits: those found, by the number of their node.
            max_depth: the number of layers of a whole tree.
            pruning: one of `Pruning`.
        """
        from .pruning import Pruning, prune

        tree = self.begin_layer()
        if not splits:
            return
        kept = {
            node: split
            for node, split in sorted(splits.items())
            if pruning != Pruning.PRE or not split.gain < 0
        }
        first = len(self.message.trees[tree].nodes)
        for node_id, split in kept.items():
            self.split(tree, node_id, split)
        if not kept:
            return
        metadata = self.message.tree_metadata[tree]
        metadata.num_layers_grown += 1
        begin, end = first, len(self.message.trees[tree].nodes)
        if metadata.num_layers_grown >= max_depth:
            begin, end = 0, 1
            metadata.is_finalized = True
            if pruning == Pruning.POST:
                prune(self.changed(tree), metadata)
            self.add_tree()
        growing = self.message.growing_metadata
        growing.last_layer_node_start, growing.last_layer_node_end = begin, end
