# SPDX-License-Identifier: Apache-2.0
"""Many Examples read by kernels, held against the same read message by message."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.ops.parsing.example_store import Dense, Features, Sparse, parse_batch
from numbaflow.ops.parsing.example_wire import Table, Unusual, Wanted, read_columns

pytestmark = pytest.mark.cpu
COUNT = 40
ASKED = [
    Dense("x", tf.float32, (2,), np.zeros(0, np.float32)),
    Dense("rows", tf.int64, (None, 2), np.array(7, np.int64)),
    Dense("", tf.string, (), np.array(b"none", object)),
    Dense("missing", tf.float32, (), np.array(1.5, np.float32)),
    Sparse("some", tf.int64),
    Sparse("words", tf.string),
    Sparse("wordy", tf.float32),
]


def examples(change: Callable[[int, Any], None] = lambda i, feature: None) -> list[bytes]:
    """Examples of many sizes, with features that nobody asks for, some empty; changed as told."""
    random = np.random.default_rng(5)
    found = []
    for i in range(COUNT):
        example = tf.train.Example()
        feature = example.features.feature
        feature["x"].float_list.value.extend(random.random(2))
        feature["rows"].int64_list.value.extend(
            (random.integers(-(2**63), 2**63 - 1, 2 * random.integers(0, 4))).tolist()
        )
        feature[""].bytes_list.value.append(b"a" * int(random.integers(0, 200)))
        some = feature["some"].int64_list.value
        some.extend(random.integers(0, 300, random.integers(0, 70)).tolist())
        words = [bytes([k]) * k for k in random.integers(0, 9, random.integers(0, 5)).tolist()]
        if i % 3:
            feature["words"].bytes_list.value.extend(words)
            feature["nobody"].bytes_list.value.append(b"x" * 20_000 * (i % 2))
        if i % 7 == 1:
            feature["wordy"].SetInParent()
        change(i, feature)
        found.append(example.SerializeToString(deterministic=bool(i % 2)))
    return found


def both(texts: list[bytes]) -> list[list[np.ndarray]]:
    """The features as kernels and as messages give them."""
    sparse = [one for one in ASKED if isinstance(one, Sparse)]
    dense = [one for one in ASKED if isinstance(one, Dense)]
    fast = parse_batch(texts, [], Features(sparse, dense))
    with settings.override(jit="never"):
        return [fast, parse_batch(texts, [], Features(sparse, dense))]


def assert_same(texts: list[bytes]) -> None:
    for fast, slow in zip(*both(texts)):
        assert fast.dtype == slow.dtype and fast.shape == slow.shape
        assert np.array_equal(fast, slow)


def read(texts: list[bytes]) -> None:
    read_columns(texts, Table([Wanted(one.key.encode(), one.dtype) for one in ASKED]))


def test_features_are_those_of_the_messages() -> None:
    texts = examples()
    read(texts)
    assert_same(texts)
    with pytest.raises(tf.errors.InvalidArgumentError, match="x .*required"):
        both([b"", *texts])


def test_nothing_is_read_of_examples_without_anything_asked_for() -> None:
    texts = [b""] * COUNT
    assert [
        len(column.values) for column in read_columns(texts, Table([Wanted(b"a", tf.int64)]))
    ] == [0]
    assert read_columns(texts, Table([])) == []


@pytest.mark.parametrize("cut", [1, 2, 3, 7, 40])
def test_broken_examples_are_left_to_the_library(cut: int) -> None:
    texts = examples()
    texts[17] = texts[17][:-cut]
    with pytest.raises(Unusual):
        read(texts)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Could not parse example input"):
        both(texts)


def test_no_change_of_a_byte_is_read_as_anything_else() -> None:
    """Whatever is in the bytes, kernels either give up or find what messages hold."""
    random = np.random.default_rng(6)
    sound = examples()
    for _ in range(60):
        texts = list(sound)
        broken = bytearray(texts[9][:400])
        broken[random.integers(0, len(broken))] = random.integers(0, 256)
        texts[9] = bytes(broken) + texts[9][400:]
        try:
            read(texts)
        except Unusual:
            continue
        try:
            assert_same(texts)
        except tf.errors.InvalidArgumentError:
            pass  # a key that is another now: the library names what is missing


def test_unpacked_numbers_and_unknown_fields_are_left_to_the_library() -> None:
    texts = examples()
    # Features { "u": Int64List of a varint that is not packed }, behind all others.
    entry = b"\x0a\x01u\x12\x04\x1a\x02\x08\x05"
    more = b"\x0a" + bytes([len(entry)]) + entry
    example = tf.train.Example.FromString(texts[3] + b"\x0a" + bytes([len(more)]) + more)
    assert example.features.feature["u"].int64_list.value[:] == [5]
    texts[3] = b"\x0a" + bytes([len(more)]) + more
    with pytest.raises(Unusual):
        read_columns(texts, Table([Wanted(b"u", tf.int64)]))


def test_values_of_another_type_are_named() -> None:
    def change(i: int, feature: Any) -> None:
        if i == 20:
            del feature["some"]
            feature["some"].float_list.value.append(1.0)

    with pytest.raises(tf.errors.InvalidArgumentError, match="Index: 20.*Expected type: int64"):
        both(examples(change))
