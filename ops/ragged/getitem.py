# SPDX-License-Identifier: Apache-2.0
"""Indices and slices of ragged tensors, as of lists of lists.

Only the first axis takes a number: on a ragged axis, rows may be too short to have an entry there.
Slices, new axes and ellipses go everywhere; below the ragged axes all of a Tensor's do.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.scope_functions import name_scope
from ...engine.graph.tensor import Tensor
from ...engine.types.nest import as_list
from ..public import tf
from .gather import gather
from .reduce import ragged_range
from .tensor import RaggedTensor

_ALL = slice(None, None, None)


def ragged_tensor_getitem(self: RaggedTensor, key: Any) -> Any:
    """The part of a ragged tensor at a key, or at several in a tuple or list.

    Raises ValueError for a number on a ragged axis, TypeError for what is no integer.
    """
    keys = as_list(key)
    with name_scope(None, "RaggedGetItem", [self, *_tensors_in(key)]):
        return _item(self, keys)


def _tensors_in(key: Any) -> Iterator[Tensor]:
    if isinstance(key, Tensor):
        yield key
    elif isinstance(key, (list, tuple)):
        for part in key:
            yield from _tensors_in(part)
    elif isinstance(key, slice):
        yield from _tensors_in([key.start, key.stop, key.step])


def _item(ragged: RaggedTensor, keys: list[Any]) -> Any:
    """Keys from the first axis on."""
    if not keys:
        return ragged
    first, rest = keys[0], keys[1:]
    if first is Ellipsis:
        return _item(ragged, _without_ellipsis(keys, ragged.shape.ndims))
    if first is None:
        inner = _item(ragged, rest)
        splits = tf.stack([0, _rows_of(inner)])
        return RaggedTensor.from_row_splits(inner, splits, validate=False)
    if isinstance(first, slice):
        return _inner_item(_sliced_rows(ragged, first), rest)
    starts, limits = ragged.row_splits[:-1], ragged.row_splits[1:]
    return ragged.values[starts[first] : limits[first]].__getitem__(rest)


def _rows_of(inner: Any) -> Tensor:
    splits = inner.row_splits
    return tf.shape(splits, out_type=splits.dtype)[0] - 1


def _sliced_rows(ragged: RaggedTensor, rows: slice) -> RaggedTensor:
    if rows == _ALL:
        return ragged
    starts, limits = ragged.row_splits[:-1][rows], ragged.row_splits[1:][rows]
    zero = tf.zeros([1], ragged.row_splits.dtype)
    if rows.step is not None and rows.step != 1:
        return _of_ranges(starts, limits, 1, ragged.values)
    # The rows lie side by side, and so do their values.  (Without rows, the only split is 0.)
    splits = tf.concat([zero[tf.size(starts) :], starts[:1], limits], axis=0)
    first, last = splits[0], splits[-1]
    values = ragged.values[first:last]
    return RaggedTensor.from_row_splits(values, splits - first, validate=False)


def _inner_item(ragged: Any, keys: list[Any]) -> Any:
    """Keys from the second axis on."""
    if not keys:
        return ragged
    if isinstance(ragged, Tensor):
        return ragged.__getitem__([_ALL, *keys])
    first, rest = keys[0], keys[1:]
    if first is Ellipsis:
        return _inner_item(ragged, _without_ellipsis(keys, ragged.values.shape.ndims))
    if first is None:
        inner = _inner_item(ragged, rest)
        splits = inner.row_splits
        rows = tf.range(tf.shape(splits, out_type=splits.dtype)[0])
        return RaggedTensor.from_row_splits(inner, rows, validate=False)
    if not isinstance(first, slice):
        raise ValueError("Cannot index into an inner ragged dimension.")
    if first != _ALL:
        ragged = _sliced_columns(ragged, first)
    return ragged.with_values(_inner_item(ragged.values, rest))


def _sliced_columns(ragged: RaggedTensor, columns: slice) -> RaggedTensor:
    splits = ragged.row_splits
    starts, limits = splits[:-1], splits[1:]
    if columns.start is not None and columns.start != 0:
        starts = _moved(columns.start, splits[:-1], splits[1:])
    if columns.stop is not None and columns.stop != 0:
        limits = _moved(columns.stop, splits[:-1], splits[1:])
    return _of_ranges(starts, limits, columns.step, ragged.values)


def _moved(offset: Any, starts: Tensor, limits: Tensor) -> Tensor:
    """The place of an offset in each row, from its end if negative, kept inside of it."""

    def from_start() -> Tensor:
        return tf.minimum(starts + offset, limits)

    def from_end() -> Tensor:
        return tf.maximum(limits + offset, starts)

    if isinstance(offset, Tensor):
        offset = tf.cast(offset, starts.dtype)
        return tf.cond(offset >= 0, from_start, from_end)
    if not isinstance(offset, int):
        raise TypeError("slice offsets must be integers or None")
    return from_start() if offset > 0 else from_end()


def _of_ranges(starts: Any, limits: Any, step: Any, values: Any) -> RaggedTensor:
    """Rows of every `step`-th value in ranges of them."""
    step = convert_to_tensor(1 if step is None else step, name="step")
    if not step.dtype.is_integer:
        raise TypeError("slice strides must be integers or None")
    step = tf.cast(step, starts.dtype)
    places = ragged_range(starts, limits, step, row_splits_dtype=starts.dtype)
    pick = tf.gather if isinstance(values, Tensor) else gather
    return places.with_values(pick(values, places.values))


def _without_ellipsis(keys: list[Any], rank: int | None) -> list[Any]:
    """The keys with one more axis taken whole in front of the ellipsis, or without it at last."""
    if rank is None:
        raise ValueError("Ellipsis not supported for unknown shape RaggedTensors")
    count = sum(key is not None for key in keys)
    if count > rank + 1:
        raise IndexError("Too many indices for RaggedTensor")
    return keys[1:] if count == rank + 1 else [_ALL, *keys]
