# SPDX-License-Identifier: Apache-2.0
"""Ragged tensors from dense and sparse ones and back: methods of RaggedTensor, and functions that
also take dense tensors as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...engine.graph.convert import (
    convert_to_tensor,
    convert_to_tensor_or_sparse_tensor,
    is_sparse,
)
from ...engine.graph.scope_functions import name_scope
from ...engine.graph.tensor import SparseTensor, Tensor
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape, as_shape
from ..public import raw, tf
from .util import convert_to_int_tensor

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, TensorLike
    from ...engine.types.dtypes import DType
    from .tensor import RaggedTensor

# From dense tensors


def from_tensor(
    cls: Any,
    tensor: TensorLike,
    lengths: Any = None,
    padding: TensorLike | None = None,
    ragged_rank: int = 1,
    name: str | None = None,
    row_splits_dtype: DTypeLike = dtypes.int64,
) -> RaggedTensor:
    """The rows of a dense tensor, as long as said or as they are without padding.

    Args:
        tensor: of more than `ragged_rank` axes.
        lengths: a vector with the length of each row, of which the rest is left out; or a list of
            such vectors, one a level of rows.
        padding: an element, of the shape of what lies below the rows; rows end with the last that
            differs from it.
        ragged_rank: how many axes become ragged.
        name: the prefix of the names of operations.
        row_splits_dtype: int32 or int64.

    Returns:
        A RaggedTensor with the shape of `tensor`.

    Raises:
        ValueError: lengths and padding are both given, or `ragged_rank` is not positive.

    Example:
        >>> x = tf.RaggedTensor.from_tensor([[5, 7, 0], [0, 3, 0], [6, 0, 0]], padding=0)
        >>> tf.Session().run(x).to_list()
        [[5, 7], [0, 3], [6]]
    """
    kind = dtypes.as_dtype(row_splits_dtype)
    if lengths is not None and padding is not None:
        raise ValueError("Specify lengths or padding, but not both")
    if not isinstance(ragged_rank, int):
        raise TypeError(f"ragged_rank expected int, got {ragged_rank!r}")
    if ragged_rank <= 0:
        raise ValueError(f"ragged_rank must be greater than 0; got {ragged_rank}")
    with name_scope(name, "RaggedFromTensor", [tensor, lengths, padding]):
        dense = convert_to_tensor(tensor, name="tensor")
        dense.shape.with_rank_at_least(ragged_rank + 1)
        sizes = tf.shape(dense, out_type=kind)
        columns = sizes[1]
        if ragged_rank > 1:
            return _nested_from_tensor(cls, dense, sizes, lengths, padding, ragged_rank, kind)
        if padding is not None:
            lengths = _unpadded_lengths(dense, padding, columns, kind)
        if lengths is None:
            rows = sizes[0]
            count = rows * columns
            splits = tf.range(rows + 1) * columns
            values = tf.reshape(dense, tf.concat([[count], sizes[2:]], axis=0))
        elif _is_nested(lengths):
            return _with_nested_lengths(cls, dense, lengths)
        else:
            values, splits = _cut(dense, lengths, columns, kind)
        return cls.from_row_splits(values, splits, validate=False)


def _is_nested(lengths: Any) -> bool:
    is_list = isinstance(lengths, (list, tuple)) and len(lengths) > 0
    return is_list and not isinstance(lengths[0], (int, float))


def _nested_from_tensor(
    cls: Any, dense: Tensor, sizes: Tensor, lengths: Any, padding: Any, rank: int, kind: DType
) -> Any:
    """The innermost rows, of all outer ones together, below the uniform levels around them."""
    flat = tf.reshape(dense, tf.concat([tf.constant([-1], kind), sizes[rank:]], axis=0))
    values = cls.from_tensor(flat, lengths, padding, row_splits_dtype=kind)
    counts = tf.cumprod(sizes)
    splits = [tf.range(0, counts[axis - 1] + 1) * sizes[axis] for axis in range(1, rank)]
    return cls.from_nested_row_splits(values, splits, validate=False)


def _unpadded_lengths(dense: Tensor, padding: Any, columns: Tensor, kind: DType) -> Tensor:
    """One more than the number of the last element in each row that is no padding."""
    padding = convert_to_tensor(padding, name="padding", dtype=dense.dtype)
    padding.shape.assert_is_compatible_with(dense.shape[2:])
    alike = tf.equal(padding, dense)
    rank = tf.rank(dense)
    inner = tf.range(2, rank)
    # (With no axes to reduce, reduce_all would reduce all of them.)
    is_padding = tf.cond(rank > 2, lambda: tf.reduce_all(alike, axis=inner), lambda: alike)
    is_padding.set_shape(TensorShape([None, None]))
    is_padding.set_shape(dense.shape[:2])
    is_kept = tf.cast(tf.logical_not(is_padding), kind)
    numbers = tf.expand_dims(tf.range(1, columns + 1), 0)
    return tf.reduce_max(is_kept * numbers, axis=1)


def _with_nested_lengths(cls: Any, dense: Tensor, lengths: Any) -> Any:
    dense.shape.with_rank_at_least(len(lengths) + 1)
    ones = tf.ones([tf.reduce_sum(lengths[-1])], dtype=dtypes.bool)
    mask = cls.from_nested_row_lengths(ones, lengths, validate=False)
    kept = tf.boolean_mask(dense, mask.to_tensor(default_value=False))
    return cls.from_nested_row_lengths(kept, lengths, validate=False)


def _cut(dense: Tensor, lengths: Any, columns: Tensor, kind: DType) -> tuple[Tensor, Tensor]:
    """The first elements of every row, and the splits of what is left of them."""
    lengths = convert_to_int_tensor(lengths, "lengths", kind)
    lengths.shape.assert_has_rank(1)
    lengths = tf.maximum(tf.minimum(lengths, columns), 0)
    limits = tf.cumsum(lengths)
    splits = tf.concat([tf.zeros([1], kind), limits], axis=0)
    mask = tf.sequence_mask(lengths, maxlen=columns)
    return tf.boolean_mask(dense, mask), splits


# To dense tensors


def to_tensor(
    self: RaggedTensor, default_value: TensorLike | None = None, name: str | None = None
) -> Tensor:
    """A dense tensor in which rows are as long as the longest of their axis.

    Args:
        default_value: what short rows are filled with, of a shape that broadcasts to that of the
            values' elements; zeros (or empty strings) if None.
        name: the prefix of the names of operations.

    Returns:
        A Tensor of the same rank.

    Example:
        >>> x = tf.ragged.constant([[9, 8, 7], [], [6, 5]])
        >>> tf.Session().run(x.to_tensor(-1)).tolist()
        [[9, 8, 7], [-1, -1, -1], [6, 5, -1]]
    """
    with name_scope(name, "RaggedToTensor", [self, default_value]):
        default: Any = default_value
        if default is not None:
            default = convert_to_tensor(default, name="default_value", dtype=self.dtype)
        values = self.values
        if not isinstance(values, Tensor):
            values = values.to_tensor(default)
        if default is not None:
            default = _default_of_rows(default, values)
        kind, splits = self.row_splits.dtype, self.row_splits
        lengths = [splits[1:] - splits[:-1]]
        rows = tf.shape(splits, out_type=kind)[0] - 1
        columns = tf.maximum(tf.reduce_max(lengths), 0)
        sizes = tf.shape(values, out_type=kind)
        inner, count = sizes[1:], sizes[0]
        if default is None:
            default = tf.zeros(inner, dtype=values.dtype)
        default.shape.assert_is_compatible_with(values.shape[1:])
        default.set_shape(values.shape[1:])
        starts, limits = tf.expand_dims(splits[:-1], 1), tf.expand_dims(splits[1:], 1)
        numbers = tf.expand_dims(tf.range(0, columns), 0)
        # Places without a value pick the default, which lies behind all values.
        source = tf.concat([values, tf.stack([default])], axis=0)
        place = starts + numbers
        is_value = place < limits
        behind = tf.fill(tf.stack([rows, columns]), count)
        return tf.gather(source, tf.where(is_value, place, behind))


def _default_of_rows(default: Tensor, values: Tensor) -> Tensor:
    """The default in the shape of one element of the values."""
    rank, own = values.shape.ndims, default.shape.ndims
    if rank is not None:
        default.shape.with_rank_at_most(rank - 1)
    if rank is None or own is None or rank != own + 1:
        default = tf.broadcast_to(default, tf.shape(values)[1:])
    default.shape.assert_is_compatible_with(values.shape[1:])
    return default


# Sparse tensors


def _right_ragged(indices: Tensor) -> Any:
    """Asserts that the columns of each row are 0, 1, 2 and so on."""
    prefix, suffix = indices[:, :-1], indices[:, -1]
    is_new_row = tf.reduce_any(tf.not_equal(prefix[1:], prefix[:-1]), axis=1)
    starts, follows = tf.equal(suffix[1:], 0), tf.equal(suffix[1:], suffix[:-1] + 1)
    is_next = tf.where(is_new_row, starts, follows)
    is_first = tf.reduce_all(tf.equal(suffix[:1], 0))
    told = ["SparseTensor is not right-ragged", "SparseTensor.indices =", indices]
    return tf.Assert(tf.logical_and(is_first, tf.reduce_all(is_next)), told)


def from_sparse(
    cls: Any,
    st_input: Any,
    name: str | None = None,
    row_splits_dtype: DTypeLike = dtypes.int64,
) -> RaggedTensor:
    """The rows of a sparse matrix, each of which has its values from the left, without gaps.

    Args:
        st_input: a SparseTensor of two axes.
        name: the prefix of the names of operations.
        row_splits_dtype: int32 or int64.

    Returns:
        A RaggedTensor.

    Raises:
        TypeError: `st_input` is not sparse.
        ValueError: it is no matrix.
        InvalidArgumentError: a row of a run has gaps.

    Example:
        >>> sparse = tf.SparseTensor([[0, 0], [0, 1], [2, 0]], [1, 2, 3], [3, 4])
        >>> tf.Session().run(tf.RaggedTensor.from_sparse(sparse)).to_list()
        [[1, 2], [], [3]]
    """
    kind = dtypes.as_dtype(row_splits_dtype)
    if not is_sparse(st_input):
        raise TypeError(f"Expected SparseTensor, got {type(st_input).__name__}")
    with name_scope(name, "RaggedFromSparse", [st_input]):
        sparse = convert_to_tensor_or_sparse_tensor(st_input, name="st_input")
        sizes, places = sparse.dense_shape.shape, sparse.indices.shape
        ranks = (sizes[0] if sizes.ndims else None, places[1] if places.ndims else None)
        if 2 not in ranks:
            raise ValueError("rank(st_input) must be 2")
        with tf.control_dependencies([_right_ragged(sparse.indices)]):
            ids = tf.cast(sparse.indices[:, 0], kind)
            count = tf.cast(sparse.dense_shape[0], kind)
            return cls.from_value_rowids(sparse.values, ids, count, validate=False)


def to_sparse(self: RaggedTensor, name: str | None = None) -> SparseTensor:
    """The same values as a SparseTensor, whose dense shape is the bounding shape."""
    with name_scope(name, "RaggedToSparse", [self]):
        indices, values, sizes = raw.RaggedTensorToSparse(
            self.nested_row_splits, self.flat_values, name=name
        )
        return SparseTensor(indices, values, sizes)


# Variants


def from_variant(
    cls: Any,
    variant: TensorLike,
    dtype: DTypeLike,
    output_ragged_rank: int,
    input_ragged_rank: int | None = None,
    name: str | None = None,
) -> RaggedTensor:
    """The ragged tensor of a variant, or of a tensor of them, whose axes become its outer ones."""
    encoded = convert_to_tensor(variant, name="variant", dtype=dtypes.variant)
    rank, inner = encoded.shape.ndims, input_ragged_rank
    if rank is not None and inner is not None and output_ragged_rank != inner + rank:
        raise ValueError(
            "output_ragged_rank must be equal to input_ragged_rank +variant.shape.ndims, found "
            f"variant.shape.ndims: {rank}, input_ragged_rank: {inner}, output_ragged_rank: "
            f"{output_ragged_rank}"
        )
    inner = -1 if inner is None else inner
    with name_scope(name, "RaggedFromVariant", [encoded]):
        result = raw.RaggedTensorFromVariant(
            encoded, inner, output_ragged_rank, dtype, dtypes.int64, name=name
        )
        splits, values = result.output_nested_splits, result.output_dense_values
        return cls.from_nested_row_splits(values, splits, validate=False)


def to_variant(self: RaggedTensor, batched_input: bool = False, name: str | None = None) -> Tensor:
    """The ragged tensor as a variant; each row as one if `batched_input`."""
    with name_scope(name, "RaggedToVariant", [self]):
        return raw.RaggedTensorToVariant(
            self.nested_row_splits, self.flat_values, batched_input, name=name
        )


# By one op


def _partitions(ragged: Any) -> list[tuple[str, Tensor]]:
    """How each level falls into rows: by ids where it was made of them, else by splits."""
    found = []
    while not isinstance(ragged, Tensor):
        ids = ragged._cached_value_rowids
        if ids is None:
            found.append(("ROW_SPLITS", ragged.row_splits))
        elif found:
            found.append(("VALUE_ROWIDS", ids))
        else:
            found += [("FIRST_DIM_SIZE", ragged.nrows()), ("VALUE_ROWIDS", ids)]
        ragged = ragged.values
    return found


def _shape_as_tensor(shape: Any, dtype: DType) -> Tensor:
    if dtype not in (dtypes.int64, dtypes.int32):
        raise ValueError(f"Expected int64 or int32 for dtype: got {dtype}")
    if isinstance(shape, Tensor):
        return shape if shape.dtype in (dtypes.int64, dtypes.int32) else tf.cast(shape, dtype)
    sizes = as_shape(shape)
    if sizes.ndims is None:
        return tf.constant(-1, dtype=dtype)
    return tf.constant([-1 if size is None else size for size in sizes.as_list()], dtype=dtype)


def ragged_to_dense(
    rt_input: RaggedTensor, default_value: TensorLike | None = None, shape: Any = None
) -> Tensor:
    """A dense tensor of a ragged one, in a shape whose sizes may be left open."""
    kinds, partitions = zip(*_partitions(rt_input))
    values = rt_input.flat_values
    default: Any = tf.zeros((), values.dtype) if default_value is None else default_value
    wanted = _shape_as_tensor(shape, partitions[0].dtype)
    return raw.RaggedTensorToTensor(
        shape=wanted,
        values=values,
        default_value=default,
        row_partition_types=list(kinds),
        row_partition_tensors=list(partitions),
    )
