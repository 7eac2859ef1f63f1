# SPDX-License-Identifier: Apache-2.0
"""Sums down the same columns: clusters that need nothing of each other but read the same values.

Fusion follows what nodes make; this finds what they share beneath.  A gradient that goes into
several sums is read once for all of them.  Imports tensor IR and sizes only.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..kernel import sizes
from ..program.tensor_ir import Node, Reduce, Value, base

if TYPE_CHECKING:
    from .fuse import Alignment, Cluster

# Sums of one loop: each has a block of columns in the first cache.
_MOST_SUMS = 16
# Clusters that read a value are asked, the latest first, for as many.
_MOST_ASKED = 4

Key = tuple[Value, "Alignment"]


class Siblings:
    """Which clusters read which values from memory, at every position of their loops."""

    def __init__(self) -> None:
        self._readers: dict[Key, dict[Cluster, None]] = {}
        self._reads: dict[Cluster, dict[Key, None]] = {}

    def note(self, node: Node, cluster: Cluster) -> None:
        """A node has joined a cluster."""
        alignment = cluster.align[node]
        for value in node.inputs:
            key = value, alignment[len(alignment) - value.ndim :]
            inside = base(value).node in cluster.align
            if not inside and set(key[1]) >= set(range(len(cluster.domain))):
                self._readers.setdefault(key, {})[cluster] = None
                self._reads.setdefault(cluster, {})[key] = None

    def merge(self, old: Cluster, new: Cluster) -> None:
        """Two clusters have become one."""
        for key in self._reads.pop(old, {}):
            del self._readers[key][old]
            self._readers[key][new] = None
            self._reads.setdefault(new, {})[key] = None

    def of(self, cluster: Cluster) -> Iterator[Cluster]:
        """Others that sum down the same columns and read what this one reads."""
        if cluster.reduced is None or cluster.is_row:
            return
        found: dict[Cluster, None] = {}
        for key in self._reads.get(cluster, {}):
            found.update(dict.fromkeys(list(self._readers[key])[-_MOST_ASKED:]))
        for other in found:
            if other is not cluster and _sum_alike(other, cluster):
                yield other


def _sum_alike(one: Cluster, other: Cluster) -> bool:
    return (
        one.reduced == other.reduced
        and one.guard == other.guard
        and len(one.domain) == len(other.domain)
        and sizes.same_shape(one.domain, other.domain)
        and _sums(one) + _sums(other) <= _MOST_SUMS
    )


def _sums(cluster: Cluster) -> int:
    return sum(isinstance(node, Reduce) for node in cluster.nodes)
