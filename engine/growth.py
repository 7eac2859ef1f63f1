# SPDX-License-Identifier: Apache-2.0
"""Notices programs that add nodes between runs, from the same line again and again."""

from __future__ import annotations

from .graph import Graph

# So many new preparations with nodes from one line are a loop, not a program being set up.
_LIMIT = 20


class GraphGrowth:
    """Counts, per line of the program, the runs before which it added nodes."""

    __slots__ = ("_version", "_counts")

    def __init__(self) -> None:
        self._version = 0
        self._counts: dict[tuple[str, int], int] = {}

    def note(self, graph: Graph) -> None:
        """Called before a run is prepared; warns once per line."""
        version = graph.version
        if version == self._version:
            return
        grown, self._version = self._version > 0, version
        op = graph._nodes_by_id.get(version)
        if not grown or op is None:
            return
        line = op._frame[:2]
        self._counts[line] = self._counts.get(line, 0) + 1
        if self._counts[line] == _LIMIT:
            from .log import get_logger

            get_logger().warning(
                "%s:%d adds nodes to the graph before every run (%d so far): the graph grows and "
                "each run is prepared anew. Build the graph once, before the loop; "
                "graph.finalize() turns such lines into errors.",
                *line,
                version,
            )
