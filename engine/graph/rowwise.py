# SPDX-License-Identifier: Apache-2.0
"""How an op's work for many elements at once is stated: as nodes that do it, in its definition.

A dataset's function is of one element.  Where every op of it has such a rule (`OpDef.rows`), or is
elementwise, the dataset computes blocks of elements (ops/data/runtime/vectorizing.py).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from ..record_class import record
from .graph import get_default_graph
from .operation import Operation
from .tensor import Tensor


@record(frozen=True)
class Rows:
    """What a tensor of one element is for many of them.

    Either the same for all (`rank` is None); or a tensor with a row for each element; or, where
    sizes differ, the elements' own rows one behind the other: then `places` says, in its first
    column if it has several, of which element each row is, and `lengths`, int64, how many rows each
    element has, if anything has said so.  `rank` is an element's.
    """

    tensor: Tensor
    rank: int | None = None
    places: Tensor | None = None
    lengths: Tensor | None = None

    def of(self, tensor: Tensor) -> Rows:
        """Those of another tensor that has its rows where this one has them."""
        return dataclasses.replace(self, tensor=tensor)


# The rows of all outputs, None for those that there are not; None if there is no way to have any.
Results = Sequence[Rows | None] | None


def copied(op: Operation, inputs: Sequence[Tensor]) -> Operation:
    """The same operation on other tensors, in the default graph."""
    return get_default_graph()._create(op.definition, op.name, list(inputs), dict(op._attrs))


def elementwise(op: Operation, inputs: Sequence[Rows]) -> Results:
    """The rule of ops that compute each number of its own, if all inputs line up."""
    varying = [rows for rows in inputs if rows.rank is not None]
    if len({(rows.rank, rows.places) for rows in varying}) != 1:
        return None
    rank, places = varying[0].rank, varying[0].places
    assert rank is not None
    # Where elements' rows are one behind the other, nothing may broadcast along them.
    most = rank if places is None else rank - 1
    for rows in inputs:
        ndims = rows.tensor.shape.ndims
        if rows.rank is None and (ndims is None or ndims > most):
            return None
    try:
        made = copied(op, [rows.tensor for rows in inputs])
    except ValueError:
        # It does not broadcast, and what is the same for all elements is no scalar.
        return None
    wanted = rank + (places is None)
    if any(tensor.shape.ndims != wanted for tensor in made.outputs):
        return None
    return [varying[0].of(tensor) for tensor in made.outputs]


def of_first(op: Operation, inputs: Sequence[Rows]) -> Results:
    """The rule of ops that are elementwise in their first input, all others being the same."""
    first = inputs[0]
    if first.rank is None or any(rows.rank is not None for rows in inputs[1:]):
        return None
    made: Any = copied(op, [rows.tensor for rows in inputs])
    return [first.of(tensor) for tensor in made.outputs]
