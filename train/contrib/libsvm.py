# SPDX-License-Identifier: Apache-2.0
"""`tensorflow.contrib.libsvm`: labels and features of lines in LibSVM's format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...engine.graph.tensor import SparseTensor
from ...engine.types import dtypes
from ...ops.public import raw

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, TensorLike
    from ...engine.graph.tensor import Tensor


def decode_libsvm(
    content: TensorLike,
    num_features: int,
    dtype: DTypeLike | None = None,
    label_dtype: DTypeLike | None = None,
) -> tuple[SparseTensor, Tensor]:
    """The features and labels of lines such as "1 3:0.5 7:2".

    Args:
        content: strings, of any shape.
        num_features: how many features there are; they count from 0.
        dtype: of the features: float32 (if None), float64, int32 or int64.
        label_dtype: of the labels: int64 (if None), float32, float64 or int32.

    Returns:
        The features, a SparseTensor [*the shape of `content`, num_features], and the labels.

    Raises:
        InvalidArgumentError: a line of a run has another format.
    """
    labels, indices, values, shape = raw.DecodeLibsvm(
        content,
        num_features=num_features,
        dtype=dtype or dtypes.float32,
        label_dtype=label_dtype or dtypes.int64,
    )
    return SparseTensor(indices, values, shape), labels
