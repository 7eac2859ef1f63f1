# SPDX-License-Identifier: Apache-2.0
"""Texts of an array as one piece of memory and back, for kernels that take them all at once.

Python's interpreter keeps a text as an object with its size and its bytes in it: a kernel reads
them there, which takes a tenth of the time of asking each object.  Few texts are not worth it.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Sequence
from functools import cache

import numpy as np

from ...engine import settings
from ...engine.types.texts import PackedTexts

# From so many texts on kernels are called.
_MANY = 256


@cache
def _layout() -> tuple[int, int, int, int] | None:
    """The address of the type of texts, and where an object has its type, its size and its bytes.

    None where objects are not as CPython has them.
    """
    if sys.implementation.name != "cpython":
        return None
    header, contents = object.__basicsize__, bytes.__basicsize__ - 1
    kind_at = header - ctypes.sizeof(ctypes.c_void_p)
    for text in (b"", b"a text\0 of some bytes"):
        place = id(text)
        is_there = (
            ctypes.c_void_p.from_address(place + kind_at).value == id(bytes)
            and ctypes.c_ssize_t.from_address(place + header).value == len(text)
            and ctypes.string_at(place + contents, len(text)) == text
        )
        if not is_there:
            return None
    return id(bytes), kind_at, header, contents


def is_many(texts: np.ndarray | PackedTexts) -> bool:
    """Whether there are enough texts for kernels."""
    return texts.size >= _MANY and settings.get("jit") != "never" and _layout() is not None


def run(
    name: str,
    arrays: Sequence[np.ndarray],
    numbers: Sequence[int],
    count: int,
    keeps_lock: bool = False,
) -> None:
    """Calls a kernel of texts."""
    from ...jit.library import texts
    from ...jit.runtime.calling import call

    call(texts.kernel(name), arrays, numbers, count, keeps_lock)


def packed(texts: np.ndarray | PackedTexts) -> PackedTexts | None:
    """Many texts, in order; None where something is none."""
    if isinstance(texts, PackedTexts):
        return texts
    found = _gathered(texts, 0, 0)
    return None if found is None else PackedTexts(found[0].tobytes(), found[1])


def with_marks(texts: np.ndarray, mark: int) -> bytes | None:
    """Many texts as one, each with a byte behind it; None where something is none."""
    found = _gathered(texts, 1, mark)
    return None if found is None else found[0].tobytes()


def _gathered(texts: np.ndarray, gap: int, mark: int) -> tuple[np.ndarray, np.ndarray] | None:
    """The bytes of many texts, with `gap` of a mark behind each, and their places."""
    layout = _layout()
    assert layout is not None
    flat = np.ascontiguousarray(texts).reshape(-1)
    # An array of objects is one of their addresses.
    objects = np.ndarray(flat.shape, np.int64, _memory_of(flat))
    count, sizes, found = flat.size, np.empty(flat.size, np.int64), np.zeros(2, np.int64)
    run("measure", [objects, sizes, found], layout[:3], count, keeps_lock=True)
    total, others = found.tolist()
    if others:
        return None
    data = np.empty(total + gap * count, np.uint8)
    places = np.empty((count, 2), np.int64)
    arrays = [objects, sizes, data, places, found]
    run("gather", arrays, [*layout, gap, mark], count, keeps_lock=True)
    # (Another thread may have put other objects into the array.)
    return None if found[0] else (data, places)


def _memory_of(array: np.ndarray) -> ctypes.Array[ctypes.c_char]:
    return (ctypes.c_char * array.nbytes).from_address(array.ctypes.data)


def sizes_of(texts: np.ndarray) -> np.ndarray | None:
    """How many bytes each of many texts has; None where something is no text."""
    layout = _layout()
    assert layout is not None
    flat = np.ascontiguousarray(texts).reshape(-1)
    objects = np.ndarray(flat.shape, np.int64, _memory_of(flat))
    sizes, found = np.empty(flat.size, np.int64), np.zeros(2, np.int64)
    run("measure", [objects, sizes, found], layout[:3], flat.size, keeps_lock=True)
    return None if found[1] else sizes


def absent_byte(*parts: bytes) -> int | None:
    """A byte that is in none of some texts; None where all are there."""
    # (First those that UTF-8 has not.)
    for code in range(255, -1, -1):
        if all(part.find(code) < 0 for part in parts):
            return code
    return None


def objects_of(texts: PackedTexts) -> np.ndarray:
    """A vector of texts as objects."""
    count = len(texts)
    mark = absent_byte(texts.data) if count >= _MANY else None
    if mark is None:
        return texts.array()
    out = np.empty(int((texts.places[:, 1] - texts.places[:, 0]).sum()) + count, np.uint8)
    run("spread", [as_bytes(texts.data), texts.places, out], [mark], count)
    return parted(out.tobytes(), mark, count)


def parted(whole: bytes, mark: int, count: int) -> np.ndarray:
    """Texts as objects that lie one behind the other, each with a byte behind it.

    (No other way of Python's makes as many objects in the time.)
    """
    return np.fromiter(whole.split(bytes((mark,))), object, count)


def as_bytes(data: bytes) -> np.ndarray:
    """The memory of a text; of one byte if it has none."""
    return np.frombuffer(data or b"\0", np.uint8)
