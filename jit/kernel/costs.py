# SPDX-License-Identifier: Apache-2.0
"""What expressions and kernels cost at a position, in simple instructions.  Imports kernel IR."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from . import ir
from .ir import postorder
from .scalar import PRIMITIVES


def expression_cost(exprs: Iterable[ir.Expr]) -> int:
    """What expressions cost together, what they share counted once per expression."""
    return sum(map(_cost, exprs))


@cache
def _cost(expr: ir.Expr) -> int:
    return sum(PRIMITIVES[node.fn].cost for node in postorder(expr) if isinstance(node, ir.Apply))
