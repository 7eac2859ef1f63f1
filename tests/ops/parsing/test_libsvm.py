# SPDX-License-Identifier: Apache-2.0
"""Lines in LibSVM's format: labels, features, and lines of another format."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.train.contrib.libsvm import decode_libsvm

pytestmark = pytest.mark.cpu


@pytest.fixture(autouse=True)
def _graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def test_features_and_labels_have_the_shape_of_the_lines() -> None:
    lines = [["1 1:3.5 2:0.5", "-2"], ["3\t5:inf 0:2 ", " 4 3:nan"]]
    features, labels = decode_libsvm(lines, 6, label_dtype=tf.float32)
    assert labels.shape.as_list() == [2, 2] and labels.dtype == tf.float32
    assert features.indices.shape.as_list() == [None, 3]
    dense = tf.sparse_tensor_to_dense(features, validate_indices=False)
    with tf.Session() as session:
        found, numbers = session.run([dense, labels])
    expected = np.zeros((2, 2, 6), np.float32)
    expected[0, 0, 1:3] = 3.5, 0.5
    expected[1, 0, [5, 0]] = np.inf, 2
    expected[1, 1, 3] = np.nan
    np.testing.assert_array_equal(found, expected)
    assert numbers.tolist() == [[1, -2], [3, 4]]


def test_one_line() -> None:
    features, label = decode_libsvm("7 2:3", 4, dtype=tf.int32)
    with tf.Session() as session:
        value, number = session.run([features, label])
    assert (value.indices.tolist(), value.values.tolist()) == ([[2]], [3])
    assert value.dense_shape.tolist() == [4] and number == 7


@pytest.mark.parametrize(
    "line, message",
    [
        ("", 'No label found for input\\[1\\]: ""'),
        ("x 1:2", "Label format incorrect: x"),
        ("1 2", 'Invalid feature "2"'),
        ("1 a:2", "Feature format incorrect: a:2"),
        ("1 2:b", "Feature format incorrect: 2:b"),
        ("1 -2:3", "Feature index should be >= 0, got -2"),
    ],
)
def test_lines_of_another_format(line: str, message: str) -> None:
    _, labels = decode_libsvm(["1", line], 6)
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=message):
        session.run(labels)
