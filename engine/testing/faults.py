# SPDX-License-Identifier: Apache-2.0
"""The op whose gradient is wrong: from the loss to the inputs, each op alone, until one is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .. import errors
from ..gradients.autodiff_registry import CustomGradient, gradient_function
from ..gradients.autodiff_sums import public
from ..graph.operation import Operation
from ..graph.tensor import Tensor
from . import cones
from .functions import Input, Runner
from .report import OpAtFault

Copied = tuple[list[Input], list[Tensor]]
# What may go wrong with an op that is looked at alone: it belongs to a loop or to the branch not
# taken, has no gradient, or takes no such value.
_LEFT_OUT = (errors.OpError, ValueError, TypeError, LookupError)


def find(runner: Runner, xs: Sequence[Tensor], ys: Sequence[Tensor], seed: int) -> OpAtFault | None:
    """The first op on the way back from ys to xs whose own gradient is wrong, None if none is.

    Each is looked at with the values that it has in the runner's run.
    """
    from . import checking

    options = checking.Options(order=1, modes=("reverse",), seed=seed, find_op=False)
    for op, inputs, outputs in _one_by_one(runner, xs, ys):
        try:
            report = checking.check(runner, inputs, outputs, options)
        except _LEFT_OUT:
            continue
        if not report.passed:
            return described(op)
    return None


def described(op: Operation) -> OpAtFault:
    """An op, and the op of the program to whose gradient it belongs."""
    forward = op
    while forward._original_op is not None:
        forward = forward._original_op
    file, line, _ = forward._frame
    return OpAtFault(op.name, op.type, forward.name, forward.type, file, line)


def _one_by_one(
    runner: Runner, xs: Sequence[Tensor], ys: Sequence[Tensor]
) -> Iterator[tuple[Operation, list[Input], list[Tensor]]]:
    """The ops through which gradients of ys come to xs, from the last, with what moves of them."""
    waiting = {y.op for y in ys}
    path = cones.between(xs, ys, runner.feeds)
    inside, last = set(path), set(ys)
    for op in reversed(path):
        if op._control_flow_context is not None:
            # Neither fed nor fetched: looked at in a copy, which has values of its own.
            copy = _copied(op)
            if copy is not None:
                yield (op, *copy)
            waiting.update(x.op for x in op.inputs)
            continue
        if op not in waiting:
            continue
        try:
            flows = [x for x, flows in zip(op.inputs, _arrives(op), strict=True) if flows]
        except _LEFT_OUT:
            continue
        is_override = "_gradient_op_type" in op._attrs
        waiting.update(x.op for x in flows)
        if op.definition.control_flow_role:
            continue
        # A gradient that a program put in place of the op's own is one by the inputs that it
        # names: the others follow from them.
        moved = flows if is_override else [x for x in op.inputs if cones.is_number(x)]
        inputs = _held(runner, list(dict.fromkeys(moved)))
        if inputs:
            # Not those that nobody uses here: of what is there for a gradient's sake alone, as of
            # fused losses and normalizations, gradients are not told.
            used = [y for y in op.outputs if y in last or not inside.isdisjoint(y.consumers())]
            yield op, inputs, [y for y in used if cones.is_number(y)]


def _copied(op: Operation) -> Copied | None:
    """An op of a branch or loop once more, outside of it, and numbers for its inputs.

    Of a function that brings its own gradient all that it does is done once more.  None where not
    all inputs are numbers of known shapes, or where the function cannot be called there.
    """
    custom = _custom(op)
    taken = list(op.inputs) if custom is None else _arguments(op, custom)
    shapes = [x.shape.is_fully_defined() and cones.is_number(x) for x in taken]
    if op.definition.control_flow_role or not shapes or not all(shapes):
        return None
    graph, random = op.graph, np.random.default_rng(0)
    with graph.as_default(), graph.control_dependencies(None):
        places = [public("placeholder")(x.dtype.base_dtype, x.shape) for x in taken]
        if custom is None:
            copy = graph._create(op.definition, "check_gradients/copy", places, dict(op._attrs))
            results = list(copy.outputs)
        else:
            try:
                results = public("nest.flatten")(custom.function(*places))
            except _LEFT_OUT:
                return None
    values = [random.uniform(0.1, 0.9, x.shape.as_list()) for x in places]
    inputs = [
        Input(x.name, x, (x,), value.astype(x.dtype.as_numpy_dtype))
        for x, value in zip(places, values)
    ]
    return inputs, [y for y in results if cones.is_number(y)]


def _custom(op: Operation) -> CustomGradient | None:
    """The gradient that a function brought for the op through which its results go."""
    try:
        found = gradient_function(op)
    except LookupError:
        return None
    return found if isinstance(found, CustomGradient) else None


def _arguments(op: Operation, custom: CustomGradient) -> list[Tensor]:
    """What the function was given; nothing where it used variables, which it would make anew."""
    first, last = custom.results, custom.results + custom.arguments
    return list(op.inputs[first:last]) if len(op.inputs) == last else []


def _arrives(op: Operation) -> list[bool]:
    """For each input, whether the op's gradient function gives it anything."""
    if op.definition.control_flow_role:
        return [cones.is_number(x) for x in op.inputs]
    function = gradient_function(op)
    if function is None:
        return [False for _ in op.inputs]
    from .checking import _placeholder_like

    given = [_placeholder_like(y) if cones.is_number(y) else None for y in op.outputs]
    with op.graph.as_default(), op.graph.control_dependencies(None):
        result = function(op, *given)
    result = result if isinstance(result, (list, tuple)) else [result]
    return [grad is not None for grad in result]


def _held(runner: Runner, tensors: list[Tensor]) -> list[Input]:
    """Inputs with the values that tensors have in the runner's run; none if they have none."""
    if any(t.dtype._is_ref_dtype for t in tensors):
        return []
    try:
        values: list[Any] = runner.run(tensors, {})
    except _LEFT_OUT:
        return []
    return [
        Input(tensor.name, tensor, (tensor,), np.asarray(value))
        for tensor, value in zip(tensors, values, strict=True)
    ]
