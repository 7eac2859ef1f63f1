# SPDX-License-Identifier: Apache-2.0
"""Many texts as one and back, so that what is done to all of them is done once."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from itertools import chain

import numpy as np


def sizes_of(texts: Sequence[bytes]) -> np.ndarray:
    """How many bytes each text has."""
    return np.fromiter(map(len, texts), np.int64, len(texts))


def starts_of(sizes: np.ndarray) -> np.ndarray:
    """Where pieces of these sizes begin, one behind the other."""
    return np.cumsum(sizes) - sizes


def filled(texts: Sequence[bytes], sizes: np.ndarray, rooms: np.ndarray, fill: int) -> bytes:
    """All texts behind each other, each filled up with a byte to the size of its room."""
    data = np.frombuffer(b"".join(texts), np.uint8)
    result = np.full(int(rooms.sum()), fill, np.uint8)
    if _are_equal(sizes):
        result.reshape(len(sizes), -1)[:, : sizes[0]] = data.reshape(len(sizes), -1)
    else:
        moved = np.repeat(starts_of(rooms) - starts_of(sizes), sizes)
        result[np.arange(len(data)) + moved] = data
    return result.tobytes()


def cut(whole: bytes, sizes: np.ndarray, rooms: np.ndarray) -> list[bytes]:
    """The beginnings of pieces that lie behind each other in rooms of their own."""
    if _are_equal(sizes) and _are_equal(rooms):
        form = f"{sizes[0]}s{rooms[0] - sizes[0]}x"
        return list(chain.from_iterable(struct.iter_unpack(form, whole)))
    starts = starts_of(rooms)
    return [whole[a:b] for a, b in zip(starts.tolist(), (starts + sizes).tolist())]


def _are_equal(sizes: np.ndarray) -> bool:
    return bool(len(sizes) and sizes[0] and (sizes == sizes[0]).all())
