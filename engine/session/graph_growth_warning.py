# SPDX-License-Identifier: Apache-2.0
"""Notices programs that add nodes between runs, from the same line again and again."""

from __future__ import annotations

import weakref
from collections import Counter

from ..graph.graph import Graph

Line = tuple[str, int]
# So many runs with new nodes from one line before each are a loop, not a program being set up.
_LIMIT = 20


class _Growth:
    """Counts, per line of the program, the runs of a graph before which it added nodes."""

    __slots__ = ("counts", "version")

    def __init__(self) -> None:
        self.version = 0
        self.counts: Counter[Line] = Counter()


_GROWTH: weakref.WeakKeyDictionary[Graph, _Growth] = weakref.WeakKeyDictionary()


def note(graph: Graph) -> None:
    """Called before a run for which the graph may have grown; warns once per line."""
    growth = _GROWTH.get(graph)
    if growth is None:
        growth = _GROWTH.setdefault(graph, _Growth())
    version = graph.version
    if version == growth.version:
        return
    grown, growth.version = growth.version > 0, version
    # Its newest node stands for all that are new.
    op = graph._nodes_by_id.get(version)
    if not grown or op is None:
        return
    line = op._frame[:2]
    growth.counts[line] += 1
    if growth.counts[line] == _LIMIT:
        from ..interface.log import get_logger

        get_logger().warning(
            "%s:%d adds nodes to the graph before every run (%d so far): the graph grows, and what "
            "is new is prepared anew. Build the graph once, before the loop; graph.finalize() "
            "turns such lines into errors.",
            *line,
            version,
        )


def is_growing(graph: Graph) -> bool:
    """Has a warning been given about this graph?"""
    growth = _GROWTH.get(graph)
    return growth is not None and any(count >= _LIMIT for count in growth.counts.values())
