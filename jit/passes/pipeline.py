# SPDX-License-Identifier: Apache-2.0
"""The passes of the compiler over a program, in order.

`rewrite` runs them; after each, in one place, the program is verified (in tests), printed (when
NUMBAFLOW_DEBUG asks for `passes` or for the pass by name) and the time noted.
Imports the passes, and what checks and prints.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from ...engine import stopping
from ...engine.record_class import record
from .. import debug
from ..kernel.size_scope import Scope
from ..program.editing import Program
from . import (
    early_measures,
    epilogue,
    legalize,
    loop_invariants,
    matmul_rewrites,
    max_pool_rewrites,
    reduction_rewrites,
    spread_steady,
    verify_program,
)
from .rewriting import apply_rules


@record(frozen=True)
class Pass:
    """One step: edits a program.  `straight` ones leave alone what runs under conditions."""

    name: str
    run: Callable[[Program, Scope], object]
    straight: bool = False


PASSES = (
    # First, while all nodes are there that checks remember to stand behind (Check.behind).
    Pass("stop_before_effects", legalize.stop_before_effects),
    Pass("route_pooled_gradients", max_pool_rewrites.route_pooled_gradients, straight=True),
    # Behind what makes nodes of checks, which stay where they are.
    Pass("measure_early", early_measures.measure_early, straight=True),
    # Views first: which products read the same factor shows only then, and a packed one has no
    # views.
    Pass("read_products_through_views", partial(apply_rules, matmul_rewrites.VIEWS), straight=True),
    Pass("accumulate_products", partial(apply_rules, matmul_rewrites.SUMS), straight=True),
    # What is left are gradients for one example, which fuse with the updates of weights.
    Pass("map_outer_products", partial(apply_rules, matmul_rewrites.OUTER), straight=True),
    Pass("share_packing", matmul_rewrites.share_packing, straight=True),
    Pass("leave_loops", loop_invariants.leave_loops),
    # Behind all that makes a product's launch anew, which would lose the epilogue.
    Pass("fuse_epilogues", partial(apply_rules, epilogue.RULES), straight=True),
    Pass("split_reductions", partial(apply_rules, reduction_rewrites.RULES)),
    Pass("spread_steady", spread_steady.spread_steady),
    # Behind all that moves nodes, perhaps behind a write to what they read.
    Pass("snapshot_reads", legalize.snapshot_reads),
    Pass("store_views", legalize.store_views),
    Pass("place_parts", legalize.place_parts),
    Pass("order_effects", legalize.order_effects),
    Pass("drop_dead", legalize.drop_dead),
)
"""Loops' tests and bodies are programs of their own, and go through the same passes."""


def rewrite(program: Program, scope: Scope) -> dict[str, float]:
    """Runs all passes over a program and those of its loops; the seconds that each took."""
    seconds = {}
    for one in PASSES:
        start = time.perf_counter()
        stopping.check()
        for inner in program.all():
            # Straight ones move nodes to where others stand, perhaps under another condition.
            if not one.straight or inner.is_straight:
                one.run(inner, scope)
        seconds[one.name] = time.perf_counter() - start
        verify_program.after(one.name, program)
        debug.show(one.name, program, group="passes")
    return seconds
