# SPDX-License-Identifier: Apache-2.0
"""Type specifications: what is known of a value before there is one (`tf.TensorSpec` and so on)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..api import export
from ..gradients.autodiff_sums import public
from ..graph.build import OpFunction
from ..graph.convert import convert_to_tensor
from ..graph.tensor import (
    IndexedSlices,
    IndexedSlicesValue,
    SparseTensor,
    SparseTensorValue,
    Tensor,
)
from ..types import dtypes, nest
from ..types.shape import TensorShape, as_shape, broadcast_static

if TYPE_CHECKING:
    from ..graph.annotations import DTypeLike, ShapeLike


@export("TypeSpec", "data.experimental.Structure")
class TypeSpec:
    """A type of values that consist of tensors.  Subclasses state fields and components."""

    __slots__ = ()
    # Do values consist of one tensor, so that structures of tensors have them as leaves?
    _is_leaf = False

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if not cls._is_leaf:
            nest.SPECS.add(cls)

    @property
    def value_type(self) -> type:
        """The Python class of the values."""
        raise NotImplementedError(f"{type(self).__name__}.value_type")

    @property
    def _component_specs(self) -> Any:
        raise NotImplementedError(f"{type(self).__name__}._component_specs()")

    def _serialize(self) -> tuple[Any, ...]:
        """The constructor's arguments."""
        raise NotImplementedError(f"{type(self).__name__}._serialize()")

    def _to_components(self, value: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__}._to_components()")

    def _from_components(self, components: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__}._from_components()")

    @classmethod
    def _deserialize(cls, serialization: Sequence[Any]) -> TypeSpec:
        return cls(*serialization)

    def _to_tensor_list(self, value: Any) -> list[Any]:
        return nest.flatten(self._to_components(value), expand_composites=True)

    def _from_tensor_list(self, tensor_list: Sequence[Any]) -> Any:
        expected = self._flat_tensor_specs
        if len(expected) != len(tensor_list):
            raise ValueError("Incompatible input: wrong number of tensors")
        for i, (tensor, spec) in enumerate(zip(tensor_list, expected)):
            if not type_spec_from_value(tensor).is_compatible_with(spec):
                raise ValueError(
                    f"Incompatible input: tensor {i} ({tensor}) is incompatible with {spec}"
                )
        return self._from_compatible_tensor_list(tensor_list)

    def _from_compatible_tensor_list(self, tensor_list: Sequence[Any]) -> Any:
        packed = nest.pack_sequence_as(self._component_specs, tensor_list, expand_composites=True)
        return self._from_components(packed)

    @property
    def _flat_tensor_specs(self) -> list[Any]:
        return nest.flatten(self._component_specs, expand_composites=True)

    def is_compatible_with(self, spec_or_value: object) -> bool:
        """Whether a value (or all values of a type) may be used as one of this type."""
        other = spec_or_value
        if not isinstance(other, TypeSpec):
            other = type_spec_from_value(other)
        return type(self) is type(other) and _fits(self._serialize(), other._serialize())

    def most_specific_compatible_type(self, other: TypeSpec) -> Any:
        """The narrowest type that has the values of both; ValueError if there is none."""
        if type(self) is not type(other):
            raise ValueError(f"No TypeSpec is compatible with both {self} and {other}")
        return self._deserialize(_common(self._serialize(), other._serialize()))

    def _to_legacy_output_classes(self) -> Any:
        return self.value_type

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and _key(self._serialize()) == _key(other._serialize())

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(_key(self._serialize()))

    def __reduce__(self) -> Any:
        return type(self), self._serialize()

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self._serialize()!r}"


def _fits(a: Any, b: Any) -> bool:
    if type(a) is not type(b):
        return False
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(_fits, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_fits(a[key], b[key]) for key in a)
    if isinstance(a, (TypeSpec, TensorShape, dtypes.DType)):
        return a.is_compatible_with(b)
    return bool(np.all(a == b))


def _common(a: Any, b: Any) -> Any:
    if type(a) is type(b):
        if isinstance(a, tuple) and len(a) == len(b):
            return tuple(map(_common, a, b))
        if isinstance(a, dict) and a.keys() == b.keys():
            return {key: _common(a[key], b[key]) for key in a}
        if isinstance(a, TensorShape):
            return a.most_specific_compatible_shape(b)
        if isinstance(a, TypeSpec):
            return a.most_specific_compatible_type(b)
        if not isinstance(a, (tuple, dict)) and a == b:
            return a
    raise ValueError(f"Types are not compatible: {a!r} vs {b!r}")


def _key(value: object) -> Any:
    """A serialization as something to compare and hash."""
    if isinstance(value, TensorShape):
        return TensorShape, value.sizes
    if isinstance(value, dict):
        return tuple((key, _key(value[key])) for key in sorted(value))
    if isinstance(value, tuple):
        return tuple(map(_key, value))
    if isinstance(value, np.ndarray):
        return value.shape, value.dtype.str, value.tobytes()
    return value


@export("TensorSpec")
class TensorSpec(TypeSpec):
    """The type of tensors of a shape and dtype."""

    __slots__ = ("_shape", "_dtype", "_name")
    _is_leaf = True

    def __init__(
        self, shape: ShapeLike, dtype: DTypeLike = dtypes.float32, name: str | None = None
    ) -> None:
        self._shape = TensorShape(shape)
        self._dtype = dtypes.as_dtype(dtype)
        self._name = name

    @classmethod
    def from_spec(cls, spec: Any, name: str | None = None) -> TensorSpec:
        """The same type under another name."""
        return cls(spec.shape, spec.dtype, name or spec.name)

    @classmethod
    def from_tensor(cls, tensor: Tensor, name: str | None = None) -> TensorSpec:
        """The type of a tensor."""
        if not isinstance(tensor, Tensor):
            raise ValueError("`tensor` should be a tf.Tensor")
        return TensorSpec(tensor.shape, tensor.dtype, name or tensor.op.name)

    @property
    def shape(self) -> TensorShape:
        """The static shape."""
        return self._shape

    @property
    def dtype(self) -> dtypes.DType:
        """The type of the elements."""
        return self._dtype

    @property
    def name(self) -> str | None:
        """A name for the value, or None."""
        return self._name

    @property
    def value_type(self) -> type:
        """Tensor."""
        return Tensor

    @property
    def _component_specs(self) -> TensorSpec:
        return self

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._dtype, self._name

    def is_compatible_with(self, spec_or_tensor: object) -> bool:
        """Whether a tensor, or all tensors of a type, are of this type."""
        other = spec_or_tensor
        return (
            isinstance(other, (TensorSpec, Tensor))
            and self._dtype.is_compatible_with(other.dtype)
            and self._shape.is_compatible_with(other.shape)
        )

    def most_specific_compatible_type(self, other: object) -> TensorSpec:
        """The narrowest type that has the values of both; ValueError if there is none."""
        if type(self) is not type(other) or self._dtype != other.dtype:
            raise ValueError(f"Types are not compatible: {self!r} vs {other!r}")
        shape = self._shape.most_specific_compatible_shape(other.shape)
        return TensorSpec(shape, self._dtype, self._name if self._name == other.name else None)

    def _to_batched_tensor_list(self, value: Any) -> list[Any]:
        if self._shape.ndims == 0:
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        return self._to_tensor_list(value)

    def _to_components(self, value: Any) -> Tensor:
        problem = (
            f"Value {value!r} is not convertible to a tensor with dtype {self._dtype} and shape "
            f"{self._shape}."
        )
        try:
            tensor = convert_to_tensor(value, self._dtype)
        except (TypeError, ValueError):
            raise ValueError(problem) from None
        if not tensor.shape.is_compatible_with(self._shape):
            raise ValueError(problem)
        return tensor

    def _from_components(self, components: Any) -> Any:
        return components

    def _from_compatible_tensor_list(self, tensor_list: Sequence[Any]) -> Any:
        (tensor,) = tensor_list
        tensor.set_shape(self._shape)
        return tensor

    def _batch(self, batch_size: int | None) -> TensorSpec:
        return TensorSpec(TensorShape([batch_size]).concatenate(self._shape), self._dtype)

    def _unbatch(self) -> TensorSpec:
        if self._shape.ndims == 0:
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        return TensorSpec(self._shape[1:], self._dtype)

    def _to_legacy_output_types(self) -> dtypes.DType:
        return self._dtype

    def _to_legacy_output_shapes(self) -> TensorShape:
        return self._shape

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self.shape}, dtype={self.dtype!r}, name={self.name!r})"


class BoundedTensorSpec(TensorSpec):
    """The type of tensors whose elements lie between bounds."""

    __slots__ = ("minimum", "maximum")

    def __init__(
        self,
        shape: Sequence[int],
        dtype: DTypeLike,
        minimum: float,
        maximum: object,
        name: str | None = None,
    ) -> None:
        super().__init__(shape, dtype, name)
        if minimum is None or maximum is None:
            raise ValueError(
                f"minimum and maximum must be provided; but saw '{minimum}' and '{maximum}'"
            )
        self.minimum = self._bound("minimum", minimum)
        self.maximum = self._bound("maximum", maximum)

    def _bound(self, which: str, value: Any) -> np.ndarray:
        try:
            broadcast_static(np.shape(value), self.shape)
        except ValueError as error:
            raise ValueError(f"{which} is not compatible with shape. Message: {error!r}.") from None
        bound = np.array(value, dtype=self.dtype.as_numpy_dtype)
        bound.setflags(write=False)
        return bound

    @classmethod
    def from_spec(cls, spec: Any, name: str | None = None) -> BoundedTensorSpec:
        """The type with the spec's bounds, or those of its dtype."""
        kind = dtypes.as_dtype(spec.dtype)
        low, high = getattr(spec, "minimum", kind.min), getattr(spec, "maximum", kind.max)
        return BoundedTensorSpec(spec.shape, kind, low, high, name or spec.name)

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._dtype, self.minimum, self.maximum, self._name

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, BoundedTensorSpec)
            and (self._shape.sizes, self._dtype, self._name)
            == (other._shape.sizes, other._dtype, other._name)
            and np.allclose(self.minimum, other.minimum)
            and np.allclose(self.maximum, other.maximum)
        )

    def __hash__(self) -> int:
        return hash((self._shape.sizes, self._dtype))

    def __repr__(self) -> str:
        return (
            f"BoundedTensorSpec(shape={self.shape}, dtype={self.dtype!r}, name={self.name!r}, "
            f"minimum={self.minimum!r}, maximum={self.maximum!r})"
        )


@export("IndexedSlicesSpec")
class IndexedSlicesSpec(TypeSpec):
    """The type of IndexedSlices."""

    __slots__ = (
        "_shape",
        "_values_dtype",
        "_indices_dtype",
        "_dense_shape_dtype",
        "_indices_shape",
    )

    def __init__(
        self,
        shape: ShapeLike | None = None,
        dtype: DTypeLike = dtypes.float32,
        indices_dtype: DTypeLike = dtypes.int64,
        dense_shape_dtype: DTypeLike | None = None,
        indices_shape: ShapeLike | None = None,
    ) -> None:
        self._shape = as_shape(shape)
        self._values_dtype = dtypes.as_dtype(dtype)
        self._indices_dtype = dtypes.as_dtype(indices_dtype)
        known = dense_shape_dtype is not None
        self._dense_shape_dtype = dtypes.as_dtype(dense_shape_dtype) if known else None
        self._indices_shape = as_shape(indices_shape).with_rank(1)

    @property
    def value_type(self) -> type:
        """IndexedSlices."""
        return IndexedSlices

    def _serialize(self) -> tuple[Any, ...]:
        return (
            self._shape,
            self._values_dtype,
            self._indices_dtype,
            self._dense_shape_dtype,
            self._indices_shape,
        )

    @property
    def _component_specs(self) -> tuple[TensorSpec, ...]:
        values = self._indices_shape.concatenate(self._shape[1:])
        specs = [
            TensorSpec(values, self._values_dtype),
            TensorSpec(self._indices_shape, self._indices_dtype),
        ]
        if self._dense_shape_dtype is not None:
            specs.append(TensorSpec([self._shape.ndims], self._dense_shape_dtype))
        return tuple(specs)

    def _to_components(self, value: Any) -> tuple[Any, ...]:
        parts = (value.values, value.indices)
        return parts if value.dense_shape is None else (*parts, value.dense_shape)

    def _from_components(self, components: Any) -> Any:
        if all(isinstance(part, np.ndarray) for part in components):
            return IndexedSlicesValue(*components, *[None] * (3 - len(components)))
        return IndexedSlices(*components)


@export("SparseTensorSpec")
class SparseTensorSpec(TypeSpec):
    """The type of SparseTensors."""

    __slots__ = ("_shape", "_dtype")

    def __init__(self, shape: ShapeLike | None = None, dtype: DTypeLike = dtypes.float32) -> None:
        self._shape = as_shape(shape)
        self._dtype = dtypes.as_dtype(dtype)

    @property
    def dtype(self) -> dtypes.DType:
        """The type of the values."""
        return self._dtype

    @property
    def shape(self) -> TensorShape:
        """The dense shape."""
        return self._shape

    @classmethod
    def from_value(cls, value: object) -> SparseTensorSpec:
        """The type of a SparseTensor or SparseTensorValue; TypeError for anything else."""
        if isinstance(value, SparseTensor):
            return cls(value.shape, value.dtype)
        if isinstance(value, SparseTensorValue):
            if isinstance(value.values, np.ndarray) and not isinstance(value.dense_shape, Tensor):
                return cls(value.dense_shape, value.values.dtype)
            # Lists of numbers have the dtypes that tensors of them have.
            return cls.from_value(SparseTensor.from_value(value))
        raise TypeError("Expected SparseTensor or SparseTensorValue")

    @property
    def value_type(self) -> type:
        """SparseTensor."""
        return SparseTensor

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._dtype

    @property
    def _component_specs(self) -> list[TensorSpec]:
        rank = self._shape.ndims
        return [
            TensorSpec([None, rank], dtypes.int64),
            TensorSpec([None], self._dtype),
            TensorSpec([rank], dtypes.int64),
        ]

    @property
    def _flat_tensor_specs(self) -> list[TensorSpec]:
        # Serialized, a sparse tensor (or a batch of them) is one variant.
        return [TensorSpec(None, dtypes.variant)]

    def _to_components(self, value: Any) -> list[Any]:
        if isinstance(value, SparseTensorValue):
            value = SparseTensor.from_value(value)
        return [value.indices, value.values, value.dense_shape]

    def _from_components(self, components: Any) -> Any:
        if all(isinstance(part, np.ndarray) for part in components):
            return SparseTensorValue(*components)
        return SparseTensor(*components)

    def _to_tensor_list(self, value: Any) -> list[Tensor]:
        value = SparseTensor.from_value(value)
        return [public("serialize_sparse")(value, out_type=dtypes.variant)]

    def _to_batched_tensor_list(self, value: Any) -> list[Tensor]:
        if self._shape.ndims == 0:
            raise ValueError("Unbatching a sparse tensor is only supported for rank >= 1")
        return [public("serialize_many_sparse")(value, out_type=dtypes.variant)]

    def _from_compatible_tensor_list(self, tensor_list: Sequence[Any]) -> SparseTensor:
        (serialized,) = tensor_list
        indices, values, sizes = OpFunction("DeserializeSparse")(serialized, self._dtype)
        indices.set_shape([None, self._shape.ndims])
        sizes.set_shape([self._shape.ndims])
        return SparseTensor(indices, values, sizes)

    def _batch(self, batch_size: int | None) -> SparseTensorSpec:
        return SparseTensorSpec(TensorShape([batch_size]).concatenate(self._shape), self._dtype)

    def _unbatch(self) -> SparseTensorSpec:
        if self._shape.ndims == 0:
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        return SparseTensorSpec(self._shape[1:], self._dtype)

    def _to_legacy_output_types(self) -> dtypes.DType:
        return self._dtype

    def _to_legacy_output_shapes(self) -> TensorShape:
        return self._shape


# Class -> the type of an object of it.
_CONVERTERS: dict[type, Callable[[Any], TypeSpec]] = {}


def register_type_spec_from_value_converter(
    type_object: type, converter_fn: Callable[[Any], TypeSpec]
) -> None:
    """Says what the types of the objects of a class are."""
    _CONVERTERS[type_object] = converter_fn


def type_spec_from_value(value: object) -> TypeSpec:
    """The type of a value."""
    converter = _CONVERTERS.get(type(value))
    if converter is not None:
        return converter(value)
    if isinstance(value, (SparseTensor, SparseTensorValue)):
        return SparseTensorSpec.from_value(value)
    if isinstance(value, IndexedSlices):
        kind = None if value.dense_shape is None else value.dense_shape.dtype
        indices = value.indices
        return IndexedSlicesSpec(value.shape, value.dtype, indices.dtype, kind, indices.shape)
    if isinstance(value, np.ndarray):
        return TensorSpec(value.shape, value.dtype)
    try:
        tensor = convert_to_tensor(value)
    except (TypeError, ValueError):
        raise TypeError(
            f"Could not build a TypeSpec for {value!r} with type {type(value).__name__}"
        ) from None
    return TensorSpec(tensor.shape, tensor.dtype)
