# SPDX-License-Identifier: Apache-2.0
"""Does compiling show in the results?  Not where every step rounds as the reference kernels do.

The first run of small work may use reference kernels only if later, compiled runs give the same
bits.  Sums in another order, products and transcendental functions may differ in the last place;
arithmetic that IEEE 754 defines, integers and moves do not.  What follows from random numbers is
different in every run anyway.  Imports tensor IR and the engine's graph layer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..kernel import ir
from ..kernel.scalar import PRIMITIVES, kind_of
from ..program.editing import Program
from ..program.tensor_ir import Call, Loop, Map, Node, Reduce, base
from .control_regions import refers
from .tracer import FOLD_LIMIT, makes_handles

if TYPE_CHECKING:
    from ...engine.graph.tensor import Tensor

# They give one of the values, in whatever order these are looked at.
_SELECTING = frozenset("max min any all argmax argmin".split())


def is_exact(program: Program) -> bool:
    """Would reference kernels give the same bits as the program?

    What loops counts as if not: there is no telling how long it would take them.
    """
    if program.has_computed:
        return False
    random: set[Node] = set()
    for node in program:
        if isinstance(node, Loop):
            return False
        if any(base(value).node in random for value in node.inputs):
            random.add(node)
        elif isinstance(node, Call):
            if node.reserve is not None:
                random.add(node)
            elif node.effects.updates and _rounds(node.launch.kernel):
                continue
            elif not node.effects.writes:  # arrays and stacks move values
                return False
        elif isinstance(node, Reduce):
            # (Sums of integers wrap, and are the same in any order.)
            if node.fn not in _SELECTING and kind_of(node.outputs[0].dtype) not in "iub":
                return False
        elif isinstance(node, Map) and not all(map(_is_rounded, node.exprs)):
            return False
    return True


def _rounds(kernel: object) -> bool:
    return isinstance(kernel, ir.Kernel) and all(_is_rounded(s.value) for s in kernel.stores)


def _is_rounded(expr: ir.Expr) -> bool:
    stack, seen = [expr], set[ir.Expr]()
    while stack:
        one = stack.pop()
        if not isinstance(one, ir.Apply) or one in seen:
            continue
        seen.add(one)
        # Also of comparisons and casts, whose results are no floats.
        is_float = kind_of(one.dtype) == "f" or any(kind_of(a.dtype) == "f" for a in one.args)
        if is_float and PRIMITIVES[one.fn].rounding == "free":
            return False
        stack.extend(one.args)
    return True


def is_made_of_constants(
    operations: Sequence[Any], feeds: Sequence[Any], may_round: Callable[[Any], bool]
) -> bool:
    """Do the operations take nothing but constants, which fold, and random numbers?

    Initializers do.  Looks at operations only, so that nothing is traced for them.
    may_round: whether kernels may give other bits of an operation than its reference kernel.
    """
    random: set[Any] = set()
    contents: set[Any] = set(feeds)  # what variables hold, and feeds
    for op in operations:
        kind, inputs = op.definition, op._inputs_val
        is_read = kind.transfer != "write" and any(map(refers, inputs))
        if kind.transfer or makes_handles(op) or not op.outputs:
            if is_read or not contents.isdisjoint(inputs):
                contents.update(op.outputs)
        elif is_read or kind.control_flow_role or not contents.isdisjoint(inputs):
            return False
        elif kind.stateful or not random.isdisjoint(inputs):
            random.update(op.outputs)
        elif not all(map(folds, op.outputs)) or (inputs and may_round(op)):
            return False
    return True


def folds(tensor: Tensor) -> bool:
    """Is a tensor known to be small enough for what is constant of it to be kept in plans?"""
    count = tensor.shape.num_elements()
    return count is not None and count * tensor.dtype.base_dtype.size <= FOLD_LIMIT
