# SPDX-License-Identifier: Apache-2.0
"""Sorting along an axis, by way of `top_k`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine.api import export
from ...engine.graph.constants import constant_value
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.scope_functions import name_scope
from ..public import raw, tf

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.tensor import Tensor

_DIRECTIONS = ("ASCENDING", "DESCENDING")


def _last_and(axis: int, rank: Tensor, static_rank: int | None) -> Tensor:
    """The permutation that exchanges an axis and the last one."""
    if static_rank is not None:
        order = np.arange(static_rank)
        order[[axis, -1]] = order[[-1, axis]]
        return tf.constant(order, name="transposition")
    parts = [tf.range(axis), [rank - 1], tf.range(axis + 1, rank - 1), [axis]]
    return tf.concat(parts, axis=0)


def _descending(values: Tensor, axis: Any, want_indices: bool) -> Tensor:
    k = tf.shape(values)[axis]
    # TopK sorts rows, so another axis changes places with the last one and back.
    rank, static_rank = tf.rank(values), values.shape.ndims
    if axis == -1 or axis + 1 == static_rank:
        top, indices = raw.TopKV2(values, k)
        return indices if want_indices else top
    if axis < 0:
        axis += static_rank or rank
    order = _last_and(axis, rank, static_rank)
    top, indices = raw.TopKV2(tf.transpose(values, order), k)
    return tf.transpose(indices if want_indices else top, order)


def _sorted(values: Tensor, axis: TensorLike, direction: str, want_indices: bool) -> Tensor:
    if direction not in _DIRECTIONS:
        raise ValueError(f"{direction} should be one of {', '.join(_DIRECTIONS)}")
    axis = convert_to_tensor(axis, name="axis")
    known = constant_value(axis)
    if axis.shape.ndims != 0 or known is None:
        raise ValueError("axis must be a constant scalar")
    values = convert_to_tensor(values, name="values")
    if direction == "DESCENDING":
        return _descending(values, int(known), want_indices)
    # The greatest of the negated values come first.
    result = _descending(-values, int(known), want_indices)
    return result if want_indices else -result


@export("sort")
def sort(values: Any, axis: Any = -1, direction: str = "ASCENDING", name: str | None = None) -> Any:
    """The values in order along an axis."""
    with name_scope(name, "sort"):
        return _sorted(values, axis, direction, False)


@export("argsort")
def argsort(
    values: Any,
    axis: Any = -1,
    direction: str = "ASCENDING",
    stable: bool = False,
    name: str | None = None,
) -> Any:
    """The indices that put the values in order along an axis; always stable."""
    del stable
    with name_scope(name, "argsort"):
        return _sorted(values, axis, direction, True)
