# SPDX-License-Identifier: Apache-2.0
"""Values of several parts that models take and give: sparse and ragged ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ....engine.graph.tensor import SparseTensorValue
from ....engine.types import nest
from ....ops.ragged.values import RaggedTensorValue


def is_value(x: object) -> bool:
    """Whether it is the value of a sparse or a ragged tensor."""
    return isinstance(x, (SparseTensorValue, RaggedTensorValue))


def is_composite(x: object) -> bool:
    """Whether it is a sparse or a ragged tensor, or the value of one."""
    return is_value(x) or nest.is_composite(x)


def shape_of(x: Any) -> tuple[int | None, ...] | None:
    """The shape of a tensor or a value, None for sizes that are open; None for an unknown rank."""
    shape = x.dense_shape if isinstance(x, SparseTensorValue) else x.shape
    if hasattr(shape, "ndims"):
        return None if shape.ndims is None else tuple(shape.as_list())
    return tuple(None if size is None else int(size) for size in shape)


def leaves(structure: Any) -> list[Any]:
    """The leaves of a structure, with values of several parts as one leaf each."""
    found: list[Any] = []
    map_leaves(found.append, structure)
    return found


def map_leaves(function: Callable[[Any], Any], structure: Any) -> Any:
    """A structure of what a function makes of the leaves, sparse values being leaves, too."""
    if is_value(structure) or not nest.is_sequence(structure):
        return function(structure)
    return nest.rebuild(structure, [map_leaves(function, x) for x in nest.children(structure)])


def graph_of(tensor: Any) -> Any:
    """The graph of a tensor, which may have several parts."""
    return nest.flatten(tensor, expand_composites=True)[0].graph


def check_parts(given: Any, wanted: Any) -> None:
    """Raises a ValueError where a value has other parts than the placeholder that it is fed to."""
    if not is_composite(given) or not nest.is_composite(wanted):
        return
    if isinstance(given, SparseTensorValue) or hasattr(given, "dense_shape"):
        fits = not hasattr(wanted, "nested_row_splits")
    else:
        fits = getattr(wanted, "ragged_rank", 0) == given.ragged_rank
    if not fits:
        raise ValueError(
            "The two structures don't have the same nested structure.\n\nFirst structure: "
            f"{given}\n\nSecond structure: {wanted}"
        )


def concatenated(parts: Sequence[Any]) -> Any:
    """The rows of several arrays, or of several sparse or ragged values, one behind the other.

    Raises:
        RuntimeError: sparse or ragged rows have other sizes.
    """
    if len(parts) == 1:
        return parts[0]
    if isinstance(parts[0], SparseTensorValue):
        return _sparse_rows(parts)
    if isinstance(parts[0], RaggedTensorValue):
        return _ragged_rows(parts)
    return np.concatenate(parts)


def _check_rows(parts: Sequence[Any]) -> None:
    first = parts[0]
    for other in parts[1:]:
        if (shape_of(other) or ())[1:] != (shape_of(first) or ())[1:]:
            raise RuntimeError(
                f"Unable to concatenate {first} and {other}. The inner dense shapes do not match: "
                f"{shape_of(first)} vs {shape_of(other)}"
            )


def _sparse_rows(parts: Sequence[SparseTensorValue]) -> SparseTensorValue:
    _check_rows(parts)
    moved, rows = [], 0
    for part in parts:
        places = np.array(part.indices)
        places[:, 0] += rows
        moved.append(places)
        rows += int(part.dense_shape[0])
    shape = np.array([rows, *parts[0].dense_shape[1:]], np.int64)
    return SparseTensorValue(
        np.concatenate(moved), np.concatenate([part.values for part in parts]), shape
    )


def _ragged_rows(parts: Sequence[RaggedTensorValue]) -> RaggedTensorValue:
    _check_rows(parts)
    values = concatenated([part.values for part in parts])
    splits = [parts[0].row_splits]
    for part in parts[1:]:
        splits.append(part.row_splits[1:] + splits[-1][-1])
    return RaggedTensorValue(values, np.concatenate(splits))
