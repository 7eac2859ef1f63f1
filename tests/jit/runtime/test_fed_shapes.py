# SPDX-License-Identifier: Apache-2.0
"""Shapes that are fed are known to plans, also where the graph does not say how long they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.jit.runtime.segment_plans import may_be_sizes

pytestmark = pytest.mark.cpu

RNG = np.random.default_rng(3)


def always(build: Any, feeds: list[dict[str, Any]]) -> tuple[list[Any], str]:
    """What runs give when all is compiled, and the report of the last."""
    with tf.Graph().as_default(), settings.override(jit="always"), tf.Session() as session:
        fetched = build()
        found = [session.run(fetched, feed) for feed in feeds]
        return found, str(session.explain(fetched, feeds[-1]))


def test_a_fed_sparse_matrix_is_multiplied_by_a_plan() -> None:
    with tf.Graph().as_default(), settings.override(jit="always"), tf.Session() as session:
        a = tf.sparse_placeholder(tf.float32)
        x = tf.placeholder(tf.float32, [None, 5])
        y = tf.sparse_tensor_dense_matmul(a, x)
        for rows, columns in ((7, 9), (12, 30), (7, 9)):
            dense = RNG.standard_normal((rows, columns)) * (RNG.random((rows, columns)) < 0.3)
            right = RNG.standard_normal((columns, 5))
            feeds = {a: (np.argwhere(dense), dense[dense != 0], dense.shape), x: right}
            got = session.run(y, feeds)
            np.testing.assert_allclose(got, dense @ right, rtol=1e-5, atol=1e-5)
            assert "host" not in str(session.explain(y, feeds))


def test_a_fed_shape_may_have_any_length() -> None:
    def build() -> Any:
        shape = tf.placeholder(tf.int32, [None], name="shape")
        return tf.reshape(tf.placeholder(tf.float32, name="x"), shape) * 2.0

    values = np.arange(24, dtype=np.float32)
    shapes = [(4, 6), (2, 3, 4), (24,), (2, 1, 1, 1, 2, 1, 1, 1, 3, 2)]
    found, _ = always(build, [{"x:0": values, "shape:0": shape} for shape in shapes])
    for got, shape in zip(found, shapes, strict=True):
        np.testing.assert_array_equal(got, values.reshape(shape) * 2)


def test_integers_that_spell_no_shape_are_data() -> None:
    """Their contents make no plans of their own."""
    with tf.Graph().as_default():
        labels, shape, matrix = (tf.placeholder(tf.int32, s) for s in ([None], [None], [None, 2]))
        tf.one_hot(labels, 3)
        tf.reshape(tf.zeros([6]), shape)
        tf.cast(shape, tf.float32)
        tf.reshape(tf.zeros([6]), matrix[0])
    assert not may_be_sizes(labels) and may_be_sizes(shape) and not may_be_sizes(matrix)
