# SPDX-License-Identifier: Apache-2.0
"""Hashes of strings, with the same values as TensorFlow's: FarmHash, SipHash and Hash64."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.dispatch import dispatched
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.types.shape import TensorShape, shape_text
from ...engine.types.texts import PackedTexts, unpacked
from ..public import raw
from . import at_once, packing

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.tensor import Tensor

_MASK = (1 << 64) - 1
# MurmurHash64A, with the seed of TensorFlow's core/lib/hash/hash.h.
_MULTIPLIER = 0xC6A4A7935BD1E995
_SEED = 0xDECAFCAFFE
_DISCRETE = NoGradient("a hash is an integer", silent=True)


def hash64(text: bytes, seed: int = _SEED) -> int:
    """TensorFlow's Hash64, a MurmurHash; its own tables and the oldest hash op use it."""
    result = (seed ^ len(text) * _MULTIPLIER) & _MASK
    whole = len(text) & ~7
    for i in range(0, whole, 8):
        word = int.from_bytes(text[i : i + 8], "little") * _MULTIPLIER & _MASK
        word = (word ^ word >> 47) * _MULTIPLIER & _MASK
        result = (result ^ word) * _MULTIPLIER & _MASK
    if whole < len(text):
        result = (result ^ int.from_bytes(text[whole:], "little")) * _MULTIPLIER & _MASK
    result = (result ^ result >> 47) * _MULTIPLIER & _MASK
    return result ^ result >> 47


def combined(a: int, b: int) -> int:
    """Two hashes as one."""
    return (a ^ (b + 0x9E3779B97F4A7800 + (a << 10) + (a >> 4))) & _MASK


def hash64_of_rows(rows: np.ndarray) -> np.ndarray:
    """Hash64 of texts of one length, a row of bytes each."""
    count, length = rows.shape
    factor, shift = np.uint64(_MULTIPLIER), np.uint64(47)
    result = np.full(count, (_SEED ^ length * _MULTIPLIER) & _MASK, np.uint64)
    words = _words(rows)
    for word in words.T[: length // 8]:
        word = word * factor
        word = (word ^ word >> shift) * factor
        result = (result ^ word) * factor
    if length % 8:
        result = (result ^ words[:, -1]) * factor
    result = (result ^ result >> shift) * factor
    return result ^ result >> shift


def _words(rows: np.ndarray) -> np.ndarray:
    """Rows of bytes as numbers of eight each, with zeros at their ends."""
    count, length = rows.shape
    padded = np.zeros((count, -(-length // 8) * 8), np.uint8)
    padded[:, :length] = rows
    return padded.view("<u8")


def sip_hash_of_rows(key: tuple[int, int], rows: np.ndarray) -> np.ndarray:
    """SipHash-2-4 of texts of one length, a row of bytes each."""
    count, length = rows.shape
    first, second = (part & _MASK for part in key)
    starts = (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573)
    keys = (first, second, first, second)
    a, b, c, d = (np.full(count, k ^ s, np.uint64) for k, s in zip(keys, starts, strict=True))
    words = _words(rows)
    last = np.full(count, (length & 0xFF) << 56, np.uint64)
    if length % 8:
        last |= words[:, -1]
    for word in (*words.T[: length // 8], last):
        a, b, c, d = _sip_round_of_rows(*_sip_round_of_rows(a, b, c, d ^ word))
        a = a ^ word
    c = c ^ np.uint64(0xFF)
    for _ in range(4):
        a, b, c, d = _sip_round_of_rows(a, b, c, d)
    return a ^ b ^ c ^ d


def _sip_round_of_rows(
    a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray
) -> tuple[np.ndarray, ...]:
    def turned(value: np.ndarray, bits: int) -> np.ndarray:
        return value << np.uint64(bits) | value >> np.uint64(64 - bits)

    a, c = a + b, c + d
    b, d = turned(b, 13) ^ a, turned(d, 16) ^ c
    a = turned(a, 32)
    c, a = c + b, a + d
    b, d = turned(b, 17) ^ c, turned(d, 21) ^ a
    return a, b, turned(c, 32), d


def _by_length(texts: list[bytes], hashed: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """The hashes of texts; hashed(rows) are those of texts of one length."""
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    if len(texts) and (lengths == lengths[0]).all():
        whole = np.frombuffer(b"".join(texts), np.uint8)
        return hashed(whole.reshape(len(texts), lengths[0]))
    result = np.empty(len(texts), np.uint64)
    for length in np.unique(lengths).tolist():
        where = np.flatnonzero(lengths == length)
        joined = b"".join([texts[i] for i in where.tolist()])
        result[where] = hashed(np.frombuffer(joined, np.uint8).reshape(len(where), length))
    return result


def fingerprint() -> Callable[[bytes], int]:
    """FarmHash's Fingerprint64, which never changes."""
    from farmhash import Fingerprint64

    return Fingerprint64


def _in_buckets(
    c: KernelContext,
    texts: np.ndarray | PackedTexts,
    method: str,
    each: Callable[[list[bytes]], np.ndarray],
    key: Sequence[int] = (),
) -> np.ndarray:
    """The buckets of texts; method: what hashes many; each: the hashes of few, uint64."""
    buckets = c.attr("num_buckets")
    if packing.is_many(texts):
        found = at_once.hashed(texts, method, buckets, key)
        if found is not None:
            return found
    hashes = each(unpacked(texts).reshape(-1).tolist()) % np.uint64(buckets)
    return hashes.astype(np.int64).reshape(texts.shape)


def _fast(c: KernelContext, texts: np.ndarray | PackedTexts) -> np.ndarray:
    def each(flat: list[bytes]) -> np.ndarray:
        return np.fromiter(map(fingerprint(), flat), np.uint64, len(flat))

    return _in_buckets(c, texts, "fingerprints", each)


def _first(c: KernelContext, texts: np.ndarray | PackedTexts) -> np.ndarray:
    return _in_buckets(c, texts, "murmurs", lambda flat: _by_length(flat, hash64_of_rows))


def _strong(c: KernelContext, texts: np.ndarray | PackedTexts) -> np.ndarray:
    key = c.attr("key")
    if len(key) != 2:
        raise errors.invalid("Key must have 2 elements")

    def each(flat: list[bytes]) -> np.ndarray:
        return _by_length(flat, lambda rows: sip_hash_of_rows(key, rows))

    return _in_buckets(c, texts, "sips", each, key)


for _name, _input, _attrs, _kernel, _what in (
    ("StringToHashBucketFast", "input", "", _fast, "FarmHash"),
    ("StringToHashBucketStrong", "input", "; key: list(int)", _strong, "SipHash under a key"),
    ("StringToHashBucket", "string_tensor", "", _first, "TensorFlow's first hash"),
):
    define(
        _name,
        f"{_input}: string -> output: int64",
        f"num_buckets: int >= 1{_attrs}",
        shape=lambda c: c.inputs[0],
        kernel=_kernel,
        elementwise=True,
        takes_packed=(_input,),
        gradient=_DISCRETE,
        doc=f"The bucket of each string: {_what} modulo num_buckets.",
        test=lambda _attrs=_attrs: {
            "attrs": [{"num_buckets": 7, **({"key": [3, 5]} if _attrs else {})}],
            "values": [[np.array([b"", b"a", b"numbers and letters"], object)]],
        },
    )


def _fingerprints(c: KernelContext, texts: np.ndarray) -> np.ndarray:
    """FarmHash's Fingerprint128 as two numbers, the first of which is neither 0 nor 1."""
    from farmhash import Fingerprint128

    if texts.ndim != 1:
        raise errors.invalid(f"Input must be a vector, got shape {shape_text(texts.shape)}")
    result = np.empty((len(texts), 2), np.uint64)
    for row, found in zip(result, map(Fingerprint128, texts.tolist())):
        # The package gives the halves the other way round.
        first, row[1] = found >> 64, found & _MASK
        # 0 and 1 are for hash tables to tell what is empty and what was deleted.
        row[0] = first if first >= 2 else (first + ~1) & _MASK
    return result.view(np.int64)


_sdca_fprint = define(
    "SdcaFprint",
    "input: string -> output: int64",
    shape=lambda c: c.inputs[0].with_rank(1).concatenate(TensorShape([2])),
    kernel=_fingerprints,
    gradient=_DISCRETE,
    doc="A fingerprint of 128 bits of each string, for use as a key: int64 [strings, 2].",
    test=lambda: {"values": [[np.array([b"", b"a", b"numbers and letters" * 9], object)]]},
)
export("train.sdca_fprint")(_sdca_fprint)


@export("strings.to_hash_bucket_fast", "string_to_hash_bucket_fast")
@dispatched
def string_to_hash_bucket_fast(
    input: TensorLike, num_buckets: int, name: str | None = None
) -> Tensor:
    """The bucket of each string: FarmHash modulo `num_buckets`; int64, the shape of `input`."""
    return raw.StringToHashBucketFast(input, num_buckets, name=name)


@export("strings.to_hash_bucket_strong", "string_to_hash_bucket_strong")
@dispatched
def string_to_hash_bucket_strong(
    input: TensorLike, num_buckets: int, key: Sequence[int], name: str | None = None
) -> Tensor:
    """The bucket of each string: SipHash under `key`, two integers, modulo `num_buckets`."""
    return raw.StringToHashBucketStrong(input, num_buckets, key, name=name)


@export("strings.to_hash_bucket", "string_to_hash_bucket")
@dispatched
def string_to_hash_bucket(
    string_tensor: TensorLike | None = None,
    num_buckets: Any = None,
    name: str | None = None,
    input: TensorLike | None = None,
) -> Tensor:
    """The bucket of each string by TensorFlow's first hash; int64."""
    from ...engine.deprecation import deprecated_argument_lookup

    texts = deprecated_argument_lookup("input", input, "string_tensor", string_tensor)
    return raw.StringToHashBucket(texts, num_buckets, name=name)
