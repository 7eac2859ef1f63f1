# SPDX-License-Identifier: Apache-2.0
"""Common shape functions; each takes a ShapeContext or returns a function that does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..types.shape import TensorShape, broadcast_static, unknown_shape

ShapeFunction = Callable[[Any], Any]


def same(index: int = 0) -> ShapeFunction:
    """Every output has the shape of an input."""
    return lambda c: [c.inputs[index]] * len(c.op.outputs)


def scalar(c: Any) -> list[TensorShape]:
    """Every output is a scalar."""
    return [TensorShape([])] * len(c.op.outputs)


def unknown(c: Any) -> list[TensorShape]:
    """Nothing is known of any output."""
    return [unknown_shape()] * len(c.op.outputs)


def broadcast(c: Any) -> TensorShape:
    """All inputs broadcast against each other."""
    result = c.inputs[0]
    for other in c.inputs[1:]:
        result = broadcast_static(result, other)
    return result


def merge(c: Any) -> TensorShape:
    """All inputs have the same shape."""
    result = c.inputs[0]
    for other in c.inputs[1:]:
        result = result.merge_with(other)
    return result


def with_rank(shape: TensorShape, rank: int) -> TensorShape:
    """The shape, checked to be of a rank, with TensorFlow's message."""
    if shape.rank is None:
        return unknown_shape(rank)
    if shape.rank != rank:
        raise ValueError(f"Shape must be rank {rank} but is rank {shape.rank}")
    return shape


def with_rank_at_least(shape: TensorShape, rank: int) -> TensorShape:
    """The shape, checked to be at least of a rank, with TensorFlow's message."""
    if shape.rank is not None and shape.rank < rank:
        raise ValueError(f"Shape must be at least rank {rank} but is rank {shape.rank}")
    return shape


def broadcast_shape(shape_x: TensorShape, shape_y: TensorShape) -> TensorShape:
    """The shape that two shapes broadcast to; ValueError when they cannot."""
    return broadcast_static(shape_x, shape_y)


def is_broadcast_compatible(shape_x: TensorShape, shape_y: TensorShape) -> bool:
    """Whether two shapes of known rank broadcast."""
    if shape_x.ndims is None or shape_y.ndims is None:
        return False
    try:
        broadcast_static(shape_x, shape_y)
    except ValueError:
        return False
    return True
