# SPDX-License-Identifier: Apache-2.0
"""What several functions of ragged tensors do with axes, lengths of rows and splits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.tensor import Tensor
from ...engine.types import dtypes
from ..public import raw, tf

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, TensorLike

MISMATCHED_DTYPES = (
    "Input RaggedTensors have mismatched row_splits dtypes; use "
    "RaggedTensor.with_row_splits_dtype() to convert them to compatible dtypes."
)


def assert_splits_match(nested_splits_lists: Sequence[Sequence[Tensor]]) -> list[Any]:
    """Assertions that several ragged tensors have rows of the same lengths.

    Raises ValueError where they have different numbers of levels.
    """
    problem = "Inputs must have identical ragged splits"
    first, *others = nested_splits_lists
    if any(len(splits) != len(first) for splits in others):
        raise ValueError(problem)
    return [
        tf.assert_equal(a, b, message=problem) for splits in others for a, b in zip(first, splits)
    ]


def get_positive_axis(axis: Any, ndims: int | None) -> int:
    """An axis counted from the front; ValueError if there is none, or none can be told."""
    if not isinstance(axis, int):
        raise TypeError(f"axis must be an int; got {type(axis).__name__}")
    if ndims is None:
        if axis < 0:
            raise ValueError("axis may only be negative if ndims is statically known.")
        return axis
    if not -ndims <= axis < ndims:
        raise ValueError(f"axis={axis} out of bounds: expected {-ndims}<=axis<{ndims}")
    return axis % ndims


def convert_to_int_tensor(tensor: TensorLike, name: str, dtype: DTypeLike = dtypes.int32) -> Tensor:
    """A tensor of integers, cast to the dtype; TypeError for any other."""
    result = convert_to_tensor(tensor, name=name, preferred_dtype=dtype)
    if not result.dtype.is_integer:
        raise TypeError(f"{name} must be an integer tensor; dtype={result.dtype}")
    # (A node also where nothing changes, as in TensorFlow.)
    return raw.Cast(result, DstT=dtype)


def repeat(data: TensorLike, repeats: Any, axis: int, name: str | None = None) -> Tensor:
    """Each entry along an axis as often as `repeats` says: for all, or for each of them."""
    return tf.repeat(data, repeats, axis, name)


def lengths_to_splits(lengths: Any) -> Tensor:
    """Where rows of these lengths begin and end."""
    return tf.concat([[0], tf.cumsum(lengths)], axis=-1)


def repeat_ranges(params: TensorLike, splits: Any, repeats: Any) -> Tensor:
    """Each range params[splits[i] : splits[i + 1]] as often as `repeats` says, for all or each."""
    if repeats.shape.ndims != 0:
        starts = repeat(splits[:-1], repeats, axis=0)
        limits = repeat(splits[1:], repeats, axis=0)
    else:
        # Each split as often stands for starts and, moved by that many, for limits.
        repeated = repeat(splits, repeats, axis=0)
        count = tf.shape(repeated, out_type=repeats.dtype)[0]
        starts, limits = repeated[: count - repeats], repeated[repeats:]
    one = tf.ones((), starts.dtype)
    return tf.gather(params, raw.RaggedRange(starts, limits, one).rt_dense_values)
