# SPDX-License-Identifier: Apache-2.0
"""`tf.RaggedTensorSpec`: the type of ragged tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine.api import export
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.tensor import Tensor
from ...engine.interface.specs import TensorSpec, TypeSpec
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape, as_shape, dimension_value
from .tensor import RaggedTensor, is_ragged
from .values import RaggedTensorValue

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, ShapeLike


@export("RaggedTensorSpec")
class RaggedTensorSpec(TypeSpec):
    """The type of ragged tensors of a shape, dtype and number of ragged axes.

    Args:
        shape: None, or a shape with None for sizes that are ragged or not known.
        dtype: of the values.
        ragged_rank: how many axes are ragged; all but the first if None, which needs a shape.
        row_splits_dtype: int32 or int64.

    Raises:
        ValueError: the number of ragged axes is not known, or not less than that of all.
        TypeError: it is no integer.

    Example:
        >>> spec = tf.RaggedTensorSpec([None, None], tf.int32)
        >>> spec.is_compatible_with(tf.ragged.constant([[1, 2], [3]]))
        True
    """

    __slots__ = ("_shape", "_dtype", "_ragged_rank", "_row_splits_dtype")

    def __init__(
        self,
        shape: ShapeLike | None = None,
        dtype: DTypeLike = dtypes.float32,
        ragged_rank: int | None = None,
        row_splits_dtype: DTypeLike = dtypes.int64,
    ) -> None:
        self._shape = as_shape(shape)
        self._dtype = dtypes.as_dtype(dtype)
        self._row_splits_dtype = dtypes.as_dtype(row_splits_dtype)
        rank = self._shape.ndims
        if ragged_rank is None:
            if rank is None:
                raise ValueError("Must specify ragged_rank or a shape with a known rank.")
            ragged_rank = rank - 1
        if not isinstance(ragged_rank, int):
            raise TypeError("ragged_rank must be an int")
        if rank is not None and ragged_rank >= rank:
            raise ValueError("ragged_rank must be less than rank.")
        self._ragged_rank = ragged_rank

    @property
    def value_type(self) -> type:
        """RaggedTensor; Tensor where no axis is ragged."""
        return RaggedTensor if self._ragged_rank > 0 else Tensor

    @classmethod
    def from_value(cls, value: Any) -> RaggedTensorSpec:
        """The type of a RaggedTensor, or of the value of one."""
        return cls(
            shape=value.shape,
            dtype=value.values.dtype,
            ragged_rank=value.ragged_rank,
            row_splits_dtype=value.row_splits.dtype,
        )

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._dtype, self._ragged_rank, self._row_splits_dtype

    @property
    def _component_specs(self) -> list[TensorSpec]:
        if self._ragged_rank == 0:
            return [TensorSpec(self._shape, self._dtype)]
        values = TensorShape([None]).concatenate(self._shape[self._ragged_rank + 1 :])
        rows = self._rows
        outer = TensorSpec([None if rows is None else rows + 1], self._row_splits_dtype)
        inner = TensorSpec([None], self._row_splits_dtype)
        return [TensorSpec(values, self._dtype), outer, *[inner] * (self._ragged_rank - 1)]

    @property
    def _rows(self) -> int | None:
        return None if self._shape.ndims is None else dimension_value(self._shape[0])

    def _to_components(self, value: Any) -> list[Any]:
        return [value.flat_values, *value.nested_row_splits] if is_ragged(value) else [value]

    def _from_components(self, components: Sequence[Any]) -> Any:
        if all(isinstance(part, np.ndarray) for part in components):
            kind: Any = RaggedTensorValue
            result = components[0]
        else:
            kind = _ragged
            result = convert_to_tensor(components[0])
        for splits in reversed(components[1:]):
            result = kind(result, splits)
        return result

    @property
    def _flat_tensor_specs(self) -> list[TensorSpec]:
        # Encoded, a ragged tensor (or a batch of them) is one variant.
        return [TensorSpec(None, dtypes.variant)]

    def _to_tensor_list(self, value: Any) -> list[Tensor]:
        return [value._to_variant(batched_input=False)]

    def _to_batched_tensor_list(self, value: Any) -> list[Tensor]:
        return [value._to_variant(batched_input=True)]

    def _from_compatible_tensor_list(self, tensor_list: Sequence[Any]) -> RaggedTensor:
        if self._ragged_rank <= 0:
            raise ValueError(f"ragged_rank must be non-negative; got {self._ragged_rank}.")
        result = RaggedTensor._from_variant(
            tensor_list[0], dtype=self._dtype, output_ragged_rank=self._ragged_rank
        )
        if self._shape.ndims is not None:
            if self._rows is not None:
                result.row_splits.set_shape([self._rows + 1])
            inner = self._shape[1 + self._ragged_rank :]
            result.flat_values.set_shape(TensorShape([None]).concatenate(inner))
        return result

    def _batch(self, batch_size: int | None) -> RaggedTensorSpec:
        shape = TensorShape([batch_size]).concatenate(self._shape)
        return RaggedTensorSpec(shape, self._dtype, self._ragged_rank + 1)

    def _unbatch(self) -> RaggedTensorSpec:
        return RaggedTensorSpec(self._shape[1:], self._dtype, self._ragged_rank - 1)

    def _to_legacy_output_types(self) -> dtypes.DType:
        return self._dtype

    def _to_legacy_output_shapes(self) -> TensorShape:
        return self._shape

    def _to_legacy_output_classes(self) -> RaggedTensorSpec:
        return self


def _ragged(values: Any, splits: Any) -> RaggedTensor:
    return RaggedTensor(values, convert_to_tensor(splits), internal=True)
