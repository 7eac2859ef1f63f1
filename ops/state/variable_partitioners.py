# SPDX-License-Identifier: Apache-2.0
"""Partitioners: functions that say into how many parts a variable is cut along each axis."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...engine.types import dtypes
from ...engine.types.dtypes import DType
from ...engine.types.shape import TensorShape
from ..shape_inference import known_sizes
from .variable_scope import get_partitioned_variable, variable_scope

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, ShapeLike, TensorLike

Partitioner = Callable[..., list[int]]


def _item_size(dtype: DType, string_size: int) -> int:
    return string_size if dtype.base_dtype == dtypes.string else dtype.size


@export("variable_axis_size_partitioner")
def variable_axis_size_partitioner(
    max_shard_bytes: int,
    axis: int = 0,
    bytes_per_string_element: int = 16,
    max_shards: int | None = None,
) -> Partitioner:
    """Cuts along one axis so that parts are at most `max_shard_bytes` large, where possible."""
    if max_shard_bytes < 1 or bytes_per_string_element < 1:
        raise ValueError("Both max_shard_bytes and bytes_per_string_element must be positive.")
    if max_shards and max_shards < 1:
        raise ValueError("max_shards must be positive.")

    def _partitioner(shape: ShapeLike, dtype: DTypeLike) -> list[int]:
        if not isinstance(shape, TensorShape):
            raise ValueError(f"shape is not a TensorShape: {shape}")
        if not shape.is_fully_defined():
            raise ValueError(f"shape is not fully defined: {shape}")
        if not isinstance(dtype, DType):
            raise ValueError(f"dtype is not a DType: {dtype}")
        sizes = known_sizes(shape)
        size = _item_size(dtype, bytes_per_string_element)
        # The bytes of one entry along the axis: parts are cut between entries.
        slice_bytes = math.prod(sizes) / sizes[axis] * size
        slices_per_part = max(1, math.floor(max_shard_bytes / slice_bytes))
        count = math.ceil(sizes[axis] / slices_per_part)
        parts = [1] * len(sizes)
        parts[axis] = min(max_shards, count) if max_shards else count
        return parts

    return _partitioner


@export("min_max_variable_partitioner")
def min_max_variable_partitioner(
    max_partitions: int = 1,
    axis: int = 0,
    min_slice_size: int = 256 << 10,
    bytes_per_string_element: int = 16,
) -> Partitioner:
    """Cuts along one axis into at most `max_partitions` parts of `min_slice_size` bytes or more."""

    def _partitioner(shape: Any, dtype: DType) -> list[int]:
        if axis >= len(shape):
            raise ValueError(
                f"Can not partition variable along axis {axis} when shape is only {shape}"
            )
        sizes = shape.as_list()
        total = math.prod(sizes) * _item_size(dtype, bytes_per_string_element)
        parts = [1] * len(sizes)
        parts[axis] = max(1, min(sizes[axis], max_partitions, math.ceil(total / min_slice_size)))
        return parts

    return _partitioner


@export("fixed_size_partitioner")
def fixed_size_partitioner(num_shards: int, axis: int = 0) -> Partitioner:
    """Cuts along one axis into `num_shards` parts, or one per entry if those are fewer."""

    def _partitioner(shape: Any, **unused: Any) -> list[int]:
        del unused
        parts = [1] * len(shape)
        parts[axis] = min(num_shards, shape.as_list()[axis])
        return parts

    return _partitioner


@export("create_partitioned_variables")
def create_partitioned_variables(
    shape: Sequence[int],
    slicing: Sequence[int],
    initializer: Callable[..., Any] | TensorLike | None,
    dtype: DTypeLike = dtypes.float32,
    trainable: bool = True,
    collections: Sequence[str] | None = None,
    name: str | None = None,
    reuse: bool | None = None,
) -> list[Any]:
    """The parts of a variable that is cut into `slicing[i]` parts along axis i."""
    if len(shape) != len(slicing):
        raise ValueError(
            "The 'shape' and 'slicing' of a partitioned Variable must have the length: shape: "
            f"{shape}, slicing: {slicing}"
        )
    if len(shape) < 1:
        raise ValueError(f"A partitioned Variable must have rank at least 1: shape: {shape}")
    with variable_scope(name, "PartitionedVariable", reuse=reuse):
        whole = get_partitioned_variable(
            None,
            shape=shape,
            dtype=dtype,
            initializer=initializer,
            trainable=trainable,
            partitioner=lambda **unused: slicing,
            collections=collections,
        )
    return list(whole)
