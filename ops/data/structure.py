# SPDX-License-Identifier: Apache-2.0
"""Elements of datasets as flat lists of tensors, and back, by the types of their components."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...engine.api import export
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.graph import name_scope
from ...engine.graph.tensor import IndexedSlices, SparseTensor, SparseTensorValue, Tensor
from ...engine.interface import specs
from ...engine.interface.specs import SparseTensorSpec, TensorSpec, TypeSpec
from ...engine.types import nest as plain_nest
from ...engine.types.dtypes import DType
from ...engine.types.shape import TensorShape
from . import nest


@export("data.experimental.TensorStructure")
def tensor_structure(dtype: Any, shape: Any) -> TensorSpec:
    """The old name of `tf.TensorSpec`, arguments the other way round."""
    return TensorSpec(shape, dtype)


@export("data.experimental.SparseTensorStructure")
def sparse_tensor_structure(dtype: Any, shape: Any) -> SparseTensorSpec:
    """The old name of `tf.SparseTensorSpec`, arguments the other way round."""
    return SparseTensorSpec(shape, dtype)


@export("data.experimental.TensorArrayStructure")
def tensor_array_structure(
    dtype: Any, element_shape: Any, dynamic_size: bool | None, infer_shape: bool | None
) -> TypeSpec:
    """The old name of `tf.TensorArraySpec`, arguments in another order."""
    from ..flow.tensor_list_array import TensorArraySpec

    return TensorArraySpec(element_shape, dtype, dynamic_size, infer_shape)


@export("data.experimental.RaggedTensorStructure")
def ragged_tensor_structure(dtype: Any, shape: Any, ragged_rank: int) -> TypeSpec:
    """The old name of `tf.RaggedTensorSpec`, arguments the other way round."""
    from ..ragged.spec import RaggedTensorSpec

    return RaggedTensorSpec(shape, dtype, ragged_rank)


def spec_of(value: Any) -> TypeSpec | None:
    """The type of a value that is a tensor or made of tensors; None for anything else."""
    if isinstance(value, TypeSpec):
        return None
    if isinstance(value, (SparseTensor, SparseTensorValue)):
        return SparseTensorSpec.from_value(value)
    if isinstance(value, Tensor):
        return TensorSpec(value.shape, value.dtype.base_dtype)
    if isinstance(value, IndexedSlices):
        return specs.type_spec_from_value(value)
    if isinstance(value, list) and value:
        return _spec_of_datasets(value)
    # (The ragged values that programs give are no tensors, and have theirs too.)
    found = getattr(value, "_type_spec", None)
    return found if isinstance(found, TypeSpec) else None


def _spec_of_datasets(values: list[Any]) -> TypeSpec | None:
    """The type of a list of datasets (or of such lists) as one tensor; None for other lists."""
    from .dataset_spec import DatasetSpec

    merged, *others = map(spec_of, values)
    if not isinstance(merged, DatasetSpec):
        return None
    try:
        for part in others:
            if part is None:
                return None
            merged = merged.most_specific_compatible_type(part)
    except ValueError:  # of elements of different types
        return None
    return merged._batch(len(values))


def type_spec_from_value(element: Any, use_fallback: bool = True) -> Any:
    """The types of an element's components, in its structure.

    Args:
      element: The element; what is no tensor and no structure is converted.
      use_fallback: Whether it is.

    Raises:
      TypeError: A component is neither a tensor nor can be one.
    """
    found = spec_of(element)
    if found is not None:
        return found
    if isinstance(element, dict):
        result = element.copy()
        for key in element:
            result[key] = type_spec_from_value(element[key])
        return result
    if isinstance(element, tuple):
        parts = [type_spec_from_value(part) for part in element]
        return type(element)(*parts) if plain_nest.is_namedtuple(element) else tuple(parts)
    if use_fallback:
        try:
            tensor = convert_to_tensor(element)
        except (TypeError, ValueError):
            pass
        else:
            return type_spec_from_value(tensor, use_fallback=False)
    raise TypeError(
        f"Could not build a TypeSpec for {element!r} with type {type(element).__name__}"
    )


def _ragged(value: Any, name: str) -> Any:
    from ..ragged.tensor import convert_to_tensor_or_ragged_tensor

    return convert_to_tensor_or_ragged_tensor(value, name=name)


def normalize_element(element: Any) -> Any:
    """An element with tensors for everything that is not made of tensors already."""
    found: list[Any] = []
    with name_scope("normalize_element"):
        for i, part in enumerate(nest.flatten(element)):
            spec = spec_of(part)
            if spec is None or isinstance(spec, TensorSpec):
                found.append(convert_to_tensor(part, name=f"component_{i}"))
            elif isinstance(spec, SparseTensorSpec):
                found.append(SparseTensor.from_value(part))
            elif hasattr(part, "nested_row_splits"):
                found.append(_ragged(part, f"component_{i}"))
            else:
                found.append(part)
    return nest.pack_sequence_as(element, found)


def convert_legacy_structure(output_types: Any, output_shapes: Any, output_classes: Any) -> Any:
    """The types of components from their dtypes, shapes and classes."""
    flat = zip(*map(nest.flatten, (output_types, output_shapes, output_classes)))
    return nest.pack_sequence_as(output_classes, [_spec(*each) for each in flat])


def _spec(dtype: Any, shape: Any, kind: Any) -> TypeSpec:
    if isinstance(kind, TypeSpec):
        return kind
    if kind.__name__ == "TensorArray":
        facts = [None if fact is None else bool(fact) for fact in shape[:2].as_list()]
        return tensor_array_structure(dtype, shape[2:], *facts)
    if issubclass(kind, SparseTensor):
        return SparseTensorSpec(shape, dtype)
    if issubclass(kind, Tensor):
        return TensorSpec(shape, dtype)
    raise TypeError(f"Could not build a structure for output class {kind!r}")


def _decoded(
    decode: Callable[[Any, Sequence[Any]], Any], element_spec: Any, tensors: Sequence[Any]
) -> Any:
    parts = nest.flatten(element_spec)
    counts = [len(spec._flat_tensor_specs) for spec in parts]
    if sum(counts) != len(tensors):
        raise ValueError(f"Expected {sum(counts)} tensors but got {len(tensors)}.")
    found, place = [], 0
    for spec, count in zip(parts, counts):
        found.append(decode(spec, tensors[place : place + count]))
        place += count
    return nest.pack_sequence_as(element_spec, found)


def from_compatible_tensor_list(element_spec: Any, tensor_list: Sequence[Any]) -> Any:
    """An element of its flat tensors, which are known to fit."""
    return _decoded(lambda s, x: s._from_compatible_tensor_list(x), element_spec, tensor_list)


def from_tensor_list(element_spec: Any, tensor_list: Sequence[Any]) -> Any:
    """An element of its flat tensors; ValueError where they do not fit."""
    return _decoded(lambda s, x: s._from_tensor_list(x), element_spec, tensor_list)


def get_flat_tensor_specs(element_spec: Any) -> list[Any]:
    """The types of an element's flat tensors."""
    return [spec for part in nest.flatten(element_spec) for spec in part._flat_tensor_specs]


def get_flat_tensor_shapes(element_spec: Any) -> list[TensorShape]:
    """The shapes of an element's flat tensors."""
    return [spec.shape for spec in get_flat_tensor_specs(element_spec)]


def get_flat_tensor_types(element_spec: Any) -> list[DType]:
    """The dtypes of an element's flat tensors."""
    return [spec.dtype for spec in get_flat_tensor_specs(element_spec)]


def _encoded(encode: Callable[[Any, Any], list[Any]], element_spec: Any, element: Any) -> list[Any]:
    nest.assert_same_structure(element_spec, element)
    pairs = zip(nest.flatten(element_spec), nest.flatten(element))
    return [tensor for spec, part in pairs for tensor in encode(spec, part)]


def to_batched_tensor_list(element_spec: Any, element: Any) -> list[Any]:
    """The flat tensors of an element whose rows are elements."""
    return _encoded(lambda s, x: s._to_batched_tensor_list(x), element_spec, element)


def to_tensor_list(element_spec: Any, element: Any) -> list[Any]:
    """The flat tensors of an element."""
    return _encoded(lambda s, x: s._to_tensor_list(x), element_spec, element)


def are_compatible(spec1: Any, spec2: Any) -> bool:
    """Whether elements of either type may be used as those of the other."""
    try:
        nest.assert_same_structure(spec1, spec2)
    except (TypeError, ValueError):
        return False
    pairs = zip(nest.flatten(spec1), nest.flatten(spec2))
    return all(a.is_compatible_with(b) and b.is_compatible_with(a) for a, b in pairs)


def legacy(element_spec: Any, what: str) -> Any:
    """The `classes`, `shapes` or `types` of components, in their structure."""
    method = f"_to_legacy_output_{what}"
    return nest.map_structure(lambda spec: getattr(spec, method)(), element_spec)
