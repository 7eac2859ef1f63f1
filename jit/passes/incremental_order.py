# SPDX-License-Identifier: Apache-2.0
"""A graph of dependencies that grows by nodes and edges and is kept in an order that can run.

Every node has a label, and depends on lower ones only.  So the question whether one node depends on
another needs no look at what lies below both, which is nearly all of a large graph.
Imports nothing from the package.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Hashable, Iterable, KeysView
from heapq import heapify, heappop, heappush
from typing import Generic, TypeVar

Node = TypeVar("Node", bound=Hashable)

# So many nodes are looked at before one is taken to depend on another.
# If that is wrong a fusion is missed; the other mistake would be a cycle.
_MOST_BETWEEN = 256
# Labels that are closer than this are spread anew.
# Doubles have thousands of numbers within it even among a million labels.
_LEAST_STEP = 1e-6


class Order(Generic[Node]):
    """No node may come to depend on itself."""

    def __init__(self) -> None:
        # Dictionaries, not sets: nodes hash by address, and how much is looked at shall not depend
        # on that.
        self._needs: dict[Node, dict[Node, None]] = {}
        self._needed_by: dict[Node, dict[Node, None]] = {}
        self._label: dict[Node, float] = {}
        self._labels: list[float] = []

    def needs(self, node: Node) -> KeysView[Node]:
        """What a node depends on directly."""
        return self._needs[node].keys()

    def add(self, node: Node) -> None:
        """A new node, behind all others."""
        self._needs[node], self._needed_by[node] = {}, {}
        self._label[node] = self._labels[-1] + 1 if self._labels else 0.0
        self._labels.append(self._label[node])

    def depend(self, node: Node, others: Iterable[Node]) -> None:
        """A node comes to depend on others, none of which depends on it."""
        # Only what has a label between the two is looked at or moved, so that a graph that is built
        # in order costs nothing but its edges.
        new = [other for other in others if other not in self._needs[node]]
        self._needs[node].update(dict.fromkeys(new))
        for other in new:
            self._needed_by[other][node] = None
        self._put_before(self._above(new, node), node)

    def reaches(self, starts: Iterable[Node], goal: Node) -> bool:
        """Is the goal one of some nodes, or does one of them depend on it?

        Of very many nodes between, it is taken for granted.
        """
        label, least = self._label, self._label[goal]
        seen = set(starts)
        # The lowest first: it is nearest to the goal.
        heap = [(label[node], number, node) for number, node in enumerate(seen)]
        heapify(heap)
        while heap:
            _, _, node = heappop(heap)
            if node == goal or len(seen) > _MOST_BETWEEN:
                return True
            for other in self._needs[node]:
                # What is lower than the goal cannot depend on it.
                if other not in seen and label[other] >= least:
                    seen.add(other)
                    heappush(heap, (label[other], len(seen), other))
        return False

    def merge(self, old: Node, new: Node) -> None:
        """Two nodes become one, `new`; neither may depend on the other through a third."""
        # At the lower place: what needs either of them is above it already, and what only the
        # higher one needs moves in front of it.
        low, high = sorted((old, new), key=self._label.__getitem__)
        self._put_before(self._above([n for n in self._needs[high] if n != low], low), low)
        label = self._label[low]
        self._drop(high)
        self._label[new] = label
        self._label.pop(old, None)
        for other in self._needs.pop(old):
            self._needed_by[other].pop(old, None)
            self._link(new, other)
        for other in self._needed_by.pop(old):
            self._needs[other].pop(old, None)
            self._link(other, new)

    def _link(self, node: Node, other: Node) -> None:
        if node != other:
            self._needs[node][other] = None
            self._needed_by[other][node] = None

    def _above(self, starts: Iterable[Node], goal: Node) -> set[Node]:
        """The starts, and what they depend on, whose labels are higher than the goal's."""
        label, least = self._label, self._label[goal]
        stack = [node for node in starts if label[node] > least]
        seen = set(stack)
        while stack:
            for other in self._needs[stack.pop()]:
                if other not in seen and label[other] > least:
                    seen.add(other)
                    stack.append(other)
        return seen

    def _put_before(self, group: set[Node], node: Node) -> None:
        """Gives a group labels just below that of a node; they keep their order."""
        if not group:
            return
        # They keep their order among themselves, and everything else stays: so no edge points
        # upwards.
        high = self._label[node]
        place = bisect_left(self._labels, high)
        low = self._labels[place - 1] if place else high - len(group) - 1
        step = (high - low) / (len(group) + 1)
        if step < _LEAST_STEP:
            self._spread()
            self._put_before(group, node)
            return
        for number, other in enumerate(sorted(group, key=self._label.__getitem__), 1):
            self._drop(other)
            self._label[other] = low + number * step
            insort(self._labels, self._label[other])

    def _drop(self, node: Node) -> None:
        del self._labels[bisect_left(self._labels, self._label.pop(node))]

    def _spread(self) -> None:
        order = sorted(self._label, key=self._label.__getitem__)
        self._label = {node: float(number) for number, node in enumerate(order)}
        self._labels = [float(number) for number in range(len(order))]
