# SPDX-License-Identifier: Apache-2.0
"""Functions in two stages: what can be computed for blocks of elements, and then the rest.

Where a function as a whole has to be called for each element (it decodes a file, say, or draws
numbers), records can still be parsed, lines split and words looked up for many elements at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ....engine.session.function_inlining import Body
from ....engine.types import dtypes
from .functions import Captured, is_fixed
from .vectorizing import vectorizable

if TYPE_CHECKING:
    from ....engine.graph.operation import Operation
    from ....engine.graph.rowwise import Rows
    from ....engine.graph.tensor import Tensor
    from ....engine.types.shape import TensorShape


class _Stage:
    """A part of a function of a graph's library."""

    def __init__(self, body: Body, name: str) -> None:
        self._body, self.name = body, name

    def body(self, attrs: Mapping[str, Any]) -> Body:
        """The operations of the part."""
        del attrs
        return self._body


class _CapturedStage(Captured):
    """A part of a function, with those values from outside that it takes."""

    def __init__(self, of: Captured, stage: _Stage, values: Sequence[Any]) -> None:
        self.name = stage.name
        self.values = list(values)
        self.function = stage
        self._attrs = of._attrs


class _Split(NamedTuple):
    """Both parts of a function, and the numbers of the values that each takes from outside."""

    first: _Stage
    first_values: list[int]
    rest: _Stage
    rest_values: list[int]


class Stages(NamedTuple):
    """What is called for blocks of elements, and what is called with each row of its results."""

    first: Captured
    rest: Captured


def stages_of(captured: Captured, shapes: Sequence[TensorShape]) -> Stages | None:
    """A function of elements of these static shapes in two stages.

    None where the facts of its ops allow that for none that is worth it.
    """
    are_fixed = tuple(map(is_fixed, captured.values))
    key = ("stages", are_fixed, *map(str, shapes))
    split = captured.part(key, lambda body: _split(body, captured.name, shapes, are_fixed))
    if split is None:
        return None
    pairs = (split.first, split.first_values), (split.rest, split.rest_values)
    return Stages(
        *(
            _CapturedStage(captured, part, [captured.values[i] for i in those])
            for part, those in pairs
        )
    )


def _split(
    body: Body, name: str, shapes: Sequence[TensorShape], are_fixed: Sequence[bool]
) -> _Split | None:
    if len(body.parameters) != len(shapes) + len(are_fixed):
        return None
    rows = vectorizable(body, shapes, are_fixed)
    early = _early(body, rows)
    given = body.parameters[: len(shapes)]
    cut = _cut(body, early)
    if not early or not all(tensor in rows for tensor in cut):
        return None
    late = [op for op in body.operations if op not in early]
    wanted = {tensor for op in late for tensor in op._inputs_val} | set(body.results)
    handed = [tensor for tensor in [*given, *cut] if tensor in wanted]
    first = _part(body, given, handed, _with_sources(body, early))
    rest = _part(body, handed, body.results, late)
    others = body.parameters[len(shapes) :]
    numbers = [
        [others.index(each) for each in part.parameters if each in others] for part in (first, rest)
    ]
    return _Split(
        _Stage(first, f"{name}/blocks"), numbers[0], _Stage(rest, f"{name}/rest"), numbers[1]
    )


def _early(body: Body, rows: Mapping[Tensor, Rows]) -> set[Operation]:
    """The operations on the host that can be computed for blocks, and what they are computed of."""
    found: set[Operation] = set()
    awaited = {op for each in body.operations for op in each._control_inputs_val}
    todo = [op for op in body.operations if _is_worth_it(op, rows)]
    while todo:
        op = todo.pop()
        if op in found or not _varies(op, rows):
            continue
        found.add(op)
        todo += [tensor.op for tensor in op._inputs_val if tensor not in body.parameters]
    # (What others wait for has to be where they are.)
    return set() if found & awaited else found


def _is_worth_it(op: Operation, rows: Mapping[Tensor, Rows]) -> bool:
    """Whether an operation, on the host, has a price for each element that a block pays once."""
    ends = [*op._inputs_val, *op.outputs]
    is_hosted = op.definition.lower is None or any(each.dtype == dtypes.string for each in ends)
    return is_hosted and _varies(op, rows)


def _varies(op: Operation, rows: Mapping[Tensor, Rows]) -> bool:
    """Whether an operation's results are other ones for each element, and known for blocks."""
    return any(tensor in rows and rows[tensor].rank is not None for tensor in op.outputs)


def _with_sources(body: Body, operations: set[Operation]) -> list[Operation]:
    """Operations and all that they are computed of, in the order of the body."""
    found: set[Operation] = set()
    todo = list(operations)
    while todo:
        op = todo.pop()
        if op not in found:
            found.add(op)
            todo += [tensor.op for tensor in op._inputs_val if tensor not in body.parameters]
    return [op for op in body.operations if op in found]


def _cut(body: Body, early: set[Operation]) -> list[Tensor]:
    """What others, or who calls the function, want of early operations."""
    wanted = {
        tensor for op in body.operations if op not in early for tensor in op._inputs_val
    } | set(body.results)
    return [
        tensor for op in body.operations if op in early for tensor in op.outputs if tensor in wanted
    ]


def _part(
    body: Body, given: Sequence[Tensor], results: Sequence[Tensor], operations: list[Operation]
) -> Body:
    """A function of some of the operations; what it takes from outside are its last parameters."""
    used = {tensor for op in operations for tensor in op._inputs_val} | set(results)
    outside = [tensor for tensor in body.parameters if tensor in used and tensor not in given]
    there = set(operations)
    effects = [op for op in body.effects if op in there]
    return Body(operations, [*given, *outside], list(results), effects)
