# SPDX-License-Identifier: Apache-2.0
"""Functions of array_ops, sparse_ops and string_ops with arguments in the order of TensorFlow 2."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...engine.types import dtypes
from ...ops.public import raw, tf
from ...ops.sparse.sparse_tensors_map import (
    _add_many_sparse_to_tensors_map as _add_many_sparse_to_tensors_map,
)
from ...ops.sparse.sparse_tensors_map import (
    _add_sparse_to_tensors_map as _add_sparse_to_tensors_map,
)
from ...ops.sparse.sparse_tensors_map import (
    _take_many_sparse_from_tensors_map as _take_many_sparse_from_tensors_map,
)
from ...ops.sparse.sparse_tensors_map import (
    add_many_sparse_to_tensors_map as add_many_sparse_to_tensors_map,
)
from ...ops.sparse.sparse_tensors_map import (
    add_sparse_to_tensors_map as add_sparse_to_tensors_map,
)
from ...ops.sparse.sparse_tensors_map import (
    take_many_sparse_from_tensors_map as take_many_sparse_from_tensors_map,
)

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, TensorLike
    from ...engine.graph.tensor import SparseTensor


def size_v2(input: TensorLike, out_type: DTypeLike = dtypes.int32, name: str | None = None) -> Any:
    """`tf.size`."""
    return tf.size(input, name=name, out_type=out_type)


def string_length(input: TensorLike, name: str | None = None, unit: str = "BYTE") -> Any:
    """`tf.strings.length`."""
    return raw.StringLength(input, unit=unit, name=name)


def expand_dims_v2(input: TensorLike, axis: int, name: str | None = None) -> Any:
    """`tf.expand_dims`."""
    return tf.expand_dims(input, axis, name=name)


def squeeze_v2(input: TensorLike, axis: Any = None, name: str | None = None) -> Any:
    """`tf.squeeze`."""
    return tf.squeeze(input, axis, name=name)


def gather_v2(
    params: TensorLike,
    indices: TensorLike,
    validate_indices: bool | None = None,
    axis: int | None = None,
    batch_dims: int = 0,
    name: str | None = None,
) -> Any:
    """`tf.gather`."""
    options: dict[str, Any] = {} if axis is None else {"axis": axis}
    return tf.gather(params, indices, validate_indices, name=name, batch_dims=batch_dims, **options)


def gather_nd_v2(
    params: TensorLike, indices: TensorLike, batch_dims: int = 0, name: str | None = None
) -> Any:
    """`tf.gather_nd`."""
    return tf.gather_nd(params, indices, name=name, batch_dims=batch_dims)


def string_split(
    source: TensorLike, sep: Any = None, skip_empty: bool = True, delimiter: Any = None
) -> SparseTensor:
    """`tf.string_split`, as a sparse tensor."""
    return tf.string_split(source, sep=sep, skip_empty=skip_empty, delimiter=delimiter)


def string_split_v2(source: TensorLike, sep: Any = None, maxsplit: int = -1) -> SparseTensor:
    """`tf.strings.split` of a vector, as a sparse tensor."""
    from ...ops.strings.split import strings_split

    return strings_split(source, sep=sep, maxsplit=maxsplit)


def serialize_sparse_v2(
    sp_input: SparseTensor, out_type: DTypeLike = dtypes.string, name: str | None = None
) -> Any:
    """`tf.io.serialize_sparse`."""
    return tf.serialize_sparse(sp_input, name=name, out_type=out_type)


def serialize_many_sparse_v2(
    sp_input: SparseTensor, out_type: DTypeLike = dtypes.string, name: str | None = None
) -> Any:
    """`tf.io.serialize_many_sparse`."""
    return tf.serialize_many_sparse(sp_input, name=name, out_type=out_type)


def substr_v2(
    input: TensorLike,
    pos: TensorLike,
    len: TensorLike,
    unit: str = "BYTE",
    name: str | None = None,
) -> Any:
    """`tf.strings.substr`."""
    return tf.substr(input, pos, len, name=name, unit=unit)
