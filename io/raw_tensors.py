# SPDX-License-Identifier: Apache-2.0
"""TensorProtos as TensorFlow's runtime writes and reads them: texts, too, may be raw content.

(Its Python lists texts; see tensor_proto.py.)
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..engine.types import dtypes
from .tensor_proto import make_ndarray, tensor_proto
from .varint import get, put


def content_of(array: np.ndarray, dtype: dtypes.DType) -> bytes:
    """The elements as raw content: the lengths of all texts before the texts themselves."""
    if dtype.base_dtype != dtypes.string:
        return np.ascontiguousarray(array).tobytes()
    texts = [x.encode() if isinstance(x, str) else bytes(x) for x in array.ravel().tolist()]
    return b"".join([*(put(len(text)) for text in texts), *texts])


def runtime_tensor_proto(array: np.ndarray, dtype: dtypes.DType, raw: bool | None = None) -> Any:
    """The message of a tensor of numbers or texts.

    raw: as content, not as a list; by default where there are several elements, as the runtime has
    it for constants.
    """
    if dtype.base_dtype != dtypes.string:
        return tensor_proto(array, dtype, raw=array.size > 1 if raw is None else raw)
    if not (array.size > 1 if raw is None else raw):
        return tensor_proto(array, dtype, raw=False)
    message = tensor_proto(array.reshape(-1)[:0], dtype)
    del message.tensor_shape.dim[:]
    for size in array.shape:
        message.tensor_shape.dim.add(size=size)
    message.tensor_content = content_of(array, dtype)
    return message


def runtime_array(message: Any) -> np.ndarray:
    """The array of a message of either kind.

    Raises:
      ValueError: The content does not fit the type and shape.
    """
    if not message.tensor_content or message.dtype != dtypes.string.as_datatype_enum:
        return make_ndarray(message)
    shape = tuple(dim.size for dim in message.tensor_shape.dim)
    if any(size < 0 for size in shape):
        raise ValueError("A TensorProto has a negative size")
    return _texts(message.tensor_content, math.prod(shape)).reshape(shape)


def _texts(content: bytes, count: int) -> np.ndarray:
    if count > len(content):
        raise ValueError("A TensorProto has fewer texts than elements")
    place, lengths = 0, []
    try:
        for _ in range(count):
            length, place = get(content, place)
            lengths.append(length)
    except IndexError:
        raise ValueError("A TensorProto has fewer texts than elements") from None
    if place + sum(lengths) != len(content):
        raise ValueError("The texts of a TensorProto are not as long as it says")
    found = np.empty(count, object)
    for i, length in enumerate(lengths):
        found[i] = content[place : place + length]
        place += length
    return found
