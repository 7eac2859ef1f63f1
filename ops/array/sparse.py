# SPDX-License-Identifier: Apache-2.0
"""IndexedSlices as tensors: the conversion that makes them dense, and masks over them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine.api import export
from ...engine.graph.constants import constant_value
from ...engine.graph.convert import register_tensor_conversion_function
from ...engine.graph.graph import name_scope
from ...engine.graph.tensor import IndexedSlices, SparseTensor, Tensor
from ...engine.hints import hinted
from ...engine.types import dtypes
from ..public import raw, tf
from .gather import gather

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, TensorLike
    from ...engine.types.dtypes import DType

# TensorFlow's limit for the warning.
_LARGE = 100_000_000


def _dense(
    value: IndexedSlices, dtype: DType | None = None, name: str | None = None, as_ref: bool = False
) -> Tensor:
    del as_ref
    if dtype is not None and not dtypes.as_dtype(dtype).is_compatible_with(value.dtype):
        raise hinted(
            ValueError,
            f"Tensor conversion requested dtype {dtypes.as_dtype(dtype).name} for IndexedSlices "
            f"with dtype {value.dtype.name}",
        )
    if value.dense_shape is None:
        raise hinted(
            ValueError,
            "Tensor conversion requested for IndexedSlices without dense_shape: " + str(value),
        )
    sizes = constant_value(value.dense_shape)
    count = None if sizes is None else int(np.prod(sizes, dtype=np.int64))
    if count is not None and count >= _LARGE:
        warnings.warn(
            f"Converting sparse IndexedSlices to a dense Tensor with {count} elements. This may "
            "consume a large amount of memory.",
            stacklevel=2,
        )
    rows = value.dense_shape[0]
    return tf.unsorted_segment_sum(value.values, value.indices, rows, name=name)


register_tensor_conversion_function(IndexedSlices, _dense)


@export("sparse.mask", "sparse_mask")
def sparse_mask(
    a: IndexedSlices, mask_indices: TensorLike, name: str | None = None
) -> IndexedSlices:
    """`a` without the rows that `mask_indices` names."""
    with name_scope(name, "sparse_mask", [a, mask_indices]) as name:
        indices, kept = raw.ListDiff(a.indices, mask_indices)
        return IndexedSlices(gather(a.values, kept, name=name), indices, a.dense_shape)


@export("sparse.placeholder", "sparse_placeholder")
def sparse_placeholder(
    dtype: DTypeLike, shape: Any = None, name: str | None = None
) -> SparseTensor:
    """A sparse tensor that every run must feed.

    Args:
        dtype: of its values.
        shape: of its dense form; None, or None for a size, where it may vary.
        name: the prefix of the names of its parts.

    Returns:
        A SparseTensor; a run is fed a tf.SparseTensorValue, or a tuple of its parts.

    Raises:
        TypeError: `dtype` is no dtype.

    Example:
        >>> x = tf.sparse_placeholder(tf.int32)
        >>> value = tf.SparseTensorValue([[0, 1]], [5], [1, 3])
        >>> tf.Session().run(tf.sparse_tensor_to_dense(x), feed_dict={x: value})
        array([[0, 5, 0]], dtype=int32)
    """

    def part(of: str, kind: DTypeLike, sizes: Sequence[int | None]) -> Tensor:
        return tf.placeholder(kind, shape=sizes, name=None if name is None else f"{name}/{of}")

    ranks, sizes = None, None
    if isinstance(shape, Tensor):
        ranks, sizes = shape.get_shape()[0], shape
    elif shape is not None:
        ranks = len(shape)
        sizes = None if None in shape else shape
    if sizes is not None:
        label = None if name is None else name + "/shape"
        sizes = tf.convert_to_tensor(sizes, dtype=dtypes.int64, name=label)
    else:
        sizes = part("shape", dtypes.int64, [ranks])
    values = part("values", dtype, [None])
    indices = part("indices", dtypes.int64, [None, ranks])
    return SparseTensor(values=values, indices=indices, dense_shape=sizes)
