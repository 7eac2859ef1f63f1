# SPDX-License-Identifier: Apache-2.0
"""Texts of an array as one piece of memory and back, for kernels that take them all at once."""

from __future__ import annotations

from collections.abc import Container, Sequence

import numpy as np

from ...engine.types.texts import PackedTexts

# Fewer texts take kernels less time than to give the interpreter's lock away and take it again.
FEW = 4096


def is_many(texts: np.ndarray | PackedTexts, pieces: int = 1) -> bool:
    """Whether there are enough texts for kernels, each of so many pieces, or they are packed."""
    if isinstance(texts, PackedTexts):
        return True
    if texts.size < 2:  # what pipelines do element by element
        return False
    from ...jit.runtime import text_objects

    return text_objects.is_many(texts.size * pieces)


def gathered(texts: np.ndarray, mark: int | None = None) -> tuple[np.ndarray, np.ndarray] | None:
    """The bytes of many texts, uint8, and their places, int64 [texts, 2]; `mark` behind each.

    None where something is no text.
    """
    from ...jit.runtime import text_objects

    return text_objects.gathered(texts, mark)


def sizes_of(texts: np.ndarray | PackedTexts) -> np.ndarray | None:
    """How many bytes each of many texts has; None where something is no text."""
    if isinstance(texts, PackedTexts):
        return texts.places[:, 1] - texts.places[:, 0]
    from ...jit.runtime import text_objects

    return text_objects.sizes_of(texts)


def run(name: str, arrays: Sequence[np.ndarray], numbers: Sequence[int], count: int) -> None:
    """Calls a kernel of texts."""
    from ...jit.library import text_rows
    from ...jit.runtime.calling import call

    call(text_rows.kernel(name), arrays, numbers, count, keeps_lock=count < FEW)


def packed(texts: np.ndarray | PackedTexts) -> PackedTexts | None:
    """Many texts, in order; None where something is none."""
    if isinstance(texts, PackedTexts):
        return texts
    if texts.size == 1:  # as what is joined with many
        text = texts.item()
        return PackedTexts.of([text]) if type(text) is bytes else None
    found = gathered(texts)
    return None if found is None else PackedTexts(found[0].tobytes(), found[1])


def absent_byte(*parts: bytes) -> int | None:
    """A byte that is in none of some texts; None where all are there."""
    # (First those that UTF-8 has not.)
    for code in range(255, -1, -1):
        if all(part.find(code) < 0 for part in parts):
            return code
    return None


def given(
    texts: PackedTexts, shape: tuple[int, ...], packs: Container[int]
) -> np.ndarray | PackedTexts:
    """Texts as the first output of a kernel, of this shape; packs: see `KernelContext`."""
    if 0 in packs and len(shape) == 1:
        return texts
    return objects_of(texts).reshape(shape)


def between_marks(whole: bytes, sizes: np.ndarray) -> PackedTexts:
    """Texts of these sizes that lie behind each other, each with a byte behind it."""
    places = np.empty((len(sizes), 2), np.int64)
    np.cumsum(sizes + 1, out=places[:, 1])
    places[:, 1] -= 1
    np.subtract(places[:, 1], sizes, out=places[:, 0])
    return PackedTexts(whole, places)


def objects_of(texts: PackedTexts) -> np.ndarray:
    """A vector of texts as objects."""
    from ...jit.runtime import text_objects

    mark = absent_byte(texts.data) if text_objects.is_many(len(texts)) else None
    if mark is None:
        return texts.array()
    return parted(with_marks(texts, mark), mark, len(texts))


def with_marks(texts: PackedTexts, mark: int) -> bytes:
    """Texts as one, with a byte behind each."""
    count = len(texts)
    out = np.empty(texts.nbytes + count, np.uint8)
    places = np.ascontiguousarray(texts.places)
    run("spread", [as_bytes(texts.data), places, out], [mark], count)
    return out.tobytes()


def parted(whole: bytes, mark: int, count: int) -> np.ndarray:
    """Texts as objects that lie one behind the other, each with a byte behind it.

    (No other way of Python's makes as many objects in the time.)
    """
    return np.fromiter(whole.split(bytes((mark,))), object, count)


def as_bytes(data: bytes) -> np.ndarray:
    """The memory of a text; of one byte if it has none."""
    return np.frombuffer(data or b"\0", np.uint8)
