# SPDX-License-Identifier: Apache-2.0
"""Tensors as two processes of one machine hand them to each other: descriptors, then raw elements.

A descriptor has the number of the dtype, whether the data is a TensorProto (texts, handles), rank,
bytes, and the sizes.  Data begins at multiples of 64 bytes, as kernels like their arrays.
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...engine import errors
from ...engine.types import dtypes
from ...io import protos
from .tensor_messages import as_array, decoded, encoded

_FIXED = struct.Struct("<HBBIQ")
_LINE = 64
_PAD = bytes(_LINE)


@functools.cache
def _sizes(rank: int) -> struct.Struct:
    return struct.Struct(f"<{rank}q")


@functools.cache
def _element(number: int) -> np.dtype | None:
    """What elements of a dtype are in memory; None where they cross as messages."""
    dtype = dtypes.as_dtype(number)
    is_plain = dtype not in (dtypes.string, dtypes.resource, dtypes.variant)
    return np.dtype(dtype.np_dtype) if is_plain else None


def packed(values: Sequence[Any], kinds: Sequence[dtypes.DType]) -> tuple[list[Any], int]:
    """The pieces to send one after another, and their bytes together."""
    pieces: list[Any] = [b""]
    head: list[bytes] = []
    size = 0
    for value, kind in zip(values, kinds):
        number = kind.as_datatype_enum
        element = _element(number)
        if element is None:
            data: Any = encoded(value, kind).SerializeToString()
            count, shape, is_message = len(data), (), 1
        else:
            data = value if type(value) is np.ndarray else as_array(value, kind)
            if data.dtype != element:
                data = data.astype(element)
            if not data.flags.c_contiguous:
                data = np.ascontiguousarray(data).reshape(data.shape)
            count, shape, is_message = data.nbytes, data.shape, 0
        head.append(_FIXED.pack(number, is_message, len(shape), 0, count))
        if shape:
            head.append(_sizes(len(shape)).pack(*shape))
        if count:
            # (Elements of types that NumPy does not know have no buffer of their own.)
            pieces.append(data if is_message else data.reshape(-1).view(np.uint8))
            size += count
            if count % _LINE:
                pieces.append(_PAD[count % _LINE :])
                size += _LINE - count % _LINE
    start = b"".join(head)
    pieces[0] = start + _PAD[len(start) % _LINE :] if len(start) % _LINE else start
    return pieces, size + len(pieces[0])


def unpacked(body: memoryview, count: int, is_kept: bool) -> list[np.ndarray]:
    """The tensors of a message; copies where the memory of it is not the receiver's to keep.

    Raises:
        DataLossError: what the message declares does not fit into it.
    """
    try:
        return _unpacked(body, count, is_kept)
    except (struct.error, TypeError, ValueError, OverflowError) as error:
        raise errors.data_loss(f"Cannot parse tensors of a message: {error}") from None


def _unpacked(body: memoryview, count: int, is_kept: bool) -> list[np.ndarray]:
    found, at = [], 0
    for _ in range(count):
        number, is_message, rank, _, size = _FIXED.unpack_from(body, at)
        at += _FIXED.size
        shape = _sizes(rank).unpack_from(body, at) if rank else ()
        at += 8 * rank
        found.append((number, is_message, shape, size))
    at += -at % _LINE
    values = []
    for number, is_message, shape, size in found:
        if at + size > len(body):
            raise ValueError(f"{size} bytes at {at} of {len(body)}")
        values.append(_value(body, number, is_message, shape, at, size, is_kept))
        at += size + -size % _LINE
    return values


def _value(
    body: memoryview, number: int, is_message: int, shape: Any, at: int, size: int, is_kept: bool
) -> np.ndarray:
    if is_message:
        return decoded(protos.TensorProto.FromString(bytes(body[at : at + size])))
    element = _element(number)
    if element is None:
        raise ValueError(f"elements of type {number} are not raw")
    if is_kept:
        value: np.ndarray = np.ndarray(shape, element, body, at)
    else:
        value = np.empty(shape, element)
        if value.nbytes != size:
            raise ValueError(f"{size} bytes for {shape}")
        value.reshape(-1).view(np.uint8)[:] = body[at : at + size]
    if value.nbytes != size:
        raise ValueError(f"{size} bytes for {shape}")
    return value
