# SPDX-License-Identifier: Apache-2.0
"""The kernel that notes on a device what was wrong first, with what an error tells of.

Whoever begins several turns of a loop without waiting looks at it behind the last one.
"""

from __future__ import annotations

from functools import partial

from .plain_vocabulary import Arguments, copy, pointer, region
from .step_table import COPIES, COPY, LATCH_HEAD, LATCHED
from .template import specialise


def latch(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: a table (step_table.py).  Rows are its flags, all of them."""
    table = pointer(args[0])
    if table[LATCHED] == 0:
        for r in range(r0, r1):
            flag = pointer(region(table[LATCH_HEAD + r], "uint8"))
            if table[LATCHED] == 0 and flag[0] > 0:
                table[LATCHED] = r + 1
        if table[LATCHED] > 0:
            for n in range(table[COPIES]):
                at = LATCH_HEAD + r1 + COPY * n
                copy(region(table[at], "uint8"), region(table[at + 1], "uint8"), table[at + 2])


LATCH = partial(specialise, "latch", latch)
