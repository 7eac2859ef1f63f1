# SPDX-License-Identifier: Apache-2.0
"""Texts of arrays of objects as one piece of memory, read by kernels.

Python's interpreter keeps a text as an object with its size and its bytes in it: a kernel reads
them there, which takes a tenth of the time of asking each object.  Few texts are not worth it.
Imports the library's kernels.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache

import numpy as np

from ...engine import settings
from ..library import text_rows as kernels
from .calling import address_of, call

# From so many texts on kernels are called.
MANY = 256


class _Memory:
    """Bytes at an address, for NumPy to see; `owner` is what they belong to."""

    def __init__(self, place: int, count: int, owner: object = None) -> None:
        self.owner = owner
        facts = {"version": 3, "typestr": "|u1", "data": (place, True), "shape": (count,)}
        self.__array_interface__ = facts


@cache
def _layout() -> tuple[int, int, int, int] | None:
    """The address of the type of texts, and where an object has its type, its size and its bytes.

    None where objects are not as CPython has them.
    """
    if sys.implementation.name != "cpython":
        return None
    header, contents = object.__basicsize__, bytes.__basicsize__ - 1
    size = np.intp().itemsize
    kind_at = header - size
    for text in (b"", b"a text\0 of some bytes"):
        memory = np.asarray(_Memory(id(text), contents + len(text))).tobytes()
        words = (memory[at : at + size] for at in (kind_at, header))
        kind, length = (int.from_bytes(word, sys.byteorder) for word in words)
        if (kind, length, memory[contents:]) != (id(bytes), len(text), text):
            return None
    return id(bytes), kind_at, header, contents


def is_many(count: int) -> bool:
    """Whether there are enough texts for kernels."""
    return count >= MANY and settings.get("jit") != "never" and _layout() is not None


def _addresses(texts: np.ndarray) -> np.ndarray:
    """Those of a contiguous array's objects: it is made of them."""
    return np.asarray(_Memory(address_of(texts), texts.nbytes, texts)).view(np.int64)


def sizes_of(texts: np.ndarray) -> np.ndarray | None:
    """How many bytes each of many texts has, int64 [texts]; None where something is no text."""
    flat = np.ascontiguousarray(texts).reshape(-1)
    found = _measured(flat)
    return None if found is None else found[0]


def _measured(flat: np.ndarray) -> tuple[np.ndarray, int] | None:
    layout = _layout()
    assert layout is not None
    sizes, found = np.empty(flat.size, np.int64), np.zeros(2, np.int64)
    _run("measure", [_addresses(flat), sizes, found], layout[:3], flat.size)
    total, others = found.tolist()
    return None if others else (sizes, total)


def gathered(texts: np.ndarray, mark: int | None = None) -> tuple[np.ndarray, np.ndarray] | None:
    """The bytes of many texts, uint8, and their places, int64 [texts, 2].

    Behind each lies `mark`, if that is given.  None where something is no text.
    """
    layout = _layout()
    assert layout is not None
    flat = np.ascontiguousarray(texts).reshape(-1)
    measured = _measured(flat)
    if measured is None:
        return None
    sizes, total = measured
    gap = int(mark is not None)
    data = np.empty(total + gap * flat.size, np.uint8)
    places, found = np.empty((flat.size, 2), np.int64), np.zeros(1, np.int64)
    arrays = [_addresses(flat), sizes, data, places, found]
    _run("gather", arrays, [*layout, gap, mark or 0], flat.size)
    # (Another thread may have put other objects into the array.)
    return None if found[0] else (data, places)


def _run(name: str, arrays: Sequence[np.ndarray], numbers: Sequence[int], count: int) -> None:
    # (Objects must not change, nor go, while a kernel reads them.)
    call(kernels.kernel(name), arrays, numbers, count, keeps_lock=True)
