# SPDX-License-Identifier: Apache-2.0
"""TensorProtos with all elements as content: the bytes of TensorFlow 1.15.5, and back."""

from __future__ import annotations

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.io import protos
from numbaflow.io.tensor_content import serialized, serialized_ranges, texts_of, varint

pytestmark = pytest.mark.cpu

# What `serialize_sparse` of TensorFlow 1.15.5 makes of values.
RECORDED = [
    (np.array([1.5], np.float32), "080112041202080122040000c03f"),
    (np.array([1, 2, 3], np.float32), "0801120412020803220c0000803f0000004000004040"),
    (np.array([True, False]), "080a12041202080222020100"),
    (np.array([1, 2], np.int64), "0809120412020802221001000000000000000200000000000000"),
    (np.zeros(0, np.float32), "080112021200"),
    (np.array([1 + 2j]), "08121204120208012210000000000000f03f0000000000000040"),
    (np.array([b"ab", b""], object), "0807120412020802220402006162"),
    (np.array([1], np.int8), "0806120412020801220101"),
    (np.array([1, 2], np.float16), "08131204120208022204003c0040"),
    (np.zeros((1, 0), np.int64), "0809120612020801" + "1200"),
]


@pytest.mark.parametrize(("array", "wanted"), RECORDED, ids=lambda item: str(item)[:24])
def test_bytes_are_tensorflows(array: np.ndarray, wanted: str) -> None:
    assert serialized(array).hex() == wanted


@pytest.mark.parametrize("array", [array for array, _ in RECORDED], ids=str)
def test_arrays_come_back(array: np.ndarray) -> None:
    found = tf.make_ndarray(protos.TensorProto.FromString(serialized(array)))
    assert found.shape == array.shape
    np.testing.assert_array_equal(found, array)


def test_long_texts_have_long_lengths() -> None:
    texts = np.array([b"a" * 1000, b"", b"\x00\xff", b"b" * 127, b"c" * 128], object).reshape(5, 1)
    found = tf.make_ndarray(protos.TensorProto.FromString(serialized(texts)))
    assert found.tolist() == texts.tolist()
    assert [varint(n).hex() for n in (0, 127, 128, 300)] == ["00", "7f", "8001", "ac02"]


@pytest.mark.parametrize("content", [b"", b"\x80", b"\x05ab", b"\x01ab"])
def test_contents_that_are_cut_short_are_refused(content: bytes) -> None:
    with pytest.raises(ValueError, match="not as long as it says"):
        texts_of(content, (1,))


def test_sparse_texts_go_through_a_serialized_batch() -> None:
    places = np.array([[0, 1], [0, 4], [2, 0]])
    texts = np.array([b"one", b"", b"three" * 50], object)
    with tf.Graph().as_default(), tf.Session() as session:
        given = tf.SparseTensor(places, tf.constant(texts), [3, 5])
        rows = tf.serialize_many_sparse(given)
        found = session.run(tf.deserialize_many_sparse(rows, tf.string))
    np.testing.assert_array_equal(found.indices, places)
    assert found.values.tolist() == texts.tolist() and found.dense_shape.tolist() == [3, 5]


@pytest.mark.parametrize("inner", [(), (2,), (0,), (3, 1)])
@pytest.mark.parametrize("dtype", [np.int64, np.float16, object])
def test_ranges_of_rows_are_serialized_as_they_would_be_alone(inner: tuple, dtype: type) -> None:
    numbers = np.arange(7 * int(np.prod(inner, dtype=np.int64))).reshape(7, *inner)
    whole = numbers.astype("S").astype(object) if dtype is object else numbers.astype(dtype)
    bounds = [(0, 2), (2, 2), (2, 5), (5, 7)]
    found = serialized_ranges(whole, bounds)
    assert found == [serialized(whole[first:last]) for first, last in bounds]


def test_places_and_shapes_of_serialized_tensors_are_int64() -> None:
    numbers = [np.zeros((1, 1), np.int64), np.ones(1, np.float32), np.array([2], np.int64)]
    for wrong in (0, 2):
        row = [
            serialized(part.astype(np.float32) + np.float32(np.inf) if i == wrong else part)
            for i, part in enumerate(numbers)
        ]
        with tf.Graph().as_default(), tf.Session() as session:
            found = tf.deserialize_many_sparse(tf.constant([row]), tf.float32)
            with pytest.raises(tf.errors.InvalidArgumentError, match="int64 numbers"):
                session.run(found.values)
