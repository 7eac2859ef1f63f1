# SPDX-License-Identifier: Apache-2.0
"""What public functions take, in the words of annotations; nothing imports this at run time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias, Union

import numpy as np

from ..types.dtypes import DType
from ..types.shape import Dimension, TensorShape
from .tensor import IndexedSlices, SparseTensor, SparseTensorValue, Tensor


class StandsForTensor(Protocol):
    """An object that stands for one tensor, as variables do."""

    def _as_graph_element(self) -> Any: ...


# One number, text or boolean.
Scalar: TypeAlias = Union[bool, int, float, complex, str, bytes, np.generic]
# What `convert_to_tensor` makes a tensor of.
TensorLike: TypeAlias = Union[
    Tensor, StandsForTensor, np.ndarray, Scalar, Sequence[Any], TensorShape, Dimension
]
SparseLike: TypeAlias = Union[SparseTensor, SparseTensorValue]
# The gradient of one output, or what is added up of several.
Gradient: TypeAlias = Union[Tensor, IndexedSlices]
# What `as_dtype` knows: "float32", np.float32, tf.float32, float, TensorFlow's number of it.
DTypeLike: TypeAlias = Union[DType, np.dtype[Any], type, str, int]
# What `TensorShape` takes; None says that not even the rank is known.
ShapeLike: TypeAlias = Union[TensorShape, Iterable[Any], Dimension, int, None]
# The values that a run is given, by tensor or by its name.
Feeds: TypeAlias = Mapping[Any, Any]
