# SPDX-License-Identifier: Apache-2.0
"""TensorProtos as TensorFlow's kernels write them: all elements in `tensor_content`.

Written byte by byte, as many small ones are wanted at once.  Texts are the lengths of all, then all
of them.  What Python programs make of arrays is in io/tensor_proto.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ..engine.types import dtypes

# Tags of fields: the number of a field, three bits further on, and how what follows is written.
_DTYPE, _SHAPE, _CONTENT = b"\x08", b"\x12", b"\x22"
_DIM, _SIZE = b"\x12", b"\x08"


def serialized(array: np.ndarray) -> bytes:
    """The bytes of a TensorProto."""
    head = _head(array.dtype, array.shape)
    content = _joined(array) if array.dtype.hasobject else array.tobytes()
    return b"".join([head, _CONTENT, varint(len(content)), content]) if content else head


def serialized_ranges(whole: np.ndarray, bounds: Sequence[tuple[int, int]]) -> list[bytes]:
    """The same of ranges of an array's rows, given by where they begin and end."""
    if whole.dtype.hasobject:
        return [serialized(whole[first:last]) for first, last in bounds]
    data, inner = whole.tobytes(), whole.shape[1:]
    width = whole.dtype.itemsize * math.prod(inner)
    # By number of rows what stands before the content.
    before: dict[int, bytes] = {}
    found = []
    for first, last in bounds:
        start = before.get(last - first)
        if start is None:
            size = (last - first) * width
            start = _head(whole.dtype, (last - first, *inner))
            start = before[last - first] = start + _CONTENT + varint(size) if size else start
        found.append(start + data[first * width : last * width])
    return found


@lru_cache(maxsize=1024)
def _head(dtype: np.dtype[Any], sizes: tuple[int, ...]) -> bytes:
    """All but the content."""
    kind = dtypes.as_dtype(dtype).as_datatype_enum
    shape = b"".join(map(_dim, sizes))
    return b"".join([_DTYPE, varint(kind), _SHAPE, varint(len(shape)), shape])


def _dim(size: int) -> bytes:
    field = _SIZE + varint(size) if size else b""  # (Zeros are not written.)
    return b"".join([_DIM, varint(len(field)), field])


def varint(number: int) -> bytes:
    """A number that is not negative, seven bits to a byte, the lowest first."""
    if number < 128:
        return _SMALL[number]
    return bytes([number & 127 | 128]) + varint(number >> 7)


_SMALL = [bytes([number]) for number in range(128)]


def _joined(texts: np.ndarray) -> bytes:
    items = [item if isinstance(item, bytes) else str(item).encode() for item in texts.flat]
    return b"".join([*(varint(len(item)) for item in items), *items])


def texts_of(content: bytes, shape: tuple[int, ...]) -> np.ndarray:
    """The texts in the content of a TensorProto; ValueError where it is cut short."""
    lengths, place = [], 0
    for _ in range(math.prod(shape)):
        length, shift = 0, 0
        while True:
            byte = content[place] if place < len(content) else _cut_short()
            place, length, shift = place + 1, length | (byte & 127) << shift, shift + 7
            if byte < 128:
                break
        lengths.append(length)
    if place + sum(lengths) != len(content):
        _cut_short()
    found = np.empty(len(lengths), object)
    for number, length in enumerate(lengths):
        found[number] = content[place : place + length]
        place += length
    return found.reshape(shape)


def _cut_short() -> int:
    raise ValueError("the tensor_content of a TensorProto of texts is not as long as it says")
