# SPDX-License-Identifier: Apache-2.0
"""Which steps change variables that no other run may change meanwhile.

A kernel that adds to a variable reads it and writes it back.  Two runs at a time would lose what
one of them adds, or leave elements of both, which programs forbid by `use_locking`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ...engine.types import dtypes
from ..program.tensor_ir import (
    GrowableStack,
    Node,
    Read,
    Register,
    Value,
    Write,
    base,
    home,
    written_cells,
)
from .steps import Again, CallStep, KernelStep, Skip, Step


def exclusive_cells(steps: Sequence[Step]) -> dict[int, tuple[frozenset[Any], bool]]:
    """By the numbers of steps, the variables that they change and others may not.

    With whether jumps lead around or back to the step: then the walk of all that hangs together by
    jumps keeps others out, which is not interrupted for single steps.
    """
    found: dict[int, frozenset[Any]] = {}
    for number, step in enumerate(steps):
        if isinstance(step, (KernelStep, CallStep)):
            cells = frozenset(_changed(_nodes(step)))
            if cells:
                found[number] = cells
    jumped = set(_jumped(steps)) if found else ()
    return {number: (cells, number in jumped) for number, cells in found.items()}


def keeps_others_out(op: Any) -> bool:
    """Whether an operation changes variables as one step: if it is told to, or by handles."""
    stated = op._attrs.get("use_locking")
    if stated is not None:
        return bool(stated)
    return any(tensor.dtype == dtypes.resource for tensor in op._inputs_val)


def _nodes(step: KernelStep | CallStep) -> Sequence[Node]:
    return step.nest.cluster.nodes if isinstance(step, KernelStep) else [step.node]


def _changed(nodes: Sequence[Node]) -> Iterator[Any]:
    """The variables that these nodes read and write, for operations that keep others out."""
    for node in nodes:
        cells = [c for c in written_cells(node) if not isinstance(c, (Register, GrowableStack))]
        origins = [op for op in (node.origin, *getattr(node, "fused", ())) if op is not None]
        if not cells or not any(keeps_others_out(op) for op in origins):
            continue
        # One element that is only written is the same afterwards, whoever comes first.
        read = {_cell(value) for other in nodes for value in other.inputs}
        is_whole = isinstance(node, Write) and node.inputs[0].shape == ()
        yield from (cell for cell in cells if not is_whole or cell in read)


def _cell(value: Value) -> Any:
    source = home(base(value))
    return source.node.cell if isinstance(source.node, Read) else source.cell


def _jumped(steps: Sequence[Step]) -> Iterator[int]:
    for number, step in enumerate(steps):
        if isinstance(step, Skip):
            yield from range(number, step.target.step)
        elif isinstance(step, Again):
            yield from range(step.target.step, number)
