# SPDX-License-Identifier: Apache-2.0
"""What of a graph follows from its constants alone, and whether reference kernels may compute it.

Where every step rounds as reference kernels do (jit/trace/bit_exact.py) they compute it while a
plan is traced.  Elsewhere results would differ from those of the same operations in a step, so the
step's own kernels do it, once (jit/runtime/constant_parts.py).  Imports the tracer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ..kernel.scalar import holds
from ..kernel.size_scope import Scope
from .bit_exact import folds, is_exact
from .carriers import Varies
from .partition import is_free
from .segment import Evaluate, FeedType, Segment
from .tracer import Tracer, array_dtype_name, has_floats

if TYPE_CHECKING:
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor

# What is known of so many kinds of operations is kept.
_MOST_KINDS = 4096
_ROUNDS: dict[tuple[object, ...], bool] = {}


def rounds(op: Operation, known: Sequence[np.ndarray], evaluate: Evaluate) -> bool:
    """May kernels give other bits of these inputs than the reference kernel?

    Of floats only the shapes are looked at.
    """
    if op.definition.lower is None or not has_floats(op):
        return False
    kinds = [tensor.dtype.base_dtype for tensor in op._inputs_val]
    are_floats = [kind.is_floating or kind.is_complex for kind in kinds]
    contents = [None if is_float else a.tobytes() for a, is_float in zip(known, are_floats)]
    shapes = [(kind.name, array.shape) for kind, array in zip(kinds, known)]
    key = (op.type, repr(sorted(op._attrs.items())), *shapes, *contents)
    found = _ROUNDS.get(key)
    if found is None:
        if len(_ROUNDS) >= _MOST_KINDS:
            _ROUNDS.clear()
        found = _ROUNDS[key] = _lowers_freely(op, known, are_floats, evaluate)
    return found


def _lowers_freely(
    op: Operation, known: Sequence[np.ndarray], are_floats: Sequence[bool], evaluate: Evaluate
) -> bool:
    """Does the operation by itself become something that rounds in its own way?"""
    given = dict(zip(op._inputs_val, zip(known, are_floats)))
    floats = {tensor: array for tensor, (array, is_float) in given.items() if is_float}
    feeds = [FeedType(array_dtype_name(t.dtype), array.shape) for t, array in floats.items()]
    segment = Segment([op], 0, list(floats), lambda stop: op.outputs, evaluate, may_measure=False)
    tracer = Tracer(segment, feeds, Scope())
    tracer.may_fold = False
    for tensor, (array, is_float) in given.items():
        if not is_float:
            tracer.know(tensor, array)
    try:
        with tracer.scope.assuming(False):
            stop, is_barrier = tracer.run()
    except (errors.OpError, Varies):
        return False  # reference kernels say what is wrong
    is_lowered = stop == 1 and not is_barrier and not tracer.hosted
    return is_lowered and not is_exact(tracer.program)


def may_round(op: Operation, evaluate: Evaluate) -> bool:
    """What `rounds` says, of an operation whose inputs are not computed yet; True if in doubt."""
    if op.definition.lower is None or not has_floats(op):
        return False
    known = []
    for tensor in op._inputs_val:
        kind = tensor.dtype.base_dtype
        if is_free(tensor.op):
            known.append(np.asarray(evaluate(tensor.op, [])[tensor._value_index]))
        elif not tensor.shape.is_fully_defined() or not (kind.is_floating or kind.is_complex):
            return True
        else:
            sizes = [size or 0 for size in tensor.shape.as_list()]
            known.append(np.broadcast_to(kind.as_numpy_dtype(), sizes))
    return rounds(op, known, evaluate)


def constant_operations(
    operations: Iterable[Any], regions: Iterable[Any], fed: frozenset[Any]
) -> list[Any]:
    """The operations, of these in order, that follow from nothing but the graph's constants.

    regions: those that branch or loop, which are left out.  fed: tensors that are given.
    """
    left_out = set(regions)
    constant: set[Any] = set()
    for op in operations:
        is_one = op not in left_out and constant.issuperset(t.op for t in op._inputs_val)
        if is_one and follows(op) and fed.isdisjoint(op.outputs):
            constant.add(op)
    return [op for op in operations if op in constant]


def follows(op: Any) -> bool:
    """Does an operation give what follows from its inputs, and no more of it than is kept?"""
    kind = op.definition
    if not op.outputs or kind.is_stateful or kind.kernel is None:
        return False
    if kind.touches or kind.control_flow_role:
        return False
    # (What a handle stands for, or a dataset, is another matter in the next run.)
    if not all(map(_is_plain, (*op._inputs_val, *op.outputs))):
        return False
    # (A constant of the graph is there anyway, however large.)
    return is_free(op) or (len(op.inputs) > 0 and all(map(folds, op.outputs)))


def _is_plain(tensor: Tensor) -> bool:
    """Does a tensor hold nothing but numbers and truth values?"""
    return not tensor.dtype._is_ref_dtype and holds(array_dtype_name(tensor.dtype))


def leading_to(op: Any, fed: frozenset[Any]) -> list[Any] | None:
    """An operation and all that it follows from, in order; None if that is not constants alone."""
    found, ahead = {op}, [op]
    while ahead:
        one = ahead.pop()
        if not follows(one) or not fed.isdisjoint(one.outputs):
            return None
        new = {tensor.op for tensor in one._inputs_val} - found
        found |= new
        ahead += new
    return sorted(found, key=lambda one: one._id)


def results_of(operations: Sequence[Any]) -> list[Tensor]:
    """The tensors of operations whose bits may be a matter of who computes them."""
    return [tensor for op in operations if op.inputs and has_floats(op) for tensor in op.outputs]
