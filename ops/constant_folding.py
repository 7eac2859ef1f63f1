# SPDX-License-Identifier: Apache-2.0
"""What the graph tells of shape arithmetic before it runs: the ops that TensorFlow looks through.

How far its Python and its shape refiner look decides which nodes the public functions make,
so the list is theirs and no longer.  The modules of `ops` itself are loaded after all families.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.graph.constants import Look, constant_value, evaluate_shape
from ..engine.graph.registry import Folding, amend
from ..engine.types.shape import TensorShape, as_shape, unknown_shape

if TYPE_CHECKING:
    from ..engine.graph.operation import Operation


def _shapes(shapes: Sequence[TensorShape], dtype: np.dtype[Any]) -> list[np.ndarray] | None:
    if not all(shape.is_fully_defined() for shape in shapes):
        return None
    return [np.asarray(shape.sizes, dtype) for shape in shapes]


def _counts(shapes: Sequence[TensorShape], dtype: np.dtype[Any]) -> list[np.ndarray] | None:
    if not all(shape.is_fully_defined() for shape in shapes):
        return None
    return [np.asarray(shape.num_elements(), dtype) for shape in shapes]


def _ranks(shapes: Sequence[TensorShape], dtype: np.dtype[Any]) -> list[np.ndarray] | None:
    del dtype
    return None if shapes[0].rank is None else [np.asarray(shapes[0].rank, np.int32)]


def _nothing(shapes: Sequence[TensorShape], dtype: np.dtype[Any]) -> None:
    """Not even where the input is known: a run may feed another value."""
    del shapes, dtype


def _input_shape(op: Operation, index: int, look: Look) -> TensorShape:
    del look
    return op.inputs[index].shape


def _packed(op: Operation, index: int, look: Look) -> TensorShape:
    del index
    return TensorShape([_dimension(look(part)) for part in op.inputs])


def _dimension(value: np.ndarray | None) -> int | None:
    return None if value is None or value < 0 else int(value)


def _joined(parts: Sequence[Any], look: Look) -> TensorShape:
    shape = as_shape([])
    for part in parts:
        shape = shape.concatenate(evaluate_shape(part, look))
    return shape


def _sliced(op: Operation, index: int, look: Look) -> TensorShape:
    """A plain slice of one dimension of a shape; anything else is unknown."""
    del index
    masks = [op._attrs[f"{name}_mask"] for name in ("begin", "end")]
    others = [op._attrs[f"{name}_mask"] for name in ("ellipsis", "new_axis", "shrink_axis")]
    if any(others) or any(mask not in (0, 1) for mask in masks):
        return unknown_shape()
    bounds: list[int | None] = []
    for tensor, mask in zip(op.inputs[1:], [*masks, 0]):
        value = None if mask else look(tensor)
        if tensor.shape.sizes != (1,) or (value is None and not mask):
            return unknown_shape()
        bounds.append(None if value is None else int(value[0]))
    shape = evaluate_shape(op.inputs[0], look)
    return shape if shape.rank is None else shape[slice(*bounds)]


def _partly_packed(op: Operation) -> Any:
    parts = [constant_value(tensor) for tensor in op.inputs]
    if all(part is None for part in parts):
        return None
    items = [part.tolist() if isinstance(part, np.ndarray) else part for part in parts]
    return np.array(items, dtype=object)


def _always(op: Operation) -> bool:
    return True


FOLDING = {
    "Shape": Folding(_shapes, _input_shape, _always),
    "ShapeN": Folding(None, _input_shape),
    "PlaceholderWithDefault": Folding(_nothing),
    "Size": Folding(_counts, None, _always),
    "Rank": Folding(_ranks, None, _always),
    "Pack": Folding(None, _packed, lambda op: op._attrs["axis"] == 0, _partly_packed),
    "Concat": Folding(None, lambda op, index, look: _joined(op.inputs[1:], look), _always),
    "ConcatV2": Folding(None, lambda op, index, look: _joined(op.inputs[:-1], look), _always),
    "StridedSlice": Folding(None, _sliced),
    **{
        name: Folding(None, None, _always)
        for name in ("Const", "Range", "Cast", "ConcatOffset", "Fill", "Equal", "NotEqual")
    },
}
for _name, _folding in FOLDING.items():
    amend(_name, folding=_folding)
