# SPDX-License-Identifier: Apache-2.0
"""Whether something in a graph depends on some tensors."""

from __future__ import annotations

from typing import Any

from ...engine.graph.operation import Operation
from ...engine.types import nest


def reaches(inputs: Any, target: Operation) -> bool:
    """Whether an operation or a tensor depends on one of the inputs, by data or by its order."""
    flat = nest.flatten(inputs, expand_composites=True)
    starts = {id(x) for x in flat} | {id(x.op) for x in _variables(flat)}
    waiting, seen = nest.flatten(target, expand_composites=True), set()
    while waiting:
        x = waiting.pop()
        if id(x) in starts:
            return True
        if id(x) not in seen:
            seen.add(id(x))
            # What a variable is read for behind its change depends on what it was changed by.
            waiting.extend([*x.inputs, *x.control_inputs] if isinstance(x, Operation) else [x.op])
    return False


def _variables(flat: list[Any]) -> list[Any]:
    return [x for x in flat if not hasattr(x, "consumers") and hasattr(x, "op")]
