# SPDX-License-Identifier: Apache-2.0
"""Variant tensors in files and messages: objects as a type's name, bytes and tensors.

In a bundle each object is its length, a serialized VariantTensorDataProto and a checksum.  What
objects hold they tell themselves; lists of tensors are made of it again, others stay as read.
"""

from __future__ import annotations

import math
import struct
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from ..engine import errors
from ..engine.types import dtypes
from . import crc, protos, varint
from .tensor_proto import make_ndarray, shape_proto, tensor_proto

_CHECKSUM = struct.Struct("<I")
# TensorFlow's names for the types of a list of tensors, and of a tensor.
LIST, TENSOR = "tensorflow::TensorList", "tensorflow::Tensor"
_LENGTH = struct.Struct("<Q")


class VariantData(NamedTuple):
    """An object that can be written: what TensorFlow calls VariantTensorData."""

    type_name: str
    metadata: bytes
    tensors: tuple[np.ndarray, ...]


@runtime_checkable
class Packable(Protocol):
    """An object of a variant tensor that can be written."""

    def packed(self) -> VariantData:
        """What it is."""


def _message(value: object) -> Any:
    if isinstance(value, Packable):
        value = value.packed()
    elif isinstance(value, np.ndarray):
        value = VariantData(TENSOR, b"", (value,))
    if not isinstance(value, VariantData):
        raise errors.unimplemented(f"Saving data type variant not yet supported for {value!r}")
    message = protos.VariantTensorDataProto(type_name=value.type_name, metadata=value.metadata)
    for array in value.tensors:
        message.tensors.add().CopyFrom(_tensor(array))
    return message


def _tensor(array: np.ndarray) -> Any:
    if not array.dtype.hasobject:
        return tensor_proto(array, dtypes.as_dtype(array.dtype))
    is_text = all(isinstance(item, bytes) for item in array.flat)
    return tensor_proto(array, dtypes.string) if is_text else variant_tensor_proto(array)


def _value(message: Any) -> object:
    tensors = tuple(
        variants_of(tensor) if tensor.dtype == protos.DT_VARIANT else make_ndarray(tensor)
        for tensor in message.tensors
    )
    found = VariantData(message.type_name, message.metadata, tensors)
    if found.type_name == TENSOR and len(tensors) == 1:
        return tensors[0]
    if found.type_name != LIST:
        return found
    from ..ops.array.tensor_list_store import unpacked

    return unpacked(found)


def variant_tensor_proto(array: np.ndarray) -> Any:
    """A variant tensor as a TensorProto; UnimplementedError for objects that cannot be written."""
    return protos.TensorProto(
        dtype=dtypes.variant.as_datatype_enum,
        tensor_shape=shape_proto(array.shape),
        variant_val=[_message(value) for value in array.reshape(-1)],
    )


def variants_of(message: Any) -> np.ndarray:
    """The variant tensor of a TensorProto; InvalidArgumentError where it lists too few objects."""
    shape = tuple(dim.size for dim in message.tensor_shape.dim)
    size, given = math.prod(shape), message.variant_val
    if message.tensor_content:
        given = _contents(message.tensor_content, size)
    found = [_value(value) for value in given]
    if len(found) != size:
        raise errors.invalid(f"A TensorProto of {size} variants lists {len(found)} of them")
    array = np.empty(size, object)
    array[:] = found
    return array.reshape(shape)


def _contents(content: bytes, size: int) -> list[Any]:
    """The objects of a tensor's content: the lengths of all, and then all."""
    from google.protobuf.message import DecodeError

    try:
        lengths, at = [], 0
        for _ in range(size):
            length, at = varint.get(content, at)
            lengths.append(length)
        ends = [at, *(at := at + length for length in lengths)]
        if at != len(content):
            raise IndexError
        read = protos.VariantTensorDataProto.FromString
        return [read(content[start:end]) for start, end in zip(ends, ends[1:])]
    except (IndexError, DecodeError):
        text = f"The content of a TensorProto is not that of {size} variants"
        raise errors.invalid(text) from None


def variant_pieces(array: np.ndarray) -> tuple[list[bytes], int]:
    """The bytes of a variant tensor in a bundle, and their checksum."""
    pieces, checksum = [], 0
    for value in array.reshape(-1):
        data = _message(value).SerializeToString()
        checksum = crc.extend(checksum, _LENGTH.pack(len(data)))
        checksum = crc.extend(checksum, data)
        own = _CHECKSUM.pack(crc.mask(checksum))
        checksum = crc.extend(checksum, own)
        pieces += [varint.put(len(data)), data, own]
    return pieces, checksum


def read_variants(data: bytes, count: int) -> tuple[np.ndarray, int]:
    """The objects of a variant tensor, and the checksum of the bytes; DataLossError for others."""
    from google.protobuf.message import DecodeError

    found, place, checksum = np.empty(count, object), 0, 0
    for i in range(count):
        try:
            length, place = varint.get(data, place)
        except (IndexError, ValueError, errors.DataLossError):
            raise errors.data_loss("The length of a variant is damaged") from None
        text = data[place : place + length]
        place += length
        own = data[place : place + _CHECKSUM.size]
        place += _CHECKSUM.size
        checksum = crc.extend(crc.extend(checksum, _LENGTH.pack(length)), text)
        if len(own) < _CHECKSUM.size or _CHECKSUM.unpack(own)[0] != crc.mask(checksum):
            raise errors.data_loss(f"The checksum after Variant {i} does not match.")
        checksum = crc.extend(checksum, own)
        try:
            message = protos.VariantTensorDataProto.FromString(text)
        except DecodeError:
            raise errors.data_loss(f"Variant {i} is not parseable") from None
        found[i] = _value(message)
    return found, checksum
