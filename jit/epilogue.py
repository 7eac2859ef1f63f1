# SPDX-License-Identifier: Apache-2.0
"""A library kernel takes up the bias and the relu behind it, where it says that it can.

What only the next map reads is then never stored without them.  A Call says what it can with
`absorbs`, a function of (bias, relu) that gives the kernel with these in it.
Imports tensor IR, kernel IR and sizes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import ir
from .sizes import same
from .tensor import Call, Map, Node, Program, Value, View, base

Absorbs = Callable[[bool, bool], Any]


def absorb(program: Program) -> None:
    """Rewrites every Call whose result goes into nothing but a bias addition or a relu."""
    readers = _readers(program)
    for node in list(program.nodes):
        if isinstance(node, Call) and node.absorbs is not None:
            _absorb_into(program, node, node.absorbs, readers)
    for position, node in enumerate(program.nodes):
        node.position = position


def _absorb_into(
    program: Program, call: Call, absorbs: Absorbs, readers: dict[int, list[Node]]
) -> None:
    """Takes up a bias, then a relu."""
    has_bias = False
    after = _sole_map(program, call.outputs[0], readers)
    bias = None if after is None else _bias(after, call.outputs[0])
    if after is not None and bias is not None:
        call.inputs = (*call.inputs, bias)
        _take_over(program, call, after, readers)
        has_bias = True
        after = _sole_map(program, call.outputs[0], readers)
    has_relu = after is not None and _is_relu(after)
    if after is not None and has_relu:
        _take_over(program, call, after, readers)
    if has_bias or has_relu:
        call.kernel = absorbs(has_bias, has_relu)


def _readers(program: Program) -> dict[int, list[Node]]:
    readers: dict[int, list[Node]] = {}
    for node in program.nodes:
        for value in node.inputs:
            readers.setdefault(id(value), []).append(node)
    return readers


def _sole_map(program: Program, value: Value, readers: dict[int, list[Node]]) -> Map | None:
    """The one map of one result that reads a value, if nobody else does."""
    found = readers.get(id(value), [])
    if len(found) != 1 or any(other is value for other in program.kept()):
        return None
    (node,) = found
    if not isinstance(node, Map) or len(node.exprs) != 1:
        return None
    return node if node.outputs[0].dtype == value.dtype else None


def _bias(node: Map, value: Value) -> Value | None:
    """The vector that a map adds along the last dimension of `value`."""
    (expr,) = node.exprs
    if not isinstance(expr, ir.Apply) or expr.fn != "add" or len(node.inputs) != 2:
        return None
    if not all(isinstance(arg, ir.Load) for arg in expr.args) or expr.args[0] is expr.args[1]:
        return None
    other = node.inputs[1] if node.inputs[0] is value else node.inputs[0]
    *ones, last = other.shape or (0,)
    vector = base(other)
    whole = vector is other or (isinstance(other.node, View) and other.node.inputs[0] is vector)
    if not whole or vector.ndim != 1 or not same(vector.shape[0], last):
        return None
    fits = same(last, value.shape[-1]) and all(same(size, 1) for size in ones)
    return vector if fits else None


def _is_relu(node: Map) -> bool:
    (expr,) = node.exprs
    if not isinstance(expr, ir.Apply) or expr.fn != "maximum" or len(node.inputs) != 1:
        return False
    x, zero = expr.args
    return isinstance(x, ir.Load) and isinstance(zero, ir.Const) and zero.value == 0


def _take_over(program: Program, call: Call, node: Map, readers: dict[int, list[Node]]) -> None:
    """The call moves to the map's place and gives the map's result."""
    old, new = node.outputs[0], call.outputs[0]
    program.nodes.remove(call)
    program.nodes[program.nodes.index(node)] = call
    for reader in readers.get(id(old), []):
        reader.inputs = tuple(new if value is old else value for value in reader.inputs)
    program.keep_instead(lambda value: new if value is old else value)
    readers[id(new)] = readers.get(id(old), [])
    call.absorbed.append(node.origin)
