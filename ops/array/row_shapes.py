# SPDX-License-Identifier: Apache-2.0
"""What moves elements of a dataset, for many at once (engine/graph/rowwise.py).

Their dimensions stand behind that of the elements.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine.graph import rowwise
from ...engine.graph.constants import constant_value
from ...engine.graph.graph import get_default_graph
from ...engine.types.shape import TensorShape
from ..public import raw, tf

if TYPE_CHECKING:
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor


def _late(name: str) -> Callable[[Operation, Sequence[rowwise.Rows]], rowwise.Results]:
    """A rule of ragged_rows.py, which is imported by who asks for it."""

    def rule(op: Operation, inputs: Sequence[rowwise.Rows]) -> rowwise.Results:
        from . import ragged_rows

        found: rowwise.Results = getattr(ragged_rows, name)(op, inputs)
        return found

    return rule


size_rows, shape_rows = _late("size_rows"), _late("shape_rows")
where_rows, fill_rows = _late("where_rows"), _late("fill_rows")
reduction_rows = _late("reduction_rows")
_cut, _joined, _reversed = _late("cut"), _late("joined"), _late("reversed_rows")


def reshape_rows(op: Operation, inputs: Sequence[rowwise.Rows]) -> rowwise.Results:
    """Elements of known sizes."""
    given, wanted = inputs[0], constant_value(op._inputs_val[1])
    if given.rank is None or given.places is not None or wanted is None or np.ndim(wanted) != 1:
        return None
    sizes = given.tensor.shape.as_list()[1:]
    count = TensorShape(sizes).num_elements()
    found = [int(size) for size in wanted]
    if count is None:
        return None if -1 in found else [_of_sizes(given.tensor, found)]
    if found.count(-1) == 1:
        rest = -math.prod(found)
        if rest <= 0 or count % rest:
            return None
        found[found.index(-1)] = count // rest
    if math.prod(found) != count or min(found, default=1) < 0:
        return None
    return [rowwise.Rows(raw.Reshape(given.tensor, [-1, *found]), len(found))]


def _of_sizes(tensor: Any, sizes: list[int]) -> rowwise.Rows:
    """Elements, whatever their sizes are, in these; an error of the run if they do not fit."""
    count = tf.shape(tensor)[:1]
    shaped = raw.Reshape(tensor, tf.concat([count, tf.constant(sizes, tf.int32)], 0))
    shaped.set_shape([None, *sizes])
    return rowwise.Rows(shaped, len(sizes))


def _is_plain(rows: rowwise.Rows) -> bool:
    """Whether a tensor has a row for each element."""
    return rows.rank is not None and rows.places is None


def transpose_rows(op: Operation, inputs: Sequence[rowwise.Rows]) -> rowwise.Results:
    """Of a known order of dimensions."""
    given, order = inputs[0], constant_value(op._inputs_val[1])
    if not _is_plain(given) or order is None:
        return None
    moved = [0, *(int(axis) + 1 for axis in order)]
    return [rowwise.Rows(raw.Transpose(given.tensor, moved), given.rank)]


def _behind(first: int, tensor: Any) -> Tensor:
    """A vector of a number and those of a tensor."""
    return tf.concat([tf.constant([first], tensor.dtype), tensor], 0)


def slice_rows(op: Operation, inputs: Sequence[rowwise.Rows]) -> rowwise.Results:
    """The same box of all elements."""
    given, begin, size = inputs
    if not _is_plain(given) or begin.rank is not None or size.rank is not None:
        return None
    corner, sizes = _behind(0, begin.tensor), _behind(-1, size.tensor)
    return [rowwise.Rows(raw.Slice(given.tensor, corner, sizes), given.rank)]


def strided_slice_rows(op: Operation, inputs: Sequence[rowwise.Rows]) -> rowwise.Results:
    """The same part of all elements; all of the dimension of these is in it."""
    given, *ranges = inputs
    if given.rank is None or any(rows.rank is not None for rows in ranges):
        return None
    if given.places is not None:
        return _cut(op, inputs)
    begin, end, strides = (_behind(i == 2, rows.tensor) for i, rows in enumerate(ranges))
    attrs = {
        name: value << 1 | (name in ("begin_mask", "end_mask"))
        for name, value in op._attrs.items()
        if name.endswith("_mask")
    }
    found = raw.StridedSlice(given.tensor, begin, end, strides, **attrs)
    rank = found.shape.ndims
    return None if rank is None else [rowwise.Rows(found, rank - 1)]


def concat_rows(op: Operation, inputs: Sequence[rowwise.Rows]) -> rowwise.Results:
    """Elements joined along a known dimension."""
    *values, _ = inputs
    axis = constant_value(op._inputs_val[-1])
    if axis is None:
        return None
    place = int(axis)
    if place == 0 and any(rows.places is not None for rows in values):
        return _joined(op, values)
    if not all(map(_is_plain, values)):
        return None
    joined = raw.ConcatV2([rows.tensor for rows in values], place + (place >= 0))
    return [rowwise.Rows(joined, values[0].rank)]


def reverse_rows(op: Operation, inputs: Sequence[rowwise.Rows]) -> rowwise.Results:
    """Elements with known dimensions of theirs the other way round."""
    given, axes = inputs[0], constant_value(op._inputs_val[1])
    if given.rank is None or axes is None:
        return None
    if given.places is None:
        moved = [int(axis) + 1 if axis >= 0 else int(axis) for axis in axes]
        order = tf.constant(moved, op._attrs["Tidx"])
        return [given.of(rowwise.copied(op, [given.tensor, order]).outputs[0])]
    is_along_rows = [int(axis) % given.rank for axis in axes] == [0]
    return _reversed(op, inputs) if is_along_rows else None


def one_hot_rows(op: Operation, inputs: Sequence[rowwise.Rows]) -> rowwise.Results:
    """Of places of elements, all else being the same."""
    given, *others = inputs
    axis = op._attrs["axis"]
    if not _is_plain(given) or any(rows.rank is not None for rows in others):
        return None
    assert given.rank is not None
    attrs = {**op._attrs, "axis": axis + 1 if axis >= 0 else axis}
    tensors = [rows.tensor for rows in inputs]
    made = get_default_graph()._create(op.definition, op.name, tensors, attrs)
    return [rowwise.Rows(made.outputs[0], given.rank + 1)]


def expand_dims_rows(op: Operation, inputs: Sequence[rowwise.Rows]) -> rowwise.Results:
    """The same dimension behind that of the elements."""
    given, axis = inputs[0], constant_value(op._inputs_val[1])
    if not _is_plain(given) or axis is None:
        return None
    assert given.rank is not None
    place = int(np.ravel(axis)[0])
    expanded = raw.ExpandDims(given.tensor, place + 1 if place >= 0 else place)
    return [rowwise.Rows(expanded, given.rank + 1)]
