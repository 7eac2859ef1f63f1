# SPDX-License-Identifier: Apache-2.0
"""Reshape and ExpandDims of many elements of a dataset at once (engine/graph/rowwise.py)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...engine.graph import rowwise
from ...engine.graph.constants import constant_value
from ...engine.types.shape import TensorShape
from ..public import raw

if TYPE_CHECKING:
    from ...engine.graph.operation import Operation


def reshape_rows(op: Operation, inputs: Sequence[rowwise.Rows]) -> rowwise.Results:
    """Elements of known sizes."""
    given, wanted = inputs[0], constant_value(op._inputs_val[1])
    if given.rank is None or given.places is not None or wanted is None or np.ndim(wanted) != 1:
        return None
    sizes = given.tensor.shape.as_list()[1:]
    count = TensorShape(sizes).num_elements()
    if count is None:
        return None
    found = [int(size) for size in wanted]
    if found.count(-1) == 1:
        rest = -math.prod(found)
        if rest <= 0 or count % rest:
            return None
        found[found.index(-1)] = count // rest
    if math.prod(found) != count or min(found, default=1) < 0:
        return None
    return [rowwise.Rows(raw.Reshape(given.tensor, [-1, *found]), len(found))]


def expand_dims_rows(op: Operation, inputs: Sequence[rowwise.Rows]) -> rowwise.Results:
    """The same dimension behind that of the elements."""
    given, axis = inputs[0], constant_value(op._inputs_val[1])
    if given.rank is None or given.places is not None or axis is None:
        return None
    place = int(np.ravel(axis)[0])
    expanded = raw.ExpandDims(given.tensor, place + 1 if place >= 0 else place)
    return [rowwise.Rows(expanded, given.rank + 1)]
