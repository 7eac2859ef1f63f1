# SPDX-License-Identifier: Apache-2.0
"""Hashes of many texts at once are those of each by itself."""

from __future__ import annotations

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.ops.strings import hash as hashes

pytestmark = pytest.mark.programs

MASK = 2**64 - 1


def rotated(value: int, bits: int) -> int:
    return (value << bits | value >> 64 - bits) & MASK


def sip_round(a: int, b: int, c: int, d: int) -> tuple[int, int, int, int]:
    a, c = (a + b) & MASK, (c + d) & MASK
    b, d = rotated(b, 13) ^ a, rotated(d, 16) ^ c
    a = rotated(a, 32)
    c, a = (c + b) & MASK, (a + d) & MASK
    b, d = rotated(b, 17) ^ c, rotated(d, 21) ^ a
    return a, b, rotated(c, 32), d


def sip_hash(key: tuple[int, int], text: bytes) -> int:
    """SipHash-2-4 under a key of two 64-bit numbers."""
    first, second = (part & MASK for part in key)
    # "somepseudorandomlygeneratedbytes" (https://131002.net/siphash).
    a, b = first ^ 0x736F6D6570736575, second ^ 0x646F72616E646F6D
    c, d = first ^ 0x6C7967656E657261, second ^ 0x7465646279746573
    whole = len(text) & ~7
    # The length is in the last word, so that zeros at the end count.
    last = (len(text) & 0xFF) << 56 | int.from_bytes(text[whole:], "little")
    words = [int.from_bytes(text[i : i + 8], "little") for i in range(0, whole, 8)]
    for word in (*words, last):
        a, b, c, d = sip_round(*sip_round(a, b, c, d ^ word))
        a ^= word
    c ^= 0xFF
    for _ in range(4):
        a, b, c, d = sip_round(a, b, c, d)
    return a ^ b ^ c ^ d


def test_hashes_of_texts_of_all_lengths():
    random = np.random.default_rng(4)
    texts = [random.bytes(n) for n in (*range(40), 8, 8, 255, 256, 300) for _ in range(2)]
    given = tf.constant(np.array(texts, object).reshape(2, -1))
    key, most = [2**63 - 5, -7], 2**62
    with tf.Session() as session:
        strong, first = session.run(
            [
                tf.strings.to_hash_bucket_strong(given, most, key),
                tf.strings.to_hash_bucket(given, most),
            ]
        )
    signed = (key[0], key[1])
    assert strong.ravel().tolist() == [sip_hash(signed, t) % most for t in texts]
    assert first.ravel().tolist() == [hashes.hash64(t) % most for t in texts]


def test_no_texts_at_all():
    given = tf.placeholder(tf.string, [None, 3])
    with tf.Session() as session:
        buckets = tf.strings.to_hash_bucket(given, 7)
        assert session.run(buckets, {given: np.empty((0, 3), object)}).shape == (0, 3)
