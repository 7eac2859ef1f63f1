# SPDX-License-Identifier: Apache-2.0
"""`tf.data.Dataset.padded_batch`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engine.graph.constants import constant_value, constant_value_as_shape
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.tensor import SparseTensor
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape, as_shape
from ..public import raw
from . import nest, structure
from .unary import UnaryDataset, int64


def _fits(padded: TensorShape, given: TensorShape) -> bool:
    """Whether components of a shape can be padded to another."""
    if padded.ndims is None or given.ndims is None:
        return True
    if padded.ndims != given.ndims:
        return False
    pairs = zip(padded.as_list(), given.as_list())
    return all(to is None or size is None or to >= size for to, size in pairs)


def _shape_tensor(padded_shape: Any, component_shape: TensorShape) -> Any:
    """A padded shape as a vector, with -1 for the longest of a batch."""
    try:
        shape = as_shape(padded_shape)
        sizes = [-1 if n is None else n for n in shape.as_list()]
        found = convert_to_tensor(sizes, dtype=dtypes.int64)
    except (TypeError, ValueError):
        found = convert_to_tensor(padded_shape, preferred_dtype=dtypes.int64)
        if found.shape.ndims not in (None, 1):
            raise ValueError(
                f"Padded shape {padded_shape} must be a 1-D tensor of tf.int64 values, but its "
                f"shape was {found.shape}."
            ) from None
        if found.dtype != dtypes.int64:
            raise TypeError(
                f"Padded shape {padded_shape} must be a 1-D tensor of tf.int64 values, but its "
                f"element type was {found.dtype.name}."
            ) from None
        shape = constant_value_as_shape(found)
    if not _fits(shape, component_shape):
        raise ValueError(
            f"The padded shape {shape} is not compatible with the corresponding input component "
            f"shape {component_shape}."
        )
    return found


def _value_tensor(value: Any, dtype: Any) -> Any:
    found = convert_to_tensor(value, name="padding_value")
    if not found.shape.is_compatible_with([]):
        raise ValueError(f"Padding value should be a scalar, but is not: {found}")
    if found.dtype != dtype:
        raise TypeError(f"Padding value tensor ({found}) does not match output type: {dtype}")
    return found


def _zero(dtype: Any) -> Any:
    if dtype.base_dtype == dtypes.string:
        return ""
    if dtype.base_dtype == dtypes.variant:
        raise TypeError(
            "Unable to create padding for field of type 'variant' because t.base_type == "
            f"dtypes.variant == {dtype.base_dtype}."
        )
    return np.zeros_like(dtype.as_numpy_dtype())


class PaddedBatchDataset(UnaryDataset):
    """Several elements, padded to one shape, as one."""

    def __init__(
        self,
        input_dataset: Any,
        batch_size: Any,
        padded_shapes: Any,
        padding_values: Any,
        drop_remainder: Any,
    ) -> None:
        types, shapes, classes = (
            structure.legacy(input_dataset.element_spec, w) for w in ("types", "shapes", "classes")
        )
        if any(kind is SparseTensor for kind in nest.flatten(classes)):
            raise TypeError("Batching of padded sparse tensors is not currently supported")
        self._batch_size = int64(batch_size, "batch_size")
        if padding_values is None:
            padding_values = nest.map_structure(_zero, types)
        pairs = zip(nest.flatten_up_to(shapes, padded_shapes), nest.flatten(shapes))
        flat = [_shape_tensor(padded, given) for padded, given in pairs]
        self._padded_shapes = nest.pack_sequence_as(shapes, flat)
        self._padding_values = nest.map_structure_up_to(
            shapes, _value_tensor, padding_values, types
        )
        self._drop_remainder = convert_to_tensor(
            drop_remainder, dtype=dtypes.bool, name="drop_remainder"
        )
        drops = constant_value(self._drop_remainder)
        size = constant_value(self._batch_size) if drops else None
        first = TensorShape([None if size is None else int(size)])
        batched = [first.concatenate(constant_value_as_shape(s)) for s in flat]
        self._structure = structure.convert_legacy_structure(
            types, nest.pack_sequence_as(shapes, batched), classes
        )
        variant = raw.PaddedBatchDatasetV2(
            input_dataset._variant_tensor,
            batch_size=self._batch_size,
            padded_shapes=flat,
            padding_values=nest.flatten(self._padding_values),
            drop_remainder=self._drop_remainder,
            output_shapes=structure.get_flat_tensor_shapes(self._structure),
        )
        super().__init__(input_dataset, variant)
