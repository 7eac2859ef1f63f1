# SPDX-License-Identifier: Apache-2.0
"""Operations whose sizes are known only once what stands before them has run.

A plan ends in front of such an operation.  With its inputs at hand its sizes are known: they are
what small vectors of integers among them hold, or what the op's `result_sizes` finds.  So it need
not run on the host: it begins the next plan, to which those numbers are fed as sizes.
Imports the front end of the compiler.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine.graph.operation import group
from ..trace.segment import ResultSizes, may_be_sizes

if TYPE_CHECKING:
    from ...engine.graph.operation import Operation


class LateSizes:
    """What is known of the operations of one runner that ended a segment."""

    def __init__(self, evaluate: Any) -> None:
        self._evaluate = evaluate
        # By number of an operation: what its segment is given besides what is live there.
        self._given: dict[int, list[ResultSizes]] = {}
        self._hosted: set[int] = set()

    def given(self, start: int) -> list[ResultSizes]:
        """What the segment that begins with an operation is given besides tensors."""
        return self._given.get(start, [])

    def leave(self, start: int) -> None:
        """The operation ended its own segment as well: it runs on the host."""
        self._hosted.add(start)

    def settle(
        self, start: int, op: Operation, before: Sequence[Any], known: dict[Any, Any]
    ) -> bool:
        """Whether an operation that ended a segment may begin the next one.

        before: the inputs of the segment that it ended.  Puts the sizes into what is known.
        """
        definition = op.definition
        if start in self._hosted or definition.lower is None:
            return False
        if definition.result_sizes is None:
            if definition.dynamic_shape or not any(
                may_be_sizes(tensor) and tensor not in before for tensor in op._inputs_val
            ):
                return False
            return all(tensor in known for tensor in op._inputs_val if may_be_sizes(tensor))
        if not all(tensor in known for tensor in op._inputs_val):
            return False
        inputs = group(definition.inputs, op._attrs, [known[t] for t in op._inputs_val])
        found = definition.result_sizes(self._evaluate.context(op), *inputs)
        if found is None:  # reference kernels say what is wrong
            return False
        sizes = np.asarray(found, np.int64)
        (key,) = self._given.setdefault(start, [ResultSizes(op, len(sizes))])
        known[key] = sizes
        return True
