# SPDX-License-Identifier: Apache-2.0
"""Hashes of many texts at once are those of each by itself."""

from __future__ import annotations

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.ops.strings import hash as hashes

pytestmark = pytest.mark.programs


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
    assert strong.ravel().tolist() == [hashes.sip_hash(signed, t) % most for t in texts]
    assert first.ravel().tolist() == [hashes.hash64(t) % most for t in texts]


def test_no_texts_at_all():
    given = tf.placeholder(tf.string, [None, 3])
    with tf.Session() as session:
        buckets = tf.strings.to_hash_bucket(given, 7)
        assert session.run(buckets, {given: np.empty((0, 3), object)}).shape == (0, 3)
