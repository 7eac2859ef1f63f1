# SPDX-License-Identifier: Apache-2.0
"""What is the same for a few neighbours in memory is put beside them for a map that reads it often.

A mean over groups of channels, taken off every pixel, is one for some neighbours and another for
the next.  A loop nest over pixels, groups and the channels of a group has an inner loop of a few
turns; where the mean is written once for each channel, groups and channels are one loop:

    map %x[.., g, c] %y[1, g, 1]  →  map %x (compose %y[1, g, c])

Imports tensor IR, sizes and what edits programs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..kernel.size_scope import Scope
from ..kernel.sizes import same, same_shape
from ..program.editing import Program
from ..program.tensor_ir import Guard, Map, Shape, Value, View
from ..trace.builder import Builder
from .rewriting import building

_SHORT = 32  # turns of a loop that are few
# Of fewer elements, or of what is read less often, another kernel costs more than it saves; a size
# that a plan does not know counts as so many.
_WORTH, _OFTEN, _UNKNOWN = 1 << 14, 16, 16

# What has been written already, by what it is made of: its shape, and when it runs.
Written = dict[Value, list[tuple[Shape, Guard, Value]]]


def spread_steady(program: Program, scope: Scope) -> None:
    """Does so for all maps of a program."""
    written: Written = {}
    for node in program.nodes:
        if not isinstance(node, Map) or not (axes := _long(node)):
            continue
        *outer, around, inner = axes
        walked = {value: _walked(value, node.outputs[0].ndim) for value in node.inputs}
        of_all = set().union(*walked.values())
        if around in of_all and inner not in of_all:
            _compute_once(program, scope, node, of_all)
        elif any({around, inner} <= axes for axes in walked.values()):
            steady = [v for v, axes in walked.items() if around in axes and inner not in axes]
            new = {
                value: _spread(program, scope, node, value, walked[value] | {inner}, written)
                for value in steady
                if _count(node, [axis for axis in outer if axis not in walked[value]]) >= _OFTEN
            }
            program.set_inputs(node, [new.get(value, value) for value in node.inputs])


def _long(node: Map) -> list[int]:
    """The axes of a map of many positions, whose innermost loop may have but a few turns."""
    shape = node.outputs[0].shape
    axes = [axis for axis, size in enumerate(shape) if not same(size, 1)]
    if len(axes) < 3 or _count(node, axes) < _WORTH:
        return []
    innermost = shape[axes[-1]]
    return axes if isinstance(innermost, int) and innermost <= _SHORT else []


def _count(node: Map, axes: Sequence[int]) -> int:
    sizes = (node.outputs[0].shape[axis] for axis in axes)
    return math.prod(size if isinstance(size, int) else _UNKNOWN for size in sizes)


def _walked(value: Value, rank: int) -> set[int]:
    """The axes of a map of this rank along which a value has more than one element."""
    found = {axis for axis, size in enumerate(value.shape) if not same(size, 1)}
    if isinstance(value.node, View):
        (whole,) = value.node.inputs
        beneath = _walked(whole, whole.ndim)
        found &= {at.axis for n, at in enumerate(value.node.axes) if n in beneath}
    return {rank - value.ndim + axis for axis in found}


def _once(b: Builder, value: Value, shape: Shape) -> Value:
    """A value without its repetitions along axes where a map of this shape has a one."""
    sizes = shape[len(shape) - value.ndim :]
    ones = [1 if same(n, 1) else size for n, size in zip(sizes, value.shape)]
    return value if same_shape(value.shape, tuple(ones)) else b.slice(value, [0] * value.ndim, ones)


def _compute_once(program: Program, scope: Scope, node: Map, walked: set[int]) -> None:
    """Repeats what a map gives, not what it takes."""
    shape = node.outputs[0].shape
    small = tuple(size if axis in walked else 1 for axis, size in enumerate(shape))
    with building(program, scope, node) as b:
        inputs = tuple(_once(b, value, small) for value in node.inputs)
        kinds = [(value.dtype, small) for value in node.outputs]
        made = program.add(Map(inputs, node.exprs), *kinds)
        repeated = [b.broadcast(value, shape) for value in made]
    for old, new in zip(node.outputs, repeated):
        program.replace(old, new)
    program.remove(node)


def _spread(
    program: Program, scope: Scope, node: Map, value: Value, axes: set[int], written: Written
) -> Value:
    """A value written once for each turn of the inner loop, and for each of its elements."""
    shape = node.outputs[0].shape
    target = tuple(size if axis in axes else 1 for axis, size in enumerate(shape))
    for other, guard, made in written.setdefault(value, []):
        if guard == node.guard and same_shape(other, target):
            return made
    inner = max(axes)
    small = tuple(1 if axis == inner else size for axis, size in enumerate(target))
    with building(program, scope, node) as b:
        once = b.broadcast(_once(b, value, small), target)
        made = b.assemble(target, value.dtype, [(once, [0] * len(shape), None)], None)
    written[value].append((target, node.guard, made))
    return made
