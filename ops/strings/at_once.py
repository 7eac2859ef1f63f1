# SPDX-License-Identifier: Apache-2.0
"""What ops do with many texts, by kernels over all of them.

Each function gives None where it cannot be done so: something is no text, or in an unusual form.
Then the ops do it text by text, and say what is wrong if something is.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence

import numpy as np

from ...engine.types.texts import PackedTexts, unpacked
from . import packing
from .packing import absent_byte, as_bytes, given, objects_of, packed, parted, run

_LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


def character_counts(texts: np.ndarray | PackedTexts) -> np.ndarray | None:
    """How many characters of UTF-8 texts have."""
    known = packed(texts)
    if known is None:
        return None
    counts = np.empty(texts.size, np.int32)
    run("characters", [as_bytes(known.data), known.places, counts], [], texts.size)
    return counts.reshape(texts.shape)


def stripped(
    texts: np.ndarray | PackedTexts, packs: Container[int] = ()
) -> np.ndarray | PackedTexts | None:
    """Texts without white space at their ends; packs: see `KernelContext`."""
    known = packed(texts)
    if known is None:
        return None
    before = known.places.copy()
    if isinstance(texts, PackedTexts):
        own = PackedTexts(known.data, before)
        run("strip", [as_bytes(own.data), own.places], [], len(own))
        return given(own, texts.shape, packs)
    run("strip", [as_bytes(known.data), known.places], [], texts.size)
    changed = (before != known.places).any(axis=1)
    count = int(np.count_nonzero(changed))
    if 2 * count > texts.size:
        return objects_of(known).reshape(texts.shape)
    # Those that are as they were are the same objects.
    found = texts.reshape(-1).copy()
    if count:
        found[changed] = objects_of(PackedTexts(known.data, known.places[changed]))
    return found.reshape(texts.shape)


def in_case(
    texts: np.ndarray | PackedTexts,
    change: Callable[[bytes], bytes],
    packs: Container[int] = (),
) -> np.ndarray | PackedTexts | None:
    """Texts whose ASCII letters were changed, each to another byte; packs: see `KernelContext`."""
    known = packed(texts)
    if known is None:
        return None
    data = change(known.data)
    if data == known.data and isinstance(texts, np.ndarray):
        return texts.copy()
    return given(PackedTexts(data, known.places), texts.shape, packs)


def parts(
    texts: np.ndarray | PackedTexts,
    starts: np.ndarray,
    lengths: np.ndarray,
    packs: Container[int] = (),
) -> tuple[np.ndarray | PackedTexts, int] | None:
    """Some bytes of each text, and the number of the first that has none such, or -1.

    starts, lengths: int64, one each or as many as texts.  packs: see `KernelContext`.
    """
    known = packed(texts)
    if known is None:
        return None
    if isinstance(texts, PackedTexts):
        known = PackedTexts(known.data, known.places.copy())
    found = np.zeros(1, np.int64)
    steps = [int(each.size > 1) for each in (starts, lengths)]
    arrays = [known.places, *map(np.ascontiguousarray, (starts, lengths)), found]
    run("cut", arrays, steps, texts.size)
    return given(known, texts.shape, packs), int(found[0])


def joined(groups: PackedTexts, bounds: np.ndarray, separator: bytes) -> np.ndarray | None:
    """Texts of groups that lie behind each other as one each; bounds: int64, where groups begin."""
    mark = absent_byte(groups.data, separator)
    if mark is None:
        return None
    gaps = np.maximum(np.diff(bounds) - 1, 0)
    places = groups.places
    total = int((places[:, 1] - places[:, 0]).sum() + len(separator) * gaps.sum())
    return parted(_together(groups, bounds, separator, mark, total), mark, len(bounds) - 1)


def _together(
    groups: PackedTexts, bounds: np.ndarray, separator: bytes, mark: int, total: int
) -> bytes:
    """The same with a byte behind each, in one piece; total: how many bytes all have."""
    count = len(bounds) - 1
    out = np.empty(total + count, np.uint8)
    places = np.ascontiguousarray(groups.places)
    arrays = [as_bytes(groups.data), places, bounds, as_bytes(separator), out]
    run("join", arrays, [len(separator), mark], count)
    return out.tobytes()


def woven(
    columns: Sequence[np.ndarray | PackedTexts], count: int, separator: bytes, packs: bool = False
) -> np.ndarray | PackedTexts | None:
    """The texts of columns joined row by row; those of one text are the same in all rows.

    packs: they are given packed.
    """
    data, places, at = [], np.empty((count, len(columns), 2), np.int64), 0
    sizes = np.full(count, len(separator) * (len(columns) - 1))
    for i, column in enumerate(columns):
        known = packed(column)
        if known is None:
            return None
        np.add(known.places, at, out=places[:, i])
        sizes += known.places[:, 1] - known.places[:, 0]
        data.append(known.data)
        at += len(known.data)
    bounds = np.arange(0, count * len(columns) + 1, len(columns))
    groups = PackedTexts(b"".join(data), places.reshape(-1, 2))
    if not packs:
        return joined(groups, bounds, separator)
    whole = _together(groups, bounds, separator, 0, int(sizes.sum()))
    return packing.between_marks(whole, sizes)


def split(
    texts: np.ndarray | PackedTexts, marks: bytes, skips_empty: bool, keeps_empty: bool = False
) -> tuple[PackedTexts, np.ndarray, int] | None:
    """The parts of texts between any of some bytes; for each part its text's and its own number.

    And how many the text with the most has.  Texts of no bytes have no parts, but for `keeps_empty`
    one.
    """
    known = packed(texts)
    if known is None:
        return None
    table = np.zeros(256, np.uint8)
    table[list(marks)] = 1
    # Each mark ends a part, and so does each text.
    most = known.nbytes + len(known)
    found, places, owners = np.zeros(2, np.int64), *np.empty((2, most, 2), np.int64)
    arrays = [as_bytes(known.data), np.ascontiguousarray(known.places), table]
    run("split", [*arrays, places, owners, found], [int(skips_empty), int(keeps_empty)], len(known))
    count, longest = found.tolist()
    return PackedTexts(known.data, places[:count].copy()), owners[:count].copy(), longest


def written(numbers: np.ndarray) -> np.ndarray:
    """Whole numbers as texts."""
    whole = np.ascontiguousarray(numbers, np.int64).reshape(-1)
    out, found, mark = np.empty(21 * whole.size, np.uint8), np.zeros(1, np.int64), b"\n"[0]
    run("write", [whole, out, found], [mark], whole.size)
    return parted(out[: found[0]].tobytes(), mark, whole.size).reshape(numbers.shape)


def encoded(texts: np.ndarray, fills: bool) -> np.ndarray | None:
    """Texts in web-safe Base64; fills: to whole blocks."""
    known = packed(texts)
    if known is None:
        return None
    # (No letter of Base64.)
    mark, sizes = 0, known.places[:, 1] - known.places[:, 0]
    total = int((4 * -(-sizes // 3) if fills else -(-4 * sizes // 3)).sum())
    out = np.empty(total + texts.size, np.uint8)
    arrays = [as_bytes(known.data), known.places, as_bytes(_LETTERS), out]
    run("encode", arrays, [int(fills), mark], texts.size)
    return parted(out.tobytes(), mark, texts.size).reshape(texts.shape)


def decoded(texts: np.ndarray) -> np.ndarray | None:
    """What texts in web-safe Base64 say."""
    from ...jit.library.text_rows import BAD

    known = packed(texts)
    if known is None:
        return None
    values = np.full(256, BAD, np.uint8)
    values[list(_LETTERS)] = np.arange(64)
    out, found = np.empty(len(known.data) + 1, np.uint8), np.zeros(1, np.int64)
    run("decode", [as_bytes(known.data), known.places, values, out, found], [], texts.size)
    if found[0]:
        return None
    size = int(known.places[-1, 1])
    return objects_of(PackedTexts(out[:size].tobytes(), known.places)).reshape(texts.shape)


def hashed(
    texts: np.ndarray | PackedTexts, method: str, buckets: int, key: Sequence[int] = ()
) -> np.ndarray | None:
    """The hashes of texts modulo `buckets`, int64; method: a kernel of jit/library/hashes.py."""
    from ...jit.library import hashes
    from ...jit.runtime.calling import call

    if isinstance(texts, PackedTexts):
        data, places = as_bytes(texts.data), np.ascontiguousarray(texts.places)
    else:
        known = packing.gathered(texts)
        if known is None:
            return None
        data, places = known
    found, left = np.empty(texts.size, np.int64), np.zeros(1, np.int64)
    arrays = [data, places, found, left]
    keeps_lock = texts.size < packing.FEW
    call(getattr(hashes, method)(), arrays, [buckets, *key], texts.size, keeps_lock)
    if left[0]:
        from farmhash import Fingerprint64

        sizes, flat = places[:, 1] - places[:, 0], unpacked(texts).reshape(-1)
        for i in np.flatnonzero(sizes > hashes.LONGEST).tolist():
            found[i] = Fingerprint64(flat[i]) % buckets
    return found.reshape(texts.shape)


def contents(texts: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """The bytes of texts, one behind the other, and how many each has."""
    known = packing.gathered(texts)
    return None if known is None else (known[0], known[1][:, 1] - known[1][:, 0])
