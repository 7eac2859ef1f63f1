# SPDX-License-Identifier: Apache-2.0
"""Pruning of whole trees: splits that gain nothing become leaves again, from the bottom up."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np

from .ensemble import node_values

# Parent of a node that goes, and how much more the parent is worth.
_Gone = dict[int, tuple[int, np.ndarray]]


class Pruning(enum.IntEnum):
    """When splits without a gain are dropped."""

    NONE = 0
    PRE = 1
    POST = 2


def _undo(nodes: Any, node_id: int, gone: _Gone) -> None:
    """Makes a node a leaf, and its subtree's nodes before, where nothing below it gains."""
    node = nodes[node_id]
    if node.WhichOneof("node") == "leaf":
        return
    children = node.bucketized_split.left_id, node.bucketized_split.right_id
    for child in children:
        _undo(nodes, child, gone)
    leaves = all(nodes[child].WhichOneof("node") == "leaf" for child in children)
    if not (node.metadata.gain < 0 and leaves):
        return
    node.leaf.CopyFrom(node.metadata.original_leaf)
    node.leaf.SetInParent()
    worth = np.array(node_values(node), np.float32)
    for child in children:
        gone[child] = node_id, worth - np.array(node_values(nodes[child]), np.float32)
    node.ClearField("metadata")


def prune(tree: Any, metadata: Any) -> None:
    """Prunes a tree, and says in its metadata what became of each node.

    Predictions that were made before can so be put right.
    """
    gone: _Gone = {}
    _undo(tree.nodes, 0, gone)
    if not gone:
        return
    numbers: dict[int, int] = {}
    for node_id in range(len(tree.nodes)):
        change, stays = np.zeros(1, np.float32), node_id
        while stays in gone:
            stays, more = gone[stays]
            change = change + more
        numbers.setdefault(stays, len(numbers))
        update = metadata.post_pruned_nodes_meta.add()
        update.new_node_id = numbers[stays]
        update.logit_change.extend(change.tolist())
    kept = [node for node_id, node in enumerate(tree.nodes) if node_id not in gone]
    for node in kept:
        if node.WhichOneof("node") == "bucketized_split":
            split = node.bucketized_split
            split.left_id, split.right_id = numbers[split.left_id], numbers[split.right_id]
    copies = [type(node).FromString(node.SerializeToString()) for node in kept]
    del tree.nodes[:]
    tree.nodes.extend(copies)
