# SPDX-License-Identifier: Apache-2.0
"""The shapes that ragged tensors have in a run, and how they broadcast to each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...engine.graph.constants import constant_value
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.scope_functions import name_scope
from ...engine.graph.tensor import Tensor
from ...engine.types import dtypes
from ...engine.types.shape import dimension_value
from ..public import tf
from .array import tile
from .tensor import RaggedTensor, convert_to_tensor_or_ragged_tensor, is_ragged
from .util import convert_to_int_tensor, lengths_to_splits, repeat_ranges

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, TensorLike


class RaggedTensorDynamicShape:
    """The sizes of a ragged tensor: those of the axes that rows part, and of those below.

    Args:
        partitioned_dim_sizes: a scalar for each uniform axis, a vector of row lengths for each
            ragged one; the first is a scalar and the last a vector.
        inner_dim_sizes: a vector of sizes.
        dim_size_dtype: int32 or int64; that of the row lengths if None.

    Raises:
        ValueError: the first is ragged, the last uniform, or they are of different dtypes.
    """

    def __init__(
        self,
        partitioned_dim_sizes: Sequence[Any],
        inner_dim_sizes: Any,
        dim_size_dtype: DTypeLike | None = None,
    ) -> None:
        if not isinstance(partitioned_dim_sizes, (list, tuple)):
            raise AssertionError("partitioned_dim_sizes must be a list or tuple")
        scope_values = (partitioned_dim_sizes, inner_dim_sizes)
        with name_scope(None, "RaggedTensorDynamicShape", scope_values):
            outer = [
                convert_to_tensor(size, name=f"partitioned_dimension_size_{i}")
                for i, size in enumerate(partitioned_dim_sizes)
            ]
            inner = convert_to_tensor(inner_dim_sizes, name="inner_dim_sizes")
            _check_partitioned(outer)
            inner.shape.assert_has_rank(1)
            kind = _common_dtype(outer) if dim_size_dtype is None else dim_size_dtype
            self._partitioned_dim_sizes = tuple(tf.cast(size, kind) for size in outer)
            self._inner_dim_sizes = tf.cast(inner, kind)

    def __repr__(self) -> str:
        return (
            f"RaggedTensorDynamicShape(partitioned_dim_sizes={self._partitioned_dim_sizes!r}, "
            f"inner_dim_sizes={self._inner_dim_sizes!r})"
        )

    @staticmethod
    def from_dim_sizes(dim_sizes: Sequence[Any]) -> RaggedTensorDynamicShape:
        """The shape of sizes, of which those of ragged axes are vectors."""
        with name_scope(None, "RaggedTensorDynamicShapeFromDimensionSizes", [dim_sizes]):
            sizes = [
                convert_to_tensor(size, preferred_dtype=dtypes.int64, name="dim_sizes")
                for size in dim_sizes
            ]
            inner = 0
            for axis, size in enumerate(sizes):
                if size.shape.ndims not in (0, 1):
                    raise ValueError("Each dim_size must be a scalar or a vector")
                inner = axis + 1 if size.shape.ndims == 1 else inner
            return RaggedTensorDynamicShape(tuple(sizes[:inner]), tuple(sizes[inner:]))

    @classmethod
    def from_tensor(
        cls, rt_input: Any, dim_size_dtype: DTypeLike | None = None
    ) -> RaggedTensorDynamicShape:
        """The shape of a tensor, ragged or not."""
        with name_scope(None, "RaggedTensorDynamicShapeFromTensor", [rt_input]):
            tensor = convert_to_tensor_or_ragged_tensor(rt_input)
            if not is_ragged(tensor):
                return cls([], tf.shape(tensor))
            outer = (tensor.nrows(), *tensor.nested_row_lengths())
            inner = tf.shape(tensor.flat_values)[1:]
            return RaggedTensorDynamicShape(outer, inner, dim_size_dtype=dim_size_dtype)

    def dimension_size(self, axis: int) -> Tensor:
        """The size of an axis; a vector of row lengths if it is ragged."""
        if not isinstance(axis, int):
            raise TypeError("axis must be an integer")
        count = len(self._partitioned_dim_sizes)
        if axis < count:
            return self._partitioned_dim_sizes[axis]
        return self._inner_dim_sizes[axis - count]

    def is_ragged(self, axis: int) -> bool:
        """Whether an axis is ragged."""
        if not isinstance(axis, int):
            raise TypeError("axis must be an integer")
        if axis < 0:
            raise ValueError("Negative axis values are not supported")
        if self.rank is not None and axis >= self.rank:
            raise ValueError(f"Expected axis={axis} < rank={self.rank}")
        if not 0 < axis < len(self._partitioned_dim_sizes):
            return False
        return self._partitioned_dim_sizes[axis].shape.ndims == 1

    @property
    def rank(self) -> int | None:
        """How many axes there are; None where that is not known."""
        inner = self.num_inner_dimensions
        return None if inner is None else len(self._partitioned_dim_sizes) + inner

    @property
    def partitioned_dim_sizes(self) -> tuple[Tensor, ...]:
        """The sizes of the axes that rows part."""
        return self._partitioned_dim_sizes

    @property
    def inner_dim_sizes(self) -> Tensor:
        """The sizes of the axes below, a vector."""
        return self._inner_dim_sizes

    @property
    def num_partitioned_dimensions(self) -> int:
        """How many axes rows part."""
        return len(self._partitioned_dim_sizes)

    @property
    def num_inner_dimensions(self) -> int | None:
        """How many axes lie below; None where that is not known."""
        return dimension_value(self._inner_dim_sizes.shape[0])

    @property
    def dim_size_dtype(self) -> dtypes.DType:
        """The dtype of the sizes."""
        return self._inner_dim_sizes.dtype

    def broadcast_to_rank(self, rank: int) -> RaggedTensorDynamicShape:
        """The shape with axes of size 1 in front, up to a rank."""
        if self.rank is None:
            raise ValueError("Unable to broadcast: self.rank is unknown")
        missing = rank - self.rank
        if missing < 0:
            raise ValueError(
                f"Unable to broadcast: rank={rank} must be greater than self.rank={self.rank}."
            )
        if missing == 0:
            return self
        if self._partitioned_dim_sizes:
            outer = (1,) * missing + self._partitioned_dim_sizes
            return RaggedTensorDynamicShape(outer, self._inner_dim_sizes)
        ones = tf.ones([missing], self.dim_size_dtype)
        return RaggedTensorDynamicShape([], tf.concat([ones, self._inner_dim_sizes], axis=0))

    def broadcast_dimension(self, axis: int, lengths: Any) -> RaggedTensorDynamicShape:
        """The shape with an axis as long as said, if it was so or of size 1.

        lengths: a scalar, or a vector of row lengths, which makes the axis ragged.  Raises
        InvalidArgumentError in a run where the sizes differ.
        """
        lengths = convert_to_int_tensor(lengths, name="lengths", dtype=self.dim_size_dtype)
        if lengths.shape.ndims is None:
            raise ValueError("lengths must have a known rank.")
        if lengths.shape.ndims > 1:
            raise ValueError("lengths must be a scalar or vector")
        is_scalar = lengths.shape.ndims == 0
        own = self.dimension_size(axis)
        if self.is_ragged(axis):
            fits = tf.equal(lengths, 1) if is_scalar else tf.reduce_all(tf.equal(lengths, own))
        elif is_scalar:
            fits = tf.equal(lengths, 1) | tf.equal(own, 1) | tf.equal(own, lengths)
        else:
            fits = tf.equal(own, 1)
        problem = "Unable to broadcast: dimension size mismatch in dimension"
        told = [problem, axis, "lengths=", lengths, "dim_size=", self.dimension_size(axis)]
        with tf.control_dependencies([tf.Assert(fits, data=told, summarize=10)]):
            return self._broadcast(axis, lengths, is_scalar)

    def _broadcast(self, axis: int, lengths: Tensor, is_scalar: bool) -> RaggedTensorDynamicShape:
        if self.is_ragged(axis):
            inner = tf.identity(self._inner_dim_sizes)
            return RaggedTensorDynamicShape(self._partitioned_dim_sizes, inner)
        if axis < self.num_partitioned_dimensions:
            return self._broadcast_partitioned(axis, lengths)
        if is_scalar:
            return self._broadcast_inner_to_uniform(axis, lengths)
        if axis == 0:
            raise ValueError("Unable to broadcast: outermost dimension must be uniform.")
        return self._broadcast_inner_to_ragged(axis, lengths)

    def num_slices_in_dimension(self, axis: int) -> Tensor:
        """How many entries there are along an axis and all outside of it, together."""
        if axis < 0:
            return tf.constant(1, dtype=self.dim_size_dtype)
        if self.is_ragged(axis):
            return tf.reduce_sum(self._partitioned_dim_sizes[axis])
        return self.dimension_size(axis) * self.num_slices_in_dimension(axis - 1)

    def _broadcast_partitioned(self, axis: int, lengths: Tensor) -> RaggedTensorDynamicShape:
        """A uniform axis above ragged ones: the row lengths of those repeat with it."""
        own = self.dimension_size(axis)
        sizes = list(self._partitioned_dim_sizes[:axis])
        if lengths.shape.ndims == 0:
            lengths = tf.where(tf.equal(own, 1), lengths, own)
            repeats = tf.where(tf.equal(own, 1), lengths, 1)
            splits = tf.stack([0, self.num_slices_in_dimension(axis)])
        else:
            splits = tf.range(tf.size(lengths, out_type=self.dim_size_dtype) + 1)
            repeats = lengths
        sizes.append(lengths)
        for size in self._partitioned_dim_sizes[axis + 1 :]:
            if size.shape.ndims == 0:
                sizes.append(size)
                splits *= size
            else:
                sizes.append(repeat_ranges(size, splits, repeats))
                splits = tf.gather(lengths_to_splits(size), splits)
        return RaggedTensorDynamicShape(sizes, self._inner_dim_sizes)

    def _broadcast_inner_to_uniform(self, axis: int, length: Tensor) -> RaggedTensorDynamicShape:
        own, place = self.dimension_size(axis), axis - self.num_partitioned_dimensions
        inner = self._inner_dim_sizes
        above, size = inner[:place], tf.where(tf.equal(own, 1), length, own)
        sizes = tf.concat([above, [size], inner[place + 1 :]], axis=0)
        return RaggedTensorDynamicShape(self._partitioned_dim_sizes, sizes)

    def _broadcast_inner_to_ragged(self, axis: int, lengths: Tensor) -> RaggedTensorDynamicShape:
        place = axis - self.num_partitioned_dimensions
        above = tuple(self._inner_dim_sizes[i] for i in range(place))
        outer = (*self._partitioned_dim_sizes, *above, lengths)
        return RaggedTensorDynamicShape(outer, self._inner_dim_sizes[place + 1 :])

    def with_dim_size_dtype(self, dtype: DTypeLike) -> RaggedTensorDynamicShape:
        """The shape with sizes of int32 or int64."""
        kind = dtypes.as_dtype(dtype)
        if kind not in (dtypes.int32, dtypes.int64):
            raise ValueError("dtype must be int32 or int64")
        if self.dim_size_dtype == kind:
            return self
        outer = [tf.cast(size, kind) for size in self._partitioned_dim_sizes]
        return RaggedTensorDynamicShape(outer, tf.cast(self._inner_dim_sizes, kind))


def _check_partitioned(sizes: Sequence[Tensor]) -> None:
    for axis, size in enumerate(sizes):
        if size.shape.ndims is None:
            raise ValueError(f"rank of partitioned_dim_sizes[{axis}] is unknown")
        size.shape.with_rank_at_most(1)
    if sizes and sizes[0].shape.ndims == 1:
        raise ValueError("outermost partitioned dimension must be uniform")
    if sizes and sizes[-1].shape.ndims == 0:
        raise ValueError("innermost partitioned dimension must be ragged")


def _common_dtype(sizes: Sequence[Tensor]) -> dtypes.DType:
    kinds = {size.dtype for size in sizes if size.shape.ndims == 1}
    if len(kinds) > 1:
        raise ValueError("partitioned_dim_sizes must have matching dtypes")
    return kinds.pop() if kinds else dtypes.int64


def broadcast_dynamic_shape(shape_x: Any, shape_y: Any) -> RaggedTensorDynamicShape:
    """The shape that two shapes broadcast to."""
    for name, shape in (("shape_x", shape_x), ("shape_y", shape_y)):
        if not isinstance(shape, RaggedTensorDynamicShape):
            raise TypeError(f"{name} must be a RaggedTensorDynamicShape")
    if shape_x.rank is None or shape_y.rank is None:
        raise ValueError("Unable to broadcast: unknown rank")
    rank = max(shape_x.rank, shape_y.rank)
    shape_x, shape_y = shape_x.broadcast_to_rank(rank), shape_y.broadcast_to_rank(rank)
    for axis in range(rank):
        shape_x = shape_x.broadcast_dimension(axis, shape_y.dimension_size(axis))
        shape_y = shape_y.broadcast_dimension(axis, shape_x.dimension_size(axis))
    return shape_x


def broadcast_to(rt_input: Any, shape: Any, broadcast_inner_dimensions: bool = True) -> Any:
    """A tensor, ragged or not, in a greater shape; its inner axes only if asked for."""
    if not isinstance(shape, RaggedTensorDynamicShape):
        raise TypeError("shape must be a RaggedTensorDynamicShape")
    tensor = convert_to_tensor_or_ragged_tensor(rt_input)
    if shape.num_partitioned_dimensions:
        return _broadcast_to_ragged(tensor, shape, broadcast_inner_dimensions)
    if isinstance(tensor, RaggedTensor):
        raise ValueError("Incompatible with shape: ragged rank mismatch")
    return tf.broadcast_to(tensor, shape.inner_dim_sizes) if broadcast_inner_dimensions else tensor


def _check_fits(tensor: Any, shape: RaggedTensorDynamicShape) -> None:
    if isinstance(tensor, RaggedTensor) and tensor.row_splits.dtype != shape.dim_size_dtype:
        raise ValueError(
            "rt_input and dst_shape have different row_split dtypes; use "
            "RaggedTensor.with_row_splits_dtype() or "
            "RaggedTensorDynamicShape.with_dim_size_dtype() to convert to a compatible dtype."
        )
    if tensor.shape.ndims is None or shape.rank is None:
        raise ValueError("Unable to broadcast: unknown rank")
    if tensor.shape.ndims > shape.rank:
        raise ValueError("Incompatible with shape: rank mismatch")
    if isinstance(tensor, RaggedTensor) and tensor.ragged_rank >= shape.num_partitioned_dimensions:
        raise ValueError("Incompatible with shape: ragged rank mismatch")


def _broadcast_to_ragged(tensor: Any, shape: RaggedTensorDynamicShape, all_axes: bool) -> Any:
    _check_fits(tensor, shape)
    source = RaggedTensorDynamicShape.from_tensor(tensor).broadcast_to_rank(shape.rank or 0)
    tensor = _of_ragged_rank(_of_rank(tensor, shape), shape)
    multiples: list[Any] = [1] * (shape.rank or 0)
    axes = range(shape.num_partitioned_dimensions)
    for axis in axes:
        if source.is_ragged(axis) or shape.is_ragged(axis):
            continue
        own, wanted = source.dimension_size(axis), shape.dimension_size(axis)
        if constant_value(own) in (1, None) and constant_value(wanted) != 1:
            multiples[axis] = tf.where(tf.equal(own, 1), wanted, 1)
    if not all(isinstance(times, int) for times in multiples):
        tensor = tile(tensor, tf.stack(multiples, axis=0))
    if all_axes:
        sizes = tf.concat([[-1], shape.inner_dim_sizes], axis=0)
        tensor = tensor.with_flat_values(tf.reshape(tensor.flat_values, sizes))
    for axis in axes:
        if not source.is_ragged(axis) and shape.is_ragged(axis):
            lengths = shape.dimension_size(axis)
            tensor = _tiled_along(tensor, axis, lengths, shape.dim_size_dtype)
    return tensor


def _of_rank(tensor: Any, shape: RaggedTensorDynamicShape) -> Any:
    """The tensor with axes of size 1 in front."""
    rank, kind = shape.rank or 0, shape.dim_size_dtype
    if rank <= tensor.shape.ndims:
        return tensor
    if tensor.shape.ndims < (shape.num_inner_dimensions or 0) + 1:
        tensor = tf.reshape(tensor, tf.concat([[-1], shape.inner_dim_sizes], axis=0))
    for _ in range(rank - tensor.shape.ndims):
        rows = tensor.nrows() if is_ragged(tensor) else tf.shape(tensor, out_type=kind)[0]
        tensor = RaggedTensor.from_row_lengths(tensor, [rows], validate=False)
    return tensor


def _of_ragged_rank(tensor: Any, shape: RaggedTensorDynamicShape) -> RaggedTensor:
    """The tensor with as many of its axes ragged as the shape parts into rows."""
    kind = shape.dim_size_dtype
    if not is_ragged(tensor):
        levels = shape.num_partitioned_dimensions - 1
        return RaggedTensor.from_tensor(tensor, ragged_rank=levels, row_splits_dtype=kind)
    inner = tensor.flat_values.shape.ndims - 1 - (shape.num_inner_dimensions or 0)
    if inner <= 0:
        return tensor
    values = RaggedTensor.from_tensor(tensor.flat_values, ragged_rank=inner, row_splits_dtype=kind)
    return tensor.with_flat_values(values)


def _tiled_along(tensor: Any, axis: int, repeats: TensorLike, kind: Any) -> RaggedTensor:
    """The entry of each row along an axis of size 1, as often as said for the row."""
    if not is_ragged(tensor):
        tensor = RaggedTensor.from_tensor(tensor, ragged_rank=1, row_splits_dtype=kind)
    if axis > 1:
        return tensor.with_values(_tiled_along(tensor.values, axis - 1, repeats, kind))
    nested, nested_lengths = tensor.nested_row_splits, tensor.nested_row_lengths()
    splits, lengths = nested[0], [repeats]
    for inner_splits, inner_lengths in zip(nested[1:], nested_lengths[1:]):
        lengths.append(repeat_ranges(inner_lengths, splits, repeats))
        splits = tf.gather(inner_splits, splits)
    values = repeat_ranges(tensor.flat_values, splits, repeats)
    return RaggedTensor.from_nested_row_lengths(values, lengths, validate=False)
