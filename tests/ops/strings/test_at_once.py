# SPDX-License-Identifier: Apache-2.0
"""Ops on many texts, by kernels, against the same ops text by text."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.jit.library import hashes_kernels, text_rows_kernels
from numbaflow.jit.library.plain_vocabulary import Arguments
from numbaflow.jit.runtime import text_objects
from numbaflow.ops.strings import at_once, packing
from numbaflow.ops.strings.hash import fingerprint

pytestmark = pytest.mark.cpu

COUNT = 300


def texts(seed: int = 0, most: int = 12, letters: bytes = b"ab \t=\0\xc3\xa4Z-9") -> np.ndarray:
    """Some hundred texts, a few of no bytes."""
    random = np.random.RandomState(seed)
    found = np.empty(COUNT, object)
    for i in range(COUNT):
        found[i] = bytes(random.choice(list(letters), random.randint(0, most)).astype(np.uint8))
    return found


def base64(seed: int = 0) -> np.ndarray:
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run(tf.encode_base64(texts(seed), pad=True))


def ragged() -> np.ndarray:
    """Texts that cannot lie beside each other with a byte between: all bytes are there."""
    return np.array([bytes(range(256))] * COUNT, object)


CASES: dict[str, Any] = {
    "length": lambda: tf.strings.length(texts()),
    "characters": lambda: tf.strings.length(texts(), unit="UTF8_CHAR"),
    "lower": lambda: tf.strings.lower(texts()),
    "upper of small letters": lambda: tf.strings.upper(texts(letters=b"az09")),
    "strip": lambda: tf.strings.strip(texts(letters=b"ab \t\n")),
    "strip of few": lambda: tf.strings.strip(np.array([b"a"] * COUNT + [b" b "], object)),
    "strip of all bytes": lambda: tf.strings.strip(np.array([*ragged(), b" b"], object)),
    "part": lambda: tf.substr(np.array([b"a piece of text"] * COUNT, object), 3, 5),
    "part from the end": lambda: tf.substr(
        np.array([b"a piece" + b"x" * (i % 5) for i in range(COUNT)], object), -3, 100
    ),
    "parts": lambda: tf.substr(
        np.array([b"text %d" % i for i in range(COUNT)], object),
        np.arange(COUNT) % 7 - 3,
        np.arange(COUNT) % 5 - 1,
    ),
    "encode": lambda: tf.encode_base64(texts()),
    "encode, filled": lambda: tf.encode_base64(texts(), pad=True),
    "decode": lambda: tf.decode_base64(base64()),
    "join": lambda: tf.string_join([texts(), texts(1), "x"], separator=", "),
    "join of all bytes": lambda: tf.string_join([ragged(), texts(1)], separator="-"),
    "reduce": lambda: tf.reduce_join(texts().reshape(10, 5, 6), [1, 0], separator="."),
    "segments": lambda: tf.strings.unsorted_segment_join(
        texts().reshape(-1, 1), np.arange(COUNT) % 7, 9, separator=", "
    ),
    "split": lambda: tf.string_split(texts(), " "),
    "split at several": lambda: tf.string_split(texts(), " ab", skip_empty=False),
    "split at one": lambda: tf.strings.split(texts(), "a"),
    "split at white space": lambda: tf.strings.split(texts(letters=b"ab \t\n")),
    "split at two": lambda: tf.strings.split(texts(), "ab"),
    "split once": lambda: tf.strings.split(texts(), "a", maxsplit=1),
    "raw": lambda: tf.decode_raw(np.array([b"%08d" % i for i in range(COUNT)], object), tf.int16),
    "raw, big": lambda: tf.decode_raw(
        np.array([b"%08d" % i for i in range(COUNT)], object), tf.int32, little_endian=False
    ),
    "hash": lambda: tf.string_to_hash_bucket(texts(most=30), 1 << 40),
    "fast hash": lambda: tf.string_to_hash_bucket_fast(texts(most=200), 1 << 40),
    "strong hash": lambda: tf.string_to_hash_bucket_strong(texts(most=30), 1 << 40, [-3, 1 << 62]),
}


def lines(fields: list[str], **options: Any) -> Any:
    """Records of one form, with numbers in place of `#`."""
    records = [",".join(fields).replace("#", str(i * 37 % 101 - 50)) for i in range(COUNT)]
    defaults = options.pop("defaults")
    return tf.decode_csv(np.array([r.encode() for r in records], object), defaults, **options)


CASES |= {
    "integers": lambda: tf.as_string(
        tf.constant(np.append(np.arange(COUNT) ** 3 - 9999, [-(1 << 63), (1 << 63) - 1, 0]))
    ),
    "small integers": lambda: tf.as_string(tf.constant(np.arange(-128, 128).astype(np.int8))),
    "columns": lambda: lines(["#", "a#", "#.25", "3e#"], defaults=[[0], [""], [0.0], [0.0]]),
    "some columns": lambda: lines(["#", "", "x y"], defaults=[["no"]], select_cols=[1]),
    "missing fields": lambda: tf.decode_csv(
        np.array([b"%d,%s,NA" % (i, b"" if i % 3 else b"2.5") for i in range(COUNT)], object),
        [[0], [7.0], ["x"]],
        na_value="NA",
    ),
    "odd fields": lambda: lines([" 1", '"#, 2"', "0x10"], defaults=[[0], [""], [0.0]]),
    "odd numbers": lambda: lines(
        [" 1", "nan", "123456789012345678901234567890"], defaults=[[0.0]] * 3
    ),
    "other delimiter": lambda: tf.decode_csv(
        np.array([b'%d\t"x"' % i for i in range(COUNT)], object),
        [[0], [""]],
        field_delim="\t",
        use_quote_delim=False,
    ),
}


def run(case: str) -> list[np.ndarray]:
    with tf.Graph().as_default(), tf.Session() as session:
        found = session.run(CASES[case]())
    return list(found) if isinstance(found, (tuple, list)) else [found]


@pytest.mark.parametrize("case", CASES)
def test_many_texts_give_what_each_gives(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    known = packing.gathered
    monkeypatch.setattr(packing, "gathered", lambda *a: calls.append("") or known(*a))
    many = run(case)
    assert calls or case in ("length", "integers", "small integers", "split at two", "split once")
    with settings.override(jit="never"):
        each = run(case)
    for one, other in zip(many, each, strict=True):
        assert one.dtype == other.dtype
        assert one.shape == other.shape
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: tf.substr(np.array([b"abc"] * 299 + [b"a"], object), 2, 1), "at index 299"),
        (lambda: tf.decode_base64(np.array([b"YWE"] * 299 + [b"a*"], object)), "Invalid character"),
        (lambda: tf.decode_base64(np.array([b"YWE"] * 299 + [b"a"], object)), "1 modulo 4"),
        (
            lambda: tf.decode_csv(np.array([b"1,2"] * 299 + [b"1"], object), [[0], [0]]),
            "Expect 2 fields but have 1 in record 299",
        ),
        (
            lambda: tf.decode_csv(np.array([b"1,2"] * 299 + [b"1,x"], object), [[0], [0]]),
            "Field 1 in record 299 is not a valid int32: x",
        ),
        (lambda: tf.decode_raw(np.array([b"ab"] * 299 + [b"a"], object), tf.int16), "element 299"),
    ],
)
def test_one_bad_text_among_many_is_named(make: Any, words: str) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        wrong = make()
        with pytest.raises(tf.errors.InvalidArgumentError, match=words):
            session.run(wrong)


def test_what_is_no_text_is_left_to_others() -> None:
    mixed = np.array([b"a"] * COUNT, object)
    assert packing.packed(mixed).tolist() == mixed.tolist()
    mixed[7] = "a text of characters"
    assert packing.packed(mixed) is None
    assert packing.sizes_of(mixed) is None
    # Memory of arrays that were just made holds no objects.
    assert packing.packed(np.empty(COUNT, object)) is None


def test_fingerprints_of_all_lengths() -> None:
    bytes_ = np.random.RandomState(0).bytes(5000)
    every = np.array([bytes_[i : i + i % 80] for i in range(COUNT)], object)
    found = at_once.hashed(every, "fingerprints", 1 << 62)
    assert found is not None
    assert found.tolist() == [fingerprint()(text) % (1 << 62) for text in every]


@pytest.mark.parametrize("method", ["murmurs", "fingerprints", "sips"])
def test_hashes_in_python(method: str) -> None:
    """The same function as plain Python."""
    every = texts(most=60)
    known = packing.packed(every)
    assert known is not None
    data, places = np.frombuffer(known.data, np.uint8), known.places
    hashes, left = np.zeros(COUNT, np.int64), np.zeros(1, np.int64)
    key = [3, 5] if method == "sips" else []
    with np.errstate(over="ignore"):
        kernel = getattr(hashes_kernels, method)
        _plainly(kernel, [data, places, hashes, left], [1 << 62, *key])
    found = at_once.hashed(every, method, 1 << 62, key)
    assert found is not None
    assert hashes.tolist() == found.tolist()


def test_texts_in_python() -> None:
    """The kernels that read and strip texts as plain Python."""
    every = texts()
    layout = text_objects._layout()
    assert layout is not None
    objects = np.array([id(text) for text in every], np.int64)
    sizes, found = np.zeros(COUNT, np.int64), np.zeros(2, np.int64)
    _plainly(text_rows_kernels.measure, [objects, sizes, found], layout[:3])
    assert sizes.tolist() == list(map(len, every))
    data, places = np.zeros(sizes.sum() + COUNT, np.uint8), np.zeros((COUNT, 2), np.int64)
    _plainly(text_rows_kernels.gather, [objects, sizes, data, places, found], [*layout, 1, 7])
    assert data.tobytes() == b"".join(text + b"\7" for text in every)
    _plainly(text_rows_kernels.strip, [data, places], [])
    out = np.zeros((places[:, 1] - places[:, 0]).sum() + COUNT, np.uint8)
    _plainly(text_rows_kernels.spread, [data, places, out], [7])
    assert out.tobytes() == b"".join(text.strip() + b"\7" for text in every)


def _plainly(kernel: Any, arrays: list[np.ndarray], numbers: Any) -> None:
    words = [*(array.ctypes.data for array in arrays), *numbers]
    kernel(Arguments(words, [array.dtype.name for array in arrays]), 0, COUNT, 0, 1, 0)
