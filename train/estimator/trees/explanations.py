# SPDX-License-Identifier: Apache-2.0
"""What features contribute: to single predictions, and to what trees gained in training."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

# Of the predictions that explanations are made of.
DEBUG_KEY = "_serialized_debug_outputs_proto"


def _by_name(names: Sequence[str], values: Iterable[Any]) -> OrderedDict[str, Any]:
    """Sums by the columns' names, the greatest first."""
    sums: dict[str, Any] = {}
    for name, value in zip(names, values):
        sums[name] = sums.get(name, 0) + value
    return OrderedDict(sorted(sums.items(), key=lambda item: abs(item[1]), reverse=True))


def explained(
    serialized: bytes, names: Sequence[str], is_classification: bool
) -> tuple[Any, OrderedDict[str, Any]]:
    """The bias of a prediction, and what columns added to it.

    Args:
        serialized: a DebugOutput.
        names: of each feature's column.
        is_classification: whether predictions are probabilities.
    """
    from ....io.protos import DebugOutput

    output = DebugOutput.FromString(serialized)
    path = np.array(output.logits_path)
    if is_classification:
        path = 1 / (1 + np.exp(-path))
    ways = np.array(output.feature_ids, np.int64)
    parts = np.bincount(ways, weights=np.diff(path), minlength=len(names))
    return path[0], _by_name(names, parts)


def importances(serialized: bytes, names: Sequence[str], normalize: bool) -> OrderedDict[str, Any]:
    """What splits by each column gained.

    Args:
        serialized: a TreeEnsemble.
        names: of each feature's column.
        normalize: whether they are to sum to one.

    Raises:
        ValueError: there are no trees, or splits that are no bucketized ones.
        AssertionError: what is to sum to one is negative or nothing.
    """
    from ....io.protos import TreeEnsemble

    if not serialized:
        raise ValueError(
            "Found empty serialized string for TreeEnsemble.You should only call this method after "
            "training."
        )
    ensemble = TreeEnsemble.FromString(serialized)
    gains = np.zeros(len(names))
    for tree, weight in zip(ensemble.trees, ensemble.tree_weights):
        for node in tree.nodes:
            kind = node.WhichOneof("node")
            if kind == "bucketized_split":
                gains[node.bucketized_split.feature_id] += weight * node.metadata.gain
            elif kind != "leaf":
                raise ValueError(f"Unexpected split type {kind}")
    if normalize:
        if not np.all(gains >= 0):
            raise AssertionError("feature_importances must be non-negative.")
        if not gains.sum() > 0:
            raise AssertionError("Trees are all empty or contain only a root node.")
        gains /= gains.sum()
    return _by_name(names, gains)
