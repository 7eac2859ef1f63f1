# SPDX-License-Identifier: Apache-2.0
"""What scalar primitives cost, in simple instructions: a table.  Imports kernel IR only."""

from __future__ import annotations

from collections.abc import Iterable

from . import ir
from .writer import postorder

# In units of a simple instruction; cheap things are 1.
_COSTS = {
    "div": 4,
    "floordiv": 10,
    "floormod": 10,
    "truncatediv": 10,
    "truncatemod": 10,
    "sqrt": 6,
    "rsqrt": 8,
    "pow": 40,
    "erf": 20,
    "erfc": 30,
    "sin": 20,
    "cos": 20,
    "tan": 30,
    "exp": 12,
    "expm1": 18,
    "log": 14,
    "log1p": 18,
    "tanh": 20,
    "sigmoid": 16,
    "lgamma": 60,
    "digamma": 60,
    "atan2": 40,
    "asin": 30,
    "acos": 30,
    "atan": 25,
    "sinh": 25,
    "cosh": 25,
    "asinh": 35,
    "acosh": 35,
    "atanh": 30,
}


def operation_cost(apply: ir.Apply) -> int:
    """What one scalar primitive costs, in simple instructions."""
    return _COSTS.get(apply.fn, 1)


def expression_cost(exprs: Iterable[ir.Expr]) -> int:
    """What expressions cost together, what they share counted once per expression."""
    return sum(
        operation_cost(node)
        for expr in exprs
        for node in postorder(expr)
        if isinstance(node, ir.Apply)
    )
