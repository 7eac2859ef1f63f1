# SPDX-License-Identifier: Apache-2.0
"""Functions of array_ops and string_ops whose arguments are ordered as in TensorFlow 2."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...engine.types import dtypes
from ...ops.public import tf

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, TensorLike
    from ...engine.graph.tensor import SparseTensor


def size_v2(input: TensorLike, out_type: DTypeLike = dtypes.int32, name: str | None = None) -> Any:
    """`tf.size`."""
    return tf.size(input, name=name, out_type=out_type)


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
