# SPDX-License-Identifier: Apache-2.0
"""tf.vectorized_map gives what a loop over rows gives."""

from __future__ import annotations

import numpy as np
import pytest

import numbaflow as tf

pytestmark = pytest.mark.cpu


@pytest.fixture(autouse=True)
def _graph():
    with tf.Graph().as_default():
        yield


def test_rows_of_structures():
    x = np.arange(6, dtype=np.float32).reshape(3, 2)
    y = np.arange(3, dtype=np.int32)
    found = tf.vectorized_map(
        lambda row: {"outer": tf.tensordot(row[0], row[0], 0), "next": row[1] + 1},
        (tf.constant(x), tf.constant(y)),
    )
    with tf.Session() as session:
        values = session.run(found)
    np.testing.assert_array_equal(values["outer"], x[:, :, None] * x[:, None, :])
    np.testing.assert_array_equal(values["next"], y + 1)


def test_gradients_of_each_example():
    w = tf.get_variable("w", initializer=[1.0, 2.0])
    x = tf.constant([[1.0, 0.0], [2.0, 3.0]])
    slopes = tf.vectorized_map(lambda row: tf.gradients(tf.reduce_sum(row * w) ** 2, w)[0], x)
    with tf.Session() as session:
        session.run(w.initializer)
        np.testing.assert_allclose(session.run(slopes), [[2.0, 0.0], [32.0, 48.0]])
