# SPDX-License-Identifier: Apache-2.0
"""A reduction over axes that have a kept one between them, in memory, is two.

As one loop nest it would read a short piece here and the next one far away, as sums over images and
positions do where channels come between, or sums over the pixels of a group of channels.  Of two
reductions each reads its input as it lies.
Imports tensor IR, sizes and rewriting.
"""

from __future__ import annotations

import math
from itertools import takewhile

from ..kernel.size_scope import Scope
from ..kernel.sizes import product, same, same_shape
from ..program.editing import Program
from ..program.tensor_ir import Map, Reduce, Reshape, Value, View
from .rewriting import Rule

# What gives the same of parts as of the whole; sums and products are rounded in between.
_OF_PARTS = frozenset({"sum", "prod", "max", "min", "any", "all"})
_ROUNDED = frozenset({"sum", "prod"})
_HALVES = frozenset({"float16", "bfloat16"})
# Of fewer elements a second kernel costs more than it saves; a size that a plan does not know
# counts as so many.
_WORTH, _UNKNOWN = 4096, 16
# Neighbours in memory up to which it is better to have each in a sum of its own at first; and those
# that are read as fast wherever the next ones are, so that a row of them had better stay in a near
# cache for all that is done with it.
_SHORT, _LONG = 32, 256
_MOST_SEEN = 64  # values that are looked at to see what becomes of a result


def _first(program: Program, node: Reduce) -> frozenset[int] | None:
    """The axes to reduce first, where there are two steps to be."""
    value, out = node.inputs[0], node.outputs[0]
    if node.fn not in _OF_PARTS or (node.fn in _ROUNDED and out.dtype in _HALVES):
        return None
    # By what is known of sizes alone, never by those met: sums round by it.
    if math.prod(n if isinstance(n, int) else _UNKNOWN for n in value.shape) < _WORTH:
        return None
    order = [axis for axis in _memory_order(value) if not same(value.shape[axis], 1)]
    inner = frozenset(takewhile(lambda axis: axis in node.axes, reversed(order)))
    outer = node.axes.intersection(order) - inner
    if not inner or not outer:
        return None
    extent = product(value.shape[axis] for axis in inner)
    if not isinstance(extent, int) or extent > _LONG:
        return None
    # (A loop of a few turns takes longer than reading its row again does.)
    if extent <= _SHORT:
        return outer
    return None if _is_used_again(program, node) else inner


def _is_used_again(program: Program, node: Reduce) -> bool:
    """Is the result used where what was reduced is, as a mean is that is taken off?

    Then a row is read once for all of that, while it is in a near cache.
    """
    seen, waiting = set(node.outputs), list(node.outputs)
    while waiting and len(seen) < _MOST_SEEN:
        for user in program.users(waiting.pop()):
            if not isinstance(user, (Map, View, Reshape)):
                continue
            if isinstance(user, Map) and user.outputs[0].ndim >= node.inputs[0].ndim:
                if same(product(user.outputs[0].shape), product(node.inputs[0].shape)):
                    return True
            new = [value for value in user.outputs if value not in seen]
            seen.update(new)
            waiting += new
    return bool(waiting)


def _memory_order(value: Value) -> list[int]:
    """The axes of a value as what it is made of has them in memory, the outermost first."""
    # Of the value at hand, which of the given one's axes each of its own runs along.
    names: list[int | None] = list(range(value.ndim))
    now = value
    while True:
        if isinstance(now.node, View):
            names = [None if at.axis is None else names[at.axis] for at in now.node.axes]
            now = now.node.inputs[0]
            continue
        inputs = now.node.inputs if isinstance(now.node, Map) else ()
        whole = next((v for v in inputs if same_shape(v.shape, now.shape)), None)
        if whole is None:
            break
        now = whole
    found = dict.fromkeys(name for name in names if name is not None)
    return [axis for axis in range(value.ndim) if axis not in found] + list(found)


def _in_two_steps(program: Program, scope: Scope, node: Reduce, first: frozenset[int]) -> None:
    value, out = node.inputs[0], node.outputs[0]
    shape = tuple(1 if axis in first else size for axis, size in enumerate(value.shape))
    with program.adding(node, like=node):
        (part,) = program.add(Reduce((value,), node.fn, first), (out.dtype, shape))
        rest = Reduce((part,), node.fn, node.axes - first)
        program.add(rest, (out.dtype, out.shape))
    program.take_over(rest, node)


RULES = (
    Rule(
        "two steps",
        "reduce {a, b} %x, kept axes lying between → reduce {b} (reduce {a} %x)",
        Reduce,
        _first,
        _in_two_steps,
    ),
)
