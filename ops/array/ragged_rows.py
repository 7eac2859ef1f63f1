# SPDX-License-Identifier: Apache-2.0
"""What is done with elements of a dataset that differ in their first size, for many at once.

Their rows lie one behind the other (engine/graph/rowwise.py).  What picks rows of each element
picks ranges of all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...engine.graph import rowwise
from ...engine.graph.constants import constant_value
from ...engine.types import dtypes
from ..public import raw, tf

if TYPE_CHECKING:
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor


def is_ragged(rows: rowwise.Rows) -> bool:
    """Whether elements differ in their first size, and it is known how many rows each has."""
    return rows.places is not None and rows.lengths is not None


def of_lengths(tensor: Any, rank: int, lengths: Any) -> rowwise.Rows:
    """Elements of so many rows each, int64, which lie one behind the other."""
    places = tf.range(tf.reduce_sum(lengths))
    owners = tf.searchsorted(tf.cumsum(lengths), places, side="right", out_type=dtypes.int64)
    return rowwise.Rows(tensor, rank, owners, lengths)


def counted(owners: Any, count: Any) -> Tensor:
    """How many rows each of `count` elements has, int64; owners: whose each row is, in order."""
    return tf.unsorted_segment_sum(tf.ones_like(owners, dtype=dtypes.int64), owners, count)


def _starts(lengths: Any) -> Any:
    """Where the rows of elements begin among all."""
    return tf.cumsum(lengths, exclusive=True)


def _ranges(starts: Any, limits: Any, step: int = 1) -> Tensor:
    """The numbers of ranges, one behind the other."""
    return raw.RaggedRange(starts, limits, tf.constant(step, dtypes.int64)).rt_dense_values


def _row_size(rows: rowwise.Rows) -> int | None:
    """How many numbers a row of an element has; None where that is not known."""
    found: int | None = rows.tensor.shape[1:].num_elements()
    return found


def size_rows(op: Operation, inputs: Sequence[rowwise.Rows]) -> rowwise.Results:
    """How many numbers each element has."""
    (given,), kind = inputs, op._attrs["out_type"]
    if given.places is None:
        sizes = tf.shape(given.tensor)
        found = tf.fill(sizes[:1], tf.cast(tf.reduce_prod(sizes[1:]), kind))
    else:
        size = _row_size(given)
        if size is None or given.lengths is None:
            return None
        found = tf.cast(given.lengths * size, kind)
    return [rowwise.Rows(found, 0)]


def shape_rows(op: Operation, inputs: Sequence[rowwise.Rows]) -> rowwise.Results:
    """The sizes of each element."""
    (given,), kind = inputs, op._attrs["out_type"]
    assert given.rank is not None
    sizes = tf.shape(given.tensor, out_type=dtypes.int64)
    if given.places is None:
        columns = [
            tf.fill(tf.cast(sizes[:1], dtypes.int32), sizes[1 + i]) for i in range(given.rank)
        ]
    elif given.lengths is None:
        return None
    else:
        rest = [sizes[i] + tf.zeros_like(given.lengths) for i in range(1, given.rank)]
        columns = [given.lengths, *rest]
    if not columns:
        return None
    return [rowwise.Rows(tf.cast(tf.stack(columns, axis=1), kind), 1)]


def fill_rows(op: Operation, inputs: Sequence[rowwise.Rows]) -> rowwise.Results:
    """Vectors as long as each element says."""
    sizes, value = inputs
    is_of_one = sizes.places is None and sizes.tensor.shape.as_list()[1:] == [1]
    if sizes.rank != 1 or not is_of_one or value.rank is not None:
        return None
    lengths = tf.cast(sizes.tensor[:, 0], dtypes.int64)
    # (None is shorter than nothing: the run fails, as it does for that element.)
    whole = tf.reduce_sum(lengths) + tf.cast(tf.reduce_any(lengths < 0), dtypes.int64) * -(1 << 62)
    return [of_lengths(raw.Fill(tf.reshape(whole, [1]), value.tensor), 1, lengths)]


def cut(op: Operation, inputs: Sequence[rowwise.Rows]) -> rowwise.Results:
    """A stretch of the rows of each element, or one row of it."""
    given, *ranges = inputs
    attrs, wanted = op._attrs, [rows.tensor for rows in ranges]
    if not is_ragged(given) or any(t.shape.as_list() != [1] for t in wanted):
        return None
    step = constant_value(wanted[2])
    if step is None or attrs["ellipsis_mask"] or attrs["new_axis_mask"]:
        return None
    if int(step[0]) == -1 and attrs["begin_mask"] and attrs["end_mask"]:
        return reversed_rows(op, inputs)
    if int(step[0]) != 1:
        return None
    lengths: Any = given.lengths
    begin, end = (tf.cast(tensor[0], dtypes.int64) for tensor in wanted[:2])

    def place(number: Any) -> Any:
        return number + tf.cast(number < 0, dtypes.int64) * lengths

    starts = _starts(lengths)
    if attrs["shrink_axis_mask"]:
        at = place(begin)
        # (No row has the number -1: where there is none such, the run fails.)
        is_there = tf.cast((at >= 0) & (at < lengths), dtypes.int64)
        found = tf.gather(given.tensor, (starts + at + 1) * is_there - 1)
        return [rowwise.Rows(found, (given.rank or 1) - 1)]
    none = tf.zeros_like(lengths)
    low = none if attrs["begin_mask"] else tf.clip_by_value(place(begin), none, lengths)
    high = lengths if attrs["end_mask"] else tf.clip_by_value(place(end), low, lengths)
    return [_picked(given, starts + low, starts + tf.maximum(low, high))]


def _picked(given: rowwise.Rows, starts: Any, limits: Any) -> rowwise.Rows:
    """Of each element the rows of a range among those of all."""
    assert given.rank is not None
    found = tf.gather(given.tensor, _ranges(starts, limits))
    return of_lengths(found, given.rank, limits - starts)


def reversed_rows(op: Operation, inputs: Sequence[rowwise.Rows]) -> rowwise.Results:
    """The rows of each element the other way round."""
    given = inputs[0]
    if not is_ragged(given):
        return None
    starts = _starts(given.lengths) - 1
    return [given.of(tf.gather(given.tensor, _ranges(starts + given.lengths, starts, -1)))]


def joined(op: Operation, values: Sequence[rowwise.Rows]) -> rowwise.Results:
    """The rows of elements, and what is the same for all, behind each other."""
    if not all(is_ragged(rows) or rows.rank is None for rows in values):
        return None
    tensors = [rows.tensor for rows in values]
    if len({str(tensor.shape[1:]) for tensor in tensors}) != 1:
        return None
    like = next(rows for rows in values if rows.rank is not None)
    none, at = tf.zeros_like(like.lengths), tf.constant(0, dtypes.int64)
    starts, lengths = [], []
    for rows in values:
        count = tf.shape(rows.tensor, out_type=dtypes.int64)[0]
        is_fixed = rows.rank is None
        starts.append(at + (none if is_fixed else _starts(rows.lengths)))
        lengths.append(none + count if is_fixed else rows.lengths)
        at += count
    # Of each element its part of each value.
    first, many = (tf.reshape(tf.stack(each, axis=1), [-1]) for each in (starts, lengths))
    found = tf.gather(tf.concat(tensors, 0), _ranges(first, first + many))
    assert like.rank is not None
    return [of_lengths(found, like.rank, tf.add_n(lengths))]


def where_rows(op: Operation, inputs: Sequence[rowwise.Rows]) -> rowwise.Results:
    """The coordinates within each element."""
    (given,) = inputs
    assert given.rank is not None
    if given.places is None:
        if not given.rank:
            return None
        found = raw.Where(given.tensor)
        count = tf.shape(given.tensor)[0]
        return [rowwise.Rows(found[:, 1:], 2, found, counted(found[:, 0], count))]
    if not is_ragged(given) or given.rank != 1:
        return None
    at = raw.Where(given.tensor)[:, 0]
    owners = tf.gather(_owners(given), at)
    own = at - tf.gather(_starts(given.lengths), owners)
    lengths = counted(owners, _count_of(given))
    return [rowwise.Rows(tf.expand_dims(own, 1), 2, owners, lengths)]


def _count_of(rows: rowwise.Rows) -> Tensor:
    """How many elements there are."""
    lengths: Any = rows.lengths
    return tf.shape(lengths)[0]


def _owners(rows: rowwise.Rows) -> Any:
    places: Any = rows.places
    return places[:, 0] if places.shape.ndims == 2 else places


_SEGMENTS = {
    "Sum": "unsorted_segment_sum",
    "Max": "unsorted_segment_max",
    "Min": "unsorted_segment_min",
}


def reduction_rows(op: Operation, inputs: Sequence[rowwise.Rows]) -> rowwise.Results:
    """Over known axes of each element, of what is not rounded."""
    given, axes = inputs[0], constant_value(op._inputs_val[1])
    kind = given.tensor.dtype
    if given.rank is None or axes is None or not (kind.is_integer or kind.is_bool):
        return None
    rank = given.rank
    over = sorted({int(axis) % rank for axis in axes.reshape(-1)}) if rank else []
    if given.places is None:
        moved = tf.constant([axis + 1 for axis in over], op._attrs["Tidx"])
        reduced = rowwise.copied(op, [given.tensor, moved])
        left = rank if op._attrs["keep_dims"] else rank - len(over)
        return [rowwise.Rows(reduced.outputs[0], left)]
    if over != list(range(rank)) or op._attrs["keep_dims"] or op.type not in _SEGMENTS:
        return None
    if not is_ragged(given) or kind not in (dtypes.int32, dtypes.int64):
        return None
    inner = getattr(raw, op.type)(given.tensor, tf.range(1, rank))
    total = getattr(tf, _SEGMENTS[op.type])(inner, _owners(given), _count_of(given))
    return [rowwise.Rows(total, 0)]
