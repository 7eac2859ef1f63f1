# SPDX-License-Identifier: Apache-2.0
"""Texts of an array as one piece of memory and back, for kernels that take them all at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...engine.types.texts import PackedTexts


def is_many(texts: np.ndarray | PackedTexts, pieces: int = 1) -> bool:
    """Whether there are enough texts for kernels, each of so many pieces."""
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


def sizes_of(texts: np.ndarray) -> np.ndarray | None:
    """How many bytes each of many texts has; None where something is no text."""
    from ...jit.runtime import text_objects

    return text_objects.sizes_of(texts)


def run(name: str, arrays: Sequence[np.ndarray], numbers: Sequence[int], count: int) -> None:
    """Calls a kernel of texts."""
    from ...jit.library import text_rows
    from ...jit.runtime.calling import call

    call(text_rows.kernel(name), arrays, numbers, count)


def packed(texts: np.ndarray | PackedTexts) -> PackedTexts | None:
    """Many texts, in order; None where something is none."""
    if isinstance(texts, PackedTexts):
        return texts
    found = gathered(texts)
    return None if found is None else PackedTexts(found[0].tobytes(), found[1])


def absent_byte(*parts: bytes) -> int | None:
    """A byte that is in none of some texts; None where all are there."""
    # (First those that UTF-8 has not.)
    for code in range(255, -1, -1):
        if all(part.find(code) < 0 for part in parts):
            return code
    return None


def objects_of(texts: PackedTexts) -> np.ndarray:
    """A vector of texts as objects."""
    mark = absent_byte(texts.data) if is_many(texts) else None
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
