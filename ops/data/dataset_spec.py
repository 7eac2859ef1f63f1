# SPDX-License-Identifier: Apache-2.0
"""The type of datasets that are components of elements."""

from __future__ import annotations

from typing import Any

from ...engine.api import export
from ...engine.graph.convert import convert_to_tensor
from ...engine.interface.specs import TensorSpec, TypeSpec
from ...engine.types import dtypes, nest
from ...engine.types.shape import TensorShape, as_shape


@export("data.DatasetSpec", "data.experimental.DatasetStructure")
class DatasetSpec(TypeSpec):
    """The type of datasets of elements of a type.

    Args:
      element_spec: The type of the elements.
      dataset_shape: Of a tensor of datasets, its shape.
    """

    __slots__ = ("_dataset_shape", "_element_spec")

    def __init__(self, element_spec: Any, dataset_shape: Any = ()) -> None:
        self._element_spec = element_spec
        self._dataset_shape = as_shape(dataset_shape)

    @property
    def value_type(self) -> type:
        """The class of datasets known by their variant tensor alone."""
        from .dataset import _VariantDataset

        return _VariantDataset

    def _serialize(self) -> tuple[Any, ...]:
        return self._element_spec, self._dataset_shape

    @property
    def _component_specs(self) -> TensorSpec:
        return TensorSpec(self._dataset_shape, dtypes.variant)

    def _to_components(self, value: Any) -> Any:
        return value._variant_tensor

    def _from_components(self, components: Any) -> Any:
        from .dataset import _NestedVariant, _VariantDataset

        if self._dataset_shape.ndims == 0:
            return _VariantDataset(components, self._element_spec)
        return _NestedVariant(components, self._element_spec, self._dataset_shape)

    def _to_tensor_list(self, value: Any) -> list[Any]:
        return [convert_to_tensor(nest.map_structure(lambda x: x._variant_tensor, value))]

    @staticmethod
    def from_value(value: Any) -> DatasetSpec:
        """The type of a dataset."""
        return DatasetSpec(value.element_spec)

    def _batch(self, batch_size: int | None) -> DatasetSpec:
        shape = TensorShape([batch_size]).concatenate(self._dataset_shape)
        return DatasetSpec(self._element_spec, shape)

    def _unbatch(self) -> DatasetSpec:
        self._require_rank()
        return DatasetSpec(self._element_spec, self._dataset_shape[1:])

    def _to_batched_tensor_list(self, value: Any) -> list[Any]:
        self._require_rank()
        return self._to_tensor_list(value)

    def _require_rank(self) -> None:
        if self._dataset_shape.ndims == 0:
            raise ValueError("Unbatching a dataset is only supported for rank >= 1")

    def _to_legacy_output_types(self) -> Any:
        return self

    def _to_legacy_output_shapes(self) -> Any:
        return self

    def _to_legacy_output_classes(self) -> Any:
        return self
