# SPDX-License-Identifier: Apache-2.0
"""One warning for a line of the user's program that is compiled again and again, and why it is."""

from __future__ import annotations

from collections import Counter
from typing import Any

Line = tuple[str, int]
# So many plans of one run are told of, and so many of runs that have nothing to do with each other.
_MANY_PLANS, _MANY_RUNS = 16, 32

_COMPILED: Counter[Line] = Counter()
_TOLD: set[Line] = set()


def note_plan(plan: Any, of_this_run: int, sizes: str, graph: Any) -> None:
    """Called when a run has been planned, for the time number `of_this_run`.

    sizes names the feeds whose contents count as sizes.
    """
    from ...engine.graph.operation import user_frame
    from ...engine.session import graph_growth_warning

    line = user_frame()[:2]
    # Plans whose kernels are all there already cost little, and are no reason to complain.
    _COMPILED[line] += any(not k.from_cache and k.made >= plan.began for k in plan.compiled)
    if line in _TOLD:
        return
    if of_this_run == _MANY_PLANS:
        hint = f" (of {sizes} the contents count, as they may be sizes)" if sizes else ""
        _tell(
            line,
            of_this_run,
            "a run is compiled anew when the pattern of the sizes fed changes, that is ranks and "
            f"which sizes are 0, 1 or equal{hint}",
        )
    elif _COMPILED[line] >= _MANY_RUNS and not graph_growth_warning.is_growing(graph):
        _tell(
            line,
            _COMPILED[line],
            "it runs one graph after the other, each with kernels of its own",
        )


def _tell(line: Line, count: int, reason: str) -> None:
    from ...engine.interface.log import get_logger

    _TOLD.add(line)
    text = "%s:%d has been compiled %d times: %s. NUMBAFLOW_DEBUG=timing shows each."
    get_logger().warning(text, *line, count, reason)
