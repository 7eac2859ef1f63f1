# SPDX-License-Identifier: Apache-2.0
"""What ops on sparse tensors share: conversion of arguments, order of indices, checks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.graph.tensor import SparseTensor, SparseTensorValue
from ...engine.types.shape import TensorShape, shape_text
from ..shape_inference import ranked

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.inference import ShapeContext


def as_sparse(value: Any) -> SparseTensor:
    """A SparseTensor, made of a SparseTensorValue where need be."""
    if isinstance(value, SparseTensorValue):
        return SparseTensor.from_value(value)
    if not isinstance(value, SparseTensor):
        raise TypeError("Input must be a SparseTensor.")
    return value


def parts(sparse: SparseTensor) -> tuple[Any, Any, Any]:
    """Indices, values and dense shape."""
    return sparse.indices, sparse.values, sparse.dense_shape


def no_gradient_yet(name: str) -> Callable[..., Any]:
    """The gradient function of an op of which TensorFlow says that it has to be written."""

    def gradient(*_: object) -> Any:
        raise NotImplementedError(f"Gradient for {name} is currently not implemented yet.")

    return gradient


def flat_places(indices: np.ndarray, shape: TensorLike) -> np.ndarray:
    """The position of each index in the flattened dense tensor."""
    sizes = np.asarray(shape, np.int64)
    places = np.zeros(len(indices), np.int64)
    # Column by column, which NumPy does much quicker than rows of two or three.
    for column, size in zip(indices.T, sizes.tolist(), strict=True):
        places = places * size + column
    return places


def indices_at(places: np.ndarray, shape: Sequence[int]) -> np.ndarray:
    """The indices of positions in the flattened dense tensor."""
    if not len(shape):
        return np.zeros((len(places), 0), np.int64)
    columns: list[np.ndarray] = []
    for size in list(shape)[:0:-1]:
        places, column = np.divmod(places, max(int(size), 1))
        columns.append(column)
    # The first index is not held against its size: sums may lie outside of it, as entries may.
    return np.stack([places, *columns[::-1]], -1).astype(np.int64)


def found_at(wanted: np.ndarray, among: np.ndarray) -> np.ndarray:
    """For each index the last place where it stands among others, -1 where it does not."""
    both = np.concatenate([wanted, among])
    if not len(wanted) or not len(among):
        return np.full(len(wanted), -1)
    low = np.array([column.min() for column in both.T], np.int64)
    sizes = np.array([column.max() for column in both.T], np.int64) - low + 1
    if np.prod(sizes.astype(np.float64)) < 2.0**62:
        keys = flat_places(both - low, sizes)
    else:
        keys = np.unique(both, axis=0, return_inverse=True)[1].reshape(-1)
    mine, theirs = keys[: len(wanted)], keys[len(wanted) :]
    order = np.argsort(theirs, kind="stable")
    place = np.searchsorted(theirs[order], mine, side="right") - 1
    found = order[np.maximum(place, 0)]
    return np.where((place >= 0) & (theirs[found] == mine), found, -1)


def _is_ascending(indices: np.ndarray) -> bool:
    """Do indices come in order, each once?"""
    order = in_order(indices)
    is_new = (np.diff(indices, axis=0) != 0).any(axis=1)
    return bool(is_new.all() and (order == np.arange(len(indices))).all())


def merged_rows(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each place of a merge of two lists the number of the index in either, -1 for none.

    Both are taken to be in order.  Where they are not, it is TensorFlow's walk through both that
    says what comes of it.
    """
    if not (_is_ascending(a) and _is_ascending(b)):
        return _walked(a.tolist(), b.tolist())
    both = np.concatenate([a, b])
    order = in_order(both)
    is_new = (np.diff(both[order], axis=0) != 0).any(axis=1)
    group = np.cumsum(np.concatenate([np.zeros(min(len(both), 1), bool), is_new]))
    places = np.full((2, int(group[-1]) + 1 if len(group) else 0), -1)
    is_other = order >= len(a)
    places[is_other.astype(np.int64), group] = order - np.where(is_other, len(a), 0)
    return places[0], places[1]


def _walked(a: list[Any], b: list[Any]) -> tuple[np.ndarray, np.ndarray]:
    """As `merged_rows`, index by index."""
    pairs, i, j = [], 0, 0
    while i < len(a) or j < len(b):
        takes_a = j == len(b) or (i < len(a) and a[i] <= b[j])
        takes_b = i == len(a) or (j < len(b) and b[j] <= a[i])
        pairs.append((i if takes_a else -1, j if takes_b else -1))
        i, j = i + takes_a, j + takes_b
    found = np.array(pairs, np.int64).reshape(-1, 2)
    return found[:, 0], found[:, 1]


def parted_rows(a: np.ndarray, b: np.ndarray, whole: np.ndarray) -> list[np.ndarray]:
    """For each index of two lists its place in a whole, -1 where it has none.

    All are taken to be in order; else it is TensorFlow's walk that says what comes of it.
    """
    if all(map(_is_ascending, (a, b, whole))):
        return [found_at(side, whole) for side in (a, b)]
    sides, all_rows = (a.tolist(), b.tolist()), whole.tolist()
    found, at, k = [np.full(len(side), -1) for side in sides], [0, 0], 0
    while k < len(all_rows) and any(i < len(side) for i, side in zip(at, sides, strict=True)):
        is_past = True
        for n, side in enumerate(sides):
            if at[n] == len(side) or side[at[n]] > all_rows[k]:
                continue
            if side[at[n]] == all_rows[k]:
                found[n][at[n]] = k
            else:
                is_past = False
            at[n] += 1
        k += is_past
    return found


def require_shape(shape: np.ndarray) -> None:
    """Raises InvalidArgumentError for a negative size, or too large a tensor."""
    total = 1
    for i, size in enumerate(shape.tolist()):
        total *= size
        if size < 0:
            raise errors.invalid(f"Dimension {i} must be >= 0, but is {size}")
        if total >= 2**63:
            raise errors.invalid(
                f"A tensor of shape {shape_text(shape.tolist())} has too many elements"
            )


def in_order(indices: np.ndarray) -> np.ndarray:
    """The permutation that sorts indices row by row, stably."""
    # The last key is the most significant one.
    return np.lexsort(indices.T[::-1]) if indices.shape[1] else np.arange(len(indices))


def _index_text(place: int, index: np.ndarray) -> str:
    return f"indices[{place}] = {shape_text(index.tolist())}"


def inside_of(indices: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Which indices lie in a block."""
    inside = np.ones(len(indices), bool)
    for column, first, behind in zip(indices.T, start.tolist(), end.tolist(), strict=True):
        inside &= (column >= first) & (column < behind)
    return inside


def require_inside(indices: np.ndarray, shape: np.ndarray) -> None:
    """Raises InvalidArgumentError for an index outside of the dense shape."""
    inside = inside_of(indices, np.zeros_like(shape), shape)
    if not inside.all():
        i = int(np.argmin(inside))
        raise errors.invalid(
            f"{_index_text(i, indices[i])} is out of bounds: need 0 <= index < "
            f"{shape_text(shape.tolist())}"
        )


def require_order(indices: np.ndarray, shape: np.ndarray) -> None:
    """Raises InvalidArgumentError for indices that are repeated or out of order."""
    require_inside(indices, shape)
    steps = np.diff(flat_places(indices, shape))
    if (steps <= 0).any():
        i = int(np.argmax(steps <= 0)) + 1
        problem = "is repeated" if steps[i - 1] == 0 else "is out of order"
        raise errors.invalid(f"{_index_text(i, indices[i])} {problem}")


def sparse_shapes(c: ShapeContext, first: int = 0) -> tuple[int | None, int | None]:
    """Static number of entries and rank of a sparse argument; checks the ranks of its parts."""
    rows, columns = ranked(c.inputs[first], 2)
    (count,) = ranked(c.inputs[first + 1], 1)
    (rank,) = ranked(c.inputs[first + 2], 1)
    return (count if rows is None else rows), (rank if columns is None else columns)


def sparse_result(count: int | None, rank: int | None) -> list[TensorShape]:
    """The static shapes of the parts of a sparse result."""
    return [TensorShape([count, rank]), TensorShape([count]), TensorShape([rank])]


# [[0, 1.5, 0], [-2, 0, 0.5]] and another one of the same shape.
SAMPLE = [
    np.array([[0, 1], [1, 0], [1, 2]]),
    np.array([1.5, -2, 0.5], np.float32),
    np.array([2, 3]),
]
OTHER = [np.array([[0, 0], [1, 0]]), np.array([4.0, 0.25], np.float32), np.array([2, 3])]


def indices_of(lengths: Sequence[int] | np.ndarray) -> np.ndarray:
    """The places of values in a sparse matrix whose rows have so many each."""
    if len(lengths) == 1:
        result = np.zeros((lengths[0], 2), np.int64)
        result[:, 1] = np.arange(lengths[0])
        return result
    if isinstance(lengths, list) and lengths and lengths.count(lengths[0]) == len(lengths):
        # As what is taken apart in pairs: a matrix without gaps.
        whole = np.empty((len(lengths), lengths[0], 2), np.int64)
        whole[:, :, 0] = np.arange(len(lengths))[:, None]
        whole[:, :, 1] = np.arange(lengths[0])
        return whole.reshape(-1, 2)
    counts = np.asarray(lengths, np.int64)
    rows = np.arange(len(counts)).repeat(counts)
    result = np.empty((len(rows), 2), np.int64)
    starts = counts.cumsum()
    starts -= counts
    result[:, 0] = rows
    np.subtract(np.arange(len(rows)), starts[rows], out=result[:, 1])
    return result
