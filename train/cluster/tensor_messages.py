# SPDX-License-Identifier: Apache-2.0
"""Values of tensors as they cross processes: TensorProtos, and responses of RecvTensor as bytes.

Elements cross as raw memory, except texts and handles.  A response of RecvTensor is written and
read here field by field, so that a large tensor is copied once.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...engine import errors
from ...engine.types import dtypes
from ...io import protos
from ...io.tensor_proto import make_ndarray, shape_proto, tensor_proto
from ...io.variants import variant_tensor_proto, variants_of

_RESOURCE = np.dtype([("resource", np.ubyte)])
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
# The numbers of fields of RecvTensorResponse and TensorProto.
_TENSOR, _IS_DEAD, _START = 1, 2, 3
_DTYPE, _SHAPE, _CONTENT = 1, 2, 4


def as_array(value: Any, dtype: dtypes.DType) -> np.ndarray:
    """A result of a run, which may be a scalar, as an array."""
    if isinstance(value, np.ndarray):
        return value
    array = np.empty((), dtype.base_dtype.np_dtype)
    array[()] = value
    return array


def encoded(value: Any, dtype: dtypes.DType) -> Any:
    """A value as a TensorProto."""
    dtype = dtype.base_dtype
    array = as_array(value, dtype) if dtype != dtypes.resource else value
    if dtype == dtypes.resource:
        message = protos.TensorProto(dtype=dtype.as_datatype_enum)
        message.resource_handle_val.add().ParseFromString(array.tobytes())
        return message
    if dtype == dtypes.variant:
        return variant_tensor_proto(array)
    return tensor_proto(array, dtype, raw=dtype != dtypes.string)


def decoded(message: Any) -> np.ndarray:
    """The value of a TensorProto."""
    if message.dtype == protos.DT_RESOURCE:
        handle = message.resource_handle_val[0].SerializeToString()
        return np.frombuffer(handle, _RESOURCE).copy()
    if message.dtype == protos.DT_VARIANT:
        return variants_of(message)
    if message.dtype == protos.DT_STRING and message.tensor_content:
        return _texts(memoryview(message.tensor_content), message.tensor_shape)
    return make_ndarray(message)


def _texts(content: memoryview, shape: Any) -> np.ndarray:
    """Texts as the runtime packs them: all lengths, then all bytes."""
    array = np.empty([dim.size for dim in shape.dim], object)
    sizes, at = [], 0
    for _ in range(array.size):
        size, at = _number(content, at)
        sizes.append(size)
    flat = array.reshape(-1)
    for i, size in enumerate(sizes):
        flat[i] = bytes(content[at : at + size])
        at += size
    if at != len(content):
        raise errors.data_loss("Cannot parse a tensor: its texts have other lengths.")
    return flat.reshape(array.shape)


# Responses of RecvTensor


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def received_bytes(array: np.ndarray | None, dtype: dtypes.DType) -> bytes:
    """The response of RecvTensor with a value; None for a dead one."""
    start = b"\x18" + _varint(time.time_ns() // 1000)
    if array is None:
        message = protos.TensorProto(dtype=dtype.base_dtype.as_datatype_enum)
        tensor = message.SerializeToString()
        return b"\x0a" + _varint(len(tensor)) + tensor + b"\x10\x01" + start
    if array.dtype.hasobject or dtype.base_dtype == dtypes.resource:
        tensor = encoded(array, dtype).SerializeToString()
        return b"\x0a" + _varint(len(tensor)) + tensor + start
    shape = shape_proto(array.shape).SerializeToString()
    head = b"\x08" + _varint(dtype.base_dtype.as_datatype_enum)
    head += b"\x12" + _varint(len(shape)) + shape + b"\x22" + _varint(array.nbytes)
    content = np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
    return b"".join((start, b"\x0a", _varint(len(head) + array.nbytes), head, content))


def _fields(data: memoryview) -> Iterator[tuple[int, Any]]:
    """The fields of a message: numbers with integers, or with the bytes of what has a length."""
    at, end = 0, len(data)
    while at < end:
        tag, at = _number(data, at)
        kind = tag & 7
        if kind == _VARINT:
            value, at = _number(data, at)
            yield tag >> 3, value
        elif kind in (_BYTES, _FIXED64, _FIXED32):
            size, at = _number(data, at) if kind == _BYTES else (8 if kind == _FIXED64 else 4, at)
            if at + size > end:
                raise errors.data_loss("Cannot parse a tensor: the message ends too early.")
            yield tag >> 3, data[at : at + size]
            at += size
        else:
            raise errors.data_loss(f"Cannot parse a tensor: there is a field of wire type {kind}.")


def _number(data: memoryview, at: int) -> tuple[int, int]:
    number = shift = 0
    while at < len(data) and shift < 70:
        byte = data[at]
        number |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return number, at
    raise errors.data_loss("Cannot parse a tensor: the message ends within a number.")


def received(data: bytes) -> np.ndarray | None:
    """The value in a response of RecvTensor; None for a dead one."""
    tensor, is_dead = memoryview(b""), False
    for number, value in _fields(memoryview(data)):
        if number == _TENSOR:
            tensor = value
        elif number == _IS_DEAD:
            is_dead = bool(value)
    return None if is_dead else _value(tensor)


def _value(tensor: memoryview) -> np.ndarray:
    dtype, shape, content = 0, memoryview(b""), None
    for number, value in _fields(tensor):
        if number == _DTYPE:
            dtype = value
        elif number == _SHAPE:
            shape = value
        elif number == _CONTENT:
            content = value
    kind = dtypes.as_dtype(dtype).np_dtype
    if content is None or kind.hasobject:
        return decoded(protos.TensorProto.FromString(bytes(tensor)))
    sizes = [dim.size for dim in protos.TensorShapeProto.FromString(bytes(shape)).dim]
    return np.frombuffer(content, kind).reshape(sizes)
