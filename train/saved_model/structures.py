# SPDX-License-Identifier: Apache-2.0
"""Nested Python values, shapes, dtypes and type specs as StructuredValue messages, and back."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

from ...engine.compat import as_text
from ...engine.interface.specs import IndexedSlicesSpec, SparseTensorSpec, TensorSpec, TypeSpec
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape
from ...io import protos
from ...io.tensor_proto import shape_from_proto, shape_proto
from ...ops.data.dataset_spec import DatasetSpec
from ...ops.data.iterators import IteratorSpec
from ...ops.data.optional import OptionalSpec
from ...ops.flow.tensor_list_array import TensorArraySpec
from ...ops.ragged.spec import RaggedTensorSpec

# The type specs that a message can name, by TensorFlow's names for them.
_SPECS: dict[str, type[TypeSpec]] = {
    "SPARSE_TENSOR_SPEC": SparseTensorSpec,
    "INDEXED_SLICES_SPEC": IndexedSlicesSpec,
    "RAGGED_TENSOR_SPEC": RaggedTensorSpec,
    "TENSOR_ARRAY_SPEC": TensorArraySpec,
    "DATA_DATASET_SPEC": DatasetSpec,
    "DATA_ITERATOR_SPEC": IteratorSpec,
    "OPTIONAL_SPEC": OptionalSpec,
}


class NotEncodableError(Exception):
    """A value that no message can hold."""


class StructureCoder:
    """Nested structures as StructuredValue messages, and back."""

    def encode_structure(self, nested_structure: object) -> Any:
        """The message of a structure; NotEncodableError for what it cannot hold."""
        return encode_structure(nested_structure)

    def can_encode(self, nested_structure: object) -> bool:
        """Whether a message can hold a structure."""
        try:
            encode_structure(nested_structure)
        except NotEncodableError:
            return False
        return True

    def decode_proto(self, proto: Any) -> Any:
        """The structure of a message; ValueError for a type spec that is unknown here."""
        return decode_structure(proto)


def encode_structure(value: object) -> Any:
    """The StructuredValue of a value; NotEncodableError for a type that it cannot hold."""
    message = protos.StructuredValue()
    match value:
        case None:
            message.none_value.SetInParent()
        # Before int: a bool is one in Python.
        case bool():
            message.bool_value = value
        case int():
            message.int64_value = value
        case float():
            message.float64_value = value
        case str():
            message.string_value = value
        case TensorShape():
            message.tensor_shape_value.CopyFrom(shape_proto(value))
        case dtypes.DType():
            message.tensor_dtype_value = value.as_datatype_enum
        case TensorSpec():
            message.tensor_spec_value.shape.CopyFrom(shape_proto(value.shape))
            message.tensor_spec_value.dtype = value.dtype.as_datatype_enum
            message.tensor_spec_value.name = value.name or ""
        case TypeSpec():
            _encode_type_spec(message.type_spec_value, value)
        case _:
            _encode_sequence(message, value)
    return message


def _encode_type_spec(message: Any, value: TypeSpec) -> None:
    name = next((name for name, kind in _SPECS.items() if type(value) is kind), None)
    if name is None:
        raise NotEncodableError(f"No encoder for object [{value}] of type [{type(value)}].")
    message.type_spec_class = protos.TypeSpecProto.TypeSpecClass.Value(name)
    message.type_state.CopyFrom(encode_structure(value._serialize()))
    message.type_spec_class_name = type(value).__name__


def _encode_sequence(message: Any, value: Any) -> None:
    if isinstance(value, list):
        message.list_value.SetInParent()
        message.list_value.values.extend(map(encode_structure, value))
    elif isinstance(value, dict):
        message.dict_value.SetInParent()
        for key, item in value.items():
            message.dict_value.fields[key].CopyFrom(encode_structure(item))
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        message.named_tuple_value.name = type(value).__name__
        for key, item in zip(value._fields, value):
            message.named_tuple_value.values.add(key=key, value=encode_structure(item))
    elif isinstance(value, tuple):
        message.tuple_value.SetInParent()
        message.tuple_value.values.extend(map(encode_structure, value))
    else:
        raise NotEncodableError(f"No encoder for object [{value}] of type [{type(value)}].")


def decode_structure(message: Any) -> Any:
    """The value of a StructuredValue; ValueError for a type spec that is unknown here."""
    kind = message.WhichOneof("kind")
    value: Any = getattr(message, kind) if kind else None
    match kind:
        case "none_value":
            return None
        case "bool_value" | "int64_value" | "float64_value":
            return value
        case "string_value":
            return as_text(value)
        case "tensor_shape_value":
            return shape_from_proto(value)
        case "tensor_dtype_value":
            return dtypes.as_dtype(value)
        case "tensor_spec_value":
            shape, dtype = shape_from_proto(value.shape), dtypes.as_dtype(value.dtype)
            return TensorSpec(shape, dtype, value.name or None)
        case "type_spec_value":
            return _decode_type_spec(value)
        case "list_value":
            return [decode_structure(item) for item in value.values]
        case "tuple_value":
            return tuple(decode_structure(item) for item in value.values)
        case "dict_value":
            return {key: decode_structure(item) for key, item in value.fields.items()}
        case "named_tuple_value":
            fields = {pair.key: decode_structure(pair.value) for pair in value.values}
            return namedtuple(value.name, fields)(**fields)  # type: ignore[misc]
    raise NotEncodableError(f"No decoder for a structure of kind {kind}.")


def _decode_type_spec(message: Any) -> TypeSpec:
    name = protos.TypeSpecProto.TypeSpecClass.Name(message.type_spec_class)
    if name not in _SPECS:
        raise ValueError(
            f"The type '{message.type_spec_class_name}' is not supported by this version of "
            "TensorFlow. (The object you are loading must have been created with a newer version "
            "of TensorFlow.)"
        )
    return _SPECS[name]._deserialize(decode_structure(message.type_state))
