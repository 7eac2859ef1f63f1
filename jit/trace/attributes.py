# SPDX-License-Identifier: Apache-2.0
"""Numbers that an operation was told: an epsilon, a slope, how many rows there are.

In the text of a kernel each would make another kernel, and each program has its own; so they are
inputs of its map.  Imports tensor IR.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

from ..kernel import ir
from ..program.tensor_ir import LITERALS, Value, argument, literal

_COMPARED = frozenset({"lt", "le", "gt", "ge", "eq", "ne"})
_HUGE = 1e30  # from here on numbers are ends of dtypes: what maxima begin with


def loading(
    exprs: tuple[ir.Expr, ...], inputs: Sequence[Value], constant: Callable[[Any, str], Value]
) -> tuple[tuple[ir.Expr, ...], list[Value]]:
    """The expressions of a map, and its inputs, with attributes among these.

    constant: the value of a number.
    """
    told = dict.fromkeys(number for expr in exprs for number in _told(expr))
    if not told:
        return exprs, list(inputs)
    places = {each: argument(len(inputs) + n, each.dtype) for n, each in enumerate(told)}
    values = [constant(each.value, each.dtype) for each in told]
    return tuple(_replaced(expr, places) for expr in exprs), [*inputs, *values]


def arguments_of(values: Sequence[Value], literals: bool) -> tuple[list[ir.Expr], list[Value]]:
    """What a map's body is called with, and the inputs among these values: all but literals."""
    arguments: list[ir.Expr] = []
    inputs: list[Value] = []
    for value in values:
        constant = literal(value) if literals else None
        if constant is None:
            constant = argument(len(inputs), value.dtype)
            inputs.append(value)
        arguments.append(constant)
    return arguments, inputs


@cache
def _told(expr: ir.Expr) -> tuple[ir.Const, ...]:
    """The attributes in an expression."""
    return tuple(arg for node in ir.postorder(expr) for arg in _attributes(node))


def _attributes(node: ir.Expr) -> Iterator[ir.Const]:
    """Those that a function is applied to."""
    if isinstance(node, ir.Apply):
        for arg in node.args:
            if isinstance(arg, ir.Const) and _is_attribute(arg.value, node.fn):
                yield arg


def _is_attribute(number: float, fn: str) -> bool:
    if isinstance(number, bool) or number in LITERALS:
        return False
    # LLVM makes something of whole numbers: of quotients, bits and places.
    return fn in _COMPARED if isinstance(number, int) else abs(number) < _HUGE


def _replaced(expr: ir.Expr, places: dict[ir.Const, ir.Load]) -> ir.Expr:
    done: dict[ir.Expr, ir.Expr] = {}
    for node in ir.postorder(expr):
        done[node] = node
        if isinstance(node, ir.Apply):
            own = {arg: places[arg] for arg in _attributes(node)}
            args = tuple(own[arg] if arg in own else done[arg] for arg in node.args)
            done[node] = ir.Apply(node.fn, args, node.dtype)
    return done[expr]
